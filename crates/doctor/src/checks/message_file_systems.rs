//! Damage that file systems find in themselves, and what each of them wants done about it.

use std::collections::BTreeSet;

use super::message_kinds::{INCONSISTENT, Kind};
use super::message_names;

/// Those that tell of it.
pub(super) const DAMAGED: [Kind; 4] = [EXT4, XFS, BTRFS, INCONSISTENT];

/// What is said of a file system beside the message of a snapshot that was lost, which does not name it.
pub(super) const OF_SNAPSHOT: &str = ". A snapshot was lost as well: if the device that is named is that snapshot, unmount it, and neither check nor repair anything";

/// Those of `lines` that name none of the devices that others of damage name: that a file system is not mounted comes of it.
pub(super) fn beside<'a>(lines: Vec<&'a str>, damaged: &BTreeSet<String>) -> Vec<&'a str> {
    let is_beside = |line: &&str| message_names::of(&[line]).is_none_or(|device| !damaged.contains(&device));
    lines.into_iter().filter(is_beside).collect()
}

/// `ext4_error` and others in the kernel's `fs/ext4`, and `fs/jbd2`.
const EXT4: Kind = Kind {
    words: &[
        &["ext4-fs error"],
        &["ext4", "checksum invalid"],
        &["ext4", "invalid checksum"],
        &["jbd2", "checksum error"],
        &["jbd2", "invalid checksum"],
        // What ext4 keeps in its superblock, and tells at each mount and once a day.
        &["ext4-fs", "mounting fs with errors"],
        &["ext4-fs", "error count since last fsck"],
        &["ext4-fs", "group descriptors corrupted"],
        &["ext4-fs", "bad geometry"],
        // What could not be written where it was promised (`ext4_end_io_end`, `mpage_map_and_submit_extent`).
        &["ext4-fs", "potential data loss"],
        &["ext4-fs", "data will be lost"],
    ],
    advice: "Copy what is needed. Look for requests that failed at the same time, and ask the drive below for its health: where blocks cannot be \
             read a repair makes it worse. Then unmount it and check it without changing anything (`e2fsck -fn`); what that would repair is \
             repaired by `e2fsck -f`.",
    command: "e2fsck -fn DEVICE",
    ..INCONSISTENT
};

/// `xfs_error_report` and `xfs_corruption_error` in its `fs/xfs/xfs_error.c`, `xfs_verifier_error` beside them, and `xfs_log_mount_finish` in
/// `fs/xfs/xfs_log.c`.
const XFS: Kind = Kind {
    words: &[
        &["xfs", "corruption"],
        &["xfs", "crc error"],
        &["xfs", "internal error"],
        &["xfs", "metadata i/o error"],
        &["xfs", "unmount and run xfs_repair"],
        &["xfs", "log mount/recovery failed: error -117"],
        &["xfs", "log mount/recovery failed: error -74"],
        &["xfs", "log mount finish failed"],
    ],
    advice: "Do not format it, whatever offers to: its files are there. Look for requests that failed at the same time, and ask the drive below for its \
             health. Unmount it and check it without changing anything (`xfs_repair -n`), as the device that is mounted and not as a drive below it. \
             Have a copy of that device before it is repaired. `xfs_repair` wants the log replayed first: mount it and unmount it. Only where it \
             cannot be mounted is `-L` left, which throws the log away and may lose files that were just written.",
    command: "xfs_repair -n DEVICE",
    ..INCONSISTENT
};

/// `btrfs_validate_extent_buffer` in its `fs/btrfs/disk-io.c`, and `fs/btrfs/tree-checker.c`; btrfs(5), `rescue`.
const BTRFS: Kind = Kind {
    words: &[
        &["btrfs critical", "corrupt"],
        &["parent transid verify failed"],
        // Another block than the one that was asked for.
        &["btrfs", "bad tree block "],
    ],
    advice: "Run no `btrfs check --repair`: it often makes this worse. Where it is mounted and has a second copy of metadata a scrub repairs it from there. \
             Where it cannot be mounted try it to read only (`mount -o ro,rescue=usebackuproot`, then `ro,rescue=all`) and copy what is there, or let \
             `btrfs restore` copy it. A tree that is older than it should be is what a drive, its cache or its bridge at USB lost after it had said that \
             it was written: look at these before they are used again.",
    command: "btrfs check --readonly DEVICE",
    ..INCONSISTENT
};
