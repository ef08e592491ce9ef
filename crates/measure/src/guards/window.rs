//! Does fio's output agree with itself and with what was asked for?

use terms::record::{Flow, Reading};
use terms::workload::Load;
use terms::{Bytes, Nanos, Workload};

use super::{Evidence, Section};
use crate::fio::FioOutput;
use crate::job::Offered;
use crate::log::Log;

/// A window that ended before this share of what was asked for is not the window.
const SHORTEST: f64 = 0.95;
/// Largest relative difference between bytes per second and operations per second times block.
const IDENTITY: f64 = 0.001;
/// Largest relative difference between the log's total and the output's, beside what is lost at the ends.
const LOG: f64 = 0.01;
/// What a line may leave out: fio writes whole KiB/s, rounded down (`__add_samples` in its stat.c).
const ROUNDED: f64 = 1024.0;
/// A window has to be so many times as long as an operation takes: what was under way at its ends is a tenth of it then at most.
/// Records of windows of twelve times were 2 % off what the drive counted, of once 25 to 35 %.
pub(crate) const TURNS: f64 = 10.0;
/// In a window of fewer turns than this, what is under way at an end of it is more than a hundredth.
const ENDS: f64 = 100.0;
/// A job counts for so many times its window at most, or it waited for its last operations with ever fewer of them under way. What two
/// runs of the same work differ by is twice as much (`terms::record::REPEATS`).
const WAITED: f64 = 1.0025;
/// All windows of a cell's jobs lie in so many times the longest of them, or they are no single window.
const TOGETHER: f64 = 1.05;
/// Windows shorter than this have too few lines of a log to hold it to anything.
const LOGGED: Nanos = Nanos::seconds(1);

/// Not as many jobs spoke as were asked for.
pub(super) fn jobs(evidence: &Evidence<'_>) -> Option<String> {
    let wrong = |found: usize, asked: u32, of: &str| {
        let witness = || format!("fio's output speaks of {found} jobs{of}, {asked} were asked for");
        (u32::try_from(found) != Ok(asked)).then(witness)
    };
    let all = wrong(evidence.output.jobs.len(), evidence.workload.jobs.max(1), "");
    let sections = || evidence.sections().into_iter();
    let each = || sections().find_map(|section| wrong(section.jobs.len(), section.kind.jobs.max(1), &section.of));
    all.or_else(each)
}

/// Bytes per second and operations per second contradict each other, in a job or in the sum.
///
/// fio resets its counters when settling ends; what is under way then is counted among the bytes and not among the
/// operations, so the two may differ by as many operations as the queues hold, and by no more.
pub(super) fn identity(evidence: &Evidence<'_>) -> Option<String> {
    evidence.sections().iter().find_map(contradiction)
}

fn contradiction(section: &Section<'_>) -> Option<String> {
    let kind = &section.kind;
    let block = kind.block.as_f64();
    let depth = f64::from(kind.depth.max(1));
    // Where arrivals do not wait, a queue of fio's own stands before the drive's.
    let depth = if kind.load == Load::Closed { depth } else { 2.0 * depth };
    // Each job's queue counts over its own time; for the sum the shortest is taken, which allows the most.
    let times = section.jobs.iter().flat_map(|job| &job.flows).map(|flow| flow.runtime.as_seconds());
    let shortest = times.fold(f64::INFINITY, f64::min);
    let wrong = |flow: &Flow, jobs: f64| {
        let expected = flow.iops.0 * block;
        let time = flow.runtime.as_seconds().min(if jobs > 1.0 { shortest } else { f64::INFINITY }).max(0.001);
        let slack = expected * IDENTITY + depth * jobs * block / time + jobs * block;
        (flow.throughput.0 - expected).abs() > slack
    };
    let jobs = f64::from(kind.jobs.max(1));
    let sums = section.reading.into_iter().flat_map(Reading::flows).map(|flow| (flow, jobs, "the sum"));
    let each = section.jobs.iter().flat_map(|job| &job.flows).map(|flow| (flow, 1.0, "a job"));
    let (flow, _, whose) = sums.chain(each).find(|(flow, jobs, _)| wrong(flow, *jobs))?;
    Some(format!(
        "in {whose}{}, {:.1} operations/s of {} are not {:.0} bytes/s",
        section.of, flow.iops.0, kind.block, flow.throughput.0
    ))
}

