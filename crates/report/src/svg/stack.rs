//! A stack as boxes: drives at the bottom, each layer as wide as what it rests on.

mod place;

use terms::design::LayerNode;

use super::canvas::{Canvas, px, text_width};
use crate::width::{shorten, width, wrap};
use place::{Box, Item, place};

/// Size of the letters.
const LETTERS: f64 = 12.0;
/// Columns of a box's text before it is wrapped.
const COLUMNS: usize = 16;
/// Height of a line of text.
const LINE: f64 = 15.0;
/// Height of the gap between two levels, in which the lines are drawn.
const GAP: f64 = 13.0;
/// Blanks around the text of a box, left and right together.
const MARGIN: f64 = 18.0;

/// The text of a box in lines.
fn lines(item: &Item) -> Vec<String> {
    match item {
        Item::Drive(name) => vec![shorten(&name.to_string(), COLUMNS)],
        Item::Layer(node) => wrap(&node.layer.title(), COLUMNS),
        Item::Via => Vec::new(),
    }
}

/// The stack as an image of fixed size.
pub(crate) fn draw(name: &str, nodes: &[LayerNode]) -> String {
    let boxes = place(nodes);
    // As wide as the tightest text asks for, within reason: texts that still do not fit are shortened.
    let need = |b: &Box| lines(&b.item).iter().map(|l| text_width(l, LETTERS) + MARGIN).fold(0.0, f64::max);
    let slot = boxes.iter().map(|b| need(b) / (b.end - b.start)).fold(64.0, f64::max).min(190.0);
    let right = boxes.iter().map(|b| b.end).fold(0.0, f64::max);
    let levels = boxes.iter().map(|b| b.level + 1).max().unwrap_or(0);
    let height = |level: usize| {
        let most = boxes.iter().filter(|b| b.level == level).map(|b| lines(&b.item).len()).max().unwrap_or(1);
        // A box holds one to three lines.
        f64::from(u32::try_from(most.max(1)).unwrap_or(1)) * LINE + 12.0
    };
    let mut tops = vec![0.0; levels];
    let mut bottom = 1.0;
    for level in (0..levels).rev() {
        tops[level] = bottom;
        bottom += height(level) + GAP;
    }
    let frame = Frame { slot, tops, heights: (0..levels).map(height).collect() };
    let mut canvas = Canvas::default();
    for b in &boxes {
        frame.edges(&mut canvas, b, &boxes);
    }
    for b in &boxes {
        frame.body(&mut canvas, b);
    }
    canvas.fixed((right * slot + 1.0, (bottom - GAP + 1.0).max(1.0)), "stack", &format!("Layers of {name}"), "")
}

/// Where units become pixels.
struct Frame {
    slot: f64,
    tops: Vec<f64>,
    heights: Vec<f64>,
}

impl Frame {
    /// The middle of a box.
    fn middle(&self, b: &Box) -> f64 {
        (b.start + b.end) / 2.0 * self.slot
    }

    /// Lines from a box to all that it rests on.
    fn edges(&self, canvas: &mut Canvas, b: &Box, boxes: &[Box]) {
        if matches!(b.item, Item::Via) {
            let x = px(self.middle(b));
            let (y1, y2) = (px(self.tops[b.level]), px(self.tops[b.level] + self.heights[b.level]));
            canvas.element("line", &[("class", &"edge"), ("x1", &x), ("x2", &x), ("y1", &y1), ("y2", &y2)]);
        }
        for (below, special) in &b.below {
            let child = &boxes[*below];
            // Straight down where the two stand one above the other, else from middle to middle.
            let (start, end) = (b.start.max(child.start), b.end.min(child.end));
            let straight = (start + end) / 2.0 * self.slot;
            let (from, to) = if start < end { (straight, straight) } else { (self.middle(b), self.middle(child)) };
            let (y1, y2) = (self.tops[b.level] + self.heights[b.level], self.tops[child.level]);
            let class = if *special { "edge special" } else { "edge" };
            let ends = [px(from), px(to), px(y1), px(y2)];
            canvas.element(
                "line",
                &[("class", &class), ("x1", &ends[0]), ("x2", &ends[1]), ("y1", &ends[2]), ("y2", &ends[3])],
            );
        }
    }

    /// The box itself, with its text.
    fn body(&self, canvas: &mut Canvas, b: &Box) {
        let class = match b.item {
            Item::Via => return,
            Item::Drive(_) => "drive",
            Item::Layer(node) if node.layer.is_file_system() => "layer fs",
            Item::Layer(_) => "layer",
        };
        let (left, wide) = (b.start * self.slot + 3.0, (b.end - b.start) * self.slot - 6.0);
        let (top, high) = (self.tops[b.level], self.heights[b.level]);
        let place = [px(left), px(top), px(wide), px(high)];
        canvas.element(
            "rect",
            &[
                ("class", &class),
                ("x", &place[0]),
                ("y", &place[1]),
                ("width", &place[2]),
                ("height", &place[3]),
                ("rx", &4),
            ],
        );
        let lines = lines(&b.item);
        let count = f64::from(u32::try_from(lines.len()).unwrap_or(1));
        let first = top + high / 2.0 - (count - 1.0) * LINE / 2.0 + 4.0;
        let class = if matches!(b.item, Item::Drive(_)) { "box-drive" } else { "box" };
        for (number, line) in lines.iter().enumerate() {
            let y = px(first + f64::from(u32::try_from(number).unwrap_or(0)) * LINE);
            let fits = fitting(line, wide - 8.0);
            canvas.text(
                &fits,
                &[("class", &class), ("x", &px(left + wide / 2.0)), ("y", &y), ("text-anchor", &"middle")],
            );
        }
    }
}

/// The text, shortened until it fits into a box.
fn fitting(text: &str, room: f64) -> String {
    let mut columns = width(text);
    while columns > 1 && text_width(&shorten(text, columns), LETTERS) > room {
        columns -= 1;
    }
    shorten(text, columns)
}
