//! ZFS pools: their state, their virtual devices, their space.

use terms::diagnosis::Place;
use terms::inventory::{Pool, Vdev};

use crate::check::{Check, Error, Round, Warning, finding};
use crate::machine::Machine;
use crate::words::{count, list, number, percent};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "zfs-pool-state",
        severity: Error,
        looks_at: "state, counters and `errors:` of `zpool status`",
        rule: "a pool or a device is not `ONLINE`, a counter is not 0, or data is damaged",
        fixes: false,
        look: state,
    },
    Check {
        id: "zfs-ashift",
        severity: Error,
        looks_at: "`ashift` of `zdb -C`, `queue/physical_block_size` of the drives",
        rule: "the smallest block is smaller than the drives' own; it cannot be changed",
        fixes: false,
        look: ashift,
    },
    Check {
        id: "zfs-special-redundancy",
        severity: Error,
        looks_at: "classes of virtual devices in `zpool status`",
        rule: "a special or dedup device has less redundancy than the data (error), or a log device has none (warning)",
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

fn pools<'a>(machine: &Machine<'a>, round: &mut Round) -> &'a [Pool] {
    round.ask(&Place::machine(), &machine.detail.pools).map_or(&[], Vec::as_slice)
}

fn place(pool: &Pool) -> Place {
    Place::new("pool", &pool.name)
}

/// A virtual device and all below it.
fn walk<'a>(vdev: &'a Vdev, found: &mut Vec<&'a Vdev>) {
    found.push(vdev);
    for child in &vdev.children {
        walk(child, found);
    }
}

fn state(machine: &Machine, round: &mut Round) {
    for pool in pools(machine, round) {
        let at = place(pool);
        round.look();
        let Some(vdevs) = round.ask(&at, &pool.vdevs) else { continue };
        let mut all = Vec::new();
        vdevs.iter().for_each(|vdev| walk(vdev, &mut all));
        let is_bad = |vdev: &&&Vdev| !["ONLINE", "AVAIL", ""].contains(&vdev.state.as_str());
        let bad: Vec<String> = all.iter().filter(is_bad).map(|vdev| format!("{} {}", vdev.name, vdev.state)).collect();
        let counted: Vec<String> = all
            .iter()
            .filter(|vdev| vdev.children.is_empty() && vdev.errors.iter().any(|number| *number > 0))
            .map(|vdev| format!("{} {}/{}/{}", vdev.name, vdev.errors[0], vdev.errors[1], vdev.errors[2]))
            .collect();
        let damaged = pool.errors.as_deref().filter(|text| !text.starts_with("No known data errors"));
        if pool.state == "ONLINE" && bad.is_empty() && counted.is_empty() && damaged.is_none() {
            continue;
        }
        let what = match (damaged, bad.is_empty()) {
            (Some(_), _) => "data is damaged".to_owned(),
            (None, false) => format!("the pool is {}", pool.state),
            (None, true) => "devices counted errors".to_owned(),
        };
        let mut cost = Vec::new();
        if !bad.is_empty() {
            cost.push(format!("{} of {} not in order", count(number(bad.len()), "device"), all.len()));
        }
        if !counted.is_empty() {
            cost.push(format!("errors reading/writing/of checksums: {}", counted.join(", ")));
        }
        if let Some(text) = damaged {
            cost.push(text.to_owned());
        }
        round.find(
            finding(Error, &at, what, cost.join("; "))
                .seen(
                    format!("zpool status -v {}", pool.name),
                    format!("{} {}", pool.state, bad.join(", ")).trim().to_owned(),
                )
                .mend("See which and why; then replace the device, or scrub and reset the counters.")
                .run(format!("zpool status -v {}", pool.name))
                .run(format!("zpool scrub {0} && zpool clear {0}", pool.name)),
        );
    }
}

