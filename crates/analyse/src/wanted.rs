//! How long the window of an only round has to be, where the clock is virtual: as long as its comparison with the first stack
//! needs to be decided, and as the study's precision asks.
//!
//! With `m = |ln(rate / first rate)|` and the margin `M = ln(1 + margin)`, the standard error of a ratio may be the larger of
//! `m / t₁` (then the ratio leaves out 1: *faster*, *slower*) and `(M − m) / t₂` (then it lies within the margin: *equivalent*),
//! `t₁` and `t₂` as [`crate::compare`] takes them of a table of that many pairs. What is asked of a window is what the first
//! stack's window and the difference of two runs leave of it, for the `m` within one standard error of the one seen that
//! asks for most. A standard error falls as the square root of the window.
//!
//! All others are compared with the first stack, so its windows are known better: for `n` others the least work in all is
//! where the variance of its rate is `1 / √n` of another's (Neyman's allocation; every window costs what its variance asks for).
//!
//! A window gets [`SURE`] times as much certainty. The answer looks at the window and then, where it was too short, at longer ones
//! in its place. [`Looks::Again`] and that certainty pay for the looks (`tests/trust.rs`).

use terms::MeasurePolicy;
use terms::evidence::Steadiness;
use terms::record::{Cell, REPEATS};

use crate::compare::ERROR;
use crate::interval::{Looks, real, student};
use crate::window::{self, NORMAL};

/// Degrees of freedom of a ratio of two long windows: `steady` takes at most eight waves of each.
const DEGREES: f64 = 16.0;
/// So many times as sure as it has to be a window is made: one that is shorter than what makes its rates change thinks itself
/// surer than it is. With this, equal stacks whose rates change over ten of 32 samples are called different in 5 of 100 tables, as the last
/// row that the example `trust` prints says; `tests/trust.rs` asserts 7 at most.
const SURE: f64 = 1.5;
/// What two runs of the same work differ by, as a standard error: no window has to be known better.
const LEAST: f64 = REPEATS / NORMAL;

/// What the window of a cell is to be known for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wanted {
    precision: f64,
    margin: f64,
    beside: Beside,
}

/// Which place a cell has in the comparisons.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Beside {
    /// It is compared with nothing.
    Nothing,
    /// So many others are compared with it, in a table of so many pairs.
    Others { others: usize, pairs: usize },
    /// It is compared with the first stack's: bytes per second, and the standard error of their logarithm.
    /// There are so many pairs in the table.
    First { rate: f64, error: f64, pairs: usize },
}

impl Wanted {
    /// Of a cell that is compared with no other.
    #[must_use]
    pub fn alone(policy: &MeasurePolicy) -> Self {
        let margin = policy.margin.share().ln_1p();
        Self { precision: policy.precision.share(), margin, beside: Beside::Nothing }
    }

    /// Of a cell of the first stack, with which so many others are compared, in a table of so many pairs.
    #[must_use]
    pub fn of_first(policy: &MeasurePolicy, others: usize, pairs: usize) -> Self {
        Self { beside: Beside::Others { others: others.max(1), pairs: pairs.max(1) }, ..Self::alone(policy) }
    }

    /// Of any other cell, in a table of so many pairs: `first` is the first stack's with the same workload. Without a figure of it there is no comparison.
    #[must_use]
    pub fn beside(policy: &MeasurePolicy, pairs: usize, first: Option<&Cell>) -> Self {
        let known = first.and_then(|cell| {
            let rate = cell.reading.as_ref()?.throughput().0;
            let usable = cell.steadiness.as_ref()?.state.usable();
            let (error, _) = window::error(cell)?;
            (rate > 0.0 && usable).then_some(Beside::First { rate, error, pairs: pairs.max(1) })
        });
        Self { beside: known.unwrap_or(Beside::Nothing), ..Self::alone(policy) }
    }

    /// How many times as long a window has to be that gave so many bytes per second; 1 where it is long enough. Infinity where
    /// it was no single thing or too short to say how well its mean is known.
    #[must_use]
    pub fn times(&self, rate: f64, window: &Steadiness) -> f64 {
        let Some((error, _)) = window::error_of(window).filter(|_| window.state.usable()) else { return f64::INFINITY };
        let precise = window.half_width.map_or(f64::INFINITY, |half| half / self.precision);
        precise.max(error / self.error(rate, error)).powi(2).max(1.0)
    }

    /// The standard error that a window may have, of the logarithm of its rate, which is now known to `error`.
    fn error(&self, rate: f64, error: f64) -> f64 {
        match self.beside {
            Beside::Nothing => f64::INFINITY,
            Beside::Others { others, pairs } => {
                let ratio = self.of_ratio(0.0, 0.0, pairs).powi(2) - LEAST.powi(2);
                ((ratio / (1.0 + real(others).sqrt())).max(0.0).sqrt() / SURE).max(LEAST)
            }
            Beside::First { rate: first, error: of_first, pairs } => {
                let left = self.of_ratio((rate / first).ln().abs(), error.hypot(of_first), pairs).powi(2)
                    - LEAST.powi(2)
                    - of_first.powi(2);
                // Where the first stack's window leaves nothing, another that is as sure does what can be done.
                (left.max(of_first.powi(2)).sqrt() / SURE).max(LEAST)
            }
        }
    }

