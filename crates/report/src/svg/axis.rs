//! Axes: where the ticks stand, and where a value stands between the ends.

/// An axis from zero.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Linear {
    /// Ticks, the first is 0, the last is the end.
    pub(crate) ticks: Vec<f64>,
}

impl Linear {
    /// An axis from 0 to the first tick at or above `max`, with at most six steps of 1, 2 or 5 times a power of ten.
    /// Nothing to show gives an axis from 0 to 1.
    pub(crate) fn to(max: f64) -> Self {
        let max = if max.is_finite() && max > f64::MIN_POSITIVE { max } else { 1.0 };
        let power = 10_f64.powf((max / 6.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0, 20.0].map(|n| n * power).into_iter().find(|step| step * 6.0 >= max);
        let step = step.unwrap_or(max);
        let mut ticks = vec![0.0];
        for n in 1..=6_u32 {
            ticks.push(step * f64::from(n));
            if step * f64::from(n) >= max {
                break;
            }
        }
        Self { ticks }
    }

    /// Where it ends.
    pub(crate) fn end(&self) -> f64 {
        self.ticks.last().copied().unwrap_or(1.0)
    }

    /// Where a value stands, 0 at the beginning and 1 at the end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        value / self.end()
    }
}

/// A logarithmic axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Log {
    low: f64,
    high: f64,
    /// Ticks, all within the ends.
    pub(crate) ticks: Vec<f64>,
}

impl Log {
    /// An axis whose ends are the nearest 1, 2 or 5 times a power of ten around the values, at least a factor of ten
    /// apart. Values must be positive; nothing to show gives an axis from 1 to 10.
    pub(crate) fn around(values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for value in values.filter(|value| value.is_finite() && *value > 0.0) {
            low = low.min(value);
            high = high.max(value);
        }
        if high <= 0.0 {
            (low, high) = (1.0, 10.0);
        }
        let steps = steps(low, high.max(low * 10.0));
        let (low, high) = (steps[0], steps[steps.len() - 1]);
        let decades: Vec<f64> = steps.iter().copied().filter(|step| is_decade(*step)).collect();
        let ticks = match (steps.len(), decades.len()) {
            (..=5, _) => steps,
            (_, ..=5) => decades,
            // Every other decade, or every third where there are many.
            (_, many) => decades.into_iter().step_by(many.div_ceil(5)).collect(),
        };
        Self { low, high, ticks }
    }

    /// Where a value stands, 0 at the beginning and 1 at the end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        (value / self.low).ln() / (self.high / self.low).ln()
    }
}

/// 1, 2 and 5 times powers of ten, from the last at or below `low` to the first at or above `high`.
fn steps(low: f64, high: f64) -> Vec<f64> {
    let mut out = Vec::new();
    let mut power = low.log10().floor() - 1.0;
    loop {
        for n in [1.0, 2.0, 5.0] {
            let step = n * 10_f64.powf(power);
            if step <= low * (1.0 + 1e-9) {
                out.clear();
            }
            out.push(step);
            if step >= high * (1.0 - 1e-9) {
                return out;
            }
        }
        power += 1.0;
    }
}

/// Is it a power of ten?
fn is_decade(value: f64) -> bool {
    let log = value.log10();
    (log - log.round()).abs() < 1e-9
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!(Linear::to(412.0).ticks, [0.0, 100.0, 200.0, 300.0, 400.0, 500.0]);
        assert_eq!(Linear::to(1.0).ticks.len(), 6);
        assert_eq!(Linear::to(0.0).end().to_string(), "1");
        assert_eq!(Linear::to(f64::NAN).end().to_string(), "1");
        let log = Log::around([3.2e5, 4.1e7].into_iter());
        assert_eq!(log.ticks.iter().map(|t| format!("{t:.0}")).collect::<Vec<_>>(), ["1000000", "10000000"]);
    }

    proptest! {
        #[test]
        fn linear_ticks_cover_the_data(max in 1e-6_f64..1e15) {
            let axis = Linear::to(max);
            prop_assert!(axis.end() >= max * (1.0 - 1e-12));
            prop_assert!(axis.end() <= max * 2.5, "{axis:?}");
            prop_assert!((2..=7).contains(&axis.ticks.len()), "{axis:?}");
            prop_assert!(axis.ticks.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!((0.0..=1.0 + 1e-9).contains(&axis.place(max)));
        }

        #[test]
        fn log_axes_cover_the_data(values in prop::collection::vec(1e0_f64..1e12, 1..8)) {
            let axis = Log::around(values.iter().copied());
            for value in &values {
                prop_assert!((-1e-6..=1.0 + 1e-6).contains(&axis.place(*value)), "{value} on {axis:?}");
            }
            prop_assert!((1..=6).contains(&axis.ticks.len()), "{axis:?}");
            for tick in &axis.ticks {
                prop_assert!((-1e-6..=1.0 + 1e-6).contains(&axis.place(*tick)), "{axis:?}");
            }
        }
    }
}
