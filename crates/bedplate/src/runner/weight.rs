//! What parts of a run are expected to cost, in seconds under emulation: for the progress bar and nothing else.

use terms::{Design, MeasurePolicy};

/// Booting, reading the machine and looking for what the stacks need.
pub(crate) const BEGIN: f64 = 10.0;
pub(crate) const BUILD: f64 = 6.0;
pub(crate) const FILL: f64 = 2.0;
pub(crate) const TEARDOWN: f64 = 2.0;

/// One cell.
pub(crate) fn cell(policy: &MeasurePolicy) -> f64 {
    policy.settle.as_seconds() + policy.window.as_seconds() + 1.5
}

/// A whole run of which so many stacks cannot be built.
pub(crate) fn run(design: &Design, missing: usize) -> f64 {
    let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    let stack = BUILD + FILL + TEARDOWN + count(design.workloads.len()) * cell(&design.measure);
    f64::from(design.measure.rounds) * count(design.stacks.len() - missing) * stack
}
