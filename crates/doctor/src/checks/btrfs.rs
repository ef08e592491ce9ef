//! btrfs: profiles, devices, mount options.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use terms::Bytes;
use terms::command::quote;
use terms::diagnosis::Place;
use terms::inventory::{BtrfsState, FileSystem};

use crate::check::{Brought, Check, Error, Information, Nothing, Round, Warning, finding};
use crate::machine::{Machine, device_place, system_place};
use crate::redundancy::{PROFILES, Profile, most, of_profile};
use crate::remedy::Found;
use crate::words::{count, float, list, number, percent};

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
        id: "btrfs-metadata-space",
        severity: Error,
        looks_at: "`bytes_used` and `total_bytes` below `/sys/fs/btrfs/*/allocation/metadata`, `global_rsv_size`, \
                   `btrfs filesystem show`",
        rule: "90 % of what is set aside for metadata are used (warning) or 97 % (error), and its devices have too little left for more",
        fixes: false,
        look: metadata_space,
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
        looks_at: "directories below `/sys/fs/btrfs/*/allocation`, `exclusive_operation`",
        rule: "one kind of block has several profiles: a balance was never finished (error), is paused (warning), or is under way \
               (information); a balance is paused whatever the profiles (warning)",
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
        id: "btrfs-scrub",
        severity: Error,
        looks_at: "`btrfs scrub status`",
        rule: "the last scrub found errors that no copy makes up for (error), that one made up for, or of which that is not told (warning)",
        fixes: false,
        look: super::btrfs_scrub::look,
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
pub(super) fn each<'a>(machine: &Machine<'a>) -> impl Iterator<Item = (&'a FileSystem, &'a BtrfsState, Place)> {
    let systems = machine.detail.file_systems.iter();
    systems.filter_map(move |system| Some((system, system.btrfs.as_ref()?, system_place(machine, system))))
}

/// Where it is mounted, as it is typed.
pub(super) fn target(system: &FileSystem) -> String {
    system.targets.first().map_or_else(|| "TARGET".to_owned(), |target| quote(target))
}

fn directory(system: &FileSystem) -> String {
    format!("/sys/fs/btrfs/{}", system.uuid.as_deref().unwrap_or("UUID"))
}

fn allocation(system: &FileSystem) -> String {
    format!("{}/allocation", directory(system))
}

fn shown(profiles: &BTreeMap<String, Vec<String>>) -> String {
    profiles.iter().map(|(kind, found)| format!("{kind} {}", found.join("+"))).collect::<Vec<_>>().join(", ")
}

/// Block groups of a kind.
fn of<'a>(profiles: &'a BTreeMap<String, Vec<String>>, kind: &str) -> &'a [String] {
    profiles.get(kind).map_or(&[], Vec::as_slice)
}

/// Devices that a block can be put on.
fn present(btrfs: &BtrfsState, system: &FileSystem) -> usize {
    let here = btrfs.devices.iter().filter(|device| device.missing.known() != Some(&true)).count();
    if btrfs.devices.is_empty() { system.nodes.len() } else { here }
}

/// The copies that metadata should be kept in: those wanted, or more where what it has survives more, so that no
/// conversion takes redundancy away. `None` where it cannot be told, or there are too few devices.
fn goal(wanted: &str, profiles: &BTreeMap<String, Vec<String>>, devices: usize) -> Option<Profile> {
    let mut all = vec![wanted.to_owned()];
    all.extend(["metadata", "system"].iter().flat_map(|kind| of(profiles, kind)).cloned());
    let best = most(&all)?;
    let copies = |profile: &Profile| profile.copies > 1 && profile.may_lose >= best.may_lose;
    let goal = if copies(&best) { best } else { PROFILES.into_iter().find(copies)? };
    (goal.devices <= devices).then_some(goal)
}

/// A conversion, and what has to be known before: that none is under way, and that there is room. What is converted
/// keeps what it had until it is written anew; the kernel refuses to make metadata less safe unless it is forced
/// (btrfs-balance(8), `-f`), which nothing here does. `-m` takes system blocks with it.
fn convert(found: Found, system: &FileSystem, filters: &str) -> Found {
    let target = target(system);
    let found = found.look(format!("btrfs balance status {target}")).look(format!("btrfs filesystem usage {target}"));
    // One that is paused has to end before another begins (btrfs-balance(8), `resume`).
    let command = if system.btrfs.as_ref().is_some_and(is_paused) {
        format!("btrfs balance resume {target}")
    } else {
        format!("btrfs balance start {filters} {target}")
    };
    found.run(Nothing, command)
}

