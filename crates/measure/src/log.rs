//! fio's log of throughput over time: `time ms, KiB/s, direction, …`.
//!
//! One file holds the lines of all jobs, job after job. They tick at moments of their own, and late where the machine is
//! busy. A line speaks of the tick that ends at it, however long that was. So the lines of a job are laid on one grid by how much
//! of each cell they cover. The grid lies where the windows of all jobs are open: at the end of its window a job waits for what is
//! under way, and that has lines too.
//!
//! A tick without an operation has no line (`__add_samples` in fio's `stat.c`): where many jobs share a hard disk most ticks
//! of each have none. Between a job's lines that is a rate of 0. Nor has a tick that ends a moment before the log's own
//! (`add_log_sample`): the next line is the mean of both. So a line two ticks after the one before it may speak of one tick or of
//! two. What fio counted tells which.

use std::ops::Range;

use terms::record::Sample;
use terms::{Bytes, BytesPerSecond, Nanos, Workload};

use crate::fio::{self, FioOutput};

/// Throughput over time on one grid.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Log {
    /// When the earliest line of any job begins: about when the window does, whatever fio left out later.
    pub(crate) begun: Nanos,
    /// Where the first cell begins, in the log's own clock: from fio's start, or the machine's monotonic clock.
    pub(crate) start: Nanos,
    /// Length of a cell.
    pub(crate) step: Nanos,
    /// Bytes per second of reads and of writes, cell by cell.
    pub(crate) rates: Vec<[f64; 2]>,
    /// Bytes of all lines, those at the ends included.
    pub(crate) total: f64,
    /// Lines that could be read.
    pub(crate) lines: usize,
}

/// What fio tells beside the log. Where it tells nothing the log is read by itself.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    /// Bytes that all jobs moved in their windows.
    bytes: f64,
    /// When the window of each job was open, in ms of the log's clock.
    windows: Vec<Range<u64>>,
}

impl Beside {
    /// As fio's output and its log of latency tell, of windows that were to be so long: that log has a line at the end of a job, and
    /// the output says for how long the job had counted then.
    pub(crate) fn of(workload: &Workload, output: &FioOutput, latencies: &str, window: Nanos) -> Self {
        let reading = fio::of_window(workload, output.reading.clone());
        let bytes = reading.flows().map(|flow| flow.bytes.as_f64()).sum();
        let lines: Vec<Line> = latencies.lines().filter_map(line).collect();
        let ends = jobs(&lines).into_iter().filter_map(|job| job.iter().flatten().map(|line| line.0).max());
        let counted = output.jobs.iter().map(|job| job.flows.iter().map(|flow| flow.runtime.as_millis()).max());
        let open = |(end, counted): (u64, Option<u64>)| {
            let from = end.checked_sub(counted?)?;
            Some(from..end.min(from.saturating_add(window.as_millis())))
        };
        let windows: Option<Vec<_>> = ends.zip(counted).map(open).collect();
        let windows = windows.filter(|windows| windows.len() == output.jobs.len()).unwrap_or_default();
        Self { bytes, windows }
    }

    /// Those of several accounts whose bytes are nearest to what fio counted.
    fn nearest<const N: usize>(&self, accounts: [Vec<[Vec<Tick>; 2]>; N]) -> Vec<[Vec<Tick>; 2]> {
        let off = |ticks: &Vec<[Vec<Tick>; 2]>| (total(ticks) - self.bytes).abs();
        accounts.into_iter().min_by(|one, other| off(one).total_cmp(&off(other))).unwrap_or_default()
    }
}

/// A line: its time in ms, bytes per second, direction (0 read, 1 write).
type Line = (u64, f64, usize);

/// A time in ms; `None` where it is no time that a clock in ns can have.
fn time(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|time| *time < u64::MAX / 1_000_000)
}

