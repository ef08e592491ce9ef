//! A pass over the places of the span: where each operation was, and how long it took.
//!
//! Workloads that touch samples are drawn over the drive's places, as GNOME Disks does. fio averages its logs over time
//! while it measures, so the places come from a pass of their own behind the window, one call after another.

use host::Host;
use terms::record::Probe;
use terms::workload::{Engine, Reach};
use terms::{Bytes, Nanos, Pattern, Workload};

use crate::error::MeasureError;
use crate::job::{Job, base, samples};
use crate::on::On;
use crate::request::CellRequest;
use crate::workplace::Workplace;

/// Accesses of GNOME Disks by default (its gschema).
const ACCESSES: u64 = 1000;
/// A drive as slow as an SD card reads a hundred samples of 10 MiB within this time.
const LIMIT: Nanos = Nanos::seconds(900);

/// What a pass gave: nothing where fio failed, and its files in either case.
#[derive(Default)]
pub(crate) struct Pass {
    pub(crate) probes: Vec<Probe>,
    pub(crate) raw: Vec<(String, Vec<u8>)>,
}

/// Passes over the span, where the workload asks for it.
///
/// # Errors
/// Where the machine is lost.
pub(crate) fn pass(host: &dyn Host, request: &CellRequest<'_>) -> Result<Pass, MeasureError> {
    let Some(job) = job(request) else { return Ok(Pass::default()) };
    let workplace = Workplace::new(host)?;
    let outcome = host.run(&workplace.fio(&job, On::Writable(&request.filled.on))?.limit(LIMIT))?;
    let log = workplace.take(&job.log("lat"));
    let probes = if outcome.ok() { read(&String::from_utf8_lossy(&log)) } else { Vec::new() };
    let files = [
        ("places.fio", job.file().into_bytes()),
        ("places.json", outcome.stdout),
        ("places.stderr", outcome.stderr),
        ("places.log", log),
    ];
    Ok(Pass { probes, raw: files.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect() })
}

/// Access times: one blocking read after another, at places of chance.
fn is_access(workload: &Workload) -> bool {
    let alone = workload.jobs == 1 && workload.depth == 1;
    workload.engine == Engine::Psync && alone && workload.pattern == Pattern::RandRead
}

/// The job of a pass; `None` for workloads that are not about places.
fn job(request: &CellRequest<'_>) -> Option<Job> {
    let workload = request.workload;
    let mut job = base(workload.name.as_str(), request.filled.place(), Engine::Psync, request.seed);
    match workload.reach {
        Reach::Samples(wanted) => {
            job.set("rw", if workload.pattern.writes() { "write" } else { "read" }, "the workload's direction");
            one_pass(&mut job, request, wanted);
        }
        Reach::Span if is_access(workload) => {
            let block = workload.block.0.max(1);
            let accesses = ACCESSES.min(request.filled.span.0 / block).max(1);
            job.set("rw", workload.pattern.fio_rw(), "at places of chance")
                .set("bs", block, "bytes of one access")
                .set("size", request.filled.span.0, "the span that was filled, and no more")
                .set("io_size", accesses.saturating_mul(block), "so many accesses");
        }
        Reach::Span => return None,
    }
    if workload.pattern.writes() {
        job.set("overwrite", 1, "only blocks that the fill has written");
    }
    Some(with_places(job, request))
}

/// One pass over samples, one call at a time.
pub(crate) fn one_pass<'j>(job: &'j mut Job, request: &CellRequest<'_>, wanted: u32) -> &'j mut Job {
    let one = Workload { jobs: 1, ..request.workload.clone() };
    job.set("bs", one.block.0, "bytes of one sample");
    samples(job, &one, request.filled.span, wanted);
    let total = one.block.0.saturating_mul(job.samples.unwrap_or(1));
    job.set("io_size", total, "one pass")
}

/// The job with a log of every call: when, how long, where.
pub(crate) fn with_places(mut job: Job, request: &CellRequest<'_>) -> Job {
    job.set("write_lat_log", &request.workload.name, "the time of every call")
        .set("disable_slat", 1, "the whole time of a call is what counts")
        .set("disable_clat", 1, "the whole time of a call is what counts")
        .set("log_offset", 1, "where each was")
        .set("per_job_logs", 0, "one log");
    job
}

/// Lines of fio's log with offsets: `time ms, ns, direction, block, offset, …`. Sorted by place.
fn read(log: &str) -> Vec<Probe> {
    let line = |text: &str| {
        let mut fields = text.split(',').map(str::trim);
        let took = fields.nth(1)?.parse().ok()?;
        Some(Probe { at: Bytes(fields.nth(2)?.parse().ok()?), took: Nanos(took) })
    };
    let mut probes: Vec<Probe> = log.lines().filter_map(line).filter(|probe| probe.took.0 > 0).collect();
    probes.sort_by_key(|probe| probe.at);
    probes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_places_in_order() {
        let log = "3, 900000, 0, 1048576, 33554432, 0\n1, 500000, 0, 1048576, 0, 0\nbroken\n2, 0, 0, 4096, 4096\n";
        let probes = read(log);
        assert_eq!(
            probes.iter().map(|probe| (probe.at.0, probe.took.0)).collect::<Vec<_>>(),
            [(0, 500_000), (33_554_432, 900_000)]
        );
    }
}
