//! The PCIe tree, one line for each link: who is at its ends, what it carries, what is asked of it.

use terms::inventory::{Inventory, LEAST_PAYLOAD, Link, PciDetail, PciDevice, Readout};
use terms::units::{Bytes, BytesPerSecond, significant};

use super::{Branch, Part, branches, short};
use crate::notes::Notes;
use crate::sheet::{self, Cell, GAP, Strip};
use crate::style::{Style, Tone};
use crate::tree;
use crate::width::{Align, shorten};

/// Fewest columns of a name, whatever else there is.
const NAME: usize = 24;

/// A line of the tree.
#[derive(Default)]
struct Line {
    name: String,
    link: String,
    could: String,
    carries: String,
    asked: String,
    node: String,
    marks: String,
    tone: Option<Tone>,
}

/// The tree with its headings; nothing where no PCI device leads to storage.
pub(super) fn draw(inventory: &Inventory, style: &Style, notes: &mut Notes) -> Option<String> {
    let mut lines = Vec::new();
    let mut hidden = 0;
    let payload = common_payload(inventory);
    for root in branches(inventory) {
        let Part::Root(name) = root.part else { continue };
        if name == "not on PCI" {
            continue;
        }
        lines.push(Line { name: name.to_owned(), ..Line::default() });
        let mut drawing =
            Drawing { inventory, style, payload, notes: &mut *notes, lines: &mut lines, hidden: &mut hidden };
        drawing.children(&root, &mut Vec::new());
    }
    if lines.iter().all(|line| line.name == "root complex") {
        return None;
    }
    let unit = style.rate_unit();
    let column = |heading: &[&str], align, text: fn(&Line) -> &str| Strip {
        heading: heading.iter().map(|&line| line.to_owned()).collect(),
        align,
        cells: lines
            .iter()
            .map(|line| Cell { text: style.spell(text(line)), tone: line.tone.unwrap_or(Tone::Plain) })
            .collect(),
    };
    let strips = [
        column(&["PORT → DEVICE"], Align::Left, |line| &line.name),
        column(&["LINK"], Align::Left, |line| &line.link),
        column(&["COULD BE"], Align::Left, |line| &line.could),
        column(&["CARRIES", unit], Align::Right, |line| &line.carries),
        column(&["ASKED", unit], Align::Right, |line| &line.asked),
        column(&["NUMA"], Align::Right, |line| &line.node),
        column(&[""], Align::Left, |line| &line.marks),
    ];
    let mut strips: Vec<Strip> = strips
        .into_iter()
        .enumerate()
        .filter(|(at, strip)| *at == 0 || strip.cells.iter().any(|cell| !cell.text.is_empty()))
        .map(|(_, strip)| strip)
        .collect();
    for strip in &mut strips {
        strip.heading.iter_mut().for_each(|line| *line = style.spell(line));
    }
    fit(&mut strips, style);
    let mut out = sheet::render(&strips.iter().collect::<Vec<_>>(), style);
    if let Some(payload) = payload {
        let text = format!("computed for PCIe packets with {payload} of data\n");
        out.push_str(&style.paint(Tone::Dim, &style.spell(&text)));
    }
    if hidden > 0 {
        let ports = if hidden == 1 { "port leads" } else { "ports lead" };
        out.push_str(&style.paint(Tone::Dim, &format!("{hidden} more {ports} to no storage")));
        out.push('\n');
    }
    Some(out)
}

/// The payload of all packets, where every link's is known and the same.
fn common_payload(inventory: &Inventory) -> Option<Bytes> {
    let details = inventory.pci.iter().filter_map(|device| device.detail.as_ref()?.carries.known().copied().flatten());
    let mut payloads = details.map(|capacity| capacity.payload_known.then_some(capacity.payload));
    let first = payloads.next()??;
    payloads.all(|payload| payload == Some(first)).then_some(first)
}

