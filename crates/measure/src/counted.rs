//! What fio counted, and over which time.

use terms::{Nanos, Workload};

use crate::fio::{self, FioOutput};
use crate::gate::Observed;
use crate::guards;
use crate::log::Log;

/// The time in which all jobs worked. Parts of a workload are told one by one.
pub(crate) fn worked(workload: &Workload, observed: &Observed) -> Option<Nanos> {
    observed.worked.filter(|_| workload.parts.is_empty())
}

/// What fio counted, over the time in which all of its jobs worked where that is not the window of each.
pub(crate) fn counted(workload: &Workload, observed: &Observed, output: FioOutput, window: Nanos) -> FioOutput {
    over(workload, worked(workload, observed), output, &observed.log, window)
}

/// The same where all windows together lasted as long as `worked`, if that is known.
pub(crate) fn over(
    workload: &Workload,
    worked: Option<Nanos>,
    output: FioOutput,
    log: &Log,
    window: Nanos,
) -> FioOutput {
    match worked.and_then(|worked| guards::joint(workload, worked, &output, log, window)) {
        Some(time) => FioOutput { reading: fio::over(output.reading, time), ..output },
        None => output,
    }
}
