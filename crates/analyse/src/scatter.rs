//! How far rounds scatter, learnt from all pairs of a table together.
//!
//! A pair of three rounds has two degrees of freedom, and alone it can decide next to nothing. Pairs of one session scatter
//! alike, but not equally: each variance s² with d degrees is taken for a draw around a common s₀² that is worth d₀ degrees,
//!
//! ```text
//! s̃² = (d₀ s₀² + d s²) / (d₀ + d)        with d₀ + d degrees
//! ```
//!
//! where d₀ and s₀² follow from how the variances themselves scatter. Pairs that scatter very differently give a small d₀,
//! and each goes by itself. Source: Smyth, "Linear models and empirical Bayes methods for assessing differential expression
//! in microarray experiments", Statistical Applications in Genetics and Molecular Biology 3 (2004), sections 4 and 6.2.

use statrs::function::gamma::digamma;

use crate::interval::{moments, real};

/// Fewest variances from which anything common is learnt.
const FEWEST: usize = 3;
/// A variance below this share of the median is taken for so much: rounds that agree by chance to the last digit have a
/// logarithm without end.
const FLOOR: f64 = 1e-5;

/// Pairs with one stack in common have half of what they scatter by in common, too: they know half of what as many
/// strangers would.
const SHARED: f64 = 2.0;

/// What the pairs of a table have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Common {
    /// Degrees of freedom that it is worth, d₀.
    degrees: f64,
    /// Variance, s₀².
    variance: f64,
    /// Degrees that all pairs together are worth: no pair can know more.
    all: f64,
}

/// Mean, standard deviation and degrees of freedom of one pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moments {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
    pub(crate) degrees: f64,
}

impl Common {
    /// Learns from the differences of logarithms of each pair. `None` where too few pairs have two rounds.
    pub(crate) fn of<'a>(pairs: impl Iterator<Item = &'a Vec<f64>>) -> Option<Self> {
        let seen: Vec<(f64, f64)> = pairs.filter_map(|logs| Some((moments(logs)?.1.powi(2), degrees(logs)))).collect();
        if seen.len() < FEWEST {
            return None;
        }
        let floor = FLOOR * median(seen.iter().map(|pair| pair.0).collect());
        if floor <= 0.0 {
            return None;
        }
        let logs: Vec<f64> =
            seen.iter().map(|(variance, d)| variance.max(floor).ln() - digamma(d / 2.0) + (d / 2.0).ln()).collect();
        let (mean, deviation) = moments(&logs)?;
        let own = seen.iter().map(|(_, d)| trigamma(d / 2.0)).sum::<f64>() / real(seen.len());
        let believed = |scatter: f64| if scatter > own { 2.0 * inverse_trigamma(scatter - own) } else { f64::INFINITY };
        let correction =
            |degrees: f64| if degrees.is_finite() { digamma(degrees / 2.0) - (degrees / 2.0).ln() } else { 0.0 };
        // A few variances may be alike by chance: how much they are worth is told by two standard errors more of scatter
        // than was seen.
        let scatter = deviation.powi(2);
        let degrees = believed(scatter * (1.0 + 2.0 * (2.0 / (real(seen.len()) - 1.0)).sqrt()));
        let variance = (mean + correction(believed(scatter))).exp();
        let all = seen.iter().map(|pair| pair.1).sum::<f64>() / SHARED;
        Some(Self { degrees, variance, all })
    }
}

/// The moments of a pair, with what is common to all. `None` of fewer than two rounds.
pub(crate) fn with(common: Option<Common>, logs: &[f64]) -> Option<Moments> {
    let (mean, deviation) = moments(logs)?;
    let own = degrees(logs);
    let Some(common) = common else { return Some(Moments { mean, deviation, degrees: own }) };
    let variance = if common.degrees.is_finite() {
        (common.degrees * common.variance + own * deviation.powi(2)) / (common.degrees + own)
    } else {
        common.variance
    };
    Some(Moments { mean, deviation: variance.sqrt(), degrees: (common.degrees + own).min(common.all.max(own)) })
}

