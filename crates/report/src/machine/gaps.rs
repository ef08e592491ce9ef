//! What nobody could find out, and why: each reason once, with all that it kept from us.

use std::collections::BTreeMap;

use terms::inventory::{Detail, Inventory, NOT_LOOKED_AT, Readout};

use super::examined::heading;
use crate::style::Style;
use crate::width::paragraph;

/// The list; nothing where everything is known.
pub(super) fn draw(inventory: &Inventory, detail: &Detail, style: &Style) -> Option<String> {
    let mut gaps = Gaps::default();
    for (what, path) in [
        ("processors", "/proc/cpuinfo"),
        ("memory", "/proc/meminfo"),
        ("drives", "/sys/block"),
        ("what stands on drives", "/sys/class/block"),
        ("PCI devices", "/sys/bus/pci/devices"),
        ("NVMe controllers", "/sys/class/nvme"),
    ] {
        if let Some(why) = inventory.why_unread(path) {
            gaps.add(what, why);
        }
    }
    gaps.note("memory modules", &detail.memory.modules);
    gaps.note("volume groups", &detail.volume_groups);
    gaps.note("pools", &detail.pools);
    gaps.note("mounts", &detail.mounts);
    gaps.note("swap", &detail.swaps);
    gaps.note("services", &detail.units);
    gaps.note("kernel messages", &detail.linux.messages);
    gaps.note("crypto drivers", &detail.linux.crypto);
    for controller in &detail.controllers {
        gaps.note(&format!("{} abilities", controller.name), &controller.identity);
        gaps.note(&format!("{} health", controller.name), &controller.health);
    }
    for drive in &inventory.drives {
        let Some(known) = drive.detail.as_deref() else { continue };
        if let Some(nvme) = &known.nvme {
            gaps.note(&format!("{} formats", drive.kernel_name), &nvme.formats);
        } else {
            gaps.note(&format!("{} health", drive.kernel_name), &known.health);
        }
    }
    for node in &detail.nodes {
        if let Some(dm) = &node.dm {
            gaps.note(&format!("{} table", node.name), &dm.targets);
        }
    }
    for system in &detail.file_systems {
        if ["ext2", "ext3", "ext4", "xfs"].contains(&&*system.kind) {
            gaps.note(&format!("{} geometry", system.nodes.join("+")), &system.geometry);
        }
    }
    if gaps.all.is_empty() {
        return None;
    }
    let line = |(why, what): &(String, Vec<String>)| {
        paragraph("  ", &style.spell(&format!("{}: {why}", what.join(", "))), style.columns())
    };
    Some(heading("NOT KNOWN", style) + &gaps.all.iter().map(line).collect::<String>())
}

/// Reasons with what each of them hides.
#[derive(Default)]
struct Gaps {
    all: Vec<(String, Vec<String>)>,
    /// Where each reason stands.
    known: BTreeMap<String, usize>,
}

impl Gaps {
    fn note<T>(&mut self, what: &str, reading: &Readout<T>) {
        if let Some(why) = reading.why_unknown().filter(|why| *why != NOT_LOOKED_AT) {
            self.add(what, why);
        }
    }

    fn add(&mut self, what: &str, why: &str) {
        // Programs name the device they failed on, and say the same of each.
        let device = |word: &str| match word.strip_suffix('`') {
            _ if !word.contains("/dev/") => word.to_owned(),
            Some(_) => "…`".to_owned(),
            None => "…".to_owned(),
        };
        let plain = why.split(' ').map(device).collect::<Vec<_>>().join(" ");
        let at = *self.known.entry(plain).or_insert_with_key(|plain| {
            self.all.push((plain.clone(), Vec::new()));
            self.all.len() - 1
        });
        self.all.get_mut(at).into_iter().for_each(|(_, all)| all.push(what.to_owned()));
    }
}
