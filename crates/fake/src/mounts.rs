//! What is mounted, and what it knows of its files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Where data begin.
pub(crate) const DATA: u64 = 4 << 20;

/// What a file system knows of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Table {
    pub(crate) files: BTreeMap<String, File>,
    /// Where the next file goes.
    pub(crate) next: u64,
    /// Devices that hold each block: all of a mirror, one of a stripe.
    pub(crate) copies: usize,
    /// Has data checksums, and never overwrites in place?
    pub(crate) sums: bool,
    /// Files as they were, by the name of a snapshot of all.
    pub(crate) snapshots: BTreeMap<String, BTreeMap<String, File>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct File {
    pub(crate) start: u64,
    pub(crate) length: u64,
    pub(crate) sums: Vec<u64>,
}

/// A mounted file system, or an imported pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// As `mount` was told.
    pub(crate) source: String,
    /// Kernel names; the last of a device that is gone.
    pub(crate) devices: Vec<String>,
    pub(crate) point: String,
    /// Which directory of it: `/`, unless it is a part.
    pub(crate) root: String,
    pub(crate) kind: String,
    pub(crate) uuid: String,
    pub(crate) table: Table,
    /// What checks and repairs came to: broken, repaired, left.
    pub(crate) scrubbed: [u64; 3],
    pub(crate) frozen: bool,
}

impl Table {
    pub(crate) fn new(copies: usize, sums: bool) -> Self {
        Self { next: DATA, copies, sums, ..Self::default() }
    }
}
