//! `xfs_repair -n` and `e2fsck -n`: what a check of a file system found, without having changed anything.

use super::{Machine, Text, sayings};

/// The first phase of `xfs_repair`; the version of `e2fsck`, its warning, its first pass, or the line that it ends with.
pub(super) fn begins(line: &str) -> bool {
    line.starts_with("Phase 1 - find and verify superblock")
        || line.strip_prefix("e2fsck ").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        || line.starts_with("Pass 1: Checking inodes, blocks, and sizes")
        || is_mounted(line)
        || is_end(line)
}

fn is_mounted(line: &str) -> bool {
    line.starts_with("Warning!  /dev/") && line.trim_end().ends_with(" is mounted.")
}

/// `/dev/sda1: clean, 12/65536 files, 8859/262144 blocks`, `/dev/sda1: 11/65536 files (0.0% non-contiguous), …`.
fn is_end(line: &str) -> bool {
    let said = line.split_once(": ").filter(|(device, _)| device.starts_with("/dev/"));
    said.is_some_and(|(_, said)| said.contains(" files") && said.ends_with(" blocks"))
}

/// What it would have changed is told by the program's words; of a check that was cut short, or that found nothing, nothing is.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let is_in_use = text.lines.iter().any(|line| is_mounted(line));
    for line in text.lines.iter().map(|line| line.trim()) {
        if line.contains("would ") {
            sayings::say("xfs_repair", line, machine);
        } else if !is_in_use && line.ends_with(STILL) {
            sayings::say("e2fsck", line, machine);
        }
    }
    1
}

/// What `e2fsck` ends with where it changed nothing of what it found.
const STILL: &str = "WARNING: Filesystem still has errors **********";
