//! What is odd about a measured figure beside what was predicted of it.

use terms::finding::{READ_ABOVE, WRITTEN_ABOVE};
use terms::prediction::{CeilingKind, Flag, Prediction};

/// A measured figure.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observed {
    /// Operations per second.
    pub operations: f64,
    /// Share of reads, in case the workload mixes.
    pub reads: f64,
    /// What the job said where it failed.
    pub failed: Option<String>,
}

/// A figure beyond a ceiling by so much is not one of the thing that the ceiling stands for: data sheets are 15 to 25 %
/// off.
const BEYOND: f64 = 1.2;

/// What is odd about it. Nothing odd is no proof that it is right.
#[must_use]
pub fn judge(prediction: &Prediction, observed: &Observed) -> Vec<Flag> {
    if let Some(why) = &observed.failed {
        return vec![Flag::new("failed-job", format!("the job failed ({why}): its figure is none"))];
    }
    let mut flags = Vec::new();
    let drives = prediction.ceilings.iter().filter(|ceiling| ceiling.kind == CeilingKind::Drive);
    if let Some(ceiling) = drives.min_by(|a, b| a.operations_per_second.total_cmp(&b.operations_per_second)) {
        let times = observed.operations / ceiling.operations_per_second;
        if times > BEYOND && observed.reads >= 1.0 {
            let message = format!(
                "{times:.2} times what {} can read: blocks that were never written, or a cache",
                ceiling.resource
            );
            flags.push(Flag::new(READ_ABOVE, message));
        } else if times > BEYOND {
            let message = format!(
                "{times:.2} times what {} can take: writes were held in memory or written over there",
                ceiling.resource
            );
            flags.push(Flag::new(WRITTEN_ABOVE, message));
        }
    }
    if !prediction.operations.ninety.holds(observed.operations) {
        let off = (observed.operations / prediction.operations.value - 1.0) * 100.0;
        flags.push(Flag::new("outside-interval", format!("{off:+.0} % off the prediction, outside its 90 % interval")));
    }
    flags
}
