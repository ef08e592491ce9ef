//! btrfs: profiles, devices, mount options.

use std::collections::BTreeMap;

use terms::diagnosis::Place;
use terms::inventory::{Btrfs, FileSystem};

use super::mount::system_place;
use crate::check::{Check, Error, Round, Warning, finding};
use crate::machine::Machine;
use crate::words::{count, list, number};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "btrfs-metadata-single",
        severity: Warning,
        looks_at: "directories below `/sys/fs/btrfs/*/allocation/{metadata,system}`",
        rule: "`single`, `dup` or `raid0` on several devices",
        fixes: false,
        look: metadata,
    },
    Check {
        id: "btrfs-parity",
        severity: Error,
        looks_at: "directories below `/sys/fs/btrfs/*/allocation`",
        rule: "`raid5` or `raid6` for data (warning) or metadata (error)",
        fixes: false,
        look: parity,
    },
    Check {
        id: "btrfs-mixed-profiles",
        severity: Error,
        looks_at: "directories below `/sys/fs/btrfs/*/allocation`",
        rule: "one kind of block has several profiles: a balance was never finished",
        fixes: false,
        look: mixed,
    },
    Check {
        id: "btrfs-no-checksums",
        severity: Warning,
        looks_at: "options in `/proc/self/mountinfo`",
        rule: "`nodatacow` or `nodatasum`",
        fixes: false,
        look: checksums,
    },
    Check {
        id: "btrfs-device-errors",
        severity: Error,
        looks_at: "`/sys/fs/btrfs/*/devinfo/*/error_stats`, `btrfs device stats`",
        rule: "a counter is not 0; they stay until somebody resets them",
        fixes: false,
        look: errors,
    },
    Check {
        id: "btrfs-device-missing",
        severity: Error,
        looks_at: "`/sys/fs/btrfs/*/devinfo/*/missing`",
        rule: "a device is missing",
        fixes: false,
        look: missing,
    },
];

/// Every btrfs that is mounted.
fn each<'a>(machine: &Machine<'a>) -> impl Iterator<Item = (&'a FileSystem, &'a Btrfs, Place)> {
    let systems = machine.detail.file_systems.iter();
    systems.filter_map(|system| Some((system, system.btrfs.as_ref()?, system_place(system))))
}

fn target(system: &FileSystem) -> &str {
    system.targets.first().map_or("TARGET", String::as_str)
}

fn allocation(system: &FileSystem) -> String {
    format!("/sys/fs/btrfs/{}/allocation", system.uuid.as_deref().unwrap_or("UUID"))
}

fn shown(profiles: &BTreeMap<String, Vec<String>>) -> String {
    profiles.iter().map(|(kind, found)| format!("{kind} {}", found.join("+"))).collect::<Vec<_>>().join(", ")
}

fn metadata(machine: &Machine, round: &mut Round) {
    for (system, btrfs, at) in each(machine) {
        let devices = btrfs.devices.len().max(system.nodes.len());
        if devices < 2 {
            continue;
        }
        round.look();
        let Some(profiles) = round.ask(&at, &btrfs.profiles) else { continue };
        let weak = |kind: &&str| {
            let found = profiles.get(*kind).map(Vec::as_slice).unwrap_or_default();
            found.iter().any(|profile| ["single", "dup", "raid0"].contains(&profile.as_str()))
        };
        let kinds: Vec<&str> = ["metadata", "system"].into_iter().filter(weak).collect();
        if kinds.is_empty() {
            continue;
        }
        round.find(
            finding(
                Warning,
                &at,
                format!("{} survive the loss of no device", list(&kinds)),
                format!(
                    "any 1 of {} that is lost takes the whole file system with it",
                    count(number(devices), "device")
                ),
            )
            .seen(allocation(system), shown(profiles))
            .mend("Convert it while it is mounted.")
            .run(format!("btrfs balance start -mconvert=raid1 {}", target(system))),
        );
    }
}

fn parity(machine: &Machine, round: &mut Round) {
    for (system, btrfs, at) in each(machine) {
        round.look();
        let Some(profiles) = round.ask(&at, &btrfs.profiles) else { continue };
        let has = |kind: &str| {
            let found = profiles.get(kind).map(Vec::as_slice).unwrap_or_default();
            found.iter().any(|profile| ["raid5", "raid6"].contains(&profile.as_str()))
        };
        let in_metadata = has("metadata") || has("system");
        if !in_metadata && !has("data") {
            continue;
        }
        let severity = if in_metadata { Error } else { Warning };
        let found = finding(
            severity,
            &at,
            format!("{} has parity", if in_metadata { "metadata" } else { "data" }),
            "the write hole is open: 1 crash and then 1 lost device may lose what was not being written; its own documentation advises \
             against it for metadata",
        )
        .seen(allocation(system), shown(profiles))
        .mend("Keep metadata in several copies; scrub after every crash, before a device is replaced.")
        .run(format!("btrfs balance start -mconvert=raid1c3 {}", target(system)));
        round.find(found);
    }
}

