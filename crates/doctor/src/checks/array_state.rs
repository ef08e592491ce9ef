//! Arrays that are not whole: members missing, resyncing, not started, not agreeing.

use terms::diagnosis::Place;
use terms::inventory::{Md, Node};

use crate::check::{Check, Error, Information, Round, Warning, finding};
use crate::machine::{Machine, path, place, sectors, sysfs};
use crate::words::{count, duration, float, list, number, percent};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "array-degraded",
        severity: Error,
        looks_at: "`md/degraded`, `md/dev-*/state`; health in `dmsetup status` of arrays of LVM",
        rule: "members are missing or faulty",
        fixes: false,
        look: degraded,
    },
    Check {
        id: "array-not-running",
        severity: Error,
        looks_at: "`md/array_state`",
        rule: "an array is assembled and not started",
        fixes: false,
        look: stopped,
    },
    Check {
        id: "array-resyncing",
        severity: Error,
        looks_at: "`md/sync_action`, `md/sync_completed`; action in `dmsetup status` of arrays of LVM",
        rule: "it is resynced, rebuilt or reshaped (error), or checked (information)",
        fixes: false,
        look: syncing,
    },
    Check {
        id: "array-mismatches",
        severity: Warning,
        looks_at: "`md/mismatch_cnt`; mismatches in `dmsetup status` of arrays of LVM",
        rule: "the last check found copies or parity that differ",
        fixes: false,
        look: mismatches,
    },
    Check {
        id: "array-member-errors",
        severity: Warning,
        looks_at: "`md/dev-*/errors`",
        rule: "reads of a member failed and were mended from the others",
        fixes: false,
        look: member_errors,
    },
];

/// How many members it may lose for sure, when it is whole. `None`: it has no redundancy, or its level is not known.
pub(super) fn redundancy(level: &str, devices: u32) -> Option<u32> {
    match level {
        "raid1" => Some(devices.saturating_sub(1)),
        "raid4" | "raid5" | "raid10" => Some(1),
        "raid6" => Some(2),
        _ => None,
    }
}

fn degraded(machine: &Machine, round: &mut Round) {
    for (node, md) in machine.arrays() {
        let at = place(node);
        let Some(Some(missing)) = round.ask(&at, &md.degraded) else { continue };
        round.look();
        let faulty: Vec<&str> = md
            .members
            .iter()
            .filter(|member| member.state.iter().any(|state| state == "faulty"))
            .map(|member| member.device.as_str())
            .collect();
        if *missing == 0 && faulty.is_empty() {
            continue;
        }
        let devices = md.devices.known().copied().unwrap_or(0);
        let left = redundancy(&md.level, devices).unwrap_or(0).saturating_sub(*missing);
        let found = finding(
            Error,
            &at,
            format!("{} of {} are missing", missing, count(u64::from(devices), "member")),
            format!(
                "it is sure to survive the loss of {} more; {} of data stand on it",
                count(u64::from(left), "drive"),
                node.size
            ),
        )
        .seen(sysfs(node, "md/degraded"), missing);
        let found = if faulty.is_empty() {
            found
        } else {
            found.seen(sysfs(node, "md/dev-*/state"), format!("faulty: {}", list(&faulty)))
        };
        round.find(
            found
                .mend("Find out why it left before anything is added. A new member is overwritten.")
                .run(format!("mdadm --detail {}", path(node)))
                .run(format!("mdadm {} --add NEW", path(node)))
                .destroys("everything on the drive that is added"),
        );
    }
    for (node, _, raid) in machine.mapped_arrays(round) {
        let at = place(node);
        round.look();
        let Some(health) = round.ask(&at, &raid.health) else { continue };
        let dead = health.matches('D').count();
        if dead == 0 {
            continue;
        }
        let left = redundancy(raid.level.split('_').next().unwrap_or_default(), count_of(health)).unwrap_or(0);
        let left = left.saturating_sub(u32::try_from(dead).unwrap_or(u32::MAX));
        round.find(
            finding(
                Error,
                &at,
                format!("{dead} of {} are dead", count(number(health.len()), "image")),
                format!(
                    "it is sure to survive the loss of {} more; {} of data stand on it",
                    count(u64::from(left), "drive"),
                    node.size
                ),
            )
            .seen(format!("dmsetup status {}", label(node)), health)
            .mend("Find out why, then let LVM put another in its place.")
            .run("lvconvert --repair GROUP/VOLUME"),
        );
    }
}

fn count_of(health: &str) -> u32 {
    u32::try_from(health.len()).unwrap_or(u32::MAX)
}

fn label(node: &Node) -> &str {
    node.label.as_deref().unwrap_or(&node.name)
}

fn stopped(machine: &Machine, round: &mut Round) {
    for (node, md) in machine.arrays() {
        let at = place(node);
        round.look();
        let Some(state) =
            round.ask(&at, &md.state).filter(|state| ["inactive", "clear", "broken"].contains(&state.as_str()))
        else {
            continue;
        };
        let members = count(number(md.members.len()), "member");
        round.find(
            finding(
                Error,
                &at,
                format!("the array is `{state}`"),
                format!("nothing on it can be read; it holds {members}, which look used to other programs"),
            )
            .seen(sysfs(node, "md/array_state"), state)
            .mend("Too few members were found when it was assembled. See which, then start it.")
            .run(format!("mdadm --detail {}", path(node)))
            .run(format!("mdadm --run {}", path(node))),
        );
    }
}

