//! Shapes that make a window's mean meaningless, and how much of the window they explain.
//!
//! Each family is fitted by least squares: a line, a decay towards a level, a step, a square wave and a sawtooth over
//! a grid of periods and phases. What a fit explains is `R² = 1 − Σ residuals² / Σ (values − mean)²`.

use crate::series::{mean, real, squares};

/// Families of shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A straight line.
    Line,
    /// An exponential approach to a level.
    Decay,
    /// Two levels with one change between them.
    Step,
    /// Two levels in turns.
    Square,
    /// A line that starts again and again.
    Saw,
}

/// The shape that explains most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    /// Its family.
    pub(crate) kind: Kind,
    /// Share of the variance that it explains, 0 to 1.
    pub(crate) explains: f64,
    /// From its lowest to its highest point, as a share of the mean.
    pub(crate) size: f64,
    /// For a step: samples before it.
    pub(crate) at: usize,
    /// Rise of the fitted line over the window, as a share of the mean, whatever the shape.
    pub(crate) drift: f64,
}

/// Share of variance from which on a shape is believed to be there.
///
/// Correlated noise looks like shapes, the more so the fewer samples there are: the largest `R²` over all families in
/// windows of autoregressive noise (φ = 0.7, the most that is called steady) stays below this in 98 of 100 windows. The
/// curve was fitted to the corpus of `tests/corpus.rs`, which also holds it.
pub(crate) fn threshold(count: usize) -> f64 {
    (3.3 / real(count.max(1)).sqrt()).clamp(0.25, 0.80)
}

/// Steps nearer than this share of the window to an end are edges, not changes.
const EDGE: f64 = 0.1;
/// Periods of alternations that are looked for, as parts of the window.
const CYCLES: [f64; 15] = [1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0, 5.0, 6.0];
/// Phases that each is tried at.
const PHASES: usize = 16;
/// Time constants of decays that are looked for, as parts of the window.
const CONSTANTS: [f64; 4] = [0.08, 0.15, 0.3, 0.6];
/// Samples that a period must have to be one.
const SHORTEST_PERIOD: f64 = 6.0;

/// The shape that explains most of a series.
pub(crate) fn best(values: &[f64]) -> Shape {
    let level = mean(values);
    let total = squares(values);
    let drift = slope(values) * real(values.len().saturating_sub(1)) / level.max(f64::MIN_POSITIVE);
    let none = Shape { kind: Kind::Line, explains: 0.0, size: 0.0, at: 0, drift };
    // A constant that went through floating point has a trace of variance: no shape is seen in that.
    if total <= level * level * real(values.len()) * 1e-18 {
        return none;
    }
    let mut found = none;
    let mut offer = |kind, at, (explained, size): (f64, f64)| {
        let explains = (explained / total).clamp(0.0, 1.0);
        if explains > found.explains {
            found = Shape { kind, explains, size: size / level, at, drift };
        }
    };
    let line: Vec<f64> = (0..values.len()).map(real).collect();
    offer(Kind::Line, 0, fit(values, &line));
    for constant in CONSTANTS {
        let decay: Vec<f64> = (0..values.len()).map(|n| (-real(n) / (constant * real(values.len()))).exp()).collect();
        offer(Kind::Decay, 0, fit(values, &decay));
    }
    let (at, step) = step(values);
    offer(Kind::Step, at, step);
    for cycles in CYCLES {
        let period = real(values.len()) / cycles;
        if period < SHORTEST_PERIOD {
            continue;
        }
        for phase in (0..PHASES).map(|phase| real(phase) / real(PHASES)) {
            let place = |n: usize| (real(n) / period + phase).fract();
            let saw: Vec<f64> = (0..values.len()).map(place).collect();
            offer(Kind::Saw, 0, fit(values, &saw));
            let square: Vec<f64> = saw.iter().map(|place| f64::from(u8::from(*place < 0.5))).collect();
            offer(Kind::Square, 0, fit(values, &square));
        }
    }
    found
}

/// Fits `a + b·pattern`; gives the sum of squares explained and the size of the fitted shape.
fn fit(values: &[f64], pattern: &[f64]) -> (f64, f64) {
    let (of_values, of_pattern) = (mean(values), mean(pattern));
    let spread = squares(pattern);
    if spread <= 0.0 {
        return (0.0, 0.0);
    }
    let pairs = values.iter().zip(pattern);
    let along: f64 = pairs.map(|(value, shape)| (value - of_values) * (shape - of_pattern)).sum();
    let (low, high) =
        pattern.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(*p), high.max(*p)));
    (along * along / spread, (along / spread).abs() * (high - low))
}

/// The least-squares slope per sample.
fn slope(values: &[f64]) -> f64 {
    let middle = (real(values.len()) - 1.0) / 2.0;
    let spread: f64 = (0..values.len()).map(|n| (real(n) - middle).powi(2)).sum();
    let level = mean(values);
    let along: f64 = values.iter().enumerate().map(|(n, value)| (real(n) - middle) * (value - level)).sum();
    if spread > 0.0 { along / spread } else { 0.0 }
}

/// The best place for a change of level: samples before it, squares explained, and its size.
fn step(values: &[f64]) -> (usize, (f64, f64)) {
    let count = values.len();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a tenth of a small count")]
    let edge = ((real(count) * EDGE).ceil() as usize).max(2);
    let (level, mut before) = (mean(values), values[..edge.min(count)].iter().sum::<f64>());
    let all: f64 = values.iter().sum();
    let mut best = (0, (0.0, 0.0));
    for at in edge..=count.saturating_sub(edge) {
        let (first, second) = (before / real(at), (all - before) / real(count - at));
        let explained = real(at) * (first - level).powi(2) + real(count - at) * (second - level).powi(2);
        if explained > best.1.0 {
            best = (at, (explained, (first - second).abs()));
        }
        before += values.get(at).copied().unwrap_or(0.0);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shape_is_found_for_what_it_is() {
        let of = |shape: &dyn Fn(f64) -> f64| (0..60).map(|n| 100.0 + 20.0 * shape(f64::from(n))).collect::<Vec<_>>();
        for (kind, values) in [
            (Kind::Line, of(&|n| n / 60.0)),
            (Kind::Decay, of(&|n| (-n / 9.0).exp())),
            (Kind::Step, of(&|n| f64::from(u8::from(n >= 25.0)))),
            (Kind::Square, of(&|n| f64::from(u8::from((n / 20.0).fract() < 0.5)))),
            (Kind::Saw, of(&|n| (n / 15.0).fract())),
        ] {
            let found = best(&values);
            assert_eq!(found.kind, kind, "{found:?}");
            assert!(found.explains > 0.95 && (0.1..0.25).contains(&found.size), "{found:?}");
        }
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let found = best(&[vec![1.0; 25], vec![2.0; 35]].concat());
        assert_eq!((found.kind, found.at), (Kind::Step, 25));
    }

    #[test]
    fn the_slope_is_that_of_least_squares() {
        assert!((slope(&[1.0, 3.0, 5.0, 7.0]) - 2.0).abs() < 1e-12);
        assert!(slope(&[4.0]).abs() < 1e-12);
    }
}