fn mixed(machine: &Machine, round: &mut Round) {
    for (system, btrfs, at) in each(machine) {
        round.look();
        let Some(profiles) = round.ask(&at, &btrfs.profiles) else { continue };
        let Some((kind, found)) = profiles.iter().find(|(_, found)| found.len() > 1) else { continue };
        round.find(
            finding(
                Error,
                &at,
                format!("{kind} is partly {}", list(found)),
                format!(
                    "{} profiles: some of it has less redundancy than was wanted, and nothing tells which",
                    found.len()
                ),
            )
            .seen(allocation(system), shown(profiles))
            .mend("Finish the conversion.")
            .run(format!(
                "btrfs balance start -{}convert={},soft {}",
                kind.chars().next().unwrap_or('d'),
                found.last().map_or("raid1", String::as_str),
                target(system)
            )),
        );
    }
}

fn checksums(machine: &Machine, round: &mut Round) {
    for mount in round.ask(&Place::machine(), &machine.detail.mounts).into_iter().flatten() {
        if mount.kind != "btrfs" {
            continue;
        }
        round.look();
        let off = |option: &&String| ["nodatacow", "nodatasum"].contains(&option.as_str());
        let Some(option) = mount.options.iter().find(off) else { continue };
        round.find(
            finding(
                Warning,
                &Place::new("file system", format!("{} (btrfs)", mount.target)),
                format!("mounted with `{option}`"),
                "0 checksums on what is written anew: bad blocks are read as good ones, and a mirror does not mend them",
            )
            .seen("/proc/self/mountinfo", mount.options.join(","))
            .mend("Take it out of `/etc/fstab` and mount anew; files that were written meanwhile have to be copied. For single files \
                   there is `chattr +C`.")
            .run(format!("umount {0} && mount {0}", mount.target)),
        );
    }
}

fn errors(machine: &Machine, round: &mut Round) {
    for (system, btrfs, _) in each(machine) {
        for device in &btrfs.devices {
            let name = device.node.as_deref().unwrap_or("missing");
            let at = Place::new("device", format!("{} ({name}) of {}", device.id, target(system)));
            round.look();
            let Some(counters) = round.ask(&at, &device.errors) else { continue };
            let bad: Vec<String> = counters
                .iter()
                .filter(|(_, number)| **number > 0)
                .map(|(kind, number)| format!("{kind} {number}"))
                .collect();
            let sum = counters.values().fold(0_u64, |sum, number| sum.saturating_add(*number));
            if bad.is_empty() {
                continue;
            }
            round.find(
                finding(
                    Error,
                    &at,
                    format!("{} since the counters were reset", count(sum, "error")),
                    format!(
                        "{}: each was mended where there is a good copy, and is lost where there is none",
                        list(&bad)
                    ),
                )
                .seen(format!("btrfs device stats {}", target(system)), bad.join(", "))
                .mend("Scrub, ask the drive for its health, then reset the counters to see new ones.")
                .run(format!("btrfs scrub start -B {}", target(system)))
                .run(format!("btrfs device stats --reset {}", target(system))),
            );
        }
    }
}

fn missing(machine: &Machine, round: &mut Round) {
    for (system, btrfs, at) in each(machine) {
        for device in &btrfs.devices {
            round.look();
            if round.ask(&at, &device.missing) != Some(&true) {
                continue;
            }
            let all = count(number(btrfs.devices.len()), "device");
            round.find(
                finding(
                    Error,
                    &at,
                    format!("device {} is missing", device.id),
                    format!("1 of {all}: what has one copy there is lost, all else has a copy less"),
                )
                .seen(
                    format!("/sys/fs/btrfs/{}/devinfo/{}/missing", system.uuid.as_deref().unwrap_or("UUID"), device.id),
                    1,
                )
                .mend("Put another in its place.")
                .run(format!("btrfs replace start {} NEW {}", device.id, target(system)))
                .destroys("everything on the device that is put in its place"),
            );
        }
    }
}
