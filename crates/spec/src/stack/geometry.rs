//! Sizes and blocks of every node, as far as the text tells them.
//!
//! Sizes are upper bounds: headers, journals and tables of unknown size are left out, so that "it does not fit" is
//! certain where it is said.

use std::collections::{BTreeMap, HashSet};

use terms::layer::{
    BtrfsProfile, GptPartition, Integrity, Luks, Lvm, PartitionTables, RaidLevel, Traits, Volume, Zfs, ZfsLayout,
};
use terms::units::{MIB, TIB};
use terms::{Bytes, Layer, Name, Note, Ref};

use super::grow::Growth;
use crate::lab::Lab;

/// Smallest device of XFS: mkfs.xfs 5.19 and later refuse less.
const XFS_LEAST: Bytes = Bytes::mib(300);
/// Smallest device of btrfs: mkfs.btrfs 6.2 refuses less (`minimum size for each btrfs device is 114294784`).
const BTRFS_LEAST: Bytes = Bytes(114_294_784);
/// Smallest device of ZFS (`SPA_MINDEVSIZE`).
const ZFS_LEAST: Bytes = Bytes::mib(64);
/// Data of a LUKS2 mapping begins here (cryptsetup 2.1 and later).
const LUKS_HEADER: u64 = 16 * MIB;
/// Bytes of an HMAC-SHA-256.
const HMAC: u64 = 32;

/// Size, if known, and logical block of every node.
#[derive(Debug)]
pub(super) struct Geometry<'l> {
    lab: &'l Lab,
    nodes: BTreeMap<Name, (Option<Bytes>, Bytes)>,
    tables: PartitionTables,
}

impl<'l> Geometry<'l> {
    /// Works upwards from the drives.
    pub(super) fn of(growth: &[Growth<'_, '_>], lab: &'l Lab) -> Self {
        let mut geometry = Self { lab, nodes: BTreeMap::new(), tables: PartitionTables::default() };
        for grown in growth {
            let sizes: Option<Vec<u64>> = grown.node.on.iter().map(|below| Some(geometry.size(below)?.0)).collect();
            let size = sizes.filter(|sizes| !sizes.is_empty() && !grown.broken);
            let size = match &grown.node.layer {
                Layer::Partition(partition) => size.and_then(|_| geometry.partition(&grown.node.on, partition)),
                layer => size.map(|sizes| Bytes(upper(layer, &sizes))),
            };
            // Nothing is left where members are missing, which is noted elsewhere.
            let size = size.filter(|size| size.0 > 0);
            let block = block(&grown.node.layer, geometry.block_below(grown));
            geometry.nodes.insert(grown.node.name.clone(), (size, block));
        }
        geometry
    }

    /// Size of the next partition of a drive; `None` where it has no room for it.
    fn partition(&mut self, on: &[Ref], partition: &GptPartition) -> Option<Bytes> {
        let below = on.first()?;
        let (size, block) = (self.size(below)?, self.block(below)?);
        Some(self.tables.next(below.name(), size, block, partition)?.size())
    }

    /// Bytes that the top can hold at most.
    pub(super) fn capacity(&self, top: &Growth<'_, '_>) -> Option<Bytes> {
        self.nodes.get(&top.node.name)?.0
    }

    /// What direct I/O to the top must be a multiple of. btrfs and ZFS take any, by way of the page cache.
    pub(super) fn direct_block(&self, top: &Growth<'_, '_>) -> Option<Bytes> {
        match top.node.layer.traits() {
            Traits { tree: true, .. } => None,
            Traits { file_system: true, .. } => Some(self.block_below(top)),
            _ => Some(self.nodes.get(&top.node.name)?.1),
        }
    }

    fn size(&self, below: &Ref) -> Option<Bytes> {
        match below {
            Ref::Drive(name) => self.lab.drive(name.as_str()).map(|drive| drive.size).filter(|size| size.0 > 0),
            Ref::Layer(name) => self.nodes.get(name)?.0,
        }
    }

    fn block(&self, below: &Ref) -> Option<Bytes> {
        match below {
            Ref::Drive(name) => self.lab.drive(name.as_str()).map(|drive| drive.lba),
            Ref::Layer(name) => self.nodes.get(name).map(|(_, block)| *block),
        }
    }

    /// The largest logical block of what is below.
    fn block_below(&self, grown: &Growth<'_, '_>) -> Bytes {
        let all = grown.node.below();
        all.filter_map(|below| self.block(below)).max().unwrap_or(Bytes(512))
    }

