//! Marks of formats in a device's own bytes, at every place where a format keeps a copy: also those that tools pass over
//! once the first copy is gone.

use host::Host;
use terms::signature::{BCACHEFS, HEAD, TAIL, UNTOLD};
use terms::units::{KIB, MIB};

use crate::device::Device;
use crate::doubt::Doubt;
use crate::mark::Mark;

/// Places are read, and cleared, in multiples of the largest block that the kernel knows (kernel, include/linux/blkdev.h,
/// `BLK_MAX_BLOCK_SIZE`).
const BLOCK: u64 = 64 * KIB;

/// Bytes of a device, as far as they were read, by their places on it.
struct Bytes {
    size: u64,
    pieces: Vec<(u64, Vec<u8>)>,
}

impl Bytes {
    /// So many bytes from a place; `None` where they were not read.
    fn at(&self, place: u64, length: usize) -> Option<&[u8]> {
        self.pieces.iter().find_map(|(start, bytes)| {
            let from = usize::try_from(place.checked_sub(*start)?).ok()?;
            bytes.get(from..from.checked_add(length)?)
        })
    }

    fn is(&self, place: u64, magic: &[u8]) -> bool {
        self.at(place, magic.len()) == Some(magic)
    }

    fn u32(&self, place: u64) -> Option<u32> {
        self.at(place, 4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn u64(&self, place: u64) -> Option<u64> {
        self.at(place, 8)?.try_into().ok().map(u64::from_le_bytes)
    }

    /// Text up to the first zero; `None` where it is empty or no text.
    fn text(&self, place: u64, longest: usize) -> Option<String> {
        let bytes = self.at(place, longest)?.split(|byte| *byte == 0).next()?;
        let text = std::str::from_utf8(bytes).ok()?;
        (!text.is_empty() && text.chars().all(|c| !c.is_control())).then(|| text.to_owned())
    }

    /// A place so far from the end, on a multiple of `unit`.
    fn before_end(&self, distance: u64, unit: u64) -> Option<u64> {
        (self.size / unit * unit).checked_sub(distance)
    }
}

/// Where marks are looked for on a device of a size, by place and length: both ends, and the copies of btrfs that small
/// devices do not have (kernel, include/uapi/linux/btrfs_tree.h).
#[must_use]
pub fn places_of_marks(size: terms::Bytes) -> Vec<(u64, u64)> {
    let size = size.0;
    let tail = size.saturating_sub(TAIL);
    let far = [64 * MIB, 256 << 30].map(|place| (place, BLOCK)).into_iter().filter(|(place, _)| place + BLOCK <= size);
    [(0, HEAD.min(size)), (tail, size - tail)].into_iter().chain(far).collect()
}

/// Looks for marks at these places.
pub(super) fn scan(host: &dyn Host, device: &Device, node: &str) -> Result<Vec<Mark>, Doubt> {
    let size = device.size.0;
    let mut pieces = Vec::new();
    for (place, length) in places_of_marks(device.size) {
        // Of a few MiB at most, so it fits.
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let bytes = host.read_at(node, place, length)?;
        if bytes.len() != length as usize {
            return Err(Doubt::words(format!("they end at byte {} already", place + bytes.len() as u64)));
        }
        pieces.push((place, bytes));
    }
    Ok(marks(&Bytes { size, pieces }))
}

fn marks(bytes: &Bytes) -> Vec<Mark> {
    let known = [ext, btrfs, erofs, luks, md, lvm, zfs, bcache, bcachefs, gpt].map(|format| format(bytes));
    known.into_iter().flatten().chain(untold(bytes)).collect()
}

fn mark(kind: &str, places: Vec<u64>, details: impl IntoIterator<Item = String>) -> Option<Mark> {
    let details = details.into_iter().collect();
    (!places.is_empty()).then(|| Mark { kind: kind.to_owned(), places, details, ..Mark::default() })
}

/// The superblock is at 1024; magic at 0x38, last mount point at 0x88, features at 0x5c to 0x63
/// (kernel, Documentation/filesystems/ext4/super.rst).
fn ext(bytes: &Bytes) -> Option<Mark> {
    const START: u64 = 1024;
    if !bytes.is(START + 0x38, &[0x53, 0xef]) {
        return None;
    }
    let (compatible, incompatible) = (bytes.u32(START + 0x5c)?, bytes.u32(START + 0x60)?);
    // Extents, 64 bit, flexible groups make an ext4; a journal an ext3.
    let kind = match (incompatible & 0x2c0, compatible & 0x4) {
        (0, 0) => "ext2",
        (0, _) => "ext3",
        _ => "ext4",
    };
    let mounted = bytes.text(START + 0x88, 64).map(|point| format!("last mounted at `{point}`"));
    mark(kind, vec![START + 0x38], mounted)
}

/// Superblocks at 64 KiB, 64 MiB, 256 GiB; magic at 0x40, number of devices at 0x88, this device's number at 0xc9
/// (kernel, include/uapi/linux/btrfs_tree.h, `btrfs_super_block`).
fn btrfs(bytes: &Bytes) -> Option<Mark> {
    let starts = [64 * KIB, 64 * MIB, 256 << 30].into_iter().filter(|start| bytes.is(start + 0x40, b"_BHRfS_M"));
    let starts: Vec<u64> = starts.collect();
    let first = *starts.first()?;
    let devices = bytes.u64(first + 0x88).filter(|count| *count > 1);
    let which = devices.zip(bytes.u64(first + 0xc9)).map(|(count, id)| format!("device {id} of {count}"));
    let lost = (first != 64 * KIB).then(|| "its first superblock is destroyed".to_owned());
    mark("btrfs", starts.iter().map(|start| start + 0x40).collect(), which.into_iter().chain(lost))
}

/// The superblock is at 1024 (kernel, fs/erofs/erofs_fs.h, `EROFS_SUPER_MAGIC_V1`).
fn erofs(bytes: &Bytes) -> Option<Mark> {
    const START: u64 = 1024;
    mark(super::EROFS, bytes.is(START, &0xe0f5_e1e2_u32.to_le_bytes()).then_some(START).into_iter().collect(), None)
}

/// The first header at 0; the second one of LUKS2 at one of nine places, with another magic
/// (LUKS2 On-Disk Format, 2.1 and 2.2). The version is big-endian at 6.
fn luks(bytes: &Bytes) -> Option<Mark> {
    let primary = bytes.is(0, b"LUKS\xba\xbe");
    let places = (0..=8).map(|power| (16 * KIB) << power).filter(|place| bytes.is(*place, b"SKUL\xba\xbe"));
    let secondary: Vec<u64> = places.collect();
    let start = if primary { 0 } else { *secondary.first()? };
    let version = bytes.at(start + 7, 1).map(|version| format!("LUKS{}", version[0]));
    let lost = (!primary).then(|| "its first header is destroyed and the second one is not".to_owned());
    let places = primary.then_some(0).into_iter().chain(secondary).collect();
    mark("crypto_LUKS", places, version.into_iter().chain(lost))
}

/// Superblocks of version 1 at 0, 4 KiB, or 8 to 12 KiB before the end; of version 0.90 64 to 128 KiB before it
/// (kernel, drivers/md/md.c, `super_1_load`, `calc_dev_sboffset`; include/uapi/linux/raid/md_p.h).
fn md(bytes: &Bytes) -> Option<Mark> {
    const MAGIC: [u8; 4] = 0xa92b_4efc_u32.to_le_bytes();
    let end = (bytes.size / 512).checked_sub(16).map(|sector| sector / 8 * 8 * 512);
    let old = bytes.before_end(64 * KIB, 64 * KIB);
    let found = |place: &Option<u64>, version: u32| {
        place.filter(|place| bytes.is(*place, &MAGIC) && bytes.u32(place + 4) == Some(version))
    };
    let new: Vec<u64> = [Some(0), Some(4 * KIB), end].into_iter().filter_map(|place| found(&place, 1)).collect();
    let mut places = new.clone();
    places.extend(found(&old, 0));
    let mut details = Vec::new();
    if let Some(start) = new.first() {
        details.extend(bytes.text(start + 32, 32).map(|name| format!("of the array `{name}`")));
        details.extend(bytes.u32(start + 92).map(|count| format!("of {count} devices")));
    }
    mark("linux_raid_member", places, details)
}

/// A label in one of the first four sectors (lvm2, lib/label/label.h).
fn lvm(bytes: &Bytes) -> Option<Mark> {
    let is_label = |place: &u64| bytes.is(*place, b"LABELONE") && bytes.is(place + 24, b"LVM2 001");
    mark("LVM2_member", (0..4).map(|sector| sector * 512).filter(is_label).collect(), None)
}

/// Labels at 0, 256 KiB, and 512 and 256 KiB before the end; in each a list of names and values from 16 KiB, and
/// uberblocks from 128 KiB (OpenZFS, include/sys/vdev_impl.h, `vdev_label_t`).
fn zfs(bytes: &Bytes) -> Option<Mark> {
    const MAGIC: u64 = 0x00ba_b10c;
    let label = 256 * KIB;
    let ends = [2 * label, label].map(|distance| bytes.before_end(distance, label));
    let starts = [Some(0), Some(label), ends[0], ends[1]].into_iter().flatten();
    let has_uberblock = |start: &u64| {
        let places = (0..128).map(|slot| start + 128 * KIB + slot * KIB);
        places.filter_map(|place| bytes.u64(place)).any(|word| word == MAGIC || word == MAGIC.swap_bytes())
    };
    let labels: Vec<u64> = starts.filter(has_uberblock).collect();
    let pool = labels.iter().find_map(|start| pool_name(bytes.at(start + 16 * KIB, 16 * KIB as usize)?));
    let pool = pool.map(|name| format!("of the pool `{name}`"));
    let few = (labels.len() < 4).then(|| format!("{} of 4 labels are left", labels.len()));
    mark("zfs_member", labels, pool.into_iter().chain(few))
}

/// The name in a packed list: the word `name`, its kind (9, a string), how many (1), the length and the text
/// (XDR, RFC 4506; OpenZFS, module/nvpair/nvpair.c).
fn pool_name(list: &[u8]) -> Option<String> {
    let key = b"\0\0\0\x04name\0\0\0\x09\0\0\0\x01";
    let at = list.windows(key.len()).position(|window| window == key)? + key.len();
    let length = u32::from_be_bytes(list.get(at..at + 4)?.try_into().ok()?) as usize;
    let name = std::str::from_utf8(list.get(at + 4..at.checked_add(4 + length)?)?).ok()?;
    (!name.chars().any(char::is_control)).then(|| name.to_owned())
}

/// The superblock at 4 KiB; its magic after 24 bytes (kernel, include/uapi/linux/bcache.h).
fn bcache(bytes: &Bytes) -> Option<Mark> {
    const MAGIC: [u8; 16] =
        [0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81];
    mark("bcache", bytes.is(4 * KIB + 24, &MAGIC).then_some(4 * KIB).into_iter().collect(), None)
}

/// Where its copies lie follows from sizes that only the first one tells, so every sector that was read is looked at
/// (kernel, fs/bcachefs/bcachefs_format.h, `bch_sb_layout`).
fn bcachefs(bytes: &Bytes) -> Option<Mark> {
    const SECTOR: u64 = 512;
    let sectors = |(start, read): &(u64, Vec<u8>)| {
        let first = start.next_multiple_of(SECTOR);
        (first..start + read.len() as u64).step_by(SECTOR as usize)
    };
    let copies =
        bytes.pieces.iter().flat_map(sectors).map(|sector| sector + 24).filter(|place| bytes.is(*place, BCACHEFS));
    let mut copies: Vec<u64> = copies.collect();
    copies.sort_unstable();
    copies.dedup();
    let lost = (copies.first() != Some(&(4 * KIB + 24))).then(|| "its first superblock is destroyed".to_owned());
    mark("bcachefs", copies, lost)
}

fn untold(bytes: &Bytes) -> impl Iterator<Item = Mark> {
    // That one is looked for in more places.
    let rest = UNTOLD.iter().filter(|(.., magic)| *magic != BCACHEFS);
    let found = rest.filter(|(_, place, magic)| bytes.is(*place, magic));
    found.filter_map(|(kind, place, _)| mark(kind, vec![*place], None))
}

/// Tables in the second and in the last block (UEFI specification, 5.3.2), of whatever size blocks are there or were where the
/// drive was used before. One alone is a damaged table, and what it lists is still there.
fn gpt(bytes: &Bytes) -> Option<Mark> {
    let is_table = |place: &u64| bytes.is(*place, b"EFI PART");
    let blocks = || std::iter::successors(Some(512), |block| Some(block * 2)).take_while(|block| *block <= BLOCK);
    let primary: Vec<u64> = blocks().filter(is_table).collect();
    let backup = blocks().filter_map(|block| bytes.size.checked_sub(block)).filter(is_table);
    let backup: Vec<u64> = backup.collect();
    let damage = match (primary.is_empty(), backup.is_empty()) {
        (true, false) => Some("its primary copy is destroyed and the backup is not".to_owned()),
        (false, true) => Some("its backup copy is destroyed and the primary is not".to_owned()),
        _ => None,
    };
    mark("gpt", primary.into_iter().chain(backup).collect(), damage)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A device of 8 MiB with these bytes at these places, as it would be read.
    fn device(written: &[(u64, &[u8])]) -> Bytes {
        let size = 8 * MIB;
        let mut whole = vec![0; size as usize];
        for (place, bytes) in written {
            let at = *place as usize;
            whole[at..at + bytes.len()].copy_from_slice(bytes);
        }
        let piece = |from: u64, to: u64| (from, whole[from as usize..to as usize].to_vec());
        Bytes { size, pieces: vec![piece(0, HEAD), piece(size - TAIL, size)] }
    }

    fn found(written: &[(u64, &[u8])]) -> Vec<String> {
        marks(&device(written)).iter().map(super::super::describe).collect()
    }

    #[test]
    fn every_copy_of_every_format_is_found() {
        let md = [&0xa92b_4efc_u32.to_le_bytes()[..], &1_u32.to_le_bytes()].concat();
        let old = [&0xa92b_4efc_u32.to_le_bytes()[..], &0_u32.to_le_bytes()].concat();
        let uberblock = 0x00ba_b10c_u64.to_le_bytes();
        let end = 8 * MIB;
        let cases: [(&str, u64, &[u8]); 21] = [
            ("erofs", 1024, b"\xe2\xe1\xf5\xe0"),
            ("linux_raid_member", 0, &md),
            ("linux_raid_member", 4096, &md),
            ("linux_raid_member", end - 8192, &md),
            ("linux_raid_member", end - 65536, &old),
            ("crypto_LUKS", 0, b"LUKS\xba\xbe"),
            ("crypto_LUKS", 16384, b"SKUL\xba\xbe"),
            ("crypto_LUKS", 4 * MIB, b"SKUL\xba\xbe"),
            ("zfs_member", 128 * KIB, &uberblock),
            ("zfs_member", end - 384 * KIB, &uberblock),
            ("zfs_member", end - 128 * KIB + 5 * KIB, &0x00ba_b10c_u64.to_be_bytes()),
            ("gpt", 512, b"EFI PART"),
            ("gpt", end - 512, b"EFI PART"),
            ("gpt", end - 4096, b"EFI PART"),
            // Blocks of 16 KiB and more.
            ("gpt", 16 * KIB, b"EFI PART"),
            ("gpt", end - 16 * KIB, b"EFI PART"),
            ("gpt", end - 64 * KIB, b"EFI PART"),
            ("bcachefs", MIB + 4 * KIB + 24, BCACHEFS),
            ("bcachefs", end - MIB + 24, BCACHEFS),
            ("bcachefs", end - MIB - 512 * KIB + 24, BCACHEFS),
            ("btrfs", 64 * KIB + 0x40, b"_BHRfS_M"),
        ];
        for (kind, place, bytes) in cases.into_iter().chain(UNTOLD) {
            let found = found(&[(place, bytes)]);
            assert!(found.len() == 1 && found[0].starts_with(kind), "{kind} at {place}: {found:?}");
        }
        assert!(found(&[]).is_empty());
    }

    #[test]
    fn owners_are_read_where_they_stand() {
        let ext = found(&[(1024 + 0x38, &[0x53, 0xef]), (1024 + 0x60, &[0xc0, 2, 0, 0]), (1024 + 0x88, b"/srv\0")]);
        assert!(ext[0].starts_with("ext4") && ext[0].contains("last mounted at `/srv`"), "{ext:?}");
        let name = [&b"\0\0\0\x04name\0\0\0\x09\0\0\0\x01\0\0\0\x04"[..], b"tank"].concat();
        let end = 8 * MIB - 256 * KIB;
        let zfs = found(&[(end + 16 * KIB, &name), (end + 128 * KIB, &0x00ba_b10c_u64.to_le_bytes())]);
        assert!(zfs[0].contains("of the pool `tank`") && zfs[0].contains("1 of 4 labels"), "{zfs:?}");
        let second = found(&[(64 * KIB + 0x40, b"_BHRfS_M"), (64 * KIB + 0x88, &[2]), (64 * KIB + 0xc9, &[2])]);
        assert!(second[0].contains("device 2 of 2"), "{second:?}");
        let backup = found(&[(8 * MIB - 512, b"EFI PART")]);
        assert!(backup[0].contains("primary copy is destroyed"), "{backup:?}");
        let header = found(&[(32768, b"SKUL\xba\xbe\0\x02")]);
        assert!(header[0].contains("LUKS2") && header[0].contains("first header is destroyed"), "{header:?}");
        let lvm = found(&[(512, b"LABELONE"), (536, b"LVM2 001")]);
        assert!(lvm[0].starts_with("LVM2_member"), "{lvm:?}");
    }

    #[test]
    fn places_are_whole_blocks_of_any_drive() {
        for block in [512, 4 * KIB, 16 * KIB, 64 * KIB] {
            for blocks in [1, 63, 65, 1000, 5_000_000] {
                let size = block * blocks;
                for (place, length) in places_of_marks(terms::Bytes(size)) {
                    let whole = place.is_multiple_of(block) && length.is_multiple_of(block);
                    assert!(whole && place + length <= size, "{place} and {length} of {size} in blocks of {block}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn devices_of_any_size_and_content_are_read(size in 0_u64..20_000, fill in any::<u8>(), seed in any::<[u8; 32]>()) {
            let mut bytes = vec![fill; size as usize];
            for (at, byte) in bytes.iter_mut().zip(seed.iter().cycle()).step_by(3) {
                *at = *byte;
            }
            let tail = size.saturating_sub(TAIL);
            let pieces = vec![(0, bytes.clone()), (tail, bytes[tail as usize..].to_vec())];
            let _ = marks(&Bytes { size, pieces });
        }
    }
}
