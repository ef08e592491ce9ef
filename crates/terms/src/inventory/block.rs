//! Block devices of every kind and how they stand on one another: an N:M graph.

use serde::{Deserialize, Serialize};

use super::Readout;
use crate::units::Bytes;

/// A block device: a drive, a partition, an array, a mapping. Files are those below `/sys/class/block/NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Node {
    /// Kernel name of today, such as `nvme0n1p1`, `md0`, `dm-3`.
    pub name: String,
    /// The name people use where it is another: that of a mapping or an array.
    pub label: Option<String>,
    /// `drive`, `partition`, `raid1`, `crypt`, `integrity`, `linear`, `striped`, `raid`, `thin-pool`, `thin`, `loop`,
    /// `zram` or another target kind of the device mapper.
    pub kind: String,
    /// Major and minor number.
    pub number: String,
    /// Size.
    #[serde(rename = "size_bytes")]
    pub size: Bytes,
    /// Kernel names of what it stands on: members, the mapped device, the drive of a partition.
    pub on: Vec<String>,
    /// May it be written?
    pub read_only: bool,
    /// Limits and settings of its queue.
    pub queue: RequestQueue,
    /// `alignment_offset`: how far its start is from a boundary of the physical block.
    #[serde(rename = "alignment_offset_bytes")]
    pub alignment_offset: Readout<Bytes>,
    /// Of a partition.
    pub partition: Option<Partition>,
    /// Of an md array.
    pub md: Option<Md>,
    /// Of a device-mapper mapping.
    pub dm: Option<Mapping>,
    /// Of a loop device.
    pub backing: Option<Backing>,
    /// What is written on it, from `blkid -p` and `wipefs -n`; an empty list says that it was looked at and is blank.
    pub signatures: Readout<Vec<Signature>>,
}

/// Limits and settings of a queue: files below `queue/`. Partitions have those of their drive.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestQueue {
    /// `logical_block_size`.
    #[serde(rename = "logical_block_bytes")]
    pub logical_block: Readout<Bytes>,
    /// `physical_block_size`.
    #[serde(rename = "physical_block_bytes")]
    pub physical_block: Readout<Bytes>,
    /// `minimum_io_size`: the chunk of an array.
    #[serde(rename = "minimum_io_bytes")]
    pub minimum_io: Readout<Bytes>,
    /// `optimal_io_size`: a full stripe of an array; 0 where none is told.
    #[serde(rename = "optimal_io_bytes")]
    pub optimal_io: Readout<Bytes>,
    /// `max_sectors_kb`.
    #[serde(rename = "largest_io_bytes")]
    pub largest_io: Readout<Bytes>,
    /// `discard_max_bytes`: 0 where discards do not reach further down.
    #[serde(rename = "discard_max_bytes")]
    pub discard_max: Readout<Bytes>,
    /// `discard_granularity`.
    #[serde(rename = "discard_granularity_bytes")]
    pub discard_granularity: Readout<Bytes>,
    /// `scheduler`, the one in use; `None` where there is no choice.
    pub scheduler: Readout<Option<String>>,
    /// `write_cache`: what the block layer believes: `write back` or `write through`.
    pub write_cache: Readout<String>,
    /// `rotational`.
    pub rotational: Readout<bool>,
    /// `nr_requests`.
    pub requests: Readout<u32>,
    /// `read_ahead_kb`.
    #[serde(rename = "read_ahead_bytes")]
    pub read_ahead: Readout<Bytes>,
    /// Hardware queues: directories below `mq/`.
    pub hardware_queues: Readout<u32>,
    /// `zoned`: `none`, `host-aware`, `host-managed`.
    pub zoned: Readout<String>,
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Partition {
    /// Its number.
    pub number: u32,
    /// Where it begins on its drive.
    #[serde(rename = "start_bytes")]
    pub start: Bytes,
    /// Its own UUID, where udev or blkid told.
    pub uuid: Option<String>,
    /// Its name, where it has one.
    pub label: Option<String>,
    /// What the partition table says that it is for, where udev or blkid told: a UUID of GPT in small letters, a number of MS-DOS such
    /// as `0x5`.
    pub kind: Option<String>,
}

