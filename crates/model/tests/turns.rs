//! Members that take turns, and requests that are all out: each a line that says what a stack does relative to another.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use model::{Compiler, Conditions, Resource, Serial, Site, predict};
use terms::layer::{
    Btrfs, BtrfsProfile, Crypt, CryptFlags, Ext4, Integrity, IntegrityMode, Lvm, Raid, RaidLevel, Volume, Zfs,
    ZfsLayout,
};
use terms::machine::{DriveGroup, DriveKind, Machine, Rated, Trust};
use terms::workload::FioKey;
use terms::{Bytes, BytesPerSecond, Iops, Layer, LayerNode, Name, Nanos, Pattern, Ref, Stack, Workload};

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

/// Drives of the lab that take 16 KiB at once and three operations side by side, on a machine that never limits them.
fn flash() -> Machine {
    flash_of(40e3)
}

/// The same with so many operations in a second.
fn flash_of(operations: f64) -> Machine {
    let bytes = BytesPerSecond(operations * 16384.0);
    let rated = Rated {
        read: Some(bytes),
        write: Some(bytes),
        read_iops: Some(Iops(operations)),
        write_iops: Some(Iops(operations)),
        read_latency: Some(Nanos(63_000)),
        write_latency: Some(Nanos(63_000)),
        ..Rated::NOTHING
    };
    let group = DriveGroup { count: 4, rated, trust: Trust::Held, ..DriveGroup::unknown(name("d"), DriveKind::Ram) };
    Machine { kernel: Some((6, 1)), cores: 16, threads: 16, drives: vec![group], ..Machine::default() }
}

fn of(kind: DriveKind) -> Machine {
    Machine { drives: vec![DriveGroup { count: 4, ..DriveGroup::unknown(name("d"), kind) }], ..flash() }
}

fn stack(members: usize, layer: Layer) -> Stack {
    let on = (0..members).map(|at| Ref::Drive(name(&format!("d{at}")))).collect();
    let nodes = vec![LayerNode { name: name("n"), layer, on, special: Vec::new() }];
    Stack { name: "s".to_owned(), note: None, nodes }
}

fn raid(level: RaidLevel, chunk: u64) -> Layer {
    Layer::Raid(Raid { level, chunk: Bytes::kib(chunk), ..Raid::default() })
}

fn work(pattern: Pattern, kib: u64, depth: u32, jobs: u32) -> Workload {
    Workload { depth, jobs, ..Workload::new(name("w"), pattern, Bytes::kib(kib)) }
}

fn rate(machine: &Machine, stack: &Stack, work: &Workload) -> f64 {
    predict(&Site::new(machine), stack, work, &Conditions::default()).unwrap().operations.value
}

/// What all stations of a kind have to do for an operation.
fn demand(machine: &Machine, stack: &Stack, work: &Workload, of: fn(Resource) -> bool) -> f64 {
    let site = Site::new(machine);
    let mut compiler = Compiler::new(&site);
    let network = compiler.compile(stack, work, &Conditions::default()).unwrap();
    network.stations.iter().filter(|station| of(station.resource)).map(|station| station.demand).sum()
}

/// Who hands out a chunk sleeps until all but what a drive's requests hold is through: with chunks much larger than that,
/// drives work one after the other for one thread, and side by side for several.
#[test]
fn one_thread_fills_one_drive_after_the_other() {
    let at =
        |chunk, jobs| rate(&flash(), &stack(4, raid(RaidLevel::Raid0, chunk)), &work(Pattern::RandRead, 1024, 4, jobs));
    assert!(at(16, 1) > at(512, 1) * 2.5, "{} {}", at(16, 1), at(512, 1));
    assert!(at(512, 4) > at(512, 1) * 2.5, "{} {}", at(512, 4), at(512, 1));
    // A drive with more requests than an operation is of makes nobody sleep.
    let at = |chunk| {
        rate(&of(DriveKind::Nvme), &stack(4, raid(RaidLevel::Raid0, chunk)), &work(Pattern::RandRead, 1024, 4, 1))
    };
    assert!((at(16) / at(512) - 1.0).abs() < 0.3, "{} {}", at(16), at(512));
}

