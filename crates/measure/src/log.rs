//! fio's log of throughput over time: `time ms, KiB/s, direction, …`.
//!
//! One file holds the lines of all jobs, job after job. They tick at moments of their own, and late where the machine is
//! busy. A line speaks of the tick that ends at it, however long that was; the last part of a window often has no line. So
//! the lines of a job are laid on one grid by how much of each cell they cover, and cells that not all jobs reach are left
//! out at both ends.
//!
//! A tick without an operation has no line either (`__add_samples` in fio's `stat.c`): where many jobs share a hard disk
//! most ticks of each have none. Between a job's lines that is a rate of 0. At the ends it says nothing of a job that pauses
//! for as long elsewhere.

use std::ops::Range;

use terms::record::Sample;
use terms::{BytesPerSecond, Nanos};

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

/// Lines of one job and direction: time goes back where the next one begins.
fn series(lines: &[Line]) -> Vec<Vec<Line>> {
    let mut done: Vec<Vec<Line>> = Vec::new();
    let mut open: [Vec<Line>; 2] = [Vec::new(), Vec::new()];
    let mut latest = 0;
    for line in lines {
        // Both directions of a job tick together; only another job goes back by more than a moment.
        if line.0 + 50 < latest {
            done.extend(open.iter_mut().map(std::mem::take));
        }
        latest = line.0;
        open[line.2].push(*line);
    }
    done.extend(open);
    done.retain(|series| !series.is_empty());
    done
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

impl Log {
    /// Reads a log with lines of `step`.
    pub(crate) fn read(text: &str, step: Nanos) -> Self {
        let lines: Vec<Line> = text.lines().filter_map(line).collect();
        let length = step.as_millis().max(1);
        let start = lines.iter().map(|line| line.0).min().unwrap_or(0).saturating_sub(length);
        let end = lines.iter().map(|line| line.0).max().unwrap_or(0);
        let cells = (end - start).div_ceil(length);
        if lines.is_empty() || cells > LONGEST {
            return Self { step, ..Self::default() };
        }
        let all = series(&lines);
        let mut rates = vec![[0.0; 2]; usize::try_from(cells).unwrap_or(0)];
        let mut covered = vec![0.0; rates.len()];
        let mut total = 0.0;
        for series in &all {
            let ticks = ticks(series, length, start);
            for (tick, (_, rate, direction)) in ticks.iter().zip(series) {
                total += rate * Nanos::millis(tick.end - tick.start).as_seconds();
                for (cell, share) in cells_of(tick, length) {
                    if let Some(sum) = rates.get_mut(cell) {
                        sum[*direction] += rate * share;
                    }
                }
            }
            for (cell, share) in cells_of(&reach(&ticks, end - start), length) {
                if let Some(cover) = covered.get_mut(cell) {
                    *cover += share;
                }
            }
        }
        let full = f64::from(u32::try_from(all.len()).unwrap_or(u32::MAX)) * 0.95;
        let first = covered.iter().position(|cover| *cover >= full);
        let last = covered.iter().rposition(|cover| *cover >= full);
        let (first, rates) = match (first, last) {
            (Some(first), Some(last)) => (first, rates[first..=last].to_vec()),
            _ => (0, Vec::new()),
        };
        let begun = Nanos::millis(start);
        let start = Nanos::millis(start + u64::try_from(first).unwrap_or(0) * length);
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

/// The ticks that a job's lines speak of, from the log's beginning. A tick without an operation has no line, so what is much
/// later than the line before it speaks of its own tick alone.
fn ticks(series: &[Line], length: u64, start: u64) -> Vec<Range<u64>> {
    let mut before = None;
    let tick = |(at, ..): &Line| {
        let near = before.replace(*at).filter(|before| (1..=length * 3 / 2).contains(&at.saturating_sub(*before)));
        near.unwrap_or(at.saturating_sub(length)).max(start) - start..at - start
    };
    series.iter().map(tick).collect()
}

/// From when until when a job's lines speak of it: to the ends of the log, where those are no further away than the job pauses
/// elsewhere.
fn reach(ticks: &[Range<u64>], end: u64) -> Range<u64> {
    let pauses = ticks.windows(2).map(|pair| pair[1].start.saturating_sub(pair[0].end));
    let pause = pauses.max().unwrap_or(0);
    let (first, last) = (ticks.first().map_or(end, |tick| tick.start), ticks.last().map_or(0, |tick| tick.end));
    let from = if first <= pause { 0 } else { first };
    from..if end.saturating_sub(last) <= pause { end } else { last }
}

/// The cells that a stretch meets, and how much of each it covers.
fn cells_of(stretch: &Range<u64>, length: u64) -> impl Iterator<Item = (usize, f64)> {
    let (start, end) = (stretch.start, stretch.end);
    let ms = |ms: u64| terms::Bytes(ms).as_f64();
    (start / length..end.div_ceil(length)).map(move |cell| {
        let (from, to) = (start.max(cell * length), end.min((cell + 1) * length));
        (usize::try_from(cell).unwrap_or(usize::MAX), ms(to.saturating_sub(from)) / ms(length))
    })
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
        let log = Log::read(log, STEP);
        assert_eq!((log.rates.len(), log.lines), (2, 5));
        assert!((log.rates[1][0] - 1500.0 * 1024.0).abs() < 1.0);
        assert!((log.total - (3000.0 + 1000.0) * 102.4).abs() < 1e-6);
    }

    #[test]
    fn a_tick_without_an_operation_is_a_rate_of_nothing() {
        // Two jobs on a slow drive: the first pauses for two ticks, the second begins and ends within its own pause.
        let log = "100, 10, 0, 0\n400, 10, 0, 0\n500, 10, 0, 0\n800, 10, 0, 0\n200, 10, 0, 0\n600, 10, 0, 0\n";
        let log = Log::read(log, STEP);
        let kib: Vec<f64> = log.sums().iter().map(|rate| rate / 1024.0).collect();
        assert_eq!(kib, [10.0, 10.0, 0.0, 10.0, 10.0, 10.0, 0.0, 10.0]);
        // One that never pauses has ended where its lines do.
        let log = Log::read("100, 10, 0, 0\n200, 10, 0, 0\n300, 10, 0, 0\n100, 10, 0, 0\n200, 10, 0, 0\n", STEP);
        assert_eq!(log.rates.len(), 2);
    }

    #[test]
    fn a_late_line_speaks_of_all_the_time_since_the_one_before_it() {
        let log = Log::read("100, 10, 0, 0\n210, 10, 0, 0\n300, 10, 0, 0\n", STEP);
        assert_eq!(log.sums(), [10240.0; 3]);
        assert!((log.total - 10240.0 * 0.3).abs() < 1e-9, "{}", log.total);
    }

    #[test]
    fn directions_stay_apart_and_a_stretch_of_time_can_be_asked_for() {
        let log = Log::read("5100, 10, 0, 0\n5100, 20, 1, 0\n5200, 30, 0, 0\n5200, 40, 1, 0", STEP);
        assert_eq!(log.rates, [[10240.0, 20480.0], [30720.0, 40960.0]]);
        assert_eq!((log.start, log.end()), (Nanos::seconds(5), Nanos::millis(5200)));
        assert_eq!(log.between(Nanos::millis(5100), Nanos::millis(5200)), Some([30720.0, 40960.0]));
        assert_eq!(log.between(Nanos(0), Nanos(1)), None);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[0-9, \n]{0,200}") {
            let _ = Log::read(&text, STEP);
        }
    }
}
