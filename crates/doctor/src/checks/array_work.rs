//! What arrays do by themselves: resyncs, rebuilds, new shapes, checks.

use std::collections::BTreeSet;

use terms::Bytes;
use terms::diagnosis::Severity;
use terms::inventory::{Md, Node, Readout};

use super::array_name::label;
use crate::check::{Error, Information, Round, Warning, finding};
use crate::machine::{Machine, path, place, sectors, sysfs, volume};
use crate::words::{duration, float, list, percent, rate};

pub(super) fn syncing(machine: &Machine, round: &mut Round) {
    for (node, md) in machine.arrays() {
        let at = place(node);
        // One that was not started does nothing.
        if md.state.known().is_some_and(|state| state == "inactive") {
            continue;
        }
        // A list of arrays says of each that waits that it is a resync, so that it tells nothing of what waits.
        let action = match (md.sync_waits, md.sync_action.known()) {
            (true, None) => None,
            _ => match round.ask(&at, &md.sync_action) {
                Some(Some(action)) => Some(action.as_str()),
                _ => continue,
            },
        };
        round.look();
        if action == Some("idle") || action == Some("frozen") {
            continue;
        }
        let work = Work::of(md, action);
        let found = finding(work.severity(), &at, work.what(), work.cost(machine, node, md));
        let found = action.iter().fold(found, |found, action| found.seen(sysfs(node, "md/sync_action"), *action));
        let found = found.seen(sysfs(node, "md/sync_completed"), completed(md));
        round.find(if work.pace == Pace::Held {
            found
                .seen(sysfs(node, "md/array_state"), md.state.known().map_or("", String::as_str))
                .advise(
                    "It begins with the first write: an array that was assembled and not yet written to is kept read-only. `mdadm \
                     --readwrite` begins it at once.",
                )
                .look(format!("mdadm --detail {}", path(node)))
        } else if work.stands && work.pace == Pace::GoesOn {
            // `Grow_continue_command` in mdadm's `Grow.c`, and its `systemd/mdadm-grow-continue@.service`.
            found
                .seen(sysfs(node, "md/sync_speed"), 0)
                .advise(format!(
                    "It stands still. A reshape goes on only while `mdadm` saves what it moves: where that was ended, `mdadm --grow --continue \
                     {array}` goes on, with `--backup-file=FILE` if it was begun with one. Otherwise a member does not answer: the kernel's \
                     messages name it. Fail, stop and remove nothing: what was moved and what was not are told by the reshape alone.",
                    array = path(node)
                ))
                .look(format!("mdadm --detail {}", path(node)))
                .look(format!("systemctl status mdadm-grow-continue@{}", node.name))
                .look("dmesg")
        } else if action.is_none() {
            found
                .advise("`sync_action` tells what waits. Let it come to its turn, and measure nothing before it is done.")
                .look(format!("cat {}", sysfs(node, "md/sync_action")))
        } else {
            let found = match at_limit(machine, md) {
                Some((source, limit)) => found.seen(source, format!("{} KiB/s", limit.0 / 1024)).advise(
                    "It runs at the limit that md keeps for each member, and may go faster without. Raise it for as long as this takes, where other \
                     work can wait: it is not stored. Measure nothing before it is done.",
                )
                .set(format!("echo {ENOUGH} > {}", sysfs(node, "md/sync_speed_max"))),
                None => found.advise("Wait for it, and measure nothing before."),
            };
            found.look(format!("mdadm --wait {}", path(node)))
        });
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
                format!("a {} is going on", noun(action)),
                "1 more reader or writer on every image until it is done",
            )
            .seen(format!("dmsetup status {}", label(node)), action)
            .advise("Wait for it, and measure nothing before.")
            .look(format!("lvs -a -o name,sync_percent,raid_sync_action {}", volume(node))),
        );
    }
}

/// KiB in a second that no member does.
const ENOUGH: u32 = 10_000_000;

/// The limit at which it runs, and where that is kept. md waits whenever it is faster (`md_do_sync` in the kernel's `drivers/md/md.c`), so
/// that what is held by its limit is within a tenth of it.
fn at_limit(machine: &Machine, md: &Md) -> Option<(&'static str, Bytes)> {
    const OF_ALL: &str = "/proc/sys/dev/raid/speed_limit_max";
    let of_all = || Some((OF_ALL, Bytes::kib(machine.parameter("dev.raid.speed_limit_max")?.parse().ok()?)));
    let own = md.sync_speed_max.known().copied().flatten().map(|limit| ("md/sync_speed_max", limit));
    let (source, limit) = own.or_else(of_all).filter(|(_, limit)| limit.0 > 0)?;
    (md.sync_speed?.0 >= limit.0 / 10 * 9).then_some((source, limit))
}

/// The kernel calls by a verb what people call a rebuild.
fn noun(action: &str) -> &str {
    if action == "recover" { "rebuild" } else { action }
}

/// Is it going on?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    GoesOn,
    /// Another array on the same drives is first.
    Waits,
    /// The array is read-only.
    Held,
}

