//! Members of arrays that are in use and not well.

use terms::diagnosis::Place;
use terms::inventory::{Md, MdMember, Node};

use super::array_name::{container_of, label};
use crate::check::{Brought, Nothing, Round, Warning, finding};
use crate::machine::{Machine, path, sysfs};
use crate::remedy::Found;
use crate::words::count;

pub(super) fn errors(machine: &Machine, round: &mut Round) {
    for (node, md) in machine.arrays() {
        for member in &md.members {
            let at = Place::new("member", format!("{} of {}", member.device, label(node)));
            round.look();
            if let Some(ranges) = member.bad_blocks.filter(|ranges| *ranges > 0) {
                round.find(listed(machine, node, &at, &member.device, ranges));
            }
            if is_wanted_out(md, member) {
                round.find(wanted_out(node, md, &at, &member.device));
            }
            let Some(errors) = round.ask(&at, &member.errors).filter(|errors| **errors > 0) else { continue };
            let limit = md.max_read_errors.known().copied().flatten();
            let limit =
                limit.map_or_else(String::new, |limit| format!("; the member is thrown out after {limit} in an hour"));
            let found = finding(
                Warning,
                &at,
                format!("{} of this member failed", count(*errors, "read")),
                format!("each was repaired from the other members{limit}"),
            )
            .seen(sysfs(node, &format!("md/dev-{}/errors", member.device)), errors)
            .advise("Ask the drive for its health, then scrub, and reset the counter to see new ones.");
            // A member may be a mapping, which has no health of its own.
            let drives = machine.bottom(&member.device);
            let found = drives.iter().fold(found, |found, drive| found.look(format!("smartctl -x {}", path(drive))));
            // The kernel's Documentation/admin-guide/md.rst, `errors` of a member: it can be written.
            round.find(
                found
                    .run(Nothing, format!("echo check > {}", sysfs(node, "md/sync_action")))
                    .look(format!("mdadm --wait {}", path(node)))
                    .set(format!("echo 0 > {}", sysfs(node, &format!("md/dev-{}/errors", member.device)))),
            );
        }
    }
}

/// Does md want to replace a member, and has nothing to do it with? It marks one to which a write failed.
fn is_wanted_out(md: &Md, member: &MdMember) -> bool {
    member.is("want_replacement") && !md.members.iter().any(|other| other.is("replacement"))
}

/// The kernel's Documentation/admin-guide/md.rst, `want_replacement`: "either due to errors or due to user request". A spare is filled
/// beside it before it goes; of an array of firmware nothing fills one before that (`activate_spare` of mdadm's `super-intel.c` and
/// `super-ddf.c`, which want a place to be empty).
fn wanted_out(node: &Node, md: &Md, at: &Place, device: &str) -> Found {
    let container = container_of(md);
    let (then, added) = match &container {
        None => ("A drive that is added becomes a spare, and is filled beside it by itself.", path(node)),
        Some(container) => (
            "A drive that is added to the container becomes a spare, and is taken only when this one has left.",
            container.clone(),
        ),
    };
    finding(
        Warning,
        at,
        "the array wants another in its place",
        "writes to it failed, or somebody asked for it (`mdadm --replace`); it stays in use, and 0 copies are missing meanwhile",
    )
    .seen(sysfs(node, &format!("md/dev-{device}/state")), "want_replacement")
    .advise(format!("Look at its health and its cable, unless it was asked for. {then}"))
    .look(format!("mdadm --detail {}", container.as_ref().unwrap_or(&path(node))))
    .run(Brought("everything on the drive that is added".to_owned()), format!("mdadm {added} --add NEW"))
}

/// Blocks that md does not read from a member any more (md(4), "BAD BLOCK LIST").
fn listed(machine: &Machine, node: &Node, at: &Place, device: &str, ranges: u32) -> Found {
    let found = finding(
        Warning,
        at,
        format!("{} of this member are on its list of bad blocks", count(u64::from(ranges), "range")),
        "1 copy less of what is there: md reads these blocks from the others only, and where they are on the lists of several members \
         what is in them is lost, with all members in sync",
    )
    .seen(sysfs(node, &format!("md/dev-{device}/bad_blocks")), count(u64::from(ranges), "line"))
    .advise(
        "Compare the lists of all members, and ask the drives for their health. A block leaves the list when it is written anew and the \
         drive takes it. Replace the member where the list grows, or where other members have the same blocks.",
    );
    let member = machine.node(device).map_or_else(|| "MEMBER".to_owned(), path);
    let found = found.look(format!("mdadm --examine-badblocks {member}"));
    machine.bottom(device).iter().fold(found, |found, drive| found.look(format!("smartctl -x {}", path(drive))))
}
