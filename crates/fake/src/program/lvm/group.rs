//! Volume groups as they stand on their physical volumes, and the devices that their volumes are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use terms::plan::mapping_of_volume;

use super::bad;
use crate::device::{Kind, Leg, Piece, Spread, Tags, Target};
use crate::program::crypt::add_mapping;
use crate::program::{Did, Reply, done};
use crate::raid::Level;
use crate::state::State;

/// Where a group's metadata lie on each of its devices, and where extents begin.
pub(super) const fn area() -> u64 {
    8 << 10
}
const FIRST: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) extent: u64,
    pub(super) physical: Vec<Physical>,
    pub(super) volumes: Vec<Logical>,
    /// Counts changes.
    pub(super) version: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Physical {
    pub(super) uuid: String,
    pub(super) extents: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Logical {
    pub(super) name: String,
    /// `linear`, `striped`, `raid1`, `thin-pool`, `thin`, `snapshot`.
    pub(super) kind: String,
    pub(super) chunk: u64,
    /// Extents of each leg.
    pub(super) legs: Vec<Vec<Extents>>,
    /// Those of the legs' own metadata, and of their checksums.
    pub(super) beside: Vec<Vec<Extents>>,
    /// Legs have checksums.
    pub(super) tagged: bool,
    /// The pool that it is in, the volume that it is a snapshot of.
    pub(super) of: Option<String>,
    /// The volume that caches it.
    pub(super) cache: Option<String>,
    /// Bytes, where that is not what its extents have.
    pub(super) size: Option<u64>,
    /// Sectors in which the last check found a difference.
    pub(super) mismatches: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Extents {
    /// UUID of the physical volume.
    pub(super) on: String,
    pub(super) first: u64,
    pub(super) count: u64,
}

impl Group {
    /// Extents of a device that no volume has.
    pub(super) fn free(&self, on: &Physical) -> u64 {
        on.extents.saturating_sub(self.first_free(&on.uuid))
    }

    fn first_free(&self, on: &str) -> u64 {
        let all = self.volumes.iter().flat_map(|volume| volume.legs.iter().chain(&volume.beside)).flatten();
        all.filter(|extents| extents.on == on).map(|extents| extents.first + extents.count).max().unwrap_or(0)
    }

    pub(super) fn take(&self, on: &Physical, count: u64, behind: u64) -> Extents {
        Extents { on: on.uuid.clone(), first: self.first_free(&on.uuid) + behind, count }
    }

    pub(super) fn volume(&mut self, name: &str) -> Result<&mut Logical, Reply> {
        let missing = bad(format!("Failed to find logical volume \"{}/{name}\"", self.name));
        self.volumes.iter_mut().find(|volume| volume.name == name).ok_or(missing)
    }

    pub(super) fn mapping(&self, volume: &str) -> String {
        mapping_of_volume(&self.name, volume)
    }
}

impl State {
    /// Physical volumes that are there: their identifiers by kernel name.
    pub(super) fn physicals(&mut self) -> BTreeMap<String, String> {
        let names: Vec<String> = self.devices.keys().cloned().collect();
        names.into_iter().filter_map(|name| self.physical(&name).map(|uuid| (name, uuid))).collect()
    }

    /// All groups, each by its newest metadata.
    pub(super) fn groups(&mut self) -> BTreeMap<String, Group> {
        let mut found: BTreeMap<String, Group> = BTreeMap::new();
        for name in self.physicals().into_keys() {
            let Some(group) = self.metadata(&name) else { continue };
            if found.get(&group.name).is_none_or(|known| known.version < group.version) {
                found.insert(group.name.clone(), group);
            }
        }
        found
    }

    fn metadata(&mut self, name: &str) -> Option<Group> {
        let length = u64::from_le_bytes(self.read(name, area(), 8).ok()?.try_into().ok()?);
        serde_json::from_slice(&self.read(name, area() + 8, length.min(FIRST)).ok()?).ok()
    }

    pub(super) fn group(&mut self, name: &str) -> Result<Group, Reply> {
        self.groups().remove(name).ok_or_else(|| bad(format!("Volume group \"{name}\" not found")))
    }

    /// A group that is to be changed: refused while devices of it are not there (lvm2, lib/metadata/metadata.c,
    /// `vg_missing_pv_count`).
    pub(super) fn whole_group(&mut self, name: &str) -> Result<Group, Reply> {
        let group = self.group(name)?;
        let here: Vec<String> = self.physicals().into_values().collect();
        match group.physical.iter().all(|of| here.contains(&of.uuid)) {
            true => Ok(group),
            false => Err(bad(format!("Cannot change VG {name} while PVs are missing."))),
        }
    }

    /// Writes a group's metadata to all of its devices that are there.
    pub(super) fn put_group(&mut self, group: &mut Group) -> Did {
        group.version += 1;
        let text = serde_json::to_vec(group).map_err(|error| bad(error.to_string()))?;
        let bytes = [&(text.len() as u64).to_le_bytes()[..], &text].concat();
        for (name, uuid) in self.physicals() {
            if group.physical.iter().any(|of| of.uuid == uuid) {
                self.write(&name, area(), &bytes).map_err(|error| bad(error.to_string()))?;
            }
        }
        done()
    }

    fn pieces(&mut self, group: &Group, extents: &[Extents]) -> Vec<Piece> {
        let here = self.physicals();
        let of = |on: &str| here.iter().find(|(_, uuid)| *uuid == on).map_or(String::new(), |(name, _)| name.clone());
        let piece = |extents: &Extents| Piece {
            of: of(&extents.on),
            start: FIRST + extents.first * group.extent,
            length: extents.count * group.extent,
        };
        extents.iter().map(piece).collect()
    }

    fn add_volume(&mut self, group: &Group, name: &str, size: u64, target: Target) -> String {
        let block = |name: &String| self.devices.get(name).map_or(512, |device| device.block);
        let below = match &target {
            Target::Linear(pieces) => pieces.iter().map(|piece| piece.of.clone()).collect(),
            Target::Spread(spread) => spread.legs.iter().map(|leg| leg.device.clone()).collect(),
            Target::Integrity(tags) => vec![tags.of.clone()],
            Target::Crypt { of, .. } | Target::Writecache { of, .. } => vec![of.clone()],
            Target::Frozen { of, .. } => of.clone(),
        };
        let block = below.iter().map(block).max().unwrap_or(512);
        let mapping = group.mapping(name);
        add_mapping(self, &mapping, &format!("LVM-{mapping}"), size, block, target)
    }

    fn add_linear(&mut self, group: &Group, name: &str, extents: &[Extents]) -> String {
        let size = extents.iter().map(|extents| extents.count * group.extent).sum();
        let pieces = self.pieces(group, extents);
        self.add_volume(group, name, size, Target::Linear(pieces))
    }

    /// Makes the devices of a volume.
    pub(super) fn activate(&mut self, group: &Group, volume: &Logical) {
        let name = &volume.name;
        let node = match (volume.kind.as_str(), &volume.of) {
            ("thin", Some(pool)) => {
                let of = self.device_at(&format!("/dev/mapper/{}-tpool", group.mapping(pool))).unwrap_or_default();
                let size = volume.size.unwrap_or(0).min(self.size(&of));
                self.add_volume(group, name, size, Target::Linear(vec![Piece { of, start: 0, length: size }]))
            }
            ("snapshot", Some(origin)) => {
                let of = self.device_at(&format!("/dev/mapper/{}", group.mapping(origin))).unwrap_or_default();
                let (size, store) = (self.size(&of), self.copied(&of));
                let of = if volume.legs.is_empty() {
                    self.devices[&of].below()
                } else {
                    self.split_origin(group, volume, &of)
                };
                self.add_volume(group, name, size, Target::Frozen { of, store })
            }
            ("thin-pool", _) => {
                self.add_linear(group, &format!("{name}_tmeta"), &volume.beside[0]);
                let of = self.add_legs(group, volume, &format!("{name}_tdata"));
                let pool = format!("{}-tpool", group.mapping(name));
                let of = self.add_over(&pool, &of);
                self.add_over(&group.mapping(name), &of)
            }
            _ => self.add_legs(group, volume, name),
        };
        if volume.kind != "thin-pool" {
            self.links.insert(format!("/dev/{}/{name}", group.name), node);
        }
    }

    /// A mapping that is all of another device.
    fn add_over(&mut self, name: &str, of: &str) -> String {
        let (length, block) = (self.size(of), self.devices.get(of).map_or(512, |device| device.block));
        let piece = Piece { of: of.to_owned(), start: 0, length };
        add_mapping(self, name, &format!("LVM-{name}"), length, block, Target::Linear(vec![piece]))
    }

    /// The origin of a snapshot outside a pool goes down by one, and what the snapshot keeps has a device of its own
    /// (lvm2, `-real` and `-cow`). Gives what the snapshot rests on.
    fn split_origin(&mut self, group: &Group, volume: &Logical, top: &str) -> Vec<String> {
        let origin = group.mapping(volume.of.as_deref().unwrap_or_default());
        let real = format!("{origin}-real");
        let below = match self.device_at(&format!("/dev/mapper/{real}")) {
            Some(below) => below,
            None => self.push_down(top, &real),
        };
        let pieces = self.pieces(group, &volume.legs.concat());
        let cow = format!("{}-cow", group.mapping(&volume.name));
        let size = pieces.iter().map(|piece| piece.length).sum();
        vec![below, add_mapping(self, &cow, &format!("LVM-{cow}"), size, 512, Target::Linear(pieces))]
    }

    /// What a mapping is made of becomes a mapping of its own beneath it.
    pub(super) fn push_down(&mut self, top: &str, name: &str) -> String {
        let (size, block) = (self.size(top), self.devices[top].block);
        let Some(Kind::Mapping(mapping)) = self.devices.get(top).map(|device| device.kind.clone()) else {
            return String::new();
        };
        let below = add_mapping(self, name, &format!("LVM-{name}"), size, block, mapping.target);
        self.set_target(top, Target::Linear(vec![Piece { of: below.clone(), start: 0, length: size }]));
        below
    }

    /// And back.
    pub(super) fn pull_up(&mut self, top: &str, name: &str) {
        let Some(below) = self.device_at(&format!("/dev/mapper/{name}")) else { return };
        if let Some(Kind::Mapping(mapping)) = self.devices.get(&below).map(|device| device.kind.clone()) {
            self.set_target(top, mapping.target);
        }
        self.remove(&below);
    }

    pub(super) fn set_target(&mut self, node: &str, target: Target) {
        if let Some(Kind::Mapping(mapping)) = self.devices.get_mut(node).map(|device| &mut device.kind) {
            mapping.target = target;
        }
    }

    /// Everything that a device holds, as it is now.
    fn copied(&mut self, of: &str) -> crate::store::Store {
        const STEP: u64 = 1 << 20;
        let mut store = crate::store::Store::default();
        for at in (0..self.size(of)).step_by(STEP as usize) {
            let length = STEP.min(self.size(of) - at);
            if !self.is_blank(of, at, length) {
                store.write(at, &self.read(of, at, length).unwrap_or_default());
            }
        }
        store
    }

    fn add_legs(&mut self, group: &Group, volume: &Logical, name: &str) -> String {
        let extents = |leg: &Vec<Extents>| leg.iter().map(|extents| extents.count).sum::<u64>();
        let size = volume.legs.iter().map(extents).min().unwrap_or(0) * group.extent;
        match Level::parse(&volume.kind) {
            Some(Level::Stripe) => {
                let pieces: Vec<Piece> = volume.legs.iter().flat_map(|leg| self.pieces(group, leg)).collect();
                // Legs lie on their devices at places of their own: each is a mapping here, which real stripes need not.
                let legs: Vec<String> = pieces
                    .into_iter()
                    .enumerate()
                    .map(|(number, piece)| {
                        self.add_volume(
                            group,
                            &format!("{name}_rimage_{number}"),
                            piece.length,
                            Target::Linear(vec![piece]),
                        )
                    })
                    .collect();
                let spread = Spread::new(Level::Stripe, volume.chunk, &legs);
                self.add_volume(group, name, size * legs.len() as u64, Target::Spread(spread))
            }
            Some(level) => {
                let legs: Vec<String> = (0..volume.legs.len()).map(|leg| self.make_leg(group, volume, leg)).collect();
                let spread = Spread::new(level, volume.chunk, &legs);
                let size = level.size(legs.len(), size / volume.chunk * volume.chunk);
                self.add_volume(group, name, size, Target::Spread(spread))
            }
            None => self.add_linear(group, name, &volume.legs.concat()),
        }
    }

    /// Makes the devices of one leg.
    pub(super) fn make_leg(&mut self, group: &Group, volume: &Logical, number: usize) -> String {
        let name = &volume.name;
        self.add_linear(group, &format!("{name}_rmeta_{number}"), &volume.beside[number][..1]);
        let image = self.add_linear(group, &format!("{name}_rimage_{number}"), &volume.legs[number]);
        if volume.tagged {
            self.protect_leg(group, volume, number, 4096);
        }
        image
    }

    /// Puts checksums between the legs of a volume that is active and their extents.
    pub(super) fn protect(&mut self, group: &Group, volume: &Logical, block: u64) {
        (0..volume.legs.len()).for_each(|leg| self.protect_leg(group, volume, leg, block));
    }

    fn protect_leg(&mut self, group: &Group, volume: &Logical, number: usize, block: u64) {
        let image = format!("{}_rimage_{number}", volume.name);
        let Some(node) = self.device_at(&format!("/dev/mapper/{}", group.mapping(&image))) else { return };
        let of = self.add_linear(group, &format!("{image}_iorig"), &volume.legs[number]);
        let meta = self.add_linear(group, &format!("{image}_imeta"), &volume.beside[number][1..]);
        let size = self.size(&meta);
        let _ = self.erase(&meta, 0, size);
        let (size, old) = (self.size(&of), self.copied(&of));
        self.set_target(&node, Target::Integrity(Tags { of, start: 0, block, tag: 4, apart: Some(meta) }));
        // Checksums of what was there before are made by a synchronisation (lvmraid(7), "Integrity").
        for at in (0..size).step_by(1 << 20) {
            let length = (1 << 20).min(size - at);
            if !old.is_zero(at, length) {
                let _ = self.write(&node, at, &old.read(at, length as usize));
            }
        }
    }

    /// Devices of a volume and of its parts, the topmost first.
    pub(super) fn nodes_of(&self, group: &Group, volume: &str) -> Vec<String> {
        let own = format!("/dev/mapper/{}", group.mapping(volume));
        let inner =
            |rest: &str| rest.is_empty() || rest.starts_with('_') || ["-tpool", "-real", "-cow"].contains(&rest);
        let is_part = |path: &str| path.strip_prefix(&own).is_some_and(inner);
        let mut nodes: Vec<String> =
            self.links.iter().filter(|(path, _)| is_part(path)).map(|(_, of)| of.clone()).collect();
        let depth = |name: &String| self.depth(name);
        nodes.sort_by_key(|name| std::cmp::Reverse(depth(name)));
        nodes
    }

    fn depth(&self, name: &str) -> usize {
        self.devices.get(name).map_or(0, |device| device.below().iter().map(|of| self.depth(of) + 1).max().unwrap_or(0))
    }

    /// The legs of a volume's device.
    pub(super) fn legs_of(&mut self, node: &str) -> Option<&mut Vec<Leg>> {
        match &mut self.devices.get_mut(node)?.kind {
            Kind::Mapping(mapping) => match &mut mapping.target {
                Target::Spread(spread) => Some(&mut spread.legs),
                _ => None,
            },
            _ => None,
        }
    }
}
