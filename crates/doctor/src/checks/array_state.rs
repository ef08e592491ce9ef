//! Arrays that are not whole: members missing, not started, not agreeing.

use std::collections::BTreeSet;

use terms::diagnosis::Place;
use terms::inventory::{Md, Node};

use super::array_name::{container_of, is_container, label};
use super::health::cannot_read;
use super::message_programs::is_of_change;
use crate::check::{Brought, Check, Data, Error, Information, Nothing, Round, Warning, finding};
use crate::condition::{
    Members, has_failed, has_failed_images, has_lost_journal, has_place_for_each_bay, holds_nothing, is_at_work,
};
use crate::machine::{Machine, path, place, sectors, sysfs, volume};
use crate::redundancy::of_level;
use crate::remedy::Found;
use crate::words::{count, list, number};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "array-degraded",
        severity: Error,
        looks_at: "`md/degraded`, `md/dev-*/state`; health in `dmsetup status` of arrays of LVM, or in `lvs -o lv_attr`",
        rule: "members or the journal are missing or faulty (error), a faulty one was replaced (warning), or places of the mirror that a \
               storage box starts from are empty (information)",
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
        looks_at: "`md/sync_action`, `md/sync_completed`, `md/sync_speed`; action in `dmsetup status` of arrays of LVM",
        rule: "it is resynced, rebuilt or reshaped (error; a warning while redundancy is whole; information where no member is missing and nothing was written yet), or checked (information)",
        fixes: false,
        look: super::array_work::syncing,
    },
    Check {
        id: "array-mismatches",
        severity: Warning,
        looks_at: "`md/mismatch_cnt`; mismatches in `dmsetup status` of arrays of LVM, or in `lvs -o lv_attr`",
        rule: "the last check found copies or parity that differ",
        fixes: false,
        look: mismatches,
    },
    Check {
        id: "array-member-errors",
        severity: Warning,
        looks_at: "`md/dev-*/errors`, `md/dev-*/bad_blocks`, `md/dev-*/state`",
        rule: "reads of a member failed and were repaired from the others, it has blocks on its list of bad ones, or the array wants \
               another in its place",
        fixes: false,
        look: super::array_member::errors,
    },
];

fn survives(level: &str, devices: u32, lost: u32, node: &Node) -> String {
    let left = of_level(level, devices).unwrap_or(0).saturating_sub(lost);
    let loss = match left {
        // Of RAID-10 it depends on which: only the other copy of what is gone is a last one.
        0 if level.starts_with("raid10") => "it is not sure to survive the loss of another drive".to_owned(),
        0 => "no redundancy is left: the next drive that is lost takes data with it".to_owned(),
        1 => "it is sure to survive the loss of another drive, and not of two".to_owned(),
        left => format!("it is sure to survive the loss of {left} more drives"),
    };
    // No array has no size: nobody looked.
    if node.size.0 == 0 { loss } else { format!("{loss}; {} of data stand on it", node.size) }
}

/// What makes such mirrors fills a place when a drive comes.
fn more_places(node: &Node, all: u32, degraded: u32) -> Found {
    let here = count(u64::from(all.saturating_sub(degraded)), "member");
    finding(
        Information,
        &place(node),
        format!("{here} of {} are in sync", count(u64::from(all), "place")),
        "systems of storage boxes make the mirror that they start from with a place for every bay: where the box has no more drives than \
         that, 0 are missing",
    )
    .seen(sysfs(node, "md/degraded"), degraded)
    .advise("Count the drives. If there are more than members, one of them was thrown out.")
    .look(format!("mdadm --detail {}", path(node)))
}

/// All places are filled, and what failed is still listed.
fn replaced(node: &Node, md: &Md, members: &Members) -> Found {
    let names = list(&members.faulty);
    let found = finding(
        Warning,
        &place(node),
        format!("{names} failed, and {} in sync without it", count(u64::from(members.all), "member")),
        "0 members are missing: a spare has taken the place",
    );
    let then = match container_of(md) {
        None => "then it can be removed, and another added as a spare.".to_owned(),
        // `Manage_remove` in mdadm's `Manage.c`: "still in use, cannot remove".
        Some(container) => format!(
            "then it can be removed from the container by its name (`mdadm {container} --remove`, which refuses what an array uses), and \
             another added there."
        ),
    };
    taken_out(found, node, md, members).advise(format!("Ask the drive for its health; {then}"))
}

