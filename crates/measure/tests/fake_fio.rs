//! A machine on which fio says whatever a test wants, broken things included: none of them may become a number.

#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout, reason = "a test may panic and talk")]

use std::cell::Cell;
use std::io;

use host::{Host, HostError};
use measure::{CellRequest, LongerRule, MeasureError, Measured, Writable, fill, measure};
use terms::evidence::Steadiness;
use terms::record::CellKey;
use terms::workload::PathLoss;
use terms::{Bytes, Cmd, Guard, MeasurePolicy, Name, Nanos, Outcome, Pattern, Workload};

/// fio's answer to a measuring job; filling always works unless told otherwise.
#[derive(Clone)]
struct FakeFio {
    stdout: String,
    status: i32,
    timed_out: bool,
    flooded: Option<Bytes>,
    fill: Option<String>,
    mdstat: &'static str,
    /// The log of throughput over time, where fio wrote one.
    log: Option<String>,
    /// That of latency.
    latencies: Option<String>,
    window: Nanos,
    jobs: u32,
}

impl FakeFio {
    fn saying(stdout: impl Into<String>) -> Self {
        Self {
            stdout: stdout.into(),
            status: 0,
            timed_out: false,
            flooded: None,
            fill: None,
            mdstat: "",
            log: None,
            latencies: None,
            window: Nanos::millis(100),
            jobs: 1,
        }
    }
}

impl Host for FakeFio {
    fn name(&self) -> String {
        "fake".to_owned()
    }

    fn run(&self, cmd: &Cmd) -> Result<Outcome, HostError> {
        let said = |stdout: String, status, timed_out| {
            let (stdout, stderr, took) = (stdout.into_bytes(), Vec::new(), Nanos::seconds(2));
            Ok(Outcome { status, stdout, stderr, took, timed_out, flooded: None })
        };
        if cmd.argv[0] == "mktemp" {
            return said("/tmp/bedplate-fio.x".to_owned(), 0, false);
        }
        if !cmd.argv.iter().any(|word| word == "fio") {
            return said(String::new(), 0, false);
        }
        if cmd.stdin.starts_with(b"[fill]") {
            return said(self.fill.clone().unwrap_or_else(|| output(&job(0, 0, 64 << 20, 64, 1000))), 0, false);
        }
        let outcome = said(self.stdout.clone(), self.status, self.timed_out)?;
        Ok(Outcome { flooded: self.flooded, ..outcome })
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        match path {
            "/proc/mdstat" => Ok(self.mdstat.into()),
            "/proc/diskstats" => Ok(Vec::new()),
            "/proc/stat" => Ok(b"cpu 1 1 1 1 1 1 1 1".to_vec()),
            "/proc/self/stat" => Ok(b"1 (x) S 0 0 0 0 0 0 0 0 0 0 0 0 0".to_vec()),
            path if path.ends_with("_bw.log") && self.log.is_some() => {
                Ok(self.log.clone().unwrap_or_default().into_bytes())
            }
            path if path.ends_with("_lat.log") && self.latencies.is_some() => {
                Ok(self.latencies.clone().unwrap_or_default().into_bytes())
            }
            _ => {
                let source = io::Error::from(io::ErrorKind::NotFound);
                Err(HostError::File { host: self.name(), doing: "read", path: path.to_owned(), source })
            }
        }
    }

    fn write(&self, _: &str, _: &[u8]) -> Result<(), HostError> {
        Ok(())
    }

    fn list(&self, _: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }

    fn resolve(&self, path: &str) -> Result<String, HostError> {
        Ok(path.to_owned())
    }

    fn now(&self) -> Result<Nanos, HostError> {
        Ok(Nanos::seconds(1))
    }
}

fn direction(bytes: u64, ios: u64, runtime_ms: u64) -> String {
    let rate = (bytes * 1000).checked_div(runtime_ms).unwrap_or(0);
    let iops = if runtime_ms == 0 { 0.0 } else { ios as f64 * 1000.0 / runtime_ms as f64 };
    format!(
        r#"{{"io_bytes":{bytes},"bw_bytes":{rate},"iops":{iops},"runtime":{runtime_ms},"total_ios":{ios},"clat_ns":{{"mean":10.0,"max":20}}}}"#
    )
}

fn job(error: i64, read_ios: u64, write_bytes: u64, write_ios: u64, runtime_ms: u64) -> String {
    format!(
        r#"{{"jobname":"w","error":{error},"read":{},"write":{}}}"#,
        direction(read_ios * 4096, read_ios, runtime_ms),
        direction(write_bytes, write_ios, runtime_ms)
    )
}

