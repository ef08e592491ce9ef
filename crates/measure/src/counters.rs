//! The machine's own counters: what each drive moved, what the processors did, what this program's agent used.

pub(crate) mod threads;

use host::{Host, HostError};
use terms::record::{CpuDelta, MemberDelta};
use terms::{Bytes, Cmd, Nanos, ProcessStat};

/// Counters at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    at: Nanos,
    drives: Vec<(String, DriveCounters)>,
    processors: Processors,
    agent_ticks: u64,
    /// Pages of files made dirty since the machine started; `None` where it does not say.
    dirtied: Option<u64>,
}

/// Clock ticks of the processors.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Processors {
    busy: u64,
    softirq: u64,
    each: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct DriveCounters {
    read: u64,
    written: u64,
    busy_millis: u64,
    operations: u64,
    queued_millis: u64,
}

/// Clock ticks of procfs in a second: `USER_HZ`, 100 on every architecture that Linux serves today (proc(5)).
const TICK: Nanos = Nanos::millis(10);
/// Sectors of sysfs, whatever the drive's block (Documentation/block/stat.rst).
const SECTOR: u64 = 512;

/// Where counters are. Three small files, whatever the count of drives, and a larger one that may be missing: they are
/// read while fio runs. Read by the agent, "self" is the agent.
const FILES: [&str; 4] = ["/proc/diskstats", "/proc/stat", "/proc/self/stat", "/proc/vmstat"];

/// Files to read for a snapshot; the last only where the workload `writes`.
pub(crate) const fn files(writes: bool) -> &'static [&'static str] {
    let (always, _) = FILES.split_at(3);
    if writes { &FILES } else { always }
}

/// Reads all counters; `drives` are the study's names with the nodes of today.
///
/// # Errors
/// Where a counter cannot be read.
pub fn snapshot(host: &dyn Host, drives: &[(String, String)], writes: bool) -> Result<Snapshot, HostError> {
    let at = host.now()?;
    let [disks, processors, agent, pages] = FILES;
    let texts = [host.read_text(disks)?, host.read_text(processors)?, host.read_text(agent)?];
    let pages = if writes { host.read_text(pages).ok() } else { None };
    Ok(Snapshot::of(at, drives, &texts, pages.as_deref()))
}

impl Snapshot {
    /// What the files say: those that are always read, and the larger one if it was read.
    pub(crate) fn of(at: Nanos, drives: &[(String, String)], texts: &[String; 3], pages: Option<&str>) -> Self {
        let [disks, cpus, agent] = texts;
        let counted = |(name, node): &(String, String)| {
            let kernel_name = node.rsplit('/').next().unwrap_or(node);
            (name.clone(), drive_counters(disks, kernel_name))
        };
        Self {
            at,
            drives: drives.iter().map(counted).collect(),
            processors: processors(cpus),
            agent_ticks: ProcessStat::parse(agent).map_or(0, |stat| stat.ticks),
            dirtied: pages.and_then(|text| vmstat(text, "nr_dirtied")),
        }
    }

    /// When it was taken, on the machine's monotonic clock.
    #[must_use]
    pub const fn at(&self) -> Nanos {
        self.at
    }

    /// What the drives moved from `earlier` to this.
    #[must_use]
    pub fn members_since(&self, earlier: &Self) -> Vec<MemberDelta> {
        let pairs = self.drives.iter().zip(&earlier.drives);
        pairs
            .map(|((name, now), (_, then))| MemberDelta {
                drive: name.clone(),
                read: Bytes(now.read.saturating_sub(then.read)),
                written: Bytes(now.written.saturating_sub(then.written)),
                busy: Nanos::millis(now.busy_millis.saturating_sub(then.busy_millis)),
                operations: now.operations.saturating_sub(then.operations),
                queued: Nanos::millis(now.queued_millis.saturating_sub(then.queued_millis)),
            })
            .collect()
    }

    /// Processor time from `earlier` to this.
    #[must_use]
    pub fn cpu_since(&self, earlier: &Self) -> CpuDelta {
        let ticks = |now: u64, then: u64| Nanos(now.saturating_sub(then) * TICK.0);
        let (now, then) = (&self.processors, &earlier.processors);
        let each = now.each.iter().zip(&then.each).map(|(now, then)| ticks(*now, *then));
        CpuDelta {
            busy: ticks(now.busy, then.busy),
            busiest: each.max().unwrap_or_default(),
            softirq: ticks(now.softirq, then.softirq),
            processors: u32::try_from(now.each.len()).unwrap_or(0),
            agent: ticks(self.agent_ticks, earlier.agent_ticks),
            wall: Nanos(self.at.0.saturating_sub(earlier.at.0)),
        }
    }

    /// Do all drives count? After a fill every drive has done something; a RAM drive of the kernel (`brd`) keeps no
    /// statistics and says 0 for ever.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.drives.iter().all(|(_, counters)| counters.operations > 0)
    }

    /// Bytes of files made dirty in the page cache from `earlier` to this.
    #[must_use]
    pub fn dirtied_since(&self, earlier: &Self) -> Option<Bytes> {
        Some(Bytes(self.dirtied?.saturating_sub(earlier.dirtied?).saturating_mul(PAGE)))
    }
}

