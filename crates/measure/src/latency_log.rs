//! fio's log of latency over time: `time ms, mean ns, direction, …`, a line for each job and direction that completed
//! anything in the stretch that ends there.
//!
//! The lines of a stretch are averaged over jobs; reads and writes are weighed by what each moved in it, which the log
//! of throughput tells. A stretch in which nothing was completed has no latency, and none is made up.

use terms::Nanos;
use terms::record::Sample;

use crate::log::Log;

/// Sum and count of the means of one direction.
type Sum = (f64, f64);

/// Samples of both logs together, on the grid of the log of throughput.
pub(crate) fn samples(throughput: &Log, latency: &str) -> Vec<Sample> {
    let mut samples = throughput.samples();
    let mut cells: Vec<[Sum; 2]> = vec![[(0.0, 0.0); 2]; samples.len()];
    for (at, nanos, direction) in latency.lines().filter_map(line) {
        let Some(cell) = cell(throughput, at).and_then(|cell| cells.get_mut(cell)) else { continue };
        cell[direction] = (cell[direction].0 + nanos, cell[direction].1 + 1.0);
    }
    for ((sample, cell), rates) in samples.iter_mut().zip(cells).zip(&throughput.rates) {
        sample.latency = mean(cell, rates);
    }
    samples
}

fn line(text: &str) -> Option<(u64, f64, usize)> {
    let mut fields = text.split(',').map(str::trim);
    let at = fields.next()?.parse().ok()?;
    let nanos: f64 = fields.next()?.parse().ok().filter(|nanos: &f64| nanos.is_finite() && *nanos >= 0.0)?;
    let direction = fields.next()?.parse::<usize>().ok().filter(|direction| *direction < 2)?;
    Some((at, nanos, direction))
}

/// The cell that most of a line's stretch lies in: the line stands at its end.
fn cell(grid: &Log, at: u64) -> Option<usize> {
    let step = grid.step.0.max(1);
    let middle = Nanos::millis(at).0.checked_sub(step / 2)?.checked_sub(grid.start.0)?;
    usize::try_from(middle / step).ok()
}

fn mean(cell: [Sum; 2], rates: &[f64; 2]) -> Option<Nanos> {
    let means = cell.map(|(sum, count)| if count > 0.0 { Some(sum / count) } else { None });
    let nanos = match means {
        [Some(read), Some(write)] if rates[0] + rates[1] > 0.0 => {
            (read * rates[0] + write * rates[1]) / (rates[0] + rates[1])
        }
        [Some(read), Some(write)] => f64::midpoint(read, write),
        [read, write] => read.or(write)?,
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked not to be negative")]
    Some(Nanos(nanos.round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Beside;

    const STEP: Nanos = Nanos::millis(100);

    fn latencies(throughput: &str, latency: &str) -> Vec<Option<u64>> {
        let samples = samples(&Log::read(throughput, STEP, &Beside::default()), latency);
        samples.into_iter().map(|sample| sample.latency.map(|latency| latency.0)).collect()
    }

    #[test]
    fn jobs_are_averaged_and_silence_has_no_latency() {
        let throughput = "5100, 10, 0\n5200, 0, 0\n5300, 10, 0\n";
        let latency = "5101, 1000, 0, 4096\n5100, 3000, 0, 4096\nbroken\n5299, 500, 0\n9999, 1, 0\n1, 1, 0\n";
        assert_eq!(latencies(throughput, latency), [Some(2000), None, Some(500)]);
    }

    #[test]
    fn directions_are_weighed_by_what_they_moved() {
        let throughput = "100, 30, 0\n100, 10, 1\n";
        assert_eq!(latencies(throughput, "100, 1000, 0\n100, 5000, 1\n"), [Some(2000)]);
        assert_eq!(latencies("100, 0, 0\n100, 0, 1\n", "100, 1000, 0\n100, 5000, 1\n"), [Some(3000)]);
    }
}
