//! One cell: a workload on a stack, once.

use std::time::Instant;

use host::{Host, HostError};
use terms::command::{TOLD, edges};
use terms::evidence::{JobShare, ThreadTime, Threads};
use terms::record::{Cell, GuardNote, PartReading, Reading};
use terms::workload::{FioKey, Load, Method};
use terms::{Guard, MeasurePolicy, Nanos, Outcome, Workload};

use crate::amplification::{self, Bounds, Work};
use crate::bottleneck::{self, Seen};
use crate::conditions;
use crate::copy;
use crate::counted::{counted, worked};
use crate::counters::{self, threads};
use crate::error::MeasureError;
use crate::fio::{self, FioOutput};
use crate::gate::{Observed, observe};
use crate::guards::{self, Evidence};
use crate::imitate;
use crate::job::{self, Job, Offered};
use crate::latency_log;
use crate::longer::{self, Times};
use crate::on::On;
use crate::own_work::{self, Busy};
use crate::probe;
use crate::request::{CellRequest, Measured};
use crate::workplace;
use crate::{resync, together};

/// Runs one cell. A job that failed is a failed cell, not an error.
///
/// # Errors
/// Where the machine is lost.
pub fn measure(host: &dyn Host, request: &CellRequest<'_>) -> Result<Measured, MeasureError> {
    request.filled.check(host)?;
    if !request.workload.hosts.is_one() {
        return together::measure(host, request);
    }
    if let Some(why) = resync::restart(host, request.resyncs)? {
        return Ok(Measured::failed(request, why));
    }
    match &request.workload.method {
        Method::Fio => {}
        Method::Copy(tree) => return copy::measure(host, request, tree),
        Method::Tree(work, tree) => return copy::walk::measure(host, request, *work, tree),
    }
    let start = Instant::now();
    counters::settle_writes(host)?;
    check_request(request)?;
    let around = Around::before(host, request)?;
    let mut times = Times::of(request);
    let mut job = prepare(request, times)?;
    let mut observed = observed(host, request, &job, times.window)?;
    let mut windows = vec![raw_files(&job, &observed)];
    while let Some(longer) = longer::longer(request, &observed, times, windows.len()) {
        times = longer;
        if let Some(why) = resync::restart(host, request.resyncs)? {
            return Ok(Measured::failed(request, why));
        }
        job = prepare(request, times)?;
        observed = self::observed(host, request, &job, times.window)?;
        windows.push(raw_files(&job, &observed));
    }
    let extended = windows.len() > 1;
    let mut raw = named(windows);
    let around = around.after(host, request, &observed)?;
    let imitated = match request.workload.imitates.filter(|_| request.policy.compat && observed.outcome.ok()) {
        Some(imitation) => {
            let shown = imitate::run(host, request, imitation)?;
            raw.extend(shown.raw);
            shown.imitated
        }
        None => None,
    };
    let probes = if observed.outcome.ok() {
        let pass = probe::pass(host, request)?;
        raw.extend(pass.raw);
        pass.probes
    } else {
        Vec::new()
    };
    let cell = conclude(request, &job, observed, around, times.window);
    let settled = Some(times.settle).filter(|settled| *settled > request.policy.settle);
    Ok(Measured { cell: Cell { imitated, extended, settled, probes, took: start.elapsed().into(), ..cell }, raw })
}

/// What is told of a run that was observed.
pub(crate) fn conclude(
    request: &CellRequest<'_>,
    job: &Job,
    observed: Observed,
    around: Compared,
    window: Nanos,
) -> Cell {
    let judged = judge(request, job, &observed, &around, window);
    Cell {
        status: observed.outcome.status,
        reading: judged.reading,
        parts: judged.parts,
        failure: judged.failure,
        guards: judged.guards,
        jobs: judged.jobs,
        bottleneck: judged.bottleneck,
        threads: Some(judged.threads),
        conditions: around.conditions,
        samples: latency_log::samples(&observed.log, &String::from_utf8_lossy(&observed.latency_log)),
        steadiness: observed.steadiness,
        members: observed.members,
        cpu: observed.cpu,
        path_lost: observed.path_lost.as_ref().and_then(|lost| lost.as_ref().ok().copied()),
        offered_iops: job.offered,
        ..Cell::begun(request.key.clone(), request.started.clone(), job.argv(), request.seed)
    }
}

