//! What drives and arrays of them come to where a head, a cache or a kernel decides: each a line that compares two stacks,
//! whatever the constants.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use model::{Conditions, Site, predict};
use terms::inventory::Link;
use terms::layer::{
    ArrayState, Bitmap, Btrfs, BtrfsProfile, Ext4, Integrity, IntegrityMode, Luks, Lvm, Raid, Raid10Layout, RaidLevel,
    Volume, Zfs, ZfsCache, ZfsCompression, ZfsLayout,
};
use terms::machine::{DriveGroup, DriveKind, Machine, Memory, Trust};
use terms::prediction::Prediction;
use terms::workload::{Engine, FioKey};
use terms::{Bytes, BytesPerSecond, Iops, Layer, LayerNode, Name, Nanos, Pattern, Ref, Stack, Workload};

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn machine(kind: DriveKind) -> Machine {
    let group = DriveGroup { count: 9, ..DriveGroup::unknown(name("d"), kind) };
    Machine { kernel: Some((6, 1)), cores: 64, threads: 128, drives: vec![group], ..Machine::default() }
}

/// A layer over the first so many drives.
fn stack(members: usize, layer: Layer) -> Stack {
    let on = (0..members).map(|at| Ref::Drive(name(&format!("d{at}")))).collect();
    let node = LayerNode { name: name("n"), layer, on, special: Vec::new() };
    Stack { name: "s".to_owned(), note: None, nodes: vec![node] }
}

fn work(pattern: Pattern, kib: u64, depth: u32) -> Workload {
    Workload { depth, ..Workload::new(name("w"), pattern, Bytes::kib(kib)) }
}

fn said(machine: &Machine, stack: &Stack, work: &Workload, conditions: &Conditions) -> Prediction {
    predict(&Site::new(machine), stack, work, conditions).unwrap()
}

fn rate(machine: &Machine, stack: &Stack, work: &Workload) -> f64 {
    said(machine, stack, work, &Conditions::default()).operations.value
}

fn raid(level: RaidLevel, chunk: u64) -> Layer {
    Layer::Raid(Raid { level, chunk: Bytes::kib(chunk), ..Raid::default() })
}

/// A stripe over four heads takes four times as much in order. Heads that go from place to place lose their order while they wait.
#[test]
fn a_stream_over_heads_waits_for_no_slowest() {
    let machine = machine(DriveKind::Hdd);
    let over = |pattern| {
        let work = work(pattern, 1024, 16);
        rate(&machine, &stack(4, raid(RaidLevel::Raid0, 64)), &work) / rate(&machine, &stack(1, Layer::Bare), &work)
    };
    let (stream, random) = (over(Pattern::Write), over(Pattern::RandWrite));
    assert!((3.9..4.01).contains(&stream) && random < 3.0, "{stream} {random}");
}

/// A transaction group moves heads as often however its records are spread: raidz of five keeps up with a stripe of four but for
/// waiting for the slowest.
#[test]
fn a_group_moves_heads_as_often_on_raidz() {
    let machine = machine(DriveKind::Hdd);
    let pool = |layout, members| {
        rate(&machine, &stack(members, Layer::Zfs(Zfs { layout, ..Zfs::default() })), &work(Pattern::Write, 1024, 1))
    };
    let share = pool(ZfsLayout::Raidz1, 5) / pool(ZfsLayout::Stripe, 4);
    assert!((0.72..1.01).contains(&share), "{share}");
}

/// A stream that is read from parity is that of the data drives: heads pass over the parity between them.
#[test]
fn heads_pass_over_parity() {
    let machine = machine(DriveKind::Hdd);
    let stream = work(Pattern::Read, 1024, 32);
    let one = rate(&machine, &stack(1, Layer::Bare), &stream);
    let raidz = |layout| Layer::Zfs(Zfs { layout, recordsize: Bytes::mib(1), ..Zfs::default() });
    for (members, data, layer) in [
        (3, 2.0, raid(RaidLevel::Raid5, 512)),
        (6, 4.0, raid(RaidLevel::Raid6, 512)),
        (4, 3.0, raidz(ZfsLayout::Raidz1)),
        (6, 4.0, raidz(ZfsLayout::Raidz2)),
    ] {
        let share = rate(&machine, &stack(members, layer.clone()), &stream) / (data * one);
        assert!((0.85..1.02).contains(&share), "{layer:?} of {members}: {share}");
        // One read at a time waits for none of it.
        let one_by_one = work(Pattern::Read, 64, 1);
        let alone = rate(&machine, &stack(members, layer.clone()), &one_by_one);
        let conditions = Conditions { state: ArrayState::Degraded, ..Conditions::default() };
        let less = said(&machine, &stack(members, layer.clone()), &one_by_one, &conditions).operations.value;
        assert!(less <= alone * 1.02, "{layer:?} of {members}: {less} of {alone}");
    }
}

/// A group ends with the last of many accesses of each drive, and their sums are nearly the same.
#[test]
fn a_group_waits_for_no_slowest_of_each_access() {
    let machine = machine(DriveKind::Hdd);
    let pool = Layer::Zfs(Zfs { layout: ZfsLayout::Raidz2, recordsize: Bytes::mib(1), ..Zfs::default() });
    let stream = work(Pattern::Write, 1024, 4);
    let share = rate(&machine, &stack(6, pool), &stream) / (4.0 * rate(&machine, &stack(1, Layer::Bare), &stream));
    assert!((0.85..1.02).contains(&share), "{share}");
}

/// A drive that loses nothing with the power is asked for no flush: what has to be safe is one write more, and no more. On SATA
/// it is asked, and has little to do. Another one of the same speed writes out its cache each time.
#[test]
fn a_protected_drive_has_nothing_to_flush() {
    let safe = Workload { fsync_every: Some(1), ..work(Pattern::RandWrite, 4, 1) };
    for (kind, most) in
        [(DriveKind::NvmeEnterprise, 1.5), (DriveKind::SataEnterprise, 3.0), (DriveKind::Nvme, f64::MAX)]
    {
        let machine = machine(kind);
        let times = rate(&machine, &stack(1, Layer::Bare), &work(Pattern::RandWrite, 4, 1))
            / rate(&machine, &stack(1, Layer::Bare), &safe);
        assert!(times < most && (most < f64::MAX || times > 20.0), "{kind:?}: {times}");
    }
}

#[test]
fn a_prediction_names_its_work_and_its_drives_in_full() {
    let safe = Workload { fsync_every: Some(1), ..work(Pattern::RandWrite, 4, 1) };
    let of = |members: usize| {
        let said =
            said(&machine(DriveKind::Nvme), &stack(members, raid(RaidLevel::Raid1, 64)), &safe, &Conditions::default());
        assert_eq!(said.pattern, "RND 4 KiB Q1 T1 write fsync each");
        said.demands.into_iter().map(|demand| demand.resource).collect::<Vec<_>>()
    };
    assert!(of(2).contains(&"drives d0 and d1".to_owned()), "{:?}", of(2));
    assert!(of(3).contains(&"drives d0, d1 and d2".to_owned()), "{:?}", of(3));
    assert!(of(4).contains(&"4 drives like d".to_owned()), "{:?}", of(4));
}

