//! The bounds of each layer alone.

use terms::Bytes;
use terms::layer::{
    ArrayState, Bitmap, Btrfs, BtrfsProfile, Integrity, IntegrityMode, Layer, Lvm, Raid, RaidLevel, Volume, Zfs,
    ZfsCompression, ZfsLayout,
};

use super::{ANYTHING, Bounds, Work};

/// Unit of the page cache, of md's stripe cache and of most metadata, in bytes.
const PAGE: f64 = 4096.0;
/// Bytes that dm-integrity reads and writes at once for its tags: `buffer_sectors` is 128
/// (Documentation/admin-guide/device-mapper/dm-integrity.rst).
const TAG_BUFFER: f64 = 65536.0;
/// A node of btrfs' trees (mkfs.btrfs(8)), in bytes.
const BTRFS_NODE: f64 = 16384.0;
/// Times, access lists and other small change of file systems, as a share of the data.
const SMALL_CHANGE: f64 = 0.1;

/// What the layer does with one byte, over so many devices.
pub(super) fn own(layer: &Layer, devices: usize, work: Work) -> Bounds {
    let found = uncached(layer, devices, work);
    if layer.traits().cache.is_none() {
        return found;
    }
    // Blocks move to the cache and back as they are used, whole, whether they are read or written.
    let moved = CACHE_CHUNK.max(block(work)) / block(work);
    let cache = Bounds {
        read: (1.0, 1.0 + moved),
        write: (1.0, 2.0 + moved),
        read_by_write: 1.0 + moved,
        write_by_read: 1.0 + moved,
    };
    cache.above(found)
}

