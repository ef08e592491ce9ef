//! A ZFS pool and what can be chosen of it.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// A ZFS pool over everything below, with one dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zfs {
    /// Layout of the data vdevs.
    pub layout: ZfsLayout,
    /// Largest block of a file.
    #[serde(rename = "recordsize_bytes")]
    pub recordsize: Bytes,
    /// What the ARC may keep.
    pub primarycache: ZfsCache,
    /// Sector size as a power of two; `None` leaves it to the drive.
    pub ashift: Option<u8>,
    /// Compression.
    pub compression: ZfsCompression,
    /// Files up to this size go to the special vdev; 0 means metadata only.
    #[serde(rename = "special_small_blocks_bytes")]
    pub special_small_blocks: Bytes,
    /// Record access times.
    pub atime: bool,
}

/// Layout of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZfsLayout {
    /// Every device a vdev of its own.
    Stripe,
    /// One mirror.
    Mirror,
    /// One parity.
    Raidz1,
    /// Two parities.
    Raidz2,
    /// Three parities.
    Raidz3,
}

impl ZfsLayout {
    /// As studies and, except for `single`, zpool take it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stripe => "single",
            Self::Mirror => "mirror",
            Self::Raidz1 => "raidz1",
            Self::Raidz2 => "raidz2",
            Self::Raidz3 => "raidz3",
        }
    }

    /// Fewest devices.
    #[must_use]
    pub const fn fewest(self) -> usize {
        match self {
            Self::Stripe => 1,
            Self::Mirror | Self::Raidz1 => 2,
            Self::Raidz2 => 3,
            Self::Raidz3 => 4,
        }
    }
}

words! {
    /// What the ARC may keep.
    pub enum ZfsCache {
        /// Data and metadata.
        All = "all",
        /// Metadata only.
        Metadata = "metadata",
        /// Nothing.
        None = "none",
    }
}

words! {
    /// Compression of a dataset.
    pub enum ZfsCompression {
        /// None.
        Off = "off",
        /// LZ4.
        Lz4 = "lz4",
        /// Zstandard.
        Zstd = "zstd",
    }
}

impl Default for Zfs {
    fn default() -> Self {
        Self {
            layout: ZfsLayout::Stripe,
            recordsize: Bytes::kib(128),
            primarycache: ZfsCache::All,
            ashift: None,
            compression: ZfsCompression::Off,
            special_small_blocks: Bytes(0),
            atime: true,
        }
    }
}
