//! What a layer is, told once: everybody else asks here, and does not decide by its kind.

use super::{
    ArrayState, Bcache, BtrfsProfile, CacheMode, Integrity, IntegrityMode, Layer, Luks, Lvm, Raid, RaidLevel, Volume,
    Zfs, ZfsLayout,
};
use crate::units::Bytes;

/// What a layer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traits {
    /// What it rests on.
    pub over: Over,
    /// Is it a part of a drive, beside which other parts may be in use?
    pub shares_drive: bool,
    /// Does it end in a directory rather than a block device?
    pub file_system: bool,
    /// Is it a tree whose blocks are written somewhere else at each change and gathered until a commit? A scrub or a
    /// rebuild then reads what is used, and writes arrive seconds later.
    pub tree: bool,
    /// From what a lost or wrong block can be made again.
    pub copies: Copies,
    /// Which losses among its members it stays whole after.
    pub survives: Survives,
    /// How it notices that a block is not what was written.
    pub checksums: Checksums,
    /// Does it write right data over wrong ones that it or a layer below it noticed?
    pub repairs: bool,
    /// Are the data below it ciphertext?
    pub encrypts: bool,
    /// Does it take snapshots here?
    pub snapshots: bool,
    /// Does making it write every block, and need little memory for it, so that several are best made at once?
    pub written_whole: bool,
    /// In which state it is to be measured.
    pub state: ArrayState,
    /// What it keeps on faster devices beside its members ([`LayerNode::special`](crate::design::LayerNode::special)).
    pub cache: Option<CacheKind>,
    /// Smallest block that it shows above, whatever is below; 0 where it adds nothing to that.
    pub sector: Bytes,
    /// Bytes in front of its data, where that is all that it keeps of its one device.
    pub header: Bytes,
}

/// What a cache has that its members may not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheKind {
    /// Nothing: a write is done when it is on the members, and losing the cache loses nothing.
    Copies,
    /// Writes that are done: losing the cache loses what is above.
    Writes,
}

/// What a layer rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// It is the drive itself.
    Drive,
    /// One device; several below it are a mistake.
    One,
    /// One device, and several below it mean one layer on each.
    Each,
    /// All devices below it together.
    All,
}

/// From what a block can be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copies {
    /// There is one, and nothing to make it from.
    One,
    /// Another one, on another member.
    Mirrored,
    /// Another one, on the same device.
    Doubled,
    /// The others of its stripe.
    Parity,
}

/// Which losses a layer stays whole after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survives {
    /// None.
    Nothing,
    /// So many of its members, whichever.
    Any(usize),
    /// All members but one.
    AllButOne,
    /// One of each pair of neighbours, where members come in pairs; any one otherwise.
    OneOfEachPair,
}

/// How wrong blocks are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksums {
    /// They are not.
    None,
    /// By tags beside the data (dm-integrity).
    Tags,
    /// By such tags, and both go through a journal first.
    Journalled,
    /// By checksums in the tree.
    Tree,
}

impl Checksums {
    /// Those of dm-integrity in a mode.
    #[must_use]
    pub const fn of(mode: IntegrityMode) -> Self {
        match mode {
            IntegrityMode::Journal => Self::Journalled,
            IntegrityMode::NoJournal | IntegrityMode::Bitmap => Self::Tags,
        }
    }

    /// Does dm-integrity keep them?
    #[must_use]
    pub const fn are_tags(self) -> bool {
        matches!(self, Self::Tags | Self::Journalled)
    }
}

/// A device on one device, which changes nothing of the above.
const PLAIN: Traits = Traits {
    over: Over::One,
    shares_drive: false,
    file_system: false,
    tree: false,
    copies: Copies::One,
    survives: Survives::Nothing,
    checksums: Checksums::None,
    repairs: false,
    encrypts: false,
    snapshots: false,
    written_whole: false,
    state: ArrayState::Whole,
    cache: None,
    sector: Bytes(0),
    header: Bytes(0),
};