    /// Notes sectors smaller than the block below, devices too small, and members of unlike size.
    pub(super) fn check(&self, growth: &[Growth<'_, '_>], notes: &mut Vec<Note>) {
        // Nodes of one entry share their options: one note for all of them.
        let mut noted: HashSet<(&'static str, *const super::Entry<'_>)> = HashSet::new();
        for grown in growth {
            let found = [self.sector(grown), self.least(grown), self.unlike(grown), self.no_room(grown)];
            for (check, note) in ["sector", "least", "unlike", "room"].into_iter().zip(found) {
                let from = (check, std::ptr::from_ref(grown.entry));
                if let Some(note) = note
                    && noted.insert(from)
                {
                    notes.push(note);
                }
            }
        }
    }

    fn sector(&self, grown: &Growth<'_, '_>) -> Option<Note> {
        let options = grown.entry.options;
        let (key, sector) = match &grown.node.layer {
            Layer::Luks(luks) => ("sector", luks.sector?),
            Layer::Integrity(integrity) => ("sector", integrity.sector),
            Layer::Ext4(ext4) => ("block", ext4.block),
            Layer::Xfs(xfs) => ("block", xfs.block),
            _ => return None,
        };
        let below = self.block_below(grown);
        if sector >= below || options.is_wrong(key) {
            return None;
        }
        let place = if options.has(key) { options.place(key) } else { grown.entry.place() };
        let kind = grown.node.layer.kind();
        let label = if options.has(key) { "smaller than the block below" } else { "its default is too small here" };
        Some(
            Note::error(
                "study-sector-below-lba",
                Some(place),
                format!("{kind} has a {key} of {sector} on blocks of {below}"),
            )
            .label(label)
            .hint(format!("write {kind} = {{ {key} = \"{below}\" }}")),
        )
    }

    fn least(&self, grown: &Growth<'_, '_>) -> Option<Note> {
        let least = match grown.node.layer {
            Layer::Xfs(_) => XFS_LEAST,
            Layer::Btrfs(_) => BTRFS_LEAST,
            Layer::Zfs(_) => ZFS_LEAST,
            _ => return None,
        };
        let all = grown.node.below().zip(&grown.places);
        let sized = all.filter_map(|(below, place)| Some((self.size(below)?, below, place)));
        let (size, below, place) = sized.min_by_key(|(size, ..)| *size)?;
        (size < least).then(|| {
            let kind = grown.node.layer.kind();
            Note::error("study-too-small", Some(*place), format!("`{}` is too small for {kind}", below.name()))
                .label(format!("{size} at most"))
                .hint(format!("{kind} takes devices of {least} or more"))
        })
    }

    fn no_room(&self, grown: &Growth<'_, '_>) -> Option<Note> {
        let drive = grown.node.on.first().filter(|below| matches!(below, Ref::Drive(_)))?;
        let is_without =
            grown.node.layer.is_partition() && !grown.broken && self.nodes.get(&grown.node.name)?.0.is_none();
        let size = self.size(drive).filter(|_| is_without)?;
        let place =
            if grown.entry.options.has("size") { grown.entry.options.place("size") } else { grown.entry.place() };
        Some(
            Note::error(
                "study-no-room",
                Some(place),
                format!("drive `{}` has no room for this partition", drive.name()),
            )
            .label(format!("the drive has {size}, tables and the partitions before it included"))
            .hint("make this partition or those before it smaller; only the last may leave `size` out"),
        )
    }

    fn unlike(&self, grown: &Growth<'_, '_>) -> Option<Note> {
        let what = match &grown.node.layer {
            // RAID-0 of mdadm stripes what is left of the larger members in zones of their own.
            Layer::Raid(raid) if grown.node.layer.is_redundant() => format!("RAID-{}", raid.level.number()),
            Layer::Zfs(zfs) if grown.node.layer.is_redundant() => format!("a ZFS {}", zfs.layout.word()),
            _ => return None,
        };
        let sizes: Vec<Bytes> = grown.node.on.iter().map(|below| self.size(below)).collect::<Option<_>>()?;
        let least = sizes.iter().min()?;
        let sum = sizes.iter().fold(0u64, |sum, size| sum.saturating_add(size.0));
        let lost = sizes.iter().fold(0u64, |lost, size| lost.saturating_add(size.0 - least.0));
        // A header under one member and not under another is nothing to speak of.
        (lost > sum / 20).then(|| {
            let place = grown.entry.fields.place("on");
            let place = if grown.entry.fields.has("on") { place } else { grown.entry.place() };
            Note::error("study-unlike-members", Some(place), format!("members of unlike size lose {}", Bytes(lost)))
                .as_warning()
                .label(format!("{what} uses {least} of each"))
                .hint("make the drives the same size")
        })
    }
}

