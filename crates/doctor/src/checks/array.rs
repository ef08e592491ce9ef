//! How arrays of md are set up to survive: bitmap, write hole, how many read errors a member may have.

use terms::Bytes;
use terms::inventory::{Md, Node};

use crate::check::{Brought, Check, Error, Information, Meanwhile, Nothing, Round, Warning, finding};
use crate::machine::{Machine, path, place, sysfs};
use crate::redundancy::of_level;
use crate::remedy::Found;
use crate::words::{duration, list, rate};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "array-no-bitmap",
        severity: Warning,
        looks_at: "`md/bitmap/location`, `md/consistency_policy`",
        rule: "an array with redundancy has neither bitmap nor journal: a warning from 100 GiB on each member on",
        fixes: false,
        look: bitmap,
    },
    Check {
        id: "array-write-hole",
        severity: Information,
        looks_at: "`md/consistency_policy` of levels 4, 5 and 6",
        rule: "the policy is `resync` or `bitmap`, and not `ppl` or `journal`",
        fixes: false,
        look: write_hole,
    },
    Check {
        id: "array-read-error-limit",
        severity: Error,
        looks_at: "`md/max_read_errors` of mirrors whose members are dm-integrity, the kernel's version",
        rule: "20 or less, where the kernel throws members out by it: RAID-10 always, RAID-1 from 6.8 on",
        fixes: true,
        look: read_errors,
    },
    Check {
        id: "array-failfast-integrity",
        severity: Error,
        looks_at: "`md/dev-*/state` of arrays whose members are dm-integrity",
        rule: "members are `failfast`",
        fixes: false,
        look: failfast,
    },
];

fn has_redundancy(md: &Md) -> bool {
    of_level(&md.level, 2).is_some()
}

pub(super) fn is_parity(md: &Md) -> bool {
    ["raid4", "raid5", "raid6"].contains(&md.level.as_str())
}

/// The size of a member's share of the data.
pub(super) fn share_of_member(node: &Node, md: &Md) -> Option<Bytes> {
    let devices = u64::from(*md.devices.known()?);
    let data = match md.level.as_str() {
        "raid1" => 1,
        "raid4" | "raid5" => devices.checked_sub(1)?,
        "raid6" => devices.checked_sub(2)?,
        "raid10" => devices / 2,
        _ => devices,
    };
    node.size.0.checked_div(data).map(Bytes)
}

/// Members from which on `mdadm` makes a bitmap by itself (mdadm(8), `--bitmap`: "devices which are 100G or larger").
const LARGE: Bytes = Bytes::gib(100);

fn bitmap(machine: &Machine, round: &mut Round) {
    for (node, md) in machine.arrays().filter(|(_, md)| has_redundancy(md)) {
        let at = place(node);
        round.look();
        let (Some(location), Some(policy)) = (round.ask(&at, &md.bitmap), round.ask(&at, &md.consistency_policy))
        else {
            continue;
        };
        let none = location.as_deref().is_none_or(|location| location == "none");
        if !none || policy.as_deref().is_some_and(|policy| ["ppl", "journal", "bitmap"].contains(&policy)) {
            continue;
        }
        // The kernel's own limit where the array tells none (Documentation/admin-guide/md.rst).
        let speed =
            md.sync_speed_max.known().copied().flatten().filter(|speed| speed.0 > 0).unwrap_or(Bytes::kib(200_000));
        // No array has no size: nobody looked.
        let share = share_of_member(node, md).filter(|share| share.0 > 0);
        let severity = if share.is_none_or(|share| share >= LARGE) { Warning } else { Information };
        let all = share.map_or("all of each member".to_owned(), |share| format!("all of {share} on each member"));
        let time = share.map_or(String::new(), |share| format!("{} ", duration(share.as_f64() / speed.as_f64())));
        let cost = format!(
            "after a crash, or when a member was away for a moment, {all} is read and written again: {time}at {}; with a bitmap only \
             what was being written",
            rate(speed.as_f64())
        );
        let of_firmware = is_of_firmware(md);
        let severity = if of_firmware { Information } else { severity };
        let found = finding(severity, &at, "the array has no bitmap", cost)
            .seen(sysfs(node, "md/bitmap/location"), location.as_deref().unwrap_or("no such file"))
            .seen(sysfs(node, "md/consistency_policy"), policy.as_deref().unwrap_or("no such file"));
        if of_firmware {
            round.find(
                found
                    .advise("Firmware describes it, and what that has room for decides: only newer versions of mdadm can add one, and to IMSM alone.")
                    .look(format!("mdadm --detail {}", path(node))),
            );
            continue;
        }
        round.find(
            found
                .advise("Add one; it takes a moment and can be removed again (`--bitmap=none`). Newer versions of mdadm make none by themselves.")
                .run(Nothing, format!("mdadm --grow --bitmap=internal {}", path(node))),
        );
    }
}

