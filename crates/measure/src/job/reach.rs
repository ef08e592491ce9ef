//! Which part of the span a job touches.

use terms::{Bytes, Workload};

use super::Job;

/// Sequential jobs get a stretch each: several on the same blocks would feed one another from caches.
pub(super) fn whole(job: &mut Job, workload: &Workload, span: Bytes) {
    let jobs = u64::from(workload.jobs.max(1));
    if workload.pattern.random() || jobs == 1 {
        job.set("size", span.0, "the span that was filled, and no more");
    } else {
        let share = span.0 / jobs / workload.block.0.max(1) * workload.block.0.max(1);
        job.set("size", share, "each job's own part of the span").set(
            "offset_increment",
            share,
            "sequential jobs must not read one another's blocks",
        );
    }
}

/// Stretches of one block each, evenly over the span: fio's strided zones, one block in each.
///
/// With `zonesize` = block and `zonerange` = stride fio goes to 0, stride, 2 stride, … and begins again at the end of
/// `size` (seen in the I/O log of fio 3.33).
pub(crate) fn samples(job: &mut Job, workload: &Workload, span: Bytes, wanted: u32) {
    let (block, jobs) = (workload.block.0.max(1), u64::from(workload.jobs.max(1)));
    let blocks = span.0 / jobs / block;
    let samples = u64::from(wanted.max(1)).min(blocks).max(1);
    let stride = blocks / samples * block;
    let size = stride * samples;
    let fewer = if samples < u64::from(wanted) {
        format!("{samples} samples: the span has no room for {wanted} of them")
    } else {
        format!("{samples} samples")
    };
    job.samples = Some(samples);
    job.set("size", size, fewer)
        .set("zonemode", "strided", "one block from each stretch")
        .set("zonesize", block, "bytes of one sample")
        .set("zonerange", stride, "from one sample to the next: evenly over the span");
    if jobs > 1 {
        job.set("offset_increment", size, "each job's own part of the span");
    }
}