/// An array without the journal that it was made with takes no writes (`r5l_log_disk_error` in the kernel's `drivers/md/raid5-cache.c`).
fn without_journal(node: &Node, md: &Md, members: &Members) -> Found {
    let found = finding(
        Error,
        &place(node),
        "the array has lost its journal",
        "0 members are missing, and 0 writes are taken: what was in the journal and not yet on the members is lost with it",
    );
    another_journal(found, node, md, members, "No member is to be replaced.")
}

/// Nor does it fill a member: it is read-only until it has another journal (`raid5_run` in the kernel's `drivers/md/raid5.c`).
fn another_journal(found: Found, node: &Node, md: &Md, members: &Members, then: &str) -> Found {
    let array = path(node);
    // mdadm(8), `--add-journal`: for an array that lost its journal, while it is read-only.
    taken_out(found.seen(sysfs(node, "md/consistency_policy"), "journal"), node, md, members)
        .advise(format!(
            "Find out why it failed. Unmount what is on the array and give it another journal; then check the file systems on it before \
             they are mounted. {then}"
        ))
        .look("lsblk -f DEVICE")
        .run(Nothing, format!("mdadm --readonly {array}"))
        .run(
            Brought("everything on the device that becomes the journal".to_owned()),
            format!("mdadm {array} --add-journal DEVICE"),
        )
}

const MEMBERS_LATER: &str =
    "The members that are missing come after that, and after another look: until it has a journal it fills none.";

/// The kernel keeps what failed until it is removed. From an array of firmware nothing is removed: `mdadm` wants its container for that
/// (`Manage_subdevs` in its `Manage.c`), in which nothing is called failed.
fn taken_out(found: Found, node: &Node, md: &Md, members: &Members) -> Found {
    let found = found.look(format!("mdadm --detail {}", path(node)));
    if members.faulty.is_empty() {
        return found;
    }
    let found = found.seen(sysfs(node, "md/dev-*/state"), format!("faulty: {}", list(&members.faulty)));
    match container_of(md) {
        Some(container) => found.look(format!("mdadm --detail {container}")),
        None => found.run(Nothing, format!("mdadm {} --remove failed", path(node))),
    }
}

/// What a failed array costs.
fn lost(node: &Node) -> String {
    let size = if node.size.0 == 0 { String::new() } else { format!(" of {}", node.size) };
    format!("0 bytes{size} are sure to be read: each stripe lacks more than its redundancy makes up for")
}

/// A failed array has no command here: whatever writes to a member can be the loss of what is on it (mdadm(8), `--assemble
/// --force`; `--re-add` and `--add` are refused by `Manage_add` in its `Manage.c`, as they "might destroy data").
fn saved(found: Found) -> Found {
    found
        .advise(
            "Write nothing to it or its members: `--add` and `--create` destroy what is left. Find out what took them away at once; a \
             cable, a controller or its power takes several. When they are back, compare `Events` and `Update Time` of all members: \
             where they are close, `mdadm --assemble --force` starts the array from members that agree, best on copies or overlays of \
             them, and what was written in between is lost. Copy everything off before anything is added.",
        )
        .look("mdadm --examine MEMBER …")
        .look("dmesg")
}

/// Boxes of Synology keep a stripe running, and mark the member that failed.
fn without_redundancy(node: &Node, md: &Md, faulty: &[&str]) -> Found {
    let all = count(number(md.members.len()), "member");
    let what = format!("{} of {all} failed, and the array has no redundancy", faulty.len());
    let found = finding(Error, &place(node), what, lost(node));
    saved(found.seen(sysfs(node, "md/dev-*/state"), format!("faulty: {}", list(faulty))))
}