fn ashift(machine: &Machine, round: &mut Round) {
    for pool in pools(machine, round) {
        for vdev in round.ask(&place(pool), &pool.vdevs).into_iter().flatten() {
            if ["cache", "spare"].contains(&vdev.class.as_str()) {
                continue;
            }
            let at = Place::new("virtual device", format!("{} of {}", vdev.name, pool.name));
            round.look();
            let Some(ashift) = round.ask(&at, &vdev.ashift).copied() else { continue };
            let mut leaves = Vec::new();
            walk(vdev, &mut leaves);
            let mut worst = None;
            for node in leaves.iter().filter_map(|leaf| machine.node(leaf.node.as_deref()?)) {
                let Some(physical) = round.ask(&at, &node.queue.physical_block) else { continue };
                worst = worst.max(Some((physical.0, node.name.as_str())));
            }
            let smallest = 1_u64.checked_shl(ashift).unwrap_or(u64::MAX);
            let Some((physical, name)) = worst.filter(|(physical, _)| *physical > smallest) else { continue };
            round.find(
                finding(
                    Error,
                    &at,
                    format!("its smallest block is {smallest} bytes and that of {name} is {physical}"),
                    format!(
                        "a block of {smallest} bytes makes the drive read {physical} and write {physical}: {} times as much, for as \
                         long as the pool lives",
                        physical / smallest
                    ),
                )
                .seen(format!("zdb -C {}", pool.name), format!("ashift: {ashift}"))
                .seen(format!("/sys/block/{name}/queue/physical_block_size"), physical)
                .mend("It is fixed for a virtual device: send what is on it elsewhere, make the pool anew, and bring it back.")
                .run(format!("zpool create -o ashift={} {} …", physical.trailing_zeros(), pool.name))
                .destroys(format!("everything on pool {}", pool.name)),
            );
        }
    }
}

/// How many devices it may lose.
fn may_lose(vdev: &Vdev) -> u64 {
    let digit = |rest: &str| rest.chars().next().and_then(|digit| digit.to_digit(10)).map_or(1, u64::from);
    if vdev.kind == "mirror" {
        number(vdev.children.len()).saturating_sub(1)
    } else if let Some(rest) = vdev.kind.strip_prefix("raidz").or_else(|| vdev.kind.strip_prefix("draid")) {
        digit(rest)
    } else {
        0
    }
}

fn special(machine: &Machine, round: &mut Round) {
    for pool in pools(machine, round) {
        let Some(vdevs) = round.ask(&place(pool), &pool.vdevs) else { continue };
        let of_data = vdevs.iter().filter(|vdev| vdev.class == "data").map(may_lose).min().unwrap_or(0);
        for vdev in vdevs.iter().filter(|vdev| ["special", "dedup", "log"].contains(&vdev.class.as_str())) {
            let at = Place::new("virtual device", format!("{} of {}", vdev.name, pool.name));
            round.look();
            let own = may_lose(vdev);
            let is_log = vdev.class == "log";
            if own >= of_data || (is_log && own > 0) {
                continue;
            }
            let found = if is_log {
                finding(
                    Warning,
                    &at,
                    "the log device has no mirror",
                    "if it is lost in the same moment as power, up to 5 s of what was said to be safe are lost",
                )
            } else {
                finding(
                    Error,
                    &at,
                    format!("the {} device survives the loss of {}, and the data of {}", vdev.class, own, of_data),
                    format!(
                        "the pool is lost with it: {} that fail are enough, where the data has room for {of_data}",
                        count(own + 1, "drive")
                    ),
                )
            };
            let leaf = vdev.children.first().map_or(vdev.name.as_str(), |child| child.name.as_str());
            round.find(
                found
                    .seen(format!("zpool status {}", pool.name), format!("{}: {} {}", vdev.class, vdev.kind, vdev.name))
                    .mend("Attach another device to it.")
                    .run(format!("zpool attach {} {leaf} NEW", pool.name))
                    .destroys("everything on the device that is attached"),
            );
        }
    }
}

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
        round.find(
            finding(
                Warning,
                &at,
                format!("{} of the pool are in use", percent(used / 100.0)),
                format!("free space is in pieces ({broken} fragmented): writes look longer for room, and slow down more and more"),
            )
            .seen(format!("zpool get capacity,fragmentation {}", pool.name), list(&[format!("{used} %"), broken.clone()]))
            .mend("Remove snapshots and files, or add another virtual device.")
            .run(format!("zpool list -v {}", pool.name)),
        );
    }
}