/// Drives that take one operation or two have a queue, as long as anybody asks for: who hands out a chunk goes on. What waits there
/// is work for the guest's processor.
#[test]
fn what_waits_in_a_queue_holds_nobody_back() {
    for operations in [12e3, 25e3] {
        let machine = flash_of(operations);
        let one = operations / 64.0;
        for (members, level, times) in
            [(4, RaidLevel::Raid0, 3.5), (4, RaidLevel::Raid10, 3.5), (2, RaidLevel::Raid1, 1.8)]
        {
            let found = rate(&machine, &stack(members, raid(level, 512)), &work(Pattern::RandRead, 1024, 16, 1));
            assert!(found > one * times, "{operations} {level:?}: {found} of {one}");
        }
        let cores = |depth| {
            let (array, work) = (stack(2, raid(RaidLevel::Raid0, 512)), work(Pattern::RandRead, 16, depth, 1));
            demand(&machine, &array, &work, |of| of == Resource::Cores)
        };
        assert!(cores(32) > cores(1) * 1.25, "{} {}", cores(1), cores(32));
    }
}

/// Few requests on each drive hold back those of one thread for drives that have room.
#[test]
fn a_full_drive_holds_back_what_others_have_room_for() {
    let small =
        |machine: &Machine| rate(machine, &stack(4, raid(RaidLevel::Raid0, 512)), &work(Pattern::RandRead, 4, 32, 1));
    let free = 4.0 * 40e3;
    assert!(small(&flash()) < free * 0.85, "{}", small(&flash()));
    assert!(small(&flash()) > free * 0.6, "{}", small(&flash()));
}

/// Small reads of a mirror go to the drive with the least to do, so none fills before the others; the pieces of a large one are
/// still handed to one drive, while the other has nothing.
#[test]
fn a_mirror_fills_its_drives_evenly_but_for_large_reads() {
    let mirror = stack(2, raid(RaidLevel::Raid1, 512));
    let stripe = stack(2, raid(RaidLevel::Raid0, 512));
    let at = |stack: &Stack, kib, depth| rate(&flash(), stack, &work(Pattern::RandRead, kib, depth, 1));
    assert!(at(&mirror, 4, 16) > at(&stripe, 4, 16) * 1.05, "{} {}", at(&mirror, 4, 16), at(&stripe, 4, 16));
    let one = 655.36e6 / f64::from(1 << 20);
    assert!(at(&mirror, 1024, 16) < one * 1.2, "{} {one}", at(&mirror, 1024, 16));
}

/// RAID-10 gives the pieces of a large read to both copies in turn, so that twice as many requests are out before anybody sleeps.
#[test]
fn both_copies_of_a_stripe_read_its_pieces() {
    let at = |members, level| rate(&flash(), &stack(members, raid(level, 256)), &work(Pattern::RandRead, 1024, 4, 1));
    let one = 655.36e6 / f64::from(1 << 20);
    assert!(at(4, RaidLevel::Raid10) > one * 3.0, "{} {one}", at(4, RaidLevel::Raid10));
    assert!(at(2, RaidLevel::Raid0) < one * 1.5, "{} {one}", at(2, RaidLevel::Raid0));
}

/// Who encrypts in the call hands nothing over meanwhile: large operations take what the cipher and the drive take together,
/// small ones are through before the drive is.
#[test]
fn a_cipher_in_the_call_keeps_from_the_drive() {
    let at = |machine: &Machine, inline, pattern, kib| {
        let flags = CryptFlags { no_read_workqueue: inline, no_write_workqueue: inline, ..CryptFlags::default() };
        rate(machine, &stack(1, Layer::Crypt(Crypt { flags, ..Crypt::default() })), &work(pattern, kib, 8, 1))
    };
    for pattern in [Pattern::RandRead, Pattern::RandWrite] {
        let kept = |machine: &Machine, kib| at(machine, true, pattern, kib) / at(machine, false, pattern, kib);
        assert!(kept(&flash(), 1024) < 0.9, "{pattern:?} {}", kept(&flash(), 1024));
        assert!(kept(&flash(), 4) > 0.99, "{pattern:?} {}", kept(&flash(), 4));
        assert!(kept(&of(DriveKind::SataSsd), 1024) > 0.95, "{pattern:?} a long queue has work meanwhile");
    }
}