fn uncached(layer: &Layer, devices: usize, work: Work) -> Bounds {
    match layer {
        Layer::Raid(raid) => md(raid, devices, work),
        // HMAC-SHA-256: 32 bytes for each sector, kept by dm-integrity with a journal.
        Layer::Luks(luks) if luks.integrity.is_some() => {
            journalled(32.0 / luks.sector.unwrap_or(Bytes(512)).as_f64(), work)
        }
        Layer::Integrity(integrity) => checked(integrity, work),
        Layer::Lvm(lvm) => volume(lvm, devices, work),
        Layer::Ext4(_) | Layer::Xfs(_) => journal(work),
        Layer::Btrfs(btrfs) => copied_on_write(btrfs, work),
        Layer::Zfs(zfs) => pool(zfs, devices, work),
        _ => Bounds::SAME,
    }
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

fn block(work: Work) -> f64 {
    work.block.as_f64().max(1.0)
}

/// Bytes of the pages that a block touches, for each of its bytes: where neither is a multiple of the other, a page more at
/// either end.
fn pages(work: Work) -> f64 {
    let block = block(work);
    let whole = block % PAGE == 0.0 || PAGE % block == 0.0;
    let touched = if whole { block.max(PAGE) } else { ((block / PAGE).floor() + 2.0) * PAGE };
    touched / block
}

fn md(raid: &Raid, devices: usize, work: Work) -> Bounds {
    // A write may mark a page of the bitmap on every member before it, and clear it after.
    let bitmap = if raid.bitmap == Bitmap::Internal && raid.level != RaidLevel::Raid0 {
        2.0 * number(devices) * PAGE / block(work)
    } else {
        0.0
    };
    let whole = striped(raid.level, devices, bitmap, work);
    match raid.state {
        ArrayState::Whole => whole,
        ArrayState::Degraded => degraded(whole, raid.level, devices),
        // What resynchronises reads and writes as much as it can beside the application.
        ArrayState::Resync => Bounds {
            read: (whole.read.0, ANYTHING),
            write: (whole.write.0, ANYTHING),
            read_by_write: ANYTHING,
            write_by_read: ANYTHING,
        },
    }
}

/// Without a member: its copies are not written, and what it held is read from all others.
fn degraded(whole: Bounds, level: RaidLevel, devices: usize) -> Bounds {
    let members = number(devices.max(1));
    let data = number(level.data_members(devices).max(1));
    let least = match level {
        RaidLevel::Raid1 => members - 1.0,
        _ => 1.0,
    };
    let parity = matches!(level, RaidLevel::Raid5 | RaidLevel::Raid6);
    let most = if parity { data.max(whole.read.1) } else { whole.read.1 };
    Bounds {
        read: (whole.read.0, most),
        write: (least.min(whole.write.0), whole.write.1),
        read_by_write: if parity { whole.read_by_write.max(data) * 2.0 } else { whole.read_by_write },
        ..whole
    }
}

/// `marks`: most bytes of a bitmap for one byte of data.
fn striped(level: RaidLevel, devices: usize, marks: f64, work: Work) -> Bounds {
    let members = number(devices.max(1));
    // Parity is worked out page by page, so smaller blocks cost whole pages.
    let page = pages(work);
    let data = number(level.data_members(devices).max(1));
    let parities = members - data;
    match level {
        RaidLevel::Raid0 => Bounds::SAME,
        RaidLevel::Raid1 => Bounds { write: (members, members + marks), ..Bounds::SAME },
        RaidLevel::Raid10 => Bounds { write: (2.0, 2.0 + marks), ..Bounds::SAME },
        // At least the full stripe; at most a page of data and of each parity for every page (read, modify, write), or
        // all other pages of the stripe read instead (reconstruct).
        RaidLevel::Raid5 | RaidLevel::Raid6 => Bounds {
            write: (members / data, (1.0 + parities) * page + marks),
            read_by_write: (1.0 + parities).max(data) * page,
            ..Bounds::SAME
        },
    }
}

fn checked(integrity: &Integrity, work: Work) -> Bounds {
    let tags = f64::from(integrity.tag.size()) / integrity.sector.as_f64().max(1.0);
    match integrity.mode {
        IntegrityMode::Journal => journalled(tags, work),
        IntegrityMode::NoJournal | IntegrityMode::Bitmap => tagged(tags, work),
    }
}

/// Data once, tags beside it: a whole buffer of them where operations are far apart.
fn tagged(tags: f64, work: Work) -> Bounds {
    let buffer = TAG_BUFFER / block(work);
    Bounds {
        read: (1.0, 1.0 + tags + buffer),
        // The bitmap has a page for each region on top; tags may be written back after the window.
        write: (1.0, 1.0 + tags + buffer + PAGE / block(work)),
        read_by_write: tags + buffer,
        write_by_read: 0.0,
    }
}

/// Through a journal: data is written there and then to its place. What is overwritten while it waits in the journal
/// goes to its place once, so the least is once.
fn journalled(tags: f64, work: Work) -> Bounds {
    let once = tagged(tags, work);
    // Journal sectors carry tags and 8 bytes of their own for each 512, and whole sections are committed.
    Bounds { write: (1.0 + tags, 2.2 * once.write.1 + PAGE / block(work)), ..once }
}

/// The largest block that a cache takes: LVM's by itself, in bytes: at most a million of them, of 64 KiB at least (lvmcache(7)), so
/// that of a cache of 1 TB.
const CACHE_CHUNK: f64 = 1_048_576.0;

fn volume(lvm: &Lvm, devices: usize, work: Work) -> Bounds {
    // LVM's raid keeps a bitmap on every leg.
    let marks = 2.0 * number(devices) * PAGE / block(work);
    let mut found = match lvm.volume {
        Volume::Linear | Volume::Striped => Bounds::SAME,
        Volume::Raid1 => striped(RaidLevel::Raid1, devices, marks, work),
        Volume::Raid10 => striped(RaidLevel::Raid10, devices, marks, work),
        Volume::Raid5 => striped(RaidLevel::Raid5, devices, marks, work),
        Volume::Raid6 => striped(RaidLevel::Raid6, devices, marks, work),
    };
    if let Some(integrity) = &lvm.integrity {
        // LVM's checksum is crc32c: 4 bytes for each block.
        let tags = 4.0 / integrity.block.as_f64().max(1.0);
        let legs = if integrity.mode == IntegrityMode::Journal { journalled(tags, work) } else { tagged(tags, work) };
        found = found.above(legs);
    }
    // A chunk is copied before its first overwrite: read, written elsewhere, and noted. A thin pool notes each that it maps.
    let chunk = match (lvm.copied_chunk(), lvm.thin_chunk) {
        (Some(chunk), _) => chunk.as_f64().max(block(work)) / block(work),
        (None, Some(_)) => 0.0,
        (None, None) => return found,
    };
    let notes = 4.0 * PAGE / block(work);
    let copied = Bounds { write: (1.0, 1.0 + chunk + notes), read_by_write: chunk + notes, ..Bounds::SAME };
    copied.above(found)
}

/// ext4 and XFS overwrite in place; a flush commits a transaction of a few blocks.
fn journal(work: Work) -> Bounds {
    let flushes = work.fsync_every.map_or(0.0, |every| 8.0 * PAGE / (block(work) * f64::from(every.max(1))));
    let page = pages(work);
    Bounds {
        read: (1.0, page + SMALL_CHANGE),
        write: (1.0, page + SMALL_CHANGE + flushes),
        read_by_write: page - 1.0 + SMALL_CHANGE,
        write_by_read: SMALL_CHANGE,
    }
}

/// btrfs: every write is somewhere new, and paths through its trees are written again.
fn copied_on_write(btrfs: &Btrfs, work: Work) -> Bounds {
    let copies = |profile: BtrfsProfile| profile.copies() as f64;
    let page = pages(work);
    // Extent, checksum, file and root trees, up to four nodes deep.
    let paths = 16.0 * BTRFS_NODE / block(work);
    // What is overwritten may lie in as many extents as it has sectors, wherever random writes before it put each: every
    // one that is freed takes a leaf of the extent tree and one of the checksum tree, and the transaction may end after any
    // operation.
    let freed = if btrfs.copy_on_write { 2.0 * (block(work) / PAGE).ceil() * BTRFS_NODE / block(work) } else { 0.0 };
    let least = copies(btrfs.data);
    Bounds {
        read: (1.0, page + paths),
        write: (least, least * page + copies(btrfs.metadata) * (paths + freed) + SMALL_CHANGE),
        read_by_write: page + paths,
        write_by_read: SMALL_CHANGE,
    }
}

/// ZFS: whole records are read, checked and written again; small synchronous writes go to its log as well.
fn pool(zfs: &Zfs, devices: usize, work: Work) -> Bounds {
    let members = number(devices.max(1));
    let parity = |parities: f64| (members / (members - parities).max(1.0), 1.0 + 2.0 * parities);
    let (least, most) = match (zfs.layout, zfs.layout.parity()) {
        (_, Some(parities)) => parity(number(parities)),
        (ZfsLayout::Mirror, _) => (members, members),
        _ => (1.0, 1.0),
    };
    let record = (zfs.recordsize.as_f64() / block(work)).max(1.0);
    // Indirect blocks of 128 KiB at most on the way, three copies of what matters most.
    let trees = 3.0 * 131_072.0 / block(work);
    // What compresses takes less; how much less is not known.
    let least_share = if zfs.compression == ZfsCompression::Off { 1.0 } else { 0.5 };
    Bounds {
        // Raidz reads without parity, but whole allocation units.
        read: (least_share, 2.0 * record + trees),
        write: (least * least_share, most * (2.0 * record + 2.0 * trees + 1.0)),
        read_by_write: record + trees,
        write_by_read: SMALL_CHANGE,
    }
}
