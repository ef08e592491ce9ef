//! fio jobs: what is asked for, with the reason for every setting.

mod fill;
mod load;
mod reach;

use terms::plan::Place;
use terms::workload::{Engine, Load, Reach};
use terms::{Bytes, MeasurePolicy, Nanos, Pattern, Workload};

pub use fill::{fill, fill_job};
pub(crate) use reach::samples;

/// A stretch that was written from end to end: only this can be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    pub(crate) place: Place,
    pub(crate) span: Bytes,
    /// How long filling took.
    pub took: Nanos,
    /// The fio command that filled it.
    pub argv: Vec<String>,
    /// What fio said, for the record.
    pub output: String,
    /// fio's own version, such as `fio-3.33`.
    pub(crate) version: String,
}

/// A fio command, setting by setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    settings: Vec<(String, String, String)>,
    /// How long it is meant to run, settling included; 0 for a job that ends with its data.
    pub expected: Nanos,
    /// Operations per second that are offered over all jobs, where the rate is fixed.
    pub offered: Option<f64>,
    /// Samples of one pass, where only samples of the span are touched.
    pub samples: Option<u64>,
    /// Settling in a run of its own before this one, where fio cannot settle within one.
    pub settles_before: Option<Nanos>,
}

/// Where fio writes its log of throughput over time: a file of its own for every cell, because fio adds to what is there.
pub(crate) fn log_file(seed: u64) -> String {
    format!("{}_bw.log", log_prefix(seed))
}

/// Where fio writes latency: over time beside the throughput, or of every operation for a tool that wants it.
pub(crate) fn latency_log_file(seed: u64) -> String {
    format!("{}_lat.log", latency_log_prefix(seed))
}

/// The parts of that latency, which fio writes too whenever it is asked for the whole: handing over, and the rest.
pub(crate) fn latency_part_files(seed: u64) -> [String; 2] {
    ["slat", "clat"].map(|part| format!("{}_{part}.log", latency_log_prefix(seed)))
}

/// The files of one host where the job was given to servers: of every job one, with the host's address behind it.
pub(crate) fn server_logs(seed: u64, kind: &str, address: &str) -> String {
    format!("{}_{kind}.*.log.{address}", log_prefix(seed))
}

pub(crate) fn latency_log_prefix(seed: u64) -> String {
    log_prefix(seed)
}

fn log_prefix(seed: u64) -> String {
    format!("/tmp/bedplate-fio-{seed}")
}

/// Length of one sample of that log. Short enough for twenty in a two-second window, long enough to cost nothing.
pub(crate) const SAMPLE: Nanos = Nanos::millis(100);

impl Job {
    pub(crate) fn set(&mut self, key: &str, value: impl ToString, why: impl Into<String>) -> &mut Self {
        self.settings.push((key.to_owned(), value.to_string(), why.into()));
        self
    }

    /// Goes on so many bytes behind the end of each block: the number behind the direction (fio(1), `rw`).
    fn leave_holes(&mut self, bytes: u64) {
        for (_, direction, why) in self.settings.iter_mut().filter(|(key, ..)| key == "rw" && bytes > 0) {
            *direction = format!("{direction}:{bytes}");
            *why = format!("{why}; the rest of each stretch is left out");
        }
    }

    fn offloads(&self) -> bool {
        self.settings.iter().any(|(key, value, _)| offloads(key, value))
    }

    /// The command line.
    #[must_use]
    pub fn argv(&self) -> Vec<String> {
        let mut argv = vec!["fio".to_owned(), "--output-format=json+,normal".to_owned()];
        argv.extend(self.settings.iter().map(|(key, value, _)| option(key, value, "--")));
        argv
    }

    /// The same for a server, which runs a command before it begins. The client that collects its logs puts one job's in
    /// the place of another's unless each has a file of its own.
    pub(crate) fn served(mut self, before: &str) -> Self {
        self.set("exec_prerun", before, "waits for the moment at which all hosts begin");
        for (_, value, why) in self.settings.iter_mut().filter(|(key, ..)| key == "per_job_logs") {
            (*value, *why) = ("1".to_owned(), "a file for each job, as a client collects them".to_owned());
        }
        self
    }

    /// The command line of the run before this one that only settles: the same load, nothing logged.
    pub(crate) fn settling(&self) -> Option<Vec<String>> {
        let settle = self.settles_before?;
        let is_kept = |(key, ..): &&(String, String, String)| !key.contains("_log") && !key.starts_with("log_");
        let mut run = Self { settings: self.settings.iter().filter(is_kept).cloned().collect(), ..self.clone() };
        for (key, value, _) in &mut run.settings {
            if key == "runtime" {
                *value = millis(settle);
            }
        }
        Some(run.argv())
    }

