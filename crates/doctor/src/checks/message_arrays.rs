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

/// Of all such lines those of arrays that lacked a member when they were started last.
pub(super) fn short<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let starts = lines.iter().filter_map(|line| Some((Start::of(line)?, *line)));
    let last: BTreeMap<&str, (Start, &str)> = starts.map(|(start, line)| (start.array, (start, line))).collect();
    last.into_values().filter(|(start, _)| start.is_short()).map(|(_, line)| line).collect()
}