fn output(job: &str) -> String {
    format!(r#"{{"fio version":"fio-3.33","jobs":[{job}]}}"#)
}

fn policy() -> MeasurePolicy {
    MeasurePolicy { settle: Nanos(0), window: Nanos::millis(100), span: Bytes::mib(64), ..MeasurePolicy::default() }
}

fn run(fio: &FakeFio) -> Result<Measured, MeasureError> {
    run_with(fio, None, None)
}

fn run_losing(fio: &FakeFio, path_lost: Option<PathLoss>) -> Result<Measured, MeasureError> {
    run_with(fio, path_lost, None)
}

fn run_with(
    fio: &FakeFio,
    path_lost: Option<PathLoss>,
    longer: Option<&LongerRule<'_>>,
) -> Result<Measured, MeasureError> {
    let policy = MeasurePolicy { window: fio.window, ..policy() };
    let workload = Workload {
        jobs: fio.jobs,
        path_lost,
        ..Workload::new(Name::new("w").unwrap(), Pattern::RandRead, Bytes(4096))
    };
    let filled = fill(fio, (Writable::directory("/mnt/x".into()), None), policy.span, 1, 1)?;
    let key = CellKey { round: 1, stack: "s".into(), workload: "w".into() };
    let request = CellRequest {
        key,
        workload: &workload,
        policy: &policy,
        filled: &filled,
        nodes: &[],
        rate: None,
        source: None,
        address: None,
        others: &[],
        resyncs: &[],
        longer,
        watch: &|_, _| (),
        drives: &[],
        seed: 1,
        started: String::new(),
    };
    measure(fio, &request)
}

fn good() -> String {
    output(&job(0, 1000, 0, 0, 100))
}

#[test]
fn a_good_fio_gives_a_reading_and_all_raw_files() {
    let measured = run(&FakeFio::saying(good())).unwrap();
    assert_eq!(measured.cell.failure, None);
    assert_eq!(measured.cell.reading.unwrap().read.unwrap().operations, 1000);
    let names: Vec<&str> = measured.raw.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["job.fio", "fio.json", "fio.stderr", "throughput.log", "latency.log"]);
    assert_eq!(measured.cell.jobs.len(), 1);
    assert!(!measured.cell.bottleneck.unwrap().witness.is_empty());
}

#[test]
fn words_before_the_json_do_no_harm() {
    let measured = run(&FakeFio::saying(format!("fio: warning of some kind\n{}", good()))).unwrap();
    assert!(measured.cell.reading.is_some());
    let raw = |wanted: &str| measured.raw.iter().find(|(name, _)| name == wanted).unwrap().1.clone();
    assert_eq!(raw("fio.json"), good().into_bytes(), "the JSON is kept without the words");
    assert!(raw("fio.txt").starts_with(b"fio: warning"));
}

#[test]
fn an_option_said_twice_does_no_harm() {
    // axboe/fio#1571: "job options" may hold a key more than once, which strict readers refuse.
    let twice = good().replace("\"jobname\"", "\"job options\":{\"rw\":\"read\",\"rw\":\"read\"},\"jobname\"");
    let measured = run(&FakeFio::saying(twice)).unwrap();
    assert_eq!(measured.cell.reading.unwrap().read.unwrap().operations, 1000);
}

#[test]
fn jobs_that_fio_does_not_speak_of_void_the_cell() {
    let one = job(0, 1000, 0, 0, 100);
    let all = FakeFio { jobs: 2, ..FakeFio::saying(output(&format!("{one},{one}"))) };
    let cell = run(&all).unwrap().cell;
    assert_eq!((cell.jobs.len(), cell.reading.unwrap().read.unwrap().operations), (2, 2000));
    let lost = FakeFio { jobs: 2, ..FakeFio::saying(output(&one)) };
    assert!(run(&lost).unwrap().cell.failure.unwrap().starts_with("jobs: "));
}

/// As it was seen of sixteen jobs with 32 requests each on a drive that takes 128: four held all of them until their windows
/// were over, and fio's sum over the jobs is twice what the drive did.
#[test]
fn jobs_that_take_turns_have_the_rate_of_all_of_the_time() {
    let one = job(0, 1000, 0, 0, 1000);
    let two = FakeFio { jobs: 2, window: Nanos::seconds(1), ..FakeFio::saying(output(&format!("{one},{one}"))) };
    let lines = |from: u64| -> String { (1..=10).map(|n| format!("{}, 1000, 0, 0, 0\n", from + n * 100)).collect() };
    for (begins, iops, is_told) in [(5000, 2000.0, false), (5150, 2000.0, false), (6000, 1000.0, true)] {
        let fio = FakeFio { latencies: Some(lines(5000) + &lines(begins)), ..two.clone() };
        let cell = run(&fio).unwrap().cell;
        let read = cell.reading.unwrap().read.unwrap();
        assert!((read.iops.0 - iops).abs() < 1.0 && (read.throughput.0 - iops * 4096.0).abs() < 5000.0, "{read:?}");
        assert_eq!(cell.guards.iter().any(|note| note.guard == Guard::Together), is_told, "{begins}");
    }
}

