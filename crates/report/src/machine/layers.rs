//! Drives and what stands on them: a graph drawn as a tree. What stands on several drives is drawn under each, whole the
//! first time and marked after that.

use std::collections::{BTreeMap, BTreeSet};

use terms::inventory::{Detail, FileSystem, Inventory, Node, Pool, Readout, Vdev};

use super::contents;
use crate::notes::Notes;
use crate::sheet::{self, Cell, GAP, Strip};
use crate::style::{Style, Tone};
use crate::tree;
use crate::width::{Align, shorten, wrap};

/// Columns of a name; what is longer is cut.
const NAME: usize = 30;
/// Fewest columns of the last column.
const LEAST: usize = 16;
/// What is said of something that was drawn before.
const AGAIN: &str = "drawn above";

struct Line {
    name: String,
    /// What stands before the further lines of it.
    pass: String,
    kind: String,
    size: String,
    what: String,
    tone: Tone,
}

struct Drawing<'a> {
    detail: &'a Detail,
    /// By their kernel names.
    drives: BTreeMap<&'a str, &'a terms::Drive>,
    /// What stands on nodes, by their names.
    uppers: BTreeMap<&'a str, Vec<Upper<'a>>>,
    /// What was not read, and which file systems nodes hold.
    unread: BTreeSet<&'a str>,
    systems: BTreeMap<&'a str, &'a FileSystem>,
    style: &'a Style,
    notes: &'a mut Notes,
    lines: Vec<Line>,
    drawn: BTreeSet<String>,
}

/// The graph with its headings.
pub(super) fn draw(inventory: &Inventory, detail: &Detail, style: &Style, notes: &mut Notes) -> String {
    let drives = inventory.drives.iter().map(|drive| (drive.kernel_name.as_str(), drive)).collect();
    let unread = detail.gaps.iter().map(|gap| gap.path.as_str()).collect();
    let mut systems = BTreeMap::new();
    for system in &detail.file_systems {
        for node in &system.nodes {
            systems.entry(node.as_str()).or_insert(system);
        }
    }
    let (uppers, lines, drawn) = (uppers(detail), Vec::new(), BTreeSet::new());
    let mut drawing = Drawing { detail, drives, uppers, unread, systems, style, notes, lines, drawn };
    for node in detail.nodes.iter().filter(|node| node.on.is_empty()) {
        drawing.node(node, &mut Vec::new());
    }
    // Those that stand on what nobody saw.
    for node in &detail.nodes {
        if !drawing.drawn.contains(&node.name) {
            drawing.node(node, &mut Vec::new());
        }
    }
    // And those whose devices nobody saw.
    for pool in detail.pools.known().into_iter().flatten() {
        for top in pool.vdevs.known().into_iter().flatten() {
            if !drawing.drawn.contains(&key(pool, top)) {
                drawing.vdev(pool, top, &[]);
            }
        }
    }
    let lines = drawing.lines;
    if lines.is_empty() {
        return match inventory.why_unread("/sys/class/block").or_else(|| inventory.why_unread("/sys/block")) {
            Some(_) => "whether there are drives is not known\n".to_owned(),
            None => "no drives were found\n".to_owned(),
        };
    }
    let strip = |heading: &str, align, cells: Vec<Cell>| Strip { heading: vec![heading.to_owned()], align, cells };
    let cells = |text: fn(&Line) -> &str| {
        lines.iter().map(|line| Cell { text: style.spell(text(line)), tone: line.tone }).collect::<Vec<_>>()
    };
    let first = [
        strip("NAME", Align::Left, cells(|line| &line.name)),
        strip("KIND", Align::Left, cells(|line| &line.kind)),
        strip("SIZE", Align::Right, cells(|line| &line.size)),
    ];
    let taken: usize = first.iter().map(|strip| strip.width() + GAP).sum();
    let room = style.columns().saturating_sub(taken).max(LEAST);
    let what = lines.iter().map(|line| Cell { text: wrap(&style.spell(&line.what), room).join("\n"), tone: line.tone });
    let last = strip("WHAT IT IS AND HOLDS", Align::Left, what.collect());
    let mut strips: Vec<Strip> = first.into_iter().chain([last]).collect();
    for (at, line) in lines.iter().enumerate() {
        let height = strips[3].cells[at].text.lines().count();
        strips[0].cells[at].text += &format!("\n{}", line.pass).repeat(height.saturating_sub(1));
    }
    sheet::render(&strips.iter().collect::<Vec<_>>(), style)
}

