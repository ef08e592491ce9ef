//! All designs on so many drives that meet what can be seen from the choices alone.
//!
//! Drives are taken to be alike, so that which of them a design takes says nothing: designs on `n` drives take the first
//! `n`. What a need rules out is left out while listing, before anything is computed.

use terms::Bytes;
use terms::advice::Needs;
use terms::layer::{BtrfsChecksum, BtrfsProfile, IntegrityMode, RaidLevel, Volume, ZfsCompression, ZfsLayout};

use crate::design::{Cipher, Files, Joint, Layout, Logical, Under};

/// Chunks and stripes of arrays and volumes.
const CHUNKS: [u64; 6] = [16, 64, 128, 256, 512, 1024];
/// Record sizes of ZFS.
const RECORDS: [u64; 8] = [4, 8, 16, 32, 64, 128, 256, 1024];
/// Chunks of thin pools.
const POOLS: [u64; 3] = [64, 256, 1024];
/// Sectors that encryption and checksums work on.
const SECTORS: [u64; 2] = [512, 4096];
/// Checksums of btrfs.
pub(crate) const CHECKSUMS: [BtrfsChecksum; 4] =
    [BtrfsChecksum::Crc32c, BtrfsChecksum::Xxhash, BtrfsChecksum::Sha256, BtrfsChecksum::Blake2];
const MODES: [IntegrityMode; 3] = [IntegrityMode::Journal, IntegrityMode::NoJournal, IntegrityMode::Bitmap];

/// Every design on at most so many drives with blocks of `lba`, the needed ones only. None encrypts where nobody asked for
/// it: who has no use for a key can only lose it, whatever the workers of dm-crypt may take off a thread.
#[must_use]
pub fn designs(drives: usize, lba: Bytes, needs: &Needs) -> Vec<Layout> {
    let mut all = Vec::new();
    for members in 1..=drives {
        let joints = joints(members, lba);
        for under in unders(lba) {
            for &joint in &joints {
                above(members, under, joint, lba, needs, &mut all);
            }
        }
    }
    all.retain(|design| needs.encryption || !design.is_encrypted());
    all
}

/// The designs of a list in parts that share most: the same drives with the same on each.
pub(crate) fn parts(designs: &[Layout]) -> impl DoubleEndedIterator<Item = &[Layout]> {
    designs.chunk_by(|one, next| one.members == next.members && one.under == next.under)
}

/// Is it one that [`designs`] would list, were nothing needed or encryption alone? Changes of one choice make some that are none.
#[must_use]
pub(crate) fn is_listed(design: &Layout, lba: Bytes) -> bool {
    let mut all = Vec::new();
    if joints(design.members, lba).contains(&design.joint) && unders(lba).contains(&design.under) {
        above(design.members, design.under, design.joint, lba, &Needs::default(), &mut all);
    }
    all.contains(design)
}

/// What may be on top of drives that were joined so.
fn above(members: usize, under: Under, joint: Joint, lba: Bytes, needs: &Needs, all: &mut Vec<Layout>) {
    // A layer's sectors are the blocks of what is above it.
    let lba = match under {
        Under::Integrity(_, sector) | Under::Sealed(sector) | Under::Luks(Cipher { sector, .. }) => lba.max(sector),
        Under::Nothing => lba,
    };
    if matches!(joint, Joint::Lvm { integrity: Some((_, block)), .. } if block < lba) {
        return;
    }
    let encrypted = matches!(under, Under::Luks(_) | Under::Sealed(_));
    let own = matches!(joint, Joint::Btrfs { .. } | Joint::Zfs { .. });
    // Nobody encrypts twice, and nothing goes on top of a file system.
    let overs: Vec<Option<Cipher>> =
        if encrypted || own { vec![None] } else { std::iter::once(None).chain(ciphers(lba).map(Some)).collect() };
    for over in overs {
        for volume in volumes(&joint, own) {
            for files in file_systems(own, volume) {
                let design = Layout { members, under, joint, over, volume, files };
                if meets(&design, needs) {
                    all.push(design);
                }
            }
        }
    }
}

/// What can be seen without arithmetic.
fn meets(design: &Layout, needs: &Needs) -> bool {
    (!needs.encryption || design.is_encrypted())
        && (!needs.snapshots || design.has_snapshots())
        && design.survives() >= needs.survives as usize
        && (!needs.repairs || design.repairs())
}

/// Sectors on blocks of this size: none is smaller than a block.
fn sectors(lba: Bytes) -> impl Iterator<Item = Bytes> + Clone {
    SECTORS.into_iter().map(Bytes).filter(move |sector| *sector >= lba)
}

fn ciphers(lba: Bytes) -> impl Iterator<Item = Cipher> {
    sectors(lba).flat_map(|sector| [false, true].map(|inline| Cipher { sector, inline }))
}

fn unders(lba: Bytes) -> Vec<Under> {
    let integrity = MODES.into_iter().flat_map(|mode| sectors(lba).map(move |sector| Under::Integrity(mode, sector)));
    std::iter::once(Under::Nothing)
        .chain(integrity)
        .chain(ciphers(lba).map(Under::Luks))
        .chain(sectors(lba).map(Under::Sealed))
        .filter(|under| under.survives_power_cut())
        .collect()
}

fn joints(members: usize, lba: Bytes) -> Vec<Joint> {
    let mut all = Vec::new();
    if members == 1 {
        all.push(Joint::Alone);
    }
    all.extend(arrays(members));
    all.extend(lvm(members, lba));
    all.extend(btrfs(members));
    all.extend(zfs(members));
    all
}

