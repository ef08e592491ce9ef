//! A ZFS pool, as OpenZFS 2.1 lays it out and its dataset shows it.

use terms::account::Purpose;
use terms::layer::{Zfs, ZfsLayout};

use crate::place::{Laid, Place, SECTOR, Uses, down, total};

/// The planner begins its partition here, in bytes.
const PARTITION: u64 = 1 << 20;
/// Bytes of the second copy of a partition table: header, and 128 entries of 128 bytes.
const TABLE: u64 = 128 * 128;
/// Bytes of a label; a device is cut to whole ones (include/sys/vdev_impl.h).
const LABEL: u64 = 256 << 10;
/// Two labels and room to boot in front, two labels behind (`VDEV_LABEL_START_SIZE`, `VDEV_LABEL_END_SIZE`).
const LABELS: u64 = (4 << 20) + 2 * LABEL;
/// Metaslabs: at least 16 and about 200 of them, of 512 MiB to 16 GiB, and no more than 131,072
/// (module/zfs/vdev.c, `vdev_metaslab_set_size`).
const SLAB_DEFAULT: u32 = 29;
const SLAB_LEAST: u32 = 24;
const SLAB_MOST: u32 = 34;
const SLABS_LEAST: u64 = 16;
const SLABS_DEFAULT: u64 = 200;
const SLABS_MOST: u64 = 131_072;
/// A vdev of this many metaslabs gives one for the log (`zfs_embedded_slog_min_ms`).
const LOG_SLABS: u64 = 64;
/// Kept back: a 32nd (`spa_slop_shift`), at least 128 MiB (`spa_min_slop`), at most 128 GiB (`spa_max_slop`).
const SLOP_SHIFT: u32 = 5;
pub(crate) const SLOP_LEAST: u64 = 128 << 20;
const SLOP_MOST: u64 = 128 << 30;
/// Space of raidz is told for blocks of 128 KiB (`SPA_OLD_MAXBLOCKSIZE`).
const TYPICAL: u64 = 128 << 10;
/// `ashift` where neither the study nor the drive says more: 512 bytes, or the drive's physical block of 4 KiB.
const ASHIFT: u32 = 12;

/// Space that an empty pool uses for itself, as `df` tells it in units of 128 KiB, without and with the empty dataset:
/// 4 units on single devices and mirrors, up to 5 on raidz (OpenZFS 2.1.11).
const OWN: u64 = 3 * TYPICAL;
const OWN_AND_DATASET: u64 = 4 * TYPICAL;

/// The mounted dataset of a pool over members, with a special vdev where there is one.
pub(crate) fn lay(zfs: &Zfs, members: &[Place], special: &[Place]) -> Option<Laid> {
    let ashift = zfs.ashift.map_or(ASHIFT, u32::from);
    let vdevs = if zfs.layout == ZfsLayout::Stripe {
        members.iter().map(Vdev::alone).collect::<Option<Vec<_>>>()?
    } else {
        vec![Vdev::over(zfs.layout, members, ashift)?]
    };
    let space: u64 = vdevs.iter().map(Vdev::space).sum();
    let log: u64 = vdevs.iter().map(Vdev::log).sum();
    let slop = (space >> SLOP_SHIFT).min(SLOP_MOST);
    let slop = (slop - log.min(slop / 2)).max((space / 2).min(SLOP_LEAST));
    let able = space.checked_sub(slop)?;
    let redundancy: u64 = vdevs.iter().map(|vdev| vdev.raw_of(vdev.space()) - vdev.space()).sum();
    let uses = Uses::none()
        .and(Purpose::Header, vdevs.iter().map(|vdev| vdev.labels).sum())
        .and(Purpose::Reserve, slop)
        .and(Purpose::Journal, vdevs.iter().map(Vdev::raw_log).sum())
        .and(if zfs.layout == ZfsLayout::Mirror { Purpose::Copies } else { Purpose::Parity }, redundancy)
        .and(Purpose::Metadata, total(special) + OWN_AND_DATASET);
    Some(Laid::files(down(able.checked_sub(OWN)?, TYPICAL), down(able.checked_sub(OWN_AND_DATASET)?, TYPICAL), uses))
}

/// One vdev, in bytes.
struct Vdev {
    /// What partitions and labels take of all devices.
    labels: u64,
    /// What can be handed out, parity and copies left in for raidz and out for mirrors.
    size: u64,
    /// Copies of each byte handed out.
    copies: u64,
    /// Space told for 512 bytes handed out, as a share of 512.
    ratio: u64,
}

impl Vdev {
    fn alone(member: &Place) -> Option<Self> {
        let size = usable(member)?;
        Some(Self { labels: member.size - size, size, copies: 1, ratio: SECTOR })
    }

    fn over(layout: ZfsLayout, members: &[Place], ashift: u32) -> Option<Self> {
        let sizes: Vec<u64> = members.iter().map(usable).collect::<Option<_>>()?;
        let (least, count) = (*sizes.iter().min()?, members.len() as u64);
        let labels = total(members) - sizes.iter().sum::<u64>();
        match layout {
            ZfsLayout::Stripe => return None,
            ZfsLayout::Mirror => return Some(Self { labels, size: least, copies: count, ratio: SECTOR }),
            _ => {}
        }
        let sectors = ((TYPICAL - 1) >> ashift) + 1;
        let ratio = TYPICAL / ((layout.allocated(sectors, members.len()) << ashift) / SECTOR);
        Some(Self { labels, size: least * count, copies: 1, ratio })
    }

    /// Bytes of a metaslab and their number.
    fn slabs(&self) -> (u64, u64) {
        let bits = |value: u64| u64::BITS - value.leading_zeros();
        let count = self.size >> SLAB_DEFAULT;
        let shift = if count < SLABS_LEAST {
            bits(self.size / SLABS_LEAST)
        } else if count > SLABS_DEFAULT {
            bits(self.size / SLABS_DEFAULT)
        } else {
            SLAB_DEFAULT
        };
        let shift = shift.max(SLAB_LEAST);
        let shift = if shift <= SLAB_MOST {
            shift
        } else if self.size >> SLAB_MOST > SLABS_MOST {
            bits(self.size / SLABS_MOST)
        } else {
            SLAB_MOST
        };
        (1 << shift, self.size >> shift)
    }

    /// Space for data that is told.
    fn space(&self) -> u64 {
        let (slab, count) = self.slabs();
        let normal = if count >= LOG_SLABS { count - 1 } else { count };
        slab * normal / SECTOR * self.ratio
    }

    /// Space of the metaslab for the log that is told.
    fn log(&self) -> u64 {
        let (slab, count) = self.slabs();
        if count >= LOG_SLABS { slab / SECTOR * self.ratio } else { 0 }
    }

    /// Bytes of devices behind it.
    fn raw_log(&self) -> u64 {
        let (slab, count) = self.slabs();
        if count >= LOG_SLABS { slab * self.copies } else { 0 }
    }

    /// Bytes of devices behind that much space.
    fn raw_of(&self, space: u64) -> u64 {
        space / self.ratio * SECTOR * self.copies
    }
}

/// Bytes of a device between its labels.
fn usable(member: &Place) -> Option<u64> {
    let device = if member.drive {
        // parted ends a partition at a whole MiB before the second partition table.
        let table = member.lba + TABLE;
        down(member.size.checked_sub(table)?, PARTITION).checked_sub(PARTITION)?
    } else {
        member.size
    };
    down(device, LABEL).checked_sub(LABELS)
}
