//! A figure for people: a value in the unit of its workload, and how far its interval goes to both sides.

use std::fmt;

use terms::finding::{CellFinding, WithInterval};
use terms::record::Reading;
use terms::units::{Bytes, BytesPerSecond, Iops, significant};
use terms::workload::{Method, Workload};

use crate::style::Style;

/// Marks a figure that a guard has labelled, or that is more than the drives can do.
pub(crate) const DAGGER: char = '†';
/// What it means.
pub(crate) const DAGGER_MEANS: &str = "flagged by a guard, or above what the drives can do";

/// Largest block of random access that people count in operations rather than in bytes.
const SMALL_BLOCK: Bytes = Bytes::kib(16);

/// What a workload is told in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Bytes per second.
    Rate,
    /// Operations per second.
    Iops,
    /// Files per second.
    Files,
}

/// What one measurement came to, such as `1268 MiB/s`, in what its workload is told in.
#[must_use]
pub fn measured(workload: &Workload, reading: &Reading, style: &Style) -> String {
    let measure = Measure::of(workload);
    let value = match measure {
        Measure::Rate => reading.throughput().0,
        Measure::Iops | Measure::Files => reading.iops().0,
    };
    style.spell(&format!("{} {}", measure.number(value, style), measure.unit(style)))
}

impl Measure {
    /// Small random access is told in operations, all else in bytes.
    pub(crate) fn of(workload: &Workload) -> Self {
        if matches!(workload.method, Method::Tree(..)) {
            return Self::Files;
        }
        // Operations of several sizes are not counted together.
        let is_small = workload.pattern.random() && workload.block <= SMALL_BLOCK && workload.has_one_block();
        if is_small { Self::Iops } else { Self::Rate }
    }

    /// Its unit.
    pub(crate) const fn unit(self, style: &Style) -> &'static str {
        match self {
            Self::Rate => style.rate_unit(),
            Self::Iops => "IOPS",
            Self::Files => "files/s",
        }
    }

    /// The number in its unit, without the unit.
    pub(crate) fn number(self, value: f64, style: &Style) -> String {
        match self {
            Self::Rate => significant(style.rate(BytesPerSecond(value))),
            Self::Iops | Self::Files => Iops(value).to_string().trim_end_matches(" IOPS").to_owned(),
        }
    }

    /// A number that is in its unit as axes have it, without the unit.
    pub(crate) fn tick(self, value: f64, style: &Style) -> String {
        match self {
            Self::Rate => significant(value),
            Self::Iops | Self::Files => self.number(value, style),
        }
    }

    /// A throughput in bytes per second as what the workload is told in: blocks make operations of it.
    pub(crate) fn of_rate(self, rate: f64, workload: &Workload) -> f64 {
        match self {
            Self::Rate => rate,
            Self::Iops | Self::Files => rate / workload.block.as_f64(),
        }
    }

    /// The number in its unit, for axes.
    pub(crate) fn scaled(self, value: f64, style: &Style) -> f64 {
        match self {
            Self::Rate => style.rate(BytesPerSecond(value)),
            Self::Iops | Self::Files => value,
        }
    }
}

/// Lowest and highest level of a cell that never settled, in the unit of its workload: `61.2–204`.
pub(crate) fn range(finding: &CellFinding, workload: &Workload, style: &Style) -> Option<String> {
    let measure = Measure::of(workload);
    let number = |rate: f64| measure.number(measure.of_rate(rate, workload), style);
    finding.steady.range.map(|(low, high)| format!("{}–{}", number(low), number(high)))
}

/// Widest interval that is told as a percentage, as the factor from its middle to its ends. Intervals are geometric,
/// from value / f to value × f: at 1.25 that is −20 % to +25 %, within 3 points of the ±22 % that is printed. Beyond it
/// a percentage to both sides would tell of values that the interval does not hold, at last of negative ones.
const NARROW: f64 = 1.25;

