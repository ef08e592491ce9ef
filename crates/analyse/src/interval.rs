//! Geometric mean over rounds with a Student-t interval on logarithms.
//!
//! With x₁…xₙ one value per round and yᵢ = ln xᵢ:
//! `value = exp(ȳ)`, `low, high = exp(ȳ ∓ t(q, n−1) · s / √n)`, q as [`Looks`] says, s the sample deviation of y (divisor n−1).
//!
//! Source: Student, "The probable error of a mean", Biometrika 6 (1908); logarithms because storage stacks are compared
//! by ratios. Assumes rounds that are independent and log-normal; the unit of replication is the round, never the second.
//!
//! A ratio is the same estimator on dᵢ = ln bᵢ − ln aᵢ, a and b of the same round: what a round does to both cancels.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, StudentsT};
use terms::MeasurePolicy;
use terms::finding::WithInterval;

/// How sure an interval is made so that it is a 95 % interval when it is printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Looks {
    /// The number of rounds was fixed before: two-sided 95 %.
    Once,
    /// After every round it was asked whether there had been enough: of the times that an interval came out narrow by
    /// chance, more were stopped at. Two-sided 97.5 % covers 95 % then (`tests/trust.rs`). The same was asked of the window of an
    /// only round, and a longer one taken in its place.
    Again,
}

impl Looks {
    /// The looks of a policy.
    pub(crate) fn of(policy: &MeasurePolicy) -> Self {
        if policy.is_sequential() || policy.windows_decide() { Self::Again } else { Self::Once }
    }

    /// This much of the distribution lies below the upper quantile.
    pub(crate) const fn upper(self) -> f64 {
        match self {
            Self::Once => 0.975,
            Self::Again => 0.9875,
        }
    }

    /// By what a chance of error is multiplied for having been asked more than once.
    pub(crate) const fn penalty(self) -> f64 {
        match self {
            Self::Once => 1.0,
            Self::Again => 2.0,
        }
    }
}

/// Estimate over rounds. `None` without values or where one is not a positive finite number.
pub(crate) fn between_rounds(values: impl IntoIterator<Item = f64>, looks: Looks) -> Option<WithInterval> {
    let logs: Vec<f64> = values.into_iter().map(logarithm).collect::<Option<_>>()?;
    of_logs(&logs, looks)
}

/// Estimate of `value / base` over the rounds that have both. `None` where no round has both.
pub(crate) fn paired_ratio(
    value: &BTreeMap<u32, f64>,
    base: &BTreeMap<u32, f64>,
    looks: Looks,
) -> Option<WithInterval> {
    of_logs(&differences(value, base)?, looks)
}

/// `ln value − ln base` of the rounds that have both.
pub(crate) fn differences(value: &BTreeMap<u32, f64>, base: &BTreeMap<u32, f64>) -> Option<Vec<f64>> {
    let pairs = value.iter().filter_map(|(round, value)| Some((value, base.get(round)?)));
    pairs.map(|(value, base)| Some(logarithm(*value)? - logarithm(*base)?)).collect()
}

/// From so many degrees of freedom on Student's distribution is taken for one with so many: its quantiles are those of the
/// normal one to 0.1 % for chances down to one in a million (Cornish and Fisher: `z + (z³ + z)/4n`). Of many more the search
/// for a quantile finds no end, and a record of somebody else's may say any number.
const NORMAL_FROM: f64 = 1e4;

/// Student's distribution.
fn students(degrees: f64) -> Option<StudentsT> {
    let degrees = if degrees > NORMAL_FROM { NORMAL_FROM } else { degrees };
    StudentsT::new(0.0, 1.0, degrees).ok()
}

/// A quantile of Student's distribution.
pub(crate) fn student(degrees: f64, upper: f64) -> Option<f64> {
    Some(students(degrees)?.inverse_cdf(upper))
}

/// The chance that Student's distribution is farther from 0 than `t`, on either side.
pub(crate) fn tails(degrees: f64, t: f64) -> Option<f64> {
    Some((2.0 * students(degrees)?.sf(t.abs())).min(1.0))
}

/// Degrees of freedom of a difference, from the variance and degrees of each side (Satterthwaite, Biometrics Bulletin 2, 1946).
pub(crate) fn satterthwaite(sides: [(f64, f64); 2]) -> f64 {
    let all: f64 = sides.iter().map(|(variance, _)| variance).sum();
    all.powi(2) / sides.iter().map(|(variance, degrees)| variance.powi(2) / degrees).sum::<f64>()
}

/// A count in a formula.
#[expect(clippy::cast_precision_loss, reason = "counts of rounds, pairs and comparisons are small")]
pub(crate) const fn real(count: usize) -> f64 {
    count as f64
}

/// Mean and standard deviation (divisor n−1) of two or more values.
pub(crate) fn moments(values: &[f64]) -> Option<(f64, f64)> {
    let n = f64::from(u32::try_from(values.len()).ok().filter(|n| *n > 1)?);
    let mean = values.iter().sum::<f64>() / n;
    Some((mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()))
}

/// Half of an interval, as a share of the value: `√(high/low) − 1`, which on the logarithmic scale is half of it.
pub(crate) fn half_width(estimate: &WithInterval) -> Option<f64> {
    Some((estimate.high? / estimate.low?).sqrt() - 1.0)
}

/// Natural logarithm of a positive finite number.
fn logarithm(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then(|| value.ln())
}

