//! A volume group and the one volume in it, with the shares of the group that the planner asks for.

use terms::Bytes;
use terms::account::Purpose;
use terms::layer::{Lvm, Volume};

use crate::place::{Laid, Place, Stripe, Uses, bounds, largest_lba, stacked_optimal, total};
use crate::sizes::{Below, SizeBounds};

/// Bytes of an extent, as the planner says it to vgcreate.
const EXTENT: u64 = 4 << 20;
/// Data of a physical volume begin here, or at the first multiple of the device's optimal size from here on
/// (lvm.conf, `devices/default_data_alignment`, `devices/data_alignment_detection`).
const ALIGNMENT: u64 = 1 << 20;
/// Extents that each leg of a raid volume has for its superblock and bitmap.
const LEG_METADATA: u64 = 1;
/// A pool's metadata take 64 bytes for each of its chunks (lvm2, `thin_manip.c`)…
const POOL_ENTRY: u64 = 64;
/// …and at least 2 MiB…
const POOL_LEAST: u64 = 2 << 20;
/// …and at most 15.81 GiB: 255 bitmap blocks short of 16 GiB (`DEFAULT_THIN_POOL_MAX_METADATA_SIZE`). A pool that needs more is not
/// made: "Selected chunk size … cannot address more then …" (`update_thin_pool_params`).
const POOL_MOST: u64 = 16_978_542_592;

/// The volume's device.
pub(crate) fn lay(lvm: &Lvm, members: &[Place]) -> Option<Laid> {
    let extents: Vec<u64> = members.iter().map(extents).collect();
    let free: u64 = extents.iter().sum();
    let labels = total(members) - EXTENT * free;
    let uses = Uses::none().and(Purpose::Header, labels);
    let (size, uses) = if let Some(chunk) = lvm.thin_chunk {
        thin(lvm, chunk.0, members, &extents, free, uses)?
    } else {
        thick(lvm, &extents, free, uses)?
    };
    (size > 0).then(|| Laid::device(place(lvm, size, members), uses))
}

/// Extents of one physical volume.
fn extents(member: &Place) -> u64 {
    let start = match member.optimal {
        // A device whose optimal size divides the default, or that tells none, keeps the default.
        optimal if optimal == 0 || ALIGNMENT.is_multiple_of(optimal) => ALIGNMENT,
        optimal => ALIGNMENT.next_multiple_of(optimal),
    };
    member.size.saturating_sub(start) / EXTENT
}

/// Per cent of what is free in the group that the planner gives the volume; the rest is for what needs room beside it.
#[must_use]
pub const fn volume_share(lvm: &Lvm) -> u64 {
    if lvm.snapshot {
        50
    } else if lvm.integrity.is_some() {
        // Tags and their journals.
        80
    } else if lvm.volume.is_raid() {
        95
    } else {
        100
    }
}

/// A volume with extents of its own, and what the rest of the group is.
fn thick(lvm: &Lvm, extents: &[u64], free: u64, uses: Uses) -> Option<(u64, Uses)> {
    let count = extents.len() as u64;
    let least = extents.iter().min()?;
    let asked = free * volume_share(lvm) / 100;
    let leg = least.checked_sub(LEG_METADATA)?;
    // lvcreate takes a share of physical extents as one of logical ones, halves it for mirrors only, rounds up to whole
    // stripes, and then takes what there is (lvcreate.c, `_update_extents_params`).
    let (volume, legs) = match lvm.volume {
        Volume::Linear => (asked, 0),
        Volume::Striped => (asked.next_multiple_of(count).min(least * count), 0),
        Volume::Raid1 => ((asked / count).min(leg), count),
        Volume::Raid10 => ((asked / 2).next_multiple_of(count / 2).min(leg * (count / 2)), count),
        Volume::Raid5 => (asked.next_multiple_of(count - 1).min(leg * (count - 1)), count),
        Volume::Raid6 => (asked.next_multiple_of(count - 2).min(leg * (count - 2)), count),
    };
    let size = EXTENT * volume;
    let beside = match lvm.volume {
        Volume::Linear | Volume::Striped => Uses::none(),
        Volume::Raid1 => Uses::none().and(Purpose::Copies, size * (count - 1)),
        Volume::Raid10 => Uses::none().and(Purpose::Copies, size),
        Volume::Raid5 => Uses::none().and(Purpose::Parity, size / (count - 1)),
        Volume::Raid6 => Uses::none().and(Purpose::Parity, size / (count - 2) * 2),
    };
    let copies = beside.sum();
    let tags = if lvm.integrity.is_some() { EXTENT * legs * tag_extents((size + copies) / EXTENT / count) } else { 0 };
    let metadata = EXTENT * legs * LEG_METADATA;
    let rest = (EXTENT * free).checked_sub(size + copies + tags + metadata)?;
    let kept = if lvm.snapshot { Purpose::Snapshots } else { Purpose::Unused };
    let uses = uses.merge(beside).and(Purpose::Metadata, metadata).and(Purpose::Tags, tags).and(kept, rest);
    Some((size, uses))
}

