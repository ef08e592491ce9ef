//! Figures of a series: mean, spread, and how many independent samples it is worth.

use std::f64::consts::PI;

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

/// Waves by which the slow part of a series is told, for so many samples: `0.4 n^⅔` (Lazarus, Lewis, Stock & Watson, "HAR
/// Inference: Recommendations for Practice", 2018).
fn waves(count: f64) -> f64 {
    0.4 * count.powf(2.0 / 3.0)
}

/// Fewer tell nothing of how much they differ themselves.
const FEWEST_WAVES: f64 = 2.0;
/// More waves than this narrow the interval by less than a sixth, and the fewer, the longer they are: a wave is to be longer than
/// the time from one commit of a journal to the next. Those of ext4 are 5 s apart, so these are so in windows from 20 s on.
const MOST_WAVES: usize = 8;

/// The variance of a mean from the slowest cosine waves in the samples, each of half a period more than the one before it (Müller,
/// "A theory of robust long-run variance estimation", 2007). There are as many degrees of freedom as waves.
///
/// Samples that follow each other alike are worth as many fewer as their variance is a smaller share of that. Samples that make
/// up for each other know the mean better than independent ones would: whole operations, and those that a commit held up.
pub(crate) fn mean_error(values: &[f64]) -> MeanError {
    let (count, single) = (real(values.len()), variance(values));
    if values.len() < 4 || single <= 0.0 {
        return MeanError { variance: single / count.max(1.0), samples: count };
    }
    let waves = waves(count).floor().clamp(FEWEST_WAVES, real(MOST_WAVES));
    let mean = mean(values);
    let wave = |number: f64| {
        let at = |(place, value): (usize, &f64)| (value - mean) * (PI * number * (real(place) + 0.5) / count).cos();
        2.0 / count * values.iter().enumerate().map(at).sum::<f64>().powi(2)
    };
    let numbers = (1..=MOST_WAVES).map(real).take_while(|number| *number <= waves);
    let of_mean = numbers.map(wave).sum::<f64>() / waves / count;
    let samples = (single / of_mean).clamp(1.0, count);
    MeanError { variance: of_mean.min(single), samples: samples.min(waves + 1.0) }
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

    /// Evenly between 0 and 1 (xorshift; Marsaglia, 2003).
    fn chance() -> impl FnMut() -> f64 {
        let mut state = 2_463_534_242u32;
        move || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            f64::from(state) / f64::from(u32::MAX)
        }
    }

    #[test]
    fn independent_samples_are_worth_as_many_as_waves_tell_and_repeated_ones_less() {
        let mut next = chance();
        let noise: Vec<f64> = (0..400).map(|_| next()).collect();
        // Eight waves.
        let alone = mean_error(&noise);
        assert!((alone.samples - 9.0).abs() < 1e-9, "{alone:?}");
        let ratio = alone.variance / (variance(&noise) / 400.0);
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
        let fivefold: Vec<f64> = noise[..80].iter().flat_map(|value| [*value; 5]).collect();
        let ratio = mean_error(&fivefold).variance / (variance(&noise[..80]) / 80.0);
        assert!((0.5..2.0).contains(&ratio), "80 values, each five times: {ratio}");
        let few = mean_error(&[[1.0; 10], [2.0; 10]].concat()).samples;
        assert!(few < 6.0, "two levels: {few}");
        assert!((mean_error(&[5.0; 20]).samples - 20.0).abs() < 1e-12);
    }

    /// Share of windows whose interval holds the mean of many, and the middle of the intervals' halves.
    fn covers(count: usize, mut window: impl FnMut(usize) -> Vec<f64>) -> (f64, f64) {
        let level = mean(&window(200_000));
        let windows: Vec<Vec<f64>> = (0..400).map(|_| window(count)).collect();
        let half = |window: &Vec<f64>| half_width(window, mean_error(window)).unwrap_or(f64::INFINITY);
        let held = windows.iter().filter(|window| (mean(window) - level).abs() <= half(window) * mean(window)).count();
        let mut halves: Vec<f64> = windows.iter().map(half).collect();
        halves.sort_by(f64::total_cmp);
        (real(held) / 400.0, halves[200])
    }

    #[test]
    fn the_interval_of_a_window_covers_what_it_says() {
        // About normal: the sum of twelve (variance 1).
        let mut next = chance();
        let mut normal = move || (0..12).map(|_| next()).sum::<f64>() - 6.0;
        let mut level = 0.0;
        let mut like_the_last = |_| {
            level = 0.7 * level + normal();
            100.0 + 8.0 * level
        };
        let (held, _) = covers(600, |count| (0..count).map(&mut like_the_last).collect());
        assert!((0.91..0.98).contains(&held), "alike: {held}");
        // Every 50 samples a commit holds up all for 5 to 15 of them; what waited comes at once.
        let mut next = chance();
        let mut stalls = |count: usize| {
            let begin = (next() * 50.0).floor();
            let (mut held, mut wait) = (0.0, 10.0);
            let mut sample = |at: usize| {
                let place = (real(at) + begin) % 50.0;
                let rate = 100.0 * (0.5 + next());
                if place < 1.0 {
                    wait = 5.0 + 10.0 * next();
                }
                if place < wait {
                    held += rate;
                    return 0.0;
                }
                rate + std::mem::take(&mut held)
            };
            (0..count).map(&mut sample).collect::<Vec<_>>()
        };
        let (held, half) = covers(600, &mut stalls);
        assert!(held >= 0.93 && half < 0.08, "held up: {held} ±{half}");
        let (held, half) = covers(2000, &mut stalls);
        assert!(held >= 0.93 && half < 0.025, "held up, longer: {held} ±{half}");
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
