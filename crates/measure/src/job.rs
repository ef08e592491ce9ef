//! fio jobs: what is asked for, with the reason for every setting.

mod fill;
mod load;
mod reach;
mod target;

use claim::Writable;
use terms::plan::WorkPlace;
use terms::workload::{Engine, FioKey, Load, Reach};
use terms::{Bytes, MeasurePolicy, Nanos, Pattern, Workload};

use crate::error::MeasureError;
use crate::on::On;

pub use fill::{fill, fill_job};
pub(crate) use load::Offered;
pub(crate) use reach::samples;
pub(crate) use target::LINK as TARGET;

/// A stretch that was written from end to end: only this can be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    pub(crate) on: Writable,
    pub(crate) span: Bytes,
    /// Which file or device was filled; `None` where nobody else could put another in its place.
    pub(crate) is: Option<String>,
    /// How long filling took.
    pub took: Nanos,
    /// The fio command that filled it.
    pub argv: Vec<String>,
    /// The job that it was given.
    pub job: String,
    /// What fio said, for the record.
    pub output: String,
    /// fio's own version, such as `fio-3.33`.
    pub(crate) version: String,
}

/// A job of fio's, setting by setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    name: String,
    target: String,
    settings: Vec<Setting>,
    /// Sections behind this one: different jobs that run at once with it.
    others: Vec<Job>,
    /// How long it is meant to run, settling included; 0 for a job that ends with its data.
    pub expected: Nanos,
    /// Operations per second that are offered over all jobs, where the rate is fixed.
    pub offered: Option<f64>,
    /// Samples of one pass, where only samples of the span are touched.
    pub samples: Option<u64>,
    /// Settling in a run of its own before this one, where fio cannot settle within one.
    pub settles_before: Option<Nanos>,
}

/// One line of a job file. Its key is a word of this program, and never a text of somebody else's.
#[derive(Debug, Clone, PartialEq)]
struct Setting {
    key: &'static str,
    value: String,
    why: String,
}

impl Setting {
    fn is_of_log(&self) -> bool {
        self.key.contains("_log") || self.key.starts_with("log_")
    }
}

/// Length of one sample of fio's logs. Short enough for twenty in a two-second window, long enough to cost nothing.
const SAMPLE: Nanos = Nanos::millis(100);
/// Samples of a window that is too short for that: what says where it lies beside the counters.
const FEWEST_SAMPLES: u64 = 5;

/// Length of one sample of fio's logs in a window of this length, in whole milliseconds as fio counts them.
pub(crate) fn sample(window: Nanos) -> Nanos {
    let short = Nanos::millis((window.as_millis() / FEWEST_SAMPLES).max(1));
    SAMPLE.min(short)
}

impl Job {
    /// Sets an option, in place of an earlier value.
    pub(crate) fn set(&mut self, key: &'static str, value: impl ToString, why: impl Into<String>) -> &mut Self {
        self.settings.retain(|setting| setting.key != key);
        self.settings.push(Setting { key, value: value.to_string(), why: why.into() });
        self
    }

    /// Options of somebody else's, each looked up in the list of those that are allowed: whatever the workload says it
    /// came from, nothing else gets to fio.
    fn take(&mut self, workload: &Workload) -> Result<(), MeasureError> {
        // Which bytes are touched is said already.
        let said = ["size", "offset", "offset_increment"];
        for FioKey { key, value } in workload.keys.iter().filter(|key| !said.contains(&key.key.as_str())) {
            let refused =
                |source| MeasureError::Option { workload: workload.name.to_string(), key: key.clone(), source };
            self.set(terms::fio::checked(key, value).map_err(refused)?, value, "as the imported job has it");
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.settings.iter().find(|setting| setting.key == key).map(|setting| setting.value.as_str())
    }

    /// Goes on so many bytes behind the end of each block: the number behind the direction (fio(1), `rw`).
    fn leave_holes(&mut self, bytes: u64) {
        for Setting { value, why, .. } in self.settings.iter_mut().filter(|setting| setting.key == "rw" && bytes > 0) {
            *value = format!("{value}:{bytes}");
            *why = format!("{why}; the rest of each stretch is left out");
        }
    }

    /// What fio is called with: it reads its job file from standard input, so that it completes no word and nothing of
    /// it is taken for an option of the command line. Where a job only reads, fio itself refuses to write.
    #[must_use]
    pub fn argv(&self) -> Vec<String> {
        let reads = self.sections().all(Self::reads);
        let words = ["fio", "--output-format=json+,normal"].into_iter().chain(reads.then_some("--readonly"));
        words.chain(["-"]).map(str::to_owned).collect()
    }

    /// May it run on this: does it write there and nowhere else, or nowhere at all?
    pub(crate) fn is_allowed(&self, on: On<'_>) -> bool {
        let file = on.place().file();
        let writes_there = matches!(on, On::Writable(_)) && self.sections().all(|section| section.target == file);
        writes_there || self.sections().all(Self::reads)
    }

    /// Does it do nothing but read?
    fn reads(&self) -> bool {
        matches!(self.get("rw").and_then(|rw| rw.split(':').next()), Some("read" | "randread"))
    }

    /// This job and those that run at once with it, each a section of the job file.
    pub fn sections(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.others)
    }

