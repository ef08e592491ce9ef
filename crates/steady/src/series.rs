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

/// How many independent samples a series is worth, by overlapping batch means (Meketon & Schmeiser, 1984): the variance
/// of single samples over the variance of means of `b` of them, times `b`; `b = ⌊√n⌋`. Between 1 and the count.
pub(crate) fn effective(values: &[f64]) -> f64 {
    let count = values.len();
    let single = variance(values);
    if count < 4 || single <= 0.0 {
        return real(count);
    }
    let batch = count.isqrt();
    let mean = mean(values);
    let batches = values.windows(batch).map(|batch| (self::mean(batch) - mean).powi(2));
    let (sum, number) = (batches.sum::<f64>(), count - batch + 1);
    // n·b / ((n−b+1)·(n−b)) · Σ is the estimate of n·Var(mean).
    let of_mean = real(count) * real(batch) / (real(number) * real(count - batch)) * sum;
    if of_mean <= 0.0 { real(count) } else { (real(count) * single / of_mean).clamp(1.0, real(count)) }
}

/// Half of the 95 % interval of the mean, as a share of it; `None` where there is none.
pub(crate) fn half_width(values: &[f64], effective: f64) -> Option<f64> {
    let mean = mean(values);
    if effective <= 1.5 || mean <= 0.0 {
        return None;
    }
    let quantile = StudentsT::new(0.0, 1.0, effective - 1.0).ok()?.inverse_cdf(0.975);
    Some(quantile * (variance(values) / effective).sqrt() / mean)
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
        let alone = effective(&noise);
        assert!(alone > 200.0, "{alone}");
        let fivefold: Vec<f64> = noise[..80].iter().flat_map(|value| [*value; 5]).collect();
        let repeated = effective(&fivefold);
        assert!((30.0..160.0).contains(&repeated), "80 values, each five times: {repeated}");
        assert!((effective(&[5.0; 20]) - 20.0).abs() < 1e-12);
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
        let half = half_width(&[1.0, 3.0, 1.0, 3.0], 4.0).unwrap();
        let expect = 3.182_446 * (4.0f64 / 3.0 / 4.0).sqrt() / 2.0;
        assert!((half - expect).abs() < 1e-4, "{half} {expect}");
    }
}
