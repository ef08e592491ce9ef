//! What fio says, understood or refused.
//!
//! Only `bw_bytes`, `io_bytes`, `iops`, `runtime` and the nanosecond latencies are used: fio's `bw` is KiB/s whatever
//! people call it. Text before the JSON is common (axboe/fio#731) and passed over.

use serde::Deserialize;
use terms::Workload;
use terms::evidence::JobShare;
use terms::record::{Flow, Latency, PartReading, Reading};
use terms::units::{Bytes, BytesPerSecond, Iops, Nanos};

/// What fio counted, and what it said went wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct FioOutput {
    /// The sum over all jobs.
    pub reading: Reading,
    /// fio's own error, if any job had one.
    pub error: Option<String>,
    /// What every job did: bytes per second and operations per second must agree in each.
    pub jobs: Vec<JobOutputs>,
    /// The sums over jobs of one name, in the order in which names come first: the sections of a job file.
    pub sections: Vec<(String, Reading)>,
    /// The largest share of one core that a job used, user and system.
    pub busiest_job: f64,
    /// Bytes that fio printed for the whole group, reads and writes, each with the worth of its last digit; `None` where
    /// it printed none.
    pub group: [Option<(f64, f64)>; 2],
    /// Where the JSON lies in fio's output; the rest is words.
    pub json: std::ops::Range<usize>,
    /// fio's version.
    pub version: String,
}

/// One job of the output.
#[derive(Debug, Clone, PartialEq)]
pub struct JobOutputs {
    /// Name of its section.
    pub name: String,
    /// What goes into the record.
    pub share: JobShare,
    /// Its two directions, where anything was done.
    pub flows: Vec<Flow>,
    /// Reads, writes and flushes that were counted, each beside how many of them lie in bins of latency; only where fio
    /// gave bins.
    pub binned: Vec<(u64, u64)>,
}

#[derive(Deserialize)]
struct Output {
    #[serde(rename = "fio version", default)]
    version: String,
    jobs: Vec<JobOutput>,
}

#[derive(Deserialize)]
struct JobOutput {
    #[serde(default)]
    jobname: String,
    error: i64,
    read: Direction,
    write: Direction,
    #[serde(default)]
    sync: Sync,
    #[serde(default)]
    usr_cpu: f64,
    #[serde(default)]
    sys_cpu: f64,
}

#[derive(Deserialize, Default)]
struct Sync {
    #[serde(default)]
    lat_ns: Clat,
}

#[derive(Deserialize)]
struct Direction {
    io_bytes: u64,
    bw_bytes: u64,
    iops: f64,
    runtime: u64,
    total_ios: u64,
    clat_ns: Clat,
    #[serde(default)]
    lat_ns: Clat,
}

impl JobOutput {
    /// Its processor time as a share of one core.
    fn cores(&self) -> f64 {
        (self.usr_cpu + self.sys_cpu) / 100.0
    }
}

impl Direction {
    /// Completion latency; the whole latency where the job was asked for its bins, which is where rates are fixed.
    fn latency(&self) -> (u64, &Clat) {
        (self.total_ios, if self.lat_ns.bins.is_empty() { &self.clat_ns } else { &self.lat_ns })
    }
}

#[derive(Deserialize, Default)]
struct Clat {
    #[serde(default)]
    mean: f64,
    #[serde(default)]
    max: u64,
    #[serde(default)]
    percentile: std::collections::BTreeMap<String, u64>,
    #[serde(default)]
    bins: std::collections::BTreeMap<String, u64>,
}

impl Clat {
    /// How many operations were timed.
    fn count(&self) -> u64 {
        self.bins.values().copied().fold(0, u64::saturating_add)
    }
}

