//! LVM and the device mapper: linear volumes, space that runs out, missing devices, suspended mappings.

use std::collections::BTreeSet;

use terms::diagnosis::Place;
use terms::inventory::{LogicalVolume, VolumeGroup};

use crate::check::{Check, Error, Round, Warning, finding};
use crate::machine::{Machine, place};
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
        looks_at: "`dmsetup status` of thin pools",
        rule: "80 % of data or metadata are given out (warning), 95 % or the pool has stopped writing (error)",
        fixes: false,
        look: thin,
    },
    Check {
        id: "snapshot-space",
        severity: Error,
        looks_at: "`lvs -o lv_attr,data_percent` of snapshots that are not thin",
        rule: "80 % of its space are used (warning), or all: the snapshot is lost (error)",
        fixes: false,
        look: snapshots,
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
const MUCH: f64 = 80.0;
/// Space given out from which the next burst of writes may be too much.
const NEARLY_ALL: f64 = 95.0;

fn volume_place(group: &VolumeGroup, volume: &LogicalVolume) -> Place {
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
                .mend("Make a striped volume beside it and copy; what is on it stays until it is removed.")
                .run(format!(
                    "lvcreate --type striped -i {} -I 64k -L {}b -n NEW {}",
                    drives.len(),
                    volume.size.0,
                    group.name
                ));
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
                .mend("Make it anew with level 0.")
                .run(format!("mdadm --create NEW --level=0 --raid-devices={} …", names.len()))
                .destroys("everything on its members");
            round.find(found);
        }
    }
}

fn lies_over(at: &Place, names: &[&str]) -> terms::diagnosis::Finding {
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
    for (node, _, pool) in machine.thin_pools(round) {
        let at = place(node);
        round.look();
        let (Some([data, all]), Some([metadata, all_metadata]), Some(mode)) =
            (round.ask(&at, &pool.data_blocks), round.ask(&at, &pool.metadata_blocks), round.ask(&at, &pool.mode))
        else {
            continue;
        };
        let share = |used: u64, all: u64| float(used) / float(all.max(1));
        let (of_data, of_metadata) = (share(*data, *all), share(*metadata, *all_metadata));
        let worst = 100.0 * of_data.max(of_metadata);
        let stopped = mode != "rw";
        if worst < MUCH && !stopped {
            continue;
        }
        let severity = if stopped || worst >= NEARLY_ALL { Error } else { Warning };
        let left = terms::Bytes(all.saturating_sub(*data).saturating_mul(pool.block.0));
        let what = if stopped {
            format!("the pool takes no more writes (`{mode}`)")
        } else {
            format!("{} of the data and {} of the metadata are given out", percent(of_data), percent(of_metadata))
        };
        round.find(
            finding(
                severity,
                &at,
                what,
                format!("{left} are left for all its volumes; when it is full writes wait for 60 s and then fail"),
            )
            .seen(
                format!("dmsetup status {}", node.label.as_deref().unwrap_or(&node.name)),
                format!("data {data}/{all}, metadata {metadata}/{all_metadata}, {mode}"),
            )
            .mend("Make the pool larger, or trim what its volumes do not use.")
            .run("lvextend -L +SIZE GROUP/POOL")
            .run("fstrim --all"),
        );
    }
}

fn snapshots(machine: &Machine, round: &mut Round) {
    for group in round.ask(&Place::machine(), &machine.detail.volume_groups).into_iter().flatten() {
        // The first letter of the attributes: `s` a snapshot, `S` one that is being merged or has become invalid.
        let snapshots = group.logical.iter().filter(|volume| volume.attributes.starts_with(['s', 'S']));
        for volume in snapshots {
            let at = volume_place(group, volume);
            let Some(used) = volume.data else {
                round.unknown(&at, "`lvs` does not tell how full it is");
                continue;
            };
            round.look();
            if used < MUCH {
                continue;
            }
            let severity = if used >= 100.0 { Error } else { Warning };
            round.find(
                finding(
                    severity,
                    &at,
                    format!("{} of the snapshot's space are used", percent(used / 100.0)),
                    "when all is used the snapshot is dropped; until then each first write to the origin is 2 writes and 1 read",
                )
                .seen(format!("lvs -o data_percent {}/{}", group.name, volume.name), used)
                .mend("Make it larger, or remove it when it has served.")
                .run(format!("lvextend -L +SIZE {}/{}", group.name, volume.name)),
            );
        }
    }
}

fn group(machine: &Machine, round: &mut Round) {
    for group in round.ask(&Place::machine(), &machine.detail.volume_groups).into_iter().flatten() {
        let at = Place::new("volume group", &group.name);
        round.look();
        if group.missing > 0 {
            let all = count(number(group.physical.len()), "physical volume");
            round.find(
                finding(
                    Error,
                    &at,
                    format!("{} of {all} are missing", group.missing),
                    format!("volumes with a part on them cannot be read: the group has {}", group.size),
                )
                .seen(format!("vgs -o vg_missing_pv_count {}", group.name), group.missing)
                .mend("Bring the drives back. Removing them from the group gives up what was on them.")
                .run("pvs -o pv_name,pv_uuid,vg_name"),
            );
        }
        if let Some([all, free]) = group.metadata
            && free.0 < all.0 / 10
        {
            round.find(
                finding(
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
                .mend("Its size is chosen once for each physical volume: add one with more, and move onto it.")
                .run("pvcreate --metadatasize 16m DEVICE")
                .destroys("everything on the device that is added"),
            );
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
            .mend("See whether a program is still at work on it (`lvs`, `dmsetup info`); if not, let it go on.")
            .run(format!("dmsetup resume {}", dm.name)),
        );
    }
}