/// Does firmware describe it, as IMSM and DDF do? What such an array has room for is not for `mdadm` to choose.
fn is_of_firmware(md: &Md) -> bool {
    md.metadata.as_deref().is_some_and(|metadata| metadata.starts_with("external:"))
}

fn write_hole(machine: &Machine, round: &mut Round) {
    for (node, md) in machine.arrays().filter(|(_, md)| is_parity(md)) {
        let at = place(node);
        round.look();
        let Some(policy) = round.ask(&at, &md.consistency_policy) else { continue };
        let policy = policy.as_deref().unwrap_or("resync");
        if policy != "resync" && policy != "bitmap" {
            continue;
        }
        let chunk = md.chunk.known().map_or_else(|| "1 chunk".to_owned(), ToString::to_string);
        let found = finding(
            Information,
            &at,
            "the write hole is open",
            format!(
                "a crash in the middle of a write and the loss of a member before the resync is done: up to {chunk} in each stripe \
                 that was being written is computed wrong, also where nothing was written. Closing it with ppl costs 30 to 40 % of \
                 the rate of writes"
            ),
        )
        .seen(sysfs(node, "md/consistency_policy"), policy);
        round.find(if is_of_firmware(md) {
            // mdadm(8), `--consistency-policy`: of arrays of firmware IMSM alone has room for such a log.
            found
                .advise("Firmware describes it: IMSM can keep a partial parity log, which its setup or `mdadm` chooses when it is made.")
                .look(format!("mdadm --detail {}", path(node)))
        } else if md.level == "raid5" {
            with_log(machine, found, policy, node, md)
        } else {
            with_journal(found, policy, node)
        });
    }
}

/// md(4), PPL: it takes the place of the bitmap, and costs what its makers tell.
///
/// The log lies between superblock and data, before the list of bad blocks: `mdadm` wants 16 sectors there (`update_super1`
/// in its `super1.c`). An array that was made with a small bitmap has its list right behind that, with room for 8, whatever
/// the size of its members; without the list there is room up to the data.
fn with_log(machine: &Machine, found: Found, policy: &str, node: &Node, md: &Md) -> Found {
    // `update_super1` refuses to take away a list with blocks on it (mdadm(8), `no-bbl`: "could cause data corruption").
    let has_blocks = md.members.iter().any(|member| member.bad_blocks.is_some_and(|ranges| ranges > 0));
    let found = found.advise(if has_blocks {
        "A partial parity log closes it; it takes the place of the bitmap. It lies before the list of bad blocks, and here that list has \
         blocks on it. Where `--examine` has it at an offset of 24 sectors or more there is room. Below that the list would have to go, which \
         `mdadm` refuses while it has blocks (`no-bbl`); `force-no-bbl` loses it, and then md gives out what it knows to be bad. So get the \
         blocks off the lists first (`array-member-errors`). Where the log is refused, put the bitmap back (`--grow --bitmap=internal`)."
    } else {
        "A partial parity log closes it; it takes the place of the bitmap. It lies before the list of bad blocks: where \
         `--examine` has that list at an offset below 24 sectors, the array is stopped and assembled once without the list \
         first, for which it must not be in use; from 24 on, leave these two steps out. Where the log is refused, put the \
         bitmap back (`--grow --bitmap=internal`)."
    });
    let members: Vec<String> = md.members.iter().filter_map(|of| machine.node(&of.device)).map(path).collect();
    let first = members.first().map_or("MEMBER", String::as_str);
    let found = without_bitmap(found.look(format!("mdadm --examine {first}")), policy, node);
    let members = if members.is_empty() { "MEMBER …".to_owned() } else { members.join(" ") };
    let with_log = format!("mdadm --grow --consistency-policy=ppl {}", path(node));
    if has_blocks {
        return found.run(Nothing, with_log);
    }
    let unlisted = "a member that cannot write a block is thrown out at once, as no list of such blocks is kept";
    found
        .run(Nothing, format!("mdadm --stop {}", path(node)))
        .run(Meanwhile(unlisted.to_owned()), format!("mdadm --assemble {} --update=no-bbl {members}", path(node)))
        .run(Nothing, with_log)
}

