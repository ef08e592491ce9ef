//! Conditions under which a number may not be believed, each with its witness.

use terms::record::{CpuDelta, Flow, GuardNote, MemberDelta, Reading};
use terms::{Nanos, Workload};

use crate::fio::FioOutput;

/// A window that ended before this share of what was asked for is not the window.
const SHORTEST: f64 = 0.95;
/// Largest relative difference between bytes per second and operations per second times block.
const IDENTITY: f64 = 0.001;
/// Below this many bytes on the drives for each byte of the application, something above the drives answered.
const CACHED: f64 = 0.9;
/// The same where the counters were read less than a second apart: at that distance the two clocks blur the ratio.
const CACHED_COARSE: f64 = 0.5;
/// A fio thread this busy may be what limits.
const GENERATOR: f64 = 0.95;

/// What guards look at.
pub(crate) struct Evidence<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) window: Nanos,
    pub(crate) output: &'a FioOutput,
    pub(crate) members: &'a [MemberDelta],
    pub(crate) cpu: Option<&'a CpuDelta>,
    pub(crate) md_busy: Option<&'a str>,
}

/// All guards that fire.
pub(crate) fn check(evidence: &Evidence<'_>) -> Vec<GuardNote> {
    let checks = [short, identity, direction, resync, cache, generator];
    checks.iter().filter_map(|check| check(evidence)).collect()
}

fn fired(guard: &str, voids: bool, witness: String) -> Option<GuardNote> {
    Some(GuardNote { guard: guard.to_owned(), witness, voids })
}

/// The window ended early.
fn short(evidence: &Evidence<'_>) -> Option<GuardNote> {
    let runtime = evidence.output.reading.flows().map(|flow| flow.runtime).max()?;
    if runtime.as_seconds() >= evidence.window.as_seconds() * SHORTEST {
        return None;
    }
    fired("short", true, format!("the window lasted {runtime}, {} were asked for", evidence.window))
}

/// Bytes per second and operations per second contradict each other.
///
/// fio resets its counters when settling ends; what is under way then is counted among the bytes and not among the
/// operations, so the two may differ by as many operations as the queues hold, and by no more.
fn identity(evidence: &Evidence<'_>) -> Option<GuardNote> {
    let block = evidence.workload.block.as_f64();
    let in_flight = f64::from(evidence.workload.depth) * f64::from(evidence.workload.jobs) * block;
    let wrong = |flow: &&Flow| {
        let expected = flow.iops.0 * block;
        let slack = expected * IDENTITY + in_flight / flow.runtime.as_seconds().max(0.001) + block;
        (flow.throughput.0 - expected).abs() > slack
    };
    let flow = evidence.output.reading.flows().find(wrong)?;
    let witness = format!(
        "{:.1} operations/s of {} are not {:.0} bytes/s",
        flow.iops.0, evidence.workload.block, flow.throughput.0
    );
    fired("identity", true, witness)
}

/// A direction that was asked for did nothing.
fn direction(evidence: &Evidence<'_>) -> Option<GuardNote> {
    let Reading { read, write, .. } = &evidence.output.reading;
    let idle_read = evidence.workload.pattern.reads() && read.is_none();
    let idle_write = evidence.workload.pattern.writes() && write.is_none();
    match (idle_read, idle_write) {
        (true, _) => fired("nothing-done", true, "no read was completed in the window".to_owned()),
        (_, true) => fired("nothing-done", true, "no write was completed in the window".to_owned()),
        _ => None,
    }
}

/// An array was busy with itself.
fn resync(evidence: &Evidence<'_>) -> Option<GuardNote> {
    fired("resync", true, format!("/proc/mdstat: {}", evidence.md_busy?))
}

