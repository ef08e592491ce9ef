//! What a cell's throughput was limited by: the first in a fixed order that was seen at its limit.

use terms::evidence::{Bottleneck, BottleneckKind, CellConditions, Threads};
use terms::record::{CpuDelta, MemberDelta};
use terms::units::significant;

use crate::job::Offered;

/// A thread of fio this busy may be what limits, as a share of a core.
pub(crate) const GENERATOR: f64 = 0.95;
/// A kernel thread this busy is what others wait for. Below 1 because the reading spans more than the load.
const THREAD: f64 = 0.90;
/// Processors this busy, all together, are what limits.
const CORE: f64 = 0.95;
/// A link carries at most this share of its raw rate, framing taken off (PCIe headers on 128-byte payloads).
const LINK: f64 = 0.90;
/// A drive with something under way this share of the time is busy.
const DEVICE: f64 = 0.95;
/// A drive that is busy with less than this under way, on the mean, waits for whoever asks.
const DEEP: f64 = 2.0;
/// Fewest operations under way that could fill a drive: below, the workload is what is shallow.
const SHALLOW: u32 = 4;

/// What a bottleneck is found from. Shares are of the wall time between the readings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen<'a> {
    /// What was offered, where the rate was fixed.
    pub(crate) offered: Option<Offered>,
    /// What a cache guard saw.
    pub(crate) cache: Option<&'a str>,
    /// fio's busiest job, as a share of a core.
    pub(crate) busiest_job: f64,
    /// Threads of the kernel.
    pub(crate) threads: Option<&'a Threads>,
    /// Time under load of the wall of [`Self::threads`], as a share of it.
    pub(crate) loaded: f64,
    pub(crate) cpu: Option<&'a CpuDelta>,
    pub(crate) conditions: Option<&'a CellConditions>,
    pub(crate) members: &'a [MemberDelta],
    /// Operations that the workload keeps under way, all jobs.
    pub(crate) in_flight: u32,
    /// An option by which an imported job keeps itself from doing what it could, with its value.
    pub(crate) pace: Option<String>,
}

/// Names the bottleneck.
pub(crate) fn find(seen: &Seen<'_>) -> Bottleneck {
    let order = [rate, pace, cache, generator, thread, core, link, device, queue];
    let found = order.iter().find_map(|look| look(seen));
    found.unwrap_or_else(|| is(BottleneckKind::Unknown, "nothing that was looked at was at its limit".to_owned()))
}

fn is(kind: BottleneckKind, witness: String) -> Bottleneck {
    Bottleneck { kind, witness }
}

fn percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0))
}

fn rate(seen: &Seen<'_>) -> Option<Bottleneck> {
    let offered = seen.offered.filter(|offered| offered.is_reached())?;
    Some(is(BottleneckKind::Rate, format!("{} of the offered rate was done", percent(offered.share()))))
}

/// Whether a job that pauses by itself was at its own limit or at one of the stack nobody can tell from what was seen.
fn pace(seen: &Seen<'_>) -> Option<Bottleneck> {
    let pace = seen.pace.as_ref()?;
    Some(is(BottleneckKind::Unknown, format!("the job sets its own pace ({pace}): what it waits for is not told")))
}

fn cache(seen: &Seen<'_>) -> Option<Bottleneck> {
    seen.cache.map(|witness| is(BottleneckKind::Cache, witness.to_owned()))
}

fn generator(seen: &Seen<'_>) -> Option<Bottleneck> {
    let busy = seen.busiest_job;
    (busy >= GENERATOR)
        .then(|| is(BottleneckKind::Generator, format!("a job of fio was busy {} of the time", percent(busy))))
}

fn thread(seen: &Seen<'_>) -> Option<Bottleneck> {
    let threads = seen.threads?;
    let wall = threads.wall.as_seconds() * seen.loaded;
    let busiest = threads.kinds.iter().max_by_key(|kind| kind.busiest)?;
    let share = busiest.busiest.as_seconds() / wall;
    let witness = format!("one thread `{}` was busy {} of the time under load", busiest.kind, percent(share.min(1.0)));
    (wall > 0.0 && share >= THREAD).then(|| is(BottleneckKind::Thread, witness))
}

fn core(seen: &Seen<'_>) -> Option<Bottleneck> {
    let cpu = seen.cpu.filter(|cpu| cpu.processors > 0 && cpu.wall.0 > 0)?;
    let share = cpu.busy.as_seconds() / cpu.wall.as_seconds() / f64::from(cpu.processors);
    let all = if cpu.processors == 1 {
        "the processor was".to_owned()
    } else {
        format!("all {} processors were", cpu.processors)
    };
    let witness = format!("{all} busy {} of the time", percent(share.min(1.0)));
    (share >= CORE).then(|| is(BottleneckKind::Core, witness))
}

fn wall(seen: &Seen<'_>) -> Option<f64> {
    seen.cpu.map(|cpu| cpu.wall.as_seconds()).filter(|wall| *wall > 0.0)
}

fn link(seen: &Seen<'_>) -> Option<Bottleneck> {
    let (wall, conditions) = (wall(seen)?, seen.conditions?);
    let carried = |member: &MemberDelta| {
        let drive = conditions.drives.iter().find(|drive| drive.drive == member.drive)?;
        let most = terms::Bytes(drive.link_bytes_per_second?).as_f64();
        // Links carry both directions at once.
        let moved = member.read.as_f64().max(member.written.as_f64()) / wall;
        (moved >= LINK * most)
            .then(|| format!("the link of `{}` carried {} of what it can", member.drive, percent(moved / most)))
    };
    seen.members.iter().find_map(carried).map(|witness| is(BottleneckKind::Link, witness))
}

