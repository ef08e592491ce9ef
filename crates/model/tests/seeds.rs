//! What five people published, from their hardware lines alone: links within 2 %, the rest within the 90 % interval,
//! and what is odd about their figures said unprompted.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use analyse::{Observed, judge};
use model::{Conditions, Site, predict};
use terms::layer::{ArrayState, Integrity, IntegrityMode, Luks, Lvm, Raid, RaidLevel, Volume, Zfs, ZfsLayout};
use terms::machine::{DriveGroup, DriveKind, Machine, Rated, Trust};
use terms::prediction::{CeilingKind, Prediction};
use terms::{Bytes, BytesPerSecond, Layer, LayerNode, Name, Pattern, Ref, Stack, Workload};

fn read(text: &str) -> Machine {
    let (machine, notes) = spec::parse_machine(text);
    machine.unwrap_or_else(|| panic!("{notes:#?}"))
}

fn firecuda() -> Machine {
    read(include_str!("machines/four-firecuda-530.toml"))
}

fn sn770() -> Machine {
    read(include_str!("machines/two-sn770.toml"))
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

/// Layers on top of each other, the first on these drives.
fn stack(drives: &[&str], layers: Vec<Layer>) -> Stack {
    let mut on: Vec<Ref> = drives.iter().map(|drive| Ref::Drive(name(drive))).collect();
    let mut nodes = Vec::new();
    for (at, layer) in layers.into_iter().enumerate() {
        let title = name(&format!("n{at}"));
        nodes.push(LayerNode { name: title.clone(), layer, on, special: Vec::new() });
        on = vec![Ref::Layer(title)];
    }
    Stack { name: "seed".to_owned(), note: None, nodes }
}

fn job(pattern: Pattern, block: Bytes, depth: u32, jobs: u32) -> Workload {
    let mut work = Workload::new(name("w"), pattern, block);
    (work.depth, work.jobs) = (depth, jobs);
    work
}

fn say(machine: &Machine, stack: &Stack, work: &Workload) -> Prediction {
    predict(&Site::new(machine), stack, work, &Conditions::default()).unwrap()
}

fn raid(level: RaidLevel) -> Layer {
    Layer::Raid(Raid { level, ..Raid::default() })
}

fn within(prediction: &Prediction, measured: f64, share: f64) {
    let said = prediction.throughput.value;
    assert!((said / measured - 1.0).abs() <= share, "{said} and {measured}: {:?}", prediction.ceilings);
}

fn inside(prediction: &Prediction, measured: f64) {
    let range = prediction.throughput.ninety;
    assert!(range.holds(measured), "{measured} is not in {range:?} around {}", prediction.throughput.value);
}

fn has(flags: &[terms::prediction::Flag], code: &str) -> bool {
    flags.iter().any(|flag| flag.code == code)
}

#[test]
fn large_blocks_fill_the_link_of_one_drive() {
    let bare = stack(&["nvme0"], vec![Layer::Bare]);
    for (kib, measured) in [(64, 7.509e9), (128, 7.515e9), (256, 7.514e9), (512, 7.515e9), (1024, 7.514e9)] {
        let said = say(&firecuda(), &bare, &job(Pattern::RandRead, Bytes::kib(kib), 64, 1));
        within(&said, measured, 0.02);
    }
}

#[test]
fn four_links_carry_four_times_as_much() {
    let bare = stack(&["nvme0", "nvme1", "nvme2", "nvme3"], vec![Layer::Bare]);
    for (kib, measured) in [(32, 914e3 * 32_768.0), (256, 30.0e9), (512, 30.0e9), (1024, 30.0e9)] {
        let said = say(&firecuda(), &bare, &job(Pattern::RandRead, Bytes::kib(kib), 64, 16));
        within(&said, measured, 0.02);
    }
}

#[test]
fn small_blocks_of_one_process_are_bound_by_its_thread() {
    let bare = stack(&["nvme0"], vec![Layer::Bare]);
    for (kib, measured) in [(4, 420e3), (8, 341e3), (16, 305e3), (32, 229e3)] {
        let work = job(Pattern::RandRead, Bytes::kib(kib), 128, 1);
        // From the hardware line alone; and, tighter, with the time of one operation measured.
        let wide = say(&firecuda(), &bare, &work);
        inside(&wide, measured * work.block.as_f64());
        let machine = Machine { submit: Some(terms::Nanos(2_380)), ..firecuda() };
        let said = say(&machine, &bare, &work);
        inside(&said, measured * work.block.as_f64());
        within(&said, measured * work.block.as_f64(), 0.10);
        let width = |p: &Prediction| p.throughput.ninety.high / p.throughput.ninety.low;
        assert!(width(&said) < width(&wide), "a measured time narrows the interval");
    }
}

#[test]
fn reads_above_the_rating_of_the_drives_are_flagged() {
    let bare = stack(&["nvme0", "nvme1", "nvme2", "nvme3"], vec![Layer::Bare]);
    let machine = Machine { submit: Some(terms::Nanos(2_380)), ..firecuda() };
    let said = say(&machine, &bare, &job(Pattern::RandRead, Bytes::kib(4), 64, 16));
    let flags = judge(&said, &Observed { operations: 5.556e6, reads: 1.0, failed: None });
    assert!(has(&flags, "read-above-drive"), "{flags:?}");
    // What threads and links allow is as published: it is the drives that cannot have done it.
    let threads = said.ceilings.iter().find(|ceiling| ceiling.kind == CeilingKind::Thread).unwrap();
    assert!((threads.operations_per_second / 5.556e6 - 1.0).abs() < 0.05, "{threads:?}");
    let honest = judge(&said, &Observed { operations: said.operations.value, reads: 1.0, failed: None });
    assert!(honest.is_empty(), "{honest:?}");
}

#[test]
fn an_old_slot_binds_a_new_drive() {
    let bare = stack(&["nvme0"], vec![Layer::Bare]);
    within(&say(&sn770(), &bare, &job(Pattern::Read, Bytes::mib(1), 8, 1)), 3.6e9, 0.02);
    within(&say(&sn770(), &bare, &job(Pattern::Write, Bytes::mib(1), 8, 1)), 3.3e9, 0.02);
    let linear = stack(&["nvme0", "nvme1"], vec![Layer::Lvm(Lvm::default())]);
    within(&say(&sn770(), &linear, &job(Pattern::Read, Bytes::mib(1), 8, 1)), 3.6e9, 0.02);
    let striped = stack(&["nvme0", "nvme1"], vec![raid(RaidLevel::Raid0)]);
    inside(&say(&sn770(), &striped, &job(Pattern::Read, Bytes::mib(1), 8, 1)), 7.2e9);
}

#[test]
fn encryption_of_one_stream_is_the_limit_whatever_lies_below() {
    let luks = || Layer::Luks(Luks::default());
    let work = job(Pattern::Read, Bytes::mib(1), 8, 1);
    let single = say(&sn770(), &stack(&["nvme0"], vec![luks()]), &work);
    let striped = say(&sn770(), &stack(&["nvme0", "nvme1"], vec![raid(RaidLevel::Raid0), luks()]), &work);
    inside(&single, 2.511e9);
    inside(&striped, 2.465e9);
    for said in [&single, &striped] {
        assert!(has(&said.flags, "encryption-parallelism"), "{:?}", said.limits);
    }
    assert!(
        striped.throughput.value < 1.35 * single.throughput.value,
        "two drives are not twice as fast under one cipher"
    );
    let writes = say(&sn770(), &stack(&["nvme0"], vec![luks()]), &job(Pattern::Write, Bytes::mib(1), 8, 1));
    inside(&writes, 2.129e9);
}

#[test]
fn a_resync_runs_at_the_cap_of_the_kernel() {
    let mirror = stack(&["nvme0", "nvme1"], vec![raid(RaidLevel::Raid1)]);
    let mut work = job(Pattern::Read, Bytes::kib(4), 1, 1);
    work.load = terms::Load::Rate(10);
    let conditions = Conditions { state: ArrayState::Resync, ..Conditions::default() };
    let said = predict(&Site::new(&sn770()), &mirror, &work, &conditions).unwrap();
    let rate = said.resync.unwrap();
    // 2 TB in 145 minutes.
    assert!(rate.ninety.holds(2.0004e12 / (145.0 * 60.0)), "{rate:?}");
    assert!(has(&said.flags, "resync-cap") && has(&said.flags, "resync-running"), "{:?}", said.flags);
}

#[test]
fn a_resync_gives_way_to_other_work_before_it_had_a_depth_of_its_own() {
    let mirror = stack(&["nvme0", "nvme1"], vec![raid(RaidLevel::Raid1)]);
    let work = job(Pattern::Read, Bytes::mib(1), 8, 1);
    let conditions = |state| Conditions { state, ..Conditions::default() };
    let left = |kernel| {
        let machine = Machine { kernel: Some(kernel), ..sn770() };
        let of = |state| predict(&Site::new(&machine), &mirror, &work, &conditions(state)).unwrap().throughput.value;
        of(ArrayState::Resync) / of(ArrayState::Whole)
    };
    let (old, new) = (left((6, 1)), left((6, 16)));
    assert!(new < old && old < 1.0, "{old} {new}");
}

#[test]
fn more_written_than_a_drive_can_take_is_flagged() {
    let machine = read(include_str!("machines/two-p1600x.toml"));
    let work = job(Pattern::RandMixed(50), Bytes::kib(128), 32, 12);
    let mirror = |drives: &[&str]| stack(drives, vec![Layer::Zfs(Zfs { layout: ZfsLayout::Mirror, ..Zfs::default() })]);
    // Files so large that no record is met twice in a transaction group.
    let say = |machine: &Machine, stack: &Stack, work: &Workload| {
        let conditions = Conditions { span: Bytes::gib(1024), ..Conditions::default() };
        predict(&Site::new(machine), stack, work, &conditions).unwrap()
    };
    let said = say(&machine, &mirror(&["direct0", "direct1"]), &work);
    let measured = (1311e6 + 1312e6) / 131_072.0;
    let flags = judge(&said, &Observed { operations: measured, reads: 0.5, failed: None });
    assert!(has(&flags, "write-above-drive"), "{flags:?} {:?}", said.ceilings);
    assert!(has(&said.flags, "read-cache"));
    // The switch is not what makes the difference that was published: its link is half idle.
    let switched = say(&machine, &mirror(&["switched0", "switched1"]), &work);
    let uplink = switched.ceilings.iter().find(|ceiling| ceiling.kind == CeilingKind::Uplink).unwrap();
    assert!(switched.operations.value < 0.7 * uplink.operations_per_second, "{:?}", switched.ceilings);
    assert!(!has(&switched.flags, "shared-link"));
}

#[test]
fn one_memory_channel_is_flagged_and_the_network_binds() {
    let machine = read(include_str!("machines/hpe-j2000.toml"));
    let drives = ["nvme0", "nvme1", "nvme2", "nvme3", "nvme4"];
    let six = Layer::Lvm(Lvm { volume: Volume::Raid6, stripe: Bytes::kib(64), ..Lvm::default() });
    let said = say(&machine, &stack(&drives, vec![six]), &job(Pattern::Read, Bytes::mib(1), 32, 10));
    assert!(has(&said.flags, "one-memory-channel"), "{:?}", said.flags);
    inside(&said, 10e9);
}

#[test]
fn a_failed_job_is_no_result() {
    let bare = stack(&["nvme0"], vec![Layer::Bare]);
    let said = say(&sn770(), &bare, &job(Pattern::Read, Bytes::mib(1), 8, 1));
    let failed = Some("84, invalid or incomplete multibyte or wide character".to_owned());
    let flags = judge(&said, &Observed { operations: 194.8, reads: 1.0, failed });
    assert_eq!(flags.iter().map(|flag| flag.code.as_str()).collect::<Vec<_>>(), ["failed-job"]);
}

#[test]
fn a_journal_halves_a_sata_drive() {
    let mut group = DriveGroup::unknown(name("a"), DriveKind::SataSsd);
    group.trust = Trust::Measured;
    group.rated = Rated { write: Some(BytesPerSecond(248e6)), ..Rated::NOTHING };
    let machine = Machine { name: "sata".into(), cores: 4, threads: 8, drives: vec![group], ..Machine::default() };
    let journal = |mode| stack(&["a"], vec![Layer::Integrity(Integrity { mode, ..Integrity::default() })]);
    let work = job(Pattern::Write, Bytes::mib(1), 8, 1);
    within(&say(&machine, &journal(IntegrityMode::Journal), &work), 123e6, 0.02);
    within(&say(&machine, &journal(IntegrityMode::Bitmap), &work), 223e6, 0.12);
}