/// Mean and interval of logarithms, transformed back.
fn of_logs(logs: &[f64], looks: Looks) -> Option<WithInterval> {
    let rounds = u32::try_from(logs.len()).ok().filter(|&n| n > 0)?;
    let n = f64::from(rounds);
    let mean = logs.iter().sum::<f64>() / n;
    let half = if rounds > 1 {
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
        student(n - 1.0, looks.upper()).map(|t| t * (variance / n).sqrt())
    } else {
        None
    };
    Some(WithInterval {
        value: mean.exp(),
        low: half.map(|half| (mean - half).exp()),
        high: half.map(|half| (mean + half).exp()),
        rounds,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Looks::Once;
    use super::*;

    /// SplitMix64 (Steele, Lea, Flood 2014) with Box–Muller on top: seeded, tiny, good enough for coverage counts.
    struct Normal(u64);

    impl Normal {
        fn uniform(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        }

        fn draw(&mut self) -> f64 {
            let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
            radius * (std::f64::consts::TAU * self.uniform()).cos()
        }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
    }

    #[test]
    fn any_number_of_degrees_has_a_quantile_in_time() {
        for degrees in [1e4, 1e8, 1e19, f64::MAX, f64::INFINITY] {
            assert!((student(degrees, 0.975).unwrap() - 1.96).abs() < 1e-3, "{degrees}");
            assert!((tails(degrees, 1.96).unwrap() - 0.05).abs() < 1e-4, "{degrees}");
        }
        assert_eq!((student(f64::NAN, 0.975), student(0.0, 0.975)), (None, None));
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (degrees, expect) in
            [(1.0, 12.706_205), (2.0, 4.302_653), (4.0, 2.776_445), (9.0, 2.262_157), (30.0, 2.042_272)]
        {
            let t = student(degrees, 0.975).unwrap();
            assert!((t - expect).abs() < 1e-5, "t(0.975, {degrees}) = {t}, not {expect}");
        }
    }

    #[test]
    fn three_rounds_worked_by_hand() {
        // ln 90, ln 100, ln 110: mean 4.6018201, s = 0.1003773, half = 4.302653 · s / √3 = 0.2493510.
        let found = between_rounds([90.0, 100.0, 110.0], Once).unwrap();
        assert!((found.value - 99.6655).abs() < 1e-3, "{found:?}");
        assert!((found.low.unwrap() - 77.6700).abs() < 1e-3, "{found:?}");
        assert!((found.high.unwrap() - 127.8901).abs() < 1e-3, "{found:?}");
        assert_eq!(found.rounds, 3);
    }

    #[test]
    fn one_round_has_no_interval_and_nothing_has_no_estimate() {
        let one = between_rounds([42.0], Once).unwrap();
        assert!(close(one.value, 42.0) && one.low.is_none() && one.high.is_none() && one.rounds == 1);
        assert_eq!(between_rounds([], Once), None);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(between_rounds([1.0, bad], Once), None);
        }
    }

    #[test]
    fn pairing_cancels_what_a_round_does_to_both() {
        let base = BTreeMap::from([(1, 100.0), (2, 50.0), (3, 10.0)]);
        let half = base.iter().map(|(round, value)| (*round, value / 2.0)).collect();
        let ratio = paired_ratio(&half, &base, Once).unwrap();
        assert!(close(ratio.value, 0.5) && close(ratio.low.unwrap(), 0.5) && close(ratio.high.unwrap(), 0.5));
        let later = BTreeMap::from([(3, 20.0), (4, 9.0)]);
        assert_eq!(paired_ratio(&later, &base, Once).unwrap().rounds, 1);
        assert_eq!(paired_ratio(&BTreeMap::from([(7, 1.0)]), &base, Once), None);
    }

    #[test]
    fn intervals_cover_the_truth_as_often_as_they_say() {
        for rounds in [2, 3, 5, 8] {
            let mut source = Normal(1 + rounds);
            let covered = (0..2000)
                .filter(|_| {
                    let truth = 1e8;
                    let values: Vec<f64> = (0..rounds).map(|_| truth * (0.05 * source.draw()).exp()).collect();
                    let found = between_rounds(values, Once).unwrap();
                    (found.low.unwrap()..=found.high.unwrap()).contains(&truth)
                })
                .count();
            assert!((1860..=1960).contains(&covered), "{covered} of 2000 at {rounds} rounds");
        }
    }

    #[test]
    fn paired_intervals_cover_in_spite_of_drift() {
        let mut source = Normal(99);
        let covered = (0..2000)
            .filter(|_| {
                let (mut a, mut b) = (BTreeMap::new(), BTreeMap::new());
                for round in 1..=5u32 {
                    let drift = 1.0 - 0.1 * f64::from(round);
                    a.insert(round, drift * (0.02 * source.draw()).exp());
                    b.insert(round, 1.3 * drift * (0.02 * source.draw()).exp());
                }
                let found = paired_ratio(&b, &a, Once).unwrap();
                (found.low.unwrap()..=found.high.unwrap()).contains(&1.3)
            })
            .count();
        assert!((1860..=1960).contains(&covered), "{covered} of 2000");
    }

    proptest! {
        #[test]
        fn scale_only_scales(values in prop::collection::vec(1e-3f64..1e12, 2..9), scale in 1e-6f64..1e6) {
            let plain = between_rounds(values.iter().copied(), Once).unwrap();
            let scaled = between_rounds(values.iter().map(|value| value * scale), Once).unwrap();
            prop_assert!(close(plain.value * scale, scaled.value));
            prop_assert!(close(plain.low.unwrap() * scale, scaled.low.unwrap()));
            prop_assert!(close(plain.high.unwrap() * scale, scaled.high.unwrap()));
        }

        #[test]
        fn the_value_lies_in_its_interval(values in prop::collection::vec(1e-3f64..1e12, 1..9)) {
            let found = between_rounds(values, Once).unwrap();
            prop_assert!(found.low.is_none_or(|low| low <= found.value));
            prop_assert!(found.high.is_none_or(|high| high >= found.value));
        }
    }
}
