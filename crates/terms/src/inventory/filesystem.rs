//! File systems, mounts and ZFS pools.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Readout;
use crate::units::Bytes;

/// A file system that was found on devices, mounted or not.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FileSystem {
    /// `ext4`, `xfs`, `btrfs`, `vfat`…
    pub kind: String,
    /// UUID.
    pub uuid: Option<String>,
    /// Label.
    pub label: Option<String>,
    /// Kernel names of its devices. A btrfs may have several.
    pub nodes: Vec<String>,
    /// Where it is mounted.
    pub targets: Vec<String>,
    /// Its geometry.
    pub geometry: Readout<Geometry>,
    /// Errors that ext4 counted in its superblock since it was checked last; 0 where it says that there are some and not how many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<u64>,
    /// Of a btrfs that is mounted.
    pub btrfs: Option<BtrfsState>,
}

/// How full a mounted file system is, from `df`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// The device, as `df` names it.
    pub source: String,
    /// Where it is mounted.
    pub target: String,
    /// Used, of what is used and what a person may still use.
    #[serde(rename = "used_percent")]
    pub used: u32,
    /// What is left, as `df` words it: KiB, a number that was rounded for people, or inodes.
    pub left: String,
    /// Of what.
    pub of: Used,
}

/// Is a kind of file system made as large as its content, and never written?
#[must_use]
pub fn is_image(kind: &str) -> bool {
    ["squashfs", "erofs", "iso9660", "udf", "cramfs", "romfs"].contains(&kind)
}

/// What of a file system may be used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Used {
    /// Space for data.
    #[default]
    Space,
    /// Entries for files, of which some file systems are made with a number.
    Inodes,
}

/// How a file system was laid out: `dumpe2fs -h`, `xfs_info`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Geometry {
    /// Block.
    #[serde(rename = "block_bytes")]
    pub block: Bytes,
    /// What it takes for the chunk of an array: ext4 `stride`, XFS `sunit`; 0 where it was told none.
    #[serde(rename = "stripe_unit_bytes")]
    pub stripe_unit: Bytes,
    /// What it takes for a full stripe: ext4 `stripe_width`, XFS `swidth`; 0 where it was told none.
    #[serde(rename = "stripe_width_bytes")]
    pub stripe_width: Bytes,
    /// Sector, of XFS.
    #[serde(rename = "sector_bytes")]
    pub sector: Option<Bytes>,
    /// Features that are on, such as `metadata_csum`, `reflink`.
    pub features: Vec<String>,
}

/// Of a btrfs: files below `/sys/fs/btrfs/UUID`, and `btrfs device stats`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BtrfsState {
    /// `data`, `metadata`, `system`, `global-reserve` with the profiles that have chunks, such as `raid1`. More than
    /// one profile for one kind: a balance was never finished.
    pub profiles: Readout<BTreeMap<String, Vec<String>>>,
    /// `exclusive_operation`: `none`, `balance`, `balance paused`, `device replace`…; `None` before kernel 5.10.
    pub operation: Readout<Option<String>>,
    /// Checksum algorithm.
    pub checksum: Readout<Option<String>>,
    /// Sector.
    #[serde(rename = "sector_bytes")]
    pub sector: Readout<Bytes>,
    /// Used and set aside for each kind of block: `bytes_used` and `total_bytes` below `allocation`.
    #[serde(rename = "used_bytes")]
    pub used: Readout<BTreeMap<String, [u64; 2]>>,
    /// What of its devices is set aside for no kind yet, from `btrfs filesystem show`.
    #[serde(rename = "unallocated_bytes")]
    pub unallocated: Readout<Bytes>,
    /// What of the space for metadata is kept back for its own work (`global_rsv_size`), where told.
    #[serde(rename = "reserve_bytes", skip_serializing_if = "Option::is_none")]
    pub reserve: Option<Bytes>,
    /// What its last scrub found, from `btrfs scrub status`; `None` where it was never scrubbed.
    pub scrub: Readout<Option<Scrub>>,
    /// Devices.
    pub devices: Vec<BtrfsDevice>,
}

/// What a scrub of a btrfs found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Scrub {
    /// Errors of each kind, such as `csum`, `read`, `super`.
    pub errors: BTreeMap<String, u64>,
    /// Those that a good copy made up for.
    pub corrected: u64,
    /// Those that nothing made up for.
    pub uncorrectable: u64,
    /// Devices that it tells of one by one and finds errors on.
    pub devices: Vec<String>,
}