/// Whoever asks for a commit while one is under way waits for two: one more job makes the second commit, and the tenth none.
#[test]
fn a_commit_of_many_waits_for_the_one_before() {
    for layer in [Layer::Ext4(Ext4::default()), Layer::Btrfs(Btrfs::default())] {
        let mut machine = machine(DriveKind::Nvme);
        machine.drives[0].rated.flush = Some(Nanos(1_200_000));
        let takes = |jobs| {
            let safe = Workload { jobs, fsync_every: Some(16), ..work(Pattern::RandWrite, 4, 1) };
            f64::from(jobs) / rate(&machine, &stack(1, layer.clone()), &safe)
        };
        let (few, many) = (takes(4) / takes(1), takes(16) / takes(1));
        assert!((1.4..2.3).contains(&few) && (1.4..2.6).contains(&many), "{layer:?}: {few} {many}");
    }
}

/// What is read in order one by one lies in the drive's buffer before it is asked for: that is never slower than at random, and on
/// flash for people at home some times as fast. Of large blocks it is the bytes.
#[test]
fn a_drive_reads_ahead() {
    for (kind, least) in
        [(DriveKind::Nvme, 3.0), (DriveKind::NvmeEnterprise, 3.0), (DriveKind::SataSsd, 1.3), (DriveKind::Optane, 0.99)]
    {
        let machine = machine(kind);
        let times = |kib| {
            let of = |pattern| rate(&machine, &stack(1, Layer::Bare), &work(pattern, kib, 1));
            of(Pattern::Read) / of(Pattern::RandRead)
        };
        assert!(times(4) > least && (0.99..2.0).contains(&times(1024)), "{kind:?}: {} {}", times(4), times(1024));
    }
}

/// Streams of several writers meet in the cache of a hard disk, which sorts them: they are no slower than writes at random, and
/// what btrfs writes anew lies one behind the other.
#[test]
fn streams_of_several_writers_are_sorted() {
    let machine = machine(DriveKind::Hdd);
    let of = |layer: Layer, pattern, jobs| rate(&machine, &stack(1, layer), &Workload { jobs, ..work(pattern, 64, 1) });
    let one = of(Layer::Bare, Pattern::Write, 1);
    for jobs in [2, 4, 8, 16, 32] {
        let (stream, random) = (of(Layer::Bare, Pattern::Write, jobs), of(Layer::Bare, Pattern::RandWrite, jobs));
        assert!(stream <= one * 1.01 && stream > random * 0.99, "{jobs}: {stream} of {one}, {random} at random");
    }
    for every in [1, 4, 16, 100, 1_000_000] {
        let safe = |pattern| {
            let work = Workload { jobs: 2, fsync_every: Some(every), ..work(pattern, 64, 1) };
            rate(&machine, &stack(1, Layer::Bare), &work)
        };
        let (stream, random) = (safe(Pattern::Write), safe(Pattern::RandWrite));
        assert!(stream > random * 0.99, "flushed every {every}: {stream}, {random} at random");
    }
    let anew = |jobs| of(Layer::Btrfs(Btrfs::default()), Pattern::Write, jobs);
    assert!(anew(8) > 0.9 * anew(1), "{} {}", anew(8), anew(1));
}

/// Since Linux 6.15 what btrfs has checksums of goes through the page cache, whatever was asked for: a call waits for its own
/// bytes, and a depth is none.
#[test]
fn btrfs_writes_with_checksums_through_pages() {
    let of = |kernel, copy_on_write, depth| {
        let machine = Machine { kernel: Some(kernel), ..machine(DriveKind::NvmeEnterprise) };
        let layer = Layer::Btrfs(Btrfs { copy_on_write, ..Btrfs::default() });
        rate(&machine, &stack(1, layer), &work(Pattern::Write, 1024, depth))
    };
    assert!(of((6, 14), true, 16) > 2.0 * of((6, 15), true, 16));
    let (one, many) = (of((6, 15), true, 1), of((6, 15), true, 16));
    assert!((many / one - 1.0).abs() < 1e-6, "{one} {many}");
    assert!((of((6, 15), false, 16) / of((6, 14), false, 16) - 1.0).abs() < 1e-6, "what has none goes past it");
    assert!(of((7, 3), true, 16) > 2.0 * many, "what it copies goes past it since Linux 7.3");
    // One read in a hundred changes nothing of what is written.
    let machine = Machine { kernel: Some((6, 18)), ..machine(DriveKind::NvmeEnterprise) };
    let mixed = |pattern| rate(&machine, &stack(1, Layer::Btrfs(Btrfs::default())), &work(pattern, 1024, 16));
    let (writes, nearly) = (mixed(Pattern::Write), mixed(Pattern::Mixed(1)));
    assert!((0.9..1.3).contains(&(nearly / writes)), "{writes} {nearly}");
}

/// Until Linux 6.3 a thin pool looks up what it is asked for under one lock, however many ask.
#[test]
fn a_thin_pool_is_one_lock() {
    let many = Workload { jobs: 32, ..work(Pattern::RandRead, 4, 32) };
    let of = |thin_chunk| {
        let stripe = Layer::Lvm(Lvm { thin_chunk, ..Lvm::default() });
        rate(&machine(DriveKind::Ram), &stack(1, stripe), &many)
    };
    let (thin, thick) = (of(Some(Bytes::kib(64))), of(None));
    assert!(thin < 2e6 && thick > 2.0 * thin, "{thin} {thick}");
}

/// Small operations in order are as many commands as a drive was rated with, and no more; large ones are bytes.
#[test]
fn small_operations_in_order_are_commands() {
    let mut machine = machine(DriveKind::Nvme);
    let rated = &mut machine.drives[0].rated;
    (rated.read, rated.read_iops, rated.write_iops) = (Some(BytesPerSecond(7e9)), Some(Iops(1e6)), Some(Iops(0.8e6)));
    let read = |kib| {
        rate(&machine, &stack(1, Layer::Bare), &Workload { jobs: 16, ..work(Pattern::Read, kib, 64) })
            * kib as f64
            * 1024.0
    };
    assert!((3.9e9..4.1e9).contains(&read(4)), "{}", read(4));
    assert!((6.8e9..7.01e9).contains(&read(128)), "{}", read(128));
}

/// A hard disk has a block of ZFS' log when its cache has it. The head goes there once, for the flush: half a turn with a short
/// way, and a turn.
#[test]
fn a_log_on_a_hard_disk_moves_its_head_once() {
    let safe = Workload { fsync_every: Some(1), ..work(Pattern::Write, 4, 1) };
    let each = 1.0 / rate(&machine(DriveKind::Hdd), &stack(1, Layer::Zfs(Zfs::default())), &safe);
    assert!((13e-3..15e-3).contains(&each), "{each}");
}