/// A share of nothing would let fio take the whole device, unwritten blocks and all.
pub(crate) fn check_request(request: &CellRequest<'_>) -> Result<(), MeasureError> {
    let Workload { name, load, .. } = request.workload;
    // Without its rate it would run as fast as it can, under the name of something slower.
    if matches!(load, Load::Share { .. }) && !request.rate.is_some_and(|rate| rate > 0.0) {
        return Err(MeasureError::Rate { workload: name.to_string() });
    }
    let span = request.filled.span;
    let needed = request.workload.least_span();
    if needed > span {
        return Err(MeasureError::Span { workload: name.to_string(), needed, span });
    }
    Ok(())
}

pub(crate) fn prepare(request: &CellRequest<'_>, times: Times) -> Result<Job, MeasureError> {
    // What was filled decides, whatever the policy says.
    let policy = MeasurePolicy { span: request.filled.span, settle: times.settle, ..request.policy.clone() };
    let workload = Workload { window: Some(times.window), ..request.workload.clone() };
    let mut job = job::job_at(&workload, request.filled.place(), &policy, request.rate, request.seed)?;
    if job::aligns(&request.filled.version) {
        job::align_log(&mut job);
    }
    Ok(job)
}

fn observed(host: &dyn Host, request: &CellRequest<'_>, job: &Job, window: Nanos) -> Result<Observed, MeasureError> {
    if let Some(settling) = job.settling() {
        // What goes wrong in it goes wrong in the run that counts, which is judged.
        let limit = Nanos(job.expected.0 + Nanos::seconds(300).0);
        workplace::run(host, &settling, limit, On::Writable(&request.filled.on))?;
    }
    let aligned = job::aligns(&request.filled.version);
    let event = request.workload.path_lost.map(|loss| (loss, request.policy.settle));
    observe(host, job, request, window, aligned, event)
}

/// Names and bytes of raw files.
pub(crate) type RawFiles = Vec<(String, Vec<u8>)>;

/// Files of a run. fio's JSON and its words are kept apart, so that the one stays JSON.
pub(crate) fn raw_files(job: &Job, observed: &Observed) -> RawFiles {
    let stdout = &observed.outcome.stdout;
    let json = fio::parse(stdout).map_or(0..stdout.len(), |output| output.json);
    let words = [&stdout[..json.start], &stdout[json.end..]].concat();
    let mut files = vec![
        ("job.fio".to_owned(), job.file().into_bytes()),
        ("fio.json".to_owned(), stdout[json].to_vec()),
        ("fio.stderr".to_owned(), observed.outcome.stderr.clone()),
        ("throughput.log".to_owned(), observed.log_file.clone()),
        ("latency.log".to_owned(), observed.latency_log.clone()),
    ];
    if !words.trim_ascii().is_empty() {
        files.push(("fio.txt".to_owned(), words));
    }
    files
}

/// Files of every window of a cell: those of the first as they are, of the last, which counts, with `extended-` before them, and of
/// what was between them with `extended-1-` and so on.
pub(crate) fn named(windows: Vec<RawFiles>) -> RawFiles {
    let last = windows.len().saturating_sub(1);
    let prefix = |at: usize| match at {
        0 => String::new(),
        _ if at == last => "extended-".to_owned(),
        _ => format!("extended-{at}-"),
    };
    let of = |(at, files): (usize, RawFiles)| files.into_iter().map(move |(name, bytes)| (prefix(at) + &name, bytes));
    windows.into_iter().enumerate().flat_map(of).collect()
}

/// What is read before and after a job.
pub(crate) struct Around {
    census: threads::Census,
    conditions: conditions::Now,
    busy: Vec<Busy>,
}

