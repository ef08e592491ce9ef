//! ZFS pools: their state, their virtual devices, their space.

use terms::command::quote;
use terms::diagnosis::Place;
use terms::inventory::{Pool, Vdev};

use super::zfs_told::{damage, place, pools, walk};
use super::{zfs_block, zfs_order};
use crate::check::{Brought, Check, Error, Information, Nothing, Round, Warning, finding};
use crate::condition::resilvers;
use crate::machine::Machine;
use crate::redundancy::of_vdev;
use crate::words::{count, list, number, percent};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "zfs-pool-state",
        severity: Error,
        looks_at: "state, counters and `errors:` of `zpool status`",
        rule: "a pool or a device is not `ONLINE`, a counter is not 0, or data is damaged; a device is being filled (warning), or takes the place of \
               one that is still there (information), a scrub repaired something (information), or a spare or a cache is gone (warning), or it was imported under another hostid (information)",
        fixes: false,
        look: state,
    },
    Check {
        id: "zfs-ashift",
        severity: Error,
        looks_at: "`ashift` of `zdb -C`, or of `zpool get` where that was not read, `queue/physical_block_size` of the drives",
        rule: "the smallest block is smaller than the drives' own (a warning where it is 4096 bytes or more, or only the pool's property is \
               known; information where theirs is larger than 16 KiB), or than 4096 bytes on flash (information); it cannot be changed",
        fixes: false,
        look: zfs_block::ashift,
    },
    Check {
        id: "zfs-special-redundancy",
        severity: Error,
        looks_at: "classes of virtual devices in `zpool status`",
        rule: "a data, special or dedup device has no redundancy where data elsewhere in the pool has (error), a special or dedup \
               device has less (warning), or a log device has none (warning)",
        fixes: false,
        look: special,
    },
    Check {
        id: "zfs-pool-space",
        severity: Warning,
        looks_at: "`capacity` and `fragmentation` of `zpool get`",
        rule: "80 % of the pool are in use",
        fixes: false,
        look: space,
    },
];

/// A hot spare that waits or is in use is no fault of its own.
fn is_bad(vdev: &Vdev) -> bool {
    !["ONLINE", "AVAIL", "INUSE", ""].contains(&vdev.state.as_str())
}

/// Devices without which a pool is whole, by their class, and what it lacks without them.
const ASIDE: [(&str, &str, &str); 2] = [
    ("spare", "a hot spare", "1 device less to take the place of one that fails"),
    ("cache", "a cache", "0 bytes are lost, and what it would have answered is read from the pool's devices"),
];

fn is_aside(vdev: &Vdev) -> bool {
    ASIDE.iter().any(|(class, _, _)| *class == vdev.class)
}

/// Spares and caches that are gone. Neither is brought online or replaced (zpool-remove(8), zpool-add(8)).
fn aside(pool: &Pool, all: &[&Vdev], round: &mut Round) {
    for vdev in all.iter().filter(|vdev| is_bad(vdev)) {
        let Some((class, what, cost)) = ASIDE.iter().find(|(class, _, _)| *class == vdev.class) else { continue };
        let (name, device) = (quote(&pool.name), quote(&vdev.name));
        let at = Place::new("virtual device", format!("{} of {}", vdev.name, pool.name));
        round.find(
            finding(Warning, &at, format!("{what} is {}", vdev.state), *cost)
                .seen(format!("zpool status {}", pool.name), format!("{} {}", vdev.name, vdev.state))
                .advise(
                    "See why it is gone. It is taken off the list and another is added, or the same one when it is back; the pool's \
                     own devices come first.",
                )
                .look(format!("zpool status -v {name}"))
                .run(Nothing, format!("zpool remove {name} {device}"))
                .run(
                    Brought("everything on the device that is added".to_owned()),
                    format!("zpool add {name} {class} NEW"),
                ),
        );
    }
}

/// What a scrub repaired, where no counter tells of it: they begin anew at each import.
fn repaired(pool: &Pool, at: &Place, round: &mut Round) {
    let Some(scan) = pool.scan.as_deref().filter(|scan| scan.starts_with(REPAIRED)) else { return };
    let size = scan[REPAIRED.len()..].split(' ').next().unwrap_or_default();
    if ["", "0", "0B"].contains(&size) {
        return;
    }
    let name = quote(&pool.name);
    let (severity, cost) = if scan.contains(" with 0 errors") {
        (
            Information,
            "0 bytes of it are lost: what was bad on one device was taken from others. No counter tells on which",
        )
    } else {
        (Warning, "what it could not repair is counted as its errors")
    };
    round.find(
        finding(severity, at, format!("the last scrub repaired {size}"), cost)
            .seen(format!("zpool status {}", pool.name), scan)
            .advise("Ask the drives for their health, and look whether the next scrub repairs something as well.")
            .run(Nothing, format!("zpool scrub -w {name}"))
            .look(format!("zpool status -v {name}")),
    );
}