    /// Says a thing in all sections.
    fn set_all(&mut self, key: &'static str, value: impl ToString, why: &str) {
        self.others.iter_mut().for_each(|other| _ = other.set(key, value.to_string(), why));
        self.set(key, value, why);
    }

    /// The same job behind others in one file: it waits for them.
    #[must_use]
    pub fn after_others(mut self) -> Self {
        self.set("stonewall", "", "begins when the jobs before it have ended");
        self
    }

    /// The same job as a command line, for a person to read. It is never run.
    pub(crate) fn line(&self) -> Vec<String> {
        let options = self.sections().flat_map(Self::options);
        let words = options.map(|(key, value)| format!("--{}", option(key, &value)));
        ["fio".to_owned()].into_iter().chain(words).collect()
    }

    /// Every option of its own section by its name, and its value as fio reads it: empty for options without one.
    pub fn options(&self) -> impl Iterator<Item = (&str, String)> {
        let named = [("name", self.name.clone()), ("filename", target::spelt(&self.target).0)];
        named.into_iter().chain(self.settings.iter().map(|setting| (setting.key, setting.value.clone())))
    }

    /// What the job file names by a link.
    pub(crate) fn link(&self) -> Option<&str> {
        target::spelt(&self.target).1
    }

    /// The log of that kind: throughput (`bw`) or latency (`lat`) over time, of all jobs together.
    pub(crate) fn log(&self, kind: &str) -> String {
        format!("{}_{kind}.log", self.get("write_bw_log").unwrap_or(&self.name))
    }

    /// The same for a server, which runs a command before it begins. The client that collects its logs puts one job's in
    /// the place of another's unless each has a file of its own.
    pub(crate) fn served(mut self) -> Self {
        self.set("exec_prerun", WAIT, "waits for the moment at which all hosts begin");
        self.set("per_job_logs", 1, "a file for each job, as a client collects them");
        self
    }

    /// The run before this one that only settles: the same load, nothing logged.
    pub(crate) fn settling(&self) -> Option<Self> {
        let settle = self.settles_before?;
        let mut run = self.clone();
        run.settings.retain(|setting| !setting.is_of_log());
        run.others.iter_mut().for_each(|other| other.settings.retain(|setting| !setting.is_of_log()));
        run.set_all("runtime", millis(settle), "settling, not counted");
        Some(run)
    }

    /// The job file that fio is given, and that a person can run, with the reason for every setting.
    #[must_use]
    pub fn file(&self) -> String {
        self.sections().map(Self::section).collect::<Vec<_>>().join("\n")
    }

    fn section(&self) -> String {
        // fio takes a section whose name begins so for one that speaks for others.
        let hidden = self.name.starts_with("global");
        let mut text = format!("[{}]\n", if hidden { "job" } else { &self.name });
        let mut say = |why: &str, key: &str, value: &str| text.push_str(&format!("# {why}\n{}\n", option(key, value)));
        if hidden {
            say("fio takes sections of such names for others", "name", &self.name);
        }
        say("one file or device, the same for filling and measuring", "filename", &target::spelt(&self.target).0);
        for Setting { key, value, why } in &self.settings {
            say(why, key, value);
        }
        text
    }
}

/// What a served job runs before it begins, in its workplace.
const WAIT: &str = "sh wait.sh";

/// An option as fio takes it; some have no value.
fn option(key: &str, value: &str) -> String {
    if value.is_empty() { key.to_owned() } else { format!("{key}={value}") }
}

