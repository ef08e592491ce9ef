//! ext4, as mke2fs 1.47 lays it out and the kernel counts it.

use terms::account::Purpose;
use terms::layer::Ext4;

use crate::place::{Laid, Uses};

/// Bytes of an inode (mke2fs.conf, `inode_size`).
const INODE: u64 = 256;
/// Bytes of a group descriptor with the feature `64bit`, which mke2fs.conf sets.
const DESCRIPTOR: u64 = 64;
/// Groups whose bitmaps lie together do not matter for their number: each has a bitmap of blocks and one of inodes.
const BITMAPS: u64 = 2;
/// A last group that would have fewer blocks than this beside its own overhead is left out (lib/ext2fs/initialize.c).
const LAST_GROUP: u64 = 50;
/// `resize_inode` keeps room for descriptors of a file system this many times as large…
const GROWTH: u64 = 1024;
/// …with at most this many blocks, the largest that 32 bits can number.
const BLOCKS_MOST: u64 = 0xffff_ffff;
/// Blocks that the longest extent covers (fs/ext4/ext4_extents.h, `EXT_INIT_MAX_LEN`).
const EXTENT: u64 = 32_768;
/// Extents that fit an inode; more take a block.
const EXTENTS_INLINE: u64 = 4;
/// Bytes of `lost+found`, within 12 blocks.
const LOST_AND_FOUND: u64 = 16 << 10;
/// Blocks that the kernel keeps for itself: a fiftieth, and no more than 4096 (fs/ext4/super.c,
/// `ext4_calculate_resv_clusters`).
const KERNEL_SHARE: u64 = 50;
const KERNEL_MOST: u64 = 4096;

/// The mounted file system on a device of that many bytes.
pub(crate) fn lay(ext4: &Ext4, device: u64) -> Option<Laid> {
    let block = ext4.block.0;
    let shape = Shape::new(block, device / block, device)?;
    let journal = if ext4.journal { journal(shape.blocks)? } else { 0 };
    let tables = shape.overhead();
    let total = shape.blocks.checked_sub(tables + journal)?;
    let (tree, content) = (u64::from(journal.div_ceil(EXTENT) > EXTENTS_INLINE), shape.first_content());
    let reserved = shape.blocks * u64::from(ext4.reserved_percent) / 100;
    let kernel = (shape.blocks / KERNEL_SHARE).min(KERNEL_MOST);
    let available = total.checked_sub(tree + content + reserved + kernel)?;
    let uses = Uses::none()
        .and(Purpose::Metadata, block * (tables + tree + content))
        .and(Purpose::Journal, block * journal)
        .and(Purpose::Reserve, block * (reserved + kernel));
    Some(Laid::files(block * total, block * available, uses))
}

/// Blocks of the journal (e2fsprogs, lib/ext2fs/mkjournal.c, `ext2fs_default_journal_size`); none fits the smallest.
fn journal(blocks: u64) -> Option<u64> {
    const STEPS: [(u64, u64); 8] = [
        (32_768, 1024),
        (256 << 10, 4096),
        (512 << 10, 8192),
        (4096 << 10, 16_384),
        (8192 << 10, 32_768),
        (16_384 << 10, 65_536),
        (32_768 << 10, 131_072),
        (u64::MAX, 262_144),
    ];
    if blocks < 2048 {
        return None;
    }
    STEPS.iter().find(|(below, _)| blocks < *below).map(|(_, journal)| *journal)
}

/// Groups and tables.
struct Shape {
    block: u64,
    blocks: u64,
    first: u64,
    groups: u64,
    table: u64,
    descriptors: u64,
    reserved: u64,
}

impl Shape {
    fn new(block: u64, blocks: u64, device: u64) -> Option<Self> {
        // A file system of 1 KiB blocks begins behind the boot sector.
        let first = u64::from(block == 1024);
        let shape = Self::of(block, blocks, first, device)?;
        let last = (blocks - first) % (8 * block);
        if last > 0 && last < shape.of_group(shape.groups - 1) + LAST_GROUP {
            return Self::of(block, blocks - last, first, device);
        }
        Some(shape)
    }

