//! What texts of single kinds tell, kept until all are read: only together they tell what a machine has.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::when::When;

/// What texts tell of a file system.
#[derive(Debug, Default)]
pub(super) struct Btrfs {
    pub(super) target: Option<String>,
    pub(super) uuid: Option<String>,
    /// Mounted, as all but `show` need it.
    pub(super) mounted: bool,
    /// By kind of block: each profile, and what is used of all, where that is told.
    pub(super) shares: BTreeMap<String, (BTreeSet<String>, Option<[u64; 2]>)>,
    pub(super) reserve: Option<u64>,
    pub(super) missing: bool,
    /// Of all devices together.
    pub(super) size: Option<u64>,
    /// What `btrfs scrub status` says, each time.
    pub(super) scrubs: Vec<String>,
    /// What goes on, as the kernel calls it, each time.
    pub(super) operations: Vec<&'static str>,
    pub(super) devices: Vec<BtrfsDevice>,
}

/// A device of one.
#[derive(Debug, Default)]
pub(super) struct BtrfsDevice {
    pub(super) path: String,
    pub(super) id: Option<u32>,
    pub(super) missing: bool,
    pub(super) counters: Vec<String>,
    pub(super) unallocated: Option<u64>,
    /// All that is set aside on it, and what is not.
    pub(super) size: u64,
}

/// Rows of the three, by the key of their reports and by what they are of: the first text has it. And groups with the UUIDs of devices that
/// warnings call missing.
#[derive(Debug, Default)]
pub(super) struct Lvm(
    pub(super) BTreeMap<&'static str, BTreeMap<String, Value>>,
    pub(super) BTreeSet<(String, String)>,
);

/// What a member says of itself and of its array, when it was written last.
#[derive(Debug)]
pub(super) struct Superblock {
    pub(super) device: String,
    pub(super) level: Option<String>,
    pub(super) events: u64,
    pub(super) place: u32,
    /// How each place was then: `A` in sync, `.` missing, `R` filled by another.
    pub(super) state: String,
}

/// Lines of tables and of statuses, by the names of their mappings.
#[derive(Debug, Default)]
pub(super) struct Mappings {
    pub(super) tables: BTreeMap<String, Vec<String>>,
    pub(super) statuses: BTreeMap<String, Vec<String>>,
    /// Tables that follow from a status.
    pub(super) concluded: BTreeMap<String, Vec<String>>,
    /// What was told: a text may be posted twice.
    pub(super) known: BTreeSet<String>,
}

/// What such a line tells of a drive.
#[derive(Debug, Default)]
pub(super) struct Watched {
    pub(super) when: Option<When>,
    pub(super) host: Option<String>,
    pub(super) has_failed: bool,
    /// What it says of a self-test that failed, or that none is counted any more.
    pub(super) self_test: Option<Option<String>>,
    pub(super) counts: [Option<u64>; 2],
}

/// What a daemon wrote once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) when: Option<When>,
    pub(super) host: Option<String>,
    /// The number that ZED gives it.
    pub(super) number: Option<u64>,
    /// The array or the pool.
    pub(super) of: String,
    pub(super) said: String,
}

/// A device that storage hangs on.
#[derive(Debug, Clone)]
pub(super) struct PciDevice {
    pub(super) address: String,
    pub(super) class: &'static str,
    /// Buses behind a bridge: the first and the last.
    pub(super) buses: Option<(u8, u8)>,
    pub(super) role: Option<u8>,
    /// Does its name say that it is an end of a tunnel?
    pub(super) tunnels: bool,
    /// Was nothing read of it but ones?
    pub(super) silent: bool,
    /// Numbers of maker and device, which `-nn` adds.
    pub(super) id: Option<(String, String)>,
    pub(super) now: Option<(String, String)>,
    pub(super) best: Option<(String, String)>,
}

/// What `smartctl` said of a drive that its text does not name.
#[derive(Debug)]
pub(super) struct Nameless {
    pub(super) serial: Option<String>,
    pub(super) smart: Smart,
}

/// What `smartctl` said of a drive.
#[derive(Debug, Default)]
pub(super) struct Smart {
    pub(super) is_nvme: bool,
    pub(super) transport: Option<&'static str>,
    /// Files below the drive's directory.
    pub(super) files: Vec<(&'static str, String)>,
    /// Program output that says the same: the command without its device, whether it is the controller's, and the text.
    pub(super) runs: Vec<(&'static str, Value)>,
}
