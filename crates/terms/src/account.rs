//! Where the bytes of a stack go: layer by layer, from whole drives to what a person can use.

use serde::{Deserialize, Serialize};

use crate::name::Name;
use crate::units::Bytes;

/// The bytes of one stack, accounted for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The stack's name.
    pub stack: String,
    /// All drives together.
    #[serde(rename = "drives_bytes")]
    pub drives: Bytes,
    /// Layers in building order.
    pub entries: Vec<LayerAccount>,
    /// Size of what is on top: the device's, or what `df` shows as the size of an empty file system.
    #[serde(rename = "total_bytes")]
    pub total: Bytes,
    /// What somebody other than root can write into it.
    #[serde(rename = "available_bytes")]
    pub available: Bytes,
    /// *Avail* of `df` while it is empty, where that is something else.
    #[serde(rename = "df_available_bytes", default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Bytes>,
}

impl Account {
    /// The share of all drives' bytes that can be used.
    #[must_use]
    pub fn efficiency(&self) -> f64 {
        if self.drives.0 == 0 { 0.0 } else { self.available.as_f64() / self.drives.as_f64() }
    }

    /// The entry of a layer.
    #[must_use]
    pub fn entry(&self, layer: &Name) -> Option<&LayerAccount> {
        self.entries.iter().find(|entry| &entry.layer == layer)
    }

    /// Bytes that all layers use for one purpose.
    #[must_use]
    pub fn used_for(&self, purpose: Purpose) -> Bytes {
        let uses = self.entries.iter().flat_map(|entry| &entry.uses);
        Bytes(uses.filter(|used| used.purpose == purpose).map(|used| used.bytes.0).sum())
    }
}

/// What one layer takes and gives. What it takes is what it gives and all of its uses together, to the byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerAccount {
    /// The layer.
    pub layer: Name,
    /// What it is, such as `RAID-1`.
    pub title: String,
    /// Everything that it rests on, together.
    #[serde(rename = "below_bytes")]
    pub below: Bytes,
    /// What it hands up: the size of its device, or what can be written into its empty file system.
    #[serde(rename = "above_bytes")]
    pub above: Bytes,
    /// Where the difference went.
    pub uses: Vec<Use>,
    /// How far this is to be believed.
    pub exactness: Exactness,
}

impl LayerAccount {
    /// Does it add up?
    #[must_use]
    pub fn balances(&self) -> bool {
        let used: u64 = self.uses.iter().map(|used| used.bytes.0).sum();
        self.above.0 + used == self.below.0
    }
}

/// Bytes that a layer keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use {
    /// What for.
    pub purpose: Purpose,
    /// How many.
    pub bytes: Bytes,
}

/// What a layer keeps bytes for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Superblocks, labels, headers, and the room in front of the data.
    Header,
    /// Journals and logs.
    Journal,
    /// Checksums of blocks.
    Tags,
    /// Further copies of the data.
    Copies,
    /// Parity.
    Parity,
    /// What describes the content: inode tables, bitmaps, trees, maps of extents.
    Metadata,
    /// Kept back so that a full device still works, or for root.
    Reserve,
    /// Left free for snapshots, by a choice of the planner.
    Snapshots,
    /// Left over from rounding to chunks, extents or groups.
    Rounding,
    /// Beyond what the smallest member has.
    Unequal,
    /// Not given to the layer at all, such as the rest of a volume group.
    Unused,
}

impl Purpose {
    /// The word for it in tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Journal => "journal",
            Self::Tags => "tags",
            Self::Copies => "copies",
            Self::Parity => "parity",
            Self::Metadata => "metadata",
            Self::Reserve => "reserve",
            Self::Snapshots => "left for snapshots",
            Self::Rounding => "rounding",
            Self::Unequal => "unequal members",
            Self::Unused => "unused",
        }
    }
}

/// How far a size is to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exactness {
    /// The tool defines it, and this is it, to the byte.
    Byte,
    /// Within a thousandth: the tool's own figure moves with versions, or with what is written.
    Thousandth,
}