/// Members with dm-integrity have workers that sleep for the drive; who reads from the array sleeps for none and keeps all busy.
#[test]
fn members_with_workers_of_their_own_are_all_kept_busy() {
    let mut machine = flash();
    let rated = &mut machine.drives[0].rated;
    (rated.read, rated.read_iops) = (Some(BytesPerSecond(327.68e6)), Some(Iops(40e3)));
    let array = stack(4, raid(RaidLevel::Raid5, 64));
    let mut protected = array.clone();
    let array_on_members = (0..4).map(|at| Ref::Layer(name(&format!("i{at}")))).collect();
    let last = LayerNode { on: array_on_members, ..protected.nodes[0].clone() };
    protected.nodes = (0..4)
        .map(|at| LayerNode {
            name: name(&format!("i{at}")),
            layer: Layer::Integrity(Integrity { mode: IntegrityMode::Bitmap, ..Integrity::default() }),
            on: vec![Ref::Drive(name(&format!("d{at}")))],
            special: Vec::new(),
        })
        .chain([last])
        .collect();
    let work = work(Pattern::RandRead, 16, 16, 1);
    let (alone, with) = (rate(&machine, &array, &work), rate(&machine, &protected, &work));
    assert!(with > 1.1 * alone, "{alone} {with}");
}

/// Each processor that asks has 16 workers who hand reads to the drive and wait for each: a longer queue brings nothing. The lab's
/// drive had 16.1 reads under way of 512 that one processor asked for, and 124 without dm-integrity.
#[test]
fn reads_of_integrity_are_as_many_at_a_time_as_it_has_workers() {
    let at = |kind, layer: &Layer, threads, depth, jobs| {
        let machine = Machine { cores: threads, threads, ..of(kind) };
        rate(&machine, &stack(1, layer.clone()), &work(Pattern::RandRead, 4, depth, jobs))
    };
    let tags = Layer::Integrity(Integrity::default());
    for kind in [DriveKind::Hdd, DriveKind::SataSsd] {
        let gain = |layer: &Layer, threads, jobs| {
            at(kind, layer, threads, 512 / jobs, jobs) / at(kind, layer, threads, 16 / jobs, jobs)
        };
        for (threads, jobs) in [(1, 1), (1, 16), (16, 1)] {
            let (with, without) = (gain(&tags, threads, jobs), gain(&Layer::Bare, threads, jobs));
            assert!(with < 1.001 && without > 1.05, "{kind:?}, {threads} threads, {jobs} jobs: {with} {without}");
        }
        assert!(gain(&tags, 16, 16) > 1.05, "{kind:?}: each processor has as many");
    }
}

/// md's threads work while no drive does, and the drives while no thread does: it adds up for pieces that are waited for.
#[test]
fn what_threads_of_md_hold_back_adds_up() {
    let added = |layer, kib| {
        let (array, work) = (stack(4, layer), work(Pattern::RandWrite, kib, 4, 1));
        demand(&flash(), &array, &work, |of| matches!(of, Resource::Turns(..)))
            / demand(&flash(), &array, &work, |of| matches!(of, Resource::Drive(..)))
    };
    for layer in [raid(RaidLevel::Raid1, 512), raid(RaidLevel::Raid6, 64)] {
        assert!(added(layer.clone(), 1024) > 1.02, "{layer:?}: {}", added(layer.clone(), 1024));
        assert!(added(layer.clone(), 4) < 1.0 + 1e-9, "{layer:?}: {}", added(layer.clone(), 4));
    }
}

/// One process reads the same copy of each chunk of btrfs, several read both.
#[test]
fn one_process_reads_one_copy() {
    let profile = |data| Layer::Btrfs(Btrfs { data, ..Btrfs::default() });
    let at =
        |data, jobs| rate(&of(DriveKind::SataSsd), &stack(4, profile(data)), &work(Pattern::RandRead, 256, 16, jobs));
    assert!(at(BtrfsProfile::Raid10, 4) > at(BtrfsProfile::Raid10, 1) * 1.5);
    assert!(at(BtrfsProfile::Raid0, 1) > at(BtrfsProfile::Raid10, 1) * 1.5);
}

