//! One stack on RAM drives, and how fast it is under a workload.

use build::{Authority, Bindings, MemoryJournal};
use host::Host;
use measure::{On, Writable, job, snapshot};
use plan::DriveSize;
use terms::{Bytes, MeasurePolicy, Name, Nanos, Stack, Workload};

use crate::SPAN;
use crate::error::CalibrateError;

/// What came of a workload.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    /// Operations per second.
    pub(crate) operations: f64,
    /// Mean latency of an operation, in seconds.
    pub(crate) latency: f64,
    /// Processor time of one operation, in seconds: what fio's jobs took, or all that ran where that is more.
    pub(crate) busy: f64,
    /// Processors that fio's jobs kept busy.
    pub(crate) cores: f64,
}

/// RAM drives to build on.
pub(crate) struct Rig<'a> {
    host: &'a dyn Host,
    drives: Bindings,
    facts: Vec<DriveSize>,
    window: Nanos,
}

impl<'a> Rig<'a> {
    pub(crate) fn new(host: &'a dyn Host, drives: &[(Name, String, Bytes)], window: Nanos) -> Self {
        let fact = |(name, _, size): &(Name, String, Bytes)| DriveSize {
            name: name.clone(),
            size: *size,
            lba: Bytes(512),
            slice: false,
        };
        Self {
            host,
            window,
            facts: drives.iter().map(fact).collect(),
            drives: drives.iter().map(|(name, node, _)| (name.clone(), node.clone())).collect(),
        }
    }

    /// Size of the smallest drive.
    pub(crate) fn size(&self) -> Option<Bytes> {
        self.facts.iter().map(|fact| fact.size).min()
    }

    /// Builds a stack, measures it under each workload, and takes it down again, whatever happened.
    pub(crate) fn measure(&self, stack: &Stack, works: &[Workload]) -> Result<Vec<Point>, CalibrateError> {
        let plan = plan::plan(stack, &self.facts).map_err(|error| CalibrateError::Told(error.to_string()))?;
        if let Some(missing) = build::Prerequisites::new(self.host).missing(&plan)? {
            return Err(CalibrateError::Told(format!("left out: {}", missing.what)));
        }
        let over = if self.host.is_throwaway() { Authority::lab } else { Authority::memory };
        let authority = over(self.host, &self.drives)?;
        let mut journal = MemoryJournal::default();
        let built = build::apply(&plan, &authority, &[], &mut journal, &|_| ())?;
        let points = self.points(built.target, works);
        let past = journal.0.clone();
        build::teardown(&plan, &authority, &past, &mut journal)?;
        points
    }

    fn points(&self, on: Writable, works: &[Workload]) -> Result<Vec<Point>, CalibrateError> {
        measure::fill(self.host, (on.clone(), None), SPAN, 1, 1)?;
        works.iter().map(|work| point(self.host, On::Writable(&on), work, SPAN, self.window)).collect()
    }
}

/// Runs a workload for a moment on the first `span` bytes of something.
pub(crate) fn point(
    host: &dyn Host,
    on: On<'_>,
    work: &Workload,
    span: Bytes,
    window: Nanos,
) -> Result<Point, CalibrateError> {
    let policy = MeasurePolicy { settle: Nanos(window.0 / 4), window, span, ..MeasurePolicy::default() };
    let job = job(work, on.place(), &policy, 1)?;
    let before = snapshot(host, &[], false)?;
    let outcome = measure::run(host, &job, Nanos::seconds(60), on)?;
    let cpu = snapshot(host, &[], false)?.cpu_since(&before);
    if !outcome.ok() {
        return Err(CalibrateError::Told(format!(
            "fio ended with status {}: {}",
            outcome.status,
            outcome.error_text()
        )));
    }
    let output = measure::parse(&outcome.stdout).map_err(CalibrateError::Told)?;
    if let Some(error) = output.error {
        return Err(CalibrateError::Told(format!("fio: {error}")));
    }
    let flows = [&output.reading.read, &output.reading.write];
    let flows: Vec<_> = flows.into_iter().flatten().filter(|flow| flow.operations > 0).collect();
    let operations: f64 = flows.iter().map(|flow| flow.iops.0).sum();
    if operations <= 0.0 {
        return Err(CalibrateError::Told(format!("fio did nothing:\n{}", job.file())));
    }
    let latency = flows.iter().map(|flow| flow.latency.mean.as_seconds() * flow.iops.0).sum::<f64>() / operations;
    // Interrupts may be accounted apart from fio's jobs, so all that ran is looked at too. While fio starts processors
    // have less to do, which makes that too little where starting takes long.
    let all = cpu.busy.as_seconds() / cpu.wall.as_seconds().max(f64::MIN_POSITIVE);
    let cores = output.reading.fio_cpu_cores;
    Ok(Point { operations, latency, busy: all.max(cores) / operations, cores })
}
