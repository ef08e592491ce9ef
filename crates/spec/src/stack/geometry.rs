//! Sizes and blocks of every node, as far as the text tells them.
//!
//! Sizes are upper bounds: headers, journals and tables of unknown size are left out, so that "it does not fit" is
//! certain where it is said.

use std::collections::{BTreeMap, HashSet};

use capacity::SizeBounds;
use terms::layer::{GptPartition, PartitionTables};
use terms::{Bytes, Layer, Name, Note, Ref};

use super::grow::Growth;
use crate::lab::Lab;

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
            let sizes = grown.node.on.iter().map(|below| geometry.size(below).map(SizeBounds::exactly));
            let sizes: Option<Vec<SizeBounds>> = sizes.collect();
            let size = sizes.filter(|sizes| !sizes.is_empty() && !grown.broken);
            let size = match &grown.node.layer {
                Layer::Partition(partition) => size.and_then(|_| geometry.partition(&grown.node.on, partition)),
                layer => size.map(|sizes| SizeBounds::of(layer, &sizes).most),
            };
            // Nothing is left where members are missing, which is noted elsewhere.
            let size = size.filter(|size| size.0 > 0);
            let block = geometry.block_below(grown).max(grown.node.layer.traits().sector);
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

    fn size(&self, below: &Ref) -> Option<Bytes> {
        match below {
            Ref::Drive(name) => self.lab.drive(name.as_str()).map(|drive| drive.size).filter(|size| size.0 > 0),
            Ref::Layer(name) => self.nodes.get(name)?.0,
        }
    }

    fn block(&self, below: &Ref) -> Option<Bytes> {
        match below {
            Ref::Drive(name) => self.lab.block(name),
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
            // OpenZFS before 2.3 fails to write, and later versions take another (module/zfs/vdev.c, `vdev_open`).
            Layer::Zfs(zfs) => ("ashift", Bytes(1 << zfs.ashift?)),
            _ => return None,
        };
        let what = if key == "ashift" { "sector" } else { key };
        let below = self.block_below(grown);
        if sector >= below || options.is_wrong(key) {
            return None;
        }
        let place = if options.has(key) { options.place(key) } else { grown.entry.place() };
        let kind = grown.node.layer.kind();
        let right = if key == "ashift" { below.0.ilog2().to_string() } else { format!("\"{below}\"") };
        let label = if options.has(key) { "smaller than the block below" } else { "its default is too small here" };
        Some(
            Note::error(
                "study-sector-below-lba",
                Some(place),
                format!("{kind} has a {what} of {sector} on blocks of {below}"),
            )
            .label(label)
            .hint(format!("write {kind} = {{ {key} = {right} }}")),
        )
    }

    fn least(&self, grown: &Growth<'_, '_>) -> Option<Note> {
        let least = capacity::smallest_device(&grown.node.layer, None)?;
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
            grown.node.layer.shares_drive() && !grown.broken && self.nodes.get(&grown.node.name)?.0.is_none();
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
