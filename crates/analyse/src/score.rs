//! Predictions made before a run, beside what was measured.
//!
//! The error of a figure is |measured / predicted - 1|; the error of many is their median, because a ratio that is far
//! off says nothing of how far. Coverage is the share of figures inside an interval: an honest 90 % interval holds nine
//! of ten.

use terms::finding::{CellFinding, Findings, READ_ABOVE, Score, Scorecard, Verdict, WRITTEN_ABOVE};
use terms::prediction::Standing;
use terms::prediction::{Estimate, Flag, Prediction, Predictions};
use terms::workload::Workload;

use crate::judge::{Observed, judge};

/// Sets what was predicted beside what was found. A cell without a figure has no score, and stays in the list.
#[must_use]
pub fn score(predicted: &Predictions, sha256: &str, findings: &Findings) -> Scorecard {
    let cells = predicted.cells.iter().map(|cell| {
        let found = findings.cell(&cell.stack, &cell.workload);
        let work = findings.provenance.workloads.iter().find(|work| work.name.as_str() == cell.workload);
        let flags = found.zip(work).map(|(found, work)| odd(&cell.prediction, found, work));
        Score {
            stack: cell.stack.clone(),
            workload: cell.workload.clone(),
            predicted: cell.prediction.throughput,
            measured: found.and_then(|found| found.throughput).map(|estimate| estimate.value),
            bottleneck: cell.prediction.bottleneck().map(|limit| limit.resource.clone()),
            ceilings: cell.prediction.ceilings.clone(),
            flags: flags.unwrap_or_default(),
        }
    });
    Scorecard {
        at: predicted.at.clone(),
        sha256: sha256.to_owned(),
        widened: predicted.widened,
        why_not: predicted.why_not.clone(),
        cells: cells.collect(),
        standing: predicted.standing,
    }
}

/// What is odd about a cell. One that has no figure and did not fail has nothing to be judged.
fn odd(said: &Prediction, found: &CellFinding, work: &Workload) -> Vec<Flag> {
    let failed = if let Verdict::Failed(why) = &found.verdict { Some(why.clone()) } else { None };
    let operations = found.iops.map(|estimate| estimate.value);
    if failed.is_none() && operations.is_none() {
        return Vec::new();
    }
    let mut flags = judge(said, &Observed { operations: operations.unwrap_or(0.0), reads: work.read_share(), failed });
    // Both copies of a mirror read, and a drive may be faster than it is rated. What its own counters saw did come from it,
    // or did reach it, however fast it was.
    if found.drive_bytes_ratio.is_some_and(|ratio| ratio >= ON_DRIVES) {
        flags.retain(|flag| ![READ_ABOVE, WRITTEN_ABOVE].contains(&flag.code.as_str()));
    }
    flags
}

/// With so many bytes on the drives for each byte of the workload none was held in memory worth speaking of: counters and
/// windows do not begin at the same moment.
const ON_DRIVES: f64 = 0.9;

/// How predictions fared: pairs of what was predicted and what was measured, from so many runs. `None` for no pairs.
#[must_use]
pub fn standing(pairs: &[(Estimate, f64)], runs: u32) -> Option<Standing> {
    let figures = u32::try_from(pairs.len()).ok().filter(|count| *count > 0)?;
    let mut errors: Vec<f64> = pairs.iter().map(|(said, measured)| (measured / said.value - 1.0).abs()).collect();
    errors.sort_by(f64::total_cmp);
    let middle = errors.len() / 2;
    let median = if errors.len() % 2 == 1 { errors[middle] } else { f64::midpoint(errors[middle - 1], errors[middle]) };
    let share = |inside: fn(&Estimate, f64) -> bool| {
        let count = pairs.iter().filter(|(said, measured)| inside(said, *measured)).count();
        u32::try_from(count).map_or(0.0, f64::from) / f64::from(figures)
    };
    Some(Standing {
        runs,
        figures,
        median_error: median,
        in_half: share(|said, measured| said.half.holds(measured)),
        in_ninety: share(|said, measured| said.ninety.holds(measured)),
    })
}