fn degraded(machine: &Machine, round: &mut Round) {
    for (node, md) in machine.arrays() {
        let at = place(node);
        let Some(degraded) = round.ask(&at, &md.degraded) else { continue };
        let Some(degraded) = degraded else {
            round.look();
            let faulty = Members::of(md, 0).faulty;
            if !faulty.is_empty() {
                round.find(without_redundancy(node, md, &faulty));
            }
            continue;
        };
        round.look();
        let members = Members::of(md, *degraded);
        if *degraded == 0 && members.faulty.is_empty() && !has_lost_journal(md) {
            continue;
        }
        if *degraded == 0 {
            let told = if has_lost_journal(md) { without_journal } else { replaced };
            round.find(told(node, md, &members));
            continue;
        }
        if has_place_for_each_bay(md, *degraded) && members.faulty.is_empty() {
            round.find(more_places(node, members.all, *degraded));
            continue;
        }
        let all = count(u64::from(members.all), "member");
        let what = if members.missing == 0 && members.faulty.is_empty() {
            let pace = if md.sync_waits {
                "waits for its turn"
            } else if is_at_work(md) {
                "is being filled"
            } else {
                "waits to be filled"
            };
            let synced = members.all.saturating_sub(*degraded);
            format!("{synced} of {all} are in sync, and {} {pace}", members.filled())
        } else {
            format!("{} of {all} are missing or faulty", members.missing.max(u32::from(!members.faulty.is_empty())))
        };
        // Whether RAID-10 can do without several depends on which they are, and only the kernel that runs it knows.
        let is_doubtful = md.level.starts_with("raid10") && *degraded > 1 && md.state.known().is_none();
        let failed = has_failed(md, *degraded);
        let are = if members.all == 1 { "is" } else { "are" };
        let what = if failed { format!("{degraded} of {all} {are} gone, and it cannot do without them") } else { what };
        let lost_journal = has_lost_journal(md);
        let what = if lost_journal { format!("{what}, and its journal is lost") } else { what };
        let cost = if failed { lost(node) } else { survives(&md.level, members.all, *degraded, node) };
        let mut found = finding(Error, &at, what, cost).seen(sysfs(node, "md/degraded"), degraded);
        for (word, names) in [("faulty", &members.faulty), ("not in sync", &members.filling), ("spare", &members.spare)]
        {
            if !names.is_empty() {
                found = found.seen(sysfs(node, "md/dev-*/state"), format!("{word}: {}", list(names)));
            }
        }
        let found = found.look(format!("mdadm --detail {}", path(node)));
        round.find(match (failed || is_doubtful, lost_journal) {
            (true, _) => saved(found),
            (_, true) => another_journal(found, node, md, &members, MEMBERS_LATER),
            _ => match last_copies(machine, md, &members, *degraded) {
                weak if weak.is_empty() || is_at_work(md) => made_whole(found, node, md, &members),
                weak => copied_first(found, &weak),
            },
        });
    }
    for (node, _, raid) in machine.mapped_arrays(round) {
        let at = place(node);
        round.look();
        let Some(health) = round.ask(&at, &raid.health) else { continue };
        let dead = u32::try_from(health.matches('D').count()).unwrap_or(u32::MAX);
        if dead == 0 {
            continue;
        }
        let images = u32::try_from(health.len()).unwrap_or(u32::MAX);
        if has_failed_images(raid) {
            let what =
                format!("{dead} of {} are dead, and it cannot do without them", count(u64::from(images), "image"));
            let found = finding(Error, &at, what, lost(node)).seen(format!("dmsetup status {}", label(node)), health);
            round.find(
                found
                    .advise(
                        "Replace and repair nothing: that writes to what is left. Find out what took them away at once, and bring it \
                         back. Copy everything off before anything else is done.",
                    )
                    .look("lvs -a -o +devices,lv_health_status")
                    .look("dmesg"),
            );
            continue;
        }
        let found = finding(
            Error,
            &at,
            format!("{dead} of {} are dead", count(u64::from(images), "image")),
            survives(&raid.level, images, dead, node),
        )
        .seen(format!("dmsetup status {}", label(node)), health);
        round.find(super::lvm_raid::made_whole(found, &volume(node)));
    }
    super::lvm_raid::without_device(machine, round);
    super::lvm_raid::left_behind(machine, round);
}

