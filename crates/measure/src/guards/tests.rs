//! Every guard on evidence that provokes it, beside a window in which nothing is wrong.

use terms::evidence::{Cliff, DriveCondition, JobShare};
use terms::layer::{Btrfs, BtrfsProfile, Layer, Zfs, ZfsCompression};
use terms::record::{Flow, Latency, Reading};
use terms::{BytesPerSecond, Guard, Iops, Name, Pattern};

use super::window::side_by_side;
use super::*;
use crate::fio::JobOutputs;
use crate::log::Beside;

/// Bytes per second of the clean window: 1000 operations of 4 KiB.
const RATE: f64 = 4_096_000.0;
const STEP: Nanos = Nanos::millis(100);

/// What a test may spoil.
struct Case {
    workload: Workload,
    nodes: Vec<LayerNode>,
    output: FioOutput,
    log: Log,
    members: Vec<MemberDelta>,
    cpu: CpuDelta,
    application: [f64; 2],
    bounds: Bounds,
    busy: Vec<Busy>,
    dirtied: Option<Bytes>,
    conditions: CellConditions,
    governor_change: Option<String>,
    steadiness: Option<Steadiness>,
    worked: Option<Nanos>,
    offered: Option<Offered>,
}

fn flow(seconds: u64) -> Flow {
    let runtime = Nanos::seconds(seconds);
    Flow {
        bytes: Bytes(4_096_000 * seconds),
        operations: 1000 * seconds,
        runtime,
        throughput: BytesPerSecond(RATE),
        iops: Iops(RATE / 4096.0),
        latency: Latency::default(),
    }
}

fn job(flow: &Flow) -> JobOutputs {
    let share = JobShare { bytes: flow.bytes, operations: flow.operations, cpu_cores: 0.5 };
    let binned = vec![(flow.operations, flow.operations)];
    JobOutputs { name: "w".into(), share, flows: vec![flow.clone()], binned }
}

/// Four seconds of reads, or of writes, that every counter agrees with.
fn clean(pattern: Pattern) -> Case {
    let all = flow(4);
    let (read, write) = if pattern.reads() { (Some(all.clone()), None) } else { (None, Some(all.clone())) };
    let index = usize::from(!pattern.reads());
    let mut rate = [0.0; 2];
    rate[index] = RATE;
    let moved = Bytes(3 * 4_096_000);
    let member = MemberDelta { drive: "a".into(), ..MemberDelta::default() };
    let member =
        if index == 0 { MemberDelta { read: moved, ..member } } else { MemberDelta { written: moved, ..member } };
    Case {
        workload: Workload::new(Name::new("w").unwrap(), pattern, Bytes(4096)),
        nodes: Vec::new(),
        output: FioOutput {
            reading: Reading { read, write, fio_cpu_cores: 0.5, ..Reading::default() },
            error: None,
            sections: Vec::new(),
            jobs: vec![job(&all)],
            busiest_job: 0.5,
            group: [None; 2],
            json: 0..0,
            version: String::new(),
        },
        log: Log {
            begun: Nanos::seconds(10),
            start: Nanos::seconds(10),
            step: STEP,
            rates: vec![rate; 39],
            total: RATE * 3.9,
            lines: 39,
        },
        members: vec![member],
        cpu: CpuDelta { wall: Nanos::seconds(3), ..CpuDelta::default() },
        application: rate,
        bounds: Bounds::SAME,
        busy: Vec::new(),
        dirtied: Some(Bytes(0)),
        conditions: CellConditions::default(),
        governor_change: None,
        steadiness: None,
        worked: Some(Nanos::millis(4200)),
        offered: Some(Offered { rate: 1000.0, done: 960.0, window: Nanos::seconds(4) }),
    }
}

