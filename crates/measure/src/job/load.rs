//! Fixed rates: operations arrive when they arrive, whether earlier ones are done or not.

use terms::workload::{Engine, Load};
use terms::{Nanos, Pattern, Workload};

use super::Job;

/// Why jobs that offload are threads.
pub(super) const THREADS: &str = "threads: processes of fio 3.33 do not end when they offload";

/// An offered rate, and what was done of it, in operations per second over all jobs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offered {
    pub(crate) rate: f64,
    pub(crate) done: f64,
    pub(crate) window: Nanos,
}

/// A share of an offered rate that counts as reached.
const REACHED: f64 = 0.95;
/// So many standard deviations less than was offered may arrive by chance, in one window of 700.
const CHANCE: f64 = 3.0;

impl Offered {
    /// What was done, as a share of what was offered.
    pub(crate) fn share(self) -> f64 {
        self.done / self.rate
    }

    /// Was it done, as far as arrivals of chance tell? Of `n` the standard deviation is `√n` (Poisson).
    pub(crate) fn is_reached(self) -> bool {
        let scatter = CHANCE / (self.rate * self.window.as_seconds()).sqrt();
        self.share() >= REACHED.min(1.0 - scatter)
    }
}

/// Offers a rate at random moments. fio counts latency from when it takes an operation up (`start_time` in `get_io_u` of its
/// io_u.c): that is when it was to begin, as long as fio keeps up and has a slot left.
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
        job.set("io_submit_mode", "offload", "what is under way keeps no other from beginning");
    }
    job.set("lat_percentiles", 1, "bins of the whole latency, from when fio takes an operation up");
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
    fn a_rate_is_reached_as_far_as_chance_allows() {
        let of = |rate: f64, done: f64| Offered { rate, done, window: Nanos::seconds(1) }.is_reached();
        assert_eq!([9600.0, 9400.0].map(|done| of(10_000.0, done)), [true, false]);
        // A hundred scatter by ten.
        assert_eq!([75.0, 65.0].map(|done| of(100.0, done)), [true, false]);
    }

    #[test]
    fn a_rate_is_split_and_never_becomes_no_limit() {
        assert_eq!(split(Pattern::RandRead, 250.4), (250, 0));
        assert_eq!(split(Pattern::RandMixed(70), 1000.0), (700, 300));
        assert_eq!(split(Pattern::RandMixed(99), 2.0), (2, 1));
        assert_eq!(split(Pattern::Write, 0.2), (0, 1));
    }
}
