//! The machine as a tree: ports, switches, controllers, drives.

use terms::drive::Drive;
use terms::inventory::{Inventory, PciDevice};

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
    /// A drive.
    Drive(&'a Drive),
}

/// The trees of a machine: its root complex, and what is not on PCIe. Nothing is left out, whatever the addresses say.
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
    let on_pci = |drive: &&Drive| drive.pci_address.as_deref().is_some_and(known);
    let stray: Vec<Branch> = inventory.drives.iter().filter(|drive| !on_pci(drive)).map(leaf).collect();
    let mut out = Vec::new();
    for (name, children) in [("root complex", roots), ("not on PCIe", stray)] {
        if !children.is_empty() {
            out.push(Branch { part: Part::Root(name), children });
        }
    }
    out
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

/// The machine as a tree of text, as lsblk prints one: root complex, ports, switches, controllers and drives, with
/// links, sizes, block sizes, serial numbers and models.
#[must_use]
pub fn machine_tree(inventory: &Inventory, ascii: bool) -> String {
    let style = Style { ascii, ..Style::default() };
    let mut lines = Vec::new();
    for root in branches(inventory) {
        flatten(&root, &mut Vec::new(), ascii, &mut lines);
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
        .filter(|strip| strip.cells.iter().any(|cell| !cell.text.is_empty()))
        .collect();
    sheet::render(&strips.iter().collect::<Vec<_>>(), &style)
}

/// A branch and all under it as lines of the table.
fn flatten(branch: &Branch, more: &mut Vec<bool>, ascii: bool, lines: &mut Vec<[String; 7]>) {
    let mut line = match branch.part {
        Part::Root(name) => [name, "", "", "", "", "", ""].map(str::to_owned),
        Part::Pci(device) => {
            let role = format!("{} {}", device.role, device.id);
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
            drive.serial.clone().unwrap_or_default(),
            drive.model.clone().unwrap_or_default(),
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