fn fire(case: &Case) -> Vec<GuardNote> {
    check(&Evidence {
        workload: &case.workload,
        nodes: &case.nodes,
        window: Nanos::seconds(4),
        output: &case.output,
        log: &case.log,
        aligned: true,
        worked: case.worked,
        offered: case.offered,
        lifetime: (Nanos::seconds(9), Nanos::seconds(15)),
        members: &case.members,
        cpu: Some(&case.cpu),
        application: case.application,
        bounds: case.bounds,
        busy: &case.busy,
        dirtied: case.dirtied,
        kernel: "Linux version 6.15.0",
        conditions: &case.conditions,
        governor_change: case.governor_change.as_deref(),
        steadiness: case.steadiness.as_ref(),
    })
}

fn drive(change: impl FnOnce(&mut DriveCondition)) -> CellConditions {
    let mut drive = DriveCondition { drive: "a".into(), ..DriveCondition::default() };
    change(&mut drive);
    CellConditions { drives: vec![drive], ..CellConditions::default() }
}

fn compressing() -> LayerNode {
    let zfs = Zfs { compression: ZfsCompression::Lz4, ..Zfs::default() };
    LayerNode { name: Name::new("z").unwrap(), layer: Layer::Zfs(zfs), on: Vec::new(), special: Vec::new() }
}

fn fell() -> Steadiness {
    let cliff = Cliff { at: Nanos::seconds(1), moved: Bytes::mib(4), before: RATE, after: RATE / 4.0 };
    Steadiness { state: terms::evidence::State::Cliff, cliff: Some(cliff), ..steady::judge(&[1.0], STEP) }
}

type Spoil = fn(&mut Case);

/// Guard, does it void, what goes wrong.
const READS: [(Guard, bool, Spoil); 35] = [
    (Guard::Jobs, true, |case| case.workload.jobs = 2),
    (Guard::Identity, true, |case| case.output.reading.read.as_mut().unwrap().iops.0 *= 2.0),
    (Guard::Identity, true, |case| case.output.jobs[0].flows[0].throughput.0 *= 1000.0 / 1024.0),
    (Guard::Sum, true, |case| case.output.group[0] = Some((RATE * 8.0, RATE * 0.01))),
    (Guard::NothingDone, true, |case| {
        case.output.reading.read = None;
        case.log = Log { step: STEP, ..Log::default() };
    }),
    (Guard::Short, true, |case| case.output.jobs[0].flows[0].runtime = Nanos::seconds(2)),
    (Guard::Queue, false, |case| case.output.reading.read.as_mut().unwrap().latency.mean = Nanos::seconds(1)),
    (Guard::RateNotReached, false, |case| case.offered.as_mut().unwrap().done = 900.0),
    (Guard::Together, false, |case| {
        (case.worked, case.workload.jobs) = (Some(Nanos::seconds(8)), 2);
        case.output.jobs = vec![case.output.jobs[0].clone(); 2];
    }),
    (Guard::LostLog, false, |case| case.log = Log { step: STEP, ..Log::default() }),
    (Guard::Resync, true, |case| case.busy = vec![Busy { guard: Guard::Resync, witness: "md0: resync = 4 %".into() }]),
    (Guard::Degraded, true, |case| case.busy = vec![Busy { guard: Guard::Degraded, witness: "[U_]".into() }]),
    (Guard::InStep, true, |case| case.busy = vec![Busy { guard: Guard::InStep, witness: "over".into() }]),
    (Guard::LvmSync, true, |case| case.busy = vec![Busy { guard: Guard::LvmSync, witness: "1/2".into() }]),
    (Guard::IntegrityRecalc, true, |case| {
        case.busy = vec![Busy { guard: Guard::IntegrityRecalc, witness: "1".into() }]
    }),
    (Guard::LazyInit, true, |case| case.busy = vec![Busy { guard: Guard::LazyInit, witness: "ext4lazyinit".into() }]),
    (Guard::Scrub, true, |case| case.busy = vec![Busy { guard: Guard::Scrub, witness: "in progress".into() }]),
    (Guard::Impossible, true, |case| case.conditions = drive(|drive| drive.link_bytes_per_second = Some(1_000_000))),
    (Guard::Thermal, true, |case| case.conditions = drive(|drive| drive.throttled = Some(1))),
    (Guard::ForeignIo, true, |case| case.members[0].written = Bytes(30_000_000)),
    (Guard::ForeignIo, true, |case| case.members[0].read = Bytes(40_000_000)),
    (Guard::Unwritten, true, |case| case.members[0].read = Bytes(0)),
    (Guard::Cache, false, |case| case.members[0].read = Bytes(3 * 3_900_000)),
    (Guard::Bins, true, |case| case.output.jobs[0].binned[0].1 = u64::MAX),
    (Guard::Bins, true, |case| case.output.jobs[0].binned[0].1 /= 2),
    (Guard::LogSum, true, |case| case.log.total *= 1.2),
    // Another run's lines among its own, at the same time: every rate is twice what it was.
    (Guard::LogSum, true, |case| {
        case.log.rates.iter_mut().for_each(|rate| rate[0] *= 2.0);
        case.log.total *= 2.0;
    }),
    (Guard::Log, false, |case| case.log.total *= 0.8),
    (Guard::LogClock, false, |case| case.log.start = Nanos::seconds(100)),
    (Guard::Clock, true, |case| case.governor_change = Some("governor performance became powersave".into())),
    (Guard::Clock, false, |case| case.conditions.governors = vec!["powersave".into()]),
    (Guard::Clock, true, |case| {
        case.conditions.governors = vec!["performance".into()];
        (case.conditions.mhz_before, case.conditions.mhz_after) = (Some(4000), Some(3000));
    }),
    (Guard::Link, false, |case| case.conditions = drive(|drive| drive.degraded_links = vec!["x2".into()])),
    (Guard::Numa, false, |case| case.conditions.numa_nodes = vec![0, 1]),
    (Guard::Generator, false, |case| case.output.busiest_job = 0.99),
];

