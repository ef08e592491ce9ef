//! Who watches: monitors, scrubs and trims by timer.

use terms::command::quote;
use terms::diagnosis::{Place, Severity};
use terms::inventory::{ConfigLine, Pool, SystemdUnit};

use super::mount::wants_trim;
use crate::check::{Check, Information, Nothing, Round, Warning, finding};
use crate::machine::Machine;
use crate::redundancy::of_level;
use crate::words::{count, list, number};

const LOOKS_AT: &str = "`systemctl list-units` of services and timers";
const LOOKS_AT_CRON: &str =
    "`systemctl list-units` of timers, `/etc/crontab`, `/etc/cron.d` and scripts in `/etc/cron.daily` and so on";

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
        looks_at: LOOKS_AT_CRON,
        rule: "there are arrays with redundancy, pools or a btrfs, and neither a timer nor a table of cron scrubs them (pools: \
               information)",
        fixes: false,
        look: scrub,
    },
    Check {
        id: "no-trim-timer",
        severity: Warning,
        looks_at: "`fstrim.timer`, tables of cron, `discard` in mount options, `queue/discard_max_bytes`, `queue/rotational`; \
                   `autotrim` of pools",
        rule: "a file system or pool on flash is never told to trim",
        fixes: false,
        look: trim,
    },
];

fn is_active(units: &[SystemdUnit], starts: &[&str]) -> bool {
    let wanted = |unit: &&SystemdUnit| starts.iter().any(|start| unit.name.starts_with(start));
    units.iter().filter(wanted).any(|unit| unit.active == "active")
}

fn seen_units(units: &[SystemdUnit], starts: &[&str]) -> String {
    let wanted = |unit: &&SystemdUnit| starts.iter().any(|start| unit.name.starts_with(start));
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
    machine.arrays().filter(|(_, md)| of_level(&md.level, 2).is_some()).count()
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
            .advise("Tell it first where to send messages, without which some do not start (`MAILADDR` in `mdadm.conf`), then let it run.")
            .run(Nothing, duty.command),
        );
    }
}

/// Where a table of cron has all the words of one of these.
fn by_cron<'a>(lines: &'a [ConfigLine], any_of: &[&[&str]]) -> Option<&'a ConfigLine> {
    let has = |line: &ConfigLine, word: &str| line.fields.iter().any(|field| field == word);
    lines.iter().find(|line| any_of.iter().any(|words| words.iter().all(|word| has(line, word))))
}

/// Is a duty done? By a unit, or by a table of cron; `None` where that cannot be told, which is written down.
fn is_done(machine: &Machine, round: &mut Round, at: &Place, units: &[&str], cron: &[&[&str]]) -> Option<bool> {
    let loaded = round.ask(at, &machine.detail.units)?;
    if is_active(loaded, units) {
        return Some(true);
    }
    let lines = round.ask(at, &machine.detail.configuration.cron)?;
    Some(by_cron(lines, cron).is_some())
}

/// Something that is to be scrubbed, how much it matters, who may do it, and the command that has it done.
struct Scrub {
    what: &'static str,
    severity: Severity,
    units: &'static [&'static str],
    cron: &'static [&'static [&'static str]],
    command: fn(&Machine) -> String,
}

const SCRUBS: [Scrub; 3] = [
    Scrub {
        what: "array",
        severity: Warning,
        units: &["mdcheck_start.timer", "raid-check.timer", "mdcheck.timer"],
        cron: &[&["checkarray"], &["mdcheck"], &["raid-check"]],
        command: scrub_arrays,
    },
    Scrub {
        what: "btrfs",
        severity: Warning,
        units: &["btrfs-scrub"],
        cron: &[&["btrfs", "scrub"]],
        command: scrub_btrfs,
    },
    // Debian's script is called `/usr/lib/zfs-linux/scrub`.
    Scrub {
        what: "ZFS pool",
        severity: Information,
        units: &["zfs-scrub"],
        cron: &[&["zfs", "scrub"], &["zpool", "scrub"]],
        command: scrub_pools,
    },
];

