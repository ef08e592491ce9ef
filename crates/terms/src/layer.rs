//! The layers a stack is made of, with every option typed and its default that of the field's own tool.

mod bcache;
mod caveat;
mod choice;
mod chunks;
mod partition;
mod stripes;
mod traits;
mod volume;
mod writecache;
mod zfs;

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Nanos};

pub use bcache::{Bcache, BcacheMode};
pub use caveat::Caveat;
pub use choice::{ArrayState, Bitmap, CryptFormat};
pub use chunks::{ChunkShape, STRIPE as BTRFS_STRIPE};
pub use partition::{Extent, GptPartition, PartitionTables};
pub use stripes::STRIPE_CACHE;
pub use traits::{CacheKind, Checksums, Copies, Over, Survives, Traits};
pub use volume::{CacheMode, Lvm, LvmIntegrity, Volume};
pub use writecache::Writecache;
pub use zfs::{Zfs, ZfsCache, ZfsCompression, ZfsLayout};

/// One layer. Which drives or layers it rests on is told by the [`Node`](crate::design::LayerNode) that holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The drive itself.
    Bare,
    /// A partition of a drive.
    Partition(GptPartition),
    /// An mdraid array.
    Raid(Raid),
    /// A LUKS2 mapping.
    Luks(Luks),
    /// A dm-crypt mapping without a header, or with that of TrueCrypt.
    Crypt(Crypt),
    /// A stand-alone dm-integrity mapping.
    Integrity(Integrity),
    /// A volume group with one logical volume.
    Lvm(Lvm),
    /// A device cached on another.
    Bcache(Bcache),
    /// A device whose writes wait on another.
    Writecache(Writecache),
    /// An ext4 file system, mounted.
    Ext4(Ext4),
    /// An XFS file system, mounted.
    Xfs(Xfs),
    /// A btrfs file system, mounted.
    Btrfs(Btrfs),
    /// A ZFS pool with one dataset, mounted.
    Zfs(Zfs),
}

impl Layer {
    /// The word that studies use for it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Partition(_) => "partition",
            Self::Raid(_) => "raid",
            Self::Luks(_) => "luks",
            Self::Crypt(_) => "crypt",
            Self::Integrity(_) => "integrity",
            Self::Lvm(_) => "lvm",
            Self::Bcache(_) => "bcache",
            Self::Writecache(_) => "writecache",
            Self::Ext4(_) => "ext4",
            Self::Xfs(_) => "xfs",
            Self::Btrfs(_) => "btrfs",
            Self::Zfs(_) => "zfs",
        }
    }

    /// Does it end in a directory rather than a block device?
    #[must_use]
    pub const fn is_file_system(&self) -> bool {
        self.traits().file_system
    }

    /// The study's key for devices that it takes besides its members, such as a cache.
    #[must_use]
    pub const fn beside(&self) -> Option<&'static str> {
        match self {
            Self::Zfs(_) => Some("special"),
            Self::Lvm(_) | Self::Bcache(_) | Self::Writecache(_) => Some("cache"),
            _ => None,
        }
    }

    /// Does it take one device below, so that several mean one layer on each?
    #[must_use]
    pub const fn is_one_on_one(&self) -> bool {
        matches!(self.traits().over, Over::Each)
    }

    /// Does it stay whole without one of its members?
    #[must_use]
    pub const fn is_redundant(&self) -> bool {
        !matches!(self.traits().survives, Survives::Nothing)
    }

    /// Is it the drive itself?
    #[must_use]
    pub const fn is_bare(&self) -> bool {
        matches!(self.traits().over, Over::Drive)
    }

    /// Is it a part of a drive, beside which other parts may be in use?
    #[must_use]
    pub const fn shares_drive(&self) -> bool {
        self.traits().shares_drive
    }

    /// A title for tables and drawings, such as `RAID-1` or `dm-integrity (no journal)`.
    #[must_use]
    pub fn title(&self) -> String {
        match self {
            Self::Bare => "bare drive".to_owned(),
            Self::Partition(_) => "partition".to_owned(),
            Self::Raid(r) => match r.state {
                ArrayState::Whole => format!("RAID-{}", r.level.number()),
                state => format!("RAID-{} ({})", r.level.number(), state.word()),
            },
            Self::Luks(l) if l.integrity.is_some() => "LUKS2 + HMAC".to_owned(),
            Self::Luks(_) => "LUKS2".to_owned(),
            Self::Crypt(c) => match c.format {
                CryptFormat::Plain => "dm-crypt".to_owned(),
                CryptFormat::TrueCrypt => "TrueCrypt".to_owned(),
            },
            Self::Integrity(i) => match i.mode {
                IntegrityMode::Journal => "dm-integrity".to_owned(),
                IntegrityMode::NoJournal => "dm-integrity (no journal)".to_owned(),
                IntegrityMode::Bitmap => "dm-integrity (bitmap)".to_owned(),
            },
            Self::Lvm(l) => l.title(),
            Self::Bcache(b) => format!("bcache ({})", b.mode.word()),
            Self::Writecache(_) => "dm-writecache".to_owned(),
            Self::Ext4(_) => "ext4".to_owned(),
            Self::Xfs(_) => "XFS".to_owned(),
            Self::Btrfs(b) if b.data == BtrfsProfile::Single => "btrfs".to_owned(),
            Self::Btrfs(b) => format!("btrfs ({})", b.data.word()),
            Self::Zfs(z) => match z.layout {
                ZfsLayout::Stripe => "ZFS".to_owned(),
                other => format!("ZFS ({})", other.word()),
            },
        }
    }
}

