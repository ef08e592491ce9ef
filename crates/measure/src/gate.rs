//! One run of a job, watched: fio, its log, the machine's counters beside it, and whether the window was one thing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use host::{Host, HostError};
use terms::evidence::Steadiness;
use terms::record::{CpuDelta, MemberDelta};
use terms::workload::PathLoss;
use terms::{Bytes, BytesPerSecond, Cmd, Nanos, Outcome, Workload};

use crate::counted;
use crate::counters::Snapshot;
use crate::error::MeasureError;
use crate::fio::{self, FioOutput};
use crate::job::{Job, sample};
use crate::log::{Beside, Log};
use crate::on::On;
use crate::own_work::Busy;
use crate::path;
use crate::request::CellRequest;
use crate::watch::{self, Watch, Watched};
use crate::workplace::Workplace;

/// What a run of a job gave.
pub(crate) struct Observed {
    pub(crate) outcome: Outcome,
    pub(crate) members: Vec<MemberDelta>,
    /// Do the drives count at all? Where they do not, [`Self::members`] is no evidence.
    pub(crate) counts: bool,
    pub(crate) cpu: Option<CpuDelta>,
    pub(crate) dirtied: Option<Bytes>,
    /// Between which moments the counters were read.
    pub(crate) between: Option<(Nanos, Nanos)>,
    /// From when the first job's window began until the last one's ended, where a log on the machine's clock tells.
    pub(crate) worked: Option<Nanos>,
    /// From before fio began until after it ended.
    pub(crate) lifetime: (Nanos, Nanos),
    /// The machine's own work, seen while fio ran.
    pub(crate) busy: Vec<Busy>,
    pub(crate) log: Log,
    /// Is the log on the machine's clock?
    pub(crate) aligned: bool,
    pub(crate) log_file: Vec<u8>,
    /// fio's log of latency over time, as it wrote it.
    pub(crate) latency_log: Vec<u8>,
    /// When a path was lost and came back, on the log's clock from its start; or why there is no telling.
    pub(crate) path_lost: Option<Result<PathLoss, String>>,
    /// Absent where there are no samples, and where a path was lost.
    pub(crate) steadiness: Option<Steadiness>,
}

impl Observed {
    /// What the drives counted, where they do.
    pub(crate) fn counted(&self) -> &[MemberDelta] {
        if self.counts { &self.members } else { &[] }
    }

    /// How much of the time a processor worked, of all of them together.
    pub(crate) fn busy_share(&self) -> Option<f64> {
        let (from, to) = self.between?;
        Some(self.cpu.as_ref()?.busy.as_seconds() / Nanos(to.0.saturating_sub(from.0)).as_seconds().max(1e-9))
    }

    /// Did the window turn out to be no single thing?
    pub(crate) fn unsteady(&self) -> bool {
        self.steadiness.as_ref().is_some_and(|steadiness| !steadiness.state.usable())
    }
}

/// How long fio may take from the end of its window to the end of its process without the window being misplaced.
const EXIT: Nanos = Nanos::millis(300);

/// Runs fio and reads the machine's counters now and then. fio does not say when its window begins, but the process
/// ends soon after it, so the readings that count are chosen afterwards; a log on the machine's clock tells exactly.
///
/// `aligned`: is fio's log on the machine's clock? `event`: a path that is lost, and how long settling takes before the
/// window.
///
/// # Errors
/// Where the machine is lost.
pub(crate) fn observe(
    host: &dyn Host,
    job: &Job,
    request: &CellRequest<'_>,
    window: Nanos,
    aligned: bool,
    event: Option<(PathLoss, Nanos)>,
) -> Result<Observed, MeasureError> {
    let workplace = Workplace::new(host)?;
    // A queue that was filled may take long to drain after the clock has stopped.
    let cmd =
        workplace.fio(job, On::Writable(&request.filled.on))?.limit(Nanos(job.expected.0 + Nanos::seconds(300).0));
    let begun = host.now()?;
    let watch = watching(host, request, window);
    let (outcome, ended, watched, lost) = if host.has_own_clock() {
        // Paths are lost between guests, which have a clock each.
        let (outcome, watched) = watch.along(&cmd)?;
        (outcome, host.now()?, watched, None)
    } else {
        beside(host, &cmd, &watch, request, event)?
    };
    let logs = ["bw", "lat"].map(|kind| workplace.take(&job.log(kind)));
    let observed =
        conclude(Ran { workload: request.workload, outcome, watched, lifetime: (begun, ended), logs, aligned, window });
    let path_lost = lost.map(|lost| placed(host, lost, &observed.log, aligned)).transpose()?;
    // What is done to a window on purpose says nothing of what stands.
    let steadiness = observed.steadiness.filter(|_| event.is_none());
    Ok(Observed { path_lost, steadiness, ..observed })
}

/// How a path was lost, if one was to be.
type Lost = Option<Result<Option<PathLoss>, HostError>>;

/// Runs fio, reads counters and takes a path away, beside one another by our clock. With fio's outcome comes when it ended.
fn beside(
    host: &dyn Host,
    cmd: &Cmd,
    watch: &Watch<'_>,
    request: &CellRequest<'_>,
    event: Option<(PathLoss, Nanos)>,
) -> Result<(Outcome, Nanos, Watched, Lost), HostError> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let lost = event.map(|(loss, settle)| {
            scope.spawn({
                let over = &over;
                move || path::lose(host, loss, settle, over)
            })
        });
        let fio = scope.spawn(|| {
            let result = (host.run(cmd), host.now());
            over.store(true, Ordering::Relaxed);
            result
        });
        let watched = watch.until(&over, request.watch)?;
        let (outcome, ended) = fio.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let lost = lost.map(|lost| lost.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        Ok((outcome?, ended?, watched, lost))
    })
}

