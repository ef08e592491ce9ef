//! Arrays of LVM of which only `lvs` tells: what its attributes say of their health.

use std::collections::BTreeSet;

use terms::command::quote;
use terms::inventory::{LogicalVolume, VolumeGroup};

use super::lvm::volume_place;
use crate::check::{Brought, Error, Nothing, Round, Warning, finding};
use crate::machine::{Machine, volume};
use crate::remedy::Found;

/// Volumes whose ninth attribute is this letter (lvs(8)), unless the device mapper tells of them itself.
fn with_health<'a>(machine: &'a Machine, round: &mut Round, letter: u8) -> Vec<(&'a VolumeGroup, &'a LogicalVolume)> {
    let asked: BTreeSet<String> = machine.mapped_arrays(round).into_iter().map(|(node, _, _)| volume(node)).collect();
    let groups = machine.detail.volume_groups.known().into_iter().flatten();
    let all = groups.flat_map(|group| group.logical.iter().map(move |volume| (group, volume)));
    let is_one = |(group, own): &(&VolumeGroup, &LogicalVolume)| {
        own.attributes.starts_with(['r', 'R'])
            && own.attributes.as_bytes().get(8) == Some(&letter)
            && !asked.contains(&name(group, own))
    };
    all.filter(is_one).collect()
}

fn name(group: &VolumeGroup, volume: &LogicalVolume) -> String {
    quote(&format!("{}/{}", group.name, volume.name))
}

/// An image of a RAID is on a device that is missing (`vgs` tells of the device).
pub(super) fn without_device(machine: &Machine, round: &mut Round) {
    for (group, own) in with_health(machine, round, b'p') {
        let name = name(group, own);
        round.look();
        let found = finding(
            Error,
            &volume_place(group, own),
            "an image is on a device that is missing",
            "1 image less holds what is on it until the device is back or LVM has put another in its place",
        )
        .seen(format!("lvs -o lv_health_status {name}"), "partial");
        round.find(made_whole(found, &name));
    }
}

/// lvmraid(7): a device that was away for a moment is brought back, one that is gone is replaced.
pub(super) fn made_whole(found: Found, name: &str) -> Found {
    found
        .advise("Find out why. What was away for a moment is brought back; only for what is gone LVM puts another in its place.")
        .look("lvs -a -o +devices,lv_health_status,raid_sync_action")
        .run(Nothing, format!("lvchange --refresh {name}"))
        .run(
            Brought("what is left on the image that is replaced".to_owned()),
            format!("lvconvert --repair {name}"),
        )
}

/// An image could not be written, or was away: it is not used until it is brought up to date.
pub(super) fn left_behind(machine: &Machine, round: &mut Round) {
    for (group, own) in with_health(machine, round, b'r') {
        let name = name(group, own);
        round.look();
        round.find(
            finding(
                Error,
                &volume_place(group, own),
                "an image could not be written, or was away, and is not used any more",
                "1 image less holds what is on it until it is brought up to date",
            )
            .seen(format!("lvs -o lv_health_status {name}"), "refresh needed")
            .advise("See first why, in the kernel's messages and in the health of the drives. A drive that was away for a moment is brought up to date; one that fails is replaced.")
            .look("lvs -a -o +devices,lv_health_status")
            .look("dmesg")
            .run(Nothing, format!("lvchange --refresh {name}")),
        );
    }
}

/// The last check found copies that differ.
pub(super) fn differing(machine: &Machine, round: &mut Round) {
    for (group, own) in with_health(machine, round, b'm') {
        let name = name(group, own);
        round.look();
        round.find(
            finding(Warning, &volume_place(group, own), "copies or parity differ", "1 check or more found places where it cannot tell which is right")
                .seen(format!("lvs -o lv_health_status {name}"), "mismatches exist")
                .advise("Do not repair before it is known which copy is right: `--syncaction repair` believes the first. Count them, then check again; swap space on a mirror is a harmless cause.")
                .look(format!("lvs -o +raid_mismatch_count,raid_sync_action {name}"))
                .run(Nothing, format!("lvchange --syncaction check {name}")),
        );
    }
}