#[test]
fn a_window_that_is_short_for_what_is_under_way_is_made_longer() {
    let slow = |mean: u64| FakeFio::saying(good().replacen("\"mean\":10.0", &format!("\"mean\":{mean}.0"), 1));
    for (mean, is_longer) in [(9_000_000, false), (11_000_000, true)] {
        assert_eq!(run(&slow(mean)).unwrap().cell.extended, is_longer, "{mean} ns in 100 ms");
    }
}

#[test]
fn a_window_is_repeated_until_it_is_known_well_enough() {
    let lines: String = (1..=4).map(|n| format!("{}, 40000, 0, 0, 0\n", n * 100)).collect();
    let saying = FakeFio::saying(output(&job(0, 4000, 0, 0, 400)));
    let fio = FakeFio { window: Nanos::millis(400), log: Some(lines), ..saying };
    for (short, expected) in [
        (0, &["fio.json"][..]),
        (1, &["fio.json", "extended-fio.json"]),
        (2, &["fio.json", "extended-1-fio.json", "extended-fio.json"]),
        (9, &["fio.json", "extended-1-fio.json", "extended-2-fio.json", "extended-fio.json"]),
    ] {
        let windows = Cell::new(0);
        let rule = |rate: f64, _: &Steadiness| {
            assert!((rate - 10_000.0 * 4096.0).abs() < 1.0, "{rate}");
            windows.set(windows.get() + 1);
            if windows.get() > short { 1.0 } else { 2.0 }
        };
        let measured = run_with(&fio, None, Some(&rule)).unwrap();
        let names: Vec<&str> =
            measured.raw.iter().map(|(name, _)| name.as_str()).filter(|name| name.ends_with("fio.json")).collect();
        assert_eq!((names.as_slice(), measured.cell.extended), (expected, short > 0), "too short {short} times");
    }
}

#[test]
fn every_second_job_left_out_of_the_group_is_found() {
    let one = job(0, 1000, 0, 0, 100);
    let group = |io: &str| {
        format!(
            "{}\nRun status group 0 (all jobs):\n   READ: bw=1MiB/s, io={io} (1MB), run=100-100msec\n",
            output(&format!("{one},{one}"))
        )
    };
    // Twice 4,096,000 bytes are 7.81 MiB.
    let right = FakeFio { jobs: 2, ..FakeFio::saying(group("7.81MiB")) };
    assert_eq!(run(&right).unwrap().cell.failure, None);
    for wrong in ["3.91MiB", "8.19MiB", "7.81KiB"] {
        let half = FakeFio { jobs: 2, ..FakeFio::saying(group(wrong)) };
        assert!(run(&half).unwrap().cell.failure.unwrap().starts_with("sum: "), "{wrong}");
    }
}

#[test]
fn a_log_that_is_missing_is_told() {
    let second = output(&job(0, 10_000, 0, 0, 1000));
    let lines: String = (1..=10).map(|n| format!("{}, 40000, 0, 0, 0\n", n * 100)).collect();
    let whole = FakeFio { window: Nanos::seconds(1), log: Some(lines), ..FakeFio::saying(second) };
    let cell = run(&whole).unwrap().cell;
    assert_eq!((cell.failure, cell.samples.len()), (None, 10));
    assert!(cell.steadiness.is_some());
    let lost = FakeFio { log: None, ..whole };
    let cell = run(&lost).unwrap().cell;
    assert!(
        cell.failure.is_none() && cell.guards.iter().any(|guard| guard.guard == Guard::LostLog),
        "{:?}",
        cell.guards
    );
}

#[test]
fn samples_of_another_run_make_no_number() {
    let second = output(&job(0, 10_000, 0, 0, 1000));
    // 10,000 reads of 4 KiB in a second are ten lines of 40,000 KiB/s.
    let lines = |from: u64| -> String { (1..=10).map(|n| format!("{}, 40000, 0, 0, 0\n", from + n * 100)).collect() };
    let own = FakeFio { window: Nanos::seconds(1), log: Some(lines(0)), ..FakeFio::saying(second) };
    assert_eq!(run(&own).unwrap().cell.failure, None);
    for from in [0, 30] {
        let mixed = FakeFio { log: Some(lines(0) + &lines(from)), ..own.clone() };
        let cell = run(&mixed).unwrap().cell;
        assert!(
            cell.reading.is_none() && cell.failure.as_ref().unwrap().starts_with("log-sum: "),
            "{:?}",
            cell.failure
        );
    }
}