const WRITES: [(Guard, bool, Spoil); 4] = [
    (Guard::WriteCache, false, |case| case.members[0].written = Bytes(3 * 3_000_000)),
    (Guard::DirectNotHonoured, false, |case| case.dirtied = Some(Bytes(3 * 4_000_000))),
    (Guard::SlcCliff, false, |case| case.steadiness = Some(fell())),
    (Guard::Compression, false, |case| {
        case.nodes = vec![compressing()];
        case.members[0].written = Bytes(3 * 3_000_000);
    }),
];

#[test]
fn a_clean_window_fires_nothing() {
    for pattern in [Pattern::RandRead, Pattern::RandWrite] {
        assert_eq!(fire(&clean(pattern)), [], "{pattern:?}");
    }
}

#[test]
fn windows_that_overlap_have_a_rate_and_those_in_turn_have_none() {
    let job = |from: u64| (from + 1..=from + 9).map(|tick| format!("{}, 10, 0, 0\n", tick * 100)).collect::<String>();
    let log = |second: u64| Log::read(&(job(0) + &job(second)), STEP, &Beside::default());
    let rate = |second: u64| side_by_side(&log(second), Nanos::millis(900)).map(|rate| format!("{rate:.0}"));
    assert_eq!([0, 2, 4].map(|second| rate(second).unwrap()), ["20480"; 3]);
    assert_eq!([6, 12].map(rate), [const { None }; 2]);
}

