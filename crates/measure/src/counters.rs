//! The machine's own counters: what each drive moved, what the processors did, what this program's agent used.

use host::{Host, HostError};
use terms::record::{CpuDelta, MemberDelta};
use terms::{Bytes, Cmd, Nanos};

/// Counters at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    at: Nanos,
    drives: Vec<(String, DriveCounters)>,
    busy_ticks: u64,
    agent_ticks: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct DriveCounters {
    read: u64,
    written: u64,
    busy_millis: u64,
}

/// Clock ticks of procfs in a second: `USER_HZ`, 100 on every architecture that Linux serves today (proc(5)).
const TICK: Nanos = Nanos::millis(10);
/// Sectors of sysfs, whatever the drive's block (Documentation/block/stat.rst).
const SECTOR: u64 = 512;

/// Reads all counters; `drives` are the study's names with the nodes of today. Three small files, whatever the count
/// of drives: it is done while fio runs.
///
/// # Errors
/// Where a counter cannot be read.
pub fn snapshot(host: &dyn Host, drives: &[(String, String)]) -> Result<Snapshot, HostError> {
    let at = host.now()?;
    let disks = host.read_text("/proc/diskstats")?;
    let counted = |(name, node): &(String, String)| {
        let kernel_name = node.rsplit('/').next().unwrap_or(node);
        (name.clone(), drive_counters(&disks, kernel_name))
    };
    Ok(Snapshot {
        at,
        drives: drives.iter().map(counted).collect(),
        busy_ticks: busy_ticks(&host.read_text("/proc/stat")?),
        // Read by the agent, "self" is the agent.
        agent_ticks: process_ticks(&host.read_text("/proc/self/stat")?),
    })
}

impl Snapshot {
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
                ..MemberDelta::default()
            })
            .collect()
    }

    /// Processor time from `earlier` to this.
    #[must_use]
    pub fn cpu_since(&self, earlier: &Self) -> CpuDelta {
        CpuDelta {
            busy: Nanos(self.busy_ticks.saturating_sub(earlier.busy_ticks) * TICK.0),
            agent: Nanos(self.agent_ticks.saturating_sub(earlier.agent_ticks) * TICK.0),
            wall: Nanos(self.at.0.saturating_sub(earlier.at.0)),
            ..CpuDelta::default()
        }
    }
}

/// A line of `/proc/diskstats`: major, minor, name, reads, merges, sectors, ms, writes, merges, sectors, ms, in flight,
/// busy ms, … (Documentation/admin-guide/iostats.rst)
fn drive_counters(text: &str, kernel_name: &str) -> DriveCounters {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let fields = lines.into_iter().find(|fields| fields.get(2) == Some(&kernel_name)).unwrap_or_default();
    let field = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    DriveCounters { read: field(5) * SECTOR, written: field(9) * SECTOR, busy_millis: field(12) }
}

/// The first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal; all but idle and iowait.
fn busy_ticks(text: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
    let fields = line.split_whitespace().take(8).filter_map(|field| field.parse::<u64>().ok());
    fields.enumerate().filter(|(index, _)| !matches!(index, 3 | 4)).map(|(_, ticks)| ticks).sum()
}

/// Fields 14 and 15 of `/proc/PID/stat`; the name in brackets may hold anything, so count from behind it.
fn process_ticks(text: &str) -> u64 {
    let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// Arrays of `/proc/mdstat` that are busy with something of their own.
pub(crate) fn md_busy(host: &dyn Host) -> Result<Option<String>, HostError> {
    let text = match host.read_text("/proc/mdstat") {
        Ok(text) => text,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error),
    };
    let busy = ["resync", "recovery", "check", "reshape"];
    let line = text
        .lines()
        .find(|line| busy.iter().any(|word| line.contains(&format!("{word} =")) || line.contains(&format!("{word}="))));
    Ok(line.map(|line| line.trim().to_owned()))
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
        assert_eq!(drive_counters(disks, "nvme1n1"), DriveCounters::default());
        assert_eq!(drive, DriveCounters { read: 800 * 512, written: 1600 * 512, busy_millis: 77 });
        assert_eq!(busy_ticks("cpu  10 1 20 500 60 3 4 5 99 99\ncpu0 1"), 43);
        assert_eq!(process_ticks("1 (a b) c) S 0 1 1 0 -1 4 1 2 3 4 30 12 0 0 20"), 42);
    }
}