#[test]
fn bins_that_hold_more_than_was_done_make_no_number() {
    let with = |count: u64| good().replacen("\"mean\":10.0", &format!("\"mean\":10.0,\"bins\":{{\"10\":{count}}}"), 1);
    assert_eq!(run(&FakeFio::saying(with(1000))).unwrap().cell.failure, None);
    for count in [u64::MAX, 2000, 100] {
        let cell = run(&FakeFio::saying(with(count))).unwrap().cell;
        assert!(cell.reading.is_none() && cell.failure.unwrap().starts_with("bins: "), "{count}");
    }
}

#[test]
fn nothing_broken_becomes_a_number() {
    let broken = |stdout: String, status, timed_out| FakeFio { stdout, status, timed_out, ..FakeFio::saying("") };
    let cases = [
        ("silence", broken(String::new(), 0, false), "no JSON"),
        ("half a document", broken(good()[..60].to_owned(), 0, false), "cannot be understood"),
        ("no jobs", broken(r#"{"jobs":[]}"#.to_owned(), 0, false), "no job"),
        ("an integrity error, as published once", broken(output(&job(84, 900, 0, 0, 30)), 0, false), "error 84"),
        ("a bad exit", broken(good(), 1, false), "status 1"),
        ("a hang", broken(good(), 137, true), "was ended"),
        ("a flood", FakeFio { flooded: Some(Bytes::mib(64)), ..broken(good(), 0, false) }, "printed more than 64 MiB"),
        ("a window cut short", broken(output(&job(0, 1000, 0, 0, 40)), 0, false), "short"),
        ("nothing read", broken(output(&job(0, 0, 0, 0, 100)), 0, false), "nothing-done"),
        ("half of the jobs lost", broken(good().replace("\"iops\":10000", "\"iops\":5000"), 0, false), "identity"),
        (
            "MB for MiB in one job of the sum",
            broken(good().replace("\"bw_bytes\":40960000", "\"bw_bytes\":39062500"), 0, false),
            "identity",
        ),
        (
            "KiB taken for bytes",
            broken(good().replace("\"bw_bytes\":40960000", "\"bw_bytes\":40000"), 0, false),
            "identity",
        ),
    ];
    for (what, fio, why) in cases {
        let cell = run(&fio).unwrap().cell;
        let failure = cell.failure.unwrap_or_else(|| panic!("{what} became a number"));
        assert!(failure.contains(why), "{what}: {failure}");
        assert!(cell.reading.is_none(), "{what}");
    }
}

#[test]
fn an_array_that_resyncs_voids_the_window() {
    let fio = FakeFio { mdstat: "md0 : active raid1\n  [=>..] resync = 9.5% (1/2)", ..FakeFio::saying(good()) };
    let cell = run(&fio).unwrap().cell;
    assert!(cell.reading.is_none() && cell.failure.unwrap().contains("resync"));
}

#[test]
fn waiting_for_rest_has_an_end_and_says_what_is_still_busy() {
    let rest = FakeFio::saying("");
    assert!(measure::idle(&rest, &[], Nanos(0)).unwrap().is_empty());
    let busy = FakeFio { mdstat: "md0 : active raid1\n  [=>..] recovery = 9.5% (1/2)", ..rest };
    assert!(measure::idle(&busy, &[], Nanos(0)).unwrap()[0].contains("recovery"));
}

#[test]
fn what_was_not_filled_whole_cannot_be_measured() {
    for fill in [output(&job(0, 0, 1 << 20, 1, 10)), output(&job(28, 0, 64 << 20, 64, 1000)), "no space".to_owned()] {
        let fio = FakeFio { fill: Some(fill.clone()), ..FakeFio::saying(good()) };
        assert!(matches!(run(&fio), Err(MeasureError::Fill { .. })), "{fill}");
    }
}

#[test]
fn a_path_that_cannot_be_lost_makes_no_number() {
    // This machine cannot take a path away, and fio may be over before it was to be lost.
    let loss = |at| Some(PathLoss { at: Nanos::millis(at), back: Nanos::seconds(60) });
    for at in [0, 30_000] {
        let cell = run_losing(&FakeFio::saying(good()), loss(at)).unwrap().cell;
        assert!(cell.reading.is_none() && cell.path_lost.is_none());
        let why = cell.failure.unwrap();
        let expected = if at == 0 { "cannot take a network path away" } else { "fio ended before" };
        assert!(why.contains(expected), "{why}");
    }
}