/// ext4 and XFS keep their journals in the middle: an `fsync` takes a head there, waits for a turn and takes it back, the longer the
/// larger they are and the slower the disk turns. Three to four and a half turns were published. Over a journal of dm-integrity nothing of it
/// has a place of its own, and `fdatasync` writes no journal.
#[test]
fn a_journal_in_the_middle_takes_a_head_there_and_back() {
    let safe = Workload { fsync_every: Some(1), ..work(Pattern::Write, 4, 1) };
    let each = |gb: u64, rpm: u32, layer: Layer, work: &Workload| {
        let mut machine = machine(DriveKind::Hdd);
        machine.drives[0].size = (gb > 0).then_some(Bytes(gb * 1_000_000_000));
        machine.drives[0].rated.rpm = Some(rpm);
        1.0 / rate(&machine, &stack(1, layer), work)
    };
    for layer in [Layer::Ext4(Ext4::default()), Layer::Xfs(terms::layer::Xfs::default())] {
        let times: Vec<f64> = (0..14).map(|at| each(1 << at, 7200, layer.clone(), &safe)).collect();
        assert!(times.windows(2).all(|two| two[1] >= two[0] && two[1] < two[0] * 1.15), "{times:?}");
        let turns = each(2000, 7200, layer.clone(), &safe) / (60.0 / 7200.0);
        assert!((3.0..4.5).contains(&turns), "{turns}");
        let unknown = each(0, 7200, layer.clone(), &safe) / (60.0 / 7200.0);
        assert!((unknown - turns).abs() < 1e-9, "one of which no size is known is as a usual one: {unknown}");
        assert!(each(2000, 5400, layer.clone(), &safe) > each(2000, 7200, layer.clone(), &safe) * 1.1);
        let random = Workload { pattern: Pattern::RandWrite, ..safe.clone() };
        let share = each(2000, 7200, layer.clone(), &random) / each(2000, 7200, layer.clone(), &safe);
        assert!((0.8..1.1).contains(&share), "a way is counted once: {share}");
        let data = Workload {
            keys: vec![FioKey { key: "fdatasync".into(), value: "1".into() }],
            fsync_every: None,
            ..safe.clone()
        };
        let near = each(1, 7200, layer.clone(), &data);
        assert!((each(8000, 7200, layer, &data) / near - 1.0).abs() < 1e-9);
    }
    let bare = each(2000, 7200, Layer::Bare, &safe);
    assert!((bare / each(20, 7200, Layer::Bare, &safe) - 1.0).abs() < 1e-9, "no journal, no way");
}

/// 2 % of the memory hold tags, a 1024th of the data: beyond 20 times the memory a random access of dm-integrity reads its tags
/// as well.
#[test]
fn tags_that_memory_does_not_hold_are_read() {
    let tags = |mode| Layer::Integrity(Integrity { mode, sector: Bytes::kib(4), ..Integrity::default() });
    let at = |kind, layer: &Layer, pattern, gib: u64| {
        let mut machine = machine(kind);
        machine.memory.size = Some(Bytes::gib(16));
        let conditions = Conditions { span: Bytes::gib(gib), ..Conditions::default() };
        said(&machine, &stack(1, layer.clone()), &work(pattern, 4, 16), &conditions).operations.value
    };
    for kind in [DriveKind::Hdd, DriveKind::Nvme] {
        let share = |mode, pattern, gib| at(kind, &tags(mode), pattern, gib) / at(kind, &Layer::Bare, pattern, gib);
        for mode in [IntegrityMode::Journal, IntegrityMode::NoJournal, IntegrityMode::Bitmap] {
            let reads = [1, 300, 330, 1000, 10_000].map(|gib| share(mode, Pattern::RandRead, gib));
            assert!((reads[0] / reads[1] - 1.0).abs() < 0.02, "{kind:?} {mode:?} held: {reads:?}");
            assert!(reads.windows(2).all(|two| two[1] < two[0] * 1.02), "{kind:?} {mode:?}: {reads:?}");
            assert!(kind == DriveKind::Nvme || (0.4..0.65).contains(&reads[4]), "two accesses: {reads:?}");
        }
        let writes = [300, 10_000].map(|gib| share(IntegrityMode::NoJournal, Pattern::RandWrite, gib));
        assert!(writes[1] < writes[0] * 0.9, "{kind:?}: {writes:?}");
    }
}

/// What goes to a pair that lost a drive is written once, and one at a time is no quicker for it.
#[test]
fn a_pair_that_lost_a_drive_is_written_once() {
    let array = stack(4, raid(RaidLevel::Raid10, 512));
    let at = |state| {
        let conditions = Conditions { state, ..Conditions::default() };
        said(&machine(DriveKind::Nvme), &array, &work(Pattern::RandWrite, 4, 1), &conditions).operations.value
    };
    let times = at(ArrayState::Degraded) / at(ArrayState::Whole);
    assert!((0.9..1.05).contains(&times), "{times}");
}

/// What is written through the page cache fills rows whatever the chunk, for thousands of pages are dirty.
#[test]
fn a_buffered_stream_fills_rows_whatever_the_chunk() {
    let keys = vec![FioKey { key: "direct".to_owned(), value: "0".to_owned() }];
    let stream = Workload { keys, ..work(Pattern::Write, 1024, 1) };
    let conditions = Conditions { span: Bytes::gib(256), ..Conditions::default() };
    for (level, members) in [(RaidLevel::Raid5, 4), (RaidLevel::Raid5, 9), (RaidLevel::Raid6, 8)] {
        let at = |chunk| {
            let array = stack(members, raid(level, chunk));
            said(&machine(DriveKind::Hdd), &array, &stream, &conditions).operations.value
        };
        let share = at(512) / at(64);
        assert!((0.95..1.05).contains(&share), "{level:?} of {members}: {share}");
    }
}

/// Past the cache one write leaves parts of rows at both of its ends. The more are under way, the fewer: no step where a row fits.
#[test]
fn rows_are_filled_by_what_is_under_way() {
    let written = |chunk, kib, depth| {
        let array = stack(4, raid(RaidLevel::Raid5, chunk));
        let stream = work(Pattern::Write, kib, depth);
        said(&machine(DriveKind::Hdd), &array, &stream, &Conditions::default()).write_amplification.unwrap()
    };
    assert!(written(64, 1024, 1) > 1.35 && written(64, 1024, 32) < 1.34, "{}", written(64, 1024, 1));
    let all: Vec<f64> = (1..=12).map(|depth| written(512, 256, depth)).collect();
    assert!(all[0] > 1.9 && all[11] < 1.34, "{all:?}");
    assert!(all.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9 && pair[1] > pair[0] - 0.4), "{all:?}");
}