/// What both readings say together.
pub(crate) struct Compared {
    threads: Threads,
    kernel_threads: Threads,
    conditions: terms::evidence::CellConditions,
    governor_change: Option<String>,
    busy: Vec<Busy>,
    kernel: String,
}

impl Around {
    pub(crate) fn before(host: &dyn Host, request: &CellRequest<'_>) -> Result<Self, HostError> {
        let conditions = conditions::now(host, request.drives)?;
        let census = threads::census(host)?;
        Ok(Self { busy: own_work::busy(host, request.nodes, &census)?, conditions, census })
    }

    pub(crate) fn after(
        self,
        host: &dyn Host,
        request: &CellRequest<'_>,
        observed: &Observed,
    ) -> Result<Compared, HostError> {
        let census = threads::census(host)?;
        let threads = census.since(&self.census);
        let after = conditions::now(host, request.drives)?;
        let busy = self
            .busy
            .into_iter()
            .chain(observed.busy.iter().cloned())
            .chain(own_work::busy(host, request.nodes, &census)?)
            .chain(own_work::in_step(host, request.nodes)?)
            .collect();
        let version = host.read_text("/proc/version").unwrap_or_default();
        Ok(Compared {
            threads,
            kernel_threads: census.kernel_since(&self.census),
            conditions: conditions::between(&self.conditions, &after),
            governor_change: conditions::governor_change(&self.conditions, &after),
            busy,
            kernel: version.split_whitespace().take(3).collect::<Vec<_>>().join(" "),
        })
    }
}

#[derive(Default)]
struct Judged {
    reading: Option<Reading>,
    parts: Vec<PartReading>,
    failure: Option<String>,
    guards: Vec<GuardNote>,
    jobs: Vec<JobShare>,
    threads: Threads,
    bottleneck: Option<terms::evidence::Bottleneck>,
}

/// Decides whether there is a reading. A failed job never yields one, whatever it printed.
fn judge(request: &CellRequest<'_>, job: &Job, observed: &Observed, around: &Compared, window: Nanos) -> Judged {
    let failed = |why: String| Judged { failure: Some(why), threads: around.threads.clone(), ..Judged::default() };
    let outcome = &observed.outcome;
    if let Some(Err(why)) = &observed.path_lost {
        return failed(why.clone());
    }
    if outcome.timed_out {
        return failed(format!("fio was ended after {}, {} were expected", outcome.took, job.expected));
    }
    if let Some(most) = outcome.flooded {
        return failed(format!("fio was ended: it printed more than {most}"));
    }
    match fio::parse(&outcome.stdout) {
        Ok(FioOutput { error: Some(error), .. }) => failed(error),
        _ if outcome.status != 0 => {
            failed(format!("fio ended with status {}: {}", outcome.status, first_line(outcome)))
        }
        Err(why) => failed(why),
        Ok(output) => believe(request, job, observed, around, window, output),
    }
}

