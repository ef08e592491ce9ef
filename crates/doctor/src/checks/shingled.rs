//! Hard disks whose tracks overlap, and which do not say so, where they are filled anew.

use terms::diagnosis::{Place, Severity};
use terms::inventory::Vdev;

use crate::check::{Check, Information, Round, Warning, finding};
use crate::group::{Group, groups, leaves};
use crate::machine::{Machine, drive_place};
use crate::remedy::Found;

pub(super) const CHECKS: &[Check] = &[Check {
    id: "shingled-in-array",
    severity: Warning,
    looks_at: "`device/model` of drives that are part of something with redundancy, or the model in a name of `zpool status`, and a table of models whose makers say so",
    rule: "its tracks overlap, and it rearranges what is written by itself: a warning while a member is missing, or it is or may be the one that is filled, information otherwise",
    fixes: false,
    look: shingled,
}];

/// Models that their makers list as recorded in overlapping tracks that the drive manages: Western Digital (“On WD Red NAS Drives”, 22 April
/// 2020), Seagate (“CMR and SMR Hard Drives”), Toshiba (“SMR in consumer hard disks”, 28 April 2020).
const MODELS: [&str; 27] = [
    "WD20EFAX",
    "WD30EFAX",
    "WD40EFAX",
    "WD60EFAX",
    "WD20EZAZ",
    "WD60EZAZ",
    "WD10SPZX",
    "WD20SPZX",
    "ST8000DM004",
    "ST6000DM003",
    "ST4000DM004",
    "ST3000DM007",
    "ST2000DM008",
    "ST8000AS0002",
    "ST5000AS0011",
    "ST5000LM000",
    "ST4000LM024",
    "ST3000LM024",
    "ST2000LM015",
    "ST1000LM048",
    "ST500LM030",
    "DT02ABA600",
    "DT02ABA400",
    "MQ04ABD200",
    "MQ04ABF100",
    "HDWL120",
    "HDWL110",
];

/// `WDC WD40EFAX-68JH4N0`: a maker's name may stand before the model, and a variant behind it.
fn is_shingled(model: &str) -> bool {
    let names = model.split([' ', '-', '_']);
    names.into_iter().any(|word| MODELS.contains(&word))
}

fn shingled(machine: &Machine, round: &mut Round) {
    let groups = groups(machine);
    // What a pool consists of is not "nothing" where that was not read.
    for pool in round.ask(&Place::machine(), &machine.detail.pools).into_iter().flatten() {
        let _ = round.ask(&Place::new("pool", &pool.name), &pool.vdevs);
    }
    for drive in machine.inventory.drives.iter().filter(|drive| !drive.transport.is_nvme()) {
        let name = drive.kernel_name.as_str();
        round.look();
        let mut own = groups.iter().filter(|group| group.survives && group.below.contains(name));
        // Of several the one that is not whole.
        let Some(group) = own.clone().find(|group| group.may_fill(name)).or_else(|| own.next()) else { continue };
        let place = drive_place(drive);
        let Some(model) = &drive.model else {
            round.unknown(&place, "its model is not told");
            continue;
        };
        if !is_shingled(model) {
            continue;
        }
        let severity = if group.may_fill(name) { Warning } else { Information };
        let seen = (format!("/sys/block/{name}/device/model"), model.as_str());
        round.find(told(severity, &place, &group.place, seen, &format!("/dev/{name}")));
    }
    by_names(machine, round, &groups);
}

/// Devices of pools whose names have the model of a drive, and nothing tells which drive that is.
fn by_names(machine: &Machine, round: &mut Round, groups: &[Group]) {
    for pool in machine.detail.pools.known().into_iter().flatten() {
        let at = Place::new("pool", &pool.name);
        let Some(group) = groups.iter().find(|group| group.survives && group.place == at) else { continue };
        let mut all = Vec::new();
        pool.vdevs.known().into_iter().flatten().for_each(|vdev| leaves(vdev, &mut all));
        let unfilled = all.iter().all(|leaf| !leaf.filled);
        let is_here = |leaf: &&Vdev| ["ONLINE", "DEGRADED", ""].contains(&leaf.state.as_str());
        for leaf in all.into_iter().filter(is_here).filter(|leaf| leaf.node.is_none() && is_shingled(&leaf.name)) {
            let is_filled = group.condition.is_some() && (leaf.filled || unfilled);
            let place = Place::new("virtual device", format!("{} of {}", leaf.name, pool.name));
            let seen = (format!("zpool status {}", pool.name), leaf.name.as_str());
            let path = format!("/dev/disk/by-id/{}", leaf.name.rsplit('/').next().unwrap_or(&leaf.name));
            round.find(told(if is_filled { Warning } else { Information }, &place, &group.place, seen, &path));
        }
    }
}

fn told(severity: Severity, place: &Place, group: &Place, seen: (String, &str), path: &str) -> Found {
    finding(
        severity,
        place,
        "the drive's tracks overlap (SMR), and it rearranges what is written by itself",
        format!(
            "where a member of the {group} is filled anew, all of it is written; in a RAID-Z that took a WD40EFAX more than 9 days, and other \
             drives of its size some 16 hours (ServeTheHome, 2020). One that answers too late is thrown out"
        ),
    )
    .seen(seen.0, seen.1)
    .advise(
        "It need not be replaced while all is well. Have a copy before a member is filled, leave the array alone meanwhile, and take \
         a drive whose tracks do not overlap for the next one that fails.",
    )
    .look(format!("smartctl -i {path}"))
}