fn line(text: &str) -> Option<Line> {
    let mut fields = text.split(',').map(str::trim);
    let at = time(fields.next()?)?;
    let kib: f64 = fields.next()?.parse().ok().filter(|kib: &f64| kib.is_finite() && *kib >= 0.0)?;
    let direction = fields.next()?.parse::<usize>().ok().filter(|direction| *direction < 2)?;
    Some((at, kib * 1024.0, direction))
}

/// Reads and writes of each job: time goes back where the next one begins.
fn jobs(lines: &[Line]) -> Vec<[Vec<Line>; 2]> {
    let mut jobs: Vec<[Vec<Line>; 2]> = Vec::new();
    let mut latest = u64::MAX;
    for line in lines {
        // Both directions of a job tick together; only another job goes back by more than a moment.
        if line.0.saturating_add(50) < latest {
            jobs.push([Vec::new(), Vec::new()]);
        }
        latest = line.0;
        if let Some(job) = jobs.last_mut() {
            job[line.2].push(*line);
        }
    }
    jobs
}

/// From the beginning of a log's first line to its last one. That of latency has a line at the very end of the window, and
/// none of it is late; that of throughput is written by a thread of its own, which a busy machine keeps waiting.
pub(crate) fn span(text: &str, step: Nanos) -> Option<(Nanos, Nanos)> {
    let times = || text.lines().filter_map(|line| time(line.split(',').next()?));
    let (first, last) = (times().min()?, times().max()?);
    Some((Nanos(Nanos::millis(first).0.saturating_sub(step.0)), Nanos::millis(last)))
}

/// Longest window that a log may speak of, in cells: a day. Beyond it the times are not times.
const LONGEST: u64 = 864_000;
/// So many halves of a tick a line may come after the one before it and still speak of all the time between them. What
/// comes later speaks of its own tick alone.
const LATE: [u64; 4] = [3, 5, 7, 9];

impl Log {
    /// Reads a log with lines of `step`.
    pub(crate) fn read(text: &str, step: Nanos, beside: &Beside) -> Self {
        let lines: Vec<Line> = text.lines().filter_map(line).collect();
        let length = step.as_millis().max(1);
        let jobs = jobs(&lines);
        let known = Some(&beside.windows).filter(|windows| windows.len() == jobs.len());
        let ticks = beside.nearest(LATE.map(|late| ticks(&jobs, known, length * late / 2, length)));
        let total = total(&ticks);
        let windows = known.map_or_else(|| reach(&ticks), |windows| open_of(windows, &ticks, length));
        let begun = windows.iter().map(|window| window.start).min().unwrap_or(0);
        let start = windows.iter().map(|window| window.start).max().unwrap_or(0);
        let open = windows.iter().map(|window| window.end).min().unwrap_or(0).saturating_sub(start);
        let cells = (open + length / 2) / length;
        let (begun, start) = (Nanos::millis(begun), Nanos::millis(start));
        if cells == 0 || cells > LONGEST {
            return Self { begun, start, step, total, lines: lines.len(), rates: Vec::new() };
        }
        let step = Nanos(Nanos::millis(open).0 / cells);
        let rates = laid(&ticks, start, step, usize::try_from(cells).unwrap_or(0));
        Self { begun, start, step, rates, total, lines: lines.len() }
    }

    /// The samples for the record: reads and writes together.
    pub(crate) fn samples(&self) -> Vec<Sample> {
        let sample = |(at, rate): (u64, &[f64; 2])| Sample {
            at: Nanos(self.step.0 * at),
            throughput: BytesPerSecond(rate[0] + rate[1]),
            latency: None,
        };
        (1..).zip(&self.rates).map(sample).collect()
    }

    /// Rates of reads and writes together.
    pub(crate) fn sums(&self) -> Vec<f64> {
        self.rates.iter().map(|rate| rate[0] + rate[1]).collect()
    }

    /// Where the last cell ends.
    pub(crate) fn end(&self) -> Nanos {
        Nanos(self.start.0 + self.step.0 * u64::try_from(self.rates.len()).unwrap_or(0))
    }

