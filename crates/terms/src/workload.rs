//! One access pattern: what fio calls a job.

use serde::{Deserialize, Serialize};

use crate::name::Name;
use crate::units::{Bytes, Nanos};

/// One access pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// Its name in tables and file names.
    pub name: Name,
    /// Direction and order.
    pub pattern: Pattern,
    /// Bytes of one operation.
    #[serde(rename = "block_bytes")]
    pub block: Bytes,
    /// Operations that each job keeps under way.
    pub depth: u32,
    /// Parallel jobs.
    pub jobs: u32,
    /// Flush after every so many writes, if at all.
    pub fsync_every: Option<u32>,
    /// The profile it came from, if any.
    pub profile: Option<String>,
    /// A window of its own, where the profile asks for one.
    #[serde(rename = "window_ns")]
    pub window: Option<Nanos>,
}

/// Direction and order of accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Sequential, with this percentage of reads.
    Mixed(u8),
    /// Random, with this percentage of reads.
    RandMixed(u8),
}

impl Pattern {
    /// fio's name for it.
    #[must_use]
    pub const fn fio_rw(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::Mixed(_) => "rw",
            Self::RandMixed(_) => "randrw",
        }
    }

    /// Does it read?
    #[must_use]
    pub const fn reads(self) -> bool {
        !matches!(self, Self::Write | Self::RandWrite | Self::Mixed(0) | Self::RandMixed(0))
    }

    /// Does it write?
    #[must_use]
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::RandRead | Self::Mixed(100) | Self::RandMixed(100))
    }

    /// Is it random?
    #[must_use]
    pub const fn random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandMixed(_))
    }
}

impl Workload {
    /// The pattern in the words people use: `RND 4 KiB Q32 T16 read`.
    #[must_use]
    pub fn describe(&self) -> String {
        let order = if self.pattern.random() { "RND" } else { "SEQ" };
        let direction = match self.pattern {
            Pattern::Mixed(r) | Pattern::RandMixed(r) => format!("{r} % read"),
            p if p.reads() => "read".to_owned(),
            _ => "write".to_owned(),
        };
        format!("{order} {} Q{} T{} {direction}", self.block, self.depth, self.jobs)
    }
}
