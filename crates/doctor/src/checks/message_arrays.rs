//! Arrays that the kernel started: which of them without all their members.

use std::collections::BTreeMap;

use super::message_kinds::{Kind, LOST_MEMBERS};
use crate::check::Warning;
use crate::condition::is_of_storage_box;
use crate::machine::Machine;

/// `md/raid1:md127: active with 1 out of 2 mirrors`, `md/raid:md0: raid level 5 active with 2 out of 3 devices, algorithm 2`
/// (`raid1_run`, `raid5_run` and `raid10_run` in the kernel's `drivers/md`).
struct Start<'a> {
    array: &'a str,
    is_mirror: bool,
    here: u32,
    all: u32,
}

impl<'a> Start<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (before, rest) = line.split_once(" active with ")?;
        let (kind, array) = before.split_once("md/raid")?.1.split_once(':')?;
        let (here, rest) = rest.split_once(" out of ")?;
        Some(Self {
            array: array.split(':').next()?,
            is_mirror: kind == "1",
            here: here.parse().ok()?,
            all: rest.split(' ').next()?.parse().ok()?,
        })
    }

    fn is_short(&self) -> bool {
        let is_box = self.is_mirror && is_of_storage_box(self.all, self.here);
        self.here < self.all && !is_box
    }
}

/// Of all such lines those of arrays that lacked a member when they were started last, and were not filled since: mdadm(8)
/// makes a new RAID-5 without its last member, which is filled at once (`md: md0: recovery done.`).
pub(super) fn short<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut last: BTreeMap<&str, (Start, &str)> = BTreeMap::new();
    for line in lines {
        if let Some(filled) = line.split_once("md: ").and_then(|(_, rest)| rest.split_once(": recovery done")) {
            last.remove(filled.0);
        }
        last.extend(Start::of(line).map(|start| (start.array, (start, *line))));
    }
    last.into_values().filter(|(start, _)| start.is_short()).map(|(_, line)| line).collect()
}

pub(super) const MEMBERS_CAME_BACK: Kind = Kind {
    severity: Warning,
    what: "an array went on without a member, and has all of them again",
    cost: "; 0 members are missing now, and what failed once may fail again",
    advice: "Ask the drive for its health, and look at its cable and its power, if nobody did when it failed.",
    ..LOST_MEMBERS
};

/// Does another text tell that an array of such a name has all its members?
pub(super) fn is_whole(machine: &Machine, is_it: impl Fn(&str) -> bool) -> bool {
    machine.arrays().any(|(node, md)| md.degraded.known() == Some(&Some(0)) && is_it(&node.name))
}

/// Of lines that tell of members that were thrown out: those of arrays that lack them still, and those of arrays that have all members now.
/// Where no text tells how the array is now, it lacks them.
pub(super) fn thrown_out<'a>(machine: &Machine, lines: &[&'a str]) -> [Vec<&'a str>; 2] {
    // `md/raid1:md0: Disk failure on sdb1, disabling device.` (`raid1_error` in the kernel's `drivers/md/raid1.c`).
    let array = |line: &'a str| line.split_once("md/raid")?.1.split(':').nth(1);
    let is_back = |line: &&'a str| array(line).is_some_and(|own| is_whole(machine, |name| name == own));
    let (back, lost) = lines.iter().copied().partition(is_back);
    [lost, back]
}
