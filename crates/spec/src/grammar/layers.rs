//! The part of the grammar that speaks of layers and their options.

use super::{HOUR, Key, Kind, MS, S, Step, Table, default, optional, required};
use terms::layer::{
    ArrayState, BcacheMode, BtrfsChecksum, BtrfsProfile, CacheMode, CryptFormat, IntegrityTag, Metadata, Volume,
    ZfsCache, ZfsCompression,
};
use terms::text::Alphabet;
use terms::units::{GIB, KIB, MIB, TIB};

/// Keys of an entry of `layers` that say what it is.
pub(crate) const LAYER_KINDS: &[&str] = &[
    "bare",
    "partition",
    "raid",
    "luks",
    "crypt",
    "integrity",
    "lvm",
    "bcache",
    "writecache",
    "ext4",
    "xfs",
    "btrfs",
    "zfs",
];

pub(super) static LAYER: Table = Table {
    name: "layer",
    written: "an entry of `layers`",
    help: "One layer: exactly one of the kinds, with its options, and what it rests on.",
    keys: &[
        kind("bare", &BARE, "The drive itself."),
        kind("partition", &PARTITION, "A partition of each drive below."),
        kind("raid", &RAID, "An mdraid array over everything below."),
        kind("luks", &LUKS, "A LUKS2 mapping on each device below."),
        kind("crypt", &CRYPT, "A plain dm-crypt mapping on each device below."),
        kind("integrity", &INTEGRITY, "A stand-alone dm-integrity mapping on each device below."),
        kind("lvm", &LVM, "A volume group over everything below, with one logical volume."),
        kind("bcache", &BCACHE, "One device, cached on another by bcache."),
        kind("writecache", &WRITECACHE, "One device whose writes wait on another, by dm-writecache."),
        kind("ext4", &EXT4, "An ext4 file system on one device."),
        kind("xfs", &XFS, "An XFS file system on one device."),
        kind("btrfs", &BTRFS, "A btrfs file system over everything below."),
        kind("zfs", &ZFS, "A ZFS pool over everything below, with one dataset."),
        optional("name", Kind::Name, "the kind, then kind2, kind3", "What other layers call it in `on`."),
        optional("on", Kind::Names, "all of the entry before", "Drives or layers it rests on."),
    ],
    one_of: LAYER_KINDS,
};

const fn kind(name: &'static str, table: &'static Table, help: &'static str) -> Key {
    optional(name, Kind::Table(table), "another kind", help)
}

const fn flag(name: &'static str, help: &'static str) -> Key {
    default(name, Kind::Boolean, "false", help)
}

/// Sectors that dm-crypt and dm-integrity take.
const SECTORS: Kind = Kind::Sizes(&[512, 1024, 2048, 4096]);
/// File system blocks that a kernel with 4 KiB pages mounts.
const BLOCKS: Kind = Kind::Sizes(&[1024, 2048, 4096]);
/// Commit intervals of file systems, in whole seconds.
const COMMIT: Kind = Kind::Duration { least: S, most: 300 * S, step: S };
/// Intervals of dm-integrity, in whole milliseconds.
const FLUSH: Kind = Kind::Duration { least: MS, most: HOUR, step: MS };

const CIPHER: Key = default(
    "cipher",
    Kind::Text(Alphabet::Cipher),
    "\"aes-xts-plain64\"",
    "Cipher in the kernel's notation, `cipher-mode-iv`.",
);
const KEY_BITS: Key = default(
    "key_bits",
    Kind::Integer { least: 128, most: 512 },
    "512",
    "Volume key in bits; XTS uses half for each of two keys.",
);
const SAME_CPU: Key = flag("same_cpu_crypt", "Encrypt on the CPU that submitted.");
const SUBMIT: Key = flag("submit_from_crypt_cpus", "Do not hand writes to a separate submitting thread.");
const NO_READ: Key = flag("no_read_workqueue", "Decrypt inline.");
const NO_WRITE: Key = flag("no_write_workqueue", "Encrypt inline.");