fn device(seen: &Seen<'_>) -> Option<Bottleneck> {
    let wall = wall(seen)?;
    let busiest = seen.members.iter().max_by_key(|member| member.busy)?;
    let (busy, queue) = (busiest.busy.as_seconds() / wall, busiest.queued.as_seconds() / wall);
    let witness = format!(
        "`{}` was busy {} of the time with {} requests outstanding on average",
        busiest.drive,
        percent(busy.min(1.0)),
        significant(queue)
    );
    (busy >= DEVICE && queue >= DEEP).then(|| is(BottleneckKind::Device, witness))
}

/// The queue depth is too low to saturate anything: each operation waits for the one before it.
fn queue(seen: &Seen<'_>) -> Option<Bottleneck> {
    let wall = wall(seen)?;
    let queues: f64 = seen.members.iter().map(|member| member.queued.as_seconds() / wall).sum();
    let drives = f64::from(u32::try_from(seen.members.len()).unwrap_or(u32::MAX));
    let idle = !seen.members.is_empty() && queues < DEEP * drives;
    let witness = format!(
        "a queue depth of {} kept {} requests outstanding at the drives on average: a higher one would raise the rate",
        seen.in_flight,
        significant(queues)
    );
    (seen.in_flight <= SHALLOW && idle).then(|| is(BottleneckKind::Queue, witness))
}

#[cfg(test)]
mod tests {
    use terms::evidence::{DriveCondition, ThreadTime};
    use terms::{Bytes, Nanos};

    use super::*;

    fn cpu(busy: u64) -> CpuDelta {
        CpuDelta { busy: Nanos::millis(busy), wall: Nanos::seconds(1), processors: 2, ..CpuDelta::default() }
    }

    fn member(busy: u64, queued: u64, read: u64) -> MemberDelta {
        let (busy, queued) = (Nanos::millis(busy), Nanos::millis(queued));
        MemberDelta { drive: "a".into(), busy, queued, read: Bytes(read), ..MemberDelta::default() }
    }

    fn threads(kind: &str, millis: u64) -> Threads {
        let time = Nanos::millis(millis);
        let one = ThreadTime { kind: kind.into(), threads: 1, busy: time, busiest: time };
        Threads { wall: Nanos::seconds(1), kinds: vec![one] }
    }

    #[test]
    fn constructed_cases_have_their_bottleneck() {
        use BottleneckKind as Kind;
        let (idle, full) = (cpu(300), cpu(1980));
        let (busy, lazy, fast) = ([member(990, 20_000, 0)], [member(700, 800, 0)], [member(990, 9000, 960)]);
        let (crypt, some) = (threads("kcryptd", 960), threads("kcryptd", 400));
        let drive =
            DriveCondition { drive: "a".into(), link_bytes_per_second: Some(1000), ..DriveCondition::default() };
        let links = CellConditions { drives: vec![drive], ..CellConditions::default() };
        let offered = |done: f64| Some(Offered { rate: 10_000.0, done: 10_000.0 * done, window: Nanos::seconds(1) });
        let base = Seen { loaded: 1.0, cpu: Some(&idle), in_flight: 32, members: &busy, ..Seen::default() };
        let cases = [
            ("a rate that was kept", Seen { offered: offered(0.99), ..base.clone() }, Kind::Rate),
            ("a rate that was not kept", Seen { offered: offered(0.5), ..base.clone() }, Kind::Device),
            ("a cache", Seen { cache: Some("0.1 bytes"), busiest_job: 0.99, ..base.clone() }, Kind::Cache),
            ("fio", Seen { busiest_job: 0.97, cpu: Some(&full), ..base.clone() }, Kind::Generator),
            ("a worker", Seen { threads: Some(&crypt), cpu: Some(&full), ..base.clone() }, Kind::Thread),
            (
                "a worker under load half of the time",
                Seen { threads: Some(&some), loaded: 0.42, ..base.clone() },
                Kind::Thread,
            ),
            ("a worker with time to spare", Seen { threads: Some(&some), ..base.clone() }, Kind::Device),
            ("all processors", Seen { cpu: Some(&full), ..base.clone() }, Kind::Core),
            ("a link", Seen { members: &fast, conditions: Some(&links), ..base.clone() }, Kind::Link),
            ("a drive", base.clone(), Kind::Device),
            ("one at a time", Seen { members: &lazy, in_flight: 1, ..base.clone() }, Kind::Queue),
            (
                "one at a time, busy drive",
                Seen { members: &[member(980, 980, 0)], in_flight: 1, ..base.clone() },
                Kind::Queue,
            ),
            ("many at a time and nothing busy", Seen { members: &lazy, ..base.clone() }, Kind::Unknown),
            (
                "a job that pauses",
                Seen { pace: Some("thinktime=100".into()), cpu: Some(&full), ..base.clone() },
                Kind::Unknown,
            ),
            ("no counters", Seen { cpu: None, members: &[], ..base.clone() }, Kind::Unknown),
        ];
        for (what, seen, expected) in cases {
            let found = find(&seen);
            assert_eq!(found.kind, expected, "{what}: {}", found.witness);
            assert!(!found.witness.is_empty());
        }
    }
}
