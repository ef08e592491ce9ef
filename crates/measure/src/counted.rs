//! What fio counted, and over which time.

use terms::{Nanos, Workload};

use crate::fio::{self, FioOutput};
use crate::gate::Observed;
use crate::guards;

/// The time in which all jobs worked. Parts of a workload are told one by one.
pub(crate) fn worked(workload: &Workload, observed: &Observed) -> Option<Nanos> {
    observed.worked.filter(|_| workload.parts.is_empty())
}

/// What fio counted, over the time in which all of its jobs worked where that is not the window of each.
pub(crate) fn counted(workload: &Workload, observed: &Observed, output: FioOutput, window: Nanos) -> FioOutput {
    match worked(workload, observed).and_then(|worked| guards::joint(workload, worked, &output, &observed.log, window))
    {
        Some(time) => FioOutput { reading: fio::over(output.reading, time), ..output },
        None => output,
    }
}