    /// Mean rates between two moments of the log's clock; `None` where no cell lies between them.
    pub(crate) fn between(&self, from: Nanos, to: Nanos) -> Option<[f64; 2]> {
        let inside = (0_u64..).zip(&self.rates).filter(|(index, _)| {
            let middle = self.start.0 + self.step.0 * index + self.step.0 / 2;
            (from.0..=to.0).contains(&middle)
        });
        let (mut count, mut sum) = (0.0, [0.0; 2]);
        for (_, rate) in inside {
            count += 1.0;
            sum = [sum[0] + rate[0], sum[1] + rate[1]];
        }
        (count > 0.0).then(|| [sum[0] / count, sum[1] / count])
    }
}

/// A tick that a line speaks of, in ms of the log's clock; bytes per second; direction.
type Tick = (Range<u64>, f64, usize);

/// What the lines of each job speak of, reads and writes. A line that comes at most `late` after the one before it, or after the
/// window was opened, speaks of all that time, and what is later of its own tick.
fn ticks(jobs: &[[Vec<Line>; 2]], windows: Option<&Vec<Range<u64>>>, late: u64, length: u64) -> Vec<[Vec<Tick>; 2]> {
    let of = |(job, flows): (usize, &[Vec<Line>; 2])| {
        let opened = windows.and_then(|windows| windows.get(job)).map(|window| window.start);
        [0, 1].map(|direction| {
            let mut before = opened;
            let tick = |&(at, rate, direction): &Line| {
                let near = before.replace(at).filter(|before| (1..=late).contains(&at.saturating_sub(*before)));
                (near.unwrap_or(at.saturating_sub(length))..at, rate, direction)
            };
            flows[direction].iter().map(tick).collect()
        })
    };
    jobs.iter().enumerate().map(of).collect()
}

/// Bytes of all ticks.
fn total(ticks: &[[Vec<Tick>; 2]]) -> f64 {
    let bytes = |(tick, rate, _): &Tick| rate * Nanos::millis(tick.end - tick.start).as_seconds();
    ticks.iter().flatten().flatten().map(bytes).sum()
}

/// What the log tells of windows that are known. A job that ends with a tick may end before that has its line: what is told of it
/// then ends with its last line or, where that is long ago, a tick earlier.
fn open_of(windows: &[Range<u64>], ticks: &[[Vec<Tick>; 2]], length: u64) -> Vec<Range<u64>> {
    let told = |(window, ticks): (&Range<u64>, &[Vec<Tick>; 2])| {
        let last = ticks.iter().flatten().map(|(tick, ..)| tick.end).max().unwrap_or(0);
        let missing = window.end.saturating_sub(last);
        window.start..if missing <= length * 3 / 2 { window.end.min(last) } else { window.end - length }
    };
    windows.iter().zip(ticks).map(told).collect()
}

/// From when until when the lines of each job and direction speak of it: to the ends of the log, where those are no further away than
/// it pauses elsewhere.
fn reach(ticks: &[[Vec<Tick>; 2]]) -> Vec<Range<u64>> {
    let all = || ticks.iter().flatten().flatten().map(|(tick, ..)| tick);
    let start = all().map(|tick| tick.start).min().unwrap_or(0);
    let end = all().map(|tick| tick.end).max().unwrap_or(0);
    let of = |ticks: &Vec<Tick>| {
        let pauses = ticks.windows(2).map(|pair| pair[1].0.start.saturating_sub(pair[0].0.end));
        let pause = pauses.max().unwrap_or(0);
        let (first, last) = (ticks.first()?.0.start, ticks.last()?.0.end);
        let from = if first - start <= pause { start } else { first };
        Some(from..if end - last <= pause { end } else { last })
    };
    ticks.iter().flatten().filter_map(of).collect()
}