/// What the kernel is doing to the whole file system; the file is not there before kernel 5.10.
fn operation(btrfs: &BtrfsState) -> &str {
    btrfs.operation.known().and_then(Option::as_deref).unwrap_or_default()
}

fn is_paused(btrfs: &BtrfsState) -> bool {
    operation(btrfs) == "balance paused"
}

fn metadata(machine: &Machine, round: &mut Round) {
    for (system, btrfs, at) in each(machine) {
        let devices = btrfs.devices.len().max(system.nodes.len());
        if devices < 2 {
            continue;
        }
        round.look();
        let Some(profiles) = round.ask(&at, &btrfs.profiles) else { continue };
        let weak =
            |kind: &&str| of(profiles, kind).iter().any(|name| of_profile(name).is_some_and(|p| p.may_lose == 0));
        let kinds: Vec<&str> = ["metadata", "system"].into_iter().filter(weak).collect();
        if kinds.is_empty() {
            continue;
        }
        let found = finding(
            Warning,
            &at,
            format!("{} survive the loss of no device", list(&kinds)),
            format!("any 1 of {} that is lost takes the whole file system with it", count(number(devices), "device")),
        )
        .seen(allocation(system), shown(profiles));
        round.find(match goal("raid1", profiles, present(btrfs, system)) {
            Some(goal) => {
                convert(found.advise("Convert it while it is mounted."), system, &format!("-mconvert={}", goal.name))
            }
            None if present(btrfs, system) < btrfs.devices.len() => found
                .advise("A device is missing, and what is written meanwhile has one copy: put that in order first."),
            None => found.advise("Add a device first: there are too few for several copies."),
        });
    }
}

/// Metadata is set aside in pieces of so much at most on each of their devices: the smaller ones in a file system below 50 GiB, and never
/// more than a tenth of it (`calc_chunk_size` in the kernel's `fs/btrfs/space-info.c`, `init_alloc_chunk_ctl_policy_regular` in its
/// `volumes.c`).
const PIECES: [u64; 2] = [1 << 30, 256 << 20];
const SMALL: u64 = 50 << 30;

fn piece(size: u64) -> u64 {
    let [large, small] = PIECES;
    (if size > SMALL { large } else { small }).min(size / 10)
}

/// What metadata could still get on each of the devices that a piece of it takes. It is limited by the one with the least of those with the
/// most: room on one device alone is none for a mirror. Where devices do not tell, it is a share of all.
fn room(btrfs: &BtrfsState, all: u64) -> u64 {
    let names = btrfs.profiles.known().map_or(&[][..], |profiles| of(profiles, "metadata"));
    let profile = most(names).unwrap_or(PROFILES[1]);
    let on_one = u64::from(if profile.devices == 1 { profile.copies } else { 1 });
    let each: Option<Vec<u64>> = btrfs.devices.iter().map(|device| Some(device.unallocated?.0)).collect();
    let Some(mut each) = each.filter(|each| !each.is_empty()) else {
        return all / on_one.max(number(profile.devices));
    };
    each.sort_unstable_by_key(|free| Reverse(*free));
    each.get(profile.devices.saturating_sub(1)).copied().unwrap_or(0) / on_one
}

/// Shares of 1.
const MUCH: f64 = 0.9;
const NEARLY_ALL: f64 = 0.97;

fn metadata_space(machine: &Machine, round: &mut Round) {
    for (system, btrfs, at) in each(machine) {
        round.look();
        let Some(used) = round.ask(&at, &btrfs.used) else { continue };
        let Some([used, all]) = used.get("metadata").copied() else { continue };
        // What is kept back for the file system's own work is used for nothing else.
        let reserve = btrfs.reserve.map_or(0, |reserve| reserve.0);
        let taken = used.saturating_add(reserve).min(all);
        let share = float(taken) / float(all.max(1));
        if share < MUCH {
            continue;
        }
        let Some(left) = round.ask(&at, &btrfs.unallocated).copied() else { continue };
        let nodes = system.nodes.iter().filter_map(|name| machine.node(name));
        let size = nodes.fold(0_u64, |sum, node| sum.saturating_add(node.size.0));
        let room = room(btrfs, left.0);
        if room >= piece(size) {
            continue;
        }
        let kept =
            if reserve == 0 { String::new() } else { format!(", {} of them kept back for itself", Bytes(reserve)) };
        let target = target(system);
        round.find(
            finding(
                if share >= NEARLY_ALL { Error } else { Warning },
                &at,
                format!("{} of the space for metadata are used{kept}", percent(share)),
                format!(
                    "{left} of its devices are not set aside yet. A new piece for metadata finds {} on each device there, and wants {}: when \
                     metadata is full nothing can be written, and at last not even deleted, however much `df` says is free",
                    Bytes(room),
                    Bytes(piece(size))
                ),
            )
            .seen(format!("{}/metadata/{{bytes_used,total_bytes}}", allocation(system)), format!("{used}, {all}"))
            .advise(
                "Give back pieces for data that are nearly empty: start with a small share and raise it. Where that does not help, add a \
                 device for a while.",
            )
            .look(format!("btrfs filesystem usage {target}"))
            .run(Nothing, format!("btrfs balance start -dusage=5 {target}"))
            .look(format!("btrfs filesystem usage {target}")),
        );
    }
}

