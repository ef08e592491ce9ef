//! Block devices, and what each is made of.

use std::collections::BTreeMap;

use crate::raid::Level;
use crate::store::Store;

/// A block device.
#[derive(Debug, Clone)]
pub(crate) struct Device {
    /// Major and minor.
    pub(crate) number: (u32, u32),
    pub(crate) size: u64,
    /// Logical block.
    pub(crate) block: u64,
    pub(crate) read_only: bool,
    /// Files of its directory in sysfs that somebody wrote.
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Drive(Drive),
    Partition(Part),
    Array(Array),
    Mapping(Mapping),
    Loop { of: String },
    Bcache { of: String },
}

/// How a drive is plugged in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bus {
    Nvme,
    Sata,
    Ram,
}

impl Bus {
    /// The kernel's name of its drive of this number.
    pub(crate) fn name(self, slot: u32) -> String {
        match self {
            Self::Nvme => format!("nvme{slot}n1"),
            Self::Sata => format!("sd{}", char::from(b'a' + (slot % 26) as u8)),
            Self::Ram => format!("ram{slot}"),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Drive {
    pub(crate) store: Store,
    pub(crate) bus: Bus,
    pub(crate) slot: u32,
    pub(crate) serial: Option<String>,
    pub(crate) wwid: Option<String>,
    pub(crate) model: String,
    pub(crate) cache_on: bool,
    /// Bits 2 to 0 of the status in the sanitize log.
    pub(crate) sanitized: u16,
    /// Times that the log is asked before it says so.
    pub(crate) sanitizing: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) of: String,
    pub(crate) number: u32,
    pub(crate) start: u64,
    pub(crate) uuid: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Array {
    pub(crate) uuid: String,
    pub(crate) name: String,
    /// Where data begin on each member.
    pub(crate) start: u64,
    pub(crate) spread: Spread,
    pub(crate) mismatches: u64,
}

/// Bytes dealt out to legs.
#[derive(Debug, Clone)]
pub(crate) struct Spread {
    pub(crate) level: Level,
    pub(crate) chunk: u64,
    pub(crate) legs: Vec<Leg>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leg {
    /// The device, also of one that is gone.
    pub(crate) device: String,
    /// Does it take part?
    pub(crate) works: bool,
}

impl Spread {
    pub(crate) fn new(level: Level, chunk: u64, devices: &[String]) -> Self {
        let leg = |device: &String| Leg { device: device.clone(), works: true };
        Self { level, chunk, legs: devices.iter().map(leg).collect() }
    }

    /// Devices are gone: a redundant array goes on without them.
    pub(crate) fn lose(&mut self, gone: &[String]) {
        for leg in self.legs.iter_mut().filter(|leg| gone.contains(&leg.device)) {
            leg.works = false;
        }
    }

    pub(crate) fn missing(&self) -> usize {
        self.legs.iter().filter(|leg| !leg.works).count()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Mapping {
    pub(crate) name: String,
    pub(crate) uuid: String,
    pub(crate) suspended: bool,
    pub(crate) target: Target,
}

#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// One piece after the other.
    Linear(Vec<Piece>),
    Spread(Spread),
    Crypt {
        of: String,
        start: u64,
        key: u64,
    },
    Integrity(Tags),
    /// A device whose writes wait on another: here nothing waits.
    Writecache {
        of: String,
        cache: String,
    },
    /// A snapshot: what the origin held. LVM keeps it beside the origin; here it is kept in memory, for nothing that is
    /// built goes on after a loss of power.
    Frozen {
        of: Vec<String>,
        store: Store,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) of: String,
    pub(crate) start: u64,
    pub(crate) length: u64,
}

/// How dm-integrity keeps checksums: in runs between data, or on a device of their own.
#[derive(Debug, Clone)]
pub(crate) struct Tags {
    pub(crate) of: String,
    /// Where they begin on it: behind a header of LUKS.
    pub(crate) start: u64,
    pub(crate) block: u64,
    pub(crate) tag: u64,
    pub(crate) apart: Option<String>,
}

impl Kind {
    /// As the kernel numbers them (Documentation/admin-guide/devices.txt; 259 is `blkext`).
    pub(crate) fn major(&self) -> u32 {
        match self {
            Self::Drive(Drive { bus: Bus::Sata, .. }) => 8,
            Self::Drive(Drive { bus: Bus::Ram, .. }) => 1,
            Self::Drive(_) | Self::Partition(_) => 259,
            Self::Array(_) => 9,
            Self::Mapping(_) => 253,
            Self::Loop { .. } => 7,
            Self::Bcache { .. } => 252,
        }
    }
}

impl Device {
    pub(crate) fn new(number: (u32, u32), size: u64, block: u64, kind: Kind) -> Self {
        Self { number, size, block, read_only: false, settings: BTreeMap::new(), kind }
    }

    /// Kernel names of what it is made of.
    pub(crate) fn below(&self) -> Vec<String> {
        let legs = |spread: &Spread| spread.legs.iter().map(|leg| leg.device.clone()).collect();
        match &self.kind {
            Kind::Drive(_) => Vec::new(),
            Kind::Partition(Part { of, .. }) | Kind::Loop { of } | Kind::Bcache { of } => vec![of.clone()],
            Kind::Array(array) => {
                let here = array.spread.legs.iter().filter(|leg| leg.works);
                here.map(|leg| leg.device.clone()).collect()
            }
            Kind::Mapping(mapping) => match &mapping.target {
                Target::Linear(pieces) => pieces.iter().map(|piece| piece.of.clone()).collect(),
                Target::Spread(spread) => legs(spread),
                Target::Crypt { of, .. } => vec![of.clone()],
                Target::Writecache { of, cache } => vec![of.clone(), cache.clone()],
                Target::Frozen { of, .. } => of.clone(),
                Target::Integrity(tags) => [Some(tags.of.clone()), tags.apart.clone()].into_iter().flatten().collect(),
            },
        }
    }
}

/// A device that bcache has registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cached {
    /// What is registered, by kernel name.
    pub(crate) device: String,
    /// A cache, with the identifier of its set; else a device to be cached.
    pub(crate) set: Option<String>,
    /// For one that is cached: the set that it is attached to.
    pub(crate) attached: Option<String>,
    /// For one that is cached: the device above it.
    pub(crate) above: Option<String>,
}

impl Cached {
    pub(crate) fn holds(&self, name: &str) -> bool {
        self.device == name
    }
}
