//! Which part of the span a job touches.

use terms::{Bytes, Workload};

use super::Job;

/// Where several jobs on the same blocks would feed one another from caches, each gets a stretch of its own.
pub(super) fn whole(job: &mut Job, workload: &Workload, span: Bytes) {
    let jobs = u64::from(workload.jobs.max(1));
    let span = workload.reach_of(span);
    if workload.begins_at().0 > 0 {
        job.set("offset", workload.begins_at().0, "where its part of the span begins");
    }
    if jobs == 1 || workload.shares_bytes() {
        job.set("size", span.0, "the span that was filled, and no more");
    } else {
        // Never 0, which fio takes for all there is.
        let share = (span.0 / jobs / workload.block.0.max(1)).max(1) * workload.block.0.max(1);
        job.set("size", share, "each job's own part of the span").set(
            "offset_increment",
            share,
            "jobs must not find one another's blocks in a cache",
        );
    }
}

/// Blocks evenly over the span: 0, stride, 2 stride, … and begins again at the end (seen in the I/O log of fio 3.33).
///
/// In order, fio is told to leave a hole behind each block. Strided zones, which are for places of chance here, have it
/// end a pass at the end of the span, and a pass of which as much was counted as of all before is its last: that happens
/// where settling ends within the first block of a pass.
pub(crate) fn samples(job: &mut Job, workload: &Workload, span: Bytes, wanted: u32) {
    let (block, jobs) = (workload.block.0.max(1), u64::from(workload.jobs.max(1)));
    let blocks = span.0 / jobs / block;
    let samples = u64::from(wanted.max(1)).min(blocks).max(1);
    let stride = blocks / samples * block;
    let fewer = if samples < u64::from(wanted) {
        format!("{samples} samples: the span has no room for {wanted} of them")
    } else {
        format!("{samples} samples")
    };
    job.samples = Some(samples);
    let size = if workload.pattern.random() {
        job.set("zonemode", "strided", "one block from each stretch")
            .set("zonesize", block, "bytes of one sample")
            .set("zonerange", stride, "from one sample to the next: evenly over the span");
        stride * samples
    } else {
        job.leave_holes(stride.saturating_sub(block));
        stride * (samples - 1) + block
    };
    job.set("size", size, fewer);
    if jobs > 1 {
        job.set("offset_increment", stride * samples, "each job's own part of the span");
    }
}