/// What stands on each node: other nodes, pools, file systems that have several devices.
fn uppers(detail: &Detail) -> BTreeMap<&str, Vec<Upper<'_>>> {
    let mut all: BTreeMap<&str, Vec<Upper>> = BTreeMap::new();
    for upper in &detail.nodes {
        for on in upper.on.iter().collect::<BTreeSet<_>>() {
            all.entry(on).or_default().push(Upper::Node(upper));
        }
    }
    for pool in detail.pools.known().into_iter().flatten() {
        for top in pool.vdevs.known().into_iter().flatten() {
            let mut held = BTreeSet::new();
            collect(top, &mut held);
            held.into_iter().for_each(|node| all.entry(node).or_default().push(Upper::Vdev(pool, top)));
        }
    }
    for system in detail.file_systems.iter().filter(|system| system.nodes.len() > 1) {
        for node in system.nodes.iter().collect::<BTreeSet<_>>() {
            all.entry(node).or_default().push(Upper::FileSystem(system));
        }
    }
    all
}

/// Nodes that a virtual device consists of.
fn collect<'a>(vdev: &'a Vdev, held: &mut BTreeSet<&'a str>) {
    held.extend(vdev.node.as_deref());
    vdev.children.iter().for_each(|child| collect(child, held));
}

impl<'a> Drawing<'a> {
    fn node(&mut self, node: &Node, more: &mut Vec<bool>) {
        let again = !self.drawn.insert(node.name.clone());
        let drive = self.drives.get(node.name.as_str()).copied();
        let above = self.uppers.get(node.name.as_str()).cloned().unwrap_or_default();
        let mut what = match drive {
            Some(drive) => contents::drive(drive),
            None => contents::layer(node, self.detail),
        };
        if again {
            what = vec![AGAIN.to_owned()];
        } else if above.is_empty() {
            what.extend(contents::held(node, self.systems.get(node.name.as_str()).copied(), self.detail, self.notes));
        }
        let name = node.label.as_ref().map_or(node.name.clone(), |label| format!("{} {label}", node.name));
        self.line(more, &name, &kind(node, drive), &self.size(node), &what.join(", "), again);
        if again {
            return;
        }
        for (at, upper) in above.iter().enumerate() {
            more.push(at + 1 < above.len());
            match upper {
                Upper::Node(node) => self.node(node, more),
                Upper::Vdev(pool, top) => self.vdev(pool, top, more),
                Upper::FileSystem(system) => self.shared(system, more),
            }
            more.pop();
        }
    }

    /// A device that is there may have size 0; one whose size nobody read has none that is known.
    fn size(&self, node: &Node) -> String {
        if self.unread.contains(format!("/sys/class/block/{}/size", node.name).as_str()) {
            return "–".to_owned();
        }
        self.style.size(node.size)
    }

    fn vdev(&mut self, pool: &Pool, top: &Vdev, more: &[bool]) {
        let again = !self.drawn.insert(key(pool, top));
        let what = if again { AGAIN.to_owned() } else { contents::vdev(pool, top, self.detail) };
        let name = if top.children.is_empty() { pool.name.clone() } else { format!("{} {}", pool.name, top.name) };
        self.line(more, &name, "zfs", "", &what, again);
    }

    fn shared(&mut self, system: &FileSystem, more: &[bool]) {
        let name = system.label.clone().or_else(|| system.uuid.clone()).unwrap_or_else(|| system.kind.clone());
        let again = !self.drawn.insert(format!("{} {:?}", system.kind, system.nodes));
        let what = if again { AGAIN.to_owned() } else { contents::file_system(system, self.detail).join(", ") };
        self.line(more, &name, &system.kind, "", &what, again);
    }

    fn line(&mut self, more: &[bool], name: &str, kind: &str, size: &str, what: &str, again: bool) {
        let name = shorten(&format!("{}{name}", tree::lead(more, self.style.ascii)), NAME);
        self.lines.push(Line {
            name,
            pass: tree::pass(more, self.style.ascii),
            kind: kind.to_owned(),
            size: if again { String::new() } else { size.to_owned() },
            what: what.to_owned(),
            tone: if again { Tone::Dim } else { Tone::Plain },
        });
    }
}

/// Something that stands on a node.
#[derive(Clone, Copy)]
enum Upper<'a> {
    Node(&'a Node),
    Vdev(&'a Pool, &'a Vdev),
    FileSystem(&'a FileSystem),
}

/// What a virtual device is called among what was drawn.
fn key(pool: &Pool, top: &Vdev) -> String {
    format!("zfs {} {}", pool.name, top.name)
}

fn kind(node: &Node, drive: Option<&terms::Drive>) -> String {
    match drive {
        Some(drive)
            if drive.rotational
                && (drive.transport.is_serial_line() || drive.transport == terms::DriveTransport::Usb) =>
        {
            format!("{} disk", drive.transport)
        }
        Some(drive) if drive.kernel_name == node.name => drive.transport.to_string(),
        _ => {
            let open = matches!(&node.dm, Some(dm) if matches!(dm.targets, Readout::Unknown(_)));
            if open { "mapping".to_owned() } else { node.kind.clone() }
        }
    }
}
