//! Signatures that the usual tools do not tell.

use crate::units::{KIB, MIB};

/// So much of a device may have marks at its start: the last place there at which a format keeps a copy is that of LUKS2, 4 MiB
/// (LUKS2 On-Disk Format, 2.2), and places are read in multiples of the largest block that the kernel knows (kernel,
/// include/linux/blkdev.h, `BLK_MAX_BLOCK_SIZE`).
pub const HEAD: u64 = 4 * MIB + 64 * KIB;
/// So much at its end: the first place there at which a format keeps a copy is that of bcachefs, 1 MiB and what is left of a
/// bucket before it (bcachefs-tools, libbcachefs.c, `bch2_sb_layout_init`). Its buckets have 2 MiB at most where nobody says
/// otherwise.
pub const TAIL: u64 = 4 * MIB;

/// How a superblock of bcachefs is known (kernel, fs/bcachefs/bcachefs_format.h, `BCHFS_MAGIC`).
pub const BCACHEFS: &[u8] = b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef";

/// Kinds that neither `blkid` nor `wipefs` tells (tried with util-linux 2.38), and by which bytes at which place. Those of
/// the device mapper are in the sources of its targets (kernel, drivers/md/dm-*.c); the second superblock of bcachefs is behind
/// the first, which has 1 MiB where nobody says otherwise (bcachefs-tools, libbcachefs.c, `bch2_sb_layout_init`).
pub const UNTOLD: [(&str, u64, &[u8]); 7] = [
    ("DM_writecache", 0, &0x2348_9321_u32.to_le_bytes()),
    ("DM_thin_metadata", 32, &27_022_010_u64.to_le_bytes()),
    ("DM_cache_metadata", 32, &0o6_142_003_u64.to_le_bytes()),
    ("DM_era_metadata", 32, &2_126_579_579_u64.to_le_bytes()),
    ("DM_clone_metadata", 32, &0x8af2_7f64_u64.to_le_bytes()),
    ("bcachefs", 4 * KIB + 24, BCACHEFS),
    ("bcachefs", MIB + 4 * KIB + 24, BCACHEFS),
];