/// An mdraid array. Defaults are those of mdadm 4.2 except that the bitmap is always said aloud.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raid {
    /// RAID level.
    pub level: RaidLevel,
    /// Chunk; RAID-1 has none.
    #[serde(rename = "chunk_bytes")]
    pub chunk: Bytes,
    /// Write-intent bitmap; RAID-0 has none.
    pub bitmap: Bitmap,
    /// Superblock version.
    pub metadata: Metadata,
    /// RAID-10 layout.
    pub layout: Raid10Layout,
    /// Skip the first synchronisation. The plan then zeroes every member and proves it before it says so to mdadm.
    pub assume_clean: bool,
    /// How the array is while it is measured.
    #[serde(default)]
    pub state: ArrayState,
    /// Threads of each NUMA node that md's parity thread hands its work to (`group_thread_cnt`); 0: it does all itself.
    #[serde(default, skip_serializing_if = "stripes::is_none")]
    pub group_threads: u32,
    /// Stripes that a parity array keeps, of one page for each member (`stripe_cache_size`).
    #[serde(default = "stripes::usual", skip_serializing_if = "stripes::is_usual")]
    pub stripe_cache: u32,
}

/// RAID levels that mdraid builds here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RaidLevel {
    /// Striping.
    Raid0,
    /// Mirroring.
    Raid1,
    /// Striped mirrors.
    Raid10,
    /// One parity.
    Raid5,
    /// Two parities.
    Raid6,
}

impl RaidLevel {
    /// The level's number, as mdadm takes it.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Raid0 => 0,
            Self::Raid1 => 1,
            Self::Raid10 => 10,
            Self::Raid5 => 5,
            Self::Raid6 => 6,
        }
    }

    /// From the level's number.
    #[must_use]
    pub const fn from_number(number: i64) -> Option<Self> {
        match number {
            0 => Some(Self::Raid0),
            1 => Some(Self::Raid1),
            10 => Some(Self::Raid10),
            5 => Some(Self::Raid5),
            6 => Some(Self::Raid6),
            _ => None,
        }
    }

    /// Fewest members that make sense. (mdadm takes a RAID-10 of two; LVM wants four.)
    #[must_use]
    pub const fn fewest(self) -> usize {
        match self {
            Self::Raid0 | Self::Raid1 | Self::Raid10 => 2,
            Self::Raid5 => 3,
            Self::Raid6 => 4,
        }
    }

    /// Members' worth of data among `members`.
    #[must_use]
    pub const fn data_members(self, members: usize) -> usize {
        match self {
            Self::Raid0 => members,
            Self::Raid1 => 1,
            Self::Raid10 => members / 2,
            Self::Raid5 => members.saturating_sub(1),
            Self::Raid6 => members.saturating_sub(2),
        }
    }
}