/// Of unlike drives the quicker is read more, until both are busy. RAID-10 learnt that with Linux 5.3.
#[test]
fn the_quicker_of_two_copies_is_read_more() {
    let of = |kernel, layer: &Layer| {
        let mut machine = machine(DriveKind::SataSsd);
        machine.kernel = Some(kernel);
        machine.drives[0].count = 1;
        let quick = DriveGroup::unknown(name("q"), DriveKind::Nvme);
        machine.drives.push(quick);
        let mut array = stack(2, layer.clone());
        array.nodes[0].on =
            [machine.drives[0].member(0), machine.drives[1].member(0)].map(|it| Ref::Drive(name(&it))).to_vec();
        let read = Workload { jobs: 8, ..work(Pattern::RandRead, 4, 64) };
        (
            rate(&machine, &array, &read),
            rate(&machine, &Stack { nodes: vec![alone(&array, 0)], ..array.clone() }, &read),
        )
    };
    for (kernel, level, least, most) in [
        ((4, 19), RaidLevel::Raid1, 5.0, 8.0),
        ((4, 19), RaidLevel::Raid10, 1.5, 2.05),
        ((5, 3), RaidLevel::Raid10, 5.0, 8.0),
    ] {
        let (array, slow) = of(kernel, &raid(level, 512));
        assert!((least..most).contains(&(array / slow)), "{kernel:?} {level:?}: {array} {slow}");
    }
}

/// A drive of an array by itself.
fn alone(array: &Stack, which: usize) -> LayerNode {
    LayerNode { layer: Layer::Bare, on: vec![array.nodes[0].on[which].clone()], ..array.nodes[0].clone() }
}

/// A block of ZFS' log goes through threads of the pool, and the last wakes the caller: that a drive flushes quickly makes it no
/// quicker. And it waits for others first, a twentieth of what the one before it took.
#[test]
fn threads_of_the_pool_have_a_block_of_the_log() {
    let mut machine = machine(DriveKind::Optane);
    let safe = Workload { fsync_every: Some(1), ..work(Pattern::Write, 4, 1) };
    let mut each = |switch| {
        machine.drives[0].rated.flush = Some(Nanos(switch));
        1.0 / rate(&machine, &stack(1, Layer::Zfs(Zfs::default())), &safe)
    };
    let (slow, quick) = (each(100_000), each(1000));
    assert!((slow - quick - 99e-6 * 1.05).abs() < 1e-6 && quick > 25e-6, "{slow} {quick}");
}

/// A cache that may keep writes has many to sort, whoever waits. What is flushed after each is sorted with nothing.
#[test]
fn a_cache_sorts_what_one_writes_at_a_time() {
    let of = |cached, depth, fsync_every| {
        let mut machine = machine(DriveKind::Hdd);
        machine.drives[0].rated.write_cache = Some(cached);
        let write = Workload { fsync_every, ..work(Pattern::RandWrite, 4, depth) };
        rate(&machine, &stack(1, Layer::Bare), &write)
    };
    let times = of(true, 1, None) / of(false, 1, None);
    assert!((1.5..2.5).contains(&times), "{times}");
    assert!((of(true, 32, None) / of(false, 32, None) - 1.0).abs() < 0.01);
    assert!(of(true, 1, Some(1)) < of(true, 1, Some(32)) / 3.0);
}

/// A write where nothing is marked waits for the mark on every member. Over a few regions all soon are, over a whole array of large
/// drives hardly any.
#[test]
fn a_bitmap_is_waited_for_over_many_regions() {
    let kept = |span, pattern| {
        let at = |bitmap| {
            let layer = Layer::Raid(Raid { level: RaidLevel::Raid5, chunk: Bytes::kib(64), bitmap, ..Raid::default() });
            let conditions = Conditions { span, ..Conditions::default() };
            said(&machine(DriveKind::Nvme), &stack(5, layer), &work(pattern, 4, 1), &conditions).operations.value
        };
        at(Bitmap::Internal) / at(Bitmap::None)
    };
    let (few, many) = (kept(Bytes::gib(1), Pattern::RandWrite), kept(Bytes::gib(8192), Pattern::RandWrite));
    assert!(few > 0.97 && many < 0.1, "{few} {many}");
    assert!(kept(Bytes::gib(8192), Pattern::RandRead) > 0.999);
}

/// Heads go to the bitmap for each mark and back, so writes under way together do not hide it; and the thread that works on parity
/// writes marks itself. Where regions are few nothing is left to mark.
#[test]
fn marks_of_a_bitmap_move_heads() {
    let kept = |level, kind, depth, span| {
        let at = |bitmap| {
            let layer = Layer::Raid(Raid { level, bitmap, ..Raid::default() });
            let (conditions, machine) = (Conditions { span, ..Conditions::default() }, machine(kind));
            said(&machine, &stack(8, layer), &work(Pattern::RandWrite, 4, depth), &conditions).operations.value
        };
        at(Bitmap::Internal) / at(Bitmap::None)
    };
    let (large, small) = (Bytes::gib(8192), Bytes::gib(1));
    for level in [RaidLevel::Raid10, RaidLevel::Raid5, RaidLevel::Raid6] {
        let (many, few) = (kept(level, DriveKind::Hdd, 32, large), kept(level, DriveKind::Hdd, 32, small));
        assert!((0.3..0.8).contains(&many) && few > 0.97, "{level:?}: {many} {few}");
        assert!(kept(level, DriveKind::NvmeEnterprise, 32, large) > 0.9, "{level:?} on what has no heads");
    }
    // One write at a time goes to two places of every drive, and waits for both.
    let alone = kept(RaidLevel::Raid1, DriveKind::Hdd, 1, large);
    assert!((0.1..0.5).contains(&alone), "{alone}");
}

/// Where a bitmap takes most of the time, it is its writes that do, and processors help nothing. RAID-0 has no lock.
#[test]
fn what_holds_an_array_up_has_its_name() {
    let large = Conditions { span: Bytes::gib(20_000), ..Conditions::default() };
    let array = |kernel, members, layer, work: &Workload| {
        let machine = Machine { kernel: Some(kernel), ..machine(DriveKind::Nvme) };
        said(&machine, &stack(members, layer), work, &large)
    };
    let marked = array((6, 1), 5, raid(RaidLevel::Raid5, 64), &work(Pattern::RandWrite, 4, 1));
    assert_eq!(marked.limits[0].resource, "bitmap writes");
    let buys = |what: &str| marked.elasticities.iter().find(|more| more.of == what).unwrap().buys_percent;
    assert!(buys("cores") < 1.0, "{:?}", marked.elasticities);
    let many = Workload { jobs: 64, ..work(Pattern::RandRead, 4, 32) };
    let counted = array((4, 4), 9, raid(RaidLevel::Raid0, 512), &many);
    assert!(counted.limits[0].resource.starts_with("operations counter of RAID-0"), "{:?}", counted.limits);
}