/// Each record of ZFS is work, also one that the ARC answers, and so is each copy.
#[test]
fn records_and_copies_of_zfs_are_work() {
    let cores = |of: Resource| of == Resource::Cores;
    let at = |layout, recordsize, pattern| {
        let mut machine = of(DriveKind::Ram);
        machine.memory.size = Some(Bytes::gib(64));
        let layer = Layer::Zfs(Zfs { layout, recordsize, ..Zfs::default() });
        demand(&machine, &stack(2, layer), &work(pattern, 1024, 1, 1), cores)
    };
    let (small, usual) = (Bytes::kib(16), Bytes::kib(128));
    for pattern in [Pattern::RandWrite, Pattern::Write, Pattern::RandRead, Pattern::Read] {
        let [few, many] = [usual, small].map(|record| at(ZfsLayout::Stripe, record, pattern));
        assert!(many > few * 1.2, "{pattern:?}: {few} {many}");
    }
    assert!(at(ZfsLayout::Mirror, usual, Pattern::Write) > at(ZfsLayout::Stripe, usual, Pattern::Write) * 1.1);
}

/// A record that is written to again before its transaction group is written goes to the drives once.
#[test]
fn a_record_that_is_dirty_is_written_once() {
    let mut site = of(DriveKind::SataSsd);
    site.memory.size = Some(Bytes::gib(64));
    let pool = stack(1, Layer::Zfs(Zfs::default()));
    let rate = |pattern, span, warm| {
        let conditions = Conditions { span, warm, ..Conditions::default() };
        let work = work(pattern, 4, 1, 4);
        predict(&Site::new(&site), &pool, &work, &conditions).unwrap().operations.value
    };
    let (few, many) = (Bytes::mib(256), Bytes::gib(256));
    // A stream comes back to the same records, too.
    for (pattern, least) in [(Pattern::RandWrite, 2.0), (Pattern::Write, 1.5)] {
        let again = rate(pattern, few, true) / rate(pattern, many, true);
        assert!(again > least, "{pattern:?}: {again}");
        let sought = rate(pattern, few, false) / rate(pattern, many, false);
        assert!(
            (sought - 1.0).abs() < 0.01,
            "where a stack is sought, data are larger than a test's: {pattern:?}: {sought}"
        );
    }
}

/// A group may take so little of a small pool that it ends soon, and each has writes of its own.
#[test]
fn a_small_pool_writes_many_groups() {
    let pool = stack(2, Layer::Zfs(Zfs { layout: ZfsLayout::Mirror, ..Zfs::default() }));
    let cores = |gib| {
        let mut machine = of(DriveKind::Ram);
        machine.drives[0].size = Some(Bytes::gib(gib));
        machine.memory.size = Some(Bytes::gib(64));
        demand(&machine, &pool, &work(Pattern::Write, 128, 1, 1), |resource| resource == Resource::Cores)
    };
    assert!(cores(2) > 1.1 * cores(1000), "{} {}", cores(2), cores(1000));
}

/// A stream of small blocks is on one member of a stripe of large chunks, and on all of one whose chunks its window covers.
#[test]
fn a_stream_is_on_as_many_members_as_it_covers() {
    let machine = of(DriveKind::Nvme);
    let turns = |chunk, jobs| {
        let array = stack(4, raid(RaidLevel::Raid0, chunk));
        demand(&machine, &array, &work(Pattern::Read, 16, 8, jobs), |of| matches!(of, Resource::Turns(..)))
            / demand(&machine, &array, &work(Pattern::Read, 16, 8, jobs), |of| matches!(of, Resource::Drive(..)))
    };
    assert!((turns(512, 1) - 4.0 / (1.0 + 112.0 / 512.0)).abs() < 0.01, "{}", turns(512, 1));
    assert!(turns(512, 8) < 1.2 && turns(512, 8) > 1.0, "{}", turns(512, 8));
    assert!(turns(16, 1).abs() < 1e-9);
}

