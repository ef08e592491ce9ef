//! Things with several members: what they are made of, whether all of it is there, whether they survive a loss.

use std::collections::BTreeSet;

use terms::diagnosis::Place;
use terms::inventory::{BtrfsState, FileSystem, Pool, Vdev};

use crate::condition::{Condition, array_condition, filled_members, holds_nothing, mapped_condition, resilvers};
use crate::machine::{Machine, device_place, place, system_place};
use crate::redundancy::{of_level, of_profile, of_vdev};

/// An array, a pool, a btrfs on several devices, a volume group.
#[derive(Debug, Clone)]
pub(crate) struct Group<'a> {
    pub(crate) place: Place,
    /// Places of its parts: members, devices, virtual devices, datasets.
    pub(crate) parts: Vec<Place>,
    /// Kernel names of what it consists of, all the way down.
    pub(crate) below: BTreeSet<&'a str>,
    /// Kernel names of itself and what stands on it.
    pub(crate) above: BTreeSet<&'a str>,
    /// Does it survive the loss of any one member while it is whole?
    pub(crate) survives: bool,
    pub(crate) condition: Option<Condition>,
    /// Kernel names of what is written anew, all the way down, where that is told of a part.
    pub(crate) filled: Option<BTreeSet<&'a str>>,
    /// Kernel names of what holds no copy, all the way down: what failed, was taken out or waits as a spare.
    pub(crate) absent: BTreeSet<&'a str>,
}

impl Group<'_> {
    /// May all of a device be written now? Of a group that lacks a member nobody knows what fills its place.
    pub(crate) fn may_fill(&self, name: &str) -> bool {
        self.condition.is_some() && self.filled.as_ref().is_none_or(|filled| filled.contains(name))
    }
}

/// Names of devices and of what is below them; `None` where there are none.
fn all_below<'a>(machine: &Machine<'a>, names: impl Iterator<Item = &'a str>) -> Option<BTreeSet<&'a str>> {
    let all: BTreeSet<&str> = names.flat_map(|name| machine.names_below(name)).collect();
    Some(all).filter(|all| !all.is_empty())
}

/// Leaves of a virtual device.
pub(crate) fn leaves<'a>(vdev: &'a Vdev, found: &mut Vec<&'a Vdev>) {
    if vdev.children.is_empty() {
        found.push(vdev);
    }
    vdev.children.iter().for_each(|child| leaves(child, found));
}

/// All of a machine.
pub(crate) fn groups<'a>(machine: &Machine<'a>) -> Vec<Group<'a>> {
    let mut all: Vec<Group<'a>> = Vec::new();
    for node in &machine.detail.nodes {
        let (survives, condition, parts, filled) = if let Some(md) = &node.md {
            let devices = md.devices.known().copied().unwrap_or(0);
            let label = node.label.as_deref().unwrap_or(&node.name);
            let parts = md.members.iter().map(|member| Place::new("member", format!("{} of {label}", member.device)));
            let filled = all_below(
                machine,
                filled_members(md).into_iter().filter_map(|name| Some(machine.node(name)?.name.as_str())),
            );
            (of_level(&md.level, devices).is_some_and(|lose| lose > 0), array_condition(md), parts.collect(), filled)
        } else if let Some(raid) = machine.raid_of(node) {
            let images = raid.health.known().map_or(0, |health| u32::try_from(health.len()).unwrap_or(u32::MAX));
            (of_level(&raid.level, images).is_some_and(|lose| lose > 0), mapped_condition(raid), Vec::new(), None)
        } else {
            continue;
        };
        let out = node.md.iter().flat_map(|md| &md.members).filter(|member| holds_nothing(member));
        let absent = out.flat_map(|member| machine.names_below(&member.device)).collect();
        let mut below = machine.names_below(&node.name);
        below.remove(node.name.as_str());
        all.push(Group {
            place: place(node),
            parts,
            below,
            above: machine.names_above(&node.name),
            survives,
            condition,
            filled,
            absent,
        });
    }
    all.extend(machine.detail.pools.known().into_iter().flatten().map(|pool| of_pool(machine, pool)));
    for system in &machine.detail.file_systems {
        if let Some(btrfs) = system.btrfs.as_ref().filter(|_| system.nodes.len() > 1) {
            all.push(of_btrfs(machine, system, btrfs));
        }
    }
    for group in machine.detail.volume_groups.known().into_iter().flatten() {
        let nodes: Vec<&str> = group.physical.iter().filter_map(|physical| physical.node.as_deref()).collect();
        let volumes =
            group.logical.iter().map(|volume| Place::new("volume", format!("{}/{}", group.name, volume.name)));
        all.push(Group {
            place: Place::new("volume group", &group.name),
            parts: volumes.collect(),
            below: nodes.iter().flat_map(|node| machine.names_below(node)).collect(),
            above: group.logical.iter().filter_map(|volume| volume.node.as_deref()).collect(),
            survives: false,
            condition: (group.missing > 0).then_some(Condition::Short),
            filled: None,
            absent: BTreeSet::new(),
        });
    }
    all
}

