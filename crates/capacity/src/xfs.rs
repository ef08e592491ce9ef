//! XFS, as mkfs.xfs 6.1 lays it out and the kernel counts it.

use terms::Bytes;
use terms::account::Purpose;
use terms::layer::Xfs;

use crate::place::{Laid, Place, Stripe, Uses};

/// Bytes of a log: a 2048th of the file system…
const LOG_SHARE: u64 = 2048;
/// …at least 64 MiB (mkfs/xfs_mkfs.c, `XFS_MIN_REALISTIC_LOG_BLOCKS`)…
const LOG_LEAST: u64 = 64 << 20;
/// …and at most 2 GiB less 10 MiB (libxfs/xfs_log_format.h, `XFS_MAX_LOG_BYTES`).
const LOG_MOST: u64 = (2 << 30) - (10 << 20);
/// Blocks of the log are rounded to the stripe unit, or to this where that is larger (`XFS_LOG_...` in mkfs).
const LOG_UNIT_MOST: u64 = 256 << 10;
const LOG_UNIT_ELSE: u64 = 32 << 10;
/// An allocation group has less than 1 TiB…
const GROUP_MOST: u64 = 1 << 40;
/// …and at least 16 MiB, else it is left out (libxfs/xfs_fs.h, `XFS_AG_MIN_BYTES`).
const GROUP_LEAST: u64 = 16 << 20;
/// A reserve of blocks for when the file system is full: a twentieth, and no more than this
/// (fs/xfs/xfs_mount.c, `xfs_default_resblks`).
const RESERVE_SHARE: u64 = 20;
const RESERVE_MOST: u64 = 8192;
/// Blocks of each group that are never handed out: free list and its growth (libxfs/xfs_alloc.c, `xfs_alloc_set_aside`).
const SET_ASIDE: u64 = 8;
/// Sectors of headers in front of each group.
const HEADER_SECTORS: u64 = 4;
/// Blocks of the first 64 inodes, of 512 bytes each, in bytes.
const FIRST_INODES: u64 = 64 * 512;
/// Bytes of a block's header in a tree within a group (`XFS_BTREE_SBLOCK_CRC_LEN`).
const TREE_HEADER: u64 = 56;
/// Bytes of key and pointer in a node of such a tree.
const NODE_RECORD: u64 = 8;
/// Bytes of a record of reference counts and of one of free inodes.
const REFCOUNT_RECORD: u64 = 12;
const INODE_RECORD: u64 = 16;
/// Bytes of file system for each record of free inodes: 64 inodes of 512 bytes.
const INODES_OF_RECORD: u64 = 64 * 512;

/// mkfs.xfs refuses less since xfsprogs 5.19.
const SMALLEST: Bytes = Bytes::mib(300);
/// Groups on stripes of less than 8 GiB, of which one has to hold the log…
const STRIPED_GROUPS: u64 = 8;
/// …and besides headers, roots of trees and the first inodes.
const BESIDES: u64 = 128 << 10;

/// The smallest device. A group may be made smaller by a stripe unit, so that groups begin on different members.
pub(crate) fn smallest(stripe_unit: Option<Bytes>) -> Bytes {
    stripe_unit.map_or(SMALLEST, |unit| Bytes(STRIPED_GROUPS * (LOG_LEAST + unit.0 + BESIDES)))
}

/// The mounted file system.
pub(crate) fn lay(xfs: &Xfs, below: &Place) -> Option<Laid> {
    let shape = Shape::new(xfs.block.0, below.size, below.stripe)?;
    let block = shape.block;
    let total = shape.blocks.checked_sub(shape.log)?;
    let headers = (HEADER_SECTORS * below.lba).div_ceil(block);
    // Trees of free extents by place and by size, of inodes, of free inodes, and of reference counts.
    let roots = 4 + u64::from(xfs.reflink);
    let fixed = shape.groups * (headers + roots) + FIRST_INODES / block;
    let trees: u64 = shape.group_sizes().map(|blocks| reserved_trees(xfs, block, blocks)).sum();
    let reserve = (shape.blocks / RESERVE_SHARE).min(RESERVE_MOST) + shape.groups * SET_ASIDE;
    let available = total.checked_sub(fixed + trees + reserve)?;
    let uses = Uses::none()
        .and(Purpose::Journal, block * shape.log)
        .and(Purpose::Metadata, block * fixed)
        .and(Purpose::Reserve, block * (trees + reserve));
    Some(Laid::files(block * total, block * available, uses))
}

