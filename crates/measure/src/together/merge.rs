//! Several hosts' cells as one: what they did together, and each beside it.

use terms::evidence::{Bottleneck, ThreadTime, Threads};
use terms::record::{Cell, CpuDelta, GuardNote, HostReading, MemberDelta, Reading, Sample};
use terms::{BytesPerSecond, Nanos};

use crate::counters::threads;

/// The cell of all: `begun` with what the numbered hosts say, the sum over them, and a guard of the whole. `late`: by how
/// many samples each host's begin later than the earliest.
pub(super) fn merge(
    begun: Cell,
    cells: Vec<(u8, Cell)>,
    late: &[usize],
    whole: Result<Reading, String>,
    apart: Option<GuardNote>,
) -> Cell {
    let of_host = |number: u8, what: &str| format!("host {number}: {what}");
    let failed = cells.iter().find_map(|(number, cell)| Some(of_host(*number, cell.failure.as_ref()?)));
    let voided = apart.as_ref().filter(|guard| guard.voids).map(|guard| format!("{}: {}", guard.guard, guard.witness));
    let failure = failed.or_else(|| whole.as_ref().err().cloned()).or(voided);
    let guards = apart.into_iter().chain(cells.iter().flat_map(|(number, cell)| {
        cell.guards.iter().map(|guard| GuardNote { witness: of_host(*number, &guard.witness), ..guard.clone() })
    }));
    let readings = cells.iter().filter_map(|(number, cell)| {
        Some(HostReading { host: *number, reading: cell.reading.clone()?, samples: cell.samples.clone() })
    });
    let first = cells.first().map(|(_, cell)| cell);
    let samples = samples(&cells.iter().map(|(_, cell)| cell.samples.as_slice()).collect::<Vec<_>>(), late);
    Cell {
        reading: whole.ok().filter(|_| failure.is_none()),
        hosts: if failure.is_none() { readings.collect() } else { Vec::new() },
        guards: guards.collect(),
        members: cells.iter().flat_map(|(number, cell)| members(*number, &cell.members)).collect(),
        cpu: sum(cells.iter().filter_map(|(_, cell)| cell.cpu.as_ref())),
        threads: together(cells.iter().filter_map(|(_, cell)| cell.threads.as_ref())),
        jobs: cells.iter().flat_map(|(_, cell)| cell.jobs.clone()).collect(),
        bottleneck: bottleneck(&cells),
        // Clocks and temperatures of the first host stand for all: guests of one machine have the same.
        conditions: first.map(|cell| cell.conditions.clone()).unwrap_or_default(),
        steadiness: (!samples.is_empty()).then(|| {
            steady::judge(&samples.iter().map(|sample| sample.throughput.0).collect::<Vec<_>>(), step(&samples))
        }),
        samples,
        failure,
        ..begun
    }
}

/// What limits, where it is the same on all hosts; what was seen is the first one's.
fn bottleneck(cells: &[(u8, Cell)]) -> Option<Bottleneck> {
    let mut all = cells.iter().map(|(_, cell)| cell.bottleneck.as_ref());
    let first = all.next()??;
    let same = all.all(|other| other.is_some_and(|other| other.kind == first.kind));
    same.then(|| Bottleneck { witness: format!("host 1: {}", first.witness), ..first.clone() })
}

/// Drives of a host; those of others than the first with its number, as each host calls its own the same.
fn members(host: u8, members: &[MemberDelta]) -> Vec<MemberDelta> {
    let named = |name: &str| if host == 1 { name.to_owned() } else { format!("{name} of host {host}") };
    members.iter().map(|member| MemberDelta { drive: named(&member.drive), ..member.clone() }).collect()
}

/// Processor time of all hosts, between readings about as far apart.
fn sum<'a>(mut parts: impl Iterator<Item = &'a CpuDelta>) -> Option<CpuDelta> {
    let first = parts.next()?.clone();
    Some(parts.fold(first, |sum, part| CpuDelta {
        busy: Nanos(sum.busy.0 + part.busy.0),
        busiest: sum.busiest.max(part.busiest),
        softirq: Nanos(sum.softirq.0 + part.softirq.0),
        processors: sum.processors + part.processors,
        agent: Nanos(sum.agent.0 + part.agent.0),
        ..sum
    }))
}

/// Threads of all hosts, kind by kind.
fn together<'a>(parts: impl Iterator<Item = &'a Threads>) -> Option<Threads> {
    let parts: Vec<&Threads> = parts.collect();
    let wall = parts.first()?.wall;
    let mut kinds: Vec<ThreadTime> = Vec::new();
    for kind in parts.iter().flat_map(|part| &part.kinds) {
        match kinds.iter_mut().find(|known| known.kind == kind.kind) {
            Some(known) => {
                known.threads += kind.threads;
                known.busy = Nanos(known.busy.0 + kind.busy.0);
                known.busiest = known.busiest.max(kind.busiest);
            }
            None => kinds.push(kind.clone()),
        }
    }
    Some(threads::sorted(wall, kinds))
}

/// Length of a sample: the first one's end.
fn step(samples: &[Sample]) -> Nanos {
    samples.first().map_or(Nanos(0), |sample| sample.at)
}

