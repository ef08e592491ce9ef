//! Fixed rates: operations arrive when they arrive, whether earlier ones are done or not.

use terms::workload::{Engine, Load};
use terms::{Pattern, Workload};

use super::Job;

/// Why jobs that offload are threads.
pub(super) const THREADS: &str = "threads: processes of fio 3.33 do not end when they offload";

/// Offers a rate at random moments. Latency then counts from the intended start, where the engine allows it.
pub(super) fn offer(job: &mut Job, workload: &Workload, rate: Option<f64>) {
    let own = match workload.load {
        Load::Rate(rate) => Some(terms::Bytes(rate).as_f64()),
        Load::Closed | Load::Share { .. } => None,
    };
    // The share of something that was not measured yet has no rate: such a job can be shown, not run.
    let Some(rate) = rate.or(own) else { return };
    let jobs = f64::from(workload.jobs.max(1));
    let (reads, writes) = split(workload.pattern, rate / jobs);
    let offered = f64::from(reads + writes) * jobs;
    job.offered = Some(offered);
    job.set(
        "rate_iops",
        format!("{reads},{writes}"),
        format!("reads and writes per second of each job, whole numbers: {offered} over all jobs"),
    )
    .set("rate_process", "poisson", "arrivals at random moments, as of many who do not know of one another");
    // fio 3.33 never ends with offloading in processes, and io_uring's ring belongs to one thread.
    if workload.engine != Engine::IoUring {
        job.set("io_submit_mode", "offload", "who waits for a slot is counted from when it wanted to begin");
    }
    job.set("lat_percentiles", 1, "bins of the whole latency, from the intended start");
}

/// Operations per second of one job, reads and writes. What is asked for never rounds to 0, which fio takes for
/// "no limit"; a direction that is not asked for has 0.
fn split(pattern: Pattern, rate: f64) -> (u32, u32) {
    let share = pattern.read_share();
    let whole = |wanted: bool, rate: f64| if wanted { rounded(rate).max(1) } else { 0 };
    (whole(pattern.reads(), rate * share), whole(pattern.writes(), rate * (1.0 - share)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "fio takes an unsigned 32-bit rate; a cast saturates"
)]
fn rounded(rate: f64) -> u32 {
    rate.round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_split_and_never_becomes_no_limit() {
        assert_eq!(split(Pattern::RandRead, 250.4), (250, 0));
        assert_eq!(split(Pattern::RandMixed(70), 1000.0), (700, 300));
        assert_eq!(split(Pattern::RandMixed(99), 2.0), (2, 1));
        assert_eq!(split(Pattern::Write, 0.2), (0, 1));
    }
}
