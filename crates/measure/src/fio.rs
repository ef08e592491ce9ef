//! What fio says, understood or refused.
//!
//! Only `bw_bytes`, `io_bytes`, `iops`, `runtime` and the nanosecond latencies are used: fio's `bw` is KiB/s whatever
//! people call it. Text before the JSON is common (axboe/fio#731) and passed over.

use serde::Deserialize;
use terms::record::{Flow, Latency, Reading};
use terms::units::{Bytes, BytesPerSecond, Iops, Nanos};

/// What fio counted, and what it said went wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct FioOutput {
    /// The sum over all jobs.
    pub reading: Reading,
    /// fio's own error, if any job had one.
    pub error: Option<String>,
    /// Jobs that the output speaks of.
    pub jobs: usize,
    /// The largest share of one core that a job used, user and system.
    pub busiest_job: f64,
    /// fio's version.
    pub version: String,
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
    usr_cpu: f64,
    #[serde(default)]
    sys_cpu: f64,
    #[serde(default, rename = "job options")]
    options: Options,
}

#[derive(Deserialize, Default)]
struct Options {
    numjobs: Option<String>,
}

#[derive(Deserialize)]
struct Direction {
    io_bytes: u64,
    bw_bytes: u64,
    iops: f64,
    runtime: u64,
    total_ios: u64,
    clat_ns: Clat,
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
    if output.jobs.is_empty() {
        return Err("fio's JSON speaks of no job".to_owned());
    }
    let error = output.jobs.iter().find(|job| job.error != 0);
    let cores = |job: &JobOutput| (job.usr_cpu + job.sys_cpu) / 100.0;
    let count = |job: &JobOutput| job.options.numjobs.as_ref().and_then(|n| n.parse().ok()).unwrap_or(1.0);
    Ok(FioOutput {
        reading: Reading {
            read: flow(output.jobs.iter().map(|job| &job.read)),
            write: flow(output.jobs.iter().map(|job| &job.write)),
            sync: None,
            fio_cpu_cores: output.jobs.iter().map(|job| cores(job) * count(job)).sum(),
        },
        error: error.map(|job| {
            let code = i32::try_from(job.error).unwrap_or(0);
            format!("fio's job `{}` ended with error {code} ({})", job.jobname, std::io::Error::from_raw_os_error(code))
        }),
        jobs: output.jobs.len(),
        busiest_job: output.jobs.iter().map(cores).fold(0.0, f64::max),
        version: output.version,
    })
}

/// The sum of one direction over all jobs; `None` where nothing was done.
fn flow<'a>(directions: impl Iterator<Item = &'a Direction>) -> Option<Flow> {
    let active: Vec<&Direction> = directions.filter(|direction| direction.total_ios > 0).collect();
    let runtime = active.iter().map(|direction| direction.runtime).max()?;
    Some(Flow {
        bytes: Bytes(active.iter().map(|direction| direction.io_bytes).sum()),
        operations: active.iter().map(|direction| direction.total_ios).sum(),
        runtime: Nanos::millis(runtime),
        throughput: BytesPerSecond(active.iter().map(|direction| Bytes(direction.bw_bytes).as_f64()).sum()),
        iops: Iops(active.iter().map(|direction| direction.iops).sum()),
        latency: latency(&active),
    })
}

/// Fewest operations that must lie beyond a percentile for it to be worth printing.
const TAIL: u64 = 100;

fn latency(directions: &[&Direction]) -> Latency {
    let operations: u64 = directions.iter().map(|direction| direction.total_ios).sum();
    let weighted: f64 = directions.iter().map(|d| d.clat_ns.mean * Bytes(d.total_ios).as_f64()).sum();
    let mut bins = std::collections::BTreeMap::new();
    for (bin, count) in directions.iter().flat_map(|direction| &direction.clat_ns.bins) {
        if let Ok(nanos) = bin.parse::<u64>() {
            *bins.entry(nanos).or_insert(0) += count;
        }
    }
    // With group reporting there is one job, and fio's own percentiles are those of the whole.
    let percentile = |name: &str| {
        let values = directions.iter().filter_map(|direction| direction.clat_ns.percentile.get(name));
        values.max().map(|nanos| Nanos(*nanos))
    };
    Latency {
        mean: rounded(weighted / Bytes(operations.max(1)).as_f64()),
        p50: percentile("50.000000").unwrap_or_default(),
        p99: percentile("99.000000").filter(|_| operations / 100 >= TAIL),
        p999: percentile("99.900000").filter(|_| operations / 1000 >= TAIL),
        max: Nanos(directions.iter().map(|direction| direction.clat_ns.max).max().unwrap_or(0)),
        bins: bins.into_iter().collect(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a mean latency is neither negative nor near 2^64 ns; a cast saturates"
)]
fn rounded(nanos: f64) -> Nanos {
    Nanos(nanos.round() as u64)
}

/// Throughput over time from fio's log: `time ms, KiB/s, direction, …`, one line for each job, direction and span.
pub(crate) fn samples(log: &str) -> Vec<terms::record::Sample> {
    let mut spans: std::collections::BTreeMap<u64, f64> = std::collections::BTreeMap::new();
    for line in log.lines() {
        let mut fields = line.split(',').map(str::trim);
        if let (Some(Ok(at)), Some(Ok(kib))) =
            (fields.next().map(str::parse::<u64>), fields.next().map(str::parse::<f64>))
        {
            // Jobs tick a few milliseconds apart: gather them on the grid of the log.
            *spans.entry((at + 125) / 250 * 250).or_default() += kib * 1024.0;
        }
    }
    let sample = |(at, rate)| terms::record::Sample { at: Nanos::millis(at), throughput: BytesPerSecond(rate) };
    spans.into_iter().map(sample).collect()
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
            r#"{{"jobname":"w","error":{error},"read":{},"write":{},"usr_cpu":10.0,"sys_cpu":40.0,"job options":{{"numjobs":"2"}}}}"#,
            direction(ios, ios * 4096),
            direction(0, 0)
        )
    }

    fn output(jobs: &[String]) -> String {
        format!(r#"fio: a note before the JSON {{"fio version":"fio-3.33","jobs":[{}]}}"#, jobs.join(","))
    }

    #[test]
    fn a_good_output_is_understood() {
        let good = parse(output(&[job(0, 20_000)]).as_bytes()).unwrap();
        let read = good.reading.read.as_ref().unwrap();
        assert_eq!((read.operations, read.bytes), (20_000, Bytes(81_920_000)));
        assert_eq!(read.runtime, Nanos::seconds(2));
        assert_eq!((read.latency.p99, read.latency.p999), (Some(Nanos(8000)), None));
        assert!(good.reading.write.is_none() && good.error.is_none());
        assert!((good.reading.fio_cpu_cores - 1.0).abs() < 1e-9 && (good.busiest_job - 0.5).abs() < 1e-9);
    }

    #[test]
    fn all_jobs_are_summed() {
        let two = parse(output(&[job(0, 20_000), job(0, 10_000)]).as_bytes()).unwrap();
        assert_eq!(two.reading.read.unwrap().operations, 30_000);
        assert_eq!(two.jobs, 2);
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

    #[test]
    fn a_log_of_two_jobs_is_added_up() {
        let log = "250, 1000, 0, 4096, 0\n251, 500, 0, 4096, 0\n500, 700, 1, 4096, 0\nbroken\n";
        let samples = samples(log);
        assert_eq!(samples.len(), 2);
        assert!((samples[0].throughput.0 - 1500.0 * 1024.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
            let _ = samples(&String::from_utf8_lossy(&bytes));
        }
    }
}