fn parity(machine: &Machine, round: &mut Round) {
    for (system, btrfs, at) in each(machine) {
        round.look();
        let Some(profiles) = round.ask(&at, &btrfs.profiles) else { continue };
        let has = |kind: &str| of(profiles, kind).iter().any(|name| ["raid5", "raid6"].contains(&name.as_str()));
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
        .advise("Keep metadata in several copies; scrub after every crash, before a device is replaced.");
        // Three copies survive what RAID-6 of data survives.
        let devices = present(btrfs, system);
        let wanted = if of(profiles, "data").iter().any(|name| name == "raid6") { "raid1c3" } else { "raid1" };
        let goal = goal(wanted, profiles, devices);
        let there =
            |goal: Profile| ["metadata", "system"].iter().all(|kind| of(profiles, kind).iter().all(|p| p == goal.name));
        round.find(match goal {
            Some(goal) if !there(goal) => convert(found, system, &format!("-mconvert={},soft", goal.name)),
            _ => found.look(format!("btrfs filesystem usage {}", target(system))),
        });
    }
}

fn mixed(machine: &Machine, round: &mut Round) {
    for (system, btrfs, at) in each(machine) {
        round.look();
        let profiles = round.ask(&at, &btrfs.profiles);
        let mixed = profiles.into_iter().flatten().filter(|(_, found)| found.len() > 1);
        let kinds: Vec<&String> = mixed.map(|(kind, _)| kind).collect();
        let Some(profiles) = profiles.filter(|_| !kinds.is_empty()) else {
            if is_paused(btrfs) {
                round.find(paused(system, &at));
            }
            continue;
        };
        let severity = match operation(btrfs) {
            "balance" => Information,
            _ if is_paused(btrfs) => Warning,
            _ => Error,
        };
        let each: Vec<String> =
            kinds.iter().map(|kind| format!("{kind} is partly {}", list(of(profiles, kind)))).collect();
        let found = finding(
            severity,
            &at,
            list(&each),
            format!(
                "{} profiles: some of it has less redundancy than was wanted, and nothing tells which",
                kinds.iter().map(|kind| of(profiles, kind).len()).max().unwrap_or(0)
            ),
        )
        .seen(allocation(system), shown(profiles));
        let found = match operation(btrfs) {
            "" | "none" => found,
            busy => found.seen(format!("{}/exclusive_operation", directory(system)), busy),
        };
        round.find(finished(found, system, profiles, &kinds, present(btrfs, system)));
    }
}

/// Nothing is lost while it is paused, and nobody is reminded of it.
fn paused(system: &FileSystem, at: &Place) -> Found {
    finding(
        Warning,
        at,
        "a balance is paused",
        "0 pieces are moved until it is resumed; what it was to convert and has not come to is as it was, and no other balance can begin",
    )
    .seen(format!("{}/exclusive_operation", directory(system)), "balance paused")
    .advise("Resume it, or cancel it if it is not wanted any more.")
    .look(format!("btrfs balance status {}", target(system)))
    .run(Nothing, format!("btrfs balance resume {}", target(system)))
}