/// Extents that one leg of that many has for tags and their journal: 4 MiB for each 500 MiB begun, and 4 to 64 MiB by
/// size (lvm2, `integrity_manip.c`, `_lv_size_bytes_to_integrity_meta_bytes`).
fn tag_extents(leg: u64) -> u64 {
    const MIB: u64 = 1 << 20;
    let bytes = EXTENT * leg;
    let journal = match bytes / MIB {
        0..512 => 4 * MIB,
        512..1024 => 8 * MIB,
        1024..4096 => 32 * MIB,
        _ => 64 * MIB,
    };
    ((bytes / (500 * MIB) + 1) * 4 * MIB + journal).div_ceil(EXTENT)
}

/// Size of a thin volume: seven tenths of what is certain of the members. A choice: the rest is for snapshots, because a full
/// pool fails writes.
#[must_use]
pub fn thin_size(lvm: &Lvm, members: &[SizeBounds]) -> Bytes {
    let certain = shared(lvm.volume, &Below::new(members, |member| member.least.0));
    Bytes(certain / 10 * 7 / EXTENT * EXTENT)
}

/// What members have for data in a volume of that shape, labels and metadata left in.
pub(crate) fn shared(volume: Volume, below: &Below) -> u64 {
    match volume {
        Volume::Linear => below.sum,
        _ => below.smallest.saturating_mul(volume.data_members(below.count) as u64),
    }
}

/// Extents of a thin pool of those that are free, as the planner asks for them.
fn pool(lvm: &Lvm, free: u64, members: u64) -> u64 {
    let asked = free * 80 / 100;
    if lvm.volume == Volume::Striped { asked.next_multiple_of(members) } else { asked }
}

/// The smallest chunks that a thin pool on these members can have, a power of two, where those of the layer are too small for LVM.
#[must_use]
pub fn larger_chunk(lvm: &Lvm, members: &[SizeBounds]) -> Option<Bytes> {
    let chunk = lvm.thin_chunk?.0;
    // So much is certain; a label takes an extent and no more.
    let free = members.iter().map(|member| (member.least.0 / EXTENT).saturating_sub(1)).sum();
    let least = EXTENT * pool(lvm, free, members.len() as u64) / (POOL_MOST / POOL_ENTRY);
    (chunk < least).then(|| Bytes(least.next_power_of_two()))
}

/// A thin volume and its pool.
fn thin(lvm: &Lvm, chunk: u64, members: &[Place], extents: &[u64], free: u64, uses: Uses) -> Option<(u64, Uses)> {
    let size = thin_size(lvm, &bounds(members)).0;
    let data = EXTENT * pool(lvm, free, extents.len() as u64);
    // "Size of thin-pool data volume cannot be smaller than chunk size".
    if data < chunk {
        return None;
    }
    let metadata = (data / chunk.max(1) * POOL_ENTRY).max(POOL_LEAST).div_ceil(EXTENT) * EXTENT;
    // Twice: a spare of the same size waits for repairs.
    let rest = (EXTENT * free).checked_sub(size + 2 * metadata)?;
    Some((size, uses.and(Purpose::Metadata, 2 * metadata).and(Purpose::Snapshots, rest)))
}

fn place(lvm: &Lvm, size: u64, members: &[Place]) -> Place {
    let data = lvm.volume.data_members(members.len());
    let alone = if let [member] = members { member.stripe } else { None };
    let stripe = Stripe::new(lvm.stripe.0, data as u64).or(alone);
    let optimal = if data > 1 { lvm.stripe.0 * data as u64 } else { stacked_optimal(members) };
    Place { size, lba: largest_lba(members), stripe, optimal, drive: false, ..members[0] }
}
