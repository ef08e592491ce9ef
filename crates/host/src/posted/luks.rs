//! `cryptsetup luksDump`, which does not name its device: the command before it does.

use super::machine::{Block, LUKS};
use super::{Machine, Text};

/// `LUKS header information`, which the first version follows with the device.
pub(super) fn begins(line: &str) -> bool {
    line.starts_with("LUKS header information")
}

/// The version that a header tells: 1 or 2.
pub(super) fn version(text: &str) -> Option<&str> {
    let told = text.lines().find_map(|line| line.strip_prefix("Version:"))?.trim();
    ["1", "2"].contains(&told).then_some(told)
}

/// The header as it is.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let of_itself = text.lines.first().and_then(|line| line.split_once(" for /dev/")).map(|(_, name)| name.trim());
    let Some(name) = of_itself.or_else(|| text.device()).filter(|name| !name.is_empty() && !name.contains([' ', '/']))
    else {
        machine.refused.push(
            "it does not say which device it is of: put the command, such as `cryptsetup luksDump /dev/sda2`, on the line before"
                .to_owned(),
        );
        return 0;
    };
    machine.block(name);
    machine.run(format!("cryptsetup luksDump /dev/{name}"), text.lines.join("\n") + "\n");
    1
}

/// A header tells of the mapping that stands on its device. Where no text names that, it is called by a letter that no
/// mapping has, and by a word that stands for what only its owner knows.
pub(super) fn put_all(machine: &mut Machine) {
    let headers: Vec<String> = machine
        .runs
        .keys()
        .filter_map(|line| line.strip_prefix("cryptsetup luksDump /dev/").map(ToOwned::to_owned))
        .collect();
    let mut letters = machine.free_letters();
    for device in headers {
        let on_it = |(name, block): (&String, &Block)| {
            (name.starts_with("dm-") && block.on.contains(&device)).then(|| name.clone())
        };
        let known = machine.blocks.iter().find_map(on_it);
        let Some(name) = known.clone().or_else(|| letters.next()) else {
            continue;
        };
        machine.stands_on(&name, &device);
        if known.is_none() {
            machine.block_file(&name, "dm/name", "NAME");
        }
        // What told of the mapping before did not tell the header's version.
        let uuid = (name.clone(), "dm/uuid".to_owned());
        if machine.block_files.get(&uuid).is_none_or(|known| known == LUKS) {
            let header = machine.runs.get(&format!("cryptsetup luksDump /dev/{device}"));
            let version = header.and_then(|text| version(text)).unwrap_or_default();
            machine.block_files.insert(uuid, format!("{LUKS}{version}"));
        }
    }
}
