//! btrfs: the first block groups of mkfs.btrfs 6.2, what the kernel's allocator makes of the rest, and what `df` says of it.

use terms::account::Purpose;
use terms::layer::{BTRFS_STRIPE as STRIPE, Btrfs, BtrfsProfile};

use crate::place::{Laid, Place, Uses, down};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// Devices are cut to blocks of this many bytes.
const BLOCK: u64 = 4096;
/// In front of everything on each device (`BTRFS_DEVICE_RANGE_RESERVED`).
const FRONT: u64 = MIB;
/// Chunks that mkfs.btrfs makes first, and keeps where a single copy was asked for.
const FIRST_DATA: u64 = 8 * MIB;
const FIRST_METADATA: u64 = 8 * MIB;
const FIRST_SYSTEM: u64 = 4 * MIB;
/// Chunks are at most a tenth of the file system (kernel-shared/volumes.c).
const CHUNK_SHARE: u64 = 10;
/// Beyond this much a file system gets metadata chunks of 1 GiB, else of 256 MiB.
const LARGE: u64 = 50 * GIB;
/// Per cent of what can be written by which `df` may be off before it is worth a word.
const WORTH_TELLING: u64 = 1;

/// The mounted file system over all members.
pub(crate) fn lay(btrfs: &Btrfs, members: &[Place]) -> Option<Laid> {
    let mut free: Vec<u64> = members.iter().map(|member| down(member.size, BLOCK)).collect();
    let raw: u64 = free.iter().sum();
    let chunks = Chunks { raw, devices: members.len() as u64 };
    let system = allocate(&mut free, chunks.system(btrfs.metadata))?;
    let metadata = allocate(&mut free, chunks.metadata(btrfs.metadata))?;
    let data = allocate(&mut free, chunks.data(btrfs.data))?;
    let factor = btrfs.data.copies();
    let of_room = |room: u64| down((data + room) / factor, BLOCK);
    let (written, shown) = (of_room(chunks.written(&free, btrfs.data)), of_room(shown(&free, btrfs.data)));
    // Beside roundings of single stripes both are the same, and then that of the kernel is told.
    let is_off = written.abs_diff(shown) > written / 100 * WORTH_TELLING;
    let able = if is_off { written } else { shown };
    let uses = Uses::none()
        .and(Purpose::Metadata, system + metadata)
        .and(Purpose::Header, FRONT * members.len() as u64)
        .and(Purpose::Copies, able * (factor - 1));
    // Both are told in whole blocks.
    Some(Laid { shown: is_off.then_some(shown), ..Laid::files(down(raw / factor, BLOCK), able, uses) })
}

/// A chunk: on how many devices, how many stripes on each, of how many bytes.
struct Chunk {
    devices: u64,
    on_each: u64,
    stripe: u64,
}

/// Sizes of chunks, from all bytes and the number of devices.
struct Chunks {
    raw: u64,
    devices: u64,
}

impl Chunks {
    fn data(&self, profile: BtrfsProfile) -> Chunk {
        if profile == BtrfsProfile::Single {
            return Chunk { devices: 1, on_each: 1, stripe: FIRST_DATA };
        }
        self.regular(profile, GIB, 10 * GIB, 64 * MIB)
    }

    fn metadata(&self, profile: BtrfsProfile) -> Chunk {
        if profile == BtrfsProfile::Single {
            return Chunk { devices: 1, on_each: 1, stripe: FIRST_METADATA };
        }
        let most = if self.raw > LARGE { GIB } else { 256 * MIB };
        self.regular(profile, most, most, 32 * MIB)
    }

    fn system(&self, profile: BtrfsProfile) -> Chunk {
        if profile == BtrfsProfile::Single {
            return Chunk { devices: 1, on_each: 1, stripe: FIRST_SYSTEM };
        }
        self.regular(profile, 8 * MIB, 16 * MIB, MIB)
    }

    /// `decide_stripe_size_regular`: as large as wanted, unless the chunk were too large a part of the whole.
    fn regular(&self, profile: BtrfsProfile, stripe: u64, most: u64, least: u64) -> Chunk {
        let shape = profile.shape();
        let (devices, on_each) = (shape.devices(self.devices), shape.on_each);
        let most = most.min(self.raw / CHUNK_SHARE);
        let stripes = devices * on_each;
        let stripe = if stripe * stripes / profile.copies() > most { down(most / stripes, STRIPE) } else { stripe };
        Chunk { devices, on_each, stripe: stripe.max(least) }
    }

    /// Bytes of devices that further chunks of data take.
    fn written(&self, free: &[u64], profile: BtrfsProfile) -> u64 {
        let free: Vec<u64> = free.iter().map(|free| free.saturating_sub(FRONT)).collect();
        profile.taken(&free, self.raw).iter().sum()
    }
}

