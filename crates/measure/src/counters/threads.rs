//! Processor time by kind of thread. Encryption, parity and checksums run in kernel workers: fio's own time does not
//! show them.

use std::collections::BTreeMap;

use host::{Host, HostError};
use terms::evidence::{ThreadTime, Threads};
use terms::{Cmd, Nanos, ProcessStat};

use super::TICK;

/// Processor time of every process and kernel thread at one moment: number and start, name, clock ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Census {
    at: Nanos,
    threads: BTreeMap<(u32, u64), Thread>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Thread {
    name: String,
    ticks: u64,
    /// Does it belong to the kernel? A process adds up the time of all its threads, a kernel thread is one.
    kernel: bool,
}

/// Reads them all. Some hundred small files: only before and after a job, never while it runs.
///
/// # Errors
/// Where the machine is lost.
pub(crate) fn census(host: &dyn Host) -> Result<Census, HostError> {
    // Only a shell knows all the numbers. Those that end meanwhile are no fault.
    let listed = host.run(&Cmd::new(["sh", "-c", "cat /proc/[0-9]*/stat 2>/dev/null; true"]))?;
    Ok(Census { at: host.now()?, threads: listed.text().lines().filter_map(thread).collect() })
}

fn thread(line: &str) -> Option<((u32, u64), Thread)> {
    let ProcessStat { id, name, parent, ticks, start, .. } = ProcessStat::parse(line)?;
    Some(((id, start), Thread { name, ticks, kernel: parent == KTHREADD }))
}

/// The parent of all threads of the kernel (kernel/kthread.c).
const KTHREADD: u32 = 2;

/// A thread's kind: its name without the numbers that only tell it from its like. `kworker/u4:2+kcryptd` works for
/// `kcryptd`, and `md127_raid1` is an `md_raid1`.
pub(crate) fn kind(name: &str) -> String {
    let name = match name.strip_prefix("kworker/") {
        // Behind `+` stands what it works for, behind `-` what it worked for last.
        Some(worker) => worker.split_once(['+', '-']).map_or("kworker", |(_, work)| work),
        None => name,
    };
    let name = name.split(['/', ':']).next().unwrap_or(name);
    if let Some((number, work)) = name.strip_prefix("md").and_then(|rest| rest.split_once('_'))
        && number.chars().all(|digit| digit.is_ascii_digit())
    {
        return format!("md_{work}");
    }
    let bare = name.trim_end_matches(|end: char| end.is_ascii_digit() || "-_.:+".contains(end));
    if bare.is_empty() { name.to_owned() } else { bare.to_owned() }
}

impl Census {
    /// Time by kind since `earlier`. What began in between counts from nothing; what ended is not seen, so fio's own
    /// jobs come from its output.
    pub(crate) fn since(&self, earlier: &Self) -> Threads {
        self.counted(earlier, |_| true)
    }

    /// The same of the kernel's own threads only.
    pub(crate) fn kernel_since(&self, earlier: &Self) -> Threads {
        self.counted(earlier, |thread| thread.kernel)
    }

    fn counted(&self, earlier: &Self, wanted: impl Fn(&Thread) -> bool) -> Threads {
        let mut kinds: BTreeMap<String, ThreadTime> = BTreeMap::new();
        for (key, thread) in self.threads.iter().filter(|(_, thread)| wanted(thread)) {
            let before = earlier.threads.get(key).map_or(0, |thread| thread.ticks);
            let busy = Nanos(thread.ticks.saturating_sub(before) * TICK.0);
            if busy.0 > 0 {
                add(&mut kinds, &kind(&thread.name), busy);
            }
        }
        sorted(Nanos(self.at.0.saturating_sub(earlier.at.0)), kinds.into_values().collect())
    }

    /// Is a thread of that name there?
    pub(crate) fn has(&self, wanted: &str) -> bool {
        self.threads.values().any(|thread| thread.name == wanted)
    }
}

fn add(kinds: &mut BTreeMap<String, ThreadTime>, kind: &str, busy: Nanos) {
    let none = ThreadTime { kind: kind.to_owned(), threads: 0, busy: Nanos(0), busiest: Nanos(0) };
    let entry = kinds.entry(kind.to_owned()).or_insert(none);
    entry.threads += 1;
    entry.busy = Nanos(entry.busy.0 + busy.0);
    entry.busiest = entry.busiest.max(busy);
}

/// Kinds with the most time first.
pub(crate) fn sorted(wall: Nanos, mut kinds: Vec<ThreadTime>) -> Threads {
    kinds.sort_by(|one, other| other.busy.cmp(&one.busy).then_with(|| one.kind.cmp(&other.kind)));
    Threads { wall, kinds }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_the_numbers_that_tell_them_from_their_like() {
        let cases = [
            ("kworker/u4:2+kcryptd", "kcryptd"),
            ("kworker/u8:0-kcryptd-253:0-1", "kcryptd"),
            ("kworker/1:1H", "kworker"),
            ("md127_raid1", "md_raid1"),
            ("dmcrypt_write/253:0", "dmcrypt_write"),
            ("ksoftirqd/3", "ksoftirqd"),
            ("z_wr_iss", "z_wr_iss"),
            ("jbd2/vda1-8", "jbd"),
            ("ext4lazyinit", "ext4lazyinit"),
            ("1234", "1234"),
        ];
        for (name, expected) in cases {
            assert_eq!(kind(name), expected, "{name}");
        }
    }

    #[test]
    fn time_is_counted_by_kind() {
        let read =
            |at, lines: &str| Census { at: Nanos::seconds(at), threads: lines.lines().filter_map(thread).collect() };
        let line = |number, name: &str, ticks| {
            format!("{number} ({name}) S 2 2 3 4 5 6 7 8 9 10 {ticks} 0 0 0 20 0 1 0 77 0\n")
        };
        let before = read(1, &line(5, "kworker/u4:2+kcryptd", 10));
        let after = read(3, &(line(5, "kworker/u4:2+kcryptd", 60) + &line(6, "kworker/u4:3-kcryptd", 20)));
        let threads = after.since(&before);
        assert_eq!(threads.wall, Nanos::seconds(2));
        let expected =
            ThreadTime { kind: "kcryptd".into(), threads: 2, busy: Nanos::millis(700), busiest: Nanos::millis(500) };
        assert_eq!(threads.kinds, [expected]);
        assert!(!after.has("ext4lazyinit"));
        let process = read(3, &line(5, "rustc", 60).replace(" S 2 ", " S 1 "));
        assert_eq!((process.since(&before).kinds.len(), process.kernel_since(&before).kinds.len()), (1, 0));
    }
}
