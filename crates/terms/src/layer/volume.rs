//! A volume group with one logical volume: its layout, its checksums and its cache.

use serde::{Deserialize, Serialize};

use super::IntegrityMode;
use crate::units::Bytes;

/// A volume group over everything below, with one logical volume in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lvm {
    /// How the logical volume is laid out.
    pub volume: Volume,
    /// Stripe of striped and parity volumes.
    #[serde(rename = "stripe_bytes")]
    pub stripe: Bytes,
    /// dm-integrity under each leg of a raid volume.
    pub integrity: Option<LvmIntegrity>,
    /// Make the volume thin, in a pool of this chunk.
    #[serde(rename = "thin_chunk_bytes")]
    pub thin_chunk: Option<Bytes>,
    /// Keep a snapshot of the volume alive while it is used.
    pub snapshot: bool,
    /// How the devices that the node names besides its members cache the volume; `None` where it names none.
    #[serde(rename = "cache_mode", default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheMode>,
}

impl Lvm {
    /// Share of writes that are the first to their chunk since a snapshot: a guess, between each and none.
    pub const FIRST_WRITES: f64 = 0.1;

    /// What the first write to it copies for a snapshot: a chunk of dm-snapshot (4 KiB, lvcreate(8), `--chunksize`). A
    /// snapshot of a thin volume is taken before anything is written to it, and shares no chunk: what is mapped later is new
    /// to the volume alone (kernel, drivers/md/dm-thin-metadata.c, `__snapshotted_since`).
    #[must_use]
    pub fn copied_chunk(&self) -> Option<Bytes> {
        (self.snapshot && self.thin_chunk.is_none()).then_some(Bytes::kib(4))
    }

    pub(super) fn title(&self) -> String {
        let mut text = match self.volume {
            Volume::Linear => "LVM".to_owned(),
            other => format!("LVM {}", other.word()),
        };
        if self.thin_chunk.is_some() {
            text.push_str(" thin");
        }
        if self.integrity.is_some() {
            text.push_str(" + integrity");
        }
        if self.snapshot {
            text.push_str(" + snapshot");
        }
        if let Some(mode) = self.cache {
            text.push_str(" + ");
            text.push_str(mode.title());
        }
        text
    }
}

words! {
    /// How a logical volume is laid out.
    pub enum Volume {
        /// One physical volume after the other.
        Linear = "linear",
        /// Striped over all physical volumes.
        Striped = "striped",
        /// Mirrored.
        Raid1 = "raid1",
        /// Striped mirrors.
        Raid10 = "raid10",
        /// One parity.
        Raid5 = "raid5",
        /// Two parities.
        Raid6 = "raid6",
    }
}

impl Volume {
    /// Fewest physical volumes. (LVM's raid6 wants three stripes and two parities.)
    #[must_use]
    pub const fn fewest(self) -> usize {
        match self {
            Self::Linear => 1,
            Self::Striped | Self::Raid1 => 2,
            Self::Raid5 => 3,
            Self::Raid10 => 4,
            Self::Raid6 => 5,
        }
    }

    /// Members' worth of data in a stripe over `members`; 1 where nothing is striped.
    #[must_use]
    pub const fn data_members(self, members: usize) -> usize {
        match self {
            Self::Linear | Self::Raid1 => 1,
            Self::Striped => members,
            Self::Raid10 => members / 2,
            Self::Raid5 => members.saturating_sub(1),
            Self::Raid6 => members.saturating_sub(2),
        }
    }

    /// Is it one of LVM's raid types?
    #[must_use]
    pub const fn is_raid(self) -> bool {
        !matches!(self, Self::Linear | Self::Striped)
    }
}

words! {
    /// What a cache of an LVM volume keeps (lvmcache(7)).
    pub enum CacheMode {
        /// dm-cache; a write is done when the volume has it too, so that losing the cache loses nothing.
        Writethrough = "writethrough",
        /// dm-cache; a write is done when the cache has it. Losing the cache loses the volume.
        Writeback = "writeback",
        /// dm-writecache: writes only, each done when the cache has it. Losing the cache loses the volume.
        Writecache = "writecache",
    }
}

impl CacheMode {
    const fn title(self) -> &'static str {
        match self {
            Self::Writethrough => "cache (writethrough)",
            Self::Writeback => "cache (writeback)",
            Self::Writecache => "write cache",
        }
    }
}

/// dm-integrity inside LVM's raid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LvmIntegrity {
    /// Protected block; LVM takes 512 bytes where the drives say 512.
    #[serde(rename = "block_bytes")]
    pub block: Bytes,
    /// Journal or bitmap. (LVM has no unjournalled mode.)
    pub mode: IntegrityMode,
}

impl Default for Lvm {
    fn default() -> Self {
        Self {
            volume: Volume::Linear,
            stripe: Bytes::kib(64),
            integrity: None,
            thin_chunk: None,
            snapshot: false,
            cache: None,
        }
    }
}

impl Default for LvmIntegrity {
    fn default() -> Self {
        Self { block: Bytes(512), mode: IntegrityMode::Journal }
    }
}