/// Cuts names to what the other columns leave.
fn fit(strips: &mut [Strip], style: &Style) {
    let others: usize = strips.iter().skip(1).map(|strip| strip.width() + GAP).sum();
    let room = style.columns().saturating_sub(others).max(NAME);
    for cell in strips.first_mut().into_iter().flat_map(|names| &mut names.cells) {
        cell.text = shorten(&cell.text, room);
    }
}

struct Drawing<'a> {
    inventory: &'a Inventory,
    style: &'a Style,
    /// The payload of all packets, where it is known and everywhere the same.
    payload: Option<Bytes>,
    notes: &'a mut Notes,
    lines: &'a mut Vec<Line>,
    hidden: &'a mut usize,
}

impl Drawing<'_> {
    /// What hangs under a branch, without ports that lead to nothing.
    fn children(&mut self, branch: &Branch, more: &mut Vec<bool>) {
        let (wanted, empty): (Vec<&Branch>, Vec<&Branch>) =
            branch.children.iter().partition(|child| leads_to_storage(child));
        *self.hidden += empty.iter().filter(|child| matches!(child.part, Part::Pci(_))).count();
        for (at, child) in wanted.iter().enumerate() {
            more.push(at + 1 < wanted.len());
            self.branch(child, more);
            more.pop();
        }
    }

    /// A branch: a port and the one device under it stand on one line, for they are the two ends of one link.
    fn branch(&mut self, branch: &Branch, more: &mut Vec<bool>) {
        let mut line = Line { name: tree::lead(more, self.style.ascii), ..Line::default() };
        let mut end = branch;
        match branch.part {
            Part::Pci(port) if port.role.is_bridge() => {
                let below: Vec<&Branch> = branch.children.iter().filter(|child| leads_to_storage(child)).collect();
                match below[..] {
                    [only] if branch.children.len() == 1 => {
                        let slot = port.detail.as_ref().and_then(|detail| detail.slot.as_ref());
                        let slot = slot.map_or(String::new(), |slot| format!(" slot {slot}"));
                        line.name += &format!("{}{slot} → ", short(&port.address));
                        end = only;
                        if let Part::Pci(device) = only.part {
                            self.both_ends(&mut line, port, device);
                        }
                    }
                    _ => self.own(&mut line, port),
                }
            }
            Part::Pci(device) => self.own(&mut line, device),
            _ => {}
        }
        line.name += &label(end);
        self.lines.push(line);
        let mut under: &Branch = end;
        // Below a device with functions beside it stand only ports.
        if !end.children.iter().any(|child| matches!(child.part, Part::Pci(_))) {
            under = &EMPTY;
        }
        self.children(under, more);
    }

    /// A link with both its ends.
    fn both_ends(&mut self, line: &mut Line, port: &PciDevice, device: &PciDevice) {
        self.own(line, device);
        let (Some(port), Some(detail)) = (port.detail.as_deref(), device.detail.as_deref()) else { return };
        line.asked = port.asked.filter(|_| device.role.is_bridge()).map(|rate| self.rate(rate)).unwrap_or_default();
        if let (Some(able), Some(other), Some(now)) = (best(detail), best(port), now(detail)) {
            let both = able.common(other);
            if self.inventory.emulated.is_some() {
                self.mark(line, "links of emulated devices say nothing of what they carry");
            } else if now.speed < both.speed || now.lanes < both.lanes {
                line.could = both.to_string();
                line.tone = Some(Tone::Warn);
                self.mark(line, "the link came up with less than both its ends can do; it may do so to save power, so look again under load");
            } else if able.carries(LEAST_PAYLOAD).map(|rate| rate.0) > other.carries(LEAST_PAYLOAD).map(|rate| rate.0)
                && !device.role.is_bridge()
            {
                self.mark(line, &format!("the drive can do {able}, its port {other}"));
            }
        }
        if let Some(split) = &port.bifurcation {
            let ports: Vec<&str> = split.ports.iter().map(|port| short(port)).collect();
            self.mark(
                line,
                &format!(
                    "taken for one slot of {} lanes split into {}: {}",
                    split.lanes,
                    ports.join(", "),
                    split.because
                ),
            );
        }
        let carries = detail.carries.known().copied().flatten().map(|capacity| capacity.rate.0);
        if let (Some(carries), Some(asked)) = (carries, port.asked.filter(|_| device.role.is_bridge()))
            && asked.0 > carries * 1.001
            && self.inventory.emulated.is_none()
        {
            line.tone = Some(Tone::Warn);
            self.mark(
                line,
                &format!(
                    "more can be asked of this link than it carries: {} times as much",
                    significant(asked.0 / carries)
                ),
            );
        }
    }

    /// What a device tells of its own link.
    fn own(&mut self, line: &mut Line, device: &PciDevice) {
        let Some(detail) = device.detail.as_deref() else {
            line.link = device.link.clone().unwrap_or_default();
            return;
        };
        line.link = match &detail.link {
            Readout::Known(link) => link.map(|link| link.to_string()).unwrap_or_default(),
            Readout::Unknown(why) => format!("not known {}", self.notes.mark(why)),
        };
        match &detail.carries {
            Readout::Known(Some(capacity)) => {
                line.carries = self.rate(capacity.rate);
                if self.payload.is_some() {
                    // It is told once, below the tree.
                } else if capacity.payload_known {
                    self.mark(line, &format!("payload {}", capacity.payload));
                } else {
                    self.mark(
                        line,
                        &format!(
                            "at least: the payload of a packet is not known, and {} is the least",
                            capacity.payload
                        ),
                    );
                }
            }
            Readout::Known(None) => {}
            Readout::Unknown(why) => line.carries = format!("? {}", self.notes.mark(why)),
        }
        if let Some(chipset) = &detail.chipset {
            self.mark(line, &format!("taken for a part of the chipset, or behind it: {}", chipset.because));
        }
        if device.role.is_bridge() {
            line.asked = detail.asked.map(|rate| self.rate(rate)).unwrap_or_default();
        }
        line.node = detail.numa_node.map(|node| node.to_string()).unwrap_or_default();
    }

    fn mark(&mut self, line: &mut Line, text: &str) {
        let mark = self.notes.mark(text);
        line.marks += &mark;
    }

    fn rate(&self, rate: BytesPerSecond) -> String {
        significant(self.style.rate(rate))
    }
}

