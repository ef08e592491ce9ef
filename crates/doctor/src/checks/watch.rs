//! Who watches: monitors, scrubs and trims by timer.

use terms::diagnosis::Place;
use terms::inventory::Unit;

use super::array_state::redundancy;
use super::mount::wants_trim;
use crate::check::{Check, Information, Round, Warning, finding};
use crate::machine::Machine;
use crate::words::{count, list, number};

const LOOKS_AT: &str = "`systemctl list-units` of services and timers; tables of cron are not looked at";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "no-monitor",
        severity: Warning,
        looks_at: LOOKS_AT,
        rule: "there are arrays with redundancy, pools or thin pools, and the service that tells of a lost drive does not run",
        fixes: false,
        look: monitor,
    },
    Check {
        id: "no-scrub-timer",
        severity: Warning,
        looks_at: LOOKS_AT,
        rule: "there are arrays with redundancy, pools or a btrfs, and no timer scrubs them (information where cron is common)",
        fixes: false,
        look: scrub,
    },
    Check {
        id: "no-trim-timer",
        severity: Warning,
        looks_at: "`fstrim.timer`, `discard` in mount options, `queue/discard_max_bytes`; `autotrim` of pools",
        rule: "a file system or pool on flash is never told to trim",
        fixes: false,
        look: trim,
    },
];

fn is_active(units: &[Unit], starts: &[&str]) -> bool {
    let wanted = |unit: &&Unit| starts.iter().any(|start| unit.name.starts_with(start));
    units.iter().filter(wanted).any(|unit| unit.active == "active")
}

fn seen_units(units: &[Unit], starts: &[&str]) -> String {
    let wanted = |unit: &&Unit| starts.iter().any(|start| unit.name.starts_with(start));
    let found: Vec<String> = units.iter().filter(wanted).map(|unit| format!("{} {}", unit.name, unit.active)).collect();
    if found.is_empty() { "none is loaded".to_owned() } else { found.join(", ") }
}

/// Something that needs to be watched, who does it, and the command that begins it.
struct Duty<'a> {
    what: &'a str,
    how_many: usize,
    units: &'a [&'a str],
    command: &'a str,
}

fn arrays(machine: &Machine) -> usize {
    machine.arrays().filter(|(_, md)| redundancy(&md.level, 2).is_some()).count()
}

fn pools(machine: &Machine, round: &mut Round) -> usize {
    round.ask(&Place::machine(), &machine.detail.pools).map_or(0, Vec::len)
}

fn monitor(machine: &Machine, round: &mut Round) {
    let pools = pools(machine, round);
    let thin = machine.thin_pools(round).len();
    let duties = [
        Duty {
            what: "array",
            how_many: arrays(machine),
            units: &["mdmonitor.service", "mdadm.service"],
            command: "systemctl enable --now mdmonitor.service",
        },
        Duty {
            what: "ZFS pool",
            how_many: pools,
            units: &["zfs-zed.service", "zed.service"],
            command: "systemctl enable --now zfs-zed.service",
        },
        Duty {
            what: "thin pool",
            how_many: thin,
            units: &["dm-event.s", "lvm2-monitor.service"],
            command: "systemctl enable --now dm-event.socket lvm2-monitor.service",
        },
    ];
    for duty in duties.iter().filter(|duty| duty.how_many > 0) {
        let at = Place::machine();
        round.look();
        let Some(units) = round.ask(&at, &machine.detail.units) else { return };
        if is_active(units, duty.units) {
            continue;
        }
        let things = count(number(duty.how_many), duty.what);
        round.find(
            finding(
                Warning,
                &at,
                format!("nobody watches {things}"),
                "a lost drive or a full pool is noticed when the next one fails: 0 messages until then",
            )
            .seen("systemctl list-units --all", seen_units(units, duty.units))
            .mend("Let the service run, and tell it where to send messages.")
            .run(duty.command),
        );
    }
}

fn scrub(machine: &Machine, round: &mut Round) {
    let pools = pools(machine, round);
    let btrfs = machine.detail.file_systems.iter().filter(|system| system.btrfs.is_some()).count();
    let duties = [
        (
            Warning,
            Duty {
                what: "array",
                how_many: arrays(machine),
                units: &["mdcheck_start.timer", "raid-check.timer", "mdcheck.timer"],
                command: "systemctl enable --now mdcheck_start.timer",
            },
        ),
        (
            Warning,
            Duty {
                what: "btrfs",
                how_many: btrfs,
                units: &["btrfs-scrub"],
                command: "systemctl enable --now btrfs-scrub@-.timer",
            },
        ),
        // Debian and its children scrub pools from a table of cron.
        (
            Information,
            Duty {
                what: "ZFS pool",
                how_many: pools,
                units: &["zfs-scrub"],
                command: "systemctl enable --now zfs-scrub-monthly@POOL.timer",
            },
        ),
    ];
    for (severity, duty) in duties.iter().filter(|(_, duty)| duty.how_many > 0) {
        let at = Place::machine();
        round.look();
        let Some(units) = round.ask(&at, &machine.detail.units) else { return };
        if is_active(units, duty.units) {
            continue;
        }
        round.find(
            finding(
                *severity,
                &at,
                format!("no timer scrubs {}", count(number(duty.how_many), duty.what).replace("btrfss", "btrfs")),
                "what went bad is found only when it is read: a second fault, in a rebuild, then makes 1 bad block lost data",
            )
            .seen("systemctl list-units --all", seen_units(units, duty.units))
            .mend("Scrub once a month; see first whether a table of cron does.")
            .run(duty.command),
        );
    }
}

fn trim(machine: &Machine, round: &mut Round) {
    let at = Place::machine();
    let targets = wants_trim(machine, round);
    if !targets.is_empty() {
        round.look();
        if let Some(units) = round.ask(&at, &machine.detail.units)
            && !is_active(units, &["fstrim.timer"])
        {
            round.find(
                finding(
                    Warning,
                    &at,
                    format!("{} on flash are never trimmed", count(number(targets.len()), "file system")),
                    format!(
                        "{}: the drives take 100 % of what was ever written for used, and copy more for each write",
                        list(&targets)
                    ),
                )
                .seen("systemctl list-units --all", seen_units(units, &["fstrim.timer"]))
                .mend("Trim once a week.")
                .run("systemctl enable --now fstrim.timer"),
            );
        }
    }
    for pool in round.ask(&at, &machine.detail.pools).into_iter().flatten() {
        let place = Place::new("pool", &pool.name);
        round.look();
        let (Some(properties), Some(units)) =
            (round.ask(&place, &pool.properties), round.ask(&place, &machine.detail.units))
        else {
            continue;
        };
        if properties.get("autotrim").map(String::as_str) == Some("on") || is_active(units, &["zfs-trim"]) {
            continue;
        }
        round.find(
            finding(
                Information,
                &place,
                "the pool is never trimmed",
                "the drives take 100 % of what was ever written for used, and copy more for each write",
            )
            .seen(
                format!("zpool get autotrim {}", pool.name),
                properties.get("autotrim").map_or("not told", String::as_str),
            )
            .mend("Trim by hand or by timer, or let it trim as it frees.")
            .run(format!("zpool set autotrim=on {}", pool.name)),
        );
    }
}
