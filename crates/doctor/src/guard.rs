//! What no remedy may do, whatever the check that thought of it: repair what repairs itself, take redundancy from what has
//! lost some, or lose more than it says. Every finding goes through here on its way out.

use std::collections::{BTreeMap, BTreeSet};

use terms::diagnosis::Place;

use crate::condition::Condition;
use crate::group::{Group, groups};
use crate::machine::{Machine, drive_place, place};
use crate::remedy::{Effect, Found, Loses};

/// Groups of a machine, and which devices a place is.
#[derive(Debug)]
pub(crate) struct Guard<'a> {
    groups: Vec<Group<'a>>,
    /// Which of them are at a place, and which a device is below or stands on.
    at: BTreeMap<Place, Vec<usize>>,
    of: BTreeMap<&'a str, Vec<usize>>,
    places: BTreeMap<Place, BTreeSet<&'a str>>,
}

impl<'a> Guard<'a> {
    pub(crate) fn new(machine: &Machine<'a>) -> Self {
        let groups = groups(machine);
        let mut at: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
        let mut of: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, group) in groups.iter().enumerate() {
            for place in std::iter::once(&group.place).chain(&group.parts) {
                at.entry(place.clone()).or_default().push(number);
            }
            for name in group.below.union(&group.above) {
                of.entry(*name).or_default().push(number);
            }
        }
        Self { groups, at, of, places: places(machine) }
    }

    /// A finding with a remedy that keeps to the rules. A place of which nobody knows what it is may be any.
    pub(crate) fn pass(&self, mut found: Found) -> Found {
        let none = BTreeSet::new();
        let devices = self.places.get(&found.place);
        let own = self.at.get(&found.place);
        let is_known = devices.is_some() || own.is_some();
        let devices = devices.unwrap_or(&none);
        let touched = devices.iter().filter_map(|name| self.of.get(name)).chain(own).flatten().copied();
        let concerned: BTreeSet<usize> = if is_known { touched.collect() } else { (0..self.groups.len()).collect() };
        for group in concerned.into_iter().filter_map(|number| self.groups.get(number)) {
            withhold(&mut found, group, devices);
            say_more(&mut found, group, devices);
            keep_in_place(&mut found, group, devices);
        }
        found
    }
}

impl Group<'_> {
    /// Is a place the group, or a part of it?
    fn is_at(&self, place: &Place) -> bool {
        self.place == *place || self.parts.contains(place)
    }
}

/// Devices by the places that findings name.
fn places<'a>(machine: &Machine<'a>) -> BTreeMap<Place, BTreeSet<&'a str>> {
    let mut all: BTreeMap<Place, BTreeSet<&str>> = BTreeMap::new();
    let mut add = |place: Place, device: &'a str| {
        all.entry(place).or_default().insert(device);
    };
    for node in &machine.detail.nodes {
        add(place(node), &node.name);
    }
    for drive in &machine.inventory.drives {
        add(drive_place(drive), &drive.kernel_name);
        for controller in
            drive.detail.iter().filter_map(|detail| detail.nvme.as_ref()).flat_map(|nvme| &nvme.controllers)
        {
            add(Place::new("controller", controller), &drive.kernel_name);
        }
    }
    for group in machine.detail.volume_groups.known().into_iter().flatten() {
        for (physical, node) in group.physical.iter().filter_map(|physical| Some((physical, physical.node.as_ref()?))) {
            add(Place::new("physical volume", &physical.device), node);
            add(Place::new("volume group", &group.name), node);
        }
    }
    for system in &machine.detail.file_systems {
        system.nodes.iter().for_each(|node| add(crate::machine::system_place(machine, system), node));
    }
    all
}

/// Is anything done to a member of a group, and not to the group?
fn is_to_member(found: &Found, group: &Group<'_>, devices: &BTreeSet<&str>) -> bool {
    !group.is_at(&found.place) && devices.iter().any(|name| group.below.contains(name))
}

/// Takes away steps that must not be taken while a group is as it is, and with them all other changes of the remedy: a
/// half of one is worse than none.
fn withhold(found: &mut Found, group: &Group<'_>, devices: &BTreeSet<&str>) {
    let own = group.is_at(&found.place);
    let member = is_to_member(found, group, devices);
    let allowed = |loses: &Loses| match (group.condition, loses) {
        (None, Loses::Data(_)) => !(member && group.survives),
        (None, _) => true,
        (Some(Condition::Filling), loses) => !own && *loses == Loses::Nothing,
        (Some(Condition::Short), loses) => matches!(loses, Loses::Nothing | Loses::Brought(_)),
        (Some(Condition::Failed), _) => false,
    };
    if found.steps.iter().all(|step| !matches!(&step.effect, Effect::Changes(loses) if !allowed(loses))) {
        return;
    }
    found.steps.retain(|step| !matches!(&step.effect, Effect::Changes(_)));
    let at = &group.place;
    let first = match group.condition {
        Some(Condition::Filling) => format!("First let the {at} finish what it does or waits for: it repairs itself."),
        Some(Condition::Short) => {
            format!("First make the {at} whole: it has lost redundancy, and this would take more.")
        }
        Some(Condition::Failed) => {
            format!("First save what is on the {at}: it has lost more members than it can do without.")
        }
        None => format!(
            "It is a part of the {at}: done to one member it takes redundancy away, done to all of them it takes everything. So copy \
             what is there elsewhere and take it apart first."
        ),
    };
    found.advice = format!("{first} {}", found.advice).trim_end().to_owned();
}

/// A drive that fails stays where it is while others of its group are missing or filled: it holds what they lack.
fn keep_in_place(found: &mut Found, group: &Group<'_>, devices: &BTreeSet<&str>) {
    let holds_copies = devices.iter().any(|device| group.below.contains(device) && !group.absent.contains(device));
    if found.replaces && holds_copies && group.condition.is_some() && is_to_member(found, group, devices) {
        let place = &group.place;
        let first = format!(
            "The {place} is not whole, and this drive may hold the only copy of what it lacks: take it out of nothing before it is."
        );
        // A test that reads all of it may be its last.
        let tests = found.steps.iter().any(|step| matches!(step.effect, Effect::Changes(_)));
        found.steps.retain(|step| !matches!(step.effect, Effect::Changes(_)));
        let then = if tests { "Copy what matters off it before anything reads all of it." } else { &found.advice };
        found.advice = format!("{first} {then}");
    }
}

/// What is lost on a device is lost for what the device is a part of.
fn say_more(found: &mut Found, group: &Group<'_>, devices: &BTreeSet<&str>) {
    if !is_to_member(found, group, devices) {
        return;
    }
    for step in &mut found.steps {
        if let Effect::Changes(Loses::Data(what)) = &mut step.effect {
            what.push_str(&format!(", and with it what the {} has there", group.place));
        }
    }
}
