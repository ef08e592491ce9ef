//! fio jobs: what is asked for, with the reason for every setting.

use host::Host;
use terms::plan::Place;
use terms::{Bytes, Cmd, MeasurePolicy, Nanos, Pattern, Workload};

use crate::error::MeasureError;
use crate::fio;

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
}

/// A fio command, setting by setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    settings: Vec<(String, String, &'static str)>,
    /// How long it is meant to run, settling included; 0 for a job that ends with its data.
    pub expected: Nanos,
}

/// Where fio writes its log of throughput over time: a file of its own for every cell, because fio adds to what is there.
pub(crate) fn log_file(seed: u64) -> String {
    format!("{}_bw.log", log_prefix(seed))
}

fn log_prefix(seed: u64) -> String {
    format!("/tmp/bedplate-fio-{seed}")
}

/// Length of one sample of that log. Short enough for eight in a two-second window, long enough to cost nothing.
const SAMPLE: Nanos = Nanos::millis(250);

impl Job {
    fn set(&mut self, key: &str, value: impl ToString, why: &'static str) -> &mut Self {
        self.settings.push((key.to_owned(), value.to_string(), why));
        self
    }

    /// The command line.
    #[must_use]
    pub fn argv(&self) -> Vec<String> {
        let mut argv = vec!["fio".to_owned(), "--output-format=json+".to_owned()];
        argv.extend(self.settings.iter().map(|(key, value, _)| format!("--{key}={value}")));
        argv
    }

    /// The same as a job file that a person can run, with the reason for every setting.
    #[must_use]
    pub fn file(&self) -> String {
        let name = self.settings.iter().find(|(key, ..)| key == "name").map_or("job", |(_, value, _)| value);
        let lines = self.settings.iter().filter(|(key, ..)| key != "name");
        let body = lines.map(|(key, value, why)| format!("# {why}\n{key}={value}\n")).collect::<String>();
        format!("[{name}]\n{body}")
    }
}

fn base(name: &str, place: &Place, seed: u64) -> Job {
    let mut job = Job { settings: Vec::new(), expected: Nanos(0) };
    job.set("name", name, "")
        .set("filename", place.file(), "one file or device, the same for filling and measuring")
        .set("ioengine", "libaio", "the asynchronous engine that every kernel of today has")
        .set("direct", 1, "past the page cache, as far as the file system honours it")
        .set("invalidate", 1, "what the page cache still holds of the file is dropped first")
        .set("randrepeat", 0, "a new sequence every time: repeated offsets invite caches")
        .set("randseed", seed, "the seed of this cell, recorded so that it can be run again");
    job
}

/// The job that writes every byte of the span once.
#[must_use]
pub fn fill_job(place: &Place, span: Bytes, seed: u64) -> Job {
    let mut job = base("fill", place, seed);
    job.set("rw", "write", "every block in order, so that no later read finds one that was never written")
        .set("bs", Bytes::mib(1).0, "large blocks fill fastest")
        .set("iodepth", 8, "enough to keep a drive busy")
        .set("size", span.0, "the whole span")
        .set("refill_buffers", 1, "fresh random data: nothing that compresses or deduplicates")
        .set("end_fsync", 1, "on the drives before anything is measured");
    job
}

/// The job of a workload on the policy's span.
#[must_use]
pub fn job(workload: &Workload, place: &Place, policy: &MeasurePolicy, seed: u64) -> Job {
    let window = workload.window.unwrap_or(policy.window);
    let mut job = base(workload.name.as_str(), place, seed);
    job.expected = Nanos(policy.settle.0 + window.0);
    job.set("rw", workload.pattern.fio_rw(), "the workload's direction and order");
    if let Pattern::Mixed(read) | Pattern::RandMixed(read) = workload.pattern {
        job.set("rwmixread", read, "share of reads in per cent");
    }
    job.set("bs", workload.block.0, "bytes of one operation")
        .set("iodepth", workload.depth, "operations that each job keeps under way")
        .set("numjobs", workload.jobs, "jobs in parallel");
    size(&mut job, workload, policy.span);
    if let Some(every) = workload.fsync_every {
        job.set("fsync", every, "a flush after so many writes");
    }
    if workload.pattern.writes() {
        job.set("overwrite", 1, "only blocks that the fill has written");
    }
    job.set("time_based", 1, "by the clock: without it a fast drive ends after a fraction of a second")
        .set("ramp_time", millis(policy.settle), "settling, not counted")
        .set("runtime", millis(window), "the window that counts")
        .set("group_reporting", 1, "one sum over all jobs, made by fio itself")
        .set("percentile_list", "50:99:99.9", "percentiles beside the complete bins")
        .set("write_bw_log", log_prefix(seed), "throughput over time")
        .set("log_avg_msec", SAMPLE.as_millis(), "averaged, or the log would be the load")
        .set("per_job_logs", 0, "one log for all jobs");
    job
}

/// Sequential jobs get a stretch each: several on the same blocks would feed one another from caches.
fn size(job: &mut Job, workload: &Workload, span: Bytes) {
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

fn millis(time: Nanos) -> String {
    format!("{}ms", time.as_millis())
}

/// Writes every byte of the span once, and vouches for it.
///
/// # Errors
/// [`MeasureError::Fill`] with what fio said.
pub fn fill(host: &dyn Host, place: Place, span: Bytes, seed: u64) -> Result<Filled, MeasureError> {
    let cmd = Cmd::new(fill_job(&place, span, seed).argv()).limit(Nanos::seconds(1800));
    let outcome = host.run(&cmd)?;
    let failed = |why: String| MeasureError::Fill { span, target: place.file(), why };
    if !outcome.ok() {
        return Err(failed(host::CommandFailure::new(&host.name(), &cmd, outcome).to_string()));
    }
    let output = fio::parse(&outcome.stdout).map_err(failed)?;
    let written = output.reading.write.as_ref().map_or(0, |flow| flow.bytes.0);
    if let Some(error) = output.error {
        return Err(failed(error));
    }
    if written < span.0 {
        return Err(failed(format!("only {written} of {} bytes were written", span.0)));
    }
    let said = String::from_utf8_lossy(&outcome.stdout).into_owned();
    Ok(Filled { place, span, took: outcome.took, argv: cmd.argv, output: said })
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
    fn a_job_file_gives_a_reason_for_every_setting() {
        let text = job(&workload(Pattern::RandWrite, 1), &place(), &policy(), 7).file();
        let settings = text.lines().filter(|line| line.contains('=') && !line.starts_with('#')).count();
        let reasons = text.lines().filter(|line| line.starts_with("# ") && line.len() > 4).count();
        assert_eq!(settings, reasons, "{text}");
    }
}