static BARE: Table = Table {
    name: "bare",
    written: "bare = {}",
    help: "The drive itself, without a file system. It has no options.",
    keys: &[],
    one_of: &[],
};

static PARTITION: Table = Table {
    name: "partition",
    written: "partition = { … }",
    help: "A partition of a GPT on each drive below, behind those before it, at whole MiB. Several may share a drive.",
    keys: &[optional(
        "size",
        Kind::Size { least: MIB, most: 64 * TIB, step: Step::Multiple(MIB) },
        "the rest of the drive",
        "Its size.",
    )],
    one_of: &[],
};

static RAID: Table = Table {
    name: "raid",
    written: "raid = { … }",
    help: "An mdraid array.",
    keys: &[
        required("level", Kind::Integers(&[0, 1, 5, 6, 10]), "RAID level."),
        default(
            "chunk",
            Kind::Size { least: 4 * KIB, most: GIB, step: Step::PowerOfTwo },
            "\"512 KiB\"",
            "Chunk; RAID-1 has none.",
        ),
        default("bitmap", Kind::Choice(&["internal", "none"]), "\"internal\"", "Write-intent bitmap; RAID-0 has none."),
        default("metadata", Kind::Choice(Metadata::WORDS), "\"1.2\"", "Superblock version."),
        default("layout", Kind::Choice(&["near", "far", "offset"]), "\"near\"", "Where RAID-10 puts its two copies."),
        flag("assume_clean", "Zero the members and prove it instead of the first synchronisation."),
        default(
            "state",
            Kind::Choice(ArrayState::WORDS),
            "\"whole\"",
            "How the array is while it is measured: its last member gone, or resynchronising all the time.",
        ),
        default(
            "group_thread_cnt",
            Kind::Integer { least: 0, most: 1024 },
            "0",
            "Threads of each NUMA node that the parity thread of RAID-5 and 6 hands its work to.",
        ),
        default(
            "stripe_cache_size",
            Kind::Integer { least: 17, most: 32_768 },
            "256",
            "Stripes that RAID-5 and 6 keep in memory, of one page for each member.",
        ),
    ],
    one_of: &[],
};

static LUKS: Table = Table {
    name: "luks",
    written: "luks = { … }",
    help: "A LUKS2 mapping.",
    keys: &[
        CIPHER,
        KEY_BITS,
        optional("sector", SECTORS, "cryptsetup follows the drive", "Encryption sector."),
        default(
            "pbkdf",
            Kind::Choice(&["argon2id", "pbkdf2"]),
            "\"argon2id\"",
            "How the key slot is stretched; the data path does not depend on it.",
        ),
        optional("integrity", Kind::Choice(&["hmac-sha256"]), "none", "Authenticate every sector."),
        flag("discards", "Pass discards down."),
        SAME_CPU,
        SUBMIT,
        NO_READ,
        NO_WRITE,
    ],
    one_of: &[],
};

static CRYPT: Table = Table {
    name: "crypt",
    written: "crypt = { … }",
    help: "A dm-crypt mapping without LUKS.",
    keys: &[
        CIPHER,
        KEY_BITS,
        default("sector", SECTORS, "\"512 B\"", "Encryption sector."),
        default(
            "format",
            Kind::Choice(CryptFormat::WORDS),
            "\"plain\"",
            "Headers: none, or TrueCrypt's, which VeraCrypt opens up to 1.25.9 (AES-256-XTS on sectors of 512 bytes).",
        ),
        SAME_CPU,
        SUBMIT,
        NO_READ,
        NO_WRITE,
    ],
    one_of: &[],
};