/// Throughput over time of all hosts, from when the last one has samples to when the first has no more. Latency is the
/// mean over hosts, each weighed by its throughput.
fn samples(hosts: &[&[Sample]], late: &[usize]) -> Vec<Sample> {
    let last = late.iter().copied().max().unwrap_or(0);
    let skipped = |(at, samples): (usize, &&'_ [Sample])| {
        let skip = last - late.get(at).copied().unwrap_or(last);
        samples.get(skip..).unwrap_or_default().to_vec()
    };
    let step = hosts.first().map_or(Nanos(0), |samples| step(samples));
    let hosts: Vec<Vec<Sample>> = hosts.iter().enumerate().map(skipped).collect();
    let shortest = hosts.iter().map(|samples| samples.len()).min().unwrap_or(0);
    let at = |index: usize| {
        let now: Vec<&Sample> = hosts.iter().filter_map(|samples| samples.get(index)).collect();
        let moved: f64 = now.iter().map(|sample| sample.throughput.0).sum();
        let known: Vec<(f64, f64)> =
            now.iter().filter_map(|sample| Some((sample.throughput.0, sample.latency?.as_seconds()))).collect();
        let weight: f64 = known.iter().map(|(weight, _)| weight).sum();
        let waited: f64 = known.iter().map(|(weight, latency)| weight * latency).sum();
        let latency = (weight > 0.0).then(|| Nanos::from_seconds(waited / weight));
        let at = Nanos(step.0 * u64::try_from(index + 1).unwrap_or(u64::MAX));
        Some(Sample { at, throughput: BytesPerSecond(moved), latency })
    };
    (0..shortest).filter_map(at).collect()
}

#[cfg(test)]
mod tests {
    use terms::Guard;
    use terms::evidence::BottleneckKind;
    use terms::record::CellKey;

    use super::*;

    fn begun() -> Cell {
        let key = CellKey { round: 1, stack: "s".into(), workload: "w".into() };
        Cell::begun(key, String::new(), Vec::new(), 1)
    }

    fn host(rates: &[f64]) -> Cell {
        let sample = |(at, rate): (u64, &f64)| Sample {
            at: Nanos::millis(at * 100),
            throughput: BytesPerSecond(*rate),
            latency: Some(Nanos::millis(at)),
        };
        let member = MemberDelta { drive: "a".into(), ..MemberDelta::default() };
        let samples = (1..).zip(rates).map(sample).collect();
        Cell { samples, members: vec![member], reading: Some(Reading::default()), ..begun() }
    }

    #[test]
    fn samples_of_all_hosts_are_added_as_long_as_all_have_some() {
        let merged = merge(
            begun(),
            vec![(1, host(&[1.0, 2.0, 3.0])), (2, host(&[10.0, 20.0]))],
            &[0, 0],
            Ok(Reading::default()),
            None,
        );
        let rates: Vec<f64> = merged.samples.iter().map(|sample| sample.throughput.0).collect();
        assert_eq!(rates, [11.0, 22.0]);
        assert_eq!(merged.samples[1].latency, Some(Nanos::millis(2)));
        // The second began a sample later: its first is beside the other's second.
        let hosts = vec![(1, host(&[1.0, 2.0, 3.0])), (2, host(&[10.0, 20.0]))];
        let moved = merge(begun(), hosts, &[0, 1], Ok(Reading::default()), None);
        assert_eq!(moved.samples.iter().map(|sample| sample.throughput.0).collect::<Vec<_>>(), [12.0, 23.0]);
        assert_eq!(moved.samples[0].at, Nanos::millis(100));
        assert_eq!(merged.hosts.len(), 2);
        let drives: Vec<&str> = merged.members.iter().map(|member| member.drive.as_str()).collect();
        assert_eq!(drives, ["a", "a of host 2"]);
    }

    #[test]
    fn what_fails_on_one_host_fails_the_cell() {
        let bad = Cell { failure: Some("no space".into()), reading: None, ..host(&[1.0]) };
        let merged = merge(begun(), vec![(1, host(&[1.0])), (2, bad)], &[0, 0], Ok(Reading::default()), None);
        assert_eq!(merged.failure.as_deref(), Some("host 2: no space"));
        assert!(merged.reading.is_none() && merged.hosts.is_empty());
        let apart = GuardNote { guard: Guard::Together, witness: "50 %".into(), voids: true };
        let merged = merge(begun(), vec![(1, host(&[1.0]))], &[0], Ok(Reading::default()), Some(apart.clone()));
        assert_eq!(merged.failure.as_deref(), Some("together: 50 %"));
        let label = GuardNote { voids: false, ..apart };
        let merged = merge(begun(), vec![(1, host(&[1.0]))], &[0], Ok(Reading::default()), Some(label));
        assert!(merged.failure.is_none() && merged.guards.len() == 1);
    }

    #[test]
    fn what_limits_is_named_where_all_agree() {
        let limited = |kind| {
            let bottleneck = Some(Bottleneck { kind, witness: "seen".into() });
            Cell { bottleneck, ..host(&[1.0]) }
        };
        let of = |other| bottleneck(&[(1, limited(BottleneckKind::Device)), (2, limited(other))]);
        assert_eq!(of(BottleneckKind::Device).unwrap().witness, "host 1: seen");
        assert_eq!(of(BottleneckKind::Queue), None);
    }
}