/// Asks the guards of an output that could be read, and names the bottleneck.
fn believe(
    request: &CellRequest<'_>,
    job: &Job,
    observed: &Observed,
    around: &Compared,
    window: Nanos,
    output: FioOutput,
) -> Judged {
    let workload = request.workload;
    let output = counted(workload, observed, output, window);
    // Which part of several moved which byte is not told: what any of them may explain is explained.
    let bounds = workload.kinds().into_iter().map(|kind| {
        amplification::bounds(request.nodes, Work { block: kind.block, fsync_every: kind.flushed_every() })
    });
    let aligned = job::aligns(&request.filled.version);
    let offered = job.offered.map(|rate| Offered { rate, done: output.reading.iops().0, window });
    let guards = guards::check(&Evidence {
        workload,
        nodes: request.nodes,
        window,
        output: &output,
        log: &observed.log,
        aligned,
        worked: worked(workload, observed),
        offered,
        lifetime: observed.lifetime,
        members: observed.counted(),
        cpu: observed.cpu.as_ref(),
        application: application(observed, &output, aligned),
        bounds: match request.filled.place() {
            terms::plan::WorkPlace::Directory(_) if request.nodes.is_empty() => amplification::UNKNOWN,
            _ => bounds.reduce(Bounds::or).unwrap_or(amplification::UNKNOWN),
        },
        busy: &around.busy,
        dirtied: observed.dirtied,
        kernel: &around.kernel,
        conditions: &around.conditions,
        governor_change: around.governor_change.as_deref(),
        steadiness: observed.steadiness.as_ref(),
    });
    let threads = with_fio(around.threads.clone(), &output, job.expected);
    let cache = guards.iter().find(|note| matches!(note.guard, Guard::Cache | Guard::WriteCache));
    let bottleneck = bottleneck::find(&Seen {
        offered,
        cache: cache.map(|guard| guard.witness.as_str()),
        busiest_job: output.busiest_job,
        threads: Some(&around.kernel_threads),
        loaded: (job.expected.as_seconds() / threads.wall.as_seconds().max(1e-9)).min(1.0),
        cpu: observed.cpu.as_ref(),
        conditions: Some(&around.conditions),
        members: observed.counted(),
        in_flight: workload.in_flight(),
        pace: workload.pace().map(|FioKey { key, value }| format!("{key}={value}")),
    });

    let void = guards.iter().find(|guard| guard.voids);
    let failure = void.map(|guard| format!("{}: {}", guard.guard, guard.witness));
    let jobs = output.jobs.iter().map(|job| job.share.clone()).collect();
    let parts = if failure.is_none() { parts(workload, output.sections) } else { Vec::new() };
    let reading = failure.is_none().then(|| match parts.as_slice() {
        [] => fio::in_window(output.reading, workload.block),
        parts => fio::sum_of(output.reading, parts),
    });
    Judged { reading, parts, failure, guards, jobs, threads, bottleneck: Some(bottleneck) }
}

/// What each part of a workload did, where it has parts.
fn parts(workload: &Workload, sections: Vec<(String, Reading)>) -> Vec<PartReading> {
    let of = |(name, reading): (String, Reading)| {
        let part = workload.parts.iter().find(|part| part.name.as_str() == name)?;
        Some(PartReading { part: part.name.clone(), reading: fio::in_window(reading, part.block) })
    };
    sections.into_iter().filter_map(of).collect()
}

/// What the application moved between the readings of the counters, in bytes per second: from the log where both are
/// on one clock, the mean of the window otherwise.
fn application(observed: &Observed, output: &FioOutput, aligned: bool) -> [f64; 2] {
    let Reading { read, write, .. } = &output.reading;
    let mean = [read, write].map(|flow| flow.as_ref().map_or(0.0, |flow| flow.throughput.0));
    let between = observed.between.filter(|_| aligned);
    between.and_then(|(from, to)| observed.log.between(from, to)).unwrap_or(mean)
}

/// fio's processes are gone when threads are counted: their time comes from what they say, over settling and window.
fn with_fio(threads: Threads, output: &FioOutput, loaded: Nanos) -> Threads {
    let time = |cores: f64| Nanos(fio::rounded(cores * loaded.as_seconds() * 1e9).0);
    let fio = ThreadTime {
        kind: "fio".to_owned(),
        threads: u32::try_from(output.jobs.len()).unwrap_or(u32::MAX),
        busy: time(output.reading.fio_cpu_cores),
        busiest: time(output.busiest_job),
    };
    let kinds = threads.kinds.into_iter().filter(|kind| kind.kind != "fio").chain([fio]);
    threads::sorted(threads.wall, kinds.collect())
}

fn first_line(outcome: &Outcome) -> String {
    let (errors, text) = (outcome.error_text(), outcome.text());
    let mut lines = errors.lines().chain(text.lines()).map(str::trim);
    // What is no line of fio's own is the loader's, or an assertion's.
    let line = lines
        .find(|line| line.starts_with("fio:"))
        .or_else(|| errors.lines().map(str::trim).find(|line| !line.is_empty()));
    edges(line.unwrap_or("it said nothing"), TOLD).into_owned()
}
