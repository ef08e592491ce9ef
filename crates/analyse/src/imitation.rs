//! What another tool would have shown, and why: factors whose product is its figure over the honest one.
//!
//! With P what its label promises, A what it takes over its loops (the best or the mean), M the mean of what it takes
//! from each loop, B the mean of bytes over time of its loops, and H the honest figure:
//! `P/H = P/A · A/M · M/B · B/H`: the unit, the choice of the best, the averaging of rates, and the experiment itself.
//! Over rounds, geometric means of each.

use terms::evidence::Imitated;
use terms::finding::{Gap, ImitationFinding, WithInterval};
use terms::record::Cell;
use terms::units::Nanos;

/// A factor this near to 1 is no cause.
const NOTHING: f64 = 0.001;

/// The finding, if every counted cell has an imitation.
pub(crate) fn find(cells: &[&Cell], honest: Option<WithInterval>, window: Nanos) -> Option<ImitationFinding> {
    let honest = honest?.value;
    let imitated: Vec<&Imitated> = cells.iter().filter_map(|cell| cell.imitated.as_ref()).collect();
    let last = imitated.last()?;
    let mean = |of: &dyn Fn(&Imitated) -> f64| {
        let logs: f64 = imitated.iter().map(|each| of(each).max(f64::MIN_POSITIVE).ln()).sum();
        (logs / count(imitated.len())).exp()
    };
    let printed = mean(&|of| of.printed);
    let promised = mean(&|of| of.promised);
    let (taken, taken_mean, rate) = (mean(&taken), mean(&taken_mean), mean(&rate));
    let scale = promised / printed;
    let mut gaps = vec![
        Gap { cause: format!("the unit: what is printed as {} is not that", last.unit), factor: promised / taken },
        Gap {
            cause: format!("the best of {} loops instead of their mean", last.loops.len()),
            factor: taken / taken_mean,
        },
        Gap { cause: "the mean of rates instead of bytes over time".to_owned(), factor: taken_mean / rate },
    ];
    gaps.retain(|gap| (gap.factor - 1.0).abs() > NOTHING);
    gaps.push(Gap { cause: experiment(last, window), factor: rate / honest });
    Some(ImitationFinding {
        tool: last.tool,
        printed,
        unit: last.unit.clone(),
        honest: honest / scale,
        gaps,
        differs: last.differs.clone(),
        argv: last.argv.clone(),
    })
}

/// What the tool takes over its loops.
fn taken(of: &Imitated) -> f64 {
    let best = of.loops.iter().map(|each| each.taken).fold(0.0, f64::max);
    if of.best { best } else { taken_mean(of) }
}

fn taken_mean(of: &Imitated) -> f64 {
    of.loops.iter().map(|each| each.taken).sum::<f64>() / count(of.loops.len())
}

fn rate(of: &Imitated) -> f64 {
    of.loops.iter().map(|each| each.throughput).sum::<f64>() / count(of.loops.len())
}

/// What was done differently, in words.
fn experiment(of: &Imitated, window: Nanos) -> String {
    let loops = of.loops.len().max(1) as u64;
    let time = Nanos(of.loops.iter().map(|each| each.runtime.0).sum::<u64>() / loops);
    format!("another experiment: {loops} runs of {time} each instead of a window of {window} after settling")
}

#[expect(clippy::cast_precision_loss, reason = "counts of rounds and loops are small")]
fn count(number: usize) -> f64 {
    number.max(1) as f64
}

#[cfg(test)]
mod tests {
    use terms::evidence::ImitatedLoop;
    use terms::workload::Tool;

    use super::*;
    use crate::tests::cell;

    #[test]
    fn factors_make_the_gap() {
        let each = |rate: f64| ImitatedLoop { throughput: rate, taken: rate, runtime: Nanos::millis(300) };
        let mut one = cell(1, "a", "w", 100e6);
        one.imitated = Some(Imitated {
            tool: Tool::KdiskMark,
            argv: vec![],
            loops: vec![each(110e6), each(130e6)],
            best: true,
            // KiB/s divided by 1000 and called MB/s.
            printed: 130e6 / 1024.0 / 1000.0,
            unit: "MB/s".into(),
            promised: 130e6 / 1024.0 / 1000.0 * 1e6,
            differs: vec![],
        });
        let honest = WithInterval { value: 100e6, low: None, high: None, rounds: 1 };
        let found = find(&[&one], Some(honest), Nanos::seconds(3)).unwrap();
        let product: f64 = found.gaps.iter().map(|gap| gap.factor).product();
        assert!((product - found.printed / found.honest).abs() < 1e-9, "{found:?}");
        assert!((found.honest - 100.0).abs() < 1e-9);
        let factors: Vec<f64> = found.gaps.iter().map(|gap| (gap.factor * 1e4).round() / 1e4).collect();
        assert_eq!(factors, [0.9766, 1.0833, 1.2], "unit, best, experiment");
    }
}
