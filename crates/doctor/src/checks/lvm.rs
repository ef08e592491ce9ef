//! LVM and the device mapper: linear volumes, space that runs out, missing devices, suspended mappings.

use std::collections::BTreeSet;

use terms::command::quote;
use terms::diagnosis::Place;
use terms::inventory::{LogicalVolume, Node, VolumeGroup};

use crate::check::{Brought, Check, Data, Error, Meanwhile, Nothing, Round, Warning, finding};
use crate::machine::{Machine, path, place, volume};
use crate::remedy::Found;
use crate::words::{count, float, list, number, percent};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "linear-volume",
        severity: Warning,
        looks_at: "`lvs -o segtype,stripes,devices`; arrays of md of level `linear`",
        rule: "a volume lies end to end over several drives of flash",
        fixes: false,
        look: linear,
    },
    Check {
        id: "thin-pool-space",
        severity: Error,
        looks_at: "`dmsetup status` of thin pools, `lvs -o lv_attr,data_percent,metadata_percent` where that was not read",
        rule: "80 % of data or metadata are given out (warning), 95 % or the pool has stopped writing (error)",
        fixes: false,
        look: thin,
    },
    Check {
        id: "snapshot-space",
        severity: Error,
        looks_at: "`lvs -o lv_attr,data_percent` of snapshots that are not thin, `dmsetup status` of those that it does not name",
        rule: "80 % of its space are used (warning), or all: the snapshot is lost (error)",
        fixes: false,
        look: super::snapshot::look,
    },
    Check {
        id: "volume-group",
        severity: Error,
        looks_at: "`vgs -o vg_missing_pv_count,vg_mda_size,vg_mda_free`",
        rule: "physical volumes are missing (error), or less than a tenth of the space for metadata is free (warning)",
        fixes: false,
        look: group,
    },
    Check {
        id: "mapping-suspended",
        severity: Error,
        looks_at: "`dm/suspended`",
        rule: "a mapping is suspended",
        fixes: false,
        look: suspended,
    },
];

/// Space given out from which it is time to act.
pub(super) const MUCH: f64 = 80.0;
/// Space given out from which the next burst of writes may be too much.
const NEARLY_ALL: f64 = 95.0;

pub(super) fn volume_place(group: &VolumeGroup, volume: &LogicalVolume) -> Place {
    Place::new("volume", format!("{}/{}", group.name, volume.name))
}

fn linear(machine: &Machine, round: &mut Round) {
    for group in round.ask(&Place::machine(), &machine.detail.volume_groups).into_iter().flatten() {
        // Hidden volumes, in brackets, are parts of others.
        for volume in group.logical.iter().filter(|volume| !volume.name.starts_with('[')) {
            let at = volume_place(group, volume);
            round.look();
            let on: Vec<&str> = volume
                .segments
                .iter()
                .filter(|segment| segment.kind == "linear")
                .flat_map(|segment| segment.devices.iter().map(String::as_str))
                .collect();
            let drives = drives_under(machine, group, &on);
            if drives.len() < 2 {
                continue;
            }
            let mut flash = true;
            for drive in &drives {
                flash &= machine.is_flash(round, &at, drive).unwrap_or(false);
            }
            if !flash {
                continue;
            }
            let names: Vec<&str> = drives.iter().copied().collect();
            let found = lies_over(&at, &names)
                .seen(
                    format!("lvs -o segtype,devices {}/{}", group.name, volume.name),
                    format!("linear on {}", list(&names)),
                )
                .advise(
                    "Make a striped volume beside it and copy while nobody writes. What is on it stays until it is removed: compare \
                     before.",
                )
                .look(format!("vgs {}", quote(&group.name)))
                .run(
                    Nothing,
                    format!(
                        "lvcreate --type striped -i {} -I 64k -L {}b -n NEW {}",
                        drives.len(),
                        volume.size.0,
                        quote(&group.name)
                    ),
                );
            round.find(found);
        }
    }
    for (node, md) in machine.arrays().filter(|(_, md)| md.level == "linear") {
        let at = place(node);
        let Some(true) = machine.is_flash(round, &at, &node.name) else { continue };
        round.look();
        let names: Vec<&str> = md.members.iter().map(|member| member.device.as_str()).collect();
        if names.len() > 1 {
            let found = lies_over(&at, &names)
                .seen(crate::machine::sysfs(node, "md/level"), "linear")
                .advise("Copy what is on it elsewhere, then make it anew with level 0.")
                .look(format!("lsblk -f {}", path(node)))
                .run(Nothing, format!("mdadm --stop {}", path(node)))
                .run(
                    Data("everything on its members".to_owned()),
                    format!("mdadm --create NEW --level=0 --raid-devices={} {}", names.len(), paths(machine, &names)),
                );
            round.find(found);
        }
    }
}