/// Fewest figures from which intervals are judged: of 20, chance alone leaves fewer than 16 inside in one case of 20.
const FEWEST: usize = 20;
/// Share inside 90 % intervals below which they are too narrow.
const TOO_FEW: f64 = 0.85;
/// A machine that is this far off its description needs to be measured, not believed with more care.
const WIDEST: f64 = 5.0;

/// The factor by which intervals are to be widened, on a logarithmic scale, so that they would have held nine in ten of
/// what was measured; 1 where they held enough, or too little is known. Pairs are those of intervals as the engine
/// itself had them, before any widening.
#[must_use]
pub fn widening(pairs: &[(Estimate, f64)]) -> f64 {
    if pairs.len() < FEWEST || standing(pairs, 1).is_none_or(|standing| standing.in_ninety >= TOO_FEW) {
        return 1.0;
    }
    let mut needed: Vec<f64> = pairs.iter().filter_map(|(said, measured)| needed(said, *measured)).collect();
    needed.sort_by(f64::total_cmp);
    // The smallest factor with which nine in ten are inside.
    let nine_in_ten = (needed.len() * 9).div_ceil(10).saturating_sub(1);
    needed.get(nine_in_ten).copied().unwrap_or(1.0).clamp(1.0, WIDEST)
}

/// By how much one interval would have to be wider to hold what was measured.
fn needed(said: &Estimate, measured: f64) -> Option<f64> {
    let off = (measured / said.value).ln();
    let edge = if off >= 0.0 { said.ninety.high } else { said.ninety.low };
    let width = (edge / said.value).ln().abs();
    (off.is_finite() && width > 0.0).then(|| off.abs() / width)
}

#[cfg(test)]
mod tests {
    use terms::prediction::Range;
    use terms::workload::Pattern;

    use super::*;

    /// Said 100, with an interval of a factor 1.1.
    fn said() -> Estimate {
        let around = |times: f64| Range { low: 100.0 / times, high: 100.0 * times };
        Estimate { value: 100.0, half: around(1.04), ninety: around(1.1) }
    }

    fn pairs(measured: impl IntoIterator<Item = f64>) -> Vec<(Estimate, f64)> {
        measured.into_iter().map(|measured| (said(), measured)).collect()
    }

    /// A stack of which 1000 operations a second were said, on drives that do 1200.
    fn predicted() -> Predictions {
        use terms::prediction::{Ceiling, CeilingKind, PREDICTIONS_SCHEMA, PredictedCell};
        let around = |value: f64, times: f64| Range { low: value / times, high: value * times };
        let estimate = |value: f64| Estimate { value, half: around(value, 1.05), ninety: around(value, 1.1) };
        let ceiling = |kind, operations: f64| Ceiling {
            resource: "drive a".to_owned(),
            kind,
            operations_per_second: operations,
            throughput: operations * 4096.0,
        };
        let prediction = Prediction {
            stack: "s".to_owned(),
            workload: "w".to_owned(),
            pattern: String::new(),
            state: terms::layer::ArrayState::Whole,
            throughput: estimate(4_096_000.0),
            operations: estimate(1000.0),
            latency: estimate(1e6),
            p99: estimate(2e6),
            cpu: estimate(1e3),
            threads_busy: estimate(0.1),
            sustained: None,
            resync: None,
            write_amplification: None,
            limits: Vec::new(),
            elasticities: Vec::new(),
            ceilings: vec![ceiling(CeilingKind::Drive, 1200.0), ceiling(CeilingKind::Link, 9000.0)],
            demands: Vec::new(),
            inputs: Vec::new(),
            flags: Vec::new(),
        };
        Predictions {
            calibrated: None,
            schema: PREDICTIONS_SCHEMA,
            at: "2026-01-01T00:00:00Z".to_owned(),
            build: "b".to_owned(),
            machine: terms::machine::Machine::default(),
            widened: 1.0,
            standing: None,
            why_not: None,
            cells: vec![PredictedCell { stack: "s".to_owned(), workload: "w".to_owned(), prediction }],
        }
    }