/// md's own thread hands the writes of a mirror to its members; reads it has nothing to do with.
#[test]
fn the_thread_of_a_mirror_writes() {
    let mirror = |of: Resource| matches!(of, Resource::Serial(model::Serial::Mirror, _));
    let lvm = Layer::Lvm(Lvm { volume: Volume::Raid1, ..Lvm::default() });
    for layer in [raid(RaidLevel::Raid1, 512), raid(RaidLevel::Raid10, 512), lvm] {
        let array = stack(4, layer);
        assert!(demand(&of(DriveKind::Nvme), &array, &work(Pattern::RandWrite, 4, 8, 1), mirror) > 0.0);
        assert!(demand(&of(DriveKind::Nvme), &array, &work(Pattern::RandRead, 4, 8, 1), mirror).abs() < 1e-12);
        // A file system submits what it writes itself.
        let mut files = array.clone();
        let on = vec![Ref::Layer(name("n"))];
        files.nodes.push(LayerNode { name: name("f"), layer: Layer::Ext4(Ext4::default()), on, special: Vec::new() });
        assert!(demand(&of(DriveKind::Nvme), &files, &work(Pattern::RandWrite, 4, 8, 1), mirror).abs() < 1e-12);
    }
}

/// Each part of a chunk goes its own way through md, and a RAM drive joins none of them.
#[test]
fn small_chunks_are_more_work() {
    let threads = |of: Resource| of == Resource::Thread;
    let at = |kind, chunk| {
        demand(&of(kind), &stack(4, raid(RaidLevel::Raid0, chunk)), &work(Pattern::RandRead, 1024, 4, 1), threads)
    };
    for kind in [DriveKind::Ram, DriveKind::Nvme] {
        assert!(at(kind, 16) > at(kind, 256) * 1.1, "{kind:?}: {} {}", at(kind, 16), at(kind, 256));
    }
    let more = |kind| at(kind, 16) - at(kind, 256);
    assert!(more(DriveKind::Ram) > more(DriveKind::Nvme));
}

/// A mirror keeps a stream on one member where drives tell no size that is best: those in memory do not.
#[test]
fn a_stream_stays_with_one_member_in_memory() {
    let array = stack(2, raid(RaidLevel::Raid1, 512));
    let at = |machine: &Machine, pattern| rate(machine, &array, &work(pattern, 16, 16, 1));
    assert!(at(&flash(), Pattern::RandRead) > at(&flash(), Pattern::Read) * 1.3);
    let nvme = of(DriveKind::Nvme);
    assert!(at(&nvme, Pattern::Read) >= at(&nvme, Pattern::RandRead) * 0.99);
}

/// A write has ended when it lies in the journal of dm-integrity in memory; the journal is written in large requests.
#[test]
fn a_small_write_ends_in_the_journal_s_memory() {
    let machine = of(DriveKind::SataSsd);
    let array = |mode| stack(1, Layer::Integrity(Integrity { mode, sector: Bytes::kib(4), ..Integrity::default() }));
    let lone = work(Pattern::RandWrite, 4, 1, 1);
    let at = |mode| rate(&machine, &array(mode), &lone);
    assert!(at(IntegrityMode::Journal) > at(IntegrityMode::NoJournal) * 1.1);
    let many = work(Pattern::RandWrite, 4, 32, 4);
    let at = |mode| rate(&machine, &array(mode), &many);
    assert!(at(IntegrityMode::Journal) <= at(IntegrityMode::NoJournal));
    let drives = |of: Resource| matches!(of, Resource::Drive(..));
    let [plain, journalled] =
        [IntegrityMode::NoJournal, IntegrityMode::Journal].map(|mode| demand(&machine, &array(mode), &many, drives));
    assert!(journalled > plain, "{plain} {journalled}");
}

/// A buffer that is smaller than a huge page is pinned page by page.
#[test]
fn small_buffers_are_pinned_page_by_page() {
    let threads = |of: Resource| of == Resource::Thread;
    let machine = of(DriveKind::Ram);
    let at = |depth| demand(&machine, &stack(1, Layer::Bare), &work(Pattern::Read, 1024, depth, 1), threads);
    assert!(at(1) > at(8) && (at(1) - at(2)).abs() < 1e-12, "{} {}", at(1), at(8));
}