/// What ZFS reads ahead of a stream waits in order of its place: a head comes to each of several streams once for that, and not for
/// each record.
#[test]
fn streams_of_zfs_are_read_ahead_by_more_than_a_record() {
    let machine = machine(DriveKind::Hdd);
    let share = |layout, members, kib, primarycache| {
        let zfs = Zfs { layout, recordsize: Bytes::kib(kib), primarycache, ..Zfs::default() };
        let pool = stack(members, Layer::Zfs(zfs));
        let at = |jobs| rate(&machine, &pool, &Workload { jobs, ..work(Pattern::Read, 1024, 1) });
        at(4) / at(1)
    };
    for (layout, members) in [(ZfsLayout::Stripe, 1), (ZfsLayout::Raidz2, 5)] {
        for kib in [128, 1024] {
            let share = share(layout, members, kib, ZfsCache::All);
            assert!((0.6..1.0).contains(&share), "{layout:?}, records of {kib} KiB: {share}");
        }
    }
    // What is not kept is not read ahead.
    let alone = share(ZfsLayout::Stripe, 1, 128, ZfsCache::Metadata);
    assert!(alone < 0.6, "{alone}");
}

/// Data that the ARC may not keep is read anew by each call that touches its record, in order as at random: someone counted 256 times
/// the bytes for reads of 4 KiB from records of 1 MiB, 128 times for 8 KiB, and so on. So as many calls are done in a second whatever
/// their size. And none is ahead of them.
#[test]
fn what_zfs_may_not_keep_is_read_anew_by_each_call() {
    let machine = machine(DriveKind::SataSsd);
    let calls = |members, primarycache, recordsize, kib| {
        let zfs = Zfs { layout: ZfsLayout::Stripe, recordsize, primarycache, ..Zfs::default() };
        rate(&machine, &stack(members, Layer::Zfs(zfs)), &work(Pattern::Read, kib, 1))
    };
    let whole = calls(1, ZfsCache::Metadata, Bytes::mib(1), 1024);
    for kib in [4, 8, 16, 32, 64, 128] {
        let share = calls(1, ZfsCache::None, Bytes::mib(1), kib) / whole;
        assert!((0.9..1.3).contains(&share), "{kib} KiB: {share}");
        assert!(calls(1, ZfsCache::All, Bytes::mib(1), kib) > whole * 4.0, "{kib} KiB of what is kept");
    }
    let gain =
        |primarycache| calls(4, primarycache, Bytes::kib(128), 128) / calls(1, primarycache, Bytes::kib(128), 128);
    assert!(gain(ZfsCache::All) > 2.0 && gain(ZfsCache::Metadata) < 1.1, "a record at a time is on one drive");
}

/// Small records all over a large span are pointed to by as many blocks, which are written anew with them. A stream, or a small
/// span, shares them.
#[test]
fn small_records_all_over_are_written_with_what_points_to_them() {
    let machine = machine(DriveKind::Hdd);
    let pool = stack(1, Layer::Zfs(Zfs { recordsize: Bytes::kib(4), ..Zfs::default() }));
    let over = |pattern, kib, span| {
        let conditions = Conditions { span, ..Conditions::default() };
        said(&machine, &pool, &work(pattern, kib, 8), &conditions).operations.value
    };
    let (small, large) = (Bytes::gib(1), Bytes::gib(1024));
    let random = over(Pattern::RandWrite, 4, small) / over(Pattern::RandWrite, 4, large);
    let stream = over(Pattern::Write, 1024, small) / over(Pattern::Write, 1024, large);
    assert!(random > 5.0 && (0.99..1.1).contains(&stream), "{random} {stream}");
}

/// As many streams as a mirror has copies keep a head each; one more, and heads go from stream to stream.
#[test]
fn streams_of_a_mirror_have_a_head_each() {
    let machine = machine(DriveKind::Hdd);
    let stream = work(Pattern::Read, 128, 1);
    let one = rate(&machine, &stack(1, Layer::Bare), &stream);
    let btrfs = Btrfs { data: BtrfsProfile::Raid1, ..Btrfs::default() };
    for layer in [raid(RaidLevel::Raid1, 512), Layer::Btrfs(btrfs)] {
        let of = |jobs| rate(&machine, &stack(2, layer.clone()), &Workload { jobs, ..stream.clone() }) / one;
        let (two, three) = (of(2), of(3));
        assert!((1.8..2.05).contains(&two) && three < two / 1.5, "{layer:?}: {two} {three}");
    }
}

/// What is written in order to far copies is at two places of each drive: heads go between them, by shorter ways where a cache sorts.
#[test]
fn far_copies_move_heads() {
    let over = |cached| {
        let mut machine = machine(DriveKind::Hdd);
        machine.drives[0].rated.write_cache = Some(cached);
        let of = |layout| {
            let layer = Raid { level: RaidLevel::Raid10, layout, chunk: Bytes::kib(512), ..Raid::default() };
            rate(&machine, &stack(4, Layer::Raid(layer)), &work(Pattern::Write, 512, 1))
        };
        of(Raid10Layout::Far) / of(Raid10Layout::Near)
    };
    let (cached, through) = (over(true), over(false));
    assert!((0.5..0.98).contains(&cached) && through < 0.5, "{cached} {through}");
}

/// Operations of a stripe are counted by each processor apart since Linux 6.3, and by all of them in one place before.
#[test]
fn a_stripe_is_counted_in_one_place_before_linux_6_3() {
    let of = |kernel| {
        let machine = Machine { kernel: Some(kernel), ..machine(DriveKind::NvmeEnterprise) };
        let deep = Workload { jobs: 64, ..work(Pattern::RandRead, 4, 128) };
        rate(&machine, &stack(8, raid(RaidLevel::Raid0, 512)), &deep)
    };
    let times = of((6, 3)) / of((6, 2));
    assert!(times > 1.3, "{times}");
}