/// Members as they are typed.
fn paths(machine: &Machine, names: &[&str]) -> String {
    let path = |name: &&str| machine.node(name).map_or_else(|| quote(&format!("/dev/{name}")), path);
    names.iter().map(path).collect::<Vec<_>>().join(" ")
}

fn lies_over(at: &Place, names: &[&str]) -> Found {
    finding(
        Warning,
        at,
        format!("it lies end to end over {}", list(names)),
        format!(
            "a file, or a stretch that is read or written, is on 1 of {}: at most 1/{} of the rate of a striped volume",
            count(number(names.len()), "drive"),
            names.len()
        ),
    )
}

/// Drives under physical volumes that LVM names.
fn drives_under<'a>(machine: &Machine<'a>, group: &VolumeGroup, devices: &[&str]) -> BTreeSet<&'a str> {
    let physical = group.physical.iter().filter(|physical| devices.contains(&physical.device.as_str()));
    let nodes = physical.filter_map(|physical| physical.node.as_deref());
    nodes.flat_map(|node| machine.bottom(node)).map(|node| node.name.as_str()).collect()
}

fn thin(machine: &Machine, round: &mut Round) {
    let mut asked = Vec::new();
    for (node, _, pool) in machine.thin_pools(round) {
        let at = place(node);
        asked.push(volume(node));
        round.look();
        if pool.mode.known().is_some_and(|mode| mode == FAILED) {
            round.find(failed(node, &at));
            continue;
        }
        let (Some(data), Some(metadata), Some(mode)) =
            (round.ask(&at, &pool.data_blocks), round.ask(&at, &pool.metadata_blocks), round.ask(&at, &pool.mode))
        else {
            continue;
        };
        let share = |[used, all]: [u64; 2]| float(used) / float(all.max(1));
        let (of_data, of_metadata) = (share(*data), share(*metadata));
        let worst = 100.0 * of_data.max(of_metadata);
        let stopped = mode != WRITES;
        if worst < MUCH && !stopped {
            continue;
        }
        let severity = if stopped || worst >= NEARLY_ALL { Error } else { Warning };
        let left = |[used, all]: [u64; 2], block: u64| terms::Bytes(all.saturating_sub(used).saturating_mul(block));
        let cost = format!(
            "{} are left of data and {} of metadata for all its volumes; {WHEN_FULL}",
            left(*data, pool.block.0),
            left(*metadata, METADATA_BLOCK)
        );
        let found = finding(severity, &at, given_out(Some(of_data), Some(of_metadata), mode), cost).seen(
            format!("dmsetup status {}", node.label.as_deref().unwrap_or(&node.name)),
            format!("data {}/{}, metadata {}/{}, {mode}", data[0], data[1], metadata[0], metadata[1]),
        );
        let full = Full { data: 100.0 * of_data >= MUCH, metadata: 100.0 * of_metadata >= MUCH, mode };
        round.find(enlarged(found, &volume(node), &full));
    }
    thin_by_volumes(machine, round, &asked);
}

const WHEN_FULL: &str = "when data is full writes wait for 60 s and then fail, when metadata is full the pool can only be read and has to \
                         be repaired";