    fn of(block: u64, blocks: u64, first: u64, device: u64) -> Option<Self> {
        let groups = blocks.checked_sub(first)?.div_ceil(8 * block);
        if groups == 0 {
            return None;
        }
        let inodes = blocks * block / inode_ratio(device).max(block);
        let table = (inodes.div_ceil(groups) * INODE).div_ceil(block);
        let descriptors = groups.div_ceil(block / DESCRIPTOR);
        // Descriptors that the file system may grow into (`calc_reserved_gdt_blocks`), within one block of pointers.
        let most = if blocks < BLOCKS_MOST / GROWTH { blocks * GROWTH } else { BLOCKS_MOST };
        let grown = (most - first).div_ceil(8 * block).div_ceil(block / DESCRIPTOR);
        let reserved = grown.saturating_sub(descriptors).min(block / 4);
        Some(Self { block, blocks, first, groups, table, descriptors, reserved })
    }

    /// Blocks that a group does not have for files.
    fn of_group(&self, group: u64) -> u64 {
        let copy = if has_superblock(group) { self.copy() } else { 0 };
        copy + BITMAPS + self.table
    }

    /// Blocks of a superblock, with the descriptors beside it.
    const fn copy(&self) -> u64 {
        1 + self.descriptors + self.reserved
    }

    /// A terabyte has thousands of groups, of which few are not like all others.
    fn overhead(&self) -> u64 {
        self.first + self.groups * (BITMAPS + self.table) + superblocks(self.groups) * self.copy()
    }

    /// Root directory, `lost+found`, and the block of pointers of the inode for resizing.
    fn first_content(&self) -> u64 {
        1 + (LOST_AND_FOUND / self.block).min(12) + u64::from(self.reserved > 0)
    }
}

/// Bytes of file system for each inode, by its size (mke2fs.conf and misc/mke2fs.c, `parse_fs_type`).
const fn inode_ratio(device: u64) -> u64 {
    if device < 512 << 20 {
        4096
    } else if device < 4 << 40 {
        16_384
    } else if device < 16 << 40 {
        32_768
    } else {
        65_536
    }
}

/// With `sparse_super` copies of the superblock are in groups 0, 1 and powers of 3, 5 and 7.
fn has_superblock(group: u64) -> bool {
    let power_of = |base: u64| {
        let mut rest = group;
        while rest > 1 && rest.is_multiple_of(base) {
            rest /= base;
        }
        rest == 1
    };
    group <= 1 || [3, 5, 7].into_iter().any(power_of)
}

/// How many of the first so many groups have a superblock.
fn superblocks(groups: u64) -> u64 {
    let powers = |base: u64| std::iter::successors(Some(base), move |power| power.checked_mul(base));
    let of = |base| powers(base).take_while(|power| *power < groups).map(|_| 1).sum::<u64>();
    groups.min(2) + [3, 5, 7].into_iter().map(of).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use terms::Bytes;

    use super::*;

    /// Size of the device; size and *avail* of the file system as `statvfs` told them, with 5 % reserved and a journal,
    /// and with neither. mke2fs 1.47.0 on sparse files, Linux 6.18.
    const TOLD: [(u64, u64, u64, u64, u64); 13] = include!("../measured/ext4.in");

    #[test]
    fn sizes_are_those_of_real_file_systems_to_the_byte() {
        for (device, total, available, bare_total, bare_available) in TOLD {
            let plain = Ext4 { reserved_percent: 0, journal: false, ..Ext4::default() };
            for (ext4, total, available) in [(Ext4::default(), total, available), (plain, bare_total, bare_available)] {
                let laid = lay(&ext4, device).unwrap();
                assert_eq!((laid.total, laid.above), (total, available), "{} {ext4:?}", Bytes(device));
            }
        }
    }

    #[test]
    fn superblocks_are_counted_as_they_are_found() {
        for groups in [1, 2, 3, 4, 9, 10, 27, 28, 49, 50, 126, 10_000] {
            let found = (0..groups).filter(|group| has_superblock(*group)).count();
            assert_eq!(u64::try_from(found), Ok(superblocks(groups)), "{groups}");
        }
    }
}