/// What is read on a host while its cell runs.
pub(crate) fn watching<'a>(host: &'a dyn Host, request: &CellRequest<'a>, window: Nanos) -> Watch<'a> {
    let CellRequest { nodes, drives, workload, .. } = *request;
    let pause = watch::pause(window, host.has_own_clock());
    Watch { host, nodes, drives, writes: workload.pattern.writes(), pause }
}

/// What a run left on one host.
pub(crate) struct Ran<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) outcome: Outcome,
    pub(crate) watched: Watched,
    /// From before fio began until after it ended, on the host's clock.
    pub(crate) lifetime: (Nanos, Nanos),
    /// fio's logs of throughput and of latency.
    pub(crate) logs: [Vec<u8>; 2],
    pub(crate) aligned: bool,
    pub(crate) window: Nanos,
}

/// Lays log and counters beside one another.
pub(crate) fn conclude(ran: Ran<'_>) -> Observed {
    let Ran { workload, outcome, watched: Watched { snapshots, busy }, lifetime, logs, aligned, window } = ran;
    let [log_file, latency_log] = logs;
    let latencies = String::from_utf8_lossy(&latency_log);
    let output = fio::parse(&outcome.stdout).ok();
    let log = read(workload, output.as_ref(), [&String::from_utf8_lossy(&log_file), &latencies], window);
    let told = crate::log::span(&latencies, log.step).filter(|_| aligned);
    let span = told.unwrap_or_else(|| {
        let ended = lifetime.1;
        (Nanos(ended.0.saturating_sub(window.0)), Nanos(ended.0.saturating_sub(EXIT.0)))
    });
    let inside = inside(&snapshots, span);
    Observed {
        members: inside.map_or_else(Vec::new, |(first, last)| last.members_since(first)),
        counts: snapshots.last().is_some_and(Snapshot::counts),
        cpu: inside.map(|(first, last)| last.cpu_since(first)),
        dirtied: inside.and_then(|(first, last)| last.dirtied_since(first)),
        between: inside.map(|(first, last)| (first.at(), last.at())),
        worked: told.map(|(from, to)| Nanos(to.0.saturating_sub(from.0))),
        lifetime,
        path_lost: None,
        steadiness: judged(&log),
        outcome,
        busy,
        aligned,
        log,
        log_file,
        latency_log,
    }
}

/// fio's log of throughput, beside its output and its log of latency.
fn read(workload: &Workload, output: Option<&FioOutput>, [log, latencies]: [&str; 2], window: Nanos) -> Log {
    let beside = output.map(|output| Beside::of(workload, output, latencies, window)).unwrap_or_default();
    Log::read(log, sample(window), &beside)
}

/// Fewer lines, each of which may speak of several ticks, tell nothing of how much rates differ.
const FEWEST_LINES: usize = 4;

fn judged(log: &Log) -> Option<Steadiness> {
    let judged = (!log.rates.is_empty()).then(|| steady::judge(&log.sums(), log.step))?;
    Some(Steadiness { half_width: judged.half_width.filter(|_| log.lines >= FEWEST_LINES), ..judged })
}

/// What is told of a window.
#[derive(Debug)]
pub struct Told {
    /// Bytes per second, as a cell has it.
    pub rate: BytesPerSecond,
    /// The mean of fio's log.
    pub logged: BytesPerSecond,
    /// Was it one thing, and how well is its mean known?
    pub steadiness: Steadiness,
}

/// What is told of a window of that length of a workload without parts by fio's output and its logs of throughput and of latency.
/// `None` where the windows of all jobs have no time together.
#[must_use]
pub fn told(workload: &Workload, stdout: &[u8], logs: [&str; 2], window: Nanos) -> Option<Told> {
    let output = fio::parse(stdout).ok()?;
    let log = read(workload, Some(&output), logs, window);
    let (steadiness, logged) = (judged(&log)?, log.between(log.start, log.end())?);
    let worked = crate::log::span(logs[1], log.step).map(|(from, to)| Nanos(to.0.saturating_sub(from.0)));
    let output = counted::over(workload, worked, output, &log, window);
    let rate = fio::of_window(workload, output.reading).throughput();
    Some(Told { rate, logged: BytesPerSecond(logged[0] + logged[1]), steadiness })
}

/// The moments of a loss from the start of the window, with all paths in use again; or what went wrong.
fn placed(
    host: &dyn Host,
    lost: Result<Option<PathLoss>, HostError>,
    log: &Log,
    aligned: bool,
) -> Result<Result<PathLoss, String>, HostError> {
    let moments = match lost {
        Err(HostError::Cannot { what, .. }) => return Ok(Err(format!("this machine cannot {what}"))),
        Err(error) => return Err(error),
        Ok(None) => return Ok(Err("fio ended before the path was back".to_owned())),
        Ok(Some(moments)) => moments,
    };
    if !path::await_all(host)? {
        return Ok(Err("a path was not in use again within a minute".to_owned()));
    }
    if !aligned || log.rates.is_empty() {
        return Ok(Err("fio's log is not on the machine's clock, so the loss cannot be placed in it".to_owned()));
    }
    let since = |moment: Nanos| Nanos(moment.0.saturating_sub(log.start.0));
    Ok(Ok(PathLoss { at: since(moments.at), back: since(moments.back) }))
}

/// The first and the last reading that certainly lie inside the window; `None` where there are not two.
fn inside(snapshots: &[Snapshot], (from, to): (Nanos, Nanos)) -> Option<(&Snapshot, &Snapshot)> {
    let mut chosen = snapshots.iter().filter(|snapshot| (from..=to).contains(&snapshot.at()));
    Some((chosen.next()?, chosen.next_back()?))
}
