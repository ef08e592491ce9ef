//! The machine as a tree from left to right: root complex, ports, switches, controllers with their drives.

use terms::drive::Drive;
use terms::inventory::Inventory;

use super::canvas::{Canvas, px, text_width};
use crate::machine::{Branch, Part, branches, short};
use crate::width::shorten;

/// Size of the letters.
const LETTERS: f64 = 12.0;
/// Height of a line of text.
const LINE: f64 = 15.0;
/// Room between two boxes one above the other.
const BETWEEN: f64 = 12.0;
/// Least room between two columns, in which links are told.
const CHANNEL: f64 = 56.0;
/// How far the drawing may shrink before it is scrolled instead.
const LEAST: f64 = 880.0;
/// Where a line turns on its way to a child.
const TURN: f64 = 12.0;
/// Most columns of a line of text.
const COLUMNS: usize = 26;

/// A box of the drawing.
struct Card {
    lines: Vec<String>,
    class: &'static str,
    link: Option<String>,
    best: Option<String>,
    depth: usize,
    children: Vec<Card>,
}

/// The machine as an image of fixed size; `None` where nothing is known of it.
pub(crate) fn draw(inventory: &Inventory) -> Option<String> {
    let cards: Vec<Card> = branches(inventory).iter().map(|branch| card(branch, 0)).collect();
    if cards.is_empty() {
        return None;
    }
    let mut widths = Vec::new();
    cards.iter().for_each(|card| measure(card, &mut widths));
    let channel = cards.iter().map(links).fold(CHANNEL, f64::max);
    let mut lefts = vec![1.0];
    for width in &widths {
        lefts.push(lefts[lefts.len() - 1] + width + channel);
    }
    let mut canvas = Canvas::default();
    let mut bottom = 1.0;
    for card in &cards {
        stand(card, &widths, &lefts, &mut bottom, &mut canvas);
    }
    let right = lefts[lefts.len() - 1] - channel + 1.0;
    let least = format!(" style=\"min-width:{}px\"", px(right.min(LEAST)));
    let says = "The machine: ports, switches, controllers and drives";
    Some(canvas.fixed((right, bottom - BETWEEN + 1.0), "machine", says, &least))
}

/// A branch as a box; a controller and its only drive are one.
fn card(branch: &Branch, depth: usize) -> Card {
    let (lines, class, device) = match (branch.part, branch.children.as_slice()) {
        (Part::Root(name), _) => (vec![name.to_owned()], "root", None),
        (Part::Drive(drive), _) => (drive_lines(drive, None), "drive", None),
        (Part::Pci(device), [Branch { part: Part::Drive(drive), .. }]) => {
            (drive_lines(drive, Some(&format!("{} {}", short(&device.address), device.id))), "drive", Some(device))
        }
        (Part::Address(address), [Branch { part: Part::Drive(drive), .. }]) => {
            (drive_lines(drive, Some(&format!("{} {}", short(address), drive.transport))), "drive", None)
        }
        (Part::Address(address), _) => (vec!["controller".to_owned(), short(address).to_owned()], "port", None),
        (Part::Pci(device), _) => (
            vec![device.role.word().to_owned(), format!("{} {}", short(&device.address), device.id)],
            "port",
            Some(device),
        ),
    };
    let merged = class == "drive";
    Card {
        lines: lines.iter().map(|line| shorten(line, COLUMNS)).collect(),
        class,
        link: device.and_then(|device| device.link.clone()),
        best: device.and_then(|device| device.max_link.clone().filter(|best| device.link.as_ref() != Some(best))),
        depth,
        children: if merged {
            Vec::new()
        } else {
            branch.children.iter().map(|child| card(child, depth + 1)).collect()
        },
    }
}