/// mdadm(8), --add-journal: "only works for array in Read-Only state". Tried with 4.2: it is refused while there is a
/// bitmap, and where it is taken the array can be written to again at once.
fn with_journal(found: Found, policy: &str, node: &Node) -> Found {
    let found = found.advise(
        "A journal on a drive of its own closes it; a mirror of two is wise, since the array stops without it. The array must be \
         read-only while it is added: unmount what is on it first. It can be written to again afterwards; where the journal is \
         refused, after `mdadm --readwrite`.",
    );
    without_bitmap(found, policy, node)
        .look("lsblk -f DEVICE")
        .run(Nothing, format!("mdadm --readonly {}", path(node)))
        .run(
            Brought("everything on the device that becomes the journal".to_owned()),
            format!("mdadm {} --add-journal DEVICE", path(node)),
        )
        .look(format!("cat {}", sysfs(node, "md/consistency_policy")))
}

/// First what the log or journal takes the place of.
fn without_bitmap(found: Found, policy: &str, node: &Node) -> Found {
    let found = found.look(format!("mdadm --detail {}", path(node)));
    if policy != "bitmap" {
        return found;
    }
    let meanwhile = "a crash is followed by a resync of all of the array".to_owned();
    found.run(Meanwhile(meanwhile), format!("mdadm --grow --bitmap=none {}", path(node)))
}

/// Members that are dm-integrity, by the name people use.
fn checked_members<'a>(machine: &Machine<'a>, md: &Md) -> Vec<&'a str> {
    let nodes = md.members.iter().filter_map(|member| machine.node(&member.device));
    nodes.filter(|node| node.kind == "integrity").map(|node| node.label.as_deref().unwrap_or(&node.name)).collect()
}

/// The default of md (`MD_DEFAULT_MAX_CORRECTED_READ_ERRORS` in `drivers/md/md.h`).
const FEW_ERRORS: u32 = 20;
/// More than a scrub of a drive with a bad patch meets in an hour.
const MANY_ERRORS: &str = "100000";

fn read_errors(machine: &Machine, round: &mut Round) {
    // Where a table was not read it may be dm-integrity, and that is written down.
    machine.integrities(round);
    for (node, md) in machine.arrays().filter(|(_, md)| ["raid1", "raid10"].contains(&md.level.as_str())) {
        let at = place(node);
        let members = checked_members(machine, md);
        if members.is_empty() {
            continue;
        }
        round.look();
        let Some(limit) = round.ask(&at, &md.max_read_errors) else { continue };
        let Some(kernel) = machine.kernel() else {
            round.unknown(&at, format!("the kernel's version `{}` cannot be understood", machine.inventory.kernel));
            continue;
        };
        let Some(limit) = limit.filter(|limit| *limit <= FEW_ERRORS && (md.level == "raid10" || kernel >= (6, 8)))
        else {
            continue;
        };
        let file = sysfs(node, "md/max_read_errors");
        // Tried on 6.12: 64 bad blocks under one member; 20 were repaired, then the healthy drive was thrown out.
        round.find(
            finding(
                Error,
                &at,
                format!("a member is thrown out after {limit} read errors in an hour"),
                format!(
                    "dm-integrity makes a read error of every bad checksum: the block after the first {limit} that are repaired costs a \
                     healthy drive and all of the redundancy"
                ),
            )
            .seen(file.clone(), limit)
            .seen("/proc/sys/kernel/osrelease", &machine.inventory.kernel)
            .seen(sysfs(node, "md/dev-*"), format!("dm-integrity: {}", list(&members)))
            .advise("Raise it. It is not stored: it has to be set each time the array is assembled, by a udev rule.")
            .fix(file, limit.to_string(), MANY_ERRORS),
        );
    }
}

fn failfast(machine: &Machine, round: &mut Round) {
    machine.integrities(round);
    for (node, md) in machine.arrays() {
        let members = checked_members(machine, md);
        if members.is_empty() {
            continue;
        }
        round.look();
        if md.members.iter().any(|member| member.state.is_empty()) {
            round.unknown(&place(node), format!("`{}` tells nothing of some members", sysfs(node, "md/dev-*/state")));
            continue;
        }
        let fast: Vec<&str> =
            md.members.iter().filter(|member| member.is("failfast")).map(|member| member.device.as_str()).collect();
        if fast.is_empty() {
            continue;
        }
        let found = finding(
            Error,
            &place(node),
            format!("{} are `failfast`", list(&fast)),
            "md does not repair read errors of such members: 0 of the bad blocks that dm-integrity finds are written anew",
        )
        .seen(sysfs(node, "md/dev-*/state"), format!("failfast: {}", list(&fast)))
        .advise("Take the flag away while the array runs: no member has to leave, and the array remembers it.");
        // The kernel's Documentation/admin-guide/md.rst, `state` of a member.
        round.find(fast.iter().fold(found, |found, member| {
            found.set(format!("echo -failfast > {}", sysfs(node, &format!("md/dev-{member}/state"))))
        }));
    }
}
