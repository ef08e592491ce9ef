//! One constant from one measurement: the value at which the model says what was measured.

use terms::{Stack, Workload};

use crate::compiler::{Compiler, Conditions};
use crate::parameter::Parameter;
use crate::site::Site;
use crate::solve::solve;

/// Halvings: enough for twelve digits over the range that is searched.
const HALVINGS: u32 = 60;
/// How far from what the book says is searched, as a factor either way.
const FAR: f64 = 1e3;

/// The value of a constant at which the stack does so many operations per second; the end of the range that comes
/// nearest where no value does. `None` where the stack cannot be on this machine.
#[must_use]
pub fn fit(
    site: &Site,
    parameter: Parameter,
    stack: &Stack,
    work: &Workload,
    conditions: &Conditions,
    operations: f64,
) -> Option<f64> {
    let mut site = site.clone();
    let start = site.parameters.get(parameter);
    let (mut low, mut high) = ((start / FAR).ln(), (start * FAR).ln());
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        site.parameters.put(parameter, middle.exp());
        let network = Compiler::new(&site).compile(stack, work, conditions).ok()?.clone();
        // More time is never faster.
        if solve(&network).throughput > operations { low = middle } else { high = middle }
    }
    Some(f64::midpoint(low, high).exp())
}