/// How a scrub that ended is told (`print_scan_scrub_resilver_status` in OpenZFS's `cmd/zpool/zpool_main.c`).
const REPAIRED: &str = "scrub repaired ";

fn state(machine: &Machine, round: &mut Round) {
    for pool in pools(machine, round) {
        let at = place(pool);
        round.look();
        zfs_order::other_host(pool, &at, round);
        let is_told = !pool.state.is_empty();
        let Some(vdevs) = round.ask(&at, &pool.vdevs).filter(|vdevs| !vdevs.is_empty() && is_told) else {
            // Of one of which only properties or the configuration were told the state is not known.
            if !["ONLINE", ""].contains(&pool.state.as_str()) {
                let what = format!("the pool is {}", pool.state);
                let found =
                    finding(Error, &at, what, "0 of its devices were told, so that it is not known which is at fault");
                round.find(zfs_order::in_order(found.seen("zpool list -o health", &pool.state), pool, &[]));
            }
            continue;
        };
        let mut all = Vec::new();
        vdevs.iter().for_each(|vdev| walk(vdev, &mut all));
        aside(pool, &all, round);
        let is_fault = |vdev: &&Vdev| is_bad(vdev) && !is_aside(vdev);
        let bad = all.iter().copied().filter(is_fault).map(|vdev| format!("{} {}", vdev.name, vdev.state));
        let bad: Vec<String> = bad.collect();
        // A spare in use stands in two places.
        let leaves: Vec<&Vdev> =
            all.iter().copied().filter(|vdev| vdev.children.is_empty() && vdev.class != "spare").collect();
        let gone: Vec<&Vdev> = leaves.iter().copied().filter(is_fault).collect();
        let counted: Vec<String> = leaves
            .iter()
            .filter(|vdev| vdev.errors.iter().any(|number| *number > 0))
            .map(|vdev| format!("{} {}/{}/{}", vdev.name, vdev.errors[0], vdev.errors[1], vdev.errors[2]))
            .collect();
        let damaged = damage(pool);
        let is_in_order = pool.state == "ONLINE" && bad.is_empty();
        let is_only_filled = is_in_order && counted.is_empty() && damaged.is_none();
        let is_whole = is_only_filled && all.iter().any(|vdev| vdev.kind == "replacing");
        if is_only_filled && !resilvers(pool) {
            repaired(pool, &at, round);
            continue;
        }
        let what = match (damaged, is_in_order) {
            // Until it is back nobody knows what is damaged.
            _ if pool.state == "SUSPENDED" => "the pool is SUSPENDED: it waits for its devices".to_owned(),
            (Some(_), _) => "data is damaged".to_owned(),
            (None, false) if pool.state == "ONLINE" => {
                format!("{} out of order, though the pool calls itself ONLINE", count(number(gone.len()), "device"))
            }
            (None, false) => format!("the pool is {}", pool.state),
            (None, true) if is_whole => "a device takes the place of another".to_owned(),
            (None, true) if is_only_filled => "a device is being filled".to_owned(),
            (None, true) => "devices counted errors".to_owned(),
        };
        let mut cost = Vec::new();
        if !gone.is_empty() {
            cost.push(format!("{} of {} not in order", count(number(gone.len()), "device"), leaves.len()));
        }
        if !counted.is_empty() {
            cost.push(format!("errors reading/writing/of checksums: {}", counted.join(", ")));
        }
        match (damaged, pool.damaged.len()) {
            (None, _) => {}
            (Some(text), 0) => cost.push(text.trim_end_matches(':').to_owned()),
            (Some(_), files) => cost.push(format!("{} permanently damaged", count(number(files), "file"))),
        }
        if is_whole {
            cost.push("0 copies are missing: the one that it replaces is there until then".to_owned());
        } else if is_only_filled {
            cost.push("until it is full its group survives 1 loss less than it is made for".to_owned());
        } else if cost.is_empty() {
            cost.push(format!("0 of {} tell why", count(number(leaves.len()), "device")));
        }
        let severity = match (is_whole, is_only_filled) {
            (true, _) => Information,
            (_, true) => Warning,
            _ => Error,
        };
        let found = finding(severity, &at, what, cost.join("; "))
            .seen(format!("zpool status -v {}", pool.name), [&[pool.state.clone()][..], &bad[..]].concat().join(", "));
        let found = pool
            .damaged
            .iter()
            .take(SHOWN)
            .fold(found, |found, file| found.seen(format!("zpool status -v {}, errors", pool.name), file));
        let found =
            pool.scan.iter().fold(found, |found, scan| found.seen(format!("zpool status {}, scan", pool.name), scan));
        round.find(zfs_order::in_order(found, pool, &gone));
    }
}