/// Takes a chunk from the devices that were named last of those that have room, as mkfs.btrfs does; where too few have,
/// from those with the most, and the chunk gets smaller. Says how many bytes it took.
fn allocate(free: &mut [u64], chunk: Chunk) -> Option<u64> {
    let devices = usize::try_from(chunk.devices).ok()?;
    let room = |index: usize| free[index].saturating_sub(FRONT);
    let fitting: Vec<usize> = (0..free.len()).filter(|index| room(*index) >= chunk.on_each * chunk.stripe).collect();
    let (chosen, stripe) = if let Some(from) = fitting.len().checked_sub(devices) {
        (fitting[from..].to_vec(), chunk.stripe)
    } else {
        let mut order: Vec<usize> = (0..free.len()).collect();
        order.sort_by_key(|index| (room(*index), *index));
        let chosen = order[order.len().checked_sub(devices)?..].to_vec();
        let least = chosen.iter().map(|index| room(*index)).min()?;
        (chosen, down(least / chunk.on_each, STRIPE))
    };
    for index in chosen {
        free[index] -= chunk.on_each * stripe;
    }
    (stripe > 0).then_some(chunk.devices * chunk.on_each * stripe)
}

/// Bytes that `df` says chunks of data could still be made of (fs/btrfs/super.c, `btrfs_calc_avail_data_space`): chunks over
/// the devices with the most room, whose order is not made anew after each. Mirrors over an odd number of devices, or over
/// unequal ones, hold more than that.
fn shown(free: &[u64], profile: BtrfsProfile) -> u64 {
    let least = usize::try_from(profile.shape().least).unwrap_or(1);
    let wanted = match profile {
        BtrfsProfile::Single | BtrfsProfile::Dup => 1,
        BtrfsProfile::Raid0 => free.len(),
        BtrfsProfile::Raid1 => 2,
        BtrfsProfile::Raid10 => 4,
    };
    let mut free: Vec<u64> =
        free.iter().filter(|free| **free > FRONT + STRIPE).map(|free| down(free - FRONT, STRIPE)).collect();
    free.sort_by_key(|free| std::cmp::Reverse(*free));
    let mut sum = 0;
    // From the device with the least room on; the order is not made anew in between.
    for last in (least - 1..free.len()).rev() {
        let (stripes, each) = (wanted.min(last + 1), free[last]);
        if each >= STRIPE {
            sum += each * stripes as u64;
            free[last + 1 - stripes..=last].iter_mut().for_each(|free| *free = free.saturating_sub(each));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use terms::Bytes;

    use super::*;
    use crate::SizeBounds;

    /// A drive of that size.
    fn whole(size: u64) -> Place {
        let bounds = SizeBounds::exactly(Bytes(size));
        Place { size, bounds, lba: 512, stripe: None, optimal: 0, drive: true }
    }

    /// Profile; size of each device; devices; size and *avail* as `statvfs` told them. mkfs.btrfs 6.2 on sparse files,
    /// metadata in two copies, Linux 6.18.
    const TOLD: [(&str, u64, u64, u64, u64); 77] = include!("../measured/btrfs.in");

    #[test]
    fn sizes_are_those_of_real_file_systems_to_the_byte() {
        let (single, dup, raid1) = (BtrfsProfile::Single, BtrfsProfile::Dup, BtrfsProfile::Raid1);
        for (name, size, count, total, available) in TOLD {
            let (data, metadata) = match name {
                "single" => (single, dup),
                "dup" => (dup, dup),
                "raid1" => (raid1, raid1),
                "raid0" => (BtrfsProfile::Raid0, raid1),
                "raid10" => (BtrfsProfile::Raid10, raid1),
                _ => (single, raid1),
            };
            let members = vec![whole(size); usize::try_from(count).unwrap()];
            let laid = lay(&Btrfs { data, metadata, ..Btrfs::default() }, &members).unwrap();
            assert_eq!(
                (laid.total, laid.shown.unwrap_or(laid.above)),
                (total, available),
                "{name} {} x {count}",
                Bytes(size)
            );
        }
    }

    #[test]
    fn mirrors_over_three_devices_are_those_of_real_file_systems_to_the_byte() {
        let raid1 = Btrfs { data: BtrfsProfile::Raid1, metadata: BtrfsProfile::Raid1, ..Btrfs::default() };
        for (sizes, total, available) in [
            ([671_088_640; 3], 245_760, 136_960),
            ([21_474_836_480, 21_474_836_480, 22_999_998_464], 8_050_497, 5_350_784),
        ] {
            let laid = lay(&raid1, &sizes.map(whole)).unwrap();
            assert_eq!((laid.total, laid.shown.unwrap_or(laid.above)), (total * 4096, available * 4096));
        }
    }

    /// Linux 6.18, mkfs.btrfs 6.2: what `df` said, and MiB that files of 128 MiB got by `fallocate`, where that was tried.
    #[test]
    fn striped_mirrors_over_two_and_three_devices_are_mirrors() {
        const MB: u64 = 1 << 20;
        let raid10 = Btrfs { data: BtrfsProfile::Raid10, metadata: BtrfsProfile::Raid1, ..Btrfs::default() };
        for (sizes, total, available, files) in [
            (vec![4096; 2], 1_048_576, 980_736, 3712),
            (vec![20_480; 2], 5_242_880, 5_175_040, 0),
            (vec![640; 2], 163_840, 145_152, 0),
            (vec![4096; 3], 1_572_864, 1_340_032, 5760),
            (vec![20_480; 3], 7_864_320, 7_336_576, 0),
            (vec![640; 3], 245_760, 193_152, 0),
            (vec![4096; 5], 2_621_440, 2_062_848, 9856),
            (vec![12_288, 2048, 2048], 2_097_152, 553_600, 2432),
            (vec![8192, 4096, 4096, 2048], 2_359_296, 1_766_912, 7808),
        ] {
            let members: Vec<Place> = sizes.iter().map(|size| whole(size * MB)).collect();
            let laid = lay(&raid10, &members).unwrap();
            let shown = (laid.total, laid.shown.unwrap_or(laid.above));
            assert_eq!(shown, (total * 4096, available * 4096), "{sizes:?}");
            assert!(files == 0 || (files..files + 128).contains(&(laid.above / MB)), "{sizes:?}: {}", laid.above / MB);
        }
    }

    #[test]
    fn a_device_without_room_is_passed_over() {
        let place = |blocks: u64| whole(blocks * 4096);
        let raid1 = Btrfs { data: BtrfsProfile::Raid1, metadata: BtrfsProfile::Raid1, ..Btrfs::default() };
        let laid = lay(&raid1, &[100_000, 100_000, 100_000, 355_360].map(place)).unwrap();
        assert_eq!((laid.total, laid.shown.unwrap_or(laid.above)), (327_680 * 4096, 164_672 * 4096));
    }

    #[test]
    fn a_chunk_that_does_not_fit_gets_smaller() {
        let place = |blocks: u64| whole(blocks * 4096);
        let members = [100_000, 100_000, 12_798_572, 108_629].map(place);
        let laid = lay(&Btrfs { metadata: BtrfsProfile::Raid1, ..Btrfs::default() }, &members).unwrap();
        assert_eq!((laid.total, laid.shown.unwrap_or(laid.above)), (13_107_201 * 4096, 12_889_424 * 4096));
    }

    #[test]
    fn chunks_go_where_most_is_free() {
        let (raid1, raid10) = (BtrfsProfile::Raid1, BtrfsProfile::Raid10);
        // Sizes of the devices in GB; what the copies of two hold of them, in GB: half of all, or what is beside the largest.
        for (data, sizes, most) in [
            (raid1, vec![4000; 5], 10_000),
            (raid10, vec![4000; 5], 10_000),
            (raid1, vec![2000, 500, 1000], 1500),
            (raid10, vec![2000, 500, 1000], 1500),
            (raid1, vec![20_000; 24], 240_000),
        ] {
            let members: Vec<Place> = sizes.iter().map(|gb| whole(gb * 1_000_000_000)).collect();
            let laid = lay(&Btrfs { data, metadata: raid1, ..Btrfs::default() }, &members).unwrap();
            // All but the first chunks, which may lie on the two devices that the others would have gone to.
            let (most, first) = (most * 1_000_000_000, 4 * GIB);
            assert!((most - first..=most).contains(&laid.above), "{data:?} {sizes:?}: {}", Bytes(laid.above));
            assert_eq!(laid.shown.is_some(), sizes.len() % 2 == 1, "{data:?} {sizes:?}");
        }
    }

    /// On three devices of 4 GiB Linux 6.18 stored files of 5760 MiB, all that `fallocate` could get, where `df` said 3.74 GiB.
    #[test]
    fn a_mirror_over_three_devices_holds_what_was_written_to_one() {
        let raid1 = Btrfs { data: BtrfsProfile::Raid1, metadata: BtrfsProfile::Raid1, ..Btrfs::default() };
        let laid = lay(&raid1, &[whole(4 * GIB); 3]).unwrap();
        assert_eq!(laid.above / (128 * MIB), 45);
        assert_eq!(laid.shown.map(|df| df * 100 / GIB), Some(374));
    }
}
