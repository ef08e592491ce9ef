//! The machine: its system and processors, its tree of ports, switches, controllers and drives, its programs.

mod contents;
mod examined;
mod gaps;
mod layers;
mod links;
mod overview;

use terms::drive::Drive;
use terms::inventory::{Inventory, PciDevice, Program};

use crate::sheet::{self, Cell, Strip};
use crate::style::Style;
use crate::tree;
use crate::width::Align;

/// Something in the tree, with what hangs under it.
#[derive(Debug)]
pub(crate) struct Branch<'a> {
    /// What it is.
    pub(crate) part: Part<'a>,
    /// What hangs under it.
    pub(crate) children: Vec<Branch<'a>>,
}

/// What something in the tree is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'a> {
    /// Where the tree begins, by name.
    Root(&'static str),
    /// A bridge or a controller.
    Pci(&'a PciDevice),
    /// A controller of which the inventory tells nothing but its address.
    Address(&'a str),
    /// A drive.
    Drive(&'a Drive),
}

/// The trees of a machine: its root complex, controllers that are on PCI and have no known place in it, and what is not
/// on PCI at all. Nothing is left out, whatever the addresses say.
pub(crate) fn branches(inventory: &Inventory) -> Vec<Branch<'_>> {
    let mut seen = vec![false; inventory.pci.len()];
    let known = |address: &str| inventory.pci.iter().any(|device| device.address == address);
    let mut roots = Vec::new();
    for at in 0..inventory.pci.len() {
        if inventory.pci[at].parent.as_deref().is_none_or(|parent| !known(parent)) {
            roots.extend(grow(inventory, at, &mut seen));
        }
    }
    // Parents that name one another in a circle are reached from no root: take each as a root of its own.
    for at in 0..inventory.pci.len() {
        roots.extend(grow(inventory, at, &mut seen));
    }
    let mut elsewhere: Vec<Branch> = Vec::new();
    let mut stray = Vec::new();
    for drive in &inventory.drives {
        match drive.pci_address.as_deref() {
            Some(address) if known(address) => {}
            Some(address) => at_address(&mut elsewhere, address).push(leaf(drive)),
            None => stray.push(leaf(drive)),
        }
    }
    let mut out = Vec::new();
    for (name, children) in [("root complex", roots), ("other PCI", elsewhere), ("not on PCI", stray)] {
        if !children.is_empty() {
            out.push(Branch { part: Part::Root(name), children });
        }
    }
    out
}

/// What hangs under the controller at an address, which is added where it is new.
fn at_address<'a, 'b>(branches: &'b mut Vec<Branch<'a>>, address: &'a str) -> &'b mut Vec<Branch<'a>> {
    let is = |branch: &Branch| matches!(branch.part, Part::Address(known) if known == address);
    let at = branches.iter().position(is).unwrap_or_else(|| {
        branches.push(Branch { part: Part::Address(address), children: Vec::new() });
        branches.len() - 1
    });
    &mut branches[at].children
}

/// A drive, with nothing under it.
fn leaf(drive: &Drive) -> Branch<'_> {
    Branch { part: Part::Drive(drive), children: Vec::new() }
}

/// A device with all that hangs under it, unless it was taken before.
fn grow<'a>(inventory: &'a Inventory, at: usize, seen: &mut [bool]) -> Option<Branch<'a>> {
    if std::mem::replace(&mut seen[at], true) {
        return None;
    }
    let device = &inventory.pci[at];
    let mut children = Vec::new();
    for (child, below) in inventory.pci.iter().enumerate() {
        if below.parent.as_deref() == Some(&device.address) {
            children.extend(grow(inventory, child, seen));
        }
    }
    children.extend(inventory.drives.iter().filter(|d| d.pci_address.as_deref() == Some(&device.address)).map(leaf));
    Some(Branch { part: Part::Pci(device), children })
}

/// A link, and the best it could do where that is more.
pub(crate) fn link(device: &PciDevice) -> Option<String> {
    let link = device.link.as_ref()?;
    Some(match &device.max_link {
        Some(best) if best != link => format!("{link} of {best}"),
        _ => link.clone(),
    })
}

/// A PCI address without the domain where that is 0.
pub(crate) fn short(address: &str) -> &str {
    address.strip_prefix("0000:").unwrap_or(address)
}

/// A text of an inventory, which may lack it.
pub(crate) fn known(text: &str) -> &str {
    if text.is_empty() { "not known" } else { text }
}

/// What a person asks first of a machine: names and values.
pub(crate) fn facts(inventory: &Inventory) -> Vec<(&'static str, String)> {
    vec![
        ("System", known(&inventory.system).to_owned()),
        ("Kernel", known(&inventory.kernel).to_owned()),
        ("Processors", format!("{} × {}", inventory.cpus, known(&inventory.cpu_model))),
        ("AES instructions", if inventory.aes { "yes" } else { "no" }.to_owned()),
        ("Memory", inventory.memory.to_string()),
    ]
}

