//! `fsck -n` and `xfs_repair -n`: what a check of a file system found, without having changed anything.

use super::{Machine, Text, sayings};

/// The version of `e2fsck`, its warning, its first pass, or the line that it ends with.
pub(super) fn begins(line: &str) -> bool {
    line.strip_prefix("e2fsck ").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
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
    said.is_some_and(|(_, said)| said.contains(" files") && said.trim_end().ends_with(" blocks"))
}

/// Errors are told by the line that it ends with; what it finds in a file system that others write to need not be there.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let is_in_use = text.lines.iter().any(|line| is_mounted(line));
    for line in text.lines.iter().map(|line| line.trim()).filter(|line| !is_in_use && line.ends_with(STILL)) {
        sayings::say("e2fsck", line, machine);
    }
    1
}

/// What `e2fsck` ends with where it changed nothing of what it found.
const STILL: &str = "WARNING: Filesystem still has errors **********";

pub(super) fn begins_xfs(line: &str) -> bool {
    line.starts_with("Phase 1 - find and verify superblock")
}

/// `entry "a" in directory inode 128 points to free inode 99, would junk entry`: every line of what it would change has that word.
pub(super) fn read_xfs(text: &Text, machine: &mut Machine) -> usize {
    for line in text.lines.iter().map(|line| line.trim()).filter(|line| line.contains("would ")) {
        sayings::say("xfs_repair", line, machine);
    }
    1
}
