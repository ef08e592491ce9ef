//! How large a layer is at least and at most, whatever version of its tool makes it.
//!
//! Plans promise no more than the least, and a study is refused only by the most. [`account`](crate::account) is exact for
//! the tools that it names, and lies between both.

use terms::Bytes;
use terms::layer::{BtrfsProfile, Integrity, Layer, Luks, Raid, RaidLevel, Zfs, ZfsCompression, ZfsLayout};
use terms::units::{MIB, TIB};

use crate::luks::{HEADER, HMAC};
use crate::place::down;
use crate::sizes::{Below, SizeBounds};
use crate::zfs::SLOP_LEAST;
use crate::{lvm, xfs};

impl SizeBounds {
    /// Those of a layer over members, of which each has its own.
    ///
    /// A partition has what its drive's table gives it ([`PartitionTables`](terms::layer::PartitionTables)): what is below
    /// it is taken for that. Of a file system nothing is certain at least.
    #[must_use]
    pub fn of(layer: &Layer, members: &[Self]) -> Self {
        let below = Below::new(members, |member| member.least.0);
        let above = Below::new(members, |member| member.most.0);
        let (least, most) = match layer {
            Layer::Crypt(crypt) => {
                let data = |size: u64| down(size.saturating_sub(crypt.format.reserved().0), crypt.sector.0);
                (data(below.smallest), data(above.smallest))
            }
            Layer::Luks(luks) => luks_bounds(luks, below.smallest, above.smallest),
            Layer::Integrity(integrity) => {
                let Integrity { tag, sector, .. } = integrity;
                let tags = below.smallest / (sector.0 / u64::from(tag.size())).max(1);
                (untagged(below.smallest, tags), tagged(above.smallest, sector.0, tag.size().into()))
            }
            Layer::Raid(raid) => (raid_least(raid, &below, &above), raid_most(raid, &above)),
            Layer::Lvm(lvm) => (
                lvm::shared(lvm.volume, &below) / 5 * if lvm.snapshot { 2 } else { 3 },
                lvm::shared(lvm.volume, &above),
            ),
            Layer::Ext4(_) | Layer::Xfs(_) => (0, above.smallest),
            Layer::Btrfs(btrfs) => (0, btrfs_most(btrfs.data, &above)),
            Layer::Zfs(zfs) => (0, zfs_most(zfs, &above)),
            _ => {
                let data = |size: u64| size.saturating_sub(layer.traits().header.0);
                (data(below.smallest), data(above.smallest))
            }
        };
        Self { least: Bytes(least), most: Bytes(most) }
    }
}

/// The smallest device that a file system is made on; `None` where a tool takes any. A stripe unit below may ask for more.
#[must_use]
pub fn smallest_device(layer: &Layer, stripe_unit: Option<Bytes>) -> Option<Bytes> {
    match layer {
        // Far from what mke2fs refuses; no journal fits less.
        Layer::Ext4(_) => Some(Bytes::mib(8)),
        Layer::Xfs(_) => Some(xfs::smallest(stripe_unit)),
        // mkfs.btrfs 6.2 refuses less for its default profiles (`minimum size for each btrfs device is 114294784`).
        Layer::Btrfs(_) => Some(Bytes(114_294_784)),
        // `SPA_MINDEVSIZE`.
        Layer::Zfs(_) => Some(Bytes::mib(64)),
        _ => None,
    }
}

/// What dm-integrity leaves beside that many bytes of tags: superblock, journal and rounding stay below a 32nd and 8 MiB.
const fn untagged(below: u64, tags: u64) -> u64 {
    below.saturating_sub(tags + below / 32 + 8 * MIB)
}

/// What is left where every sector comes with a tag.
const fn tagged(below: u64, sector: u64, tag: u64) -> u64 {
    if sector == 0 { below } else { below / (sector + tag) * sector }
}

fn luks_bounds(luks: &Luks, least: u64, most: u64) -> (u64, u64) {
    let most = most.saturating_sub(HEADER);
    if luks.integrity.is_none() {
        return (least.saturating_sub(HEADER), most);
    }
    // An HMAC takes its bytes of each sector, at worst of 512, at best of 4 KiB.
    let sector = luks.sector.map_or(4096, |sector| sector.0);
    (untagged(least, HEADER + least / 16), tagged(most, sector, HMAC))
}

/// mdadm lets one offset, by the size of the first member, stand in front of the data of all: a thousandth of it and 128 MiB
/// at most, or four chunks. Members are cut to one or two chunks. Twice the thousandth and a little is certain to cover it.
fn raid_least(raid: &Raid, below: &Below, above: &Below) -> u64 {
    let reserve = (above.largest / 256).min(256 * MIB) + (2 * MIB + raid.chunk.0.saturating_mul(6)).max(8 * MIB);
    raid_shared(raid.level, below.smallest.saturating_sub(reserve), below.count)
}

fn raid_most(raid: &Raid, above: &Below) -> u64 {
    // RAID-0 of mdadm stripes what is left of the larger members in zones of their own.
    if raid.level == RaidLevel::Raid0 { above.sum } else { raid_shared(raid.level, above.smallest, above.count) }
}

/// What members of one size have for data. RAID-10 deals half stripes over an odd number.
const fn raid_shared(level: RaidLevel, member: u64, count: usize) -> u64 {
    match level {
        RaidLevel::Raid10 => member.saturating_mul(count as u64) / 2,
        _ => member.saturating_mul(level.data_members(count) as u64),
    }
}

fn btrfs_most(data: BtrfsProfile, above: &Below) -> u64 {
    match data {
        BtrfsProfile::Single | BtrfsProfile::Raid0 => above.sum,
        BtrfsProfile::Dup => above.sum / 2,
        // Each copy on another device: the largest is of no use beyond the others together.
        BtrfsProfile::Raid1 | BtrfsProfile::Raid10 => (above.sum / 2).min(above.sum - above.largest),
    }
}

fn zfs_most(zfs: &Zfs, above: &Below) -> u64 {
    let space = match zfs.layout {
        // Compressed data may be larger than the pool.
        _ if zfs.compression != ZfsCompression::Off => return 64 * TIB,
        ZfsLayout::Stripe => above.sum,
        layout => above.smallest.saturating_mul(above.count.saturating_sub(layout.survives(above.count)) as u64),
    };
    space - SLOP_LEAST.min(space / 2)
}
