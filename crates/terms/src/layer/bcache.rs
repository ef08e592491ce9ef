//! bcache: a device, cached on a faster one.

use serde::{Deserialize, Serialize};

use super::CacheKind;
use crate::units::Bytes;

/// The device below, cached on the one that the node names besides. Defaults are those of make-bcache 1.0.8 and Linux 6.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bcache {
    /// Where writes go.
    pub mode: BcacheMode,
    /// Block of both devices; `None` is the larger of their logical blocks.
    #[serde(rename = "block_bytes")]
    pub block: Option<Bytes>,
    /// What the cache is divided into: its largest extent, and what it takes back at once.
    #[serde(rename = "bucket_bytes")]
    pub bucket: Bytes,
    /// A stream that has gone on for so many bytes passes the cache by; 0: none does.
    #[serde(rename = "sequential_cutoff_bytes")]
    pub sequential_cutoff: Bytes,
}

words! {
    /// Where writes go.
    pub enum BcacheMode {
        /// To both; done when the device below has them.
        Writethrough = "writethrough",
        /// To the cache, and below later. Losing the cache loses what only it has.
        Writeback = "writeback",
        /// Below alone; the cache has what was read.
        Writearound = "writearound",
    }
}

impl Bcache {
    /// In front of the data of the device below: a superblock at 4 KiB (include/uapi/linux/bcache.h,
    /// `BDEV_DATA_START_DEFAULT`, 16 sectors).
    pub const HEADER: Bytes = Bytes::kib(8);

    /// Fewest buckets of a cache: of no more than 512 the kernel keeps none free (drivers/md/bcache/super.c, `cache_alloc`).
    pub const FEWEST_BUCKETS: u64 = 513;

    /// What the cache has that the device below may not have.
    #[must_use]
    pub const fn cache(&self) -> CacheKind {
        match self.mode {
            BcacheMode::Writethrough | BcacheMode::Writearound => CacheKind::Copies,
            BcacheMode::Writeback => CacheKind::Writes,
        }
    }
}

impl Default for Bcache {
    fn default() -> Self {
        Self { mode: BcacheMode::Writethrough, block: None, bucket: Bytes::kib(512), sequential_cutoff: Bytes::mib(4) }
    }
}