/// The sum over the jobs is not what fio printed for the group. fio prints three or four digits: as much as they say.
pub(super) fn sum(evidence: &Evidence<'_>) -> Option<String> {
    let Reading { read, write, .. } = &evidence.output.reading;
    let bytes = [read, write].map(|flow| flow.as_ref().map_or(0.0, |flow| flow.bytes.as_f64()));
    let wrong = |(bytes, group): &(f64, Option<(f64, f64)>)| {
        group.is_some_and(|(total, digit)| (bytes - total).abs() > digit + total * IDENTITY)
    };
    let (bytes, group) = bytes.into_iter().zip(evidence.output.group).find(wrong)?;
    let total = group.map_or(0.0, |(total, _)| total);
    Some(format!("the jobs moved {bytes:.0} bytes together, fio says {total:.0} for the group"))
}

/// Operations are not what their bins of latency add up to. Both are counted from where settling ended; what was under
/// way then is in one and not in the other.
pub(super) fn bins(evidence: &Evidence<'_>) -> Option<String> {
    evidence.sections().iter().find_map(lost_operations)
}

fn lost_operations(section: &Section<'_>) -> Option<String> {
    let depth = u64::from(section.kind.depth.max(1));
    // Where arrivals do not wait, a queue of fio's own stands before the drive's.
    let depth = if section.kind.load == Load::Closed { depth } else { depth.saturating_mul(2) };
    let mut all = section.jobs.iter().flat_map(|job| &job.binned);
    let (operations, binned) =
        all.find(|(operations, binned)| operations.abs_diff(*binned) > depth.saturating_add(operations / 1000))?;
    Some(format!("a job{} did {operations} operations, and its bins of latency hold {binned}", section.of))
}

/// The log holds more than fio did: lines of something else are among its own. (That it holds less may be a machine
/// that has no time for fio, see [`log`].)
pub(super) fn log_sum(evidence: &Evidence<'_>) -> Option<String> {
    let total = told(evidence);
    // A line may have begun before the window, and lasted longer than a line should.
    let ends = 2.0 * evidence.log.step.as_seconds() * peak(evidence);
    if evidence.log.total <= total * (1.0 + LOG) + ends {
        return None;
    }
    let found = evidence.log.total;
    Some(format!("fio's log adds up to {found:.0} bytes, its output says {total:.0}"))
}

/// The highest rate of the log.
fn peak(evidence: &Evidence<'_>) -> f64 {
    evidence.log.sums().into_iter().fold(0.0, f64::max)
}

/// The window ended early.
pub(super) fn short(evidence: &Evidence<'_>) -> Option<String> {
    // Every job has to last: one that ended early leaves the others a machine to themselves.
    let each = evidence.output.jobs.iter().filter_map(|job| job.flows.iter().map(|flow| flow.runtime).max());
    let runtime = each.min()?;
    if runtime.as_seconds() >= evidence.window.as_seconds() * SHORTEST {
        return None;
    }
    Some(format!("the window lasted {runtime}, {} were asked for", evidence.window))
}

/// The window is hardly longer than an operation takes. fio counts operations that it began before the window, and goes on
/// for those that are under way at its end: they are as many as the queues hold.
pub(super) fn queue(evidence: &Evidence<'_>) -> Option<String> {
    let reading = &evidence.output.reading;
    let times = turns(reading, queue_time(evidence.workload, reading)?)?;
    (times < TURNS).then(|| format!("the window is {times:.1} times as long as an operation takes"))
}

/// How long a queue takes to be done over (Little's law), where it is what an operation waits for: the mean latency of the
/// direction whose operations take longest.
pub(crate) fn queue_time(workload: &Workload, reading: &Reading) -> Option<Nanos> {
    // Where arrivals do not wait, or a path is away, an operation waits for something else.
    let is_queue = workload.load == Load::Closed && workload.path_lost.is_none();
    reading.flows().map(|flow| flow.latency.mean).max().filter(|mean| is_queue && mean.0 > 0)
}

