//! How far the mean of one window may be off: the interval of a single round under a virtual clock.
//!
//! On a machine whose clock runs by itself a window speaks of its own seconds only, and no interval comes of one. Under a
//! virtual clock no other work is in it: another round does the same in another order of chance, and differs from this one as
//! far as the window differs within itself. So the standard error of the window's mean (`steady`: half of its 95 % interval
//! by Student's quantile), as a logarithm, is that of the round. What two runs differ by ([`terms::record::REPEATS`]) is added to
//! it, and to that of a ratio once: it is the difference of two figures already.
//!
//! Nor is a window known better than fio's two accounts of it agree. The total has operations that the log has not, of the ends of
//! the window. Where those count, `measure` takes the rate from the log, and there is no disagreement.
//!
//! Nor does a window show what each lap of a stream on a hard disk repeats ([`terms::Mechanics::lap_error`]).
//!
//! That is a claim about rounds, and the committed records with several of them are the test of it: of pairs of rounds, 95 %
//! differ by less than both intervals together (`crates/bedplate/tests/evidence.rs`).

use terms::Bytes;
use terms::evidence::Steadiness;
use terms::finding::WithInterval;
use terms::record::{Cell, REPEATS};

use crate::compare;
use crate::interval::{Looks, satterthwaite, student};
use crate::scatter::Moments;

/// Quantile of the normal distribution that half of a 95 % interval reaches to.
pub(crate) const NORMAL: f64 = 1.96;

/// Standard error of the logarithm of a window's mean, and its degrees of freedom. `None` where a window has too few samples.
pub(crate) fn error_of(window: &Steadiness) -> Option<(f64, f64)> {
    let degrees = window.effective_samples - 1.0;
    Some((window.half_width?.ln_1p() / student(degrees, Looks::Once.upper())?, degrees))
}

/// The same of a cell, whose window is known no better than fio's two accounts of it agree, nor than a stream's laps are.
pub(crate) fn error(cell: &Cell) -> Option<(f64, f64)> {
    let (error, degrees) = error_of(cell.steadiness.as_ref()?)?;
    Some((error.hypot(disagreement(cell) / NORMAL).hypot(cell.lap_error.unwrap_or_default()), degrees))
}

/// A logarithm with what two runs of the same work differ by added to its error.
pub(crate) fn no_surer_than_runs_repeat(of: Moments) -> Moments {
    let least = REPEATS / NORMAL;
    let sides = [(of.deviation.powi(2), of.degrees), (least.powi(2), f64::INFINITY)];
    let degrees = if of.deviation > 0.0 { satterthwaite(sides) } else { f64::INFINITY };
    Moments { deviation: of.deviation.hypot(least), degrees, ..of }
}

/// How far fio's total is from the mean of its log, as a logarithm; 0 where there is no log.
fn disagreement(cell: &Cell) -> f64 {
    let rates = cell.samples.iter().map(|sample| sample.throughput.0);
    let mean = rates.sum::<f64>() / Bytes(cell.samples.len() as u64).as_f64();
    let total = cell.reading.as_ref().map_or(f64::NAN, |reading| reading.throughput().0);
    Some((total / mean).ln().abs()).filter(|apart| apart.is_finite()).unwrap_or_default()
}

/// The estimate of one round with the interval of its window.
pub(crate) fn with_interval(estimate: WithInterval, cell: &Cell) -> WithInterval {
    let of = error(cell).map(|(deviation, degrees)| Moments { mean: estimate.value.ln(), deviation, degrees });
    let (low, high) =
        of.map(|of| compare::interval_of(&no_surer_than_runs_repeat(of), 1, Looks::Once.upper())).unwrap_or_default();
    WithInterval { low, high, ..estimate }
}

/// The ratio of one window to another: its logarithm, error and degrees of freedom.
pub(crate) fn ratio(logarithm: f64, a: &Cell, b: &Cell) -> Option<Moments> {
    let ((a, of_a), (b, of_b)) = (error(a)?, error(b)?);
    let degrees = satterthwaite([(a * a, of_a), (b * b, of_b)]);
    Some(Moments { mean: logarithm, deviation: a.hypot(b), degrees })
}

#[cfg(test)]
mod tests {
    use terms::evidence::{State, Steadiness};
    use terms::record::Sample;
    use terms::{BytesPerSecond, Nanos};

    use super::*;

    fn window(half_width: Option<f64>, effective_samples: f64) -> Cell {
        let steadiness = Steadiness {
            state: State::Unknown,
            samples: 9,
            warmup: terms::Nanos(0),
            effective_samples,
            half_width,
            drift: 0.0,
            cliff: None,
            low: 9e7,
            high: 1.1e8,
            snia: false,
        };
        Cell { steadiness: Some(steadiness), ..crate::tests::cell(1, "a", "w", 1e8) }
    }

    #[test]
    fn a_window_s_interval_is_its_own_and_never_less_than_runs_differ_by() {
        let one = WithInterval { value: 100.0, low: None, high: None, rounds: 1 };
        let found = with_interval(one, &window(Some(0.10), 5.0));
        assert!((found.high.unwrap() - 110.0).abs() < 0.1 && (found.low.unwrap() - 90.9).abs() < 0.1, "{found:?}");
        let sure = with_interval(one, &window(Some(1e-9), 100.0));
        assert!((sure.high.unwrap() - 100.0 * (1.0 + REPEATS)).abs() < 0.02, "{sure:?}");
        assert_eq!(with_interval(one, &window(None, 1.0)), one);
    }

    #[test]
    fn a_window_is_known_no_better_than_fio_s_total_and_its_log_agree() {
        let one = WithInterval { value: 100.0, low: None, high: None, rounds: 1 };
        let sample = |rate| Sample { at: Nanos::seconds(1), throughput: BytesPerSecond(rate), latency: None };
        let of = |rate: f64| Cell { samples: vec![sample(rate); 4], ..window(Some(0.001), 100.0) };
        let high = |cell| with_interval(one, &cell).high.unwrap();
        // The reading is 100 MB/s.
        assert!((104.0..105.0).contains(&high(of(96e6))), "{}", high(of(96e6)));
        assert!((104.0..105.0).contains(&high(of(104e6))), "{}", high(of(104e6)));
        assert!(high(of(100e6)) < 101.0 && high(of(0.0)) < 101.0);
    }

    #[test]
    fn a_window_of_laps_is_known_no_better_than_a_lap() {
        let one = WithInterval { value: 100.0, low: None, high: None, rounds: 1 };
        let of = with_interval(one, &Cell { lap_error: Some(0.02), ..window(Some(0.001), 1000.0) });
        assert!((103.9..104.2).contains(&of.high.unwrap()), "{of:?}");
    }

    #[test]
    fn a_ratio_is_less_sure_than_either_window() {
        let (a, b) = (window(Some(0.10), 5.0), window(Some(0.02), 50.0));
        let of = ratio(0.3, &a, &b).unwrap();
        assert!(of.deviation > error(&a).unwrap().0 && of.deviation > error(&b).unwrap().0, "{of:?}");
        assert!((4.0..5.0).contains(&of.degrees), "those of the less sure, nearly: {of:?}");
        assert!(ratio(0.3, &a, &window(None, 1.0)).is_none());
    }
}
