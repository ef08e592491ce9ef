//! Which cells need more rounds, and which first.

use terms::MeasurePolicy;
use terms::finding::{CellFinding, Compared, Comparison, Findings, Verdict};

use crate::interval;

/// Is a cell open: may it have more rounds, and is its interval wider than asked for or a comparison of it undecided
/// that could still be decided?
pub(crate) fn is_open(finding: &CellFinding, comparisons: &[Comparison], policy: &MeasurePolicy) -> bool {
    let Some(estimate) = finding.throughput.filter(|_| finding.verdict == Verdict::Measured) else { return false };
    let left = policy.most_rounds().saturating_sub(estimate.rounds);
    if !policy.is_sequential() || left == 0 {
        return false;
    }
    let wide = interval::half_width(&estimate).is_none_or(|half| half > policy.precision.share());
    wide || soonest(finding, comparisons).is_some_and(|more| more <= left)
}

/// Rounds until the first open comparison of a cell may be decided.
fn soonest(finding: &CellFinding, comparisons: &[Comparison]) -> Option<u32> {
    let of_it = comparisons.iter().filter(|of| {
        of.workload == finding.workload
            && (of.stack == finding.stack || of.other == finding.stack)
            && of.verdict == Compared::CannotTell
    });
    of_it.filter_map(|of| of.more_rounds).min()
}

/// Stack and workload of every open cell: those first whose comparison is nearest to a decision, then the widest.
#[must_use]
pub fn open_cells(findings: &Findings) -> Vec<(String, String)> {
    let mut open: Vec<&CellFinding> = findings.cells.iter().filter(|of| of.open).collect();
    let width = |of: &CellFinding| of.throughput.as_ref().and_then(interval::half_width).unwrap_or(f64::INFINITY);
    open.sort_by(|a, b| {
        let soon = |of: &CellFinding| soonest(of, &findings.comparisons).unwrap_or(u32::MAX);
        soon(a).cmp(&soon(b)).then(width(b).total_cmp(&width(a)))
    });
    open.into_iter().map(|of| (of.stack.clone(), of.workload.clone())).collect()
}