/// The logical block that a layer shows above it.
fn block(layer: &Layer, below: Bytes) -> Bytes {
    match layer {
        Layer::Luks(luks) => below.max(luks.sector.unwrap_or_default()),
        Layer::Crypt(crypt) => below.max(crypt.sector),
        Layer::Integrity(integrity) => below.max(integrity.sector),
        Layer::Lvm(lvm) => below.max(lvm.integrity.as_ref().map_or(Bytes(0), |integrity| integrity.block)),
        _ => below,
    }
}

/// Bytes above a layer at most, given those of each device below. `sizes` is never empty.
fn upper(layer: &Layer, sizes: &[u64]) -> u64 {
    let least = sizes.iter().copied().min().unwrap_or(0);
    let sum = sizes.iter().fold(0u64, |sum, size| sum.saturating_add(*size));
    match layer {
        Layer::Bare | Layer::Partition(_) | Layer::Ext4(_) | Layer::Xfs(_) => least,
        Layer::Crypt(crypt) => least.saturating_sub(crypt.format.reserved().0),
        Layer::Raid(raid) => match raid.level {
            RaidLevel::Raid0 => sum,
            RaidLevel::Raid10 => least.saturating_mul(sizes.len() as u64) / 2,
            level => least.saturating_mul(level.data_members(sizes.len()) as u64),
        },
        Layer::Luks(luks) => luks_upper(luks, least),
        Layer::Integrity(integrity) => integrity_upper(integrity, least),
        Layer::Lvm(lvm) => lvm_upper(lvm, sizes, least, sum),
        Layer::Btrfs(btrfs) => match btrfs.data {
            BtrfsProfile::Single | BtrfsProfile::Raid0 => sum,
            BtrfsProfile::Dup | BtrfsProfile::Raid10 => sum / 2,
            // Each copy on another device: the largest is of no use beyond the others together.
            BtrfsProfile::Raid1 => (sum / 2).min(sum - sizes.iter().copied().max().unwrap_or(0)),
        },
        Layer::Zfs(zfs) => zfs_upper(zfs, sizes.len() as u64, least, sum),
    }
}

const fn luks_upper(luks: &Luks, below: u64) -> u64 {
    let below = below.saturating_sub(LUKS_HEADER);
    if luks.integrity.is_none() {
        return below;
    }
    let sector = match luks.sector {
        Some(sector) => sector.0,
        None => 4096,
    };
    tagged(below, sector, HMAC)
}

const fn integrity_upper(integrity: &Integrity, below: u64) -> u64 {
    tagged(below, integrity.sector.0, integrity.tag.size() as u64)
}

/// What is left where every sector comes with a tag.
const fn tagged(below: u64, sector: u64, tag: u64) -> u64 {
    if sector == 0 { below } else { below / (sector + tag) * sector }
}

fn lvm_upper(lvm: &Lvm, sizes: &[u64], least: u64, sum: u64) -> u64 {
    let count = sizes.len() as u64;
    match lvm.volume {
        Volume::Linear => sum,
        Volume::Striped => least.saturating_mul(count),
        Volume::Raid1 => least,
        Volume::Raid10 => least.saturating_mul(count) / 2,
        Volume::Raid5 => least.saturating_mul(count.saturating_sub(1)),
        Volume::Raid6 => least.saturating_mul(count.saturating_sub(2)),
    }
}

fn zfs_upper(zfs: &Zfs, count: u64, least: u64, sum: u64) -> u64 {
    let parity = match zfs.layout {
        // Compressed data may be larger than the pool.
        _ if zfs.compression != terms::layer::ZfsCompression::Off => return 64 * TIB,
        ZfsLayout::Stripe => return sum,
        ZfsLayout::Mirror => return least,
        ZfsLayout::Raidz1 => 1,
        ZfsLayout::Raidz2 => 2,
        ZfsLayout::Raidz3 => 3,
    };
    least.saturating_mul(count.saturating_sub(parity))
}
