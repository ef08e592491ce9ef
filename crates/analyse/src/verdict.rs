//! May a number be believed? The first that holds: missing, failed, not run, measured.
//!
//! Failed wins over measured as soon as one round failed, a voiding guard fired or the stack could not be built: an
//! average over the rounds that happened to go well would hide it.

use terms::finding::Verdict;
use terms::record::{Cell, StackEntry};

use crate::builds;

/// Reasons told in full; the others are counted.
const TOLD: usize = 3;

/// The verdict on the newest cells of one workload on one stack.
pub(crate) fn of(stack: &StackEntry, newest: &[&Cell], built: &builds::Newest<'_>) -> Verdict {
    if let Some(missing) = &stack.missing {
        return Verdict::Missing(format!("{} — {}", missing.what, missing.remedy));
    }
    let mut reasons = builds::failures(&stack.slug, built);
    reasons.extend(newest.iter().flat_map(|cell| failures(cell)));
    if !reasons.is_empty() {
        Verdict::Failed(told(&reasons))
    } else if newest.is_empty() {
        Verdict::NotRun
    } else {
        Verdict::Measured
    }
}

/// Why a cell may not be believed; empty if it may.
fn failures(cell: &Cell) -> Vec<String> {
    let round = cell.key.round;
    let mut reasons: Vec<String> = cell.failure.iter().map(|why| format!("round {round}: {why}")).collect();
    let voiding = cell.guards.iter().filter(|guard| guard.voids);
    reasons.extend(voiding.map(|guard| format!("round {round}: guard {}: {}", guard.guard, guard.witness)));
    if reasons.is_empty() {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        match &cell.reading {
            None => reasons.push(format!("round {round}: nothing was read from the load generator")),
            Some(reading) if !positive(reading.throughput().0) || !positive(reading.iops().0) => {
                reasons.push(format!("round {round}: nothing was done in the window"));
            }
            Some(_) => {}
        }
    }
    reasons
}

/// A few reasons in full, the rest as a number.
fn told(reasons: &[String]) -> String {
    let text = reasons.iter().take(TOLD).cloned().collect::<Vec<_>>().join("; ");
    match reasons.len().saturating_sub(TOLD) {
        0 => text,
        more => format!("{text}; and {more} more"),
    }
}