/// Understands fio's standard output.
///
/// # Errors
/// What is wrong with it, for a person to read.
pub fn parse(stdout: &[u8]) -> Result<FioOutput, String> {
    let start = stdout.iter().position(|byte| *byte == b'{').ok_or("fio printed no JSON")?;
    let mut documents = serde_json::Deserializer::from_slice(&stdout[start..]).into_iter::<Output>();
    let output = documents
        .next()
        .ok_or_else(|| "fio printed no JSON".to_owned())?
        .map_err(|error| format!("fio's JSON cannot be understood: {error}"))?;
    let json = start..start + documents.byte_offset();
    if output.jobs.is_empty() {
        return Err("fio's JSON speaks of no job".to_owned());
    }
    let error = output.jobs.iter().find(|job| job.error != 0);
    let all: Vec<&JobOutput> = output.jobs.iter().collect();
    Ok(FioOutput {
        reading: reading(&all),
        sections: sections(&output.jobs),
        error: error.map(|job| {
            let code = i32::try_from(job.error).unwrap_or(0);
            format!("fio's job `{}` ended with error {code} ({})", job.jobname, std::io::Error::from_raw_os_error(code))
        }),
        jobs: output.jobs.iter().map(outputs).collect(),
        busiest_job: output.jobs.iter().map(JobOutput::cores).fold(0.0, f64::max),
        group: group(&String::from_utf8_lossy(&stdout[json.end..])),
        json,
        version: output.version,
    })
}

/// The lines of `Run status group`: `READ: bw=…, io=24.1MiB (25.3MB), run=…`.
fn group(text: &str) -> [Option<(f64, f64)>; 2] {
    let bytes = |word: &str| {
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(word))?;
        let said = line.split("io=").nth(1)?.split_whitespace().next()?;
        let digits = said.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, unit) = said.split_at(digits);
        let unit = match unit.trim_end_matches(',') {
            "B" => 1,
            "KiB" => terms::units::KIB,
            "MiB" => terms::units::MIB,
            "GiB" => terms::units::GIB,
            "TiB" => terms::units::TIB,
            _ => return None,
        };
        let places = number.split_once('.').map_or(0, |(_, places)| places.len());
        let digit = 0.1_f64.powi(i32::try_from(places).ok()?);
        Some((number.parse::<f64>().ok()? * Bytes(unit).as_f64(), digit * Bytes(unit).as_f64()))
    };
    [bytes("READ:"), bytes("WRITE:")]
}

/// What jobs did together.
fn reading(jobs: &[&JobOutput]) -> Reading {
    Reading {
        read: flow(jobs.iter().map(|job| &job.read)),
        write: flow(jobs.iter().map(|job| &job.write)),
        sync: sync(jobs),
        fio_cpu_cores: jobs.iter().map(|job| job.cores()).sum(),
    }
}

fn sections(jobs: &[JobOutput]) -> Vec<(String, Reading)> {
    let mut names: Vec<&str> = Vec::new();
    let mut named: std::collections::BTreeMap<&str, Vec<&JobOutput>> = std::collections::BTreeMap::new();
    for job in jobs {
        let section = named.entry(&job.jobname).or_default();
        if section.is_empty() {
            names.push(&job.jobname);
        }
        section.push(job);
    }
    names.into_iter().map(|name| (name.to_owned(), reading(&named[name]))).collect()
}

fn outputs(job: &JobOutput) -> JobOutputs {
    let flows: Vec<Flow> = [&job.read, &job.write].into_iter().filter_map(|one| flow(std::iter::once(one))).collect();
    let share = JobShare {
        bytes: Bytes(flows.iter().map(|flow| flow.bytes.0).sum()),
        operations: flows.iter().map(|flow| flow.operations).sum(),
        cpu_cores: job.cores(),
    };
    let kinds = [job.read.latency(), job.write.latency()].into_iter().filter(|(_, clat)| !clat.bins.is_empty());
    let binned = kinds.map(|(operations, clat)| (operations, clat.count()));
    JobOutputs { name: job.jobname.clone(), share, flows, binned: binned.collect() }
}

