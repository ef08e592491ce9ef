//! LVM: volume groups with their physical and logical volumes.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// An LVM volume group, from `vgs`, `pvs` and `lvs`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct VolumeGroup {
    /// Name.
    pub name: String,
    /// UUID.
    pub uuid: String,
    /// Size.
    #[serde(rename = "size_bytes")]
    pub size: Bytes,
    /// Not given to a volume.
    #[serde(rename = "free_bytes")]
    pub free: Bytes,
    /// Extent.
    #[serde(rename = "extent_bytes")]
    pub extent: Bytes,
    /// Space for its description: all of it, and what is left.
    #[serde(rename = "metadata_bytes")]
    pub metadata: Option<[Bytes; 2]>,
    /// Physical volumes that are missing.
    pub missing: u32,
    /// Physical volumes.
    pub physical: Vec<PhysicalVolume>,
    /// Logical volumes, hidden ones included.
    pub logical: Vec<LogicalVolume>,
}

/// A physical volume.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PhysicalVolume {
    /// Device as LVM names it; `[unknown]` where it is missing.
    pub device: String,
    /// Kernel name, where it is there.
    pub node: Option<String>,
    /// UUID.
    pub uuid: String,
    /// `pe_start`: where the first extent begins.
    #[serde(rename = "start_bytes")]
    pub start: Bytes,
    /// Size.
    #[serde(rename = "size_bytes")]
    pub size: Bytes,
    /// Free.
    #[serde(rename = "free_bytes")]
    pub free: Bytes,
}

/// A logical volume.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LogicalVolume {
    /// Name; hidden ones are in brackets.
    pub name: String,
    /// Kernel name of its mapping, where it is active.
    pub node: Option<String>,
    /// `segtype` of each segment: `linear`, `striped`, `raid1`, `thin-pool`, `thin`, `cache`…
    pub segments: Vec<Segment>,
    /// Size.
    #[serde(rename = "size_bytes")]
    pub size: Bytes,
    /// `lv_attr`.
    pub attributes: String,
    /// Data space used, of pools, thin volumes and snapshots.
    #[serde(rename = "data_percent")]
    pub data: Option<f64>,
    /// Metadata space used, of pools.
    #[serde(rename = "metadata_percent")]
    pub metadata: Option<f64>,
    /// How far its images are in sync.
    #[serde(rename = "sync_percent")]
    pub sync: Option<f64>,
    /// Pool that it comes from.
    pub pool: Option<String>,
}

/// A segment of a logical volume.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Segment {
    /// Its type.
    pub kind: String,
    /// Stripes or images.
    pub stripes: u32,
    /// Stripe size; 0 where it has none.
    #[serde(rename = "stripe_bytes")]
    pub stripe: Bytes,
    /// Devices under it, as LVM names them.
    pub devices: Vec<String>,
}