/// How often queues that take so long were done over in the window.
pub(crate) fn turns(reading: &Reading, queue_time: Nanos) -> Option<f64> {
    let runtime = reading.flows().map(|flow| flow.runtime).max()?;
    Some(runtime.as_seconds() / queue_time.as_seconds())
}

/// Jobs did their windows one after the other, or began and ended them at different times.
pub(super) fn together(evidence: &Evidence<'_>) -> Option<String> {
    let time = apart(evidence.worked, evidence.output, evidence.log.step)?;
    let times = time.as_seconds() / evidence.window.as_seconds();
    let of = if side_by_side(evidence.log, evidence.window).is_some() {
        "the time in which all worked"
    } else {
        "all of it"
    };
    Some(format!("from the first job's window to the last one's it took {times:.1} windows: the rate is that of {of}"))
}

/// The time that gives the rate of jobs together, whose windows `worked` spans: operations of all over it are as many as while all of
/// them worked. `None` where fio's own count of the window is as good.
///
/// It is not where windows lie apart ([`apart`]), nor where a queue holds much of what is done in one, nor where a job had to wait for
/// its last operations. Each job begins and ends its window by itself, with that many operations under way: six rounds of random reads
/// by 16 queues of 32 on a hard disk differ by 26 % by fio's count, and by 0.6 % by its log of the time in which all worked, as by the
/// drive's count (the kept record of `crates/bedplate/tests/studies/hard-disk-rounds.toml`).
pub(crate) fn joint(workload: &Workload, worked: Nanos, output: &FioOutput, log: &Log, window: Nanos) -> Option<Nanos> {
    let apart = apart(Some(worked), output, log.step);
    let turns = || turns(&output.reading, queue_time(workload, &output.reading)?);
    let counted = output.jobs.iter().flat_map(|job| &job.flows).map(|flow| flow.runtime).max()?;
    let waited = counted.as_seconds() > window.as_seconds() * WAITED;
    let queued = window >= LOGGED && (waited || turns().is_some_and(|turns| turns < ENDS));
    let rate = side_by_side(log, window).filter(|_| apart.is_some() || queued);
    let operations: u64 = output.reading.flows().map(|flow| flow.operations).sum();
    let bytes = Bytes(operations.saturating_mul(workload.block.0)).as_f64();
    rate.map(|rate| Nanos::from_seconds(bytes / rate)).or(apart)
}

/// Bytes per second while the windows of all jobs were open; `None` where that was less than half of a window. What a job does
/// before its window begins keeps the drives from the others and counts nowhere, so all operations over all of the time are too few.
pub(super) fn side_by_side(log: &Log, window: Nanos) -> Option<f64> {
    let common = Nanos(log.end().0.saturating_sub(log.start.0)).as_seconds() / window.as_seconds();
    let rate = log.between(log.start, log.end())?.iter().sum::<f64>();
    // Lines of jobs that worked one after the other look like those of a single job, which lasts longer than any.
    ((0.5..1.5).contains(&common) && rate > 0.0).then_some(rate)
}

/// The time in which the windows of all jobs lie, where it is longer than one of them by more than a twentieth and what lines of
/// `step` leave open. fio begins a job's window when the job next looks, and a job that waits for a free request does not look:
/// few jobs may hold all requests until their windows are over.
fn apart(worked: Option<Nanos>, output: &FioOutput, step: Nanos) -> Option<Nanos> {
    let longest = output.jobs.iter().flat_map(|job| &job.flows).map(|flow| flow.runtime).max()?;
    let nearly = longest.as_seconds() * TOGETHER + 2.0 * step.as_seconds();
    worked.filter(|time| output.jobs.len() > 1 && time.as_seconds() > nearly)
}

/// A direction that was asked for did nothing.
pub(super) fn direction(evidence: &Evidence<'_>) -> Option<String> {
    let idle = |section: Section<'_>| {
        let (pattern, reading) = (section.kind.pattern, section.reading);
        let did = |flow: fn(&Reading) -> &Option<Flow>| reading.is_some_and(|reading| flow(reading).is_some());
        let read = pattern.reads() && !did(|reading| &reading.read);
        let written = pattern.writes() && !did(|reading| &reading.write);
        let what = if read { "read" } else { "write" };
        (read || written).then(|| format!("no {what}{} was completed in the window", section.of))
    };
    evidence.sections().into_iter().find_map(idle)
}

