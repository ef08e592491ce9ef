//! Rules of others, for those who need the name and for holding ours against them.

use crate::series::{mean, real};

/// What SNIA's rule says of five values in a row (Solid State Storage Performance Test Specification, as three
/// independent implementations have it).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Snia {
    /// Largest less smallest, as a share of the mean: at most [`SNIA_RANGE`].
    pub range: f64,
    /// Rise of the least-squares line from the first to the last, as a share of the mean: at most [`SNIA_RISE`].
    pub rise: f64,
    /// Do both hold?
    pub holds: bool,
}

/// Largest range of five rounds over their mean.
pub const SNIA_RANGE: f64 = 0.20;
/// Largest rise of the line through five rounds over their mean.
pub const SNIA_RISE: f64 = 0.10;

/// SNIA's rule on the last five values; `None` of fewer, or of zeros.
#[must_use]
pub fn snia(values: &[f64]) -> Option<Snia> {
    let window = values.get(values.len().checked_sub(5)?..)?;
    let level = mean(window);
    if level <= 0.0 {
        return None;
    }
    let (low, high) = window.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(*v), high.max(*v)));
    // Positions −2…2: their squares sum to 10; the line rises by four slopes from the first to the last.
    let slope: f64 = window.iter().enumerate().map(|(n, value)| (real(n) - 2.0) * value).sum::<f64>() / 10.0;
    let (range, rise) = ((high - low) / level, 4.0 * slope.abs() / level);
    Some(Snia { range, rise, holds: range <= SNIA_RANGE && rise <= SNIA_RISE })
}

/// Means of five equal parts of a series; empty where there are fewer than five samples.
#[must_use]
pub fn fifths(values: &[f64]) -> Vec<f64> {
    let part = values.len() / 5;
    if part == 0 { Vec::new() } else { values.chunks_exact(part).take(5).map(mean).collect() }
}

/// fio's `steadystate=iops_slope:LIMIT%`: the slope of the least-squares line **per sample**, as a percentage of the
/// mean, is below the limit. Since the slope of `n` samples that are not negative is at most `6/(n+1)` of their mean, a
/// limit of 10 % refuses nothing once there are 60 of them.
#[must_use]
pub fn fio_slope(values: &[f64], limit_percent: f64) -> bool {
    let level = mean(values);
    let middle = (real(values.len()) - 1.0) / 2.0;
    let spread: f64 = (0..values.len()).map(|n| (real(n) - middle).powi(2)).sum();
    if level <= 0.0 || spread <= 0.0 {
        return false;
    }
    let along: f64 = values.iter().enumerate().map(|(n, value)| (real(n) - middle) * (value - level)).sum();
    (along / spread / level * 100.0).abs() < limit_percent
}

/// The limit that means "at most 10 % over the window", for so many samples: `10 % / (n − 1)`.
#[must_use]
pub fn fio_limit(count: usize) -> f64 {
    10.0 / real(count.saturating_sub(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snia_wants_a_small_range_and_a_flat_line() {
        let flat = snia(&[100.0, 104.0, 97.0, 101.0, 99.0]).unwrap();
        assert!(flat.holds && (flat.range - 7.0 / 100.2).abs() < 1e-12, "{flat:?}");
        // A rise of 3 a round is 12 over the window.
        let rising = snia(&[94.0, 97.0, 100.0, 103.0, 106.0]).unwrap();
        assert!(!rising.holds && (rising.rise - 0.12).abs() < 1e-12, "{rising:?}");
        assert!(!snia(&[100.0, 100.0, 80.0, 100.0, 101.0]).unwrap().holds, "a range above 20 %");
        // A decay of 2.4 % a round passes: it is a permission to read, no statement of precision.
        let decay: Vec<f64> = (0..5).map(|n| 100.0 * 0.976f64.powi(n)).collect();
        assert!(snia(&decay).unwrap().holds);
        assert_eq!(snia(&[1.0; 4]), None);
    }

    #[test]
    fn fios_slope_is_per_sample() {
        // From 1000 to 20 000 over 60 samples: steady, says fio.
        let climb: Vec<f64> = (0..60).map(|n| 1000.0 + f64::from(n) * 322.0).collect();
        assert!(fio_slope(&climb, 10.0));
        assert!(!fio_slope(&climb, fio_limit(60)));
        assert!((fio_limit(60) - 0.1695).abs() < 1e-3);
    }

    #[test]
    fn fifths_are_means_of_equal_parts() {
        assert_eq!(fifths(&[1.0, 3.0, 2.0, 4.0, 3.0, 5.0, 4.0, 6.0, 5.0, 7.0]), [2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!(fifths(&[1.0; 4]).is_empty());
    }
}