/// Bytes of a page: 4 KiB on every machine that Bedplate runs on but a few; larger pages only make the guard that uses
/// it quieter.
const PAGE: u64 = 4096;

fn vmstat(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok())
}

/// What a drive moved. A namespace with several paths is a device above one for each path, and until Linux 6.4 only
/// those below were counted: they are added up. Both may be busy at the same time, so the busier one stands for it.
fn drive_counters(text: &str, kernel_name: &str) -> DriveCounters {
    let names = text.lines().filter_map(|line| line.split_whitespace().nth(2));
    let paths: Vec<DriveCounters> =
        names.filter(|name| is_path_to(name, kernel_name)).map(|name| counters_of(text, name)).collect();
    let sum = |of: fn(&DriveCounters) -> u64| paths.iter().map(of).fold(0, u64::saturating_add);
    match paths.iter().map(|path| path.busy_millis).max() {
        None => counters_of(text, kernel_name),
        Some(busiest) => DriveCounters {
            read: sum(|path| path.read),
            written: sum(|path| path.written),
            busy_millis: busiest,
            operations: sum(|path| path.operations),
            queued_millis: sum(|path| path.queued_millis),
        },
    }
}

/// `nvme0c1n1` is a path, over controller 1, to `nvme0n1` (`nvme_mpath_set_disk_name` in the kernel's
/// `drivers/nvme/host/multipath.c`).
fn is_path_to(name: &str, namespace: &str) -> bool {
    let parts = || {
        let (subsystem, rest) = name.strip_prefix("nvme")?.split_once('c')?;
        let (_, number) = rest.split_once('n')?;
        Some((subsystem, number))
    };
    parts().is_some_and(|(subsystem, number)| namespace == format!("nvme{subsystem}n{number}"))
}

/// A line of `/proc/diskstats`: major, minor, name, reads, merges, sectors, ms, writes, merges, sectors, ms, in flight,
/// busy ms, weighted ms, … (Documentation/admin-guide/iostats.rst)
fn counters_of(text: &str, kernel_name: &str) -> DriveCounters {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let fields = lines.into_iter().find(|fields| fields.get(2) == Some(&kernel_name)).unwrap_or_default();
    let field = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    DriveCounters {
        read: field(5).saturating_mul(SECTOR),
        written: field(9).saturating_mul(SECTOR),
        busy_millis: field(12),
        operations: field(3).saturating_add(field(7)),
        queued_millis: field(13),
    }
}

/// Lines `cpu` and `cpuN` of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal; all but idle and iowait
/// is busy.
fn processors(text: &str) -> Processors {
    let mut found = Processors::default();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(number) = words.next().and_then(|word| word.strip_prefix("cpu")) else { continue };
        let fields: Vec<u64> = words.take(8).map(|field| field.parse().unwrap_or(0)).collect();
        let waiting = |index: usize| fields.get(index).copied().unwrap_or(0);
        let busy = fields.iter().sum::<u64>() - waiting(3) - waiting(4);
        if number.is_empty() {
            (found.busy, found.softirq) = (busy, waiting(6));
        } else {
            found.each.push(busy);
        }
    }
    found
}

/// Writes out what an earlier cell or the fill left behind.
pub(crate) fn settle_writes(host: &dyn Host) -> Result<(), HostError> {
    host.run_ok(&Cmd::new(["sync"]).limit(Nanos::seconds(600))).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_from_the_right_fields() {
        let disks = " 7 0 loop0 1 0 8 0 0 0 0 0 0 0 0\n 259 0 nvme0n1 10 0 800 5 20 0 1600 9 0 77 14 0 0 0 0 3 1\n";
        let drive = drive_counters(disks, "nvme0n1");
        let expected =
            DriveCounters { read: 800 * 512, written: 1600 * 512, busy_millis: 77, operations: 30, queued_millis: 14 };
        assert_eq!(drive_counters(disks, "nvme1n1"), DriveCounters::default());
        let paths = "259 1 nvme2n1 0 0 0 0 0 0 0 0 0 0 0 0\n259 2 nvme2c0n1 1 0 8 1 2 0 16 1 0 5 2 0\n\
                     259 3 nvme2c1n1 10 0 80 1 20 0 160 1 0 7 3 0\n259 4 nvme2c1n11 9 0 9 9 9 0 9 9 0 9 9 0\n";
        let both =
            DriveCounters { read: 88 * 512, written: 176 * 512, busy_millis: 7, operations: 33, queued_millis: 5 };
        assert_eq!(drive_counters(paths, "nvme2n1"), both);
        assert_eq!(drive, expected);
        let stat = "cpu  10 1 20 500 60 3 4 5 99 99\ncpu0 7 0 0 9\ncpu1 3 0 0 9\nintr 5";
        assert_eq!(processors(stat), Processors { busy: 43, softirq: 4, each: vec![7, 3] });
        assert_eq!(vmstat("nr_dirty 1\nnr_dirtied 42\n", "nr_dirtied"), Some(42));
        let taken = |counters| Snapshot {
            at: Nanos(0),
            drives: vec![("a".into(), counters)],
            processors: Processors::default(),
            agent_ticks: 0,
            dirtied: None,
        };
        assert!(taken(expected).counts() && !taken(DriveCounters::default()).counts());
    }
}