static INTEGRITY: Table = Table {
    name: "integrity",
    written: "integrity = { … }",
    help: "A stand-alone dm-integrity mapping.",
    keys: &[
        default(
            "mode",
            Kind::Choice(&["journal", "no-journal", "bitmap"]),
            "\"journal\"",
            "How a write and its tag stay together.",
        ),
        default("tag", Kind::Choice(IntegrityTag::WORDS), "\"crc32c\"", "Checksum."),
        default("sector", SECTORS, "\"512 B\"", "Protected sector; integritysetup takes 512 bytes whatever the drive."),
        default("commit", FLUSH, "\"10 s\"", "Longest time before the journal is committed."),
        default("bitmap_flush", FLUSH, "\"10 s\"", "Longest time before a dirty bitmap is flushed."),
    ],
    one_of: &[],
};

static LVM: Table = Table {
    name: "lvm",
    written: "lvm = { … }",
    help: "A volume group with one logical volume in it.",
    keys: &[
        default("volume", Kind::Choice(Volume::WORDS), "\"linear\"", "How the logical volume is laid out."),
        default(
            "stripe",
            Kind::Size { least: 4 * KIB, most: 4 * MIB, step: Step::PowerOfTwo },
            "\"64 KiB\"",
            "Stripe of striped and parity volumes.",
        ),
        optional("integrity", Kind::Table(&LVM_INTEGRITY), "none", "dm-integrity under each leg of a raid volume."),
        optional(
            "thin_chunk",
            Kind::Size { least: 64 * KIB, most: GIB, step: Step::Multiple(64 * KIB) },
            "a thick volume",
            "Make the volume thin, in a pool of this chunk.",
        ),
        flag(
            "snapshot",
            "Keep a snapshot of the volume alive while it is used. One of a thin volume shares nothing with it, and no write copies a chunk.",
        ),
        optional(
            "cache",
            Kind::Names,
            "no cache",
            "Drives or layers that cache the volume: faster than those it is on.",
        ),
        default(
            "cache_mode",
            Kind::Choice(CacheMode::WORDS),
            "\"writethrough\"",
            "`writethrough` and `writeback` are dm-cache; `writecache` is dm-writecache, for writes alone. Only with `writethrough` does the volume survive the loss of its cache.",
        ),
    ],
    one_of: &[],
};

static LVM_INTEGRITY: Table = Table {
    name: "lvm-integrity",
    written: "lvm = { integrity = { … } }",
    help: "dm-integrity inside LVM's raid.",
    keys: &[
        default("block", SECTORS, "\"512 B\"", "Protected block."),
        default("mode", Kind::Choice(&["journal", "bitmap"]), "\"journal\"", "How a write and its tag stay together."),
    ],
    one_of: &[],
};

static BCACHE: Table = Table {
    name: "bcache",
    written: "bcache = { … }",
    help: "One device, cached on another by bcache.",
    keys: &[
        required("cache", Kind::Names, "The drive or layer that caches: faster than the one below."),
        default(
            "mode",
            Kind::Choice(BcacheMode::WORDS),
            "\"writethrough\"",
            "Where writes go: to both, to the cache first, or past it. With `writeback` losing the cache loses the device.",
        ),
        optional("block", SECTORS, "the larger logical block of both", "Block of both devices."),
        default(
            "bucket",
            Kind::Size { least: 64 * KIB, most: 16 * MIB, step: Step::PowerOfTwo },
            "\"512 KiB\"",
            "What the cache is divided into: more than 512 of them.",
        ),
        default(
            "sequential_cutoff",
            Kind::Size { least: 0, most: GIB, step: Step::Multiple(4 * KIB) },
            "\"4 MiB\"",
            "Streams longer than this pass the cache by; 0: none does.",
        ),
    ],
    one_of: &[],
};