/// Series of lines in the log: one for each job and direction.
fn series(evidence: &Evidence<'_>) -> f64 {
    let of = |section: &Section<'_>| {
        let directions = section.reading.map_or(0, |reading| reading.flows().count()).max(1);
        f64::from(section.kind.jobs.max(1)) * f64::from(u32::try_from(directions).unwrap_or(1))
    };
    evidence.sections().iter().map(of).sum()
}

fn lines(evidence: &Evidence<'_>) -> f64 {
    Bytes(u64::try_from(evidence.log.lines).unwrap_or(0)).as_f64()
}

/// Bytes that fio says it moved.
fn told(evidence: &Evidence<'_>) -> f64 {
    evidence.output.reading.flows().map(|flow| flow.bytes.as_f64()).sum()
}

/// What all lines together may leave out: fio rounds each down.
fn rounded_away(evidence: &Evidence<'_>) -> f64 {
    let runtime = evidence.output.reading.flows().map(|flow| flow.runtime.as_seconds()).fold(0.0, f64::max);
    runtime * series(evidence) * ROUNDED
}

/// The log of throughput over time is not there, or half of it is not: nothing can be said of the window's steadiness.
///
/// Lines are not counted: fio writes none for a job that ended no operation since the last one, so a slow drive with many
/// jobs has few. What was done while no line was written is missing from the sum of all lines, whoever did it.
pub(super) fn lost_log(evidence: &Evidence<'_>) -> Option<String> {
    let (found, told) = (evidence.log.total, told(evidence));
    if evidence.window < LOGGED || found + rounded_away(evidence) >= told / 2.0 {
        return None;
    }
    let lines = evidence.log.lines;
    Some(format!("fio's log adds up to {found:.0} bytes in {lines} lines, its output says {told:.0}"))
}

/// Less was done than was offered: what fio took up late had waited before, which its latency does not tell.
pub(super) fn rate(evidence: &Evidence<'_>) -> Option<String> {
    let Offered { rate, done, .. } = evidence.offered.filter(|offered| !offered.is_reached())?;
    Some(format!(
        "{done:.0} operations/s were done of {rate:.0} offered: latency leaves out how long the others waited to begin"
    ))
}

/// The log's total is less than the output's.
pub(super) fn log(evidence: &Evidence<'_>) -> Option<String> {
    let step = evidence.log.step.as_seconds();
    let peak = peak(evidence);
    if evidence.window < LOGGED || peak <= 0.0 {
        return None;
    }
    let total = told(evidence);
    let runtime = evidence.output.reading.flows().map(|flow| flow.runtime.as_seconds()).fold(0.0, f64::max);
    let covered = lines(evidence) / series(evidence) * step;
    // What fio has not written a line for yet when it ends, and a line that began before the window.
    let missing = ((runtime - covered).max(0.0) + step) * peak + rounded_away(evidence);
    let wrong = evidence.log.total + missing < total * (1.0 - LOG);
    let witness = format!(
        "fio's log adds up to {:.0} bytes over {covered:.1} s, its output says {total:.0} over {runtime:.1} s",
        evidence.log.total
    );
    wrong.then_some(witness)
}

/// The log was to be on the machine's clock, and speaks of another time.
pub(super) fn clock(evidence: &Evidence<'_>) -> Option<String> {
    let (begun, ended) = evidence.lifetime;
    let (first, last) = (evidence.log.start, evidence.log.end());
    // Times of lines are whole milliseconds, and the first line may speak of a step before it.
    let slack = 2 * evidence.log.step.0;
    let outside = first.0 + slack < begun.0 || last.0 > ended.0 + slack;
    if !evidence.aligned || evidence.log.rates.is_empty() || !outside {
        return None;
    }
    Some(format!("the log speaks of {first} to {last}, fio ran from {begun} to {ended}"))
}