/// So many of the files that are damaged are named.
const SHOWN: usize = 3;

fn special(machine: &Machine, round: &mut Round) {
    for pool in pools(machine, round) {
        // Nothing is attached before it is there again.
        if !["ONLINE", "DEGRADED", ""].contains(&pool.state.as_str()) {
            continue;
        }
        let Some(vdevs) = round.ask(&place(pool), &pool.vdevs) else { continue };
        // What was removed from a pool leaves a table of where its blocks went, which needs no device.
        let vdevs: Vec<&Vdev> = vdevs.iter().filter(|vdev| vdev.kind != "indirect").collect();
        let of_data = vdevs.iter().filter(|vdev| vdev.class == "data").map(|vdev| of_vdev(vdev)).max().unwrap_or(0);
        for vdev in vdevs.into_iter().filter(|vdev| ["data", "special", "dedup", "log"].contains(&vdev.class.as_str()))
        {
            let at = Place::new("virtual device", format!("{} of {}", vdev.name, pool.name));
            round.look();
            let own = of_vdev(vdev);
            let is_enough = match vdev.class.as_str() {
                "log" | "data" => own > 0 || of_data == 0,
                _ => own >= of_data,
            };
            // Nothing is attached to what is gone.
            if is_enough || is_bad(vdev) {
                continue;
            }
            let found = if vdev.class == "log" {
                finding(
                    Warning,
                    &at,
                    "the log device has no mirror",
                    "if it is lost in the same moment as power, up to 5 s of what programs were told is safe are lost",
                )
            } else {
                let rest = if vdev.class == "data" { "another of the pool" } else { "the data" };
                finding(
                    if own > 0 { Warning } else { Error },
                    &at,
                    match own {
                        0 => format!(
                            "the {} device has no redundancy, and {rest} survives the loss of {of_data}",
                            vdev.class
                        ),
                        _ => format!("the {} device survives the loss of {own}, and {rest} of {of_data}", vdev.class),
                    },
                    format!(
                        "the pool is lost with it: {} {} enough, where {rest} has room for {of_data}",
                        count(own + 1, "lost drive"),
                        if own == 0 { "is" } else { "are" }
                    ),
                )
            };
            let leaf = vdev.children.first().map_or(vdev.name.as_str(), |child| child.name.as_str());
            round.find(
                found
                    .seen(format!("zpool status {}", pool.name), format!("{}: {} {}", vdev.class, vdev.kind, vdev.name))
                    .advise("Attach another device to it.")
                    .look(format!("zpool status {}", quote(&pool.name)))
                    .run(
                        Brought("everything on the device that is attached".to_owned()),
                        format!("zpool attach {} {} NEW", quote(&pool.name), quote(leaf)),
                    ),
            );
        }
    }
}

/// Fragmentation of free space from which on most of it is in pieces below 1 MiB (`zfs_frag_table` in OpenZFS's
/// `module/zfs/metaslab.c`).
const MANY_PIECES: f64 = 40.0;

fn space(machine: &Machine, round: &mut Round) {
    for pool in pools(machine, round) {
        let at = place(pool);
        round.look();
        let Some(properties) = round.ask(&at, &pool.properties) else { continue };
        let share = |name: &str| properties.get(name).and_then(|text| text.trim_end_matches('%').parse::<f64>().ok());
        let Some(used) = share("capacity") else {
            round.unknown(&at, "`zpool get` tells no `capacity`");
            continue;
        };
        if used < 80.0 {
            continue;
        }
        let broken = share("fragmentation").map_or_else(|| "not known".to_owned(), |share| percent(share / 100.0));
        let pieces = if share("fragmentation").is_some_and(|share| share >= MANY_PIECES) {
            "it is in many pieces, and writes take longer to find room already"
        } else {
            "the less there is the longer writes take to find room"
        };
        round.find(
            finding(
                Warning,
                &at,
                format!("{} of the pool are in use", percent(used / 100.0)),
                format!("{} are free, their fragmentation is {broken}: {pieces}", percent((100.0 - used) / 100.0)),
            )
            .seen(
                format!("zpool get capacity,fragmentation {}", pool.name),
                list(&[format!("{used} %"), broken.clone()]),
            )
            .advise("Remove snapshots and files, or add another virtual device with as much redundancy as the others: beside RAID-Z it cannot be taken away again.")
            .look(format!("zpool list -v {}", quote(&pool.name))),
        );
    }
}