/// Shares of 1, as far as they were told.
fn given_out(data: Option<f64>, metadata: Option<f64>, mode: &str) -> String {
    if mode != WRITES {
        return format!("the pool takes no more writes (`{mode}`)");
    }
    let told = |share: Option<f64>, of: &str| Some(format!("{} of the {of}", percent(share?)));
    let all: Vec<String> = [told(data, "data"), told(metadata, "metadata")].into_iter().flatten().collect();
    format!("{} are given out", list(&all))
}

/// How a pool is, by the ninth letter of its attributes (lvs(8), `lv_attr`), as the device mapper calls it.
const MODES: [(u8, &str); 3] = [(b'F', FAILED), (b'D', "out_of_data_space"), (b'M', "ro")];

/// Pools that the device mapper was not asked for, as `lvs` tells of them.
fn thin_by_volumes(machine: &Machine, round: &mut Round, asked: &[String]) {
    for group in machine.detail.volume_groups.known().into_iter().flatten() {
        for pool in group.logical.iter().filter(|pool| pool.attributes.starts_with(['t', 'd'])) {
            let name = quote(&format!("{}/{}", group.name, pool.name));
            if asked.contains(&name) {
                continue;
            }
            let at = volume_place(group, pool);
            let shares = [pool.data, pool.metadata];
            // A pool of VDO has no volume for its metadata.
            if shares.contains(&None) && (pool.data.is_none() || pool.attributes.starts_with('t')) {
                round.unknown(&at, "how full its data and its metadata are was not told of both");
            }
            let Some(worst) = shares.into_iter().flatten().reduce(f64::max) else { continue };
            round.look();
            let letter = pool.attributes.as_bytes().get(8);
            let mode = MODES.iter().find(|(own, _)| Some(own) == letter).map_or(WRITES, |(_, mode)| mode);
            if worst < MUCH && mode == WRITES {
                continue;
            }
            let severity = if mode != WRITES || worst >= NEARLY_ALL { Error } else { Warning };
            let cost = format!("1 pool gives all its volumes their space: {WHEN_FULL}");
            let [data, metadata] = shares.map(|share| share.map(|share| share / 100.0));
            let told = |name: &str, share: Option<f64>| share.map(|share| format!("{name} {}", percent(share)));
            let seen: Vec<String> = [told("data", data), told("metadata", metadata)].into_iter().flatten().collect();
            let found = finding(severity, &at, given_out(data, metadata, mode), cost)
                .seen(format!("lvs {name}"), format!("{} {}", pool.attributes, seen.join(", ")));
            let much = |share: Option<f64>| share.is_some_and(|share| 100.0 * share >= MUCH);
            round.find(enlarged(found, &name, &Full { data: much(data), metadata: much(metadata), mode }));
        }
    }
}

/// The mode of a pool that works.
const WRITES: &str = "rw";
/// The mode of a pool that tells nothing any more.
const FAILED: &str = "fail";

/// A pool whose metadata could not be written, nor its last state be kept.
fn failed(node: &Node, at: &Place) -> Found {
    let cost =
        "0 bytes of its volumes can be read or written: its metadata is damaged, or the device that it lies on failed";
    let found = finding(Error, at, "the pool has failed", cost)
        .seen(format!("dmsetup status {}", node.label.as_deref().unwrap_or(&node.name)), "thin-pool Fail");
    enlarged(found, &volume(node), &Full { data: false, metadata: false, mode: FAILED })
}

/// Metadata of thin pools is counted in blocks of this size (the kernel's
/// `Documentation/admin-guide/device-mapper/thin-provisioning.rst`).
const METADATA_BLOCK: u64 = 4096;

/// What of a pool is nearly full, and whether it still writes.
struct Full<'a> {
    data: bool,
    metadata: bool,
    mode: &'a str,
}