/// Latency of flushes over all jobs; `None` where nothing was flushed. Their number is that of their bins: fio's own counts
/// `fsync` and leaves `fdatasync` out.
fn sync(jobs: &[&JobOutput]) -> Option<Latency> {
    let flushes = jobs.iter().map(|job| (job.sync.lat_ns.count(), &job.sync.lat_ns));
    let flushes: Vec<(u64, &Clat)> = flushes.filter(|(count, _)| *count > 0).collect();
    (!flushes.is_empty()).then(|| latency(&flushes))
}

/// The sum of one direction over all jobs; `None` where nothing was done.
///
/// A slow job may end no operation in its window and still count bytes: of what was under way when settling ended.
fn flow<'a>(directions: impl Iterator<Item = &'a Direction>) -> Option<Flow> {
    let active: Vec<&Direction> =
        directions.filter(|direction| direction.total_ios > 0 || direction.io_bytes > 0).collect();
    if active.iter().all(|direction| direction.total_ios == 0) {
        return None;
    }
    let runtime = active.iter().map(|direction| direction.runtime).max()?;
    Some(Flow {
        bytes: Bytes(active.iter().map(|direction| direction.io_bytes).sum()),
        operations: active.iter().map(|direction| direction.total_ios).sum(),
        runtime: Nanos::millis(runtime),
        throughput: BytesPerSecond(active.iter().map(|direction| Bytes(direction.bw_bytes).as_f64()).sum()),
        iops: Iops(active.iter().map(|direction| direction.iops).sum()),
        latency: latency(&active.iter().map(|direction| direction.latency()).collect::<Vec<_>>()),
    })
}

/// What was done in the window: operations times their size. The bytes that fio prints hold one queue more, of what was
/// under way when settling ended, while the operations are those begun in the window, of which as many are under way at
/// its end (`td_io_queue` in fio's ioengines.c counts them as they are queued). Eight of 1 MiB are a twentieth of a window of 160.
pub(crate) fn in_window(mut reading: Reading, block: Bytes) -> Reading {
    for flow in [&mut reading.read, &mut reading.write].into_iter().flatten() {
        flow.bytes = Bytes(flow.operations.saturating_mul(block.0));
        flow.throughput = BytesPerSecond(flow.iops.0 * block.as_f64());
    }
    reading
}

/// The same of a workload; what parts did together is as fio has it, for their blocks differ.
pub(crate) fn of_window(workload: &Workload, reading: Reading) -> Reading {
    if workload.parts.is_empty() { in_window(reading, workload.block) } else { reading }
}

/// The same where jobs did not have one window: all of it, over a time that gives their rate together. Rates of jobs that did
/// not run beside each other do not add up.
pub(crate) fn over(mut reading: Reading, time: Nanos) -> Reading {
    for flow in [&mut reading.read, &mut reading.write].into_iter().flatten() {
        flow.runtime = time;
        flow.iops = Iops(Bytes(flow.operations).as_f64() / time.as_seconds());
        flow.throughput = BytesPerSecond(flow.bytes.as_f64() / time.as_seconds());
    }
    reading
}

/// The same of jobs with blocks of several sizes: what their parts did together.
pub(crate) fn sum_of(mut whole: Reading, parts: &[PartReading]) -> Reading {
    let take = |flow: &mut Option<Flow>, of: fn(&Reading) -> Option<&Flow>| {
        let Some(flow) = flow else { return };
        let flows = || parts.iter().filter_map(|part| of(&part.reading));
        flow.bytes = Bytes(flows().map(|flow| flow.bytes.0).sum());
        flow.throughput = BytesPerSecond(flows().map(|flow| flow.throughput.0).sum());
    };
    take(&mut whole.read, |reading| reading.read.as_ref());
    take(&mut whole.write, |reading| reading.write.as_ref());
    whole
}

/// Fewest operations that must lie beyond a percentile for it to be worth printing.
const TAIL: u64 = 100;