/// A journal has an entry for each sector: small ones are more work than their checksums are.
#[test]
fn a_journal_has_an_entry_for_each_sector() {
    let workers = |of: Resource| matches!(of, Resource::Workers(_));
    let at = |mode, sector| {
        let layer = Layer::Integrity(Integrity { mode, sector, ..Integrity::default() });
        demand(&of(DriveKind::Nvme), &stack(1, layer), &work(Pattern::Write, 1024, 8, 1), workers)
    };
    let more = |mode| at(mode, Bytes(512)) - at(mode, Bytes::kib(4));
    assert!(more(IntegrityMode::Journal) > more(IntegrityMode::NoJournal) * 2.0);
}

/// The parity of raidz is work of the processors, as md's is.
#[test]
fn parity_takes_processors() {
    let cores = |of: Resource| of == Resource::Cores;
    let at = |layer| demand(&of(DriveKind::Nvme), &stack(4, layer), &work(Pattern::Write, 1024, 8, 1), cores);
    let zfs = |layout| Layer::Zfs(Zfs { layout, ..Zfs::default() });
    assert!(
        at(zfs(ZfsLayout::Raidz2)) > at(zfs(ZfsLayout::Raidz1))
            && at(zfs(ZfsLayout::Raidz1)) > at(zfs(ZfsLayout::Stripe))
    );
    assert!(at(raid(RaidLevel::Raid6, 64)) > at(raid(RaidLevel::Raid5, 64)));
}

/// The parity thread takes as long for each page of a member, whatever the level; and large requests take it more, for each page
/// is looked for from the beginning of its request.
#[test]
fn a_row_takes_as_long_for_each_member() {
    let thread = |level, members, kib| {
        let is = |resource| matches!(resource, Resource::Serial(Serial::Parity, _));
        let machine =
            Machine { drives: vec![DriveGroup { count: 6, ..of(DriveKind::Ram).drives[0].clone() }], ..flash() };
        demand(&machine, &stack(members, raid(level, 16)), &work(Pattern::RandWrite, kib, 1, 1), is)
    };
    // Two chunks of data in each row, and as many copies into the cache.
    let (one, two) = (thread(RaidLevel::Raid5, 3, 32), thread(RaidLevel::Raid6, 4, 32));
    assert!((1.1..4.0 / 3.0).contains(&(two / one)), "{one} {two}");
    let (small, large) = (thread(RaidLevel::Raid6, 4, 32), thread(RaidLevel::Raid6, 4, 1024));
    assert!(large > small * 32.0 * 1.3, "{small} {large}");
}

/// A stream whose operations under way end in the middle of a row leaves that row to be written in two parts, where the thread has
/// nothing else to do meanwhile: of three members of data, not of two.
#[test]
fn a_stream_in_memory_breaks_rows_that_it_does_not_fill() {
    let written = |level, kind| {
        let stream = work(Pattern::Write, 64, 4, 1);
        let said = predict(&Site::new(&of(kind)), &stack(4, raid(level, 64)), &stream, &Conditions::default()).unwrap();
        said.write_amplification.unwrap()
    };
    let whole = written(RaidLevel::Raid5, DriveKind::Nvme);
    assert!((whole - 4.0 / 3.0).abs() < 0.05, "{whole}");
    assert!(written(RaidLevel::Raid5, DriveKind::Ram) > whole * 1.1);
    let even = written(RaidLevel::Raid6, DriveKind::Ram);
    assert!((even - 2.0).abs() < 0.05, "{even}");
}

/// Each piece of a read takes a drive's whole time, and four drives work on four of them side by side: no less than one piece on
/// one drive, and no more than two after another.
#[test]
fn pieces_on_several_drives_take_a_whole_time_each() {
    let alone =
        |kib| 1.0 / rate(&flash_of(25e3), &stack(4, raid(RaidLevel::Raid0, 16)), &work(Pattern::RandRead, kib, 1, 1));
    let (one, four) = (alone(16), alone(64));
    assert!(four > one && four < one * 2.0, "{one} {four}");
}