/// An md array: files below `md/`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Md {
    /// `level`, such as `raid1`.
    pub level: String,
    /// `uuid`.
    pub uuid: Option<String>,
    /// `metadata_version`, such as `1.2`.
    pub metadata: Option<String>,
    /// `chunk_size`; 0 where the level has none.
    #[serde(rename = "chunk_bytes")]
    pub chunk: Readout<Bytes>,
    /// `layout`, as a number whose meaning depends on the level.
    pub layout: Option<u64>,
    /// `raid_disks`.
    pub devices: Readout<u32>,
    /// `array_state`: `clean`, `active`, `inactive`, `read-auto`…
    pub state: Readout<String>,
    /// `degraded`: members that are missing. Not of levels without redundancy.
    pub degraded: Readout<Option<u32>>,
    /// `sync_action`: `idle`, `resync`, `recover`, `check`, `repair`, `reshape`, `frozen`.
    pub sync_action: Readout<Option<String>>,
    /// `sync_completed`: done and all, in sectors of 512 bytes; `None` where nothing is going on.
    pub sync_completed_sectors: Readout<Option<[u64; 2]>>,
    /// `sync_completed` says `delayed`: what `sync_action` names waits for another array on the same drives.
    pub sync_waits: bool,
    /// `mismatch_cnt`: sectors of 512 bytes found different by the last check.
    pub mismatch_sectors: Readout<Option<u64>>,
    /// `bitmap/location`: `none`, `file`, or an offset such as `+8`.
    pub bitmap: Readout<Option<String>>,
    /// `consistency_policy`: `resync`, `bitmap`, `ppl`, `journal`, `none`.
    pub consistency_policy: Readout<Option<String>>,
    /// `stripe_cache_size`, in pages for each member; of levels 4, 5 and 6.
    pub stripe_cache_size: Readout<Option<u32>>,
    /// `group_thread_cnt`; of levels 4, 5 and 6.
    pub group_thread_cnt: Readout<Option<u32>>,
    /// `max_read_errors`.
    pub max_read_errors: Readout<Option<u32>>,
    /// `sync_speed_max`, for each member in a second.
    #[serde(rename = "sync_speed_max_bytes_per_second")]
    pub sync_speed_max: Readout<Option<Bytes>>,
    /// `sync_speed`, for each member in a second, where something is going on.
    #[serde(rename = "sync_speed_bytes_per_second", skip_serializing_if = "Option::is_none")]
    pub sync_speed: Option<Bytes>,
    /// Members.
    pub members: Vec<MdMember>,
}

/// A member of an array: files below `md/dev-NAME/`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MdMember {
    /// Kernel name.
    pub device: String,
    /// Its place; `None` of spares and journals. A member that is being filled has a place, and is `spare` until it is.
    pub slot: Option<u32>,
    /// `state`: `in_sync`, `faulty`, `write_mostly`, `failfast`, `journal`…
    pub state: Vec<String>,
    /// `errors`: read errors counted since it was added, corrected ones included.
    pub errors: Readout<u64>,
    /// `bad_blocks`: how many ranges are on its list of bad blocks, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bad_blocks: Option<u32>,
    /// `offset`: where data begins on it.
    #[serde(rename = "data_offset_bytes")]
    pub data_offset: Readout<Bytes>,
}

impl MdMember {
    /// Is a word among those of its `state`?
    #[must_use]
    pub fn is(&self, word: &str) -> bool {
        self.state.iter().any(|state| state == word)
    }
}

/// A mapping of the device mapper: `dm/` and `dmsetup table`, `dmsetup status`. Without keys, ever.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Mapping {
    /// `dm/name`.
    pub name: String,
    /// `dm/uuid`, such as `CRYPT-LUKS2-…` or `LVM-…`.
    pub uuid: Option<String>,
    /// `dm/suspended`.
    pub suspended: Readout<bool>,
    /// Its table.
    pub targets: Readout<Vec<Target>>,
    /// Header of the LUKS volume under it, of mappings that have one.
    pub luks: Readout<Option<LuksHeader>>,
}

/// A line of a device-mapper table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Target {
    /// Where it begins in the mapping, in sectors of 512 bytes.
    pub start_sectors: u64,
    /// How long it is.
    pub length_sectors: u64,
    /// Its kind, such as `crypt`.
    pub kind: String,
    /// Its parameters as the kernel gives them, key removed.
    pub parameters: String,
    /// Its status as the kernel gives it.
    pub status: Readout<String>,
    /// What the parameters say.
    pub meaning: Meaning,
}

/// What a line of a table says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// Encryption.
    CryptMapping(CryptMapping),
    /// Checksums.
    IntegrityHeader(IntegrityHeader),
    /// A piece of a device.
    Linear {
        /// Where the piece begins on the device.
        offset_sectors: u64,
    },
    /// Stripes.
    Striped {
        /// Number of stripes.
        stripes: u32,
        /// Chunk.
        chunk_bytes: Bytes,
    },
    /// RAID by the device mapper.
    Raid(DmRaid),
    /// A pool of which thin volumes are made.
    ThinPool(ThinPool),
    /// Nothing more is understood of it.
    #[default]
    Other,
}