/// Two jobs with windows of their own, whose log says 5 % more than their count.
#[test]
fn the_rate_is_that_of_the_log_where_a_queue_is_much_of_the_window() {
    let time = |spoil: fn(&mut Case)| {
        let mut case = clean(Pattern::RandRead);
        case.output.jobs.push(case.output.jobs[0].clone());
        case.log.rates.iter_mut().for_each(|rates| rates[0] *= 1.05);
        case.output.reading.read.as_mut().unwrap().latency.mean = Nanos::millis(50);
        spoil(&mut case);
        let Case { workload, worked, output, log, .. } = case;
        joint(&workload, worked.unwrap(), &output, &log, Nanos::seconds(4)).map(Nanos::as_millis)
    };
    assert_eq!(time(|_| ()), Some(3809), "4 s / 1.05");
    assert_eq!(time(|case| case.output.reading.read.as_mut().unwrap().latency.mean = Nanos::millis(30)), None, "few");
    assert_eq!(time(|case| drop(case.output.jobs.pop())), Some(3809), "one job waits for its queue too");
    fn late(case: &mut Case, latency: u64, millis: u64) {
        case.output.reading.read.as_mut().unwrap().latency.mean = Nanos::millis(latency);
        case.output.jobs[0].flows[0].runtime = Nanos::millis(millis);
    }
    assert_eq!(time(|case| late(case, 30, 4008)), None, "over 8 ms after it should");
    assert_eq!(time(|case| late(case, 30, 4040)), Some(3809), "40 ms for one that was late");
    assert_eq!(time(|case| case.log.rates.truncate(15)), None, "no common time");
    assert_eq!(time(|case| case.worked = Some(Nanos::seconds(5))), Some(3809), "windows apart");
}

#[test]
fn each_guard_fires_on_its_witness() {
    let reads = READS.iter().map(|case| (Pattern::RandRead, case));
    for (pattern, (guard, voids, spoil)) in reads.chain(WRITES.iter().map(|case| (Pattern::RandWrite, case))) {
        let mut case = clean(pattern);
        spoil(&mut case);
        let fired = fire(&case);
        let note = fired.iter().find(|note| note.guard == *guard);
        let note = note.unwrap_or_else(|| panic!("{guard} did not fire, only {fired:?}"));
        assert_eq!(note.voids, *voids, "{guard}");
        assert!(!note.witness.is_empty(), "{guard}");
        let reason = fired.iter().find(|note| note.voids).map(|note| note.guard.clone());
        assert_eq!(reason, voids.then_some(guard.clone()), "{fired:?}");
    }
}

/// A row of the table without a planted case, or a name without a row, is a guard that nobody has seen fire.
#[test]
fn every_guard_has_a_row_and_every_row_a_planted_case() {
    let planted: Vec<_> = READS.iter().chain(&WRITES).map(|(guard, voids, _)| (guard, *voids)).collect();
    for row in table::rows().filter(|row| !matches!(row.look, Look::Elsewhere)) {
        assert!(planted.contains(&(&row.guard, row.voids)), "{}: no planted case", row.guard);
    }
    for guard in Guard::ALL {
        assert!(table::rows().any(|row| row.guard == *guard), "{guard}: not in the table");
    }
}

/// The page is the tables between text written by hand. `BLESS=1` writes them anew.
#[test]
fn the_page_is_up_to_date() {
    const BEGIN: &str = "<!-- guards: begin -->\n";
    const END: &str = "<!-- guards: end -->";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guards.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let fresh = format!("{before}{BEGIN}\n{}{END}{after}", table::reference());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, fresh).unwrap();
    } else {
        assert!(page == fresh, "docs/guards.md is out of date: run with BLESS=1");
    }
}

/// 512 requests before a drive that does 400 in a second.
#[test]
fn a_window_has_to_hold_its_queue_several_times_where_it_is_a_queue() {
    let mut case = clean(Pattern::RandRead);
    let is_told = |case: &Case| fire(case).iter().any(|note| note.guard == Guard::Queue);
    case.output.reading.read.as_mut().unwrap().latency.mean = Nanos::millis(300);
    assert!(!is_told(&case), "four seconds");
    case.output.reading.read.as_mut().unwrap().latency.mean = Nanos::millis(1280);
    assert!(is_told(&case));
    case.workload.load = terms::workload::Load::Share { of: Name::new("w").unwrap(), percent: 120 };
    assert!(!is_told(&case), "arrivals that do not wait");
}