impl Layer {
    /// What it is.
    #[must_use]
    pub const fn traits(&self) -> Traits {
        match self {
            Self::Bare => Traits { over: Over::Drive, ..PLAIN },
            Self::Partition(_) => Traits { over: Over::Each, shares_drive: true, ..PLAIN },
            Self::Raid(raid) => of_raid(raid),
            Self::Luks(luks) => of_luks(luks),
            Self::Crypt(crypt) => Traits { over: Over::Each, encrypts: true, sector: crypt.sector, ..PLAIN },
            Self::Integrity(integrity) => of_integrity(integrity),
            Self::Lvm(lvm) => of_lvm(lvm),
            Self::Bcache(bcache) => of_bcache(bcache),
            Self::Writecache(cache) => Traits { cache: Some(CacheKind::Writes), sector: cache.block, ..PLAIN },
            Self::Ext4(_) | Self::Xfs(_) => Traits { file_system: true, ..PLAIN },
            Self::Btrfs(btrfs) => {
                let (copies, survives) = match btrfs.data {
                    BtrfsProfile::Single | BtrfsProfile::Raid0 => (Copies::One, Survives::Nothing),
                    BtrfsProfile::Dup => (Copies::Doubled, Survives::Nothing),
                    // Chunks are spread over all pairs, so any two drives share some.
                    BtrfsProfile::Raid1 | BtrfsProfile::Raid10 => (Copies::Mirrored, Survives::Any(1)),
                };
                // Without copy-on-write there are no checksums.
                let checksums = if btrfs.copy_on_write { Checksums::Tree } else { Checksums::None };
                let repairs = btrfs.copy_on_write && !matches!(copies, Copies::One);
                let tree = Traits { over: Over::All, file_system: true, tree: true, snapshots: true, ..PLAIN };
                Traits { copies, survives, checksums, repairs, ..tree }
            }
            Self::Zfs(zfs) => of_zfs(zfs),
        }
    }
}

const fn of_raid(raid: &Raid) -> Traits {
    let (copies, survives) = match raid.level {
        RaidLevel::Raid0 => (Copies::One, Survives::Nothing),
        RaidLevel::Raid1 => (Copies::Mirrored, Survives::AllButOne),
        RaidLevel::Raid10 => match raid.layout {
            super::Raid10Layout::Near => (Copies::Mirrored, Survives::OneOfEachPair),
            // Copies are on neighbours. That only neighbours matter is left out, so losses come out too high.
            super::Raid10Layout::Far | super::Raid10Layout::Offset => (Copies::Mirrored, Survives::Any(1)),
        },
        RaidLevel::Raid5 => (Copies::Parity, Survives::Any(1)),
        RaidLevel::Raid6 => (Copies::Parity, Survives::Any(2)),
    };
    let repairs = !matches!(copies, Copies::One);
    // A stripe set is whole at once.
    Traits { over: Over::All, copies, survives, repairs, written_whole: repairs, state: raid.state, ..PLAIN }
}

const fn of_luks(luks: &Luks) -> Traits {
    // cryptsetup keeps tags by dm-integrity with a journal.
    let checksums = if luks.integrity.is_some() { Checksums::Journalled } else { Checksums::None };
    let sector = match luks.sector {
        Some(sector) => sector,
        None => Bytes(0),
    };
    // It times its key derivation, which may take a gigabyte of memory: one must not stand in the way of another.
    Traits { over: Over::Each, checksums, encrypts: true, sector, ..PLAIN }
}

const fn of_integrity(integrity: &Integrity) -> Traits {
    let checksums = Checksums::of(integrity.mode);
    Traits { over: Over::Each, checksums, written_whole: true, sector: integrity.sector, ..PLAIN }
}

const fn of_lvm(lvm: &Lvm) -> Traits {
    let (copies, survives) = match lvm.volume {
        Volume::Linear | Volume::Striped => (Copies::One, Survives::Nothing),
        Volume::Raid1 => (Copies::Mirrored, Survives::AllButOne),
        Volume::Raid10 => (Copies::Mirrored, Survives::OneOfEachPair),
        Volume::Raid5 => (Copies::Parity, Survives::Any(1)),
        Volume::Raid6 => (Copies::Parity, Survives::Any(2)),
    };
    let (checksums, sector) = match &lvm.integrity {
        Some(integrity) => (Checksums::of(integrity.mode), integrity.block),
        None => (Checksums::None, Bytes(0)),
    };
    let cache = match lvm.cache {
        Some(CacheMode::Writethrough) => Some(CacheKind::Copies),
        Some(CacheMode::Writeback | CacheMode::Writecache) => Some(CacheKind::Writes),
        None => None,
    };
    let repairs = !matches!(copies, Copies::One);
    // LVM has none of volumes with integrity of their own (lvmraid(7)), and none is planned of cached ones.
    let snapshots = lvm.integrity.is_none() && lvm.cache.is_none();
    Traits { over: Over::All, copies, survives, checksums, repairs, snapshots, cache, sector, ..PLAIN }
}