words! {
    /// Superblock version.
    pub enum Metadata {
        /// At the end of the member.
        V1_0 = "1.0",
        /// At the start of the member.
        V1_1 = "1.1",
        /// 4 KiB from the start.
        V1_2 = "1.2",
    }
}

/// RAID-10 layout with two copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Raid10Layout {
    /// `n2`: copies side by side.
    Near,
    /// `f2`: copies far apart, reads striped.
    Far,
    /// `o2`: copies one stripe on.
    Offset,
}

impl Raid10Layout {
    /// As mdadm takes it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Near => "n2",
            Self::Far => "f2",
            Self::Offset => "o2",
        }
    }
}

/// The four flags of dm-crypt that trade queues for inline work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CryptFlags {
    /// Encrypt on the CPU that submitted.
    pub same_cpu_crypt: bool,
    /// Do not hand writes to a separate submitting thread.
    pub submit_from_crypt_cpus: bool,
    /// Decrypt inline.
    pub no_read_workqueue: bool,
    /// Encrypt inline.
    pub no_write_workqueue: bool,
}

/// A LUKS2 mapping. Defaults are those of cryptsetup 2.6.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Luks {
    /// Cipher in the kernel's notation.
    pub cipher: String,
    /// Volume key in bits; XTS uses half for each of two keys.
    pub key_bits: u32,
    /// Encryption sector; `None` leaves it to cryptsetup, which follows the drive's physical sector.
    #[serde(rename = "sector_bytes")]
    pub sector: Option<Bytes>,
    /// How the passphrase slot is stretched. The data path does not depend on it.
    pub pbkdf: Pbkdf,
    /// The four performance flags.
    pub flags: CryptFlags,
    /// Authenticated encryption.
    pub integrity: Option<LuksIntegrity>,
    /// Pass discards down.
    pub discards: bool,
}

/// Key stretching of a LUKS2 slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pbkdf {
    /// Memory-hard, tuned to about two seconds: right for passphrases.
    Argon2id,
    /// 1000 iterations of PBKDF2: enough for a random 512-bit key that lives for one run.
    Pbkdf2,
}

/// Authentication of LUKS2 sectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LuksIntegrity {
    /// HMAC-SHA-256 over each sector.
    HmacSha256,
}

/// A dm-crypt mapping without LUKS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crypt {
    /// Cipher in the kernel's notation.
    pub cipher: String,
    /// Key in bits.
    pub key_bits: u32,
    /// Encryption sector.
    #[serde(rename = "sector_bytes")]
    pub sector: Bytes,
    /// The four performance flags.
    pub flags: CryptFlags,
    /// What is on the device besides data.
    #[serde(default)]
    pub format: CryptFormat,
}

/// A stand-alone dm-integrity mapping. Defaults are those of integritysetup 2.6.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Integrity {
    /// How a write and its tag stay together.
    pub mode: IntegrityMode,
    /// Checksum.
    pub tag: IntegrityTag,
    /// Protected sector; integritysetup takes 512 bytes whatever the drive.
    #[serde(rename = "sector_bytes")]
    pub sector: Bytes,
    /// Longest time before the journal is committed.
    #[serde(rename = "commit_ns")]
    pub commit: Nanos,
    /// Longest time before a dirty bitmap is flushed.
    #[serde(rename = "bitmap_flush_ns")]
    pub bitmap_flush: Nanos,
}

/// How dm-integrity keeps data and tag together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntegrityMode {
    /// Data and tags go through a journal: written twice, never torn.
    Journal,
    /// Written once; a power cut leaves unreadable blocks.
    NoJournal,
    /// Dirty regions are marked and recalculated after a crash.
    Bitmap,
}

words! {
    /// dm-integrity checksums.
    pub enum IntegrityTag {
        /// 4 bytes.
        Crc32c = "crc32c",
        /// 8 bytes.
        Xxhash64 = "xxhash64",
        /// 32 bytes.
        Sha256 = "sha256",
    }
}

impl IntegrityTag {
    /// Bytes of one tag.
    #[must_use]
    pub const fn size(self) -> u8 {
        match self {
            Self::Crc32c => 4,
            Self::Xxhash64 => 8,
            Self::Sha256 => 32,
        }
    }
}