    /// The standard error that one of so many ratios may have which is `apart` from 1, give or take `unsure`.
    fn of_ratio(&self, apart: f64, unsure: f64, pairs: usize) -> f64 {
        let looks = Looks::Again;
        let quantile = |upper| student(DEGREES, upper).unwrap_or(NORMAL);
        let different = quantile(1.0 - ERROR / 2.0 / looks.penalty() / real(pairs));
        let equal = quantile(looks.upper());
        // As far from being different as from being equal: nothing asks for more.
        let turn = self.margin * different / (different + equal);
        let apart = turn.clamp((apart - unsure).max(0.0), apart + unsure);
        (apart / different).max((self.margin - apart) / equal)
    }
}

#[cfg(test)]
mod tests {
    use terms::evidence::State;

    use super::*;

    fn window(half_width: f64) -> Steadiness {
        Steadiness {
            state: State::Steady,
            samples: 100,
            warmup: terms::Nanos(0),
            effective_samples: 13.0,
            half_width: Some(half_width),
            drift: 0.0,
            cliff: None,
            low: 9e7,
            high: 1.1e8,
            snia: false,
        }
    }

    fn first(half_width: f64) -> Cell {
        Cell { steadiness: Some(window(half_width)), ..crate::tests::cell(1, "first", "w", 1e8) }
    }

    fn policy() -> MeasurePolicy {
        MeasurePolicy { rounds: 1, max_rounds: 1, precision: terms::PerMille(1000), ..MeasurePolicy::default() }
    }

    #[test]
    fn a_window_is_as_long_as_its_comparison_needs() {
        let of = Wanted::beside(&policy(), 76, Some(&first(0.005)));
        // Half of its speed is told from a glance, the same speed from a little more, and 2 % between them takes long.
        let times = |rate: f64, half| of.times(rate * 1e8, &window(half));
        assert!((times(0.5, 0.10) - 1.0).abs() < 1e-9, "{}", times(0.5, 0.10));
        assert!((2.0..20.0).contains(&times(1.0, 0.02)), "{}", times(1.0, 0.02));
        assert!(times(0.982, 0.02) > 4.0 * times(1.0, 0.02).min(times(0.9, 0.02)), "{}", times(0.982, 0.02));
        assert!(times(0.9, 0.02) < 1.5);
    }

    #[test]
    fn the_study_s_precision_is_kept_whatever_is_decided() {
        let precise = MeasurePolicy { precision: terms::PerMille(20), ..policy() };
        let of = Wanted::beside(&precise, 4, Some(&first(0.005)));
        assert!((of.times(5e7, &window(0.04)) - 4.0).abs() < 1e-6);
        assert!((Wanted::alone(&precise).times(5e7, &window(0.04)) - 4.0).abs() < 1e-6);
    }

    #[test]
    fn the_first_is_known_the_better_the_more_are_compared_with_it() {
        let times = |others, half| Wanted::of_first(&policy(), others, 4 * others).times(1e8, &window(half));
        assert!(
            times(3, 0.02) > 2.0 && times(18, 0.02) > 1.4 * times(3, 0.02),
            "{} {}",
            times(3, 0.02),
            times(18, 0.02)
        );
        // Another that does the same work is then known well enough with the rest.
        let first = first(0.02 / times(18, 0.02).sqrt());
        let other = Wanted::beside(&policy(), 72, Some(&first)).times(1e8, &window(0.02));
        assert!((1.0..times(18, 0.02)).contains(&other), "{other}");
        assert!((times(3, 0.004) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn no_window_is_asked_to_be_surer_than_the_first_by_more_than_it_gets() {
        // The first stack is known to 20 %.
        let of = Wanted::beside(&policy(), 4, Some(&first(0.20)));
        assert!((of.times(1e8, &window(0.05)) - 1.0).abs() < 1e-9);
        assert!((of.times(1e8, &window(0.20)) - SURE.powi(2)).abs() < 1e-9);
        let without = [None, Some(Cell { reading: None, ..first(0.01) })];
        for first in &without {
            assert_eq!(Wanted::beside(&policy(), 4, first.as_ref()).beside, Beside::Nothing);
        }
    }

    #[test]
    fn a_window_that_tells_nothing_asks_for_as_much_as_there_is() {
        let unknown = Steadiness { half_width: None, ..window(0.1) };
        let unsteady = Steadiness { state: State::Wandering, ..window(0.01) };
        for window in [unknown, unsteady] {
            assert!(Wanted::alone(&policy()).times(1e8, &window).is_infinite());
        }
    }
}
