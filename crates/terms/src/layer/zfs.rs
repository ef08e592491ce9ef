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
    /// Every one.
    pub const ALL: [Self; 5] = [Self::Stripe, Self::Mirror, Self::Raidz1, Self::Raidz2, Self::Raidz3];

    /// Parities of each row; `None` without rows.
    #[must_use]
    pub const fn parity(self) -> Option<usize> {
        match self {
            Self::Stripe | Self::Mirror => None,
            Self::Raidz1 => Some(1),
            Self::Raidz2 => Some(2),
            Self::Raidz3 => Some(3),
        }
    }

    /// How many of its devices may be lost, whichever they are.
    #[must_use]
    pub const fn survives(self, devices: usize) -> usize {
        match (self, self.parity()) {
            (_, Some(parity)) => parity,
            (Self::Mirror, _) => devices.saturating_sub(1),
            _ => 0,
        }
    }

    /// Devices of the only special mirror that `zpool` takes beside it without force: losing it loses the pool, so it has to survive as
    /// many lost devices as the data. `None` where the data survives none, and special devices stand alone.
    #[must_use]
    pub const fn special_ways(self, devices: usize) -> Option<usize> {
        match self {
            Self::Stripe => None,
            _ => Some(self.survives(devices) + 1),
        }
    }

    /// Sectors that a block of so many takes of its devices: copies, or parity for each row and padding to a multiple of the parities and
    /// one more, so that no hole is too small to be used (`vdev_raidz_asize` in OpenZFS's `module/zfs/vdev_raidz.c`).
    #[must_use]
    pub const fn allocated(self, sectors: u64, devices: usize) -> u64 {
        let Some(parity) = self.parity() else {
            return if matches!(self, Self::Mirror) { sectors * devices as u64 } else { sectors };
        };
        let data = devices.saturating_sub(parity) as u64;
        let parity = parity as u64;
        let rows = sectors.div_ceil(if data == 0 { 1 } else { data });
        (sectors + parity * rows).next_multiple_of(parity + 1)
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    /// Of records of one sector in raidz2 one of three is data, of two sectors two of six; 32 sectors over 5 drives have 8 rows.
    #[test]
    fn a_block_takes_copies_or_rows_and_padding() {
        for (layout, devices, sectors, taken) in [
            (ZfsLayout::Stripe, 4, 32, 32),
            (ZfsLayout::Mirror, 3, 32, 96),
            (ZfsLayout::Raidz1, 5, 32, 40),
            (ZfsLayout::Raidz2, 12, 1, 3),
            (ZfsLayout::Raidz2, 12, 2, 6),
            (ZfsLayout::Raidz3, 4, 1, 4),
        ] {
            assert_eq!(layout.allocated(sectors, devices), taken, "{layout:?} of {devices}");
        }
    }

    #[test]
    fn what_stands_beside_survives_as_much() {
        assert_eq!(ZfsLayout::ALL.map(|of| of.survives(6)), [0, 5, 1, 2, 3]);
        assert_eq!(ZfsLayout::ALL.map(|of| of.special_ways(6)), [None, Some(6), Some(2), Some(3), Some(4)]);
        assert_eq!(ZfsLayout::ALL.map(ZfsLayout::fewest), [1, 2, 2, 3, 4]);
    }
}
