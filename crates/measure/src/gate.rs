//! One run of a job, watched: fio, its log, the machine's counters beside it, and whether the window was one thing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use host::{Host, HostError};
use terms::evidence::Steadiness;
use terms::record::{CpuDelta, MemberDelta};
use terms::workload::PathLoss;
use terms::{Bytes, Cmd, Nanos, Outcome};

use crate::cell::CellRequest;
use crate::counters::{Snapshot, snapshot};
use crate::job::{Job, SAMPLE, latency_log_file, latency_part_files, log_file};
use crate::log::Log;
use crate::own_work::{self, Busy};
use crate::path;

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
    /// From before fio began until after it ended.
    pub(crate) lifetime: (Nanos, Nanos),
    /// The machine's own work, seen while fio ran.
    pub(crate) busy: Vec<Busy>,
    pub(crate) log: Log,
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

    /// Did the window turn out to be no single thing?
    pub(crate) fn unsteady(&self) -> bool {
        self.steadiness.as_ref().is_some_and(|steadiness| !steadiness.state.usable())
    }
}

/// How long fio may take from the end of its window to the end of its process without the window being misplaced.
const EXIT: Nanos = Nanos::millis(300);

/// Longest time between two readings.
const LOOK: Duration = Duration::from_secs(2);

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
) -> Result<Observed, HostError> {
    let CellRequest { drives, nodes, seed, workload, watch, .. } = *request;
    let writes = workload.pattern.writes();
    // A queue that was filled may take long to drain after the clock has stopped.
    let cmd = Cmd::new(job.argv()).limit(Nanos(job.expected.0 + Nanos::seconds(300).0));
    // Three readings fall into a window; more would only cost, but in a long one somebody may be looking.
    let pause = (window.to_duration() * 3 / 10).clamp(Duration::from_millis(200), LOOK);
    let begun = host.now()?;
    let over = AtomicBool::new(false);
    let (outcome, ended, snapshots, busy, lost) = thread::scope(|scope| {
        let lost = event.map(|(loss, settle)| {
            scope.spawn({
                let over = &over;
                move || path::lose(host, loss, settle, over)
            })
        });
        let fio = scope.spawn(|| {
            let result = (host.run(&cmd), host.now());
            over.store(true, Ordering::Relaxed);
            result
        });
        let (mut snapshots, mut busy) = (Vec::new(), Vec::new());
        while !fio.is_finished() {
            snapshots.push(snapshot(host, drives, writes)?);
            if let [.., earlier, now] = snapshots.as_slice() {
                watch(&now.members_since(earlier), Nanos(now.at().0.saturating_sub(earlier.at().0)));
            }
            // Every other time: it was looked at just before fio began, and will be just after it ended.
            if busy.is_empty() && snapshots.len() % 2 == 0 {
                busy.extend(own_work::md(host, nodes)?);
                busy.extend(own_work::in_step(host, nodes)?);
            }
            wait_for(&fio, pause);
        }
        let (outcome, ended) = fio.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let lost = lost.map(|lost| lost.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        Ok::<_, HostError>((outcome?, ended?, snapshots, busy, lost))
    })?;
    let log_file = take(host, &log_file(seed));
    let latency_log = take(host, &latency_log_file(seed));
    let parts = latency_part_files(seed);
    let _ = host.run(&Cmd::new(["rm", "-f", &parts[0], &parts[1]]));
    let log = Log::read(&String::from_utf8_lossy(&log_file), SAMPLE);
    let span = if aligned && !log.rates.is_empty() {
        (log.start, log.end())
    } else {
        (Nanos(ended.0.saturating_sub(window.0)), Nanos(ended.0.saturating_sub(EXIT.0)))
    };
    let path_lost = lost.map(|lost| placed(host, lost, &log, aligned)).transpose()?;
    let inside = inside(&snapshots, span);
    Ok(Observed {
        members: inside.map_or_else(Vec::new, |(first, last)| last.members_since(first)),
        counts: snapshots.last().is_some_and(Snapshot::counts),
        cpu: inside.map(|(first, last)| last.cpu_since(first)),
        dirtied: inside.and_then(|(first, last)| last.dirtied_since(first)),
        between: inside.map(|(first, last)| (first.at(), last.at())),
        lifetime: (begun, ended),
        path_lost,
        // What is done to a window on purpose says nothing of what stands.
        steadiness: (event.is_none() && !log.rates.is_empty()).then(|| steady::judge(&log.sums(), SAMPLE)),
        outcome,
        busy,
        log,
        log_file,
        latency_log,
    })
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

fn wait_for<T>(thread: &thread::ScopedJoinHandle<'_, T>, pause: Duration) {
    let start = std::time::Instant::now();
    while start.elapsed() < pause && !thread.is_finished() {
        thread::sleep(Duration::from_millis(10));
    }
}

/// A file's content; the file is gone afterwards. A job that failed may not have written it.
fn take(host: &dyn Host, path: &str) -> Vec<u8> {
    let content = host.read(path).unwrap_or_default();
    let _ = host.run(&Cmd::new(["rm", "-f", path]));
    content
}

/// The first and the last reading that certainly lie inside the window; `None` where there are not two.
fn inside(snapshots: &[Snapshot], (from, to): (Nanos, Nanos)) -> Option<(&Snapshot, &Snapshot)> {
    let mut chosen = snapshots.iter().filter(|snapshot| (from..=to).contains(&snapshot.at()));
    Some((chosen.next()?, chosen.next_back()?))
}