/// Latency over all jobs: each with its operations and what fio says of them.
fn latency(parts: &[(u64, &Clat)]) -> Latency {
    let operations: u64 = parts.iter().map(|(operations, _)| operations).sum();
    let weighted: f64 = parts.iter().map(|(operations, clat)| clat.mean * Bytes(*operations).as_f64()).sum();
    let mut bins = std::collections::BTreeMap::new();
    for (bin, count) in parts.iter().flat_map(|(_, clat)| &clat.bins) {
        if let Ok(nanos) = bin.parse::<u64>() {
            let sum: &mut u64 = bins.entry(nanos).or_insert(0);
            *sum = sum.saturating_add(*count);
        }
    }
    let bins: Vec<(u64, u64)> = bins.into_iter().collect();
    // Bins of all jobs merge exactly; percentiles of jobs do not, and serve only where there are no bins.
    let said = |name: &str| {
        let values = parts.iter().filter_map(|(_, clat)| clat.percentile.get(name));
        values.max().map(|nanos| Nanos(*nanos))
    };
    let percentile = |name: &str, per_mille: u64| {
        if parts.len() > 1 { quantile(&bins, per_mille).or_else(|| said(name)) } else { said(name) }
    };
    Latency {
        mean: rounded(weighted / Bytes(operations.max(1)).as_f64()),
        p50: percentile("50.000000", 500).unwrap_or_default(),
        p99: percentile("99.000000", 990).filter(|_| operations / 100 >= TAIL),
        p999: percentile("99.900000", 999).filter(|_| operations / 1000 >= TAIL),
        max: Nanos(parts.iter().map(|(_, clat)| clat.max).max().unwrap_or(0)),
        bins,
    }
}

