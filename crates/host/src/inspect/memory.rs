//! Memory modules, from what the firmware tells (`dmidecode`).

use std::collections::BTreeSet;

use terms::Bytes;
use terms::inventory::{FirmwareMemory, MemoryModule, Readout};

use super::source::{Source, field};

/// Modules and channels.
pub(super) fn read(source: &Source) -> FirmwareMemory {
    let modules = source.said(&["dmidecode", "-t", "memory"]).and_then(|text| match modules(&text) {
        found if found.is_empty() => Readout::unknown("the firmware tells of no memory module"),
        found => Readout::Known(found),
    });
    let channels = modules.as_ref().and_then(|modules| match channels(modules) {
        Some(channels) => Readout::Known(channels),
        None => Readout::unknown("the names of memory slots and banks do not tell channels"),
    });
    FirmwareMemory { modules, channels }
}

/// Every `Memory Device` with a module in it.
fn modules(text: &str) -> Vec<MemoryModule> {
    let blocks = text.split("\n\n").filter(|block| block.lines().any(|line| line.trim() == "Memory Device"));
    blocks.filter_map(module).collect()
}

fn module(block: &str) -> Option<MemoryModule> {
    let told = |name: &str| field(block, name).filter(|value| !["Unknown", "Not Specified"].contains(value));
    // `8 GB` here is 8 GiB.
    let size = told("Size").and_then(|size| Bytes::parse(&size.replace("GB", "GiB").replace("MB", "MiB")).ok())?;
    let speed = |name: &str| told(name)?.split(' ').next()?.parse().ok();
    Some(MemoryModule {
        slot: told("Locator").unwrap_or_default().to_owned(),
        bank: told("Bank Locator").unwrap_or_default().to_owned(),
        size,
        kind: told("Type").unwrap_or_default().to_owned(),
        speed: speed("Configured Memory Speed").or_else(|| speed("Configured Clock Speed")),
        rated: speed("Speed"),
    })
}

/// How many channels have a module. Firmware names as it likes: `P0 CHANNEL A`, `ChannelA-DIMM0`, `DIMM_A2`.
fn channels(modules: &[MemoryModule]) -> Option<u32> {
    let named = |module: &MemoryModule| channel(&module.bank).or_else(|| channel(&module.slot));
    let names: BTreeSet<String> = modules.iter().filter_map(named).collect();
    if modules.iter().all(|module| named(module).is_some()) { u32::try_from(names.len()).ok() } else { None }
}

/// The part of a name that ends with a channel's letter or number.
fn channel(name: &str) -> Option<String> {
    let upper = name.to_uppercase();
    if let Some(at) = upper.find("CHANNEL") {
        let rest = upper[at + 7..].trim_start_matches([' ', '_', '-']);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        return (end > 0).then(|| upper[..at].to_owned() + &rest[..end]);
    }
    // `A1`, `DIMM_A2`: a letter for the channel, a number for the slot in it.
    let last = upper.rsplit(['_', ' ', '-']).next()?;
    let letter = last.strip_prefix("DIMM").unwrap_or(last);
    let mut characters = letter.chars();
    let (first, second) = (characters.next()?, characters.next()?);
    (first.is_ascii_alphabetic() && second.is_ascii_digit()).then(|| first.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_found_in_names() {
        for (name, expected) in [
            ("P0 CHANNEL A", Some("P0 A")),
            ("ChannelB-DIMM1", Some("B")),
            ("DIMM_A2", Some("A")),
            ("DIMMC1", Some("C")),
            ("BANK 0", None),
            ("", None),
        ] {
            assert_eq!(channel(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn empty_slots_are_left_out() {
        let text = "# dmidecode 3.4\n\nHandle 0x1, DMI type 17, 92 bytes\nMemory Device\n\tSize: 8 GB\n\tLocator: DIMM_A1\n\t\
                    Type: DDR4\n\tSpeed: 3200 MT/s\n\tConfigured Memory Speed: 2666 MT/s\n\nHandle 0x2, DMI type 17\n\
                    Memory Device\n\tSize: No Module Installed\n\tLocator: DIMM_A2\n";
        let found = modules(text);
        assert_eq!(
            (found.len(), found[0].size, found[0].speed, found[0].rated),
            (1, Bytes::gib(8), Some(2666), Some(3200))
        );
        assert_eq!(channels(&found), Some(1));
    }
}