static WRITECACHE: Table = Table {
    name: "writecache",
    written: "writecache = { … }",
    help: "One device whose writes wait on another, by dm-writecache. Losing the cache loses the device.",
    keys: &[
        required("cache", Kind::Names, "The drive or layer that keeps writes: faster than the one below."),
        default("block", SECTORS, "\"4 KiB\"", "What is cached at once, and the least that may be written."),
        default(
            "high_watermark",
            Kind::Integer { least: 0, most: 100 },
            "50",
            "Percentage of the cache in use from which it is written below.",
        ),
        default(
            "low_watermark",
            Kind::Integer { least: 0, most: 100 },
            "45",
            "Percentage of the cache in use at which writing below ends.",
        ),
        optional(
            "writeback_jobs",
            Kind::Integer { least: 1, most: 1 << 20 },
            "no limit",
            "Most blocks on their way below at once.",
        ),
    ],
    one_of: &[],
};

static EXT4: Table = Table {
    name: "ext4",
    written: "ext4 = { … }",
    help: "An ext4 file system, mounted.",
    keys: &[
        default("block", BLOCKS, "\"4 KiB\"", "Block size."),
        default("reserved_percent", Kind::Integer { least: 0, most: 50 }, "5", "Percentage kept for root."),
        flag("lazy_init", "Write inode tables and journal after mounting, which disturbs what is measured then."),
        default("commit", COMMIT, "\"5 s\"", "Longest time between commits of the journal."),
        default("journal", Kind::Boolean, "true", "Keep a journal."),
    ],
    one_of: &[],
};

static XFS: Table = Table {
    name: "xfs",
    written: "xfs = { … }",
    help: "An XFS file system, mounted.",
    keys: &[
        default("block", BLOCKS, "\"4 KiB\"", "Block size."),
        default("reflink", Kind::Boolean, "true", "Shared extents."),
    ],
    one_of: &[],
};

const BTRFS_PROFILES: Kind = Kind::Choice(BtrfsProfile::WORDS);

static BTRFS: Table = Table {
    name: "btrfs",
    written: "btrfs = { … }",
    help: "A btrfs file system over everything below, mounted.",
    keys: &[
        default("data", BTRFS_PROFILES, "\"single\"", "Profile of data."),
        optional("metadata", BTRFS_PROFILES, "dup on one device, raid1 on several", "Profile of metadata."),
        default("checksum", Kind::Choice(BtrfsChecksum::WORDS), "\"crc32c\"", "Checksum of data and metadata."),
        default("commit", COMMIT, "\"30 s\"", "Longest time between commits."),
        default("copy_on_write", Kind::Boolean, "true", "Without it data has no checksums and no repair."),
    ],
    one_of: &[],
};

static ZFS: Table = Table {
    name: "zfs",
    written: "zfs = { … }",
    help: "A ZFS pool over everything below, with one dataset, mounted.",
    keys: &[
        default(
            "layout",
            Kind::Choice(&["single", "mirror", "raidz1", "raidz2", "raidz3"]),
            "\"single\"",
            "Layout of the data; `single` makes every device a vdev of its own.",
        ),
        default(
            "recordsize",
            Kind::Size { least: 512, most: 16 * MIB, step: Step::PowerOfTwo },
            "\"128 KiB\"",
            "Largest block of a file; above 1 MiB from OpenZFS 2.2 on.",
        ),
        default("primarycache", Kind::Choice(ZfsCache::WORDS), "\"all\"", "What the ARC may keep."),
        optional("ashift", Kind::Integer { least: 9, most: 16 }, "left to the drive", "Sector size as a power of two."),
        default("compression", Kind::Choice(ZfsCompression::WORDS), "\"off\"", "Compression."),
        optional(
            "special",
            Kind::Names,
            "no special vdev",
            "Drives or layers for metadata and small blocks: one more than the data can lose, or any number beside `single`.",
        ),
        default(
            "special_small_blocks",
            Kind::Size { least: 0, most: MIB, step: Step::PowerOfTwo },
            "\"0\"",
            "Blocks up to this size go to the special vdev; 0 means metadata only.",
        ),
        default("atime", Kind::Boolean, "true", "Record access times."),
    ],
    one_of: &[],
};
