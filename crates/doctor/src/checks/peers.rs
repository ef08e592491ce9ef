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
    looks_at: "posted output of `iostat -x` and `zpool iostat -v -l`",
    rule: "a drive is busy, and answers 5 times later than those of the same kind in its array or pool that get as many reads and as many \
           writes; not where a member is missing or filled",
    fixes: false,
    look: slower,
}];

/// What `iostat` says of a drive: per second, in milliseconds, in percent of the time.
#[derive(Debug, Clone, Copy)]
struct Work {
    reads: f64,
    writes: f64,
    wait: f64,
    /// `zpool iostat` does not tell.
    busy: Option<f64>,
}

/// `iostat: sda reads 0.00 writes 38.67 await 2.22 util 7.33`.
fn work(line: &str) -> Option<(&str, Work)> {
    let words: Vec<&str> = line.strip_prefix("iostat: ")?.split(' ').collect();
    let [name, "reads", reads, "writes", writes, "await", wait, "util", busy] = words[..] else {
        return None;
    };
    // Commands name it.
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let work = Work { reads: number(reads)?, writes: number(writes)?, wait: number(wait)?, busy: Some(number(busy)?) };
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

/// So many peers of which nobody tells what they are.
const ENOUGH: usize = 2;

impl Work {
    fn requests(&self) -> f64 {
        self.reads + self.writes
    }

    /// Does another do so much of both that both can be held against each other? A mirror may read from one of its drives alone, and a log
    /// is only written.
    fn compares(&self, other: &Self) -> bool {
        let near = |one: f64, two: f64| one.max(two) <= (2.0 * one.min(two)).max(FEWEST);
        other.requests() >= FEWEST && near(self.reads, other.reads) && near(self.writes, other.writes)
    }
}

fn slower(machine: &Machine, round: &mut Round) {
    let Some(messages) = round.ask(&Place::machine(), &machine.detail.linux.messages) else { return };
    slower_in_pool(messages, round);
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
    // Where a member is missing or filled they do not do the same, nor do the drives of a volume group.
    let whole = groups(machine).into_iter().filter(|group| group.survives && group.condition.is_none());
    let groups: Vec<BTreeSet<&str>> = whole.map(|group| group.below).collect();
    let has_heads = |name: &str| machine.node(name).and_then(|node| node.queue.rotational.known().copied());
    for (name, own) in &all {
        if own.busy.is_none_or(|busy| busy < BUSY) || own.requests() < FEWEST {
            continue;
        }
        let of_groups: BTreeSet<&str> = groups.iter().filter(|below| below.contains(name)).flatten().copied().collect();
        let others =
            all.iter().filter(|(other, work)| *other != name && of_groups.contains(*other) && own.compares(work));
        let peers: Vec<(&str, Work)> = others.map(|(other, work)| (*other, *work)).collect();
        if peers.is_empty() {
            continue;
        }
        // Of several that answer alike one that does not stands out, whatever they are.
        let is_told = has_heads(name).is_some() && peers.iter().all(|(other, _)| has_heads(other).is_some());
        if !is_told && peers.len() < ENOUGH {
            round.unknown(
                &Place::new("drive", *name),
                "whether it and its peers are hard disks is not told: `lsblk -o NAME,ROTA` tells",
            );
            continue;
        }
        let alike: Vec<_> =
            peers.into_iter().filter(|(other, _)| !is_told || has_heads(other) == has_heads(name)).collect();
        judge(name, *own, &alike, &IOSTAT, round);
    }
}

fn judge(name: &str, own: Work, peers: &[(&str, Work)], by: &Program, round: &mut Round) {
    let middle = |of: fn(&Work) -> Option<f64>| {
        let mut values: Vec<f64> = peers.iter().filter_map(|(_, work)| of(work)).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    let Some(wait) = middle(|work| Some(work.wait)) else { return };
    let is_busier = middle(|work| work.busy).zip(own.busy).is_none_or(|(theirs, own)| own >= 2.0 * theirs);
    if own.wait < FACTOR * wait || own.wait < wait + FELT || !is_busier {
        return;
    }
    let names: Vec<&str> = peers.iter().map(|(name, _)| *name).take(MOST).collect();
    let shown = |name: &str, work: Work| {
        let busy = work.busy.map_or_else(String::new, |busy| format!(", {busy:.1} % busy"));
        format!("{name}: {:.1} requests/s, await {:.2} ms{busy}", work.requests(), work.wait)
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
    let found = found.seen(by.name, shown(name, own));
    let found = peers.iter().take(MOST).fold(found, |found, (name, work)| found.seen(by.name, shown(name, *work)));
    round.find(
        found
            .advise(
                "Ask it for its health first: a hard disk that reads bad blocks again and again looks like this. Then its line, its firmware, \
                 and whether it tests itself or is filled just now. A hard disk with overlapping tracks and flash that is full and never \
                 trimmed are that slow without a fault.",
            )
            .look(if is_kernel_name(name) { format!("smartctl -x /dev/{name}") } else { "zpool status -L".to_owned() })
            .look(by.again),
    );
}

/// What tells of the work of drives: how it is called, and the command that tells it again.
struct Program {
    name: &'static str,
    again: &'static str,
}

const IOSTAT: Program = Program { name: "iostat -x", again: "iostat -x 10 6" };
const ZPOOL: Program = Program { name: "zpool iostat -v -l", again: "zpool iostat -v -l -y 60 1" };

/// A drive as the kernel names it, and neither a link below `/dev/disk` nor a name that somebody gave it.
fn is_kernel_name(name: &str) -> bool {
    let rest = name.strip_prefix("sd").or_else(|| name.strip_prefix("nvme"));
    rest.is_some_and(|rest| {
        rest.len() <= 12 && rest.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    })
}

/// `zpool iostat: tank raidz2-0 sda reads 69.00 writes 64.00 await 9.52`: its pool, its group, its name and its work.
fn work_in_pool(line: &str) -> Option<([&str; 2], &str, Work)> {
    let words: Vec<&str> = line.strip_prefix("zpool iostat: ")?.split(' ').collect();
    let [pool, group, name, "reads", reads, "writes", writes, "await", wait] = words[..] else { return None };
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let work = Work { reads: number(reads)?, writes: number(writes)?, wait: number(wait)?, busy: None };
    Some(([pool, group], name, work))
}

/// Groups of a pool by themselves: all devices of one do the same work.
fn slower_in_pool(messages: &[String], round: &mut Round) {
    let mut groups: BTreeMap<[&str; 2], BTreeMap<&str, Option<Work>>> = BTreeMap::new();
    for (group, name, work) in messages.iter().filter_map(|line| work_in_pool(line)) {
        // What was told twice is of two machines, or of two times.
        groups.entry(group).or_default().entry(name).and_modify(|known| *known = None).or_insert(Some(work));
    }
    for members in groups.values() {
        round.look();
        let told: Vec<(&str, Work)> = members.iter().filter_map(|(name, work)| Some((*name, (*work)?))).collect();
        for (name, own) in told.iter().filter(|(_, own)| own.requests() >= FEWEST) {
            let peers: Vec<(&str, Work)> =
                told.iter().filter(|(other, work)| other != name && own.compares(work)).copied().collect();
            judge(name, *own, &peers, &ZPOOL, round);
        }
    }
}

/// More are not listed.
const MOST: usize = 4;