pub(crate) fn base(name: &str, place: &WorkPlace, engine: Engine, seed: u64) -> Job {
    let mut job = Job {
        name: name.to_owned(),
        target: place.file(),
        settings: Vec::new(),
        others: Vec::new(),
        expected: Nanos(0),
        offered: None,
        samples: None,
        settles_before: None,
    };
    job.set("ioengine", engine.fio(), engine_reason(engine))
        .set("direct", 1, "past the page cache, as far as the file system honours it")
        .set("invalidate", 1, "what the page cache still holds of the file is dropped first")
        // fio 3.33 takes one sequence of places whatever the seed (`td_fill_rand_seeds_internal` in its init.c).
        .set("randrepeat", 0, "without it all seeds have one sequence of places")
        .set("randseed", seed, "repeats its sequence of places; another seed has another");
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
///
/// # Errors
/// [`MeasureError::Option`]: the workload carries an option that is not allowed.
pub fn job(workload: &Workload, place: &WorkPlace, policy: &MeasurePolicy, seed: u64) -> Result<Job, MeasureError> {
    job_at(workload, place, policy, None, seed)
}

/// The same at a rate in operations per second over all jobs, where the workload's load is not closed.
///
/// # Errors
/// As [`job`].
pub fn job_at(
    workload: &Workload,
    place: &WorkPlace,
    policy: &MeasurePolicy,
    rate: Option<f64>,
    seed: u64,
) -> Result<Job, MeasureError> {
    let window = workload.window.unwrap_or(policy.window);
    // Threads that submit for others do not learn that the ramp is over, and fio never ends (axboe/fio#2058, fixed
    // after 3.41).
    let offloads = |key: &FioKey| key.key == "io_submit_mode" && key.value == "offload";
    let settles_before = workload.all_keys().any(offloads);
    let one = |kind: &Workload| {
        let mut job = section(kind, place, policy, rate, seed);
        job.expected = Nanos(policy.settle.0 + window.0);
        if settles_before || job.get("io_submit_mode") == Some("offload") {
            job.settles_before = Some(policy.settle);
            job.set("thread", 1, load::THREADS);
        } else {
            job.set("ramp_time", millis(policy.settle), "settling, not counted");
        }
        job.set("runtime", millis(window), "the window that counts")
            .set("percentile_list", "50:99:99.9", "percentiles beside the complete bins")
            .set("write_bw_log", &workload.name, "throughput over time")
            .set("write_lat_log", &workload.name, "latency over time")
            .set("log_avg_msec", sample(window).as_millis(), "averaged, or the log would be the load")
            .set("per_job_logs", 0, "one file, one stretch of lines for each job");
        job.take(kind)?;
        Ok(job)
    };
    let Some((first, others)) = workload.parts.split_first() else { return one(workload) };
    let others = others.iter().map(|part| one(&part.alone())).collect::<Result<_, MeasureError>>()?;
    Ok(Job { others, ..one(&first.alone())? })
}

/// The section of one kind of job, but for when it is counted and what is logged of it.
fn section(workload: &Workload, place: &WorkPlace, policy: &MeasurePolicy, rate: Option<f64>, seed: u64) -> Job {
    let mut job = base(workload.name.as_str(), place, workload.engine, seed);
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
    job
}

/// Stamps the log with the machine's own monotonic clock, so that it lies beside the counters. From fio 3.30 on.
pub(crate) fn align_log(job: &mut Job) {
    job.set_all("log_alternate_epoch", 1, "the log on the clock that the machine's counters are read by");
    job.set_all("log_alternate_epoch_clock_id", CLOCK_MONOTONIC, "that clock: CLOCK_MONOTONIC");
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

    fn place() -> WorkPlace {
        WorkPlace::Directory("/mnt/x".into())
    }

    fn policy() -> MeasurePolicy {
        MeasurePolicy { span: Bytes::mib(64), ..MeasurePolicy::default() }
    }

    fn made(workload: &Workload) -> Job {
        job(workload, &place(), &policy(), 7).unwrap()
    }

    fn line(workload: &Workload) -> String {
        made(workload).line().join(" ")
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
        let job = made(&one);
        let line = job.line().join(" ");
        for part in ["--rate_iops=500,0", "--rate_process=poisson", "--io_submit_mode=offload", "--thread=1"] {
            assert!(line.contains(part), "{part} in {line}");
        }
        assert!(line.ends_with("--norandommap") && job.offered == Some(1000.0), "{line}");
        assert!(!line.contains("ramp_time"), "fio would not end: {line}");
        let settling = job.settling().unwrap().line().join(" ");
        assert!(settling.contains("--runtime=1000ms") && settling.contains("--rate_iops=500,0"), "{settling}");
        assert!(!settling.contains("_log") && !settling.contains("log_"), "a log would be added to: {settling}");
        one.engine = Engine::IoUring;
        assert!(!self::line(&one).contains("offload"));
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
        let job = made(&one);
        assert_eq!(job.samples, Some(64));
        assert!(job.file().contains("no room for 1000") && job.file().contains("rw=read\n"), "{}", job.file());
        let chance = Workload { pattern: Pattern::RandRead, reach: Reach::Samples(10), ..one };
        assert!(self::line(&chance).contains("--zonerange=6291456"));
    }

    /// A reader on the first 32 MiB, two writers behind it.
    fn parts() -> Workload {
        let key = |key: &str, value: u64| FioKey { key: key.into(), value: value.to_string() };
        let part = |name: &str, pattern, jobs, keys: Vec<FioKey>| {
            let one = Workload { keys, ..workload(pattern, jobs) };
            terms::Part { name: Name::new(name).unwrap(), ..terms::Part::of(one) }
        };
        let reader = part("reader", Pattern::RandRead, 1, vec![key("size", 32 << 20)]);
        let writers = part("writers", Pattern::Write, 2, vec![key("offset", 32 << 20), key("size", 16 << 20)]);
        Workload::of_parts(Name::new("both").unwrap(), vec![reader, writers])
    }

    #[test]
    fn parts_are_sections_of_one_file_each_with_its_bytes() {
        let job = made(&parts());
        let text = job.file();
        let (reader, writers) = text.split_once("[writers]").unwrap();
        for line in ["[reader]", "rw=randread", "size=33554432", "runtime=3000ms", "write_bw_log=both"] {
            assert!(reader.contains(&format!("{line}\n")), "{line} in {reader}");
        }
        for line in ["rw=write", "offset=33554432", "size=8388608", "offset_increment=8388608", "numjobs=2"] {
            assert!(writers.contains(&format!("{line}\n")), "{line} in {writers}");
        }
        assert!(!text.contains("group_reporting") && !text.contains("stonewall"), "{text}");
        assert_eq!((job.log("bw").as_str(), job.sections().count()), ("both_bw.log", 2));
        assert!(!job.argv().contains(&"--readonly".to_owned()), "one of them writes");
        assert!(job.after_others().file().contains("\nstonewall\n"));
    }

    #[test]
    fn settings_of_the_log_and_of_settling_are_of_all_parts() {
        let mut job = made(&parts());
        align_log(&mut job);
        assert_eq!(job.file().matches("log_alternate_epoch=1").count(), 2);
        let mut both = parts();
        both.parts[1].keys.push(FioKey { key: "io_submit_mode".into(), value: "offload".into() });
        let job = made(&both);
        assert_eq!(job.file().matches("thread=1").count(), 2);
        let settling = job.settling().unwrap().file();
        assert_eq!(settling.matches("runtime=1000ms").count(), 2);
        assert!(!settling.contains("_log") && !job.file().contains("ramp_time"), "{settling}");
    }

    #[test]
    fn only_new_enough_versions_align_their_log() {
        assert!(aligns("fio-3.33") && aligns("fio-3.30") && aligns("fio-4.0-12-g"));
        assert!(!aligns("fio-3.28") && !aligns(""));
    }

    #[test]
    fn a_job_file_gives_a_reason_for_every_setting() {
        let text = made(&workload(Pattern::RandWrite, 1)).file();
        let settings = text.lines().filter(|line| line.contains('=') && !line.starts_with('#')).count();
        let reasons = text.lines().filter(|line| line.starts_with("# ") && line.len() > 4).count();
        assert_eq!(settings, reasons, "{text}");
        assert!(text.contains("# repeats its sequence of places; another seed has another\nrandseed=7\n"), "{text}");
        assert!(!text.contains("every time"), "the seed repeats it: {text}");
    }

    #[test]
    fn options_of_others_are_held_against_the_list_wherever_they_come_from() {
        let mut one = workload(Pattern::RandRead, 1);
        for (key, value) in [
            ("exec_prerun", "touch /tmp/x"),
            ("exec_prer", "touch /tmp/x"),
            ("ioengine", "/tmp/evil.so"),
            ("filename", "/dev/sda"),
            ("norandommap", "1\nexec_prerun=touch /tmp/x"),
            ("rate\nexec_prerun", "1"),
        ] {
            one.keys = vec![FioKey { key: key.into(), value: value.into() }];
            let error = job(&one, &place(), &policy(), 7).unwrap_err();
            assert!(matches!(&error, MeasureError::Option { key: named, .. } if named == key), "{error}");
        }
    }

    #[test]
    fn what_is_said_again_takes_the_place_of_what_was_said() {
        let mut one = workload(Pattern::RandRead, 1);
        one.keys = vec![FioKey { key: "direct".into(), value: "0".into() }];
        let text = made(&one).file();
        assert!(text.contains("\ndirect=0\n") && !text.contains("direct=1"), "fio sorts the lines of a file: {text}");
    }

    #[test]
    fn a_job_that_only_reads_cannot_write() {
        for (pattern, reads) in [(Pattern::RandRead, true), (Pattern::Write, false), (Pattern::RandMixed(99), false)] {
            assert_eq!(made(&workload(pattern, 1)).argv().contains(&"--readonly".to_owned()), reads, "{pattern:?}");
        }
    }

    #[test]
    fn a_name_that_fio_takes_for_a_global_section_is_said_below_another() {
        let mut one = workload(Pattern::RandRead, 1);
        one.name = Name::new("global-reads").unwrap();
        let text = made(&one).file();
        assert!(text.starts_with("[job]\n") && text.contains("\nname=global-reads\n"), "{text}");
    }
}