    /// The same as a job file that a person can run, with the reason for every setting.
    #[must_use]
    pub fn file(&self) -> String {
        let name = self.settings.iter().find(|(key, ..)| key == "name").map_or("job", |(_, value, _)| value);
        let lines = self.settings.iter().filter(|(key, ..)| key != "name");
        let body = lines.map(|(key, value, why)| format!("# {why}\n{}\n", option(key, value, ""))).collect::<String>();
        format!("[{name}]\n{body}")
    }
}

fn offloads(key: &str, value: &str) -> bool {
    key == "io_submit_mode" && value == "offload"
}

/// An option as fio takes it; some have no value.
fn option(key: &str, value: &str, dashes: &str) -> String {
    if value.is_empty() { format!("{dashes}{key}") } else { format!("{dashes}{key}={value}") }
}

pub(crate) fn base(name: &str, place: &Place, engine: Engine, seed: u64) -> Job {
    let mut job = Job { settings: Vec::new(), expected: Nanos(0), offered: None, samples: None, settles_before: None };
    job.set("name", name, "")
        .set("filename", place.file(), "one file or device, the same for filling and measuring")
        .set("ioengine", engine.fio(), engine_reason(engine))
        .set("direct", 1, "past the page cache, as far as the file system honours it")
        .set("invalidate", 1, "what the page cache still holds of the file is dropped first")
        .set("randrepeat", 0, "a new sequence every time: repeated offsets invite caches")
        .set("randseed", seed, "the seed of this cell, recorded so that it can be run again");
    job
}

const fn engine_reason(engine: Engine) -> &'static str {
    match engine {
        Engine::Libaio => "the asynchronous engine that every kernel of today has",
        Engine::IoUring => "rings shared with the kernel, as the study asks for",
        Engine::PosixAio => "the C library's asynchronous calls, as the study asks for",
        Engine::Psync => "one blocking call after another, as the study asks for",
    }
}

/// The job of a workload on the policy's span, at the workload's own rate if it has one.
#[must_use]
pub fn job(workload: &Workload, place: &Place, policy: &MeasurePolicy, seed: u64) -> Job {
    job_at(workload, place, policy, None, seed)
}

/// The same at a rate in operations per second over all jobs, where the workload's load is not closed.
#[must_use]
pub fn job_at(workload: &Workload, place: &Place, policy: &MeasurePolicy, rate: Option<f64>, seed: u64) -> Job {
    let window = workload.window.unwrap_or(policy.window);
    let mut job = base(workload.name.as_str(), place, workload.engine, seed);
    job.expected = Nanos(policy.settle.0 + window.0);
    job.set("rw", workload.pattern.fio_rw(), "the workload's direction and order");
    if let Pattern::Mixed(read) | Pattern::RandMixed(read) = workload.pattern {
        job.set("rwmixread", read, "share of reads in per cent");
    }
    job.set("bs", workload.block.0, "bytes of one operation")
        .set("iodepth", workload.depth, "operations that each job keeps under way")
        .set("numjobs", workload.jobs, "jobs in parallel");
    match workload.reach {
        Reach::Span => reach::whole(&mut job, workload, policy.span),
        Reach::Samples(samples) => reach::samples(&mut job, workload, policy.span, samples),
    }
    if let Some(every) = workload.fsync_every {
        job.set("fsync", every, "a flush after so many writes");
    }
    if workload.pattern.writes() {
        job.set("overwrite", 1, "only blocks that the fill has written");
    }
    if workload.load != Load::Closed {
        load::offer(&mut job, workload, rate);
    }
    job.set("time_based", 1, "by the clock: without it a fast drive ends after a fraction of a second");
    // Threads that submit for others do not learn that the ramp is over, and fio never ends (axboe/fio#2058, mended
    // after 3.41).
    if job.offloads() || workload.keys.iter().any(|key| offloads(&key.key, &key.value)) {
        job.settles_before = Some(policy.settle);
    } else {
        job.set("ramp_time", millis(policy.settle), "settling, not counted");
    }
    job.set("runtime", millis(window), "the window that counts")
        .set("percentile_list", "50:99:99.9", "percentiles beside the complete bins")
        .set("write_bw_log", log_prefix(seed), "throughput over time")
        .set("write_lat_log", latency_log_prefix(seed), "latency over time")
        .set("log_avg_msec", SAMPLE.as_millis(), "averaged, or the log would be the load")
        .set("per_job_logs", 0, "one file, one stretch of lines for each job");
    for key in &workload.keys {
        job.set(&key.key, &key.value, "as the imported job has it");
    }
    job
}

/// Stamps the log with the machine's own monotonic clock, so that it lies beside the counters. From fio 3.30 on.
pub(crate) fn align_log(job: &mut Job) {
    job.set("log_alternate_epoch", 1, "the log on the clock that the machine's counters are read by").set(
        "log_alternate_epoch_clock_id",
        CLOCK_MONOTONIC,
        "that clock: CLOCK_MONOTONIC",
    );
}

