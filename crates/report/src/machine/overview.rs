//! What a machine is, in a few lines.

use terms::inventory::{Cpu, Detail, Inventory, MemoryModule, Readout};

use super::{known, pairs};
use crate::style::Style;
use crate::width::wrap;

/// Widest name on the left, with the gap.
const NAMES: usize = 13;

/// Names and values.
pub(super) fn draw(inventory: &Inventory, detail: &Detail, style: &Style) -> String {
    let mut facts =
        vec![("System", known(&inventory.system).to_owned()), ("Kernel", known(&inventory.kernel).to_owned())];
    facts.extend(detail.board.clone().map(|board| ("Machine", board)));
    facts.push(("Processors", processors(inventory, &detail.cpu)));
    facts.push(("", abilities(inventory, &detail.cpu)));
    facts.push(("Memory", memory(inventory, detail)));
    if let Some(flaws) = detail.cpu.mitigations.known().filter(|flaws| !flaws.is_empty()) {
        facts.push(("Mitigations", flaws.keys().cloned().collect::<Vec<_>>().join(", ")));
    }
    facts.extend(layers(detail).map(|layers| ("Layers", layers)));
    if let Some(nodes) = detail.numa.known().filter(|nodes| nodes.len() > 1) {
        let node = |node: &terms::inventory::NumaNode| format!("node {}: processors {}", node.node, node.cpus);
        facts.push(("NUMA", nodes.iter().map(node).collect::<Vec<_>>().join("; ")));
    }
    if let Some(by) = &inventory.emulated {
        let by = if by.is_empty() { "yes".to_owned() } else { format!("yes, by {by}") };
        facts.push(("Emulated", format!("{by}: its rates say nothing of real drives")));
    }
    if !detail.as_root && inventory.why_unread("/proc/self/status").is_none() {
        facts.push(("Looked at", "without the rights of root, which hide much".to_owned()));
    }
    let room = style.columns().saturating_sub(NAMES);
    pairs(None, facts.into_iter().map(|(name, value)| (name.to_owned(), wrap(&value, room).join("\n"))), style)
}

/// What the kernel tells of processors.
const CPUINFO: &str = "/proc/cpuinfo";

fn processors(inventory: &Inventory, cpu: &Cpu) -> String {
    let model = known(&inventory.cpu_model);
    if inventory.why_unread(CPUINFO).is_some() {
        return "not known".to_owned();
    }
    let (Some(sockets), Some(cores)) = (cpu.sockets.known(), cpu.cores.known()) else {
        return format!("{} × {model}", inventory.cpus);
    };
    format!("{sockets} × {model}: {cores} cores, {} threads", inventory.cpus)
}

fn abilities(inventory: &Inventory, cpu: &Cpu) -> String {
    let unread = inventory.why_unread(CPUINFO).is_some();
    let flags = if unread {
        "instructions not known".to_owned()
    } else if cpu.flags.is_empty() {
        "none of AES, SHA, AVX".to_owned()
    } else {
        cpu.flags.join(" ")
    };
    let aes = if inventory.aes || unread { "" } else { "no AES instructions; " };
    let governor = match &cpu.governors {
        Readout::Known(all) if all.is_empty() => "frequencies are not scaled here".to_owned(),
        Readout::Known(all) => format!("governor {}", all.keys().cloned().collect::<Vec<_>>().join(", ")),
        Readout::Unknown(_) => "governor not known".to_owned(),
    };
    let profile = cpu.platform_profile.known().cloned().flatten();
    let profile = profile.map_or(String::new(), |profile| format!(", profile {profile}"));
    format!("{aes}{flags}; {governor}{profile}")
}

/// Which layers the kernel offers now; modules that are not loaded may bring more.
fn layers(detail: &Detail) -> Option<String> {
    let mut words = Vec::new();
    if let Some(levels) = detail.linux.raid_levels.known().filter(|levels| !levels.is_empty()) {
        words.push(format!("md {}", levels.join(" ")));
    }
    if let Some(targets) = detail.linux.mapper_targets.known().filter(|targets| !targets.is_empty()) {
        words.push(format!("dm {}", targets.keys().cloned().collect::<Vec<_>>().join(" ")));
    }
    let modules = detail.linux.modules.known().into_iter().flatten();
    for module in modules.filter(|module| ["zfs", "btrfs", "xfs", "ext4"].contains(&&*module.name)) {
        words.push(
            [Some(module.name.as_str()), module.version.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" "),
        );
    }
    (!words.is_empty()).then(|| words.join("; "))
}

fn memory(inventory: &Inventory, detail: &Detail) -> String {
    let mut text = match inventory.why_unread("/proc/meminfo") {
        Some(_) => "not known".to_owned(),
        None => inventory.memory.to_string(),
    };
    if let Some(modules) = detail.memory.modules.known() {
        let first = &modules[0];
        let alike =
            |module: &MemoryModule| (module.size, module.speed, &module.kind) == (first.size, first.speed, &first.kind);
        if modules.iter().all(alike) {
            text += &format!(" in {} × {} of {}", modules.len(), first.size, first.kind);
        } else {
            text += &format!(" in {} modules, not all alike", modules.len());
        }
        if let Some(speed) = first.speed.filter(|speed| *speed > 0) {
            text += &format!(" at {speed} MT/s");
        }
    }
    match &detail.memory.channels {
        Readout::Known(1) => text + ", 1 channel by its name",
        Readout::Known(channels) => text + &format!(", {channels} channels by their names"),
        Readout::Unknown(_) => text,
    }
}