    /// What is odd about a cell of the pattern with so many operations a second.
    fn codes(pattern: Pattern, verdict: Verdict, operations: Option<f64>) -> Vec<String> {
        let work = Workload::new(terms::Name::new("w").unwrap(), pattern, terms::Bytes::kib(4));
        let mut found = CellFinding::new("s", "w", verdict);
        let estimate = |value| terms::finding::WithInterval { value, low: None, high: None, rounds: 1 };
        found.iops = operations.map(estimate);
        odd(&predicted().cells[0].prediction, &found, &work).into_iter().map(|flag| flag.code).collect()
    }

    #[test]
    fn figures_are_judged_by_what_was_said() {
        let measured = |pattern, operations| codes(pattern, Verdict::Measured, Some(operations));
        assert!(measured(Pattern::RandRead, 1050.0).is_empty());
        assert_eq!(measured(Pattern::RandRead, 800.0), ["outside-interval"]);
        assert_eq!(measured(Pattern::RandRead, 2000.0), ["read-above-drive", "outside-interval"]);
        assert_eq!(measured(Pattern::RandMixed(70), 2000.0), ["write-above-drive", "outside-interval"]);
        assert_eq!(codes(Pattern::Read, Verdict::Failed("no space".to_owned()), None), ["failed-job"]);
        assert!(codes(Pattern::Read, Verdict::NotRun, None).is_empty());
        assert!(codes(Pattern::Read, Verdict::Unsteady("wandering".to_owned()), None).is_empty());
    }

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    #[test]
    fn a_standing_counts_what_is_inside() {
        let standing = standing(&pairs([100.0, 103.0, 108.0, 150.0]), 2).unwrap();
        assert_eq!((standing.runs, standing.figures), (2, 4));
        assert!((standing.median_error - 0.055).abs() < 1e-9, "{standing:?}");
        assert!(close(standing.in_half, 0.5) && close(standing.in_ninety, 0.75), "{standing:?}");
        assert_eq!(super::standing(&[], 0), None);
    }

    #[test]
    fn intervals_that_held_are_left_as_they_are() {
        assert!(close(widening(&pairs(vec![105.0; 40])), 1.0));
        assert!(close(widening(&pairs(vec![500.0; 5])), 1.0), "too little is known");
    }

    #[test]
    fn widened_intervals_would_have_held_nine_in_ten() {
        let measured: Vec<f64> = (0..40).map(|at| 100.0 * 1.3_f64.powf(f64::from(at) / 39.0 * 2.0 - 1.0)).collect();
        let by = widening(&pairs(measured.clone()));
        assert!(by > 1.5, "{by}");
        let held = measured.iter().filter(|measured| said().widened(by).ninety.holds(**measured)).count();
        assert!((36..=38).contains(&held), "{held} of 40 with {by}");
        assert!(close(widening(&pairs(vec![1e9; 40])), WIDEST), "there is an end to care");
    }

    #[test]
    fn what_the_drives_themselves_moved_is_no_doubt() {
        let work = Workload::new(terms::Name::new("w").unwrap(), Pattern::RandRead, terms::Bytes::kib(4));
        let predicted = predicted();
        let prediction = &predicted.cells[0].prediction;
        let mut found = CellFinding::new("s", "w", Verdict::Measured);
        found.iops = Some(terms::finding::WithInterval { value: 2000.0, low: None, high: None, rounds: 1 });
        let doubts = |found: &CellFinding| odd(prediction, found, &work).iter().any(|flag| flag.code == READ_ABOVE);
        assert!(doubts(&found), "nobody counted");
        found.drive_bytes_ratio = Some(0.2);
        assert!(doubts(&found), "most was in memory");
        found.drive_bytes_ratio = Some(1.0);
        assert!(!doubts(&found), "both copies of a mirror read");
    }
}