/// The number of that clock (linux/time.h).
const CLOCK_MONOTONIC: u32 = 1;

/// Does this fio know [`align_log`]'s options? From 3.30 on (its HOWTO).
pub(crate) fn aligns(version: &str) -> bool {
    let mut numbers = version.trim_start_matches("fio-").split(['.', '-']).map(|part| part.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (3, 30)
}

pub(crate) fn millis(time: Nanos) -> String {
    format!("{}ms", time.as_millis())
}

#[cfg(test)]
mod tests {
    use terms::Name;

    use super::*;

    fn workload(pattern: Pattern, jobs: u32) -> Workload {
        Workload { depth: 32, jobs, ..Workload::new(Name::new("w").unwrap(), pattern, Bytes::kib(4)) }
    }

    fn place() -> Place {
        Place::Directory("/mnt/x".into())
    }

    fn policy() -> MeasurePolicy {
        MeasurePolicy { span: Bytes::mib(64), ..MeasurePolicy::default() }
    }

    fn line(workload: &Workload) -> String {
        job(workload, &place(), &policy(), 7).argv().join(" ")
    }

    #[test]
    fn sizes_are_plain_bytes_and_times_milliseconds() {
        let line = line(&workload(Pattern::RandRead, 16));
        for part in
            ["--bs=4096", "--size=67108864", "--runtime=3000ms", "--ramp_time=1000ms", "--randseed=7", "--direct=1"]
        {
            assert!(line.contains(part), "{part} in {line}");
        }
        assert!(!line.contains("offset_increment") && !line.contains("overwrite"));
    }

    #[test]
    fn sequential_jobs_never_share_blocks() {
        let line = line(&workload(Pattern::Read, 4));
        assert!(line.contains("--size=16777216") && line.contains("--offset_increment=16777216"), "{line}");
    }

    #[test]
    fn fixed_rates_offload_in_threads_and_imported_options_come_last() {
        let mut one = workload(Pattern::RandRead, 2);
        one.load = Load::Rate(1000);
        one.keys = vec![terms::workload::FioKey { key: "norandommap".into(), value: String::new() }];
        let job = job(&one, &place(), &policy(), 7);
        let line = job.argv().join(" ");
        for part in ["--rate_iops=500,0", "--rate_process=poisson", "--io_submit_mode=offload", "--thread=1"] {
            assert!(line.contains(part), "{part} in {line}");
        }
        assert!(line.ends_with("--norandommap") && job.offered == Some(1000.0), "{line}");
        assert!(!line.contains("ramp_time"), "fio would not end: {line}");
        let settling = job.settling().unwrap().join(" ");
        assert!(settling.contains("--runtime=1000ms") && settling.contains("--rate_iops=500,0"), "{settling}");
        assert!(!settling.contains("_log") && !settling.contains("log_"), "a log would be added to: {settling}");
        one.engine = Engine::IoUring;
        assert!(!super::job(&one, &place(), &policy(), 7).argv().join(" ").contains("offload"));
    }

    #[test]
    fn samples_lie_evenly_over_the_span_and_no_more_than_fit() {
        let mut one = workload(Pattern::Read, 1);
        (one.block, one.reach, one.engine) = (Bytes::mib(1), Reach::Samples(10), Engine::Psync);
        let line = line(&one);
        for part in ["--rw=read:5242880", "--size=57671680", "--ioengine=psync"] {
            assert!(line.contains(part), "{part} in {line}");
        }
        one.reach = Reach::Samples(1000);
        let job = job(&one, &place(), &policy(), 7);
        assert_eq!(job.samples, Some(64));
        assert!(job.file().contains("no room for 1000") && job.file().contains("rw=read\n"), "{}", job.file());
        let chance = Workload { pattern: Pattern::RandRead, reach: Reach::Samples(10), ..one };
        assert!(super::job(&chance, &place(), &policy(), 7).argv().join(" ").contains("--zonerange=6291456"));
    }

    #[test]
    fn only_new_enough_versions_align_their_log() {
        assert!(aligns("fio-3.33") && aligns("fio-3.30") && aligns("fio-4.0-12-g"));
        assert!(!aligns("fio-3.28") && !aligns(""));
    }

    #[test]
    fn a_job_file_gives_a_reason_for_every_setting() {
        let text = job(&workload(Pattern::RandWrite, 1), &place(), &policy(), 7).file();
        let settings = text.lines().filter(|line| line.contains('=') && !line.starts_with('#')).count();
        let reasons = text.lines().filter(|line| line.starts_with("# ") && line.len() > 4).count();
        assert_eq!(settings, reasons, "{text}");
    }
}