/// Drives that cannot read all that is on them and hold what an array without redundancy has nowhere else.
fn last_copies<'a>(machine: &Machine<'a>, md: &'a Md, members: &Members, degraded: u32) -> Vec<&'a str> {
    let left = of_level(&md.level, members.all).unwrap_or(0).saturating_sub(degraded);
    let whole = md.members.iter().filter(|member| left == 0 && !holds_nothing(member));
    let below = whole.flat_map(|member| machine.names_below(&member.device));
    let drives = below.filter(|name| machine.drive(name).is_some_and(cannot_read));
    drives.collect::<BTreeSet<_>>().into_iter().collect()
}

/// A rebuild reads all that is left, and ends or loses data at what cannot be read (md(4), RECOVERY).
fn copied_first(found: Found, weak: &[&str]) -> Found {
    let hold = if weak.len() == 1 { "holds" } else { "hold" };
    let found = found.advise(format!(
        "Add nothing yet: {} {hold} what the array has nowhere else, and cannot read all of it. A rebuild reads every block, and ends or \
         loses data there; so does an extended self-test or a check. Copy what matters off first, then copy the whole drive to another \
         with a program that goes on past what cannot be read (GNU ddrescue), and rebuild from that copy.",
        list(weak)
    ));
    weak.iter().fold(found, |found, drive| found.look(format!("smartctl -x /dev/{drive}")))
}

/// What makes an array whole: nothing where it does so itself, the member that went, and only then another drive.
fn made_whole(found: Found, node: &Node, md: &Md, members: &Members) -> Found {
    let whole = members.missing == 0 && members.faulty.is_empty();
    if is_at_work(md) && !whole {
        return found
            .advise(format!(
                "Let it finish what it does: until then nothing is added or taken out. Where members are missing after that, take out those that \
                 failed (`mdadm {} --remove failed`) and put others in their place; where none is, it is whole.",
                path(node)
            ))
            .look("cat /proc/mdstat");
    }
    if whole && md.sync_action.known().and_then(Option::as_deref) == Some("frozen") {
        // The kernel's Documentation/admin-guide/md.rst, `reshape_position` and `sync_action`. A reshape that goes on while mdadm does not
        // save what it moves loses that in a crash (`Grow_continue_command` in its `Grow.c`).
        let action = sysfs(node, "md/sync_action");
        return found
            .advise(format!(
                "Somebody holds it (`frozen`), and it fills nothing until it is let go on. A reshape that was interrupted holds it too: then \
                 `reshape_position` says a number, and only `mdadm --grow --continue {}` lets it go on, with `--backup-file=FILE` if it was \
                 begun with one. Where it says `none`, and nobody is at work on it, `echo idle > {action}` does. No drive is to be replaced.",
                path(node)
            ))
            .look("cat /proc/mdstat")
            .look(format!("cat {}", sysfs(node, "md/reshape_position")));
    }
    if is_at_work(md) || whole {
        return found
            .advise("No drive is to be replaced: the array fills its member itself, if not at once then with the first write.")
            .look("cat /proc/mdstat");
    }
    if !members.spare.is_empty() {
        return found
            .advise("It has a spare and takes it by itself. See why it has not: it may be read-only, or its resync held back.")
            .look(format!("cat {}", sysfs(node, "md/{array_state,sync_action}")));
    }
    if let Some(container) = container_of(md) {
        // mdadm(8), `--add`: what is added to a container is a spare of the arrays in it, and is taken where one is missing.
        return found
            .advise(
                "Find out why it left before anything is added, and ask the firmware how it sees it. A drive is added to the container of \
                 the array, and not to the array.",
            )
            .look(format!("mdadm --detail {container}"))
            .look("mdadm --examine MEMBER")
            .run(
                Brought("everything on the drive that is added".to_owned()),
                format!("mdadm {container} --add NEW"),
            );
    }
    let array = path(node);
    // A member that failed is still bound, and the kernel does not take it again before it is removed (mdadm(8), `--re-add`).
    let found =
        if members.faulty.is_empty() { found } else { found.run(Nothing, format!("mdadm {array} --remove failed")) };
    found
        .advise(
            "Find out why it left before anything is added. One that was away for a moment and is sound is added again, and with a \
             bitmap only what changed is written. A new one is overwritten.",
        )
        .look("mdadm --examine MEMBER")
        .run(Nothing, format!("mdadm {array} --re-add MEMBER"))
        .run(
            Brought("everything on the drive that is added".to_owned()),
            format!("mdadm {array} --add NEW"),
        )
}