/// The rates of all ticks together in so many cells from `start` on.
fn laid(ticks: &[[Vec<Tick>; 2]], start: Nanos, step: Nanos, cells: usize) -> Vec<[f64; 2]> {
    let mut rates = vec![[0.0; 2]; cells];
    let since = |ms: u64| Nanos::millis(ms).0.saturating_sub(start.0);
    for (tick, rate, direction) in ticks.iter().flatten().flatten() {
        let (from, to) = (since(tick.start), since(tick.end));
        for cell in from / step.0..to.div_ceil(step.0) {
            let share = to.min((cell + 1) * step.0) - from.max(cell * step.0);
            if let Some(sum) = usize::try_from(cell).ok().and_then(|cell| rates.get_mut(cell)) {
                sum[*direction] += rate * Bytes(share).as_f64() / Bytes(step.0).as_f64();
            }
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STEP: Nanos = Nanos::millis(100);

    #[test]
    fn a_log_spans_from_its_first_line_to_its_last() {
        let text = "119439, 755014, 0, 0, 0\n119503, 756058, 0, 0, 0\n119695, 615966, 0, 0, 0\nbroken\n";
        assert_eq!(span(text, Nanos::millis(64)), Some((Nanos::millis(119_375), Nanos::millis(119_695))));
        assert_eq!(span("", Nanos::millis(64)), None);
        assert_eq!(span("18446744073709551615, 1, 0\n", Nanos::millis(64)), None);
    }

    #[test]
    fn two_jobs_that_tick_apart_are_added_up() {
        let log = "100, 1000, 0, 0, 0\n200, 1000, 0, 0\n300, 1000, 0, 0\n101, 500, 0, 0\n201, 500, 0, 0\nbroken\n";
        let log = Log::read(log, STEP, &Beside::default());
        assert_eq!((log.rates.len(), log.lines), (2, 5));
        assert!((log.rates[1][0] - 1500.0 * 1024.0).abs() < 1.0);
        assert!((log.total - (3000.0 + 1000.0) * 102.4).abs() < 1e-6);
    }

    #[test]
    fn a_tick_without_an_operation_is_a_rate_of_nothing() {
        // Two jobs on a slow drive: the first pauses for two ticks, the second begins and ends within its own pause.
        let log = "100, 10, 0, 0\n400, 10, 0, 0\n500, 10, 0, 0\n800, 10, 0, 0\n200, 10, 0, 0\n600, 10, 0, 0\n";
        let log = Log::read(log, STEP, &Beside::default());
        let kib: Vec<f64> = log.sums().iter().map(|rate| rate / 1024.0).collect();
        assert_eq!(kib, [10.0, 10.0, 0.0, 10.0, 10.0, 10.0, 0.0, 10.0]);
        // One that never pauses has ended where its lines do.
        let log = Log::read(
            "100, 10, 0, 0\n200, 10, 0, 0\n300, 10, 0, 0\n100, 10, 0, 0\n200, 10, 0, 0\n",
            STEP,
            &Beside::default(),
        );
        assert_eq!(log.rates.len(), 2);
    }

    #[test]
    fn a_late_line_speaks_of_all_the_time_since_the_one_before_it() {
        let log = Log::read("100, 10, 0, 0\n210, 10, 0, 0\n300, 10, 0, 0\n", STEP, &Beside::default());
        assert_eq!(log.sums(), [10240.0; 3]);
        assert!((log.total - 10240.0 * 0.3).abs() < 1e-9, "{}", log.total);
    }

    #[test]
    fn what_fio_counted_tells_of_how_many_ticks_a_line_speaks() {
        let text = "100, 10, 0, 0\n298, 10, 0, 0\n400, 10, 0, 0\n";
        let kib = |bytes: f64| {
            let log = Log::read(text, STEP, &Beside { bytes: bytes * 1024.0, ..Beside::default() });
            log.sums().iter().map(|rate| (rate / 1024.0).round()).collect::<Vec<_>>()
        };
        assert_eq!(kib(4.0), [10.0; 4]);
        assert_eq!(kib(3.0), [10.0, 0.0, 10.0, 10.0]);
    }

    #[test]
    fn cells_lie_where_all_windows_are_open() {
        // It begins and ends with a tick of nothing, and waits for its last operation after its window.
        let text = "5300, 10, 1, 0\n5400, 10, 1, 0\n5700, 3, 1, 0\n";
        let told = |windows: &[(u64, u64)]| Beside {
            windows: windows.iter().map(|(from, to)| *from..*to).collect(),
            ..Beside::default()
        };
        let log = Log::read(text, STEP, &told(&[(5100, 5600)]));
        assert_eq!(log.sums(), [0.0, 10240.0, 10240.0, 0.0, 0.0]);
        assert_eq!((log.start, log.end(), log.lines), (Nanos::millis(5100), Nanos::millis(5600), 3));
        // No whole number of ticks.
        let log = Log::read(text, STEP, &told(&[(5200, 5398)]));
        assert_eq!((log.rates.len(), log.step), (2, Nanos::millis(99)));
        // One line for four ticks, and none for the last.
        let short = Log::read("350, 10, 0, 0\n", STEP, &Beside { bytes: 2560.0, ..told(&[(0, 490)]) });
        assert_eq!(short.sums(), [10240.0; 4]);
        // Windows of other jobs than those that have lines are none of theirs.
        assert_eq!(Log::read(text, STEP, &told(&[(5100, 5600), (5100, 5600)])).sums().len(), 5);
        let jobs = "300, 10, 0, 0\n400, 10, 0, 0\n200, 10, 0, 0\n300, 10, 0, 0\n400, 10, 0, 0\n";
        assert_eq!(Log::read(jobs, STEP, &told(&[(150, 400), (100, 350)])).sums(), [20480.0; 2]);
        // The second ends before its last tick has a line.
        assert_eq!(
            Log::read(jobs.strip_suffix("400, 10, 0, 0\n").unwrap(), STEP, &told(&[(150, 400), (100, 400)])).sums(),
            [20480.0; 2]
        );
        assert_eq!(Log::read(jobs, STEP, &told(&[(150, 200), (300, 350)])).rates.len(), 0, "never together");
    }

    #[test]
    fn windows_end_as_asked_and_begin_so_long_before_a_job_s_last_latency() {
        let flow = |bytes: u32, runtime: u32| {
            format!(
                r#"{{"io_bytes":{bytes},"total_ios":{bytes},"runtime":{runtime},"bw_bytes":1,"iops":1,"clat_ns":{{}}}}"#
            )
        };
        let job = |runtime| format!(r#"{{"error":0,"read":{},"write":{}}}"#, flow(5000, runtime), flow(0, 0));
        let json = format!(r#"{{"jobs":[{},{}]}}"#, job(512), job(450));
        let output = crate::fio::parse(json.as_bytes()).unwrap();
        let latencies = "5100, 9, 0, 0\n5612, 9, 0, 0\n5000, 9, 0, 0\n5550, 9, 0, 0\n";
        let workload = Workload::new(terms::Name::new("w").unwrap(), terms::Pattern::Read, Bytes(1));
        let told = Beside::of(&workload, &output, latencies, Nanos::millis(500));
        assert_eq!(told.windows, [5100..5600, 5100..5550]);
        assert!((told.bytes - 10_000.0).abs() < 1e-9);
        assert_eq!(Beside::of(&workload, &output, "5100, 9, 0, 0\n", Nanos::millis(500)).windows, []);
    }

    #[test]
    fn directions_stay_apart_and_a_stretch_of_time_can_be_asked_for() {
        let log = Log::read("5100, 10, 0, 0\n5100, 20, 1, 0\n5200, 30, 0, 0\n5200, 40, 1, 0", STEP, &Beside::default());
        assert_eq!(log.rates, [[10240.0, 20480.0], [30720.0, 40960.0]]);
        assert_eq!((log.start, log.end()), (Nanos::seconds(5), Nanos::millis(5200)));
        assert_eq!(log.between(Nanos::millis(5100), Nanos::millis(5200)), Some([30720.0, 40960.0]));
        assert_eq!(log.between(Nanos(0), Nanos(1)), None);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[0-9, \n]{0,200}") {
            let _ = Log::read(&text, STEP, &Beside::default());
        }
    }
}