/// A device of a btrfs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BtrfsDevice {
    /// Its number in the file system.
    pub id: u32,
    /// Kernel name; `None` where it is missing.
    pub node: Option<String>,
    /// Is it missing?
    pub missing: Readout<bool>,
    /// What of it is set aside for nothing yet, where `btrfs filesystem show` tells.
    #[serde(rename = "unallocated_bytes", skip_serializing_if = "Option::is_none")]
    pub unallocated: Option<Bytes>,
    /// Errors that it counts until somebody resets them: `write_errs`, `read_errs`, `flush_errs`, `corruption_errs`,
    /// `generation_errs`.
    pub errors: Readout<BTreeMap<String, u64>>,
}

/// A mount, from `/proc/self/mountinfo`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Mount {
    /// Device as the kernel names it; a dataset for ZFS.
    pub source: String,
    /// Kernel name of the device, of devices.
    pub node: Option<String>,
    /// Where.
    pub target: String,
    /// File system.
    pub kind: String,
    /// Options of the mount and of the file system.
    pub options: Vec<String>,
    /// Which part of the file system stands at the target: `/`, or a subvolume or directory of it.
    pub root: String,
}

/// A ZFS pool that is imported.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Pool {
    /// Name.
    pub name: String,
    /// `ONLINE`, `DEGRADED`…
    pub state: String,
    /// `zpool get all`: `ashift`, `autotrim`, `fragmentation`, `failmode`…
    pub properties: Readout<BTreeMap<String, String>>,
    /// How its status begins to say what is not as it should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What its status says of scrubs and resilvers.
    pub scan: Option<String>,
    /// What its status says of errors in data.
    pub errors: Option<String>,
    /// What it lists as damaged, where it was asked to (`-v`): paths, or datasets with the number of an object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
    /// The table of the blocks that it keeps once (`dedup`), where its status tells of it (`-D`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dedup: Option<DedupTable>,
    /// Virtual devices at the top.
    pub vdevs: Readout<Vec<Vdev>>,
    /// Datasets with what bears on speed and safety.
    pub datasets: Readout<Vec<Dataset>>,
}

/// The table in which a pool finds blocks that it has already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DedupTable {
    /// Blocks in it.
    pub entries: u64,
    /// What it takes of memory when all of it is there.
    #[serde(rename = "memory_bytes")]
    pub memory: Bytes,
}

/// A virtual device of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Vdev {
    /// Name, such as `mirror-0`, or the path of a leaf.
    pub name: String,
    /// `mirror`, `raidz1`, `draid…`, `disk`, `file`, `spare`, `replacing`.
    pub kind: String,
    /// What the pool uses it for: `data`, `special`, `dedup`, `log`, `cache`, `spare`.
    pub class: String,
    /// `ONLINE`, `DEGRADED`, `FAULTED`, `UNAVAIL`…
    pub state: String,
    /// Errors reading, writing, and of checksums.
    pub errors: [u64; 3],
    /// `ashift` it was made with: two to that power is its smallest block.
    pub ashift: Readout<u32>,
    /// Smallest block that the pool uses on a leaf, where its status tells of one that does not fit.
    #[serde(rename = "configured_block_bytes", skip_serializing_if = "Option::is_none")]
    pub configured: Option<Bytes>,
    /// The leaf's own block, where its status tells that.
    #[serde(rename = "native_block_bytes", skip_serializing_if = "Option::is_none")]
    pub native: Option<Bytes>,
    /// Is it the leaf that a resilver writes, as the status of the pool says?
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub filled: bool,
    /// Kernel name, of a leaf that is there.
    pub node: Option<String>,
    /// Those it consists of.
    pub children: Vec<Vdev>,
}

/// A dataset or volume of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Dataset {
    /// Name.
    pub name: String,
    /// `filesystem` or `volume`.
    pub kind: String,
    /// `recordsize`, or `volblocksize` of a volume.
    #[serde(rename = "record_bytes")]
    pub record: Option<Bytes>,
    /// `primarycache`, `secondarycache`, `sync`, `compression`, `atime`, `encryption`, `checksum`, `logbias`,
    /// `special_small_blocks`, by name.
    pub properties: BTreeMap<String, String>,
}
