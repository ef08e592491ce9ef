//! Thin pools that stopped taking writes, and those that take them again.

use std::collections::BTreeSet;

use super::message_kinds::{Kind, Words};
use crate::check::{Error, Warning};

/// Changes of a pool's mode (`notify_of_pool_mode_change` in the kernel's `drivers/md/dm-thin.c`), and what may come before.
const POOL_MODES: Words =
    &[&["device-mapper: thin", "switching pool to"], &["device-mapper: thin", "metadata operation", "failed"]];

/// The mode in which it works.
const POOL_WRITES: &str = "switching pool to write mode";
/// What is not undone by it.
const POOL_METADATA: &str = "metadata operation";

pub(super) const STOPPED: Kind = Kind {
    words: POOL_MODES,
    severity: Error,
    what: "a thin pool stopped taking writes",
    cost: "; what its volumes were asked to write then waited, and failed in the end",
    advice: "See how full its data and its metadata are, and make larger what is full. Then check the file systems that stand on it while \
             they are not mounted.",
    command: "dmesg | grep -i 'device-mapper: thin'",
};

/// What is to be done for requests that failed while a pool took none, or a snapshot was lost.
pub(super) const ABOVE: &str = "A thin pool took no more writes, or a snapshot was lost: see to that first, for what stands on it fails with it, and no drive need be at fault. \
     Ask the drives that they name, if any, for their health after that.";

/// A pool that can only be read has metadata that is full or damaged (lvmthin(7), “Metadata check and repair”).
const POOL_FAILED: Kind = Kind {
    what: "a thin pool can only be read",
    cost: "; what its volumes were asked to write failed",
    advice: "Its metadata is full or damaged: leave the pool alone until what it holds is copied. It is checked and repaired while the pool \
             is not in use, as lvmthin(7) says (“Metadata check and repair”), and only then made larger. Then check the file systems that \
             stand on it while they are not mounted.",
    ..STOPPED
};

/// The modes in which it cannot be written (`pool_mode` in the kernel's `drivers/md/dm-thin.c`).
const POOL_READS: [&str; 2] = ["switching pool to read-only mode", "switching pool to failure mode"];

const POOL_CAME_BACK: Kind = Kind {
    words: POOL_MODES,
    severity: Warning,
    what: "a thin pool stopped taking writes, and takes them again",
    cost: "; what was written meanwhile waited, and what waited for longer than 60 s failed",
    advice: "Make it larger before that comes again, or give back what its volumes do not use. If programs were told of errors, check the \
             file systems that stand on it while they are not mounted.",
    command: STOPPED.command,
};

/// The pool of `device-mapper: thin: 253:4: switching pool to …`.
fn pool(line: &str) -> &str {
    line.split_once("thin: ").and_then(|(_, rest)| rest.split(": ").next()).unwrap_or_default()
}

/// Of such lines those of pools that stopped, those of pools that can only be read, and those of pools that went back to writing.
pub(super) fn stopped(lines: Vec<&str>) -> [(Kind, Vec<&str>); 3] {
    // From the last line on: pools that write later.
    let mut writing = BTreeSet::new();
    let mut all = [(STOPPED, Vec::new()), (POOL_FAILED, Vec::new()), (POOL_CAME_BACK, Vec::new())];
    for line in lines.into_iter().rev() {
        let is_of_metadata = line.contains(POOL_METADATA);
        if line.contains(POOL_WRITES) {
            writing.insert(pool(line));
        } else if !is_of_metadata && writing.contains(pool(line)) {
            all[2].1.insert(0, line);
        } else {
            let is_failed = is_of_metadata || POOL_READS.iter().any(|mode| line.contains(mode));
            all[usize::from(is_failed)].1.insert(0, line);
        }
    }
    all
}