/// Many jobs on a slow drive: each line says 10 KiB/s of 10.9.
#[test]
fn a_slow_log_may_lack_what_fio_rounds_away_and_no_more() {
    let mut case = clean(Pattern::RandRead);
    case.workload.jobs = 16;
    let rate = 16.0 * 10.0 * 1024.0;
    case.output.reading.read.as_mut().unwrap().bytes = Bytes(16 * 4 * 10_900 * 1024 / 1000);
    case.log = Log { rates: vec![[rate, 0.0]; 39], total: rate * 3.9, lines: 16 * 39, ..case.log };
    let is_told = |case: &Case| fire(case).iter().any(|note| note.guard == Guard::Log);
    assert!(!is_told(&case));
    case.log.total *= 0.8;
    assert!(is_told(&case));
}

/// Sixteen jobs that end an operation every 300 ms or so: two of three lines are not there, and nothing is lost.
#[test]
fn a_job_without_an_operation_has_no_line_and_loses_none() {
    let mut case = clean(Pattern::RandRead);
    case.workload.jobs = 16;
    case.log.lines = 16 * 39 / 3;
    let is_told = |case: &Case| fire(case).iter().any(|note| note.guard == Guard::LostLog);
    assert!(!is_told(&case));
    // Two thirds of what was done have no line: the rest of the window, or the jobs at the end of the file.
    let whole = case.log.clone();
    case.log.rates.truncate(13);
    case.log.total /= 3.0;
    assert!(is_told(&case), "a stretch of time");
    case.log = whole;
    case.log.rates.iter_mut().for_each(|rate| rate[0] /= 3.0);
    case.log.total /= 3.0;
    assert!(is_told(&case), "most of the jobs");
}

#[test]
fn coarse_readings_fire_only_on_coarse_evidence() {
    // Half a second between the readings, and a tenth of the bytes on the wrong side of one of them.
    let mut case = clean(Pattern::RandRead);
    case.cpu.wall = Nanos::millis(500);
    case.members[0].read = Bytes(2_048_000 * 8 / 10);
    assert_eq!(fire(&case), []);
    case.members[0].read = Bytes(2_048_000 * 13 / 10);
    assert_eq!(fire(&case), []);
}

#[test]
fn what_layers_explain_is_not_foreign() {
    let mut case = clean(Pattern::RandWrite);
    case.members[0].written = Bytes(6 * 4_096_000);
    case.bounds.write = (2.0, 2.0);
    assert_eq!(fire(&case), []);
}

/// As it was seen in a guest (btrfs RAID-1 on dm-crypt, 1 MiB at depth 8, right after random writes): 1372 nodes of 16 KiB
/// on each drive beside 24 MiB of the application's, for every operation frees extents all over the tree.
#[test]
fn trees_that_btrfs_writes_again_are_its_own() {
    let profile = BtrfsProfile::Raid1;
    let btrfs = |copy_on_write| {
        let layer = Layer::Btrfs(Btrfs { data: profile, metadata: profile, copy_on_write, ..Btrfs::default() });
        let drive = |name: &str| terms::Ref::Drive(Name::new(name).unwrap());
        LayerNode { name: Name::new("f").unwrap(), layer, on: ["a", "b"].map(drive).to_vec(), special: Vec::new() }
    };
    let fires = |node: LayerNode, written: u64| {
        let mut case = clean(Pattern::Write);
        let work = crate::amplification::Work { block: Bytes::mib(1), fsync_every: None };
        case.bounds = crate::amplification::bounds(std::slice::from_ref(&node), work);
        (case.workload.block, case.nodes) = (Bytes::mib(1), vec![node]);
        let both = Bytes(3 * 4_096_000 * written);
        case.members = vec![MemberDelta { drive: "a".into(), written: both, ..MemberDelta::default() }];
        fire(&case).iter().any(|note| note.guard == Guard::ForeignIo)
    };
    // Twice the data, and nearly as much again of trees.
    assert!(!fires(btrfs(true), 4), "3.8 bytes were seen for each");
    assert!(fires(btrfs(true), 30), "somebody else writes");
    // What is overwritten in place frees nothing.
    assert!(!fires(btrfs(false), 2));
    assert!(fires(btrfs(false), 6), "somebody else writes");
}

