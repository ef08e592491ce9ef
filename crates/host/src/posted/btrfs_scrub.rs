//! `btrfs scrub status` and `btrfs balance status`: what a btrfs does, and what its last scrub found.

use super::btrfs::{is_uuid, target};
use super::kept::Btrfs;
use super::{Machine, Text};

/// `Scrub started:    Sun Mar  3 01:00:02 2024`, `scrub device /dev/sda1 (id 1) history`, or `scrub status for 7b1c6b0b-…` of versions
/// before 5.0. The UUID on the line before the first looks like that of other programs.
pub(super) fn begins(line: &str) -> bool {
    STARTS.iter().any(|start| line.starts_with(start)) || uuid(line).is_some()
}

const STARTS: [&str; 5] =
    ["Scrub started: ", "Scrub resumed: ", "Total to scrub: ", "Error summary: ", "scrub device /dev/"];

fn uuid(line: &str) -> Option<&str> {
    Some(line.strip_prefix("scrub status for ")?.trim()).filter(|uuid| is_uuid(uuid))
}

/// The text as it is, of the file system that it names.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let uuid = text.lines.first().and_then(|line| uuid(line));
    // Without its summary it is cut.
    let is_whole =
        text.lines.iter().any(|line| line.contains("Error summary:") || line.contains("total bytes scrubbed:"));
    if !is_whole {
        machine.refused.push("it tells no summary of errors: nothing was scrubbed, or it is cut".to_owned());
        return 0;
    }
    let system = Btrfs::scrubbed(text.command.and_then(target), uuid, text.lines.join("\n") + "\n");
    machine.put_btrfs(system)
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
