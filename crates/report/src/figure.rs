//! A figure for people: a value in the unit of its workload, and half its interval in percent.

use terms::finding::Estimate;
use terms::units::{Bytes, BytesPerSecond, Iops, significant};
use terms::workload::Workload;

use crate::style::Style;

/// Largest block of random access that people count in operations rather than in bytes.
const SMALL_BLOCK: Bytes = Bytes::kib(16);

/// What a workload is told in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Bytes per second.
    Rate,
    /// Operations per second.
    Iops,
}

impl Measure {
    /// Small random access is told in operations, all else in bytes.
    pub(crate) fn of(workload: &Workload) -> Self {
        if workload.pattern.random() && workload.block <= SMALL_BLOCK { Self::Iops } else { Self::Rate }
    }

    /// Its unit.
    pub(crate) const fn unit(self, style: &Style) -> &'static str {
        match self {
            Self::Rate => style.rate_unit(),
            Self::Iops => "IOPS",
        }
    }

    /// The number in its unit, without the unit.
    pub(crate) fn number(self, value: f64, style: &Style) -> String {
        match self {
            Self::Rate => significant(style.rate(BytesPerSecond(value))),
            Self::Iops => Iops(value).to_string().trim_end_matches(" IOPS").to_owned(),
        }
    }

    /// The number in its unit, for axes.
    pub(crate) fn scaled(self, value: f64, style: &Style) -> f64 {
        match self {
            Self::Rate => style.rate(BytesPerSecond(value)),
            Self::Iops => value,
        }
    }
}

/// Half the interval, relative to the value, such as `±5 %`; `±?` where a single round gives none.
pub(crate) fn spread(estimate: &Estimate) -> String {
    match relative_half(estimate) {
        None => "±?".to_owned(),
        Some(percent) if percent >= 0.95 => format!("±{percent:.0} %"),
        Some(percent) if percent >= 0.05 => format!("±{percent:.1} %"),
        Some(_) => "±<0.1 %".to_owned(),
    }
}

/// Half the interval in percent of the value.
fn relative_half(estimate: &Estimate) -> Option<f64> {
    let (low, high) = estimate.low.zip(estimate.high)?;
    let percent = (high - low) / 2.0 / estimate.value * 100.0;
    percent.is_finite().then_some(percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, ends: Option<(f64, f64)>) -> Estimate {
        Estimate { value, low: ends.map(|e| e.0), high: ends.map(|e| e.1), rounds: 3 }
    }

    #[test]
    fn half_intervals_are_in_percent() {
        for (ends, text) in [
            (Some((95.0, 105.0)), "±5 %"),
            (Some((99.6, 100.4)), "±0.4 %"),
            (Some((100.0, 100.0)), "±<0.1 %"),
            (Some((40.0, 250.0)), "±105 %"),
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
