//! Names, workloads and stacks that steps ask for, and what a figure of one tells of a parameter.

use model::{Conditions, Parameter, Site, fit};
use terms::{Bytes, Layer, LayerNode, Name, Pattern, Ref, Stack, Workload};

use crate::SPAN;
use crate::error::CalibrateError;

/// A measurement determines a constant if the figure changes by at least this share when the constant doubles.
const TELLING: f64 = 0.05;

/// A constant is not searched farther than a thousand times either way; what lies at that end was not found.
const NEAR: f64 = 500.0;

/// Depth of large and of small blocks.
pub(crate) const SEQUENTIAL_DEPTH: u32 = 8;

pub(crate) const RANDOM_DEPTH: u32 = 32;

/// A workload.
pub(crate) fn work(pattern: Pattern, block: Bytes, depth: u32, jobs: u32) -> Result<Workload, CalibrateError> {
    Ok(Workload { depth, jobs: jobs.clamp(1, 16), ..Workload::new(named("point")?, pattern, block) })
}

/// Layers on top of each other, the first on all of these drives.
pub(crate) fn stacked(drives: &[Name], layers: &[Layer]) -> Result<Stack, CalibrateError> {
    let mut on: Vec<Ref> = drives.iter().cloned().map(Ref::Drive).collect();
    let mut nodes = Vec::new();
    for (at, layer) in layers.iter().enumerate() {
        let name = named(&format!("layer{at}"))?;
        nodes.push(LayerNode { name: name.clone(), layer: layer.clone(), on, special: Vec::new() });
        on = vec![Ref::Layer(name)];
    }
    Ok(Stack { name: "calibration".to_owned(), note: None, nodes })
}

/// A name.
pub(crate) fn named(text: &str) -> Result<Name, CalibrateError> {
    Name::new(text).map_err(|error| CalibrateError::Told(error.to_string()))
}

/// The value at which the model says what was measured; `None` where the figure says nothing of it.
pub(crate) fn telling(
    site: &Site,
    parameter: Parameter,
    stack: &Stack,
    work: &Workload,
    operations: f64,
) -> Option<f64> {
    let conditions = Conditions { span: SPAN, ..Conditions::default() };
    let value = fit(site, parameter, stack, work, &conditions, operations)?;
    let slower = fit(site, parameter, stack, work, &conditions, operations * (1.0 - TELLING))?;
    let now = site.parameters.get(parameter);
    let near = (1.0 / NEAR..=NEAR).contains(&(value / now));
    (near && slower > value * 1.001 && slower < value * 20.0).then_some(value)
}