/// An ext4 file system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ext4 {
    /// Block size.
    #[serde(rename = "block_bytes")]
    pub block: Bytes,
    /// Percentage kept for root.
    pub reserved_percent: u8,
    /// Write inode tables and journal in the background after mounting. Off here: it would disturb every measurement.
    pub lazy_init: bool,
    /// Longest time between commits of the journal.
    #[serde(rename = "commit_ns")]
    pub commit: Nanos,
    /// Keep a journal.
    pub journal: bool,
}

/// An XFS file system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Xfs {
    /// Block size.
    #[serde(rename = "block_bytes")]
    pub block: Bytes,
    /// Shared extents.
    pub reflink: bool,
}

/// A btrfs file system over everything below.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Btrfs {
    /// Profile of data.
    pub data: BtrfsProfile,
    /// Profile of metadata.
    pub metadata: BtrfsProfile,
    /// Checksum.
    pub checksum: BtrfsChecksum,
    /// Longest time between commits.
    #[serde(rename = "commit_ns")]
    pub commit: Nanos,
    /// Copy data on write; without it there are no checksums and no repair.
    pub copy_on_write: bool,
}

words! {
    /// Profiles of btrfs block groups.
    pub enum BtrfsProfile {
        /// One copy.
        Single = "single",
        /// Two copies on one drive.
        Dup = "dup",
        /// Striped.
        Raid0 = "raid0",
        /// Two copies on two drives.
        Raid1 = "raid1",
        /// Striped mirrors.
        Raid10 = "raid10",
    }
}

impl BtrfsProfile {
    /// Fewest devices, since Linux 5.15.
    #[must_use]
    pub const fn fewest(self) -> usize {
        match self {
            Self::Single | Self::Dup => 1,
            Self::Raid0 | Self::Raid1 | Self::Raid10 => 2,
        }
    }
}

words! {
    /// Checksums of btrfs.
    pub enum BtrfsChecksum {
        /// 4 bytes, the default.
        Crc32c = "crc32c",
        /// 8 bytes.
        Xxhash = "xxhash",
        /// 32 bytes.
        Sha256 = "sha256",
        /// 32 bytes.
        Blake2 = "blake2",
    }
}

impl Default for Raid {
    fn default() -> Self {
        Self {
            level: RaidLevel::Raid1,
            chunk: Bytes::kib(512),
            bitmap: Bitmap::Internal,
            metadata: Metadata::V1_2,
            layout: Raid10Layout::Near,
            assume_clean: false,
            state: ArrayState::Whole,
            group_threads: 0,
            stripe_cache: STRIPE_CACHE,
        }
    }
}

impl Default for Luks {
    fn default() -> Self {
        Self {
            cipher: "aes-xts-plain64".to_owned(),
            key_bits: 512,
            sector: None,
            pbkdf: Pbkdf::Argon2id,
            flags: CryptFlags::default(),
            integrity: None,
            discards: false,
        }
    }
}

impl Default for Crypt {
    fn default() -> Self {
        Self {
            cipher: "aes-xts-plain64".to_owned(),
            key_bits: 512,
            sector: Bytes(512),
            flags: CryptFlags::default(),
            format: CryptFormat::Plain,
        }
    }
}

impl Default for Integrity {
    fn default() -> Self {
        Self {
            mode: IntegrityMode::Journal,
            tag: IntegrityTag::Crc32c,
            sector: Bytes(512),
            commit: Nanos::seconds(10),
            bitmap_flush: Nanos::seconds(10),
        }
    }
}

impl Default for Ext4 {
    fn default() -> Self {
        Self { block: Bytes::kib(4), reserved_percent: 5, lazy_init: false, commit: Nanos::seconds(5), journal: true }
    }
}

impl Default for Xfs {
    fn default() -> Self {
        Self { block: Bytes::kib(4), reflink: true }
    }
}

impl Default for Btrfs {
    fn default() -> Self {
        Self {
            data: BtrfsProfile::Single,
            metadata: BtrfsProfile::Dup,
            checksum: BtrfsChecksum::Crc32c,
            commit: Nanos::seconds(30),
            copy_on_write: true,
        }
    }
}
