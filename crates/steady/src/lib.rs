//! Is a series of rates one level with noise, or several things? Pure functions from samples to an answer.
//!
//! Asked inside a window by `measure`, before a number is taken from it. What a window is compared with are shapes that
//! would make its mean meaningless: a line, a decay, a change of level, an alternation, a sawtooth. The window is refused
//! if the best of them explains more of its variance than noise of the same length would let it
//! ([`shape::threshold`]), and if the shape is large enough to matter ([`MATERIAL`]). A test of significance alone would
//! refuse long windows for drifts that nobody cares about, and pass short ones whatever they do.

pub mod rules;
mod series;
mod shape;
mod warmup;

use terms::evidence::{Cliff, State, Steadiness};
use terms::{Bytes, Nanos};

use crate::shape::{Kind, Shape};

/// Fewer samples than this tell nothing about a window.
const FEWEST: usize = 12;
/// A shape whose size, from its lowest to its highest point, is below this share of the mean does not matter.
pub const MATERIAL: f64 = 0.05;

/// Judges the samples of one window: rates in bytes per second, each over `step`.
///
/// Samples that are not finite or below zero count as zero. The answer does not depend on the unit of the rates.
#[must_use]
pub fn judge(rates: &[f64], step: Nanos) -> Steadiness {
    let rates: Vec<f64> = rates.iter().map(|rate| if rate.is_finite() { rate.max(0.0) } else { 0.0 }).collect();
    let mean = series::mean(&rates);
    if rates.len() < FEWEST || mean <= 0.0 {
        return answer(State::Unknown, &rates, 0, step, None, None);
    }
    let warmup = warmup::find(&rates);
    let cut = warmup.cut;
    let rest = &rates[cut..];
    let shape = shape::best(rest);
    let state = match state(&shape, rest.len()) {
        State::Drifting if warmup.late && shape.kind == Kind::Decay => State::WarmingUp,
        state => state,
    };
    let cliff = (state == State::Cliff).then(|| cliff(&rates, cut, shape.at, step));
    answer(state, &rates, cut, step, Some(&shape), cliff)
}

/// What the best shape makes of the window.
fn state(shape: &Shape, count: usize) -> State {
    if shape.explains < shape::threshold(count) || shape.size < MATERIAL {
        return State::Steady;
    }
    match shape.kind {
        Kind::Line | Kind::Decay => State::Drifting,
        Kind::Step => State::Cliff,
        Kind::Square | Kind::Saw => State::Wandering,
    }
}

fn answer(
    state: State,
    rates: &[f64],
    cut: usize,
    step: Nanos,
    shape: Option<&Shape>,
    cliff: Option<Cliff>,
) -> Steadiness {
    let rest = &rates[cut..];
    let error = series::mean_error(rest);
    let (low, high) = series::tenths(rest);
    Steadiness {
        state,
        samples: u32::try_from(rates.len()).unwrap_or(u32::MAX),
        warmup: times(step, cut),
        effective_samples: error.samples,
        half_width: series::half_width(rest, error),
        drift: shape.map_or(0.0, |shape| shape.drift),
        cliff,
        low,
        high,
        snia: rules::snia(&rules::fifths(rest)).is_some_and(|snia| snia.holds),
    }
}

/// A change of level after so many samples of what was left after the cut.
fn cliff(rates: &[f64], cut: usize, at: usize, step: Nanos) -> Cliff {
    let edge = cut + at;
    let moved: f64 = rates[..edge].iter().sum::<f64>() * step.as_seconds();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float cast saturates; never below 0"
    )]
    let moved = Bytes(moved.round() as u64);
    let (before, after) = (series::mean(&rates[cut..edge]), series::mean(&rates[edge..]));
    Cliff { at: times(step, edge), moved, before, after }
}

const fn times(step: Nanos, count: usize) -> Nanos {
    Nanos(step.0.saturating_mul(count as u64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STEP: Nanos = Nanos::millis(100);

    /// A level with a little noise that is always the same.
    fn level(count: usize, value: f64) -> Vec<f64> {
        (0..count).map(|n| value * (1.0 + 0.01 * ((n * 7919 % 13) as f64 / 6.0 - 1.0))).collect()
    }

    #[test]
    fn kinds_of_windows_are_distinguished() {
        let line: Vec<f64> = (0..60).map(|n| 100.0 + f64::from(n)).collect();
        let cliff = [level(40, 500.0), level(20, 100.0)].concat();
        let square: Vec<f64> = (0..60).map(|n| if n / 10 % 2 == 0 { 100.0 } else { 200.0 }).collect();
        let late: Vec<f64> = (0..60).map(|n| 200.0 * (1.0 - (-f64::from(n) / 12.0).exp())).collect();
        for (rates, expect) in [
            (level(60, 100.0), State::Steady),
            (vec![100.0; 60], State::Steady),
            (line, State::Drifting),
            (cliff, State::Cliff),
            (square, State::Wandering),
            (late, State::WarmingUp),
            (level(8, 100.0), State::Unknown),
            (vec![0.0; 60], State::Unknown),
            (Vec::new(), State::Unknown),
        ] {
            assert_eq!(judge(&rates, STEP).state, expect, "{rates:?}");
        }
    }

    #[test]
    fn a_short_warm_up_is_cut_and_the_rest_is_steady() {
        let rates = [vec![10.0, 30.0, 60.0, 80.0, 95.0], level(55, 100.0)].concat();
        let judged = judge(&rates, STEP);
        assert_eq!(judged.state, State::Steady);
        assert!((Nanos::millis(300)..=Nanos::seconds(1)).contains(&judged.warmup), "{:?}", judged.warmup);
    }

    #[test]
    fn a_cliff_says_where_and_how_deep() {
        let judged = judge(&[vec![500.0; 40], vec![100.0; 20]].concat(), STEP);
        let cliff = judged.cliff.unwrap();
        // 40 samples of 0.1 s at 500 B/s.
        assert_eq!((cliff.at, cliff.moved), (Nanos::seconds(4), Bytes(2000)));
        assert!((cliff.before - 500.0).abs() < 1e-9 && (cliff.after - 100.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn the_unit_does_not_matter(rates in prop::collection::vec(1.0f64..1e3, 0..120), scale in 1e-3f64..1e6) {
            let scaled: Vec<f64> = rates.iter().map(|rate| rate * scale).collect();
            prop_assert_eq!(judge(&rates, STEP).state, judge(&scaled, STEP).state);
        }

        #[test]
        fn nothing_panics(rates in prop::collection::vec(prop::num::f64::ANY, 0..200)) {
            let judged = judge(&rates, STEP);
            prop_assert!(judged.low <= judged.high);
        }
    }
}
