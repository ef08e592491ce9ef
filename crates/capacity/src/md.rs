//! An mdraid array: superblock, bitmap and data offset as mdadm 4.2 lays them out, chunks as the kernel rounds them.

use terms::account::Purpose;
use terms::layer::{Metadata, Raid, Raid10Layout, RaidLevel};

use crate::place::{Laid, Place, SECTOR, Stripe, Uses, down, largest_lba, stacked_optimal, total};

// All of this in sectors of 512 bytes, as mdadm's super1.c counts.

/// Room for reshaping in front of the data: at most 128 MiB (super1.c, `validate_geometry1`).
const HEADROOM: u64 = 128 << 11;
/// In front of the data beside bitmap and headroom: 4 KiB before the superblock, 4 KiB of it, 4 KiB of bad blocks.
const FRONT: u64 = 24;
/// Data begin at a whole MiB.
const MIB: u64 = 2048;
/// Behind the data with version 1.0: superblock and its alignment, and the list of bad blocks.
const BEHIND: u64 = 16 + 8;
/// RAID-1 has no chunk, but its members are cut to this so that it could get one (Create.c).
const MIRROR_ROUNDING: u64 = 64 << 1;
/// The array's device.
pub(crate) fn lay(raid: &Raid, members: &[Place]) -> Option<Laid> {
    let chunk = raid.chunk.0 / SECTOR;
    let offset = data_offset(raid, members.first()?.size / SECTOR);
    let rooms: Option<Vec<u64>> = members.iter().map(|member| room(raid, member.size / SECTOR, offset)).collect();
    let rooms = rooms?;
    let least = *rooms.iter().min()?;
    let count = members.len() as u64;
    let size = SECTOR * array(raid, chunk, &rooms, least, count);
    let headers = total(members) - SECTOR * rooms.iter().sum::<u64>();
    let unequal = if raid.level == RaidLevel::Raid0 { 0 } else { SECTOR * (rooms.iter().sum::<u64>() - least * count) };
    let uses = Uses::none().and(Purpose::Header, headers).and(Purpose::Unequal, unequal);
    let uses = match raid.level {
        RaidLevel::Raid0 => uses,
        RaidLevel::Raid1 => uses.and(Purpose::Copies, size * (count - 1)),
        RaidLevel::Raid10 => uses.and(Purpose::Copies, size),
        RaidLevel::Raid5 => uses.and(Purpose::Parity, size / (count - 1)),
        RaidLevel::Raid6 => uses.and(Purpose::Parity, size / (count - 2) * 2),
    };
    (size > 0).then(|| Laid::device(place(raid, size, members), uses))
}

/// Sectors in front of the data, which the first member decides for all.
fn data_offset(raid: &Raid, member: u64) -> u64 {
    if raid.metadata == Metadata::V1_0 {
        return 0;
    }
    // Chunks should fit the headroom twice; a mirror has none.
    let least = if raid.level == RaidLevel::Raid1 { 0 } else { raid.chunk.0 / SECTOR * 2 };
    let mut headroom = HEADROOM;
    while headroom << 10 > member && headroom / 2 >= least {
        headroom /= 2;
    }
    (FRONT + bitmap_room(member) + headroom).next_multiple_of(MIB)
}

/// Sectors kept for a bitmap, whether one is wanted or not (super1.c, `choose_bm_space`).
fn bitmap_room(member: u64) -> u64 {
    if member < 128 {
        0
    } else if member - 128 >= 200 << 21 {
        256
    } else if member - 8 > 8 << 21 {
        128
    } else {
        8
    }
}

/// Sectors of a member that are left for data.
fn room(raid: &Raid, member: u64, offset: u64) -> Option<u64> {
    let free = match raid.metadata {
        Metadata::V1_0 => down(member, 8).checked_sub(BEHIND + bitmap_room(member))?,
        Metadata::V1_1 | Metadata::V1_2 => member.checked_sub(offset)?,
    };
    Some(free)
}

/// Sectors of the array.
fn array(raid: &Raid, chunk: u64, rooms: &[u64], least: u64, count: u64) -> u64 {
    match raid.level {
        // The kernel uses all of every member, in as many zones as there are sizes (raid0.c, `create_strip_zones`).
        RaidLevel::Raid0 => rooms.iter().map(|room| down(*room, chunk)).sum(),
        RaidLevel::Raid1 => down(least, MIRROR_ROUNDING),
        // Chunks of a member, halved for copies on the same member, dealt to all, halved for copies beside
        // each other (raid10.c, `raid10_size`).
        RaidLevel::Raid10 => {
            let (near, far) = if raid.layout == Raid10Layout::Near { (2, 1) } else { (1, 2) };
            least / chunk / far * count / near * chunk
        }
        RaidLevel::Raid5 => down(least, chunk) * (count - 1),
        RaidLevel::Raid6 => down(least, chunk) * (count - 2),
    }
}

fn place(raid: &Raid, size: u64, members: &[Place]) -> Place {
    let count = members.len() as u64;
    let data = raid.level.data_members(members.len()) as u64;
    let even = raid.level != RaidLevel::Raid10 || count.is_multiple_of(2);
    let same = members.iter().all(|member| member.stripe == members[0].stripe);
    let stripe = match raid.level {
        RaidLevel::Raid1 => members[0].stripe.filter(|_| same),
        _ if even => Stripe::new(raid.chunk.0, data),
        _ => None,
    };
    let optimal = match raid.level {
        RaidLevel::Raid1 => stacked_optimal(members),
        // raid10.c, `raid10_nr_stripes`: all members where copies do not divide them.
        RaidLevel::Raid10 if raid.layout == Raid10Layout::Near && even => raid.chunk.0 * count / 2,
        RaidLevel::Raid10 => raid.chunk.0 * count,
        _ => raid.chunk.0 * data,
    };
    Place { size, lba: largest_lba(members), stripe, optimal, drive: false, ..members[0] }
}