fn syncing(machine: &Machine, round: &mut Round) {
    for (node, md) in machine.arrays() {
        let at = place(node);
        let Some(Some(action)) = round.ask(&at, &md.sync_action) else { continue };
        round.look();
        if action == "idle" || action == "frozen" {
            continue;
        }
        let severity = if action == "check" { Information } else { Error };
        let left = remaining(md);
        let cost = match (severity, left) {
            (Information, left) => format!("1 more reader on every member until it is done{left}"),
            (_, left) => format!(
                "redundancy is not whole, and what is measured now is shared with it: in one published study copies went onto a \
                 mirror that resynced at 291 MB/s, and onto one such drive at 375{left}"
            ),
        };
        round.find(
            finding(severity, &at, format!("a {action} is going on"), cost)
                .seen(sysfs(node, "md/sync_action"), action)
                .seen(sysfs(node, "md/sync_completed"), completed(md))
                .mend("Wait for it, and measure nothing before.")
                .run(format!("mdadm --wait {}", path(node))),
        );
    }
    for (node, _, raid) in machine.mapped_arrays(round) {
        let at = place(node);
        round.look();
        let Some(action) = round.ask(&at, &raid.sync_action).filter(|action| *action != "idle" && *action != "frozen")
        else {
            continue;
        };
        let severity = if action == "check" { Information } else { Error };
        round.find(
            finding(
                severity,
                &at,
                format!("a {action} is going on"),
                "1 more reader or writer on every image until it is done",
            )
            .seen(format!("dmsetup status {}", label(node)), action)
            .mend("Wait for it, and measure nothing before.")
            .run(format!("lvs -o name,sync_percent,raid_sync_action   # {}", label(node))),
        );
    }
}

fn completed(md: &Md) -> String {
    match &md.sync_completed_sectors {
        terms::inventory::Reading::Known(Some([done, all])) => format!("{done} / {all}"),
        terms::inventory::Reading::Known(None) => "none".to_owned(),
        terms::inventory::Reading::Unknown(why) => format!("not known: {why}"),
    }
}

/// How much is left, and how long at least at the most that the array allows.
fn remaining(md: &Md) -> String {
    let Some(Some([done, all])) = md.sync_completed_sectors.known() else { return String::new() };
    let left = sectors(all.saturating_sub(*done));
    let share = percent(float(*done) / float((*all).max(1)));
    match md.sync_speed_max.known() {
        Some(Some(most)) if most.0 > 0 => {
            format!("; {share} are done, the rest takes {} or more", duration(left.as_f64() / most.as_f64()))
        }
        _ => format!("; {share} are done"),
    }
}

fn mismatches(machine: &Machine, round: &mut Round) {
    for (node, md) in machine.arrays() {
        let at = place(node);
        let Some(Some(found)) = round.ask(&at, &md.mismatch_sectors) else { continue };
        round.look();
        if *found > 0 {
            differ(round, machine, node, &at, &md.level, *found, sysfs(node, "md/mismatch_cnt"));
        }
    }
    for (node, _, raid) in machine.mapped_arrays(round) {
        let at = place(node);
        round.look();
        let Some(found) = round.ask(&at, &raid.mismatches) else { continue };
        if *found > 0 {
            differ(round, machine, node, &at, &raid.level, *found, format!("dmsetup status {}", label(node)));
        }
    }
}

fn differ(round: &mut Round, machine: &Machine, node: &Node, at: &Place, level: &str, found: u64, source: String) {
    let checked = machine.down(&node.name).iter().any(|below| below.kind == "integrity");
    let which = match level.split('_').next().unwrap_or_default() {
        _ if checked => "members have checksums, so these may be read errors that were mended",
        "raid1" | "raid10" => "it cannot tell which copy is right, and `repair` keeps either",
        "raid6" => "with two parities it can be told which block is wrong (`raid6check`), but `repair` does not",
        _ => "it cannot tell whether data or parity is right, and `repair` believes the data",
    };
    let advice = "Do not repair before it is known which copy is right: `repair` wrote the bad copy over the good one in half of the \
                  tests, and took away the trace. Check again; swap space on a mirror is a harmless cause.";
    round.find(
        finding(
            Warning,
            at,
            format!("copies differ in {}", sectors(found)),
            format!("{found} sectors of 512 bytes: {which}"),
        )
        .seen(source, found)
        .mend(advice)
        .run(format!("echo check > {}", sysfs(node, "md/sync_action"))),
    );
}

fn member_errors(machine: &Machine, round: &mut Round) {
    for (node, md) in machine.arrays() {
        for member in &md.members {
            let at = Place::new("member", format!("{} of {}", member.device, label(node)));
            round.look();
            let Some(errors) = round.ask(&at, &member.errors).filter(|errors| **errors > 0) else { continue };
            let limit = md.max_read_errors.known().copied().flatten();
            let limit =
                limit.map_or_else(String::new, |limit| format!("; the member is thrown out after {limit} in an hour"));
            round.find(
                finding(
                    Warning,
                    &at,
                    format!("{} of this member failed", count(*errors, "read")),
                    format!("each was mended from the other members{limit}"),
                )
                .seen(sysfs(node, &format!("md/dev-{}/errors", member.device)), errors)
                .mend("Ask the drive for its health, then scrub.")
                .run(format!("smartctl -x /dev/{}", member.device)),
            );
        }
    }
}