/// What may not wait is not taken by dm-crypt, nor by md before Linux 5.17: io_uring leaves it to a worker, and that takes a switch of
/// threads. libaio asks the same way of all.
#[test]
fn io_uring_leaves_what_may_wait_to_a_worker() {
    let longer = |kernel, layer: &Layer, engine| {
        let machine = Machine { kernel: Some(kernel), ..machine(DriveKind::Nvme) };
        let work = Workload { engine, ..work(Pattern::RandRead, 4, 1) };
        let each = |layer| 1e6 / rate(&machine, &stack(1, layer), &work);
        each(layer.clone()) - each(Layer::Bare)
    };
    let stripe = raid(RaidLevel::Raid0, 512);
    for (layer, kernel, waits) in [
        (stripe.clone(), (5, 16), true),
        (stripe, (5, 17), false),
        (Layer::Lvm(Lvm::default()), (5, 9), true),
        (Layer::Lvm(Lvm::default()), (5, 10), false),
        (Layer::Lvm(Lvm { volume: Volume::Striped, ..Lvm::default() }), (5, 10), true),
        (Layer::Lvm(Lvm { volume: Volume::Striped, ..Lvm::default() }), (5, 11), false),
        (Layer::Luks(Luks::default()), (6, 1), true),
    ] {
        let more = longer(kernel, &layer, Engine::IoUring) - longer(kernel, &layer, Engine::Libaio);
        assert!((more > 3.0) == waits && more > -0.5, "{layer:?} {kernel:?}: {more} us");
    }
    // Under a file system only until Linux 6.5.
    for (kernel, waits) in [((6, 4), true), ((6, 5), false)] {
        let machine = Machine { kernel: Some(kernel), ..machine(DriveKind::Nvme) };
        let mut files = stack(1, Layer::Luks(Luks::default()));
        let on = vec![Ref::Layer(name("n"))];
        files.nodes.push(LayerNode {
            name: name("files"),
            layer: Layer::Ext4(Ext4::default()),
            on,
            special: Vec::new(),
        });
        let each = |engine| 1e6 / rate(&machine, &files, &Workload { engine, ..work(Pattern::RandRead, 4, 1) });
        let more = each(Engine::IoUring) - each(Engine::Libaio);
        assert!((more > 3.0) == waits, "ext4 on LUKS, {kernel:?}: {more} us");
    }
}

/// A stream over more than the ARC finds nothing there: it comes back to what was dropped first. Reads at random find what fits.
#[test]
fn a_stream_over_more_than_the_arc_finds_nothing_there() {
    let mut machine = machine(DriveKind::Hdd);
    machine.memory = Memory { size: Some(Bytes::gib(16)), ..machine.memory };
    let pool = stack(1, Layer::Zfs(Zfs::default()));
    let over = |pattern, span| {
        let conditions = Conditions { span: Bytes::gib(span), ..Conditions::default() };
        said(&machine, &pool, &work(pattern, 128, 1), &conditions).operations.value
    };
    let stream = |span| over(Pattern::Read, span) / over(Pattern::Read, 1024);
    assert!(stream(4) > 5.0 && (0.98..1.02).contains(&stream(10)), "{} {}", stream(4), stream(10));
    let random = over(Pattern::RandRead, 10) / over(Pattern::RandRead, 1024);
    assert!(random > 2.0, "{random}");
}

/// A link carries what makers rate drives of its generation for: roots answer reads of a drive with completions of up to 256 bytes.
#[test]
fn a_link_carries_what_drives_are_rated_for() {
    for (speed, rating) in [(16_000, 7000e6), (32_000, 13_400e6)] {
        let mut machine = machine(DriveKind::Nvme);
        machine.drives[0].link = Some(Link { speed, lanes: 4 });
        machine.drives[0].rated.write = Some(BytesPerSecond(rating));
        let stream = Workload { jobs: 8, ..work(Pattern::Write, 128, 32) };
        let given = said(&machine, &stack(1, Layer::Bare), &stream, &Conditions::default()).throughput.value;
        assert!(given > 0.99 * rating, "{speed}: {given} of {rating}");
    }
}

/// A commit is a flush and a write past the cache, one after the other: what the latter takes longer, a commit of ext4, XFS and btrfs does,
/// and `fdatasync` of what is in place does not. The 990 PRO of one who published both took 1.64 ms to flush, 4.0 ms past the cache, and
/// 5.64 ms for an `fsync` of XFS.
#[test]
fn a_commit_is_a_flush_and_a_write_past_the_cache() {
    let at = |fua: Option<u64>, layer: &Layer, work: &Workload| {
        let mut machine = machine(DriveKind::Nvme);
        machine.drives[0].rated.flush = Some(Nanos(1_640_000));
        machine.drives[0].rated.fua = fua.map(Nanos);
        rate(&machine, &stack(1, layer.clone()), work)
    };
    let every = |fsync_every| Workload { fsync_every, engine: Engine::Psync, ..work(Pattern::RandWrite, 8, 1) };
    let data = Workload { keys: vec![FioKey { key: "fdatasync".into(), value: "1".into() }], ..every(None) };
    let xfs = Layer::Xfs(terms::layer::Xfs::default());
    for layer in [Layer::Ext4(Ext4::default()), xfs.clone(), Layer::Btrfs(Btrfs::default())] {
        let rates: Vec<f64> = (0..40).map(|step| at(Some(100_000 + 200_000 * step), &layer, &every(Some(1)))).collect();
        assert!(rates.windows(2).all(|two| two[1] < two[0] && two[1] > two[0] * 0.85), "{rates:?}");
        // Where nobody tells, it is a write and a flush.
        let usual = at(None, &layer, &every(Some(1)));
        assert!((at(Some(1_655_000), &layer, &every(Some(1))) / usual - 1.0).abs() < 0.01);
    }
    assert!((at(Some(4_007_000), &xfs, &every(Some(1))) / 177.4 - 1.0).abs() < 0.1);
    let slow = at(Some(9_000_000), &xfs, &data);
    assert!((slow / at(Some(100_000), &xfs, &data) - 1.0).abs() < 1e-9 && (slow / 608.6 - 1.0).abs() < 0.1, "{slow}");
}

/// What does not compress is kept as it is: reading it takes nothing more, and LZ4 passes over the larger records in longer steps.
#[test]
fn what_does_not_compress_is_not_decompressed() {
    let machine = Machine { cores: 1, threads: 1, ..machine(DriveKind::Ram) };
    let time = |pattern, kib, compression| {
        let zfs = Zfs { compression, recordsize: Bytes::kib(kib), ..Zfs::default() };
        1.0 / rate(&machine, &stack(1, Layer::Zfs(zfs)), &Workload { jobs: 4, ..work(pattern, 1024, 1) })
    };
    let (mut last, off) = (f64::INFINITY, ZfsCompression::Off);
    for kib in [4, 16, 64, 128, 512, 1024] {
        for compression in [ZfsCompression::Lz4, ZfsCompression::Zstd] {
            let share = time(Pattern::RandRead, kib, compression) / time(Pattern::RandRead, kib, off);
            assert!((share - 1.0).abs() < 1e-9, "{share}");
        }
        let more = time(Pattern::Write, kib, ZfsCompression::Lz4) - time(Pattern::Write, kib, off);
        assert!(more > 0.0 && more < last * 0.9, "{kib} KiB: {more}");
        last = more;
    }
}