/// What is told of a drive, and of the controller that is drawn as one with it.
fn drive_lines(drive: &Drive, controller: Option<&str>) -> Vec<String> {
    let mut lines = vec![drive.kernel_name.clone(), format!("{} · LBA {}", drive.size, drive.logical_block)];
    lines.extend(drive.serial.as_ref().map(|serial| format!("serial {serial}")));
    lines.extend(drive.model.clone());
    lines.push(controller.unwrap_or(drive.transport.word()).to_owned());
    lines
}

/// Widens each column to its widest box.
fn measure(card: &Card, widths: &mut Vec<f64>) {
    if widths.len() <= card.depth {
        widths.resize(card.depth + 1, 0.0);
    }
    // The first line is bold, which takes about a tenth more.
    let wide = |(at, line): (usize, &String)| text_width(line, LETTERS) * if at == 0 { 1.1 } else { 1.0 } + 20.0;
    let width = card.lines.iter().enumerate().map(wide).fold(0.0, f64::max);
    widths[card.depth] = widths[card.depth].max(width);
    card.children.iter().for_each(|child| measure(child, widths));
}

/// Room that the links of a box and of all to its right ask for.
fn links(card: &Card) -> f64 {
    let own = card.link.iter().cloned().chain(card.best.as_deref().map(best));
    let own = own.map(|text| text_width(&text, LETTERS - 1.0) + TURN + 6.0).fold(0.0, f64::max);
    card.children.iter().map(links).fold(own, f64::max)
}

/// What a link could be.
fn best(link: &str) -> String {
    format!("of {link}")
}

/// Draws a box and all to its right; gives the height at which it stands.
fn stand(card: &Card, widths: &[f64], lefts: &[f64], bottom: &mut f64, canvas: &mut Canvas) -> f64 {
    let top = *bottom;
    let children: Vec<f64> = card.children.iter().map(|child| stand(child, widths, lefts, bottom, canvas)).collect();
    let high = f64::from(u32::try_from(card.lines.len()).unwrap_or(1)) * LINE + 12.0;
    *bottom = bottom.max(top + high + BETWEEN);
    let middle = match (children.first(), children.last()) {
        (Some(first), Some(last)) => f64::midpoint(*first, *last).max(top + high / 2.0),
        _ => top + high / 2.0,
    };
    let (left, wide) = (lefts[card.depth], widths[card.depth]);
    for (child, at) in card.children.iter().zip(&children) {
        connect(canvas, (left + wide, middle), (lefts[child.depth], *at), child);
    }
    let place = [px(left), px(middle - high / 2.0), px(wide), px(high)];
    canvas.element(
        "rect",
        &[
            ("class", &card.class),
            ("x", &place[0]),
            ("y", &place[1]),
            ("width", &place[2]),
            ("height", &place[3]),
            ("rx", &4),
        ],
    );
    for (number, line) in card.lines.iter().enumerate() {
        let y = middle - high / 2.0 + 18.0 + f64::from(u32::try_from(number).unwrap_or(0)) * LINE;
        let class = if number == 0 { "box first" } else { "box more" };
        canvas.text(line, &[("class", &class), ("x", &px(left + 10.0)), ("y", &px(y))]);
    }
    middle
}

/// The line to a child, with its link; a link that could be better is told so, in words.
fn connect(canvas: &mut Canvas, from: (f64, f64), to: (f64, f64), child: &Card) {
    let turn = from.0 + TURN;
    let path = format!("M{} {}H{}V{}H{}", px(from.0), px(from.1), px(turn), px(to.1), px(to.0));
    canvas.element("path", &[("class", &"edge"), ("d", &path)]);
    let x = px((turn + to.0) / 2.0);
    if let Some(link) = &child.link {
        canvas.text(link, &[("class", &"link"), ("x", &x), ("y", &px(to.1 - 5.0)), ("text-anchor", &"middle")]);
    }
    if let Some(link) = &child.best {
        canvas.text(
            &best(link),
            &[("class", &"link less"), ("x", &x), ("y", &px(to.1 + 13.0)), ("text-anchor", &"middle")],
        );
    }
}
