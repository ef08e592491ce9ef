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

/// What an array lacks, as far as messages tell.
#[derive(Default)]
struct Array<'a> {
    /// So many members are not there, or are not filled yet.
    missing: u32,
    /// Its last start, where it lacked some then.
    short: Option<&'a str>,
    /// That it lost one.
    lost: Vec<&'a str>,
}

/// Lines of arrays that lost a member, and of such as lacked one when they were started last, where no later line says that all of them
/// are back.
#[derive(Default)]
pub(super) struct Lacking<'a> {
    pub(super) lost: Vec<&'a str>,
    pub(super) short: Vec<&'a str>,
}

/// `md0` of `md/raid1:md0: Disk failure on sdb1, disabling device.`
fn of_failure(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once(": Disk failure on ")?;
    rest.split_once(',').and(before.split_once("md/raid")?.1.split_once(':')).map(|(_, array)| array)
}

/// mdadm(8) makes a new RAID-5 without its last member, which is filled at once (`md: md0: recovery done.`). How many members were filled
/// at once is not told: one counts. `whole` tells arrays that are known to have all their members now.
pub(super) fn lacking<'a>(lines: &[&'a str], whole: impl Fn(&str) -> bool) -> Lacking<'a> {
    let mut all: BTreeMap<&str, Array> = BTreeMap::new();
    // Members that were left out of an array which is not named until it starts.
    let mut left_out = Vec::new();
    for line in lines {
        let of = if let Some((array, _)) =
            line.split_once("md: ").and_then(|(_, rest)| rest.split_once(": recovery done"))
        {
            all.entry(array).and_modify(|array| array.missing = array.missing.saturating_sub(1));
            array
        } else if let Some(name) = of_failure(line) {
            let array = all.entry(name).or_default();
            array.missing += 1;
            array.lost.push(line);
            name
        } else if let Some(start) = Start::of(line) {
            let array = all.entry(start.array).or_default();
            array.missing = start.all.saturating_sub(start.here);
            array.short = start.is_short().then_some(*line);
            if start.here < start.all {
                array.lost.append(&mut left_out);
            }
            start.array
        } else {
            left_out.push(*line);
            continue;
        };
        if all.get(of).is_some_and(|array| array.missing == 0) {
            all.remove(of);
        }
    }
    let mut found = Lacking { lost: left_out, short: Vec::new() };
    for (_, mut array) in all.into_iter().filter(|(name, _)| !whole(name)) {
        found.lost.append(&mut array.lost);
        found.short.extend(array.short);
    }
    found
}
