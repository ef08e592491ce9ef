//! One cell: a workload on a stack, once.

use std::thread;
use std::time::{Duration, Instant};

use host::{Host, HostError};
use terms::record::{Cell, CellKey, CpuDelta, GuardNote, MemberDelta, RECORD_SCHEMA, Reading};
use terms::{Cmd, MeasurePolicy, Nanos, Outcome, Workload};

use crate::counters::{self, Snapshot, snapshot};
use crate::error::MeasureError;
use crate::fio::{self, FioOutput};
use crate::guards::{self, Evidence};
use crate::job::{self, Filled, Job, LOG_PREFIX};

/// What to measure.
#[derive(Debug, Clone)]
pub struct CellRequest<'a> {
    /// Which cell it is.
    pub key: CellKey,
    /// The workload.
    pub workload: &'a Workload,
    /// Settling and window.
    pub policy: &'a MeasurePolicy,
    /// What it works on.
    pub filled: &'a Filled,
    /// Drives of the stack: the study's names and the nodes of today.
    pub drives: &'a [(String, String)],
    /// fio's seed.
    pub seed: u64,
    /// When it begins, RFC 3339.
    pub started: String,
}

/// A cell and its raw files.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// What goes into the record.
    pub cell: Cell,
    /// Names and bytes of the raw files.
    pub raw: Vec<(String, Vec<u8>)>,
}

/// Runs one cell. A job that failed is a failed cell, not an error.
///
/// # Errors
/// Where the machine is lost.
pub fn measure(host: &dyn Host, request: &CellRequest<'_>) -> Result<Measured, MeasureError> {
    let start = Instant::now();
    counters::drop_caches(host)?;
    // What was filled decides, whatever the policy says.
    let policy = MeasurePolicy { span: request.filled.span, ..request.policy.clone() };
    let job = job::job(request.workload, &request.filled.place, &policy, request.seed);
    let before = counters::md_busy(host)?;
    let observed = observe(host, &job, request)?;
    let after = counters::md_busy(host)?;
    let log = host.read(&format!("{LOG_PREFIX}_bw.log")).unwrap_or_default();
    let judged = judge(request, &job, &observed, before.or(after).as_deref());
    let cell = Cell {
        schema: RECORD_SCHEMA,
        key: request.key.clone(),
        started: request.started.clone(),
        argv: job.argv(),
        seed: request.seed,
        status: observed.outcome.status,
        reading: judged.reading,
        failure: judged.failure,
        guards: judged.guards,
        members: observed.members,
        cpu: observed.cpu,
        samples: fio::samples(&String::from_utf8_lossy(&log)),
        took: start.elapsed().into(),
    };
    let raw = vec![
        ("job.fio".to_owned(), job.file().into_bytes()),
        ("fio.json".to_owned(), observed.outcome.stdout),
        ("fio.stderr".to_owned(), observed.outcome.stderr),
        ("throughput.log".to_owned(), log),
    ];
    Ok(Measured { cell, raw })
}

struct Observed {
    outcome: Outcome,
    members: Vec<MemberDelta>,
    cpu: Option<CpuDelta>,
}

/// Runs fio, and reads the machine's counters twice inside its window: four small files, twice.
fn observe(host: &dyn Host, job: &Job, request: &CellRequest<'_>) -> Result<Observed, HostError> {
    let window = request.workload.window.unwrap_or(request.policy.window);
    // A queue that was filled may take long to drain after the clock has stopped.
    let limit = Nanos(job.expected.0 + Nanos::seconds(180).0);
    let cmd = Cmd::new(job.argv()).limit(limit);
    thread::scope(|scope| {
        let fio = scope.spawn(|| host.run(&cmd));
        let pause =
            |part: f64| Duration::from_secs_f64(request.policy.settle.as_seconds() + window.as_seconds() * part);
        let first = pause_then_snapshot(host, request, &fio, pause(0.3));
        let second = pause_then_snapshot(host, request, &fio, pause(0.9).saturating_sub(pause(0.3)));
        let outcome = fio.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let (members, cpu) = match (first?, second?) {
            (Some(first), Some(second)) => (second.members_since(&first), Some(second.cpu_since(&first))),
            // fio ended before its window did: there is nothing to compare with.
            _ => (Vec::new(), None),
        };
        Ok(Observed { outcome, members, cpu })
    })
}

fn pause_then_snapshot<T>(
    host: &dyn Host,
    request: &CellRequest<'_>,
    fio: &thread::ScopedJoinHandle<'_, T>,
    pause: Duration,
) -> Result<Option<Snapshot>, HostError> {
    let start = Instant::now();
    while start.elapsed() < pause {
        if fio.is_finished() {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(20).min(pause));
    }
    snapshot(host, request.drives).map(Some)
}

#[derive(Default)]
struct Judged {
    reading: Option<Reading>,
    failure: Option<String>,
    guards: Vec<GuardNote>,
}

/// Decides whether there is a reading. A failed job never yields one, whatever it printed.
fn judge(request: &CellRequest<'_>, job: &Job, observed: &Observed, md_busy: Option<&str>) -> Judged {
    let failed = |why: String| Judged { failure: Some(why), ..Judged::default() };
    let outcome = &observed.outcome;
    let parsed = fio::parse(&outcome.stdout);
    if outcome.timed_out {
        return failed(format!("fio was ended after {}, {} were expected", outcome.took, job.expected));
    }
    match parsed {
        Ok(FioOutput { error: Some(error), .. }) => failed(error),
        _ if outcome.status != 0 => {
            failed(format!("fio ended with status {}: {}", outcome.status, first_line(outcome)))
        }
        Err(why) => failed(why),
        Ok(output) => {
            let guards = guards::check(&Evidence {
                workload: request.workload,
                window: request.workload.window.unwrap_or(request.policy.window),
                output: &output,
                members: &observed.members,
                cpu: observed.cpu.as_ref(),
                md_busy,
            });
            match guards.iter().find(|guard| guard.voids) {
                Some(guard) => {
                    let failure = Some(format!("{}: {}", guard.guard, guard.witness));
                    Judged { reading: None, failure, guards }
                }
                None => Judged { reading: Some(output.reading), failure: None, guards },
            }
        }
    }
}

fn first_line(outcome: &Outcome) -> String {
    let text = format!("{}\n{}", outcome.error_text(), outcome.text());
    text.lines().map(str::trim).find(|line| line.starts_with("fio:")).unwrap_or("it said nothing").to_owned()
}