fn stopped(machine: &Machine, round: &mut Round) {
    for (node, md) in machine.arrays() {
        let at = place(node);
        round.look();
        let Some(state) = round.ask(&at, &md.state) else { continue };
        if is_container(md) || !["inactive", "clear", "broken"].contains(&state.as_str()) {
            continue;
        }
        let holds = match number(md.members.len()) {
            0 => "its members look used to other programs".to_owned(),
            some => format!("it holds {}, which look used to other programs", count(some, "member")),
        };
        let found =
            finding(Error, &at, format!("the array is `{state}`"), format!("nothing on it can be read; {holds}"))
                .seen(sysfs(node, "md/array_state"), state)
                .look(format!("mdadm --detail {}", path(node)));
        // Which array lacks what it was moving is not told: none is started without it.
        let is_told = || machine.detail.linux.messages.known().into_iter().flatten().any(|line| is_of_change(line));
        let is_reshaped = md.sync_action.known().and_then(Option::as_deref) == Some("reshape") || is_told();
        round.find(if state == "inactive" && is_reshaped {
            // mdadm(8), “GROW MODE” and `--backup-file`.
            found
                .advise(
                    "It stopped in the middle of a change of its shape: what it was asked for is told as `New Level`, `Delta Devices` and so on. \
                     It is assembled with all members, and with the file that the change kept its critical section in (`--backup-file`), \
                     if it had one; then it goes on. Have a copy of each member first. Neither `--create` nor a start without that file \
                     knows which part has which shape.",
                )
                .look("mdadm --examine MEMBER …")
        } else if state == "inactive" {
            // mdadm(8), --incremental and --run.
            found
                .advise(
                    "Too few members were found when it was assembled. Compare what they say of themselves (`Events`), and bring back those that \
                     are missing: `--incremental` takes each that belongs to it, and with all of them it starts whole. Where all are here and some are a few events behind, copies come first, and then \
                     `--assemble --force` with the newest ones: it takes a member that is out of date as if it were not. A member that is added or created anew is overwritten, also where only its superblock is lost. To start it without them is the last resort: they are out of date from the first write on.",
                )
                .look("mdadm --examine MEMBER …")
                .run(Nothing, "mdadm --incremental MEMBER")
                .run(
                    Data("what only the missing members hold, if the others are older".to_owned()),
                    format!("mdadm --run {}", path(node)),
                )
        } else {
            found.advise("It has lost what it cannot do without. See in the kernel's messages which drive went, and bring it back.").look("dmesg")
        });
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
    super::lvm_raid::differing(machine, round);
}

fn differ(round: &mut Round, machine: &Machine, node: &Node, at: &Place, level: &str, found: u64, source: String) {
    let checked = machine.down(&node.name).iter().any(|below| below.kind == "integrity");
    let which = match level.split('_').next().unwrap_or_default() {
        _ if checked => "members have checksums, so these may be read errors that were repaired",
        "raid1" | "raid10" => "it cannot tell which copy is right, and `repair` keeps either",
        "raid6" => "with two parities it can be told which block is wrong (`raid6check`), but `repair` does not",
        _ => "it cannot tell whether data or parity is right, and `repair` believes the data",
    };
    let has_parity = ["raid4", "raid5", "raid6"].iter().any(|parity| level.starts_with(parity));
    let (what, advice) = if has_parity {
        (
            "data and parity",
            "Do not repair before it is known what is wrong: `repair` makes parity fit the data, also where these are wrong, and takes away the \
             trace. Check again, ask all drives for their health, and test the memory. After a crash in the middle of writes a few are to \
             be expected.",
        )
    } else {
        (
            "copies",
            "Do not repair before it is known which copy is right: `repair` wrote the bad copy over the good one in half of the tests, and \
             took away the trace. Check again; swap space on a mirror is a harmless cause.",
        )
    };
    round.find(
        finding(
            Warning,
            at,
            format!("{what} differ in {}", sectors(found)),
            format!("{found} sectors of 512 bytes: {which}"),
        )
        .seen(source, found)
        .advise(advice)
        .run(Nothing, format!("echo check > {}", sysfs(node, "md/sync_action"))),
    );
}
