//! `xfs_info`: how an XFS was made, with the device that it is on.

use serde_json::json;

use super::{Machine, Text};

/// `meta-data=/dev/md0               isize=512    agcount=32, agsize=91567104 blks`.
pub(super) fn begins(line: &str) -> bool {
    device(line).is_some()
}

fn device(line: &str) -> Option<&str> {
    let path = line.strip_prefix("meta-data=")?.split_whitespace().next()?;
    path.starts_with("/dev/").then_some(path)
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let path = text.lines.first().and_then(|line| device(line));
    let Some(node) = path.and_then(|path| machine.node_of(path)) else { return 0 };
    machine.signatures.entry(node.clone()).or_insert_with(|| json!({"device": node, "type": "xfs", "uuid": null}));
    machine.xfs.insert(node, text.lines.join("\n") + "\n");
    1
}

/// One that is mounted is asked by its mount.
pub(super) fn put_all(machine: &mut Machine) {
    for (node, text) in std::mem::take(&mut machine.xfs) {
        let path = format!("/dev/{node}");
        let place = machine.mounted_at(&path).unwrap_or(path);
        machine.run(format!("xfs_info {place}"), text);
    }
}
