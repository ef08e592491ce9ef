//! Arrays that the kernel started: which of them without all their members.

use std::collections::BTreeMap;

use crate::condition::is_of_storage_box;

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