/// What md does by itself.
struct Work<'a> {
    /// Its name; nothing where it waits and the name is not told.
    action: Option<&'a str>,
    pace: Pace,
    /// It is a check, or may be one: no member is missing, and what waits is not told.
    checks: bool,
    /// No member is missing, and nothing was written since they were put together.
    unwritten: bool,
    /// It has a speed, which is 0.
    stands: bool,
    /// No member is missing and copies agree: a member is replaced, the array takes another shape, or it is repaired.
    whole: bool,
}

impl<'a> Work<'a> {
    fn of(md: &Md, action: Option<&'a str>) -> Self {
        let read_only = md.state.known().is_some_and(|state| ["read-auto", "readonly"].contains(&state.as_str()));
        let pace = match (read_only, md.sync_waits) {
            (true, _) if action != Some("check") => Pace::Held,
            (_, true) => Pace::Waits,
            _ => Pace::GoesOn,
        };
        let none_missing = md.degraded.known() == Some(&Some(0));
        Self {
            action,
            pace,
            stands: action == Some("reshape") && md.sync_speed.is_some_and(|speed| speed.0 == 0),
            checks: action.map_or(none_missing, |action| action == "check"),
            unwritten: none_missing && md.state.known().is_some_and(|state| state == "read-auto"),
            whole: none_missing && action.is_some_and(|action| ["recover", "reshape", "repair"].contains(&action)),
        }
    }

    const fn severity(&self) -> Severity {
        match self {
            Self { checks: true, .. } | Self { unwritten: true, .. } => Information,
            Self { whole: true, .. } => Warning,
            _ => Error,
        }
    }

    fn what(&self) -> String {
        let Some(action) = self.action.map(noun) else {
            return "it waits for another array; for which work is not told".to_owned();
        };
        match self.pace {
            Pace::Waits => format!("a {action} waits for another"),
            Pace::Held => format!("a {action} waits for the first write"),
            Pace::GoesOn if self.stands => format!("a {action} is under way and stands still"),
            Pace::GoesOn => format!("a {action} is going on"),
        }
    }

    fn cost(&self, machine: &Machine, node: &Node, md: &Md) -> String {
        let redundancy = if self.whole { "redundancy is whole" } else { "redundancy is not whole" };
        let members = md.members.len();
        match self.pace {
            Pace::Waits if self.action.is_none() && self.checks => format!(
                "all of its {members} members are in their places. The kernel's list uses this word for a check as for a resync; neither begins \
                 until another array on the same drives is done"
            ),
            Pace::Waits if self.checks => {
                format!("none of its {members} members is read until another array on the same drives is done")
            }
            Pace::Waits => format!(
                "nothing is copied between its {members} members until another array on the same drives is done, and {redundancy}"
            ),
            Pace::Held => format!("nothing is copied between its {members} members until then, and {redundancy}"),
            Pace::GoesOn => {
                let rest = format!("{}{}", remaining(md), sharing(machine, node));
                if self.checks {
                    return format!("1 more reader on every member until it is done{rest}");
                }
                format!(
                    "{redundancy}. What is measured now competes with it: one published study copied at 291 MB/s onto a mirror that resynced, \
                     and at 375 MB/s onto one such drive{rest}"
                )
            }
        }
    }
}

/// Other arrays on the same drives, which are as much disturbed.
fn sharing(machine: &Machine, node: &Node) -> String {
    let drives = machine.bottom(&node.name);
    let on_them: BTreeSet<&str> = drives.iter().flat_map(|drive| machine.names_above(&drive.name)).collect();
    let others: Vec<&str> = machine
        .arrays()
        .map(|(other, _)| other.name.as_str())
        .filter(|name| {
            *name != node.name && on_them.contains(name) && !machine.names_below(name).contains(node.name.as_str())
        })
        .collect();
    if others.is_empty() { String::new() } else { format!("; it shares drives with {}", list(&others)) }
}

fn completed(md: &Md) -> String {
    match &md.sync_completed_sectors {
        _ if md.sync_waits => "delayed".to_owned(),
        Readout::Known(Some([done, all])) => format!("{done} / {all}"),
        Readout::Known(None) => "none".to_owned(),
        Readout::Unknown(why) => format!("not known: {why}"),
    }
}

/// How much is left, and how long that takes at the speed of now, or at least at the most that the array allows.
fn remaining(md: &Md) -> String {
    let Some(Some([done, all])) = md.sync_completed_sectors.known() else { return String::new() };
    let left = sectors(all.saturating_sub(*done));
    let share = percent(float(*done) / float((*all).max(1)));
    if let Some(now) = md.sync_speed.filter(|now| now.0 > 0) {
        let rest = duration(left.as_f64() / now.as_f64());
        return format!("; {share} are done, the rest takes {rest} at the {} of now", rate(now.as_f64()));
    }
    match md.sync_speed_max.known() {
        Some(Some(most)) if most.0 > 0 => {
            format!("; {share} are done, the rest takes {} or more", duration(left.as_f64() / most.as_f64()))
        }
        _ => format!("; {share} are done"),
    }
}