/// All of each kind in the profile that it has with the most redundancy. System blocks go with metadata.
fn finished(
    found: Found,
    system: &FileSystem,
    profiles: &BTreeMap<String, Vec<String>>,
    kinds: &[&String],
    devices: usize,
) -> Found {
    let mut filters: Vec<String> = Vec::new();
    let mut wanted = 0;
    for (letter, together) in [("d", &["data"][..]), ("m", &["metadata", "system"][..])] {
        if !together.iter().any(|kind| kinds.iter().any(|mixed| mixed.as_str() == *kind)) {
            continue;
        }
        let names: Vec<&String> = together.iter().flat_map(|kind| of(profiles, kind)).collect();
        let Some(profile) = most(&names) else {
            return found
                .advise("The profile with the most redundancy is not known: see which was wanted.")
                .look(format!("btrfs filesystem usage {}", target(system)));
        };
        wanted = wanted.max(profile.devices);
        filters.push(format!("-{letter}convert={},soft", profile.name));
    }
    let filters = filters.join(" ");
    if wanted > devices {
        let target = target(system);
        let all = system.btrfs.as_ref().map_or(0, |btrfs| btrfs.devices.len());
        let after = if wanted <= all {
            format!(
                " What was written meanwhile has fewer copies even then, until `btrfs balance start {filters} {target}` gives it all of them."
            )
        } else {
            String::new()
        };
        return found
            .advise(format!(
                "There are too few devices for the profile with the most redundancy: bring back or replace those that are missing first.{after}"
            ))
            .look(format!("btrfs filesystem usage {target}"));
    }
    let advice = "If a balance is under way or paused, let it go on. Otherwise finish the conversion: which profile was wanted is not \
                  told, and this is the one of those found that survives most. It wants room for as many copies.";
    convert(found.advise(advice), system, &filters)
}

fn checksums(machine: &Machine, round: &mut Round) {
    for mount in machine.mounted(round) {
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
                "0 checksums on what is written anew: bad blocks are read as good ones, and a mirror does not repair them",
            )
            .seen("/proc/self/mountinfo", mount.options.join(","))
            .advise("Take it out of `/etc/fstab` and mount anew; files that were written meanwhile have to be copied. For single files \
                   there is `chattr +C`.")
            .run(Nothing, format!("umount {0} && mount {0}", quote(&mount.target))),
        );
    }
}

fn errors(machine: &Machine, round: &mut Round) {
    for (system, btrfs, _) in each(machine) {
        for device in &btrfs.devices {
            let at = device_place(machine, device, &target(system));
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
                        "{}: each was repaired where there is a good copy, and is lost where there is none",
                        list(&bad)
                    ),
                )
                .seen(format!("btrfs device stats {}", target(system)), bad.join(", "))
                .advise("Scrub, ask the drive for its health, then reset the counters to see new ones.")
                .run(Nothing, format!("btrfs scrub start -B {}", target(system)))
                .look(format!("btrfs device stats {}", target(system)))
                .run(Nothing, format!("btrfs device stats --reset {}", target(system))),
            );
        }
    }
}

const SOUND: &str = "Bring it back if it is sound: what it missed is repaired by a scrub, but for files without checksums (`nodatacow`), of \
                     which old copies are read then. Otherwise, and where there are such files, put another in its place.";

fn missing(machine: &Machine, round: &mut Round) {
    for (system, btrfs, at) in each(machine) {
        for device in &btrfs.devices {
            round.look();
            if round.ask(&at, &device.missing) != Some(&true) {
                continue;
            }
            let all = count(number(btrfs.devices.len()), "device");
            // What was posted may not tell which: no device has number 0.
            let is_told = device.id > 0;
            let id = if is_told { device.id.to_string() } else { "DEVID".to_owned() };
            let what = if is_told {
                format!("device {id} is missing")
            } else {
                "a device is missing, and its number is not told".to_owned()
            };
            let source = format!("/sys/fs/btrfs/{}/devinfo/{id}/missing", system.uuid.as_deref().unwrap_or("UUID"));
            let target = target(system);
            let why = format!("1 of {all}: what has one copy there is lost, all else has a copy less");
            let found = finding(Error, &at, what, why).seen(source, 1);
            // A wrong number would replace a device that is there.
            let found = if is_told {
                found.advise(SOUND)
            } else {
                found
                    .advise(format!(
                        "Mounted with `degraded`, `btrfs device usage` tells its number: put that for DEVID. {SOUND}"
                    ))
                    .look(format!("btrfs filesystem show {target}"))
                    .look(format!("btrfs device usage {target}"))
            };
            round.find(
                found
                    .look(format!("btrfs filesystem usage {target}"))
                    .look(format!("btrfs replace status {target}"))
                    .run(
                        Brought("everything on the device that is put in its place".to_owned()),
                        format!("btrfs replace start {id} NEW {target}"),
                    ),
            );
        }
    }
}
