//! Figures of a series: mean, spread, and how many independent samples it is worth.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The arithmetic mean; 0 of nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / real(values.len()) }
}

/// Sum of squared distances from the mean.
pub(crate) fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// The unbiased variance; 0 of fewer than two.
fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 { 0.0 } else { squares(values) / real(values.len() - 1) }
}

/// How well the mean of a series is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MeanError {
    /// Variance of the mean.
    variance: f64,
    /// One more than the degrees of freedom of that variance: where samples are independent, their count.
    pub(crate) samples: f64,
}

/// The variance of a mean by overlapping batch means (Meketon & Schmeiser, 1984), of `b = ⌊√n⌋` samples each.
///
/// Samples that follow each other alike are worth as many fewer as their variance is a smaller share of that. Samples that make
/// up for each other, as counts of whole operations do, know the mean better than independent ones would: there it is the variance
/// of batches itself, with its own degrees of freedom, 1.5 · (n/b − 1) (Meketon & Schmeiser).
pub(crate) fn mean_error(values: &[f64]) -> MeanError {
    let (count, single) = (real(values.len()), variance(values));
    if values.len() < 4 || single <= 0.0 {
        return MeanError { variance: single / count.max(1.0), samples: count };
    }
    let batch = values.len().isqrt();
    let mean = mean(values);
    let batches = values.windows(batch).map(|batch| (self::mean(batch) - mean).powi(2));
    let (sum, number) = (batches.sum::<f64>(), values.len() - batch + 1);
    let of_mean = real(batch) / (real(number) * real(values.len() - batch)) * sum;
    if of_mean < single / count {
        return MeanError { variance: of_mean, samples: (1.5 * (count / real(batch) - 1.0) + 1.0).min(count) };
    }
    let samples = (single / of_mean).max(1.0);
    MeanError { variance: single / samples, samples }
}

/// Half of the 95 % interval of the mean, as a share of it; `None` where there is none.
pub(crate) fn half_width(values: &[f64], error: MeanError) -> Option<f64> {
    let mean = mean(values);
    if error.samples <= 1.5 || mean <= 0.0 {
        return None;
    }
    let quantile = StudentsT::new(0.0, 1.0, error.samples - 1.0).ok()?.inverse_cdf(0.975);
    Some(quantile * error.variance.sqrt() / mean)
}

/// The tenth and the ninetieth percentile (nearest rank); zeros of nothing.
pub(crate) fn tenths(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |tenth: usize| sorted.get((sorted.len() * tenth).div_ceil(10).saturating_sub(1)).copied().unwrap_or(0.0);
    (at(1), at(9))
}

/// A count as a number to reckon with.
#[expect(clippy::cast_precision_loss, reason = "windows have far fewer than 2^53 samples")]
pub(crate) const fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independent_samples_are_worth_themselves_and_repeated_ones_less() {
        // Xorshift (Marsaglia, 2003).
        let mut state = 2_463_534_242u32;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            f64::from(state)
        };
        let noise: Vec<f64> = (0..400).map(|_| next()).collect();
        // These make up for each other a little, by chance: 1.5 · (400/20 − 1) degrees of freedom.
        let alone = mean_error(&noise);
        assert!((alone.samples - 29.5).abs() < 1e-9, "{alone:?}");
        let ratio = alone.variance / (variance(&noise) / 400.0);
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
        let fivefold: Vec<f64> = noise[..80].iter().flat_map(|value| [*value; 5]).collect();
        let repeated = mean_error(&fivefold).samples;
        assert!((30.0..160.0).contains(&repeated), "80 values, each five times: {repeated}");
        assert!((mean_error(&[5.0; 20]).samples - 20.0).abs() < 1e-12);
    }

    #[test]
    fn what_makes_up_for_itself_is_known_better() {
        // Whole operations, 5.37 in a tick: what one tick has too little of another has.
        let done = |tick: u32| (f64::from(tick) * 5.37).floor();
        let counts: Vec<f64> = (0..400).map(|tick| done(tick + 1) - done(tick)).collect();
        let half = half_width(&counts, mean_error(&counts)).unwrap();
        let independent = 2.0 * (variance(&counts) / 400.0).sqrt() / 5.37;
        assert!(half < independent / 3.0, "{half} beside {independent}");
        assert!((mean(&counts) / 5.37 - 1.0).abs() <= half, "{half}");
    }

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(tenths(&values), (2.0, 18.0));
        assert_eq!(tenths(&[]), (0.0, 0.0));
        assert_eq!(tenths(&[7.0]), (7.0, 7.0));
    }

    #[test]
    fn the_half_width_is_students() {
        // Mean 2, variance 1, four samples: t(3) = 3.1824, 3.1824 · √(1/4) / 2.
        let of = MeanError { variance: 4.0 / 3.0 / 4.0, samples: 4.0 };
        let half = half_width(&[1.0, 3.0, 1.0, 3.0], of).unwrap();
        let expect = 3.182_446 * (4.0f64 / 3.0 / 4.0).sqrt() / 2.0;
        assert!((half - expect).abs() < 1e-4, "{half} {expect}");
    }
}