/// Drives moved fewer bytes than the application.
fn cache(evidence: &Evidence<'_>) -> Option<GuardNote> {
    let wall = evidence.cpu?.wall.as_seconds();
    if evidence.members.is_empty() || wall <= 0.0 {
        return None;
    }
    let Reading { read, write, .. } = &evidence.output.reading;
    let ratio = |flow: Option<&Flow>, moved: f64| flow.map(|flow| moved / wall / flow.throughput.0);
    let reads = ratio(read.as_ref(), evidence.members.iter().map(|member| member.read.as_f64()).sum());
    let writes = ratio(write.as_ref(), evidence.members.iter().map(|member| member.written.as_f64()).sum());
    let limit = if wall < 1.0 { CACHED_COARSE } else { CACHED };
    let word = |ratio: f64, direction: &str| {
        format!(
            "the drives {direction} {ratio:.2} bytes for each byte of the application: a cache answered for the rest"
        )
    };
    match (reads, writes) {
        (Some(ratio), _) if ratio < limit => fired("cache", false, word(ratio, "read")),
        (_, Some(ratio)) if ratio < limit => fired("cache", false, word(ratio, "wrote")),
        _ => None,
    }
}

/// fio itself may be the limit.
fn generator(evidence: &Evidence<'_>) -> Option<GuardNote> {
    let busiest = evidence.output.busiest_job;
    if busiest < GENERATOR {
        return None;
    }
    fired(
        "generator",
        false,
        format!("fio's threads were busy {:.0} % of the time: the load generator may be the limit", busiest * 100.0),
    )
}

#[cfg(test)]
mod tests {
    use terms::record::Latency;
    use terms::{Bytes, BytesPerSecond, Iops, Name, Pattern};

    use super::*;

    fn flow(rate: f64, runtime: Nanos) -> Flow {
        Flow {
            bytes: Bytes(8192),
            operations: 2,
            runtime,
            throughput: BytesPerSecond(rate),
            iops: Iops(rate / 4096.0),
            latency: Latency::default(),
        }
    }

    fn output(read: Option<Flow>) -> FioOutput {
        let reading = Reading { read, fio_cpu_cores: 0.5, ..Reading::default() };
        FioOutput { reading, error: None, jobs: 1, busiest_job: 0.5, version: String::new() }
    }

    fn fire(output: &FioOutput, moved: u64, md_busy: Option<&str>) -> Vec<String> {
        let workload = Workload::new(Name::new("w").unwrap(), Pattern::RandRead, Bytes(4096));
        let member = MemberDelta { drive: "a".into(), read: Bytes(moved), ..MemberDelta::default() };
        let cpu = CpuDelta { wall: Nanos::seconds(1), ..CpuDelta::default() };
        let evidence = Evidence {
            workload: &workload,
            window: Nanos::seconds(2),
            output,
            members: &[member],
            cpu: Some(&cpu),
            md_busy,
        };
        check(&evidence).into_iter().map(|note| note.guard).collect()
    }

    #[test]
    fn a_clean_window_fires_nothing() {
        assert!(fire(&output(Some(flow(4_096_000.0, Nanos::seconds(2)))), 4_096_000, None).is_empty());
    }

    #[test]
    fn each_guard_fires_on_its_witness() {
        let clean = || flow(4_096_000.0, Nanos::seconds(2));
        assert_eq!(fire(&output(Some(flow(4_096_000.0, Nanos::seconds(1)))), 4_096_000, None), ["short"]);
        assert_eq!(fire(&output(Some(clean())), 1_000, None), ["cache"]);
        assert_eq!(fire(&output(Some(clean())), 4_096_000, Some("resync = 4 %")), ["resync"]);
        assert_eq!(fire(&output(None), 0, None), ["nothing-done"]);
        // A wrapper that calls KiB/s MB/s, or loses every second job.
        let mut wrong = clean();
        wrong.iops = Iops(wrong.iops.0 * 2.0);
        assert_eq!(fire(&output(Some(wrong)), 4_096_000, None), ["identity"]);
        let mut busy = output(Some(clean()));
        busy.busiest_job = 0.99;
        assert_eq!(fire(&busy, 4_096_000, None), ["generator"]);
    }
}
