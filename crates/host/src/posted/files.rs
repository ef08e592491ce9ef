//! Files below `/sys` with their content, as `grep . FILE…` prints them: `/sys/block/sda/queue/scheduler:none [bfq]`.

use super::{Machine, Text};

/// Directories of block devices, by whichever way somebody went.
const BLOCKS: [&str; 2] = ["/sys/block/", "/sys/class/block/"];

pub(super) fn begins(line: &str) -> bool {
    parts(line).is_some()
}

/// The one file of a block device that `cat` shows.
pub(super) fn shown(command: &str) -> Option<&str> {
    let path = command.strip_prefix("sudo ").unwrap_or(command).strip_prefix("cat ")?.trim();
    let is_file = !path.contains([' ', '*', '?', '[']) && BLOCKS.iter().any(|below| path.starts_with(below));
    is_file.then_some(path)
}

/// Device, file below its directory, and content.
fn parts(line: &str) -> Option<(&str, &str, &str)> {
    let (path, value) = line.split_once(':')?;
    let rest = BLOCKS.iter().find_map(|below| path.strip_prefix(below))?;
    let (name, file) = rest.split_once('/')?;
    let plain = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte))
    };
    (plain(name) && plain(file) && !file.contains("..")).then_some((name, file, value.trim()))
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let mut told = 0;
    // Of `cat` only the content is there.
    let path = text.command.and_then(shown).zip(text.lines.first());
    let lines: Vec<String> = match path {
        Some((path, content)) => vec![format!("{path}:{content}")],
        None => text.lines.iter().map(|line| (*line).to_owned()).collect(),
    };
    for (name, file, value) in lines.iter().filter_map(|line| parts(line)) {
        if name.starts_with("nvme") && !name.contains('p') {
            machine.namespace(name);
        } else if name.starts_with("sd") || name.starts_with("vd") {
            machine.drive(name);
        }
        // `lsblk` has only the one in use.
        let value = if file == "queue/scheduler" { crate::in_force(value) } else { value };
        if file == "queue/scheduler" && !value.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') {
            machine.refused.push(format!("`{name}`: no scheduler is marked as the one in use"));
            continue;
        }
        machine.block_file(name, file, value);
        told += 1;
    }
    told
}
