//! One cell: a workload on a stack, once.

use std::thread;
use std::time::{Duration, Instant};

use host::{Host, HostError};
use terms::record::{Cell, CellKey, CpuDelta, GuardNote, MemberDelta, Reading};
use terms::{Cmd, MeasurePolicy, Nanos, Outcome, Workload};

use crate::counters::{self, Snapshot, snapshot};
use crate::error::MeasureError;
use crate::fio::{self, FioOutput};
use crate::guards::{self, Evidence};
use crate::job::{self, Filled, Job, log_file};

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
    counters::settle_writes(host)?;
    // What was filled decides, whatever the policy says.
    let policy = MeasurePolicy { span: request.filled.span, ..request.policy.clone() };
    check_span(request)?;
    let job = job::job(request.workload, &request.filled.place, &policy, request.seed);
    let before = counters::md_busy(host)?;
    let observed = observe(host, &job, request)?;
    let after = counters::md_busy(host)?;
    let log = take(host, &log_file(request.seed));
    let judged = judge(request, &job, &observed, before.or(after).as_deref());
    let cell = Cell {
        status: observed.outcome.status,
        reading: judged.reading,
        failure: judged.failure,
        guards: judged.guards,
        members: observed.members,
        cpu: observed.cpu,
        samples: fio::samples(&String::from_utf8_lossy(&log)),
        took: start.elapsed().into(),
        ..Cell::begun(request.key.clone(), request.started.clone(), job.argv(), request.seed)
    };
    let raw = vec![
        ("job.fio".to_owned(), job.file().into_bytes()),
        ("fio.json".to_owned(), observed.outcome.stdout),
        ("fio.stderr".to_owned(), observed.outcome.stderr),
        ("throughput.log".to_owned(), log),
    ];
    Ok(Measured { cell, raw })
}

/// A share of nothing would let fio take the whole device, unwritten blocks and all.
fn check_span(request: &CellRequest<'_>) -> Result<(), MeasureError> {
    let Workload { name, pattern, block, jobs, .. } = request.workload;
    let blocks = if pattern.random() { 1 } else { u64::from(*jobs) };
    let needed = terms::Bytes(block.0.saturating_mul(blocks));
    if needed.0 == 0 || needed > request.filled.span {
        return Err(MeasureError::Span { workload: name.to_string(), needed, span: request.filled.span });
    }
    Ok(())
}

/// A file's content; the file is gone afterwards. A job that failed may not have written it.
fn take(host: &dyn Host, path: &str) -> Vec<u8> {
    let content = host.read(path).unwrap_or_default();
    let _ = host.run(&Cmd::new(["rm", "-f", path]));
    content
}

struct Observed {
    outcome: Outcome,
    members: Vec<MemberDelta>,
    cpu: Option<CpuDelta>,
}

/// How long fio may take from the end of its window to the end of its process without the window being misplaced.
const EXIT: Nanos = Nanos::millis(300);

/// Runs fio and reads the machine's counters now and then. fio does not say when its window begins, but the process
/// ends soon after it, so the readings that count are chosen afterwards.
fn observe(host: &dyn Host, job: &Job, request: &CellRequest<'_>) -> Result<Observed, HostError> {
    let window = request.workload.window.unwrap_or(request.policy.window);
    // A queue that was filled may take long to drain after the clock has stopped.
    let cmd = Cmd::new(job.argv()).limit(Nanos(job.expected.0 + Nanos::seconds(300).0));
    // Three readings fall into a window; more would only cost.
    let pause = Duration::from_millis(200).max(window.to_duration() * 3 / 10);
    thread::scope(|scope| {
        let fio = scope.spawn(|| (host.run(&cmd), host.now()));
        let mut snapshots = Vec::new();
        while !fio.is_finished() {
            snapshots.push(snapshot(host, request.drives)?);
            wait_for(&fio, pause);
        }
        let (outcome, ended) = fio.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let (outcome, ended) = (outcome?, ended?);
        let (members, cpu) = match inside(&snapshots, ended, window) {
            Some((first, last)) => (last.members_since(first), Some(last.cpu_since(first))),
            None => (Vec::new(), None),
        };
        Ok(Observed { outcome, members, cpu })
    })
}

fn wait_for<T>(thread: &thread::ScopedJoinHandle<'_, T>, pause: Duration) {
    let start = Instant::now();
    while start.elapsed() < pause && !thread.is_finished() {
        thread::sleep(Duration::from_millis(10));
    }
}

/// The first and the last reading that certainly lie inside the window; `None` where there are not two.
fn inside(snapshots: &[Snapshot], ended: Nanos, window: Nanos) -> Option<(&Snapshot, &Snapshot)> {
    let last_moment = ended.0.saturating_sub(EXIT.0);
    let first_moment = ended.0.saturating_sub(window.0);
    let mut chosen = snapshots.iter().filter(|snapshot| (first_moment..=last_moment).contains(&snapshot.at().0));
    Some((chosen.next()?, chosen.next_back()?))
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