fn scrub(machine: &Machine, round: &mut Round) {
    let pools = pools(machine, round);
    let btrfs = machine.detail.file_systems.iter().filter(|system| system.btrfs.is_some()).count();
    let at = Place::machine();
    for (Scrub { what, severity, units, cron, command }, how_many) in
        SCRUBS.into_iter().zip([arrays(machine), btrfs, pools])
    {
        if how_many == 0 {
            continue;
        }
        round.look();
        if is_done(machine, round, &at, units, cron) != Some(false) {
            continue;
        }
        let loaded = machine.detail.units.known().map_or(&[][..], Vec::as_slice);
        round.find(
            finding(
                severity,
                &at,
                format!("no timer scrubs {}", count(number(how_many), what).replace("btrfss", "btrfs")),
                "what went bad is found only when it is read: a second fault, in a rebuild, then makes 1 bad block lost data",
            )
            .seen("systemctl list-units --all", seen_units(loaded, units))
            .seen("/etc/crontab, /etc/cron.*", "no line does")
            .advise("Scrub once a month. Where the distribution has another timer for it, take that.")
            .run(Nothing, command(machine)),
        );
    }
}

/// One of the distribution scrubs all arrays.
fn scrub_arrays(_: &Machine) -> String {
    "systemctl enable --now mdcheck_start.timer".to_owned()
}

/// btrfs has no timer of its own, and a line for cron does what one would.
fn scrub_btrfs(machine: &Machine) -> String {
    let systems = machine.detail.file_systems.iter().filter(|system| system.btrfs.is_some());
    let targets = systems.filter_map(|system| system.targets.first());
    let scrubs: Vec<String> = targets.map(|target| format!("btrfs scrub start -B {}", quote(target))).collect();
    format!("echo {} > /etc/cron.d/btrfs-scrub", quote(&format!("0 3 1 * * root {}", scrubs.join("; "))))
}

/// A timer for each pool.
fn scrub_pools(machine: &Machine) -> String {
    let pools = machine.detail.pools.known().into_iter().flatten();
    let timers = pools.map(|pool| format!(" {}", quote(&format!("zfs-scrub-monthly@{}.timer", pool.name))));
    timers.fold("systemctl enable --now".to_owned(), |all, timer| all + &timer)
}

fn trim(machine: &Machine, round: &mut Round) {
    let at = Place::machine();
    let targets = wants_trim(machine, round);
    if !targets.is_empty() {
        round.look();
        if is_done(machine, round, &at, &["fstrim.timer"], &[&["fstrim"]]) == Some(false) {
            let loaded = machine.detail.units.known().map_or(&[][..], Vec::as_slice);
            round.find(
                finding(
                    Warning,
                    &at,
                    format!("nobody trims {} on flash", count(number(targets.len()), "file system")),
                    format!(
                        "{}: the drives take 100 % of what was ever written for used, and copy more for each write",
                        list(&targets)
                    ),
                )
                .seen("systemctl list-units --all", seen_units(loaded, &["fstrim.timer"]))
                .seen("/etc/crontab, /etc/cron.*", "no line does")
                .advise("Trim once a week.")
                .run(Nothing, "systemctl enable --now fstrim.timer"),
            );
        }
    }
    for pool in round.ask(&at, &machine.detail.pools).into_iter().flatten() {
        let place = Place::new("pool", &pool.name);
        // Hard disks have nothing to be told.
        if has_flash(machine, round, &place, pool) != Some(true) {
            continue;
        }
        round.look();
        let Some(properties) = round.ask(&place, &pool.properties) else { continue };
        if properties.get("autotrim").map(String::as_str) == Some("on") {
            continue;
        }
        // Debian's script is called `/usr/lib/zfs-linux/trim`.
        if is_done(machine, round, &place, &["zfs-trim"], &[&["zfs", "trim"], &["zpool", "trim"]]) != Some(false) {
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
            .seen("/etc/crontab, /etc/cron.*", "no line does")
            .advise("Trim by hand or by timer, or let it trim as it frees.")
            .run(Nothing, format!("zpool set autotrim=on {}", quote(&pool.name))),
        );
    }
}

/// Is a device of a pool flash? Where that is not known it is written down.
fn has_flash(machine: &Machine, round: &mut Round, at: &Place, pool: &Pool) -> Option<bool> {
    let mut nodes = Vec::new();
    for vdev in round.ask(at, &pool.vdevs)? {
        crate::group::leaves(vdev, &mut nodes);
    }
    let mut known = None;
    for name in nodes.iter().filter_map(|leaf| leaf.node.as_deref()) {
        match machine.is_flash(round, at, name) {
            Some(true) => return Some(true),
            told => known = known.or(told),
        }
    }
    known
}