fn degrees(logs: &[f64]) -> f64 {
    real(logs.len()) - 1.0
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The derivative of the digamma function: recurrence up to 6, then the asymptotic series (Abramowitz and Stegun, 6.4.6
/// and 6.4.12).
fn trigamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < 6.0 {
        sum += x.powi(-2);
        x += 1.0;
    }
    let y = x.powi(-2);
    sum + 1.0 / x + y / 2.0 + y / x * (1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y / 30.0)))
}

/// Where the trigamma function has a value: Newton's method on its reciprocal, which is convex (Smyth, 2004, appendix).
fn inverse_trigamma(value: f64) -> f64 {
    // Its ends: ψ′(x) is near 1/x for large x and near 1/x² for small.
    if value > 1e7 {
        return value.sqrt().recip();
    }
    if value < 1e-6 {
        return value.recip();
    }
    let mut x = 0.5 + value.recip();
    for _ in 0..50 {
        let now = trigamma(x);
        let step = now * (1.0 - now / value) / slope(x);
        x += step;
        if -step / x < 1e-8 {
            break;
        }
    }
    x
}

/// The derivative of the trigamma function, by the central difference of a smooth function.
fn slope(x: f64) -> f64 {
    let h = x * 1e-4;
    (trigamma(x + h) - trigamma(x - h)) / (2.0 * h)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigamma_is_that_of_the_tables() {
        // Abramowitz and Stegun, table 6.1: ψ′(1) = π²/6, ψ′(1.5) = π²/2 − 4, ψ′(2) = π²/6 − 1.
        let square = std::f64::consts::PI.powi(2);
        for (x, expect) in [(1.0, square / 6.0), (1.5, square / 2.0 - 4.0), (2.0, square / 6.0 - 1.0)] {
            assert!((trigamma(x) - expect).abs() < 1e-6, "{x}: {}", trigamma(x));
        }
        for x in [0.01, 0.5, 1.0, 4.0, 77.0, 1e4] {
            assert!((inverse_trigamma(trigamma(x)) / x - 1.0).abs() < 1e-4, "{x}: {}", inverse_trigamma(trigamma(x)));
        }
    }

    /// Three rounds around 0 with that standard deviation.
    fn pair(deviation: f64) -> Vec<f64> {
        vec![-deviation, 0.0, deviation]
    }

    #[test]
    fn pairs_that_scatter_alike_share_their_degrees() {
        let pairs: Vec<Vec<f64>> = [0.01, 0.012, 0.009, 0.011].map(pair).into();
        let common = Common::of(pairs.iter()).unwrap();
        let of = with(Some(common), &pairs[0]).unwrap();
        assert!((of.degrees - 4.0).abs() < 1e-9, "half of four pairs of two degrees: {of:?}");
        assert!((0.008..0.02).contains(&of.deviation), "{of:?}");
    }

    #[test]
    fn a_pair_that_scatters_more_keeps_most_of_it() {
        let pairs: Vec<Vec<f64>> = [0.001, 0.002, 0.3, 0.0015, 0.02, 0.1].map(pair).into();
        let common = Common::of(pairs.iter()).unwrap();
        let wild = with(Some(common), &pairs[2]).unwrap();
        assert!(wild.deviation > 0.2 && wild.degrees < 4.0, "{wild:?} of {common:?}");
    }

    #[test]
    fn too_little_teaches_nothing() {
        assert_eq!(Common::of([pair(0.1), pair(0.2)].iter()), None);
        assert_eq!(Common::of([vec![0.1], vec![0.2], vec![0.3]].iter()), None);
        assert_eq!(Common::of([pair(0.0), pair(0.0), pair(0.0)].iter()), None);
        assert_eq!(with(None, &pair(0.1)).unwrap().degrees.total_cmp(&2.0), std::cmp::Ordering::Equal);
        assert_eq!(with(None, &[0.1]), None);
    }
}