/// dm-crypt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CryptMapping {
    /// Cipher, such as `aes-xts-plain64`.
    pub cipher: String,
    /// Size of the key, where the table tells.
    pub key_bits: Option<u32>,
    /// Where data begins on the device.
    pub offset_sectors: u64,
    /// Encryption sector.
    #[serde(rename = "sector_bytes")]
    pub sector: Bytes,
    /// Flags, such as `no_read_workqueue`, `allow_discards`.
    pub flags: Vec<String>,
    /// Authentication, such as `28:aead`.
    pub integrity: Option<String>,
}

/// dm-integrity.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct IntegrityHeader {
    /// `J` journal, `B` bitmap, `D` direct, `R` recovery, `I` inline.
    pub mode: String,
    /// Block that one checksum covers.
    #[serde(rename = "block_bytes")]
    pub block: Bytes,
    /// Checksum for each block.
    #[serde(rename = "tag_bytes")]
    pub tag: Option<Bytes>,
    /// Algorithm, such as `crc32c`; `None` where a mapping above brings its own.
    pub hash: Option<String>,
    /// All other arguments, such as `journal_watermark:50`.
    pub arguments: Vec<String>,
    /// Blocks found wrong so far.
    pub mismatches: Readout<u64>,
    /// How far it has been recalculated; `None`: all of it.
    pub recalculated_sectors: Readout<Option<u64>>,
}

/// RAID by the device mapper (`lvm` makes it).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DmRaid {
    /// `raid1`, `raid5_ls`…
    pub level: String,
    /// Chunk; 0 where the level has none.
    #[serde(rename = "chunk_bytes")]
    pub chunk: Bytes,
    /// A letter for each image: `A` in sync, `a` not yet, `D` dead.
    pub health: Readout<String>,
    /// `idle`, `resync`, `check`…
    pub sync_action: Readout<String>,
    /// Mismatches found by the last check.
    pub mismatches: Readout<u64>,
}

/// A thin pool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ThinPool {
    /// Block that is given out.
    #[serde(rename = "block_bytes")]
    pub block: Bytes,
    /// Data blocks: used and all.
    pub data_blocks: Readout<[u64; 2]>,
    /// Metadata blocks: used and all.
    pub metadata_blocks: Readout<[u64; 2]>,
    /// `rw`, `ro`, `out_of_data_space`, or `fail` where the pool has failed and tells nothing else.
    pub mode: Readout<String>,
}

/// A LUKS header, from `cryptsetup luksDump`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LuksHeader {
    /// 1 or 2.
    pub version: u32,
    /// UUID.
    pub uuid: Option<String>,
    /// Cipher of the data.
    pub cipher: Option<String>,
    /// Encryption sector.
    #[serde(rename = "sector_bytes")]
    pub sector: Option<Bytes>,
    /// Where data begins.
    #[serde(rename = "offset_bytes")]
    pub offset: Option<Bytes>,
    /// Flags that are stored with it.
    pub flags: Vec<String>,
    /// How keys are made from passphrases, one for each key slot, such as `argon2id`.
    pub key_derivations: Vec<String>,
}

/// What a loop device stands on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Backing {
    /// `loop/backing_file`.
    pub file: String,
    /// `loop/offset`.
    #[serde(rename = "offset_bytes")]
    pub offset: Bytes,
    /// `loop/dio`: is the page cache left out?
    pub direct: Readout<bool>,
}

/// Something that says what a device holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Signature {
    /// Where it stands on the device.
    #[serde(rename = "offset_bytes")]
    pub offset: Option<Bytes>,
    /// What it says, such as `linux_raid_member`, `crypto_LUKS`, `ext4`.
    pub kind: String,
    /// UUID it carries.
    pub uuid: Option<String>,
    /// Label it carries.
    pub label: Option<String>,
}

/// Swap space, from `/proc/swaps`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Swap {
    /// Device or file.
    pub device: String,
    /// Kernel name of the device, of devices.
    pub node: Option<String>,
    /// Size.
    #[serde(rename = "size_bytes")]
    pub size: Bytes,
    /// In use.
    #[serde(rename = "used_bytes")]
    pub used: Bytes,
    /// Priority.
    pub priority: i32,
}