/// What `pg_test_fsync` gave on drives of which nothing else is told: 8 KiB safe by `fdatasync`, a second.
#[test]
fn usual_drives_flush_as_published_ones_do() {
    let keys = |key: &str| FioKey { key: key.to_owned(), value: if key == "direct" { "0" } else { "1" }.to_owned() };
    let safe =
        Workload { engine: Engine::Psync, keys: vec![keys("direct"), keys("fdatasync")], ..work(Pattern::Write, 8, 1) };
    let published = [
        (DriveKind::Nvme, &[1416.8, 947.1, 1436.0, 2216.0, 608.6][..]),
        (DriveKind::SataSsd, &[1548.1]),
        (DriveKind::Optane, &[33_763.0]),
    ];
    for (kind, all) in published {
        let of =
            said(&machine(kind), &stack(1, Layer::Ext4(Ext4::default())), &safe, &Conditions::default()).operations;
        for &one in all {
            assert!((of.ninety.low..of.ninety.high).contains(&one), "{kind:?}: {one}, {of:?}");
        }
    }
}

/// Flash that is full moves as many bytes of writes at random in large blocks as in small ones; else it moves more, and so it does in
/// order. Of a drive with a quick part that is as its bytes are, whose part of random writes nobody tells.
#[test]
fn full_flash_moves_bytes_at_random_in_blocks_of_any_size() {
    let bytes = |kind, pattern, kib, sustained| {
        let mut machine = machine(kind);
        machine.drives[0].rated.write_iops = Some(Iops(80e3));
        let work = Workload { jobs: 8, ..work(pattern, kib, 64) };
        said(&machine, &stack(1, Layer::Bare), &work, &Conditions { sustained, ..Conditions::default() })
            .throughput
            .value
    };
    for kind in [DriveKind::NvmeEnterprise, DriveKind::SataEnterprise, DriveKind::SasSsd] {
        let small = bytes(kind, Pattern::RandWrite, 4, true);
        for kib in [8, 16, 128, 1024] {
            let large = bytes(kind, Pattern::RandWrite, kib, true);
            assert!((0.95..1.02).contains(&(large / small)), "{kind:?}, {kib} KiB: {large} {small}");
        }
        assert!(bytes(kind, Pattern::RandWrite, 1024, false) > small * 1.3, "{kind:?}");
        assert!(bytes(kind, Pattern::Write, 1024, true) > small * 1.3, "{kind:?}");
    }
    let home = |pattern| bytes(DriveKind::Nvme, pattern, 1024, true);
    assert!((home(Pattern::RandWrite) / home(Pattern::Write) - 1.0).abs() < 0.05);
}

/// The lock of a parity array passes between processors before Linux 5.14: the more there are, the longer each read has it, as far as
/// that was seen.
#[test]
fn a_lock_of_many_processors_takes_longer() {
    let of = |kernel, threads| {
        let machine = Machine { kernel: Some(kernel), threads, ..machine(DriveKind::NvmeEnterprise) };
        let deep = Workload { jobs: 64, ..work(Pattern::RandRead, 4, 128) };
        rate(&machine, &stack(9, raid(RaidLevel::Raid6, 512)), &deep)
    };
    let (few, usual, many) = (of((5, 13), 32), of((5, 13), 128), of((5, 13), 256));
    assert!((1.9..2.01).contains(&(few / usual)) && many >= usual * 0.999, "{few} {usual} {many}");
    assert!(of((5, 14), 256) > many * 2.0);
}

/// All streams that fill rows share the stripe cache: a part of each row is left where that holds little of each, and none where
/// it is large or there is one stream.
#[test]
fn streams_share_the_stripe_cache() {
    let written = |jobs, stripe_cache| {
        let layer = Raid { level: RaidLevel::Raid6, chunk: Bytes::kib(16), stripe_cache, ..Raid::default() };
        let streams = Workload { jobs, ..work(Pattern::Write, 128, 8) };
        let array = stack(9, Layer::Raid(layer));
        said(&machine(DriveKind::NvmeEnterprise), &array, &streams, &Conditions::default()).write_amplification.unwrap()
    };
    let of = |stripe_cache| [1, 2, 4, 8, 16, 32, 64].map(|jobs| written(jobs, stripe_cache));
    for all in [of(256), of(1024), of(32768)] {
        assert!(all.windows(2).all(|pair| pair[1] >= pair[0] - 1e-9), "{all:?}");
    }
    let (one, many, room) = (written(1, 256), written(64, 256), written(64, 32768));
    assert!(many > one * 1.05 && room < one + 1e-9, "{one} {many} {room}");
}

/// A stream that ZFS reads comes from the drives once, in blocks of any size: where nothing tells what is in memory, it is no quicker
/// than they are.
#[test]
fn small_blocks_of_a_stream_come_from_the_drives_too() {
    let machine = machine(DriveKind::SataSsd);
    let pool = stack(4, Layer::Zfs(Zfs { layout: ZfsLayout::Stripe, ..Zfs::default() }));
    for kib in [4, 16, 64, 128, 1024] {
        let streams = Workload { jobs: 16, ..work(Pattern::Read, kib, 1) };
        let conditions = Conditions { span: Bytes::gib(8), ..Conditions::default() };
        let bytes = said(&machine, &pool, &streams, &conditions).throughput.value;
        assert!(bytes < 4.0 * 551e6, "{kib} KiB: {bytes}");
    }
}

/// Makers rate writes at random of protected flash all over it. A part of it has all of the spare flash to itself: the smaller, the
/// sooner, as far as its bytes go. What was measured, what a drive keeps up, and drives with a quick part are as they are told.
#[test]
fn a_part_of_protected_flash_is_written_sooner() {
    let of = |kind, span: u64, trust, sustained| {
        let mut machine = machine(kind);
        let drives = &mut machine.drives[0];
        (drives.size, drives.trust) = (Some(Bytes::gib(1000)), trust);
        (drives.rated.write, drives.rated.write_iops) = (Some(BytesPerSecond(2e9)), Some(Iops(30e3)));
        let conditions = Conditions { span: Bytes::gib(span), sustained, ..Conditions::default() };
        let deep = Workload { jobs: 8, ..work(Pattern::RandWrite, 4, 64) };
        said(&machine, &stack(1, Layer::Bare), &deep, &conditions).operations.value
    };
    for kind in [DriveKind::NvmeEnterprise, DriveKind::SataEnterprise, DriveKind::SasSsd] {
        let rates = [1000, 500, 250, 100, 10, 1].map(|span| of(kind, span, Trust::Sheet, false));
        let limit = if kind == DriveKind::NvmeEnterprise { 1.02 } else { 1.05 };
        assert!((rates[0] / 30e3 - 1.0).abs() < limit - 1.0, "{kind:?} {rates:?}");
        assert!(rates.windows(2).all(|two| two[1] >= two[0] * 0.999), "{kind:?} {rates:?}");
        assert!(rates[2] > rates[0] * 1.2 && rates[5] < 2e9 / 4096.0, "{kind:?} {rates:?}");
        // Beyond its size it is all of it.
        assert!((of(kind, 2000, Trust::Sheet, false) / rates[0] - 1.0).abs() < 1e-9, "{kind:?}");
        for (trust, sustained) in [(Trust::Measured, false), (Trust::Sheet, true)] {
            assert!((of(kind, 10, trust, sustained) / rates[0] - 1.0).abs() < 0.01, "{kind:?}");
        }
    }
    let home = |span| of(DriveKind::Nvme, span, Trust::Sheet, false);
    assert!((home(1) / home(1000) - 1.0).abs() < 1e-9);
}