/// The bin in which that share of all operations is reached.
fn quantile(bins: &[(u64, u64)], per_mille: u64) -> Option<Nanos> {
    let total = bins.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
    let rank = (total.saturating_mul(per_mille)).div_ceil(1000);
    let mut below = 0;
    bins.iter()
        .find(|(_, count)| {
            below = count.saturating_add(below);
            below >= rank
        })
        .map(|(nanos, _)| Nanos(*nanos))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a mean latency is neither negative nor near 2^64 ns; a cast saturates"
)]
pub(crate) fn rounded(nanos: f64) -> Nanos {
    Nanos(nanos.round() as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn direction(ios: u64, bytes: u64) -> String {
        format!(
            r#"{{"io_bytes":{bytes},"bw_bytes":{},"bw":1,"iops":{},"runtime":2000,"total_ios":{ios},
               "clat_ns":{{"mean":1500.4,"max":9000,"percentile":{{"50.000000":1400,"99.000000":8000,"99.900000":8900}},
               "bins":{{"1400":{ios}}}}}}}"#,
            bytes / 2,
            ios / 2
        )
    }

    fn job(error: i64, ios: u64) -> String {
        format!(
            r#"{{"jobname":"w","error":{error},"read":{},"write":{},"usr_cpu":10.0,"sys_cpu":40.0}}"#,
            direction(ios, ios * 4096),
            direction(0, 0)
        )
    }

    fn output(jobs: &[String]) -> String {
        format!(r#"fio: a note before the JSON {{"fio version":"fio-3.33","jobs":[{}]}}"#, jobs.join(","))
    }

    #[test]
    fn flushes_that_fio_does_not_count_are_read_and_no_operations_are_lost() {
        let flushes = r#""sync":{"total_ios":0,"lat_ns":{"mean":2e6,"max":3000000,"percentile":{"50.000000":1000000},"bins":{"1000000":30,"3000000":10}}},"usr_cpu""#;
        let text = output(&[job(0, 1000).replace(r#""usr_cpu""#, flushes)]);
        let output = parse(text.as_bytes()).unwrap();
        assert_eq!(output.reading.sync.unwrap().p50, Nanos(1_000_000));
        assert_eq!(output.jobs[0].binned, [(1000, 1000), (0, 0)]);
    }

    #[test]
    fn a_good_output_is_understood() {
        let good = parse(output(&[job(0, 20_000)]).as_bytes()).unwrap();
        let read = good.reading.read.as_ref().unwrap();
        assert_eq!((read.operations, read.bytes), (20_000, Bytes(81_920_000)));
        assert_eq!(read.runtime, Nanos::seconds(2));
        assert_eq!((read.latency.p99, read.latency.p999), (Some(Nanos(8000)), None));
        assert!(good.reading.write.is_none() && good.error.is_none());
        assert!((good.reading.fio_cpu_cores - 0.5).abs() < 1e-9 && (good.busiest_job - 0.5).abs() < 1e-9);
    }

    #[test]
    fn all_jobs_are_summed() {
        let two = parse(output(&[job(0, 20_000), job(0, 10_000)]).as_bytes()).unwrap();
        assert_eq!(two.reading.read.unwrap().operations, 30_000);
        assert_eq!(two.jobs.len(), 2);
    }

    #[test]
    fn jobs_of_one_section_are_summed_apart_from_others() {
        let other = job(0, 5_000).replace(r#""jobname":"w""#, r#""jobname":"a""#);
        let all = parse(output(&[job(0, 20_000), other, job(0, 10_000)]).as_bytes()).unwrap();
        let done: Vec<(&str, u64)> =
            all.sections.iter().map(|(name, of)| (name.as_str(), of.read.as_ref().unwrap().operations)).collect();
        assert_eq!(done, [("w", 30_000), ("a", 5_000)]);
        assert_eq!(all.reading.read.unwrap().operations, 35_000);
    }

    #[test]
    fn a_slow_job_counts_with_what_was_under_way() {
        let late = job(0, 0).replacen(&direction(0, 0), &direction(0, 40_960), 1);
        let both = parse(output(&[job(0, 100), late.clone()]).as_bytes()).unwrap();
        assert_eq!(both.reading.read.unwrap().bytes, Bytes(100 * 4096 + 40_960));
        assert!(parse(output(&[late]).as_bytes()).unwrap().reading.read.is_none());
    }

    #[test]
    fn what_was_under_way_when_settling_ended_is_not_counted() {
        let with_a_queue = job(0, 100).replacen("409600", &(108 * 4096).to_string(), 1);
        let read = in_window(parse(output(&[with_a_queue]).as_bytes()).unwrap().reading, Bytes(4096)).read.unwrap();
        assert_eq!((read.operations, read.bytes), (100, Bytes(409_600)));
        assert!((read.throughput.0 - 50.0 * 4096.0).abs() < 1e-6, "{:?}", read.throughput);
    }

    #[test]
    fn what_fio_prints_for_the_group_is_found_behind_the_json() {
        let text = output(&[job(0, 10)])
            + "\nRun status group 0 (all jobs):\n   READ: bw=48.1MiB/s (50.5MB/s), 16.7MiB/s-31.5MiB/s (17.5MB/s-33.0MB/s), io=24.1MiB (25.3MB), run=500-501msec\n";
        let good = parse(text.as_bytes()).unwrap();
        let (bytes, digit) = good.group[0].unwrap();
        assert!((bytes - 24.1 * 1_048_576.0).abs() < 1.0 && (digit - 104_857.6).abs() < 1.0);
        assert!(good.group[1].is_none());
        assert!(text[good.json].ends_with('}'));
    }

    #[test]
    fn percentiles_of_several_jobs_come_from_their_bins() {
        assert_eq!(quantile(&[(10, 50), (20, 49), (30, 1)], 500), Some(Nanos(10)));
        assert_eq!(quantile(&[(10, 50), (20, 49), (30, 1)], 990), Some(Nanos(20)));
        assert_eq!(quantile(&[], 990), None);
    }

    #[test]
    fn a_failed_job_is_told() {
        let failed = parse(output(&[job(84, 10)]).as_bytes()).unwrap();
        assert!(failed.error.unwrap().contains("error 84"));
    }

    #[test]
    fn nonsense_is_refused_with_words() {
        for bad in ["", "no json", "{", r#"{"jobs":[]}"#, r#"{"jobs":[{"error":"x"}]}"#, r#"{"jobs":7}"#] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }
    }
}