const fn of_bcache(bcache: &Bcache) -> Traits {
    let sector = match bcache.block {
        Some(block) => block,
        None => Bytes(0),
    };
    Traits { cache: Some(bcache.cache()), sector, header: Bcache::HEADER, ..PLAIN }
}

const fn of_zfs(zfs: &Zfs) -> Traits {
    let (copies, survives) = match (zfs.layout, zfs.layout.parity()) {
        (_, Some(parity)) => (Copies::Parity, Survives::Any(parity)),
        (ZfsLayout::Mirror, _) => (Copies::Mirrored, Survives::AllButOne),
        _ => (Copies::One, Survives::Nothing),
    };
    let repairs = !matches!(copies, Copies::One);
    let tree = Traits { over: Over::All, file_system: true, tree: true, snapshots: true, ..PLAIN };
    Traits { copies, survives, checksums: Checksums::Tree, repairs, ..tree }
}

#[cfg(test)]
mod tests {
    use super::super::{Btrfs, Crypt, Ext4, GptPartition, LvmIntegrity, Raid10Layout, Writecache, Xfs};
    use super::*;

    /// One of each kind, and one of each option that decides a trait.
    fn all() -> Vec<Layer> {
        let levels = [RaidLevel::Raid0, RaidLevel::Raid1, RaidLevel::Raid10, RaidLevel::Raid5, RaidLevel::Raid6];
        let volumes = [Volume::Linear, Volume::Striped, Volume::Raid1, Volume::Raid10, Volume::Raid5, Volume::Raid6];
        let layouts = ZfsLayout::ALL;
        let profiles =
            [BtrfsProfile::Single, BtrfsProfile::Dup, BtrfsProfile::Raid0, BtrfsProfile::Raid1, BtrfsProfile::Raid10];
        let raids = levels.into_iter().flat_map(|level| {
            [Raid10Layout::Near, Raid10Layout::Far, Raid10Layout::Offset]
                .map(|layout| Layer::Raid(Raid { level, layout, ..Raid::default() }))
        });
        let lvms = volumes.into_iter().flat_map(|volume| {
            [None, Some(LvmIntegrity::default())]
                .map(|integrity| Layer::Lvm(Lvm { volume, integrity, ..Lvm::default() }))
        });
        let btrfs = profiles.into_iter().flat_map(|data| {
            [true, false].map(|copy_on_write| Layer::Btrfs(Btrfs { data, copy_on_write, ..Btrfs::default() }))
        });
        let zfs = layouts.map(|layout| Layer::Zfs(Zfs { layout, ..Zfs::default() }));
        let plain = [
            Layer::Bare,
            Layer::Partition(GptPartition::default()),
            Layer::Luks(Luks::default()),
            Layer::Crypt(Crypt::default()),
            Layer::Integrity(Integrity::default()),
            Layer::Bcache(Bcache::default()),
            Layer::Writecache(Writecache::default()),
            Layer::Ext4(Ext4::default()),
            Layer::Xfs(Xfs::default()),
        ];
        plain.into_iter().chain(raids).chain(lvms).chain(btrfs).chain(zfs).collect()
    }

    #[test]
    fn traits_of_a_layer_do_not_contradict_each_other() {
        for layer in all() {
            let (found, title) = (layer.traits(), layer.title());
            let survives = found.survives != Survives::Nothing;
            assert_eq!(survives, matches!(found.copies, Copies::Mirrored | Copies::Parity), "{title}");
            assert!(!survives || found.over == Over::All, "{title}: what is on one device is lost with it");
            assert!(!found.repairs || found.copies != Copies::One, "{title}: nothing to repair from");
            assert!(!found.tree || found.file_system, "{title}");
            assert!(found.checksums != Checksums::Tree || found.tree, "{title}");
            assert!(found.header == Bytes(0) || matches!(found.over, Over::One | Over::Each), "{title}");
            assert!(found.cache.is_none() || layer.beside().is_some(), "{title}: no key names its devices");
            assert!(found.over != Over::Drive || found == Traits { over: Over::Drive, ..PLAIN }, "{title}");
        }
    }
}