/// What `±5 %` means.
pub(crate) const HALF: &str = "half of the 95 % interval, in per cent of the value";
/// What `×÷2.2` means.
pub(crate) const FACTOR: &str = "×÷2.2: from the value divided by 2.2 to the value times 2.2";

/// What `×÷>999` means.
pub(crate) const BEYOND: &str = "×÷>999: no interval to speak of, rounds or parts of the window differ too much";
/// How it begins.
pub(crate) const BEYOND_MARK: &str = "×÷>";

/// How far an interval goes to both sides of its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Spread {
    /// There is no interval.
    Unknown,
    /// Half of a narrow interval, in percent of the value.
    Percent(f64),
    /// A wide interval, from the value divided by this to the value times it.
    Factor(f64),
}

impl Spread {
    /// The spread of an estimate. Where the ends are not equally far in ratio, the farther one counts.
    pub(crate) fn of(estimate: &WithInterval) -> Self {
        let value = estimate.value;
        match estimate.low.zip(estimate.high) {
            Some((low, high)) if value > 0.0 && !low.is_nan() && !high.is_nan() => {
                let down = if low > 0.0 { value / low } else { f64::INFINITY };
                let factor = down.max(high / value);
                if factor < NARROW { Self::Percent((high - low) / 2.0 / value * 100.0) } else { Self::Factor(factor) }
            }
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for Spread {
    /// Such as `±5 %` or `×÷3.6`; `±?` where a single round gives none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("±?"),
            Self::Percent(percent) if *percent >= 0.95 => write!(f, "±{percent:.0} %"),
            Self::Percent(percent) if *percent >= 0.05 => write!(f, "±{percent:.1} %"),
            Self::Percent(_) => f.write_str("±<0.1 %"),
            Self::Factor(factor) if *factor < 1.995 => write!(f, "×÷{factor:.2}"),
            Self::Factor(factor) if *factor < 9.95 => write!(f, "×÷{factor:.1}"),
            Self::Factor(factor) if *factor < 999.5 => write!(f, "×÷{factor:.0}"),
            Self::Factor(_) => write!(f, "{BEYOND_MARK}999"),
        }
    }
}

/// The spread of an estimate in words.
pub(crate) fn spread(estimate: &WithInterval) -> String {
    Spread::of(estimate).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, ends: Option<(f64, f64)>) -> WithInterval {
        WithInterval { value, low: ends.map(|e| e.0), high: ends.map(|e| e.1), rounds: 3 }
    }

    #[test]
    fn narrow_intervals_are_in_percent_and_wide_ones_are_factors() {
        for (ends, text) in [
            (Some((95.0, 105.0)), "±5 %"),
            (Some((99.6, 100.4)), "±0.4 %"),
            (Some((100.0, 100.0)), "±<0.1 %"),
            (Some((100.0 / 1.24, 124.0)), "±22 %"),
            (Some((80.0, 125.0)), "×÷1.25"),
            (Some((40.0, 250.0)), "×÷2.5"),
            (Some((100.0 / 3.6, 360.0)), "×÷3.6"),
            (Some((10.0, 1000.0)), "×÷10"),
            (Some((0.01, 1e6)), "×÷>999"),
            (Some((0.0, 120.0)), "×÷>999"),
            (Some((95.0, f64::NAN)), "±?"),
            (None, "±?"),
        ] {
            assert_eq!(spread(&estimate(100.0, ends)), text);
        }
        assert_eq!(spread(&estimate(0.0, Some((0.0, 0.0)))), "±?");
    }

    #[test]
    fn units_are_scaled() {
        let si = Style { si: true, ..Style::default() };
        assert_eq!(Measure::Rate.number(1_048_576_000.0, &Style::default()), "1000");
        assert_eq!(Measure::Rate.number(1_048_576_000.0, &si), "1049");
        assert_eq!(Measure::Iops.number(12_400.0, &si), "12.4k");
    }
}
