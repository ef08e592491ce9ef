//! `btrfs scrub status` and `btrfs balance status`: what a btrfs does, and what its last scrub found.

use super::btrfs::{is_uuid, target};
use super::kept::Btrfs;
use super::{Machine, Text};

/// `Scrub started:    Sun Mar  3 01:00:02 2024`, `scrub device /dev/sda1 (id 1) history`, or `scrub status for 7b1c6b0b-…` of versions
/// before 5.0. The UUID on the line before the first looks like that of other programs, and is taken where one of these follows.
pub(super) fn begins(line: &str) -> bool {
    STARTS.iter().any(|start| line.starts_with(start)) || (!line.starts_with(UUID) && uuid(line).is_some())
}

const STARTS: [&str; 6] = [
    "Scrub started: ",
    "Scrub resumed: ",
    "Total to scrub: ",
    "Error summary: ",
    "scrub device /dev/",
    "Scrub device /dev/",
];

/// What a line before the first of them may tell.
pub(super) const UUID: &str = "UUID: ";

fn uuid(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("scrub status for ").or_else(|| line.strip_prefix(UUID))?;
    Some(rest.trim()).filter(|uuid| is_uuid(uuid))
}

/// The text as it is, of each file system that it names.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    // A line of a UUID begins the next, and is told once for all devices.
    let mut starts: Vec<usize> = (1..text.lines.len()).filter(|at| uuid(text.lines[*at]).is_some()).collect();
    starts.insert(0, 0);
    let ends = starts.iter().skip(1).copied().chain([text.lines.len()]);
    starts.iter().zip(ends).map(|(from, to)| read_one(&text.lines[*from..to], text.command, machine)).sum()
}

fn read_one(lines: &[&str], command: Option<&str>, machine: &mut Machine) -> usize {
    // Without its summary it is cut.
    let is_whole = lines.iter().any(|line| line.contains("Error summary:") || line.contains("total bytes scrubbed:"));
    if !is_whole {
        machine.refused.push("it tells no summary of errors: nothing was scrubbed, or it is cut".to_owned());
        return 0;
    }
    let uuid = lines.first().and_then(|line| uuid(line));
    machine.put_btrfs(Btrfs::scrubbed(command.and_then(target), uuid, lines.join("\n") + "\n"))
}

/// `Balance on '/mnt' is paused`, `No balance found on '/mnt'`.
pub(super) fn begins_balance(line: &str) -> bool {
    balance(line).is_some()
}

fn balance(line: &str) -> Option<(&str, &'static str)> {
    if let Some(rest) = line.strip_prefix("No balance found on '") {
        return Some((rest.strip_suffix('\'')?, "none"));
    }
    let (path, rest) = line.strip_prefix("Balance on '")?.split_once("' is ")?;
    // As the kernel calls it (`exclusive_operation` of its `fs/btrfs/sysfs.c`).
    let operation = if rest.starts_with("paused") { "balance paused" } else { "balance" };
    Some((path, operation))
}

pub(super) fn read_balance(text: &Text, machine: &mut Machine) -> usize {
    let Some((path, operation)) = text.lines.first().and_then(|line| balance(line)) else { return 0 };
    machine.put_btrfs(Btrfs::busy(path, operation))
}