/// lvmthin(7): data and metadata are two volumes, and each is extended by its own option.
fn enlarged(found: Found, pool: &str, full: &Full) -> Found {
    let found = found.look("vgs").look(format!("lvs -a -o +data_percent,metadata_percent {pool}"));
    if ![WRITES, "out_of_data_space"].contains(&full.mode) {
        return found.advise(
            "It has stopped because its metadata is full or damaged: leave it alone until what it holds is copied. Metadata that is \
             damaged is repaired while the pool is not in use, as lvmthin(7) says (\u{201c}Metadata check and repair\u{201d}).",
        );
    }
    let found = found.advise("Make larger what is nearly full, or give back what its volumes do not use.");
    let found =
        if full.metadata { found.run(Nothing, format!("lvextend --poolmetadatasize +SIZE {pool}")) } else { found };
    if !full.data && full.mode == WRITES {
        return found;
    }
    found.run(Nothing, format!("lvextend -L +SIZE {pool}")).run(Nothing, "fstrim --all")
}

const WITHOUT_A_PART: &str = "volumes with a part there cannot be read, and those with redundancy have 1 copy less";

fn group(machine: &Machine, round: &mut Round) {
    for group in round.ask(&Place::machine(), &machine.detail.volume_groups).into_iter().flatten() {
        let at = Place::new("volume group", &group.name);
        round.look();
        if group.missing > 0 {
            let found = number(group.physical.len());
            let missing = match found {
                // A warning names the one that is missing, and no other.
                0 => format!("{} is missing", count(u64::from(group.missing), "physical volume")),
                _ => format!("{} of {} are missing", group.missing, count(found, "physical volume")),
            };
            round.find(
                finding(
                    Error,
                    &at,
                    missing,
                    match group.size.0 {
                        0 => format!("{WITHOUT_A_PART}; 0 bytes are lost so far"),
                        _ => format!("{WITHOUT_A_PART}: the group has {}", group.size),
                    },
                )
                .seen(format!("vgs -o vg_missing_pv_count {}", group.name), group.missing)
                .advise("Bring the drives back. Removing them from the group gives up what was on them.")
                .look("pvs -o pv_name,pv_uuid,vg_name"),
            );
        }
        if let Some([all, free]) = group.metadata
            && free.0 < all.0 / 10
        {
            let found = finding(
                    Warning,
                    &at,
                    format!("{free} of {all} for the group's metadata are free"),
                    format!(
                        "{} take {}; when it is full none can be made, changed or removed",
                        count(number(group.logical.len()), "volume"),
                        terms::Bytes(all.0.saturating_sub(free.0))
                    ),
                )
                .seen(format!("vgs -o vg_mda_size,vg_mda_free {}", group.name), format!("{} of {}", free.0, all.0))
                .advise(
                    "Its size is chosen once for each physical volume: add one with more, better two, and let the others keep no metadata \
                     any more (pvchange(8), `--metadataignore`). Volumes stay where they are.",
                )
                .look("lsblk -f DEVICE")
                .run(
                    Brought("everything on the device that is added".to_owned()),
                    "pvcreate --metadatasize 16m DEVICE",
                )
                .run(Nothing, format!("vgextend {} DEVICE", quote(&group.name)));
            let small = group.physical.iter().filter(|physical| physical.node.is_some());
            round.find(small.fold(found, |found, physical| {
                found.run(
                    Meanwhile("the group's metadata is on the devices that were added, and on no other".to_owned()),
                    format!("pvchange --metadataignore y {}", quote(&physical.device)),
                )
            }));
        }
    }
}

fn suspended(machine: &Machine, round: &mut Round) {
    for node in &machine.detail.nodes {
        let Some(dm) = &node.dm else { continue };
        let at = place(node);
        round.look();
        if round.ask(&at, &dm.suspended) != Some(&true) {
            continue;
        }
        round.find(
            finding(
                Error,
                &at,
                "the mapping is suspended",
                format!(
                    "every request to its {} waits for ever, and what waits cannot be killed: a program that changed it was stopped in \
                     the middle",
                    node.size
                ),
            )
            .seen(crate::machine::sysfs(node, "dm/suspended"), 1)
            .advise("See whether a program is still at work on it (`lvs`, `dmsetup info`); if not, let it go on.")
            .look(format!("dmsetup info {}", quote(&dm.name)))
            .run(Nothing, format!("dmsetup resume {}", quote(&dm.name))),
        );
    }
}