static EMPTY: Branch<'static> = Branch { part: Part::Root(""), children: Vec::new() };

fn now(detail: &PciDetail) -> Option<Link> {
    detail.link.known().copied().flatten()
}

fn best(detail: &PciDetail) -> Option<Link> {
    detail.best.known().copied().flatten()
}

/// Does a branch end at a storage controller, a drive or a network card?
fn leads_to_storage(branch: &Branch) -> bool {
    match branch.part {
        Part::Pci(device) if device.role.is_bridge() => branch.children.iter().any(leads_to_storage),
        _ => true,
    }
}

/// What a branch is called: its address, and its drives or what it is.
fn label(branch: &Branch) -> String {
    let drives: Vec<&str> = branch
        .children
        .iter()
        .filter_map(|child| match child.part {
            Part::Drive(drive) => Some(drive.kernel_name.as_str()),
            _ => None,
        })
        .collect();
    let (address, role) = match branch.part {
        Part::Pci(device) => (short(&device.address), device.role.word()),
        Part::Address(address) => (short(address), "controller"),
        Part::Drive(drive) => return drive.kernel_name.clone(),
        Part::Root(name) => return name.to_owned(),
    };
    let role = if role == "switch upstream" { "switch" } else { role };
    match drives[..] {
        [] => format!("{address} {role}"),
        [one] => format!("{address} {one}"),
        _ => format!("{address} {role} {}", drives.join(" ")),
    }
}