/// ZFS' log writes what is used of its block, a write of 4 KiB and what describes it 8 KiB, and on raidz all of it: 12 KiB on three
/// devices with their parity. Writes of 32 KiB and more are in it as a record, and their data go to their place once.
#[test]
fn the_log_writes_what_is_used_of_a_block() {
    let time = |speed: f64, block: u64, layout, members| {
        let mut machine = machine(DriveKind::NvmeEnterprise);
        machine.drives[0].rated.write = Some(BytesPerSecond(speed));
        let safe =
            Workload { fsync_every: Some(1), engine: Engine::Psync, block: Bytes(block), ..work(Pattern::Write, 4, 1) };
        1.0 / rate(&machine, &stack(members, Layer::Zfs(Zfs { layout, ..Zfs::default() })), &safe)
    };
    let slower = 1.0 / 50e6 - 1.0 / 100e6;
    let written =
        |block, layout, members| (time(50e6, block, layout, members) - time(100e6, block, layout, members)) / slower;
    for (block, expected) in
        [(2048, 4096.0), (4096, 8192.0), (8192, 12_288.0), (16_384, 20_480.0), (131_072, 135_168.0)]
    {
        for (layout, members) in [(ZfsLayout::Stripe, 1), (ZfsLayout::Mirror, 2)] {
            let bytes = written(block, layout, members);
            // What the pool writes meanwhile is in the way of some.
            assert!((0.95..1.9).contains(&(bytes / expected)), "{layout:?}, {block}: {bytes}");
        }
    }
    let raidz = written(4096, ZfsLayout::Raidz1, 3);
    assert!((0.95..1.9).contains(&(raidz / 6144.0)), "{raidz}");
}

/// A record has whole sectors. Of raidz it lies on no more data devices than it has sectors, and a read asks no more.
#[test]
fn a_record_has_whole_sectors() {
    let machine = machine(DriveKind::SataSsd);
    let pool = |layout, kib, ashift| {
        let recordsize = Bytes::kib(kib);
        Layer::Zfs(Zfs { layout, recordsize, ashift, primarycache: ZfsCache::Metadata, ..Zfs::default() })
    };
    let reads = |members, layer| {
        rate(&machine, &stack(members, layer), &Workload { jobs: 256, ..work(Pattern::RandRead, 8, 1) })
    };
    let one = reads(1, pool(ZfsLayout::Stripe, 8, None));
    // Six drives, of which two have a record of two sectors, each half of its bytes.
    let share = reads(6, pool(ZfsLayout::Raidz2, 8, None)) / one;
    assert!((2.2..6.0).contains(&share), "{share}");
    let written = |ashift| {
        let stream = Workload { jobs: 4, ..work(Pattern::Write, 128, 1) };
        rate(&machine, &stack(1, pool(ZfsLayout::Stripe, 4, Some(ashift))), &stream)
    };
    let half = written(13) / written(12);
    assert!((0.45..0.62).contains(&half), "{half}");
}

/// A flush is in no data sheet, and its source does not say so.
#[test]
fn no_data_sheet_tells_of_a_flush() {
    let mut machine = machine(DriveKind::Nvme);
    machine.drives[0].rated.flush = Some(Nanos(1_000_000));
    let safe = Workload { fsync_every: Some(1), ..work(Pattern::RandWrite, 4, 1) };
    let of = said(&machine, &stack(1, Layer::Bare), &safe, &Conditions::default());
    let flush = of.inputs.iter().find(|input| input.name.ends_with("a flush")).unwrap();
    assert!(flush.origin.contains("no data sheet") && flush.origin != "data sheet", "{}", flush.origin);
}

/// Twenty drives of 2011 to 2016, by MB/s of 4 KiB past the cache, one after the other (Sébastien Han, "how to test if your SSD is
/// suitable as a journal device"): intervals have three quarters of them, for drives of today are quicker.
#[test]
fn a_usual_flush_is_as_unsure_as_published_ones_differ() {
    let within = |kind, published: &[f64]| {
        let keys = vec![FioKey { key: "sync".into(), value: "dsync".into() }];
        let safe = Workload { keys, ..work(Pattern::Write, 4, 1) };
        let of = said(&machine(kind), &stack(1, Layer::Bare), &safe, &Conditions::default()).operations.ninety;
        published.iter().filter(|rate| (of.low..of.high).contains(&(*rate * 1e6 / 4096.0))).count()
    };
    let home =
        [98.0, 15.2, 11.3, 9.2, 9.0, 8.7, 7.6, 6.0, 4.2, 3.7, 2.6, 2.2, 1.9, 1.9, 1.5, 1.2, 1.0, 0.8, 0.8, 0.401];
    let protected = [163.0, 127.0, 96.0, 64.7, 39.1, 35.2, 34.9, 33.6, 26.0, 23.6, 22.5];
    let (some, others) = (within(DriveKind::SataSsd, &home), within(DriveKind::SataEnterprise, &protected));
    assert!(some >= 16 && others >= 8, "{some} of 20, {others} of 11");
}

/// What flash makes of flushes is in no data sheet: who waits for them through layers may be slower by far. A head's turn is known.
#[test]
fn who_waits_until_flash_is_safe_may_wait_long() {
    let slower = |kind, layer: &Layer, fsync_every| {
        let work = Workload { fsync_every, ..work(Pattern::RandWrite, 4, 1) };
        let of = said(&machine(kind), &stack(1, layer.clone()), &work, &Conditions::default()).operations;
        of.value / of.ninety.low
    };
    for layer in [Layer::Ext4(Ext4::default()), Layer::Btrfs(Btrfs::default()), Layer::Zfs(Zfs::default())] {
        for kind in [DriveKind::NvmeEnterprise, DriveKind::SataEnterprise, DriveKind::SataSsd] {
            let [safe, kept] = [Some(1), None].map(|every| slower(kind, &layer, every));
            assert!(safe > 6.0 && kept < safe * 0.75, "{kind:?}, {layer:?}: {safe} {kept}");
        }
        let [safe, kept] = [Some(1), None].map(|every| slower(DriveKind::Hdd, &layer, every));
        assert!(safe < 5.0 && safe < kept * 1.2, "{layer:?}: {safe} {kept}");
    }
    let bare = slower(DriveKind::NvmeEnterprise, &Layer::Bare, Some(1));
    assert!(bare < 4.0, "nothing is between: {bare}");
}