/// The version of a program, or that it is missing.
pub(crate) fn version(program: &Program) -> String {
    program.version.clone().unwrap_or_else(|| "not installed".to_owned())
}

/// The machine as text: what it is, a tree of its root complex, ports, switches, controllers and drives as lsblk prints
/// one, with links, sizes, block sizes, serial numbers and models, and the versions of its programs.
#[must_use]
pub fn machine_tree(inventory: &Inventory, ascii: bool) -> String {
    machine_sheet(inventory, &Style { ascii, ..Style::default() })
}

/// The same in a style. A machine that was examined is told whole: what its links carry, and what stands on its drives.
#[must_use]
pub fn machine_sheet(inventory: &Inventory, style: &Style) -> String {
    if let Some(detail) = &inventory.detail {
        return examined::draw(inventory, detail, style);
    }
    let style = *style;
    let mut facts = facts(inventory);
    if let Some(by) = &inventory.emulated {
        let by = if by.is_empty() { "yes".to_owned() } else { format!("yes, by {by}") };
        facts.push(("Emulated", format!("{by}: its rates say nothing of real drives")));
    }
    let mut out = pairs(None, facts.into_iter().map(|(what, value)| (what.to_owned(), value)), &style);
    out.push('\n');
    out.push_str(&topology(inventory, &style));
    if !inventory.programs.is_empty() {
        let programs = inventory.programs.iter().map(|program| (program.name.clone(), version(program)));
        out.push('\n');
        out.push_str(&pairs(Some(["PROGRAM", "VERSION"]), programs, &style));
    }
    out
}

/// Names and their values in two columns.
fn pairs(headings: Option<[&str; 2]>, pairs: impl Iterator<Item = (String, String)>, style: &Style) -> String {
    let (names, values): (Vec<String>, Vec<String>) = pairs.unzip();
    let strip = |at: usize, texts: Vec<String>| Strip {
        heading: headings.iter().map(|headings| headings[at].to_owned()).collect(),
        align: Align::Left,
        cells: texts.iter().map(|text| Cell::plain(style.spell(text))).collect(),
    };
    sheet::render(&[&strip(0, names), &strip(1, values)], style)
}

/// The tree with its columns. Links are left out where nothing tells one; serial numbers and models are not, for a
/// study finds its drives by them and must see that there are none.
fn topology(inventory: &Inventory, style: &Style) -> String {
    let mut lines = Vec::new();
    for root in branches(inventory) {
        flatten(&root, &mut Vec::new(), style.ascii, &mut lines);
    }
    if lines.is_empty() {
        return "no drives and no PCI devices were found\n".to_owned();
    }
    let strips: Vec<Strip> = ["NAME", "ROLE", "LINK", "SIZE", "LBA", "SERIAL", "MODEL"]
        .into_iter()
        .enumerate()
        .map(|(column, heading)| Strip {
            heading: vec![heading.to_owned()],
            align: if matches!(heading, "SIZE" | "LBA") { Align::Right } else { Align::Left },
            cells: lines.iter().map(|line| Cell::plain(style.spell(&line[column]))).collect(),
        })
        .filter(|strip| strip.heading[0] != "LINK" || strip.cells.iter().any(|cell| !cell.text.is_empty()))
        .collect();
    sheet::render(&strips.iter().collect::<Vec<_>>(), style)
}

/// What a drive tells of itself, or that it does not.
fn told(text: Option<&str>) -> String {
    text.filter(|text| !text.is_empty()).unwrap_or("–").to_owned()
}

/// A branch and all under it as lines of the table.
fn flatten(branch: &Branch, more: &mut Vec<bool>, ascii: bool, lines: &mut Vec<[String; 7]>) {
    let mut line = match branch.part {
        Part::Root(name) => [name, "", "", "", "", "", ""].map(str::to_owned),
        Part::Address(address) => [short(address), "controller", "", "", "", "", ""].map(str::to_owned),
        Part::Pci(device) => {
            let role = format!("{} {}", device.role.word(), device.id);
            let mut line = [const { String::new() }; 7];
            line[0] = short(&device.address).to_owned();
            line[1] = role.trim().to_owned();
            line[2] = link(device).unwrap_or_default();
            line
        }
        Part::Drive(drive) => [
            drive.kernel_name.clone(),
            format!("{} drive", drive.transport),
            String::new(),
            drive.size.to_string(),
            drive.logical_block.to_string(),
            told(drive.serial.as_deref()),
            told(drive.model.as_deref()),
        ],
    };
    line[0].insert_str(0, &tree::lead(more, ascii));
    lines.push(line);
    for (at, child) in branch.children.iter().enumerate() {
        more.push(at + 1 < branch.children.len());
        flatten(child, more, ascii, lines);
        more.pop();
    }
}