/// Workers decrypt what was read when all of it is there: one operation at a time is as long as drives and cipher together take,
/// in however many pieces drives have it.
#[test]
fn a_cipher_and_drives_take_turns_at_one_operation() {
    let read = work(Pattern::RandRead, 128, 1, 1);
    let [bare, crypt] = [Layer::Bare, Layer::Crypt(Crypt::default())].map(|layer| stack(1, layer));
    let cores = |stack| demand(&flash(), stack, &read, |of| of == Resource::Cores);
    let cipher = (cores(&crypt) - cores(&bare)) * f64::from(flash().threads);
    let [alone, encrypted] = [&bare, &crypt].map(|stack| 1.0 / rate(&flash(), stack, &read));
    assert!(encrypted > alone + cipher * 0.8, "{encrypted} {alone} {cipher}");
}

/// Who reads at random through the page cache waits for the pieces of its block, which both copies of a chunk read side by side as
/// they do past it.
#[test]
fn pieces_of_a_buffered_read_are_read_side_by_side() {
    let read = |level, cached: bool| {
        let keys = cached.then(|| FioKey { key: "direct".to_owned(), value: "0".to_owned() });
        let read = Workload { keys: keys.into_iter().collect(), ..work(Pattern::RandRead, 256, 1, 1) };
        rate(&flash_of(6e3), &stack(4, raid(level, 512)), &read)
    };
    for cached in [false, true] {
        let (stripes, mirrors) = (read(RaidLevel::Raid0, cached), read(RaidLevel::Raid10, cached));
        assert!(mirrors > stripes * 1.5, "{cached}: {mirrors} {stripes}");
    }
}

/// The pages of a read at a random place are made before drives are asked, and copied when the data are there.
#[test]
fn who_reads_at_random_waits_for_pages_and_drives_in_turn() {
    let direct = FioKey { key: "direct".to_owned(), value: "0".to_owned() };
    let read = Workload { keys: vec![direct], ..work(Pattern::RandRead, 256, 1, 1) };
    let bare = stack(1, Layer::Bare);
    let of = |of| demand(&flash_of(6e3), &bare, &read, of);
    let (thread, drive) = (of(|of| of == Resource::Thread), of(|of| matches!(of, Resource::Drive(..))));
    let alone = 1.0 / rate(&flash_of(6e3), &bare, &read);
    assert!(alone > drive + thread * 0.6, "{alone} {drive} {thread}");
}

/// Chunks of striped mirrors over two or three devices are mirrors of two; over five they lie on four, as over four.
#[test]
fn striped_mirrors_of_btrfs_are_as_wide_as_their_chunks() {
    let mut machine = of(DriveKind::SataSsd);
    machine.drives[0].count = 5;
    let over = |data, devices, pattern| {
        let btrfs = Layer::Btrfs(Btrfs { data, ..Btrfs::default() });
        rate(&machine, &stack(devices, btrfs), &work(pattern, 256, 16, 4))
    };
    for pattern in [Pattern::Read, Pattern::RandRead, Pattern::Write, Pattern::RandWrite] {
        for devices in [2, 3] {
            let (striped, mirror) =
                (over(BtrfsProfile::Raid10, devices, pattern), over(BtrfsProfile::Raid1, devices, pattern));
            assert!((striped / mirror - 1.0).abs() < 1e-9, "{devices}, {pattern:?}: {striped} {mirror}");
        }
        let (five, four) = (over(BtrfsProfile::Raid10, 5, pattern), over(BtrfsProfile::Raid10, 4, pattern));
        assert!((0.95..1.3).contains(&(five / four)), "{pattern:?}: {five} {four}");
    }
}

/// A snapshot is taken of a thin volume before anything is written to it: it shares no chunk, and none is copied.
#[test]
fn a_snapshot_of_a_thin_volume_copies_nothing() {
    let of = |thin: bool, snapshot| {
        let lvm = Lvm { thin_chunk: thin.then_some(Bytes::mib(1)), snapshot, ..Lvm::default() };
        rate(&flash(), &stack(1, Layer::Lvm(lvm)), &work(Pattern::RandWrite, 4, 16, 1))
    };
    assert!((of(true, true) / of(true, false) - 1.0).abs() < 1e-9);
    assert!(of(false, true) < of(false, false) * 0.9);
}