fn of_pool<'a>(machine: &Machine<'a>, pool: &'a Pool) -> Group<'a> {
    let vdevs = pool.vdevs.known().map_or(&[][..], Vec::as_slice);
    let mut all = Vec::new();
    vdevs.iter().for_each(|vdev| leaves(vdev, &mut all));
    let nodes = all.iter().filter_map(|leaf| leaf.node.as_deref());
    let datasets = pool.datasets.known().into_iter().flatten().map(|dataset| Place::new("dataset", &dataset.name));
    let devices = vdevs.iter().map(|vdev| Place::new("virtual device", format!("{} of {}", vdev.name, pool.name)));
    let needed = |vdev: &&Vdev| ["data", "special", "dedup"].contains(&vdev.class.as_str());
    let here = ["ONLINE", "AVAIL", "INUSE", ""];
    let is_short =
        !["ONLINE", ""].contains(&pool.state.as_str()) || all.iter().any(|leaf| !here.contains(&leaf.state.as_str()));
    Group {
        place: Place::new("pool", &pool.name),
        parts: devices.chain(datasets).collect(),
        below: nodes.flat_map(|node| machine.names_below(node)).collect(),
        above: BTreeSet::new(),
        survives: !vdevs.is_empty() && vdevs.iter().filter(needed).all(|vdev| of_vdev(vdev) > 0),
        filled: all_below(machine, all.iter().filter(|leaf| leaf.filled).filter_map(|leaf| leaf.node.as_deref())),
        absent: all
            .iter()
            .filter(|leaf| leaf.filled || !["ONLINE", "DEGRADED", ""].contains(&leaf.state.as_str()))
            .filter_map(|leaf| leaf.node.as_deref())
            .flat_map(|node| machine.names_below(node))
            .collect(),
        condition: if resilvers(pool) { Some(Condition::Filling) } else { is_short.then_some(Condition::Short) },
    }
}

fn of_btrfs<'a>(machine: &Machine<'a>, system: &'a FileSystem, btrfs: &BtrfsState) -> Group<'a> {
    let profiles = btrfs.profiles.known().into_iter().flat_map(|profiles| profiles.values().flatten());
    let mut tolerances = profiles.map(|name| of_profile(name).map_or(0, |profile| profile.may_lose)).peekable();
    let operation = btrfs.operation.known().and_then(Option::as_deref);
    let is_short = btrfs.devices.iter().any(|device| device.missing.known() == Some(&true));
    let at_work = ["balance", "device replace", "device remove"];
    let target = system.targets.first().map_or("TARGET", String::as_str);
    let parts = btrfs.devices.iter().map(|device| device_place(machine, device, target));
    Group {
        place: system_place(machine, system),
        parts: parts.collect(),
        below: system.nodes.iter().flat_map(|node| machine.names_below(node)).collect(),
        above: BTreeSet::new(),
        survives: tolerances.peek().is_some() && tolerances.all(|lose| lose > 0),
        filled: None,
        absent: BTreeSet::new(),
        condition: if operation.is_some_and(|operation| at_work.contains(&operation)) {
            Some(Condition::Filling)
        } else {
            is_short.then_some(Condition::Short)
        },
    }
}
