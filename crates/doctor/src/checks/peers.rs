//! Drives that answer later than others which do the same work.

use std::collections::{BTreeMap, BTreeSet};

use terms::diagnosis::Place;
use terms::units::significant;

use crate::check::{Check, Round, Warning, finding};
use crate::group::groups;
use crate::machine::Machine;
use crate::words::list;

pub(super) const CHECKS: &[Check] = &[Check {
    id: "drive-slower-than-peers",
    severity: Warning,
    looks_at: "posted output of `iostat -x`",
    rule: "a drive is busy, and answers 5 times later than those of its array or pool, or than those that get the same requests",
    fixes: false,
    look: slower,
}];

/// What `iostat` says of a drive: per second, in milliseconds, in percent of the time.
#[derive(Debug, Clone, Copy)]
struct Work {
    reads: f64,
    writes: f64,
    kilobytes: f64,
    wait: f64,
    busy: f64,
}

/// `iostat: sda reads 0.00 writes 38.67 kB 168.66 await 2.22 util 7.33`.
fn work(line: &str) -> Option<(&str, Work)> {
    let words: Vec<&str> = line.strip_prefix("iostat: ")?.split(' ').collect();
    let [name, "reads", reads, "writes", writes, "kB", kilobytes, "await", wait, "util", busy] = words[..] else {
        return None;
    };
    // Commands name it.
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let work = Work {
        reads: number(reads)?,
        writes: number(writes)?,
        kilobytes: number(kilobytes)?,
        wait: number(wait)?,
        busy: number(busy)?,
    };
    is_name.then_some((name, work))
}

/// Limits of this check. No standard has any: they are wide, because members of one array differ by a factor of two or three without a
/// fault (their places on the disk, what each keeps in its cache).
const FACTOR: f64 = 5.0;
/// Less is nothing that anybody feels on a hard disk, ms.
const FELT: f64 = 10.0;
/// Fewer requests, each second, are chance.
const FEWEST: f64 = 2.0;
/// A drive that is busy for less of the time holds nothing up, %.
const BUSY: f64 = 30.0;
/// How far apart two drives may be that get the same requests, where nothing tells what they are part of, and three or more.
const ALIKE: [f64; 2] = [0.03, 0.15];

impl Work {
    fn requests(&self) -> f64 {
        self.reads + self.writes
    }

    /// Do both get the same, but for a share? One request is no difference.
    fn is_like(&self, other: &Self, share: f64) -> bool {
        let near = |one: f64, two: f64| (one - two).abs() <= (one.max(two) * share).max(1.0);
        let volume = (self.kilobytes - other.kilobytes).abs() <= self.kilobytes.max(other.kilobytes) * share;
        near(self.reads, other.reads) && near(self.writes, other.writes) && volume
    }

    /// Does another do so much that both can be held against each other?
    fn compares(&self, other: &Self) -> bool {
        let (more, less) = (self.requests().max(other.requests()), self.requests().min(other.requests()));
        less >= FEWEST && more <= 2.0 * less
    }
}

fn slower(machine: &Machine, round: &mut Round) {
    let Some(messages) = round.ask(&Place::machine(), &machine.detail.linux.messages) else { return };
    let mut all: BTreeMap<&str, Work> = BTreeMap::new();
    let mut twice = BTreeSet::new();
    for (name, work) in messages.iter().filter_map(|line| work(line)) {
        if all.insert(name, work).is_some() {
            twice.insert(name);
        }
    }
    if !all.is_empty() {
        round.look();
    }
    // What was told twice is of two machines, or of two times.
    all.retain(|name, _| !twice.contains(name));
    if all.len() < 2 {
        return;
    }
    let groups: Vec<BTreeSet<&str>> = groups(machine).into_iter().map(|group| group.below).collect();
    for (name, own) in &all {
        if own.busy < BUSY || own.requests() < FEWEST {
            continue;
        }
        let of_groups: BTreeSet<&str> = groups.iter().filter(|below| below.contains(name)).flatten().copied().collect();
        let others = || all.iter().filter(|(other, _)| *other != name);
        let with = |share: f64| {
            others().filter(move |(_, work)| own.is_like(work, share)).map(|(other, work)| (*other, *work))
        };
        let peers: Vec<(&str, Work)> = if of_groups.is_empty() {
            let wide: Vec<_> = with(ALIKE[1]).collect();
            if wide.len() > 1 { wide } else { with(ALIKE[0]).collect() }
        } else {
            others()
                .filter(|(other, work)| of_groups.contains(*other) && own.compares(work))
                .map(|(other, work)| (*other, *work))
                .collect()
        };
        judge(name, *own, &peers, round);
    }
}

fn judge(name: &str, own: Work, peers: &[(&str, Work)], round: &mut Round) {
    let middle = |of: fn(&Work) -> f64| {
        let mut values: Vec<f64> = peers.iter().map(|(_, work)| of(work)).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    let (Some(wait), Some(busy)) = (middle(|work| work.wait), middle(|work| work.busy)) else { return };
    if own.wait < FACTOR * wait || own.wait < wait + FELT || own.busy < 2.0 * busy {
        return;
    }
    let names: Vec<&str> = peers.iter().map(|(name, _)| *name).take(MOST).collect();
    let shown = |name: &str, work: Work| {
        format!("{name}: {:.1} requests/s, await {:.2} ms, {:.1} % busy", work.requests(), work.wait, work.busy)
    };
    let found = finding(
        Warning,
        &Place::new("drive", name),
        format!("the drive answers much later than {}, for the same work", list(&names)),
        format!(
            "{} ms for each request, and {} ms there; who writes to all of them waits for the slowest",
            significant(own.wait),
            significant(wait)
        ),
    );
    let found = found.seen("iostat -x", shown(name, own));
    let found = peers.iter().take(MOST).fold(found, |found, (name, work)| found.seen("iostat -x", shown(name, *work)));
    round.find(
        found
            .advise(
                "Ask it for its health first: a hard disk that reads bad blocks again and again looks like this. Then its line, its firmware, \
                 and whether it tests itself or is filled just now. A hard disk with overlapping tracks and flash that is full and never \
                 trimmed are that slow without a fault.",
            )
            .look(format!("smartctl -x /dev/{name}"))
            .look("iostat -x 10 6"),
    );
}

/// More are not listed.
const MOST: usize = 4;
