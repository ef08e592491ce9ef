//! Numbers with their units, in the words of a style.

use terms::finding::WithInterval;
use terms::units::{BytesPerSecond, Iops, Nanos, significant};
use terms::workload::Workload;

use crate::figure::{Measure, spread};
use crate::listing::MISSING;
use crate::style::Style;

/// A throughput: `412 MiB/s`.
pub(crate) fn rate(rate: f64, style: &Style) -> String {
    format!("{} {}", significant(style.rate(BytesPerSecond(rate))), style.rate_unit())
}

/// A throughput as the block of its workload wants it: in operations where blocks are small, else in bytes. `said` are
/// bytes and operations per second of any figure of the same workload, which tell the block.
pub(crate) fn by_block(throughput: f64, said: (f64, f64), style: &Style) -> String {
    let block = said.0 / said.1;
    if block < COUNTED { Iops(throughput / said.0 * said.1).to_string() } else { rate(throughput, style) }
}

/// Below this many bytes operations are counted, above it bytes are.
const COUNTED: f64 = 65_536.0;

/// A throughput in the unit of its workload: `412 MiB/s`, `12.4k IOPS`.
pub(crate) fn own(rate: f64, workload: &Workload, style: &Style) -> String {
    let measure = Measure::of(workload);
    format!("{} {}", measure.number(measure.of_rate(rate, workload), style), measure.unit(style))
}

/// From one rate to another, without their unit: `2181–2885`.
pub(crate) fn own_range(low: f64, high: f64, workload: &Workload, style: &Style) -> String {
    format!("{}–{}", own_number(low, workload, style), own_number(high, workload, style))
}

/// The same without its unit.
pub(crate) fn own_number(rate: f64, workload: &Workload, style: &Style) -> String {
    let measure = Measure::of(workload);
    measure.number(measure.of_rate(rate, workload), style)
}

/// A ratio with its interval: `0.97× ±3 %`.
pub(crate) fn ratio(ratio: &WithInterval) -> String {
    format!("{}× {}", significant(ratio.value), spread(ratio))
}

/// A difference of times with its sign: `+2.31 µs`.
pub(crate) fn difference(nanos: i64) -> String {
    match nanos {
        0 => "0 ns".to_owned(),
        _ if nanos < 0 => format!("−{}", Nanos(nanos.unsigned_abs())),
        _ => format!("+{}", Nanos(nanos.unsigned_abs())),
    }
}

/// A time that may be missing.
pub(crate) fn time(time: Option<Nanos>) -> String {
    time.map_or_else(|| MISSING.to_owned(), |time| time.to_string())
}

/// A ratio in per cent: `78`, and below ten with a digit more: `4.3`.
pub(crate) fn percent(ratio: f64) -> String {
    let percent = ratio * 100.0;
    if percent < 9.95 { format!("{percent:.1}") } else { format!("{percent:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_signs() {
        assert_eq!([2310, -120, 0].map(difference), ["+2.31 µs", "−120 ns", "0 ns"]);
    }
}