/// With a write-intent bitmap: without one, a power cut leaves the whole array to be compared, which takes hours.
fn arrays(members: usize) -> Vec<Joint> {
    let mut all = Vec::new();
    for level in [RaidLevel::Raid0, RaidLevel::Raid1, RaidLevel::Raid10, RaidLevel::Raid5, RaidLevel::Raid6] {
        // mdadm takes a RAID-10 of two or three, which is a mirror by another name.
        let fewest = if level == RaidLevel::Raid10 { 4 } else { level.fewest() };
        if members < fewest || (level == RaidLevel::Raid10 && members % 2 == 1) {
            continue;
        }
        let chunks: Vec<Option<Bytes>> =
            if level == RaidLevel::Raid1 { vec![None] } else { CHUNKS.map(|kib| Some(Bytes::kib(kib))).to_vec() };
        all.extend(chunks.into_iter().map(|chunk| Joint::Md { level, chunk }));
    }
    all
}

fn lvm(members: usize, lba: Bytes) -> Vec<Joint> {
    let mut all = Vec::new();
    for volume in [Volume::Striped, Volume::Raid1, Volume::Raid10, Volume::Raid5, Volume::Raid6] {
        if members < volume.fewest() || (volume == Volume::Raid10 && members % 2 == 1) {
            continue;
        }
        let stripes: Vec<Option<Bytes>> =
            if volume == Volume::Raid1 { vec![None] } else { CHUNKS.map(|kib| Some(Bytes::kib(kib))).to_vec() };
        for stripe in stripes {
            all.push(Joint::Lvm { volume, stripe, integrity: None });
            if volume.is_raid() {
                // LVM offers no third mode.
                for mode in [IntegrityMode::Journal, IntegrityMode::Bitmap] {
                    let blocks = sectors(lba).map(|block| Some((mode, block)));
                    all.extend(blocks.map(|integrity| Joint::Lvm { volume, stripe, integrity }));
                }
            }
        }
    }
    all
}

/// With copy on write: without it there are no checksums, and a study that asks for that is warned.
fn btrfs(members: usize) -> Vec<Joint> {
    let mut all = Vec::new();
    let profiles: &[BtrfsProfile] = match members {
        1 => &[BtrfsProfile::Single, BtrfsProfile::Dup],
        // Striped mirrors over so few are mirrors.
        2 | 3 => &[BtrfsProfile::Single, BtrfsProfile::Raid0, BtrfsProfile::Raid1],
        _ => &[BtrfsProfile::Single, BtrfsProfile::Raid0, BtrfsProfile::Raid1, BtrfsProfile::Raid10],
    };
    for &data in profiles {
        // Metadata are kept twice, as mkfs.btrfs does by itself.
        let metadata = if members == 1 { BtrfsProfile::Dup } else { BtrfsProfile::Raid1 };
        for checksum in CHECKSUMS {
            all.push(Joint::Btrfs { data, metadata, checksum });
        }
    }
    all
}

fn zfs(members: usize) -> Vec<Joint> {
    let mut all = Vec::new();
    for layout in ZfsLayout::ALL {
        // A raidz of two is a mirror that is slower.
        let fewest = if layout == ZfsLayout::Raidz1 { 3 } else { layout.fewest() };
        if members < fewest {
            continue;
        }
        // What a raidz says it holds is for records of 128 KiB; of smaller ones it holds as little as half of that.
        let is_raidz = layout.parity().is_some();
        for record in RECORDS.into_iter().filter(|record| !is_raidz || *record >= 128) {
            for compression in [ZfsCompression::Off, ZfsCompression::Lz4, ZfsCompression::Zstd] {
                all.push(Joint::Zfs { layout, record: Bytes::kib(record), compression });
            }
        }
    }
    all
}

/// Volumes that make sense: a group that joins drives has its volume already, and may have it thin.
fn volumes(joint: &Joint, own: bool) -> Vec<Option<Logical>> {
    if own || matches!(joint, Joint::Lvm { .. }) {
        return vec![None];
    }
    let thin = POOLS.map(|kib| Some(Logical::Thin(Bytes::kib(kib))));
    [None, Some(Logical::Linear)].into_iter().chain(thin).collect()
}

fn file_systems(own: bool, volume: Option<Logical>) -> Vec<Option<Files>> {
    if own {
        return vec![None];
    }
    let mut all = vec![Some(Files::Ext4), Some(Files::Xfs)];
    // btrfs divides its device itself.
    if volume.is_none() {
        all.extend(CHECKSUMS.map(|checksum| Some(Files::Btrfs(checksum))));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_design_is_listed_once_and_needs_leave_fewer() {
        let everything = designs(4, Bytes(512), &Needs { encryption: true, ..Needs::default() });
        let unique: std::collections::HashSet<_> = everything.iter().collect();
        assert_eq!(unique.len(), everything.len());
        assert!(designs(4, Bytes(512), &Needs::default()).iter().all(|design| !design.is_encrypted()));
        let needs = Needs { encryption: true, survives: 1, repairs: true, snapshots: true, ..Needs::default() };
        let some = designs(4, Bytes(512), &needs);
        assert!(some.len() < everything.len() / 2 && !some.is_empty(), "{} of {}", some.len(), everything.len());
        assert!(some.iter().all(|design| unique.contains(design) && design.survives() > 0));
    }

    #[test]
    fn more_drives_add_designs_and_take_none_away() {
        let (two, three) = (designs(2, Bytes(512), &Needs::default()), designs(3, Bytes(512), &Needs::default()));
        assert!(two.iter().all(|design| three.contains(design)));
    }
}