/// Blocks that a group of that many keeps so that its trees can grow to their largest, less their roots, which are there.
fn reserved_trees(xfs: &Xfs, block: u64, blocks: u64) -> u64 {
    let inodes = tree(block, INODE_RECORD, blocks * block / INODES_OF_RECORD) - 1;
    if xfs.reflink { inodes + tree(block, REFCOUNT_RECORD, blocks) - 1 } else { inodes }
}

/// Blocks of a tree of that many records, each block half full (libxfs/xfs_btree.c, `xfs_btree_calc_size`).
fn tree(block: u64, record: u64, records: u64) -> u64 {
    let room = block - TREE_HEADER;
    let mut level = records.div_ceil(room / record / 2).max(1);
    let mut blocks = level;
    while level > 1 {
        level = level.div_ceil(room / NODE_RECORD / 2);
        blocks += level;
    }
    blocks
}

/// Groups and log, in blocks.
struct Shape {
    block: u64,
    blocks: u64,
    groups: u64,
    group: u64,
    log: u64,
}

impl Shape {
    fn new(block: u64, device: u64, stripe: Option<Stripe>) -> Option<Self> {
        let device = device / block;
        let mut group = group_size(block, device, stripe.is_some())?;
        if let Some(stripe) = stripe {
            let (unit, width) = (stripe.unit / block, stripe.unit / block * stripe.data);
            group = group.next_multiple_of(unit.max(1));
            // Groups that all begin on the same member would load it with all of their headers.
            if width > 0 && group.is_multiple_of(width) && device > group {
                group -= unit;
            }
        }
        let (mut blocks, mut groups) = (device, device.div_ceil(group));
        let last = device % group;
        if groups > 1 && last > 0 && last < GROUP_LEAST / block {
            (blocks, groups) = (device - last, groups - 1);
        }
        let unit =
            stripe.map_or(1, |stripe| if stripe.unit > LOG_UNIT_MOST { LOG_UNIT_ELSE } else { stripe.unit } / block);
        let log = (blocks / LOG_SHARE).max(LOG_LEAST / block).min(LOG_MOST / block).next_multiple_of(unit.max(1));
        // The log lies within one group.
        (log < group).then_some(Self { block, blocks, groups, group, log })
    }

    /// Blocks of each group, those of the log left out: its group is the middle one.
    fn group_sizes(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.groups).map(|index| {
            let size = self.group.min(self.blocks - index * self.group);
            if index == self.groups / 2 { size.saturating_sub(self.log) } else { size }
        })
    }
}

/// Blocks of a group before alignment (libfrog/topology.c, `calc_default_ag_geometry`): 4 groups on what looks like one
/// drive, 8, 16 or 32 on what is striped.
fn group_size(block: u64, blocks: u64, striped: bool) -> Option<u64> {
    let bytes = blocks * block;
    let largest = GROUP_MOST / block - 1;
    let shift = match (bytes, striped) {
        (0..0x800_0000, _) => return None,
        (0x2000_0000_0000.., _) | (0x400_0000_0000.., false) => return Some(largest),
        (_, false) => 2,
        (0x80_0000_0001.., true) => 5,
        (0x2_0000_0001.., true) => 4,
        (_, true) => 3,
    };
    Some(blocks.div_ceil(1 << shift).min(largest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SizeBounds;

    /// Size of the device; members in a stripe of 64 KiB, 0 for none; reference counts; size and *avail* as `statvfs`
    /// told them. mkfs.xfs 6.1.0 on sparse files with sectors of 512 bytes, Linux 6.18.
    const TOLD: [(u64, u64, bool, u64, u64); 34] = include!("../measured/xfs.in");

    #[test]
    fn sizes_are_those_of_real_file_systems_to_the_byte() {
        for (size, data, reflink, total, available) in TOLD {
            let stripe = Stripe::new(64 << 10, data);
            let below =
                Place { size, bounds: SizeBounds::exactly(Bytes(size)), lba: 512, stripe, optimal: 0, drive: true };
            let laid = lay(&Xfs { reflink, ..Xfs::default() }, &below).unwrap();
            assert_eq!((laid.total, laid.above), (total, available), "{} {data} {reflink}", Bytes(size));
        }
    }
}