#[test]
fn on_what_others_built_no_bytes_are_foreign() {
    let mut case = clean(Pattern::RandWrite);
    case.members[0].written = Bytes(60 * 4_096_000);
    assert_eq!(fire(&case)[0].guard, Guard::ForeignIo);
    case.bounds = crate::amplification::UNKNOWN;
    assert_eq!(fire(&case), []);
}

#[test]
fn only_what_passes_is_worth_a_second_attempt() {
    let note = |guard, voids| GuardNote { guard, witness: String::new(), voids };
    let key = terms::record::CellKey { round: 1, stack: "s".into(), workload: "w".into() };
    let cell = |guards: &[GuardNote]| Cell {
        guards: guards.to_vec(),
        ..Cell::begun(key.clone(), String::new(), Vec::new(), 1)
    };
    for (guards, expect) in [
        (vec![], false),
        (vec![note(Guard::Resync, true)], true),
        (vec![note(Guard::ForeignIo, true), note(Guard::Cache, false)], true),
        (vec![note(Guard::Resync, true), note(Guard::Identity, true)], false),
        (vec![note(Guard::Clock, false)], false),
    ] {
        assert_eq!(may_pass(&cell(&guards)), expect, "{guards:?}");
    }
}

#[test]
fn what_was_under_way_when_settling_ended_is_in_no_bin() {
    let mut case = clean(Pattern::RandRead);
    case.workload.depth = 32;
    case.output.jobs[0].binned[0].1 -= 31;
    assert_eq!(fire(&case), []);
}

/// Two parts, each with one job that did what the clean window has: readers of 4 KiB, and writers of 8 KiB.
fn parts() -> Case {
    let mut case = clean(Pattern::RandRead);
    let part =
        |name: &str, pattern, block| terms::Part::of(Workload::new(Name::new(name).unwrap(), pattern, Bytes(block)));
    let parts = vec![part("r", Pattern::RandRead, 4096), part("w", Pattern::RandWrite, 8192)];
    case.workload = Workload::of_parts(Name::new("both").unwrap(), parts);
    let (read, all) = (flow(4), flow(4));
    let write = Flow { iops: Iops(RATE / 8192.0), operations: 500 * 4, ..all };
    let one = |flow: &Flow, name: &str| JobOutputs { name: name.into(), ..job(flow) };
    case.output.jobs = vec![one(&read, "r"), one(&write, "w")];
    let reading = |read: Option<&Flow>, write: Option<&Flow>| Reading {
        read: read.cloned(),
        write: write.cloned(),
        ..Reading::default()
    };
    case.output.reading = reading(Some(&read), Some(&write));
    case.output.sections = vec![("r".into(), reading(Some(&read), None)), ("w".into(), reading(None, Some(&write)))];
    case.log.rates = vec![[RATE, RATE]; 39];
    (case.log.total, case.log.lines) = (RATE * 2.0 * 3.9, 78);
    case.members = vec![MemberDelta { written: case.members[0].read, ..case.members[0].clone() }];
    case.application = [RATE, RATE];
    case
}

#[test]
fn parts_are_held_each_to_what_it_was_asked_for() {
    assert_eq!(fire(&parts()), []);
    let told = |spoil: &dyn Fn(&mut Case)| {
        let mut case = parts();
        spoil(&mut case);
        let fired = fire(&case);
        fired.first().map(|note| (note.guard.clone(), note.voids, note.witness.contains("of `w`")))
    };
    let of = |guard| Some((guard, true, true));
    // A job of another part in the place of its own.
    assert_eq!(told(&|case| case.output.jobs[1].name = "r".into()).map(|told| told.0), Some(Guard::Jobs));
    assert_eq!(told(&|case| case.workload.parts[1].block = Bytes(4096)), of(Guard::Identity));
    assert_eq!(told(&|case| case.output.jobs[1].binned = vec![(2000, 1000)]), of(Guard::Bins));
    assert_eq!(told(&|case| case.output.sections[1].1.write = None), of(Guard::NothingDone));
}
