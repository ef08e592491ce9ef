//! `tune2fs -l` and `dumpe2fs -h`: the superblock of an ext file system, as `dumpe2fs` prints it.

use serde_json::json;

use super::{Machine, Text};

/// `tune2fs 1.47.0 (5-Feb-2023)`, `dumpe2fs 1.46.5 (30-Dec-2021)`, or the line that both print first.
pub(super) fn begins(line: &str) -> bool {
    let by =
        |program: &str| line.strip_prefix(program).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    by("tune2fs ") || by("dumpe2fs ") || line.starts_with("Filesystem volume name:")
}

/// What the first is called that does not say which device it is of: a letter that no drive has.
const NAMELESS: &str = "/dev/sdX1";

/// The superblock as it is. What it does not tell was cut, or there is none of it.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let has = |key: &str| text.lines.iter().any(|line| line.starts_with(key));
    // The line of the version is a text of its own.
    if !has("Block size:") && !has("Filesystem state:") {
        return 0;
    }
    if text.command.is_some_and(|typed| typed.contains("tune2fs")) {
        machine.reading = "tune2fs -l";
    }
    let path = text.path_of(&["tune2fs", "dumpe2fs"]).unwrap_or(NAMELESS);
    let Some(node) = machine.node_of(path) else {
        machine
            .refused
            .push(format!("`{path}` is not the kernel's name of a device: `readlink -f` shows where a link leads"));
        return 0;
    };
    if path == NAMELESS && machine.signatures.contains_key(&node) {
        machine.refused.push(
            "it does not say which device it is of: put the command, such as `dumpe2fs -h /dev/sda2`, on the line before".to_owned(),
        );
        return 0;
    }
    machine.signatures.entry(node.clone()).or_insert_with(|| json!({"device": node, "type": "ext4", "uuid": null}));
    // Where the lines behind the stripe are missing, that may have been cut as well (`list_super2` in e2fsprogs' `lib/e2p/ls.c`).
    let is_past = has("RAID stride:") || has("Last checked:");
    let lines: Vec<&str> =
        text.lines.iter().copied().filter(|line| is_past || !line.starts_with("Block size:")).collect();
    machine.run(format!("dumpe2fs -h /dev/{node}"), lines.join("\n") + "\n");
    1
}
