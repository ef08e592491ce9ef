//! What the page cache makes of buffered I/O, each with what refutes it.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use model::solve::solve;
use model::{Compiler, Conditions, Resource, Site, predict};
use proptest::prelude::*;
use proptest::sample::select;
use terms::layer::{Btrfs, Crypt, CryptFlags, Ext4, Integrity, IntegrityMode, Lvm, Raid, RaidLevel, Xfs, Zfs};
use terms::machine::{DriveGroup, DriveKind, Machine, Memory, Rated, Trust};
use terms::workload::FioKey;
use terms::{Bytes, BytesPerSecond, Iops, Layer, LayerNode, Name, Nanos, Pattern, Ref, Stack, Workload};

const DIRECT: &[(&str, &str)] = &[];
const COLD: &[(&str, &str)] = &[("direct", "0")];
/// All jobs over the same bytes.
const SHARED: &[(&str, &str)] = &[("direct", "0"), ("offset_increment", "0")];
const WARM: &[(&str, &str)] = &[("direct", "0"), ("pre_read", "1")];

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn machine(kind: DriveKind, memory: Option<Bytes>) -> Machine {
    Machine {
        name: "m".to_owned(),
        kernel: Some((6, 1)),
        cores: 8,
        threads: 16,
        memory: Memory { channels: Some(2), speed: Some(3200), size: memory, ..Memory::default() },
        drives: vec![DriveGroup { count: 4, ..DriveGroup::unknown(name("d"), kind) }],
        ..Machine::default()
    }
}

fn work(pattern: Pattern, block: Bytes, cache: &[(&str, &str)]) -> Workload {
    let keys = cache.iter().map(|(key, value)| FioKey { key: (*key).to_owned(), value: (*value).to_owned() });
    Workload { keys: keys.collect(), ..Workload::new(name("w"), pattern, block) }
}

/// Layers from the drives upwards.
fn stack(layers: &[Layer], drives: usize) -> Stack {
    let node = |at: usize, layer: &Layer| LayerNode {
        name: name(&format!("n{at}")),
        layer: layer.clone(),
        on: if at > 0 {
            vec![Ref::Layer(name(&format!("n{}", at - 1)))]
        } else if drives == 1 {
            vec![Ref::Drive(name("d0"))]
        } else {
            (0..drives).map(|drive| Ref::Drive(name(&format!("d{drive}")))).collect()
        },
        special: Vec::new(),
    };
    let nodes = layers.iter().enumerate().map(|(at, layer)| node(at, layer)).collect();
    Stack { name: "s".to_owned(), note: None, nodes }
}

/// Bytes in a second.
fn rate_on(span: Bytes, machine: &Machine, stack: &Stack, work: &Workload) -> f64 {
    let site = Site::new(machine);
    let mut compiler = Compiler::new(&site);
    let network = compiler.compile(stack, work, &Conditions { span, ..Conditions::default() }).unwrap();
    solve(network).throughput * work.block.as_f64()
}

fn rate(machine: &Machine, layers: &[Layer], work: &Workload) -> f64 {
    rate_on(Bytes::gib(1024), machine, &stack(layers, 1), work)
}

fn ext4() -> Layer {
    Layer::Ext4(Ext4::default())
}

/// A lone reader of small blocks in order has the kernel read ahead for it: some times direct I/O, for which only the drive does.
#[test]
fn small_reads_in_order_are_read_ahead() {
    let machine = machine(DriveKind::Nvme, None);
    let of = |cache| rate(&machine, &[ext4()], &work(Pattern::Read, Bytes::kib(4), cache));
    assert!(of(COLD) > 3.0 * of(DIRECT), "{} {}", of(COLD), of(DIRECT));
}

/// Pages that are taken, entered and copied keep a reader of a fast drive below what it gives past the cache.
#[test]
fn large_reads_in_order_are_copied() {
    let machine = machine(DriveKind::Nvme, None);
    let of = |layer: Layer, cache| {
        let work = Workload { depth: 8, ..work(Pattern::Read, Bytes::mib(1), cache) };
        rate(&machine, &[layer], &work)
    };
    assert!(of(ext4(), COLD) < 0.9 * of(ext4(), DIRECT));
    let xfs = Layer::Xfs(Xfs::default());
    assert!(of(xfs, COLD) > 1.2 * of(ext4(), COLD), "large folios");
}

/// The window covers two stripes of an array, so that its members read side by side.
#[test]
fn an_array_is_read_ahead_by_its_stripes() {
    let machine = machine(DriveKind::SataSsd, None);
    let stripes = Layer::Raid(Raid { level: RaidLevel::Raid0, ..Raid::default() });
    let of = |stack: &Stack| rate_on(Bytes::gib(1024), &machine, stack, &work(Pattern::Read, Bytes::kib(128), COLD));
    let (one, four) = (of(&stack(&[ext4()], 1)), of(&stack(&[stripes, ext4()], 4)));
    assert!(four > 2.5 * one, "{one} {four}");
}

/// A buffered read at a random place waits for its own pages, whatever the depth.
#[test]
fn depth_is_nothing_to_a_buffered_read() {
    let machine = machine(DriveKind::Nvme, None);
    let of = |depth, engine| {
        let work = Workload { depth, engine, ..work(Pattern::RandRead, Bytes::kib(4), COLD) };
        rate(&machine, &[ext4()], &work)
    };
    let libaio = terms::Engine::Libaio;
    assert!((of(32, libaio) / of(1, libaio) - 1.0).abs() < 1e-9);
    assert!(of(32, terms::Engine::IoUring) > 4.0 * of(1, libaio));
}

/// Writes are as fast as memory until 15 % of it is dirty, and then as fast as the drive.
#[test]
fn memory_takes_what_it_has_room_for() {
    let of = |memory: u64, span: u64, cache| {
        let machine = machine(DriveKind::SataSsd, Some(Bytes::gib(memory)));
        rate_on(Bytes::gib(span), &machine, &stack(&[ext4()], 1), &work(Pattern::Write, Bytes::mib(1), cache))
    };
    let drive = rate(&machine(DriveKind::SataSsd, None), &[ext4()], &work(Pattern::Write, Bytes::mib(1), COLD));
    assert!(of(64, 1, WARM) > 3.0 * drive, "no more than a tenth of memory is ever dirty");
    let taken = 0.15 * 64.0 * 1024.0 * 1_048_576.0 / 60.0;
    let mixed = of(64, 1024, COLD);
    assert!((mixed / (drive + taken) - 1.0).abs() < 0.01, "{mixed} {drive} {taken}");
    assert!(of(1, 1024, COLD) < 1.1 * drive);
}

/// Without the size of memory nobody knows when writers begin to wait, and that is said.
#[test]
fn a_memory_without_size_is_told() {
    let site = machine(DriveKind::SataSsd, None);
    let write = work(Pattern::Write, Bytes::mib(1), COLD);
    let said = predict(&Site::new(&site), &stack(&[ext4()], 1), &write, &Conditions::default()).unwrap();
    assert!(said.flags.iter().any(|flag| flag.message.contains("`size` in [memory]")), "{:?}", said.flags);
}

/// What an `fsync` waits for is on the drives: memory is of no help.
#[test]
fn what_is_to_be_safe_waits_for_the_drive() {
    let machine = machine(DriveKind::SataSsd, Some(Bytes::gib(64)));
    let of = |cache| {
        let work = Workload { fsync_every: Some(1), ..work(Pattern::RandWrite, Bytes::kib(4), cache) };
        rate(&machine, &[ext4()], &work)
    };
    assert!((of(WARM) / of(DIRECT) - 1.0).abs() < 0.1, "{} {}", of(WARM), of(DIRECT));
}

/// What one job brought in the others find, as long as none of them is through with its pass.
#[test]
fn jobs_find_what_others_read() {
    let machine = machine(DriveKind::Nvme, Some(Bytes::gib(64)));
    let of = |jobs, span| {
        let work = Workload { jobs, ..work(Pattern::RandRead, Bytes::kib(64), SHARED) };
        rate_on(Bytes::gib(span), &machine, &stack(&[ext4()], 1), &work)
    };
    let (near, far) = (of(4, 4) / of(1, 4), of(4, 4096) / of(1, 4096));
    assert!(near > 1.3 * far, "{near} {far}");
    assert!((of(1, 4) / of(1, 4096) - 1.0).abs() < 1e-9, "a job alone meets each block once");
}

/// A page that several jobs write to before it is on a drive is written to it once.
#[test]
fn what_several_jobs_wrote_is_written_once() {
    let machine = machine(DriveKind::SataSsd, Some(Bytes::gib(64)));
    let of = |layers: &[Layer], pattern, jobs| {
        let work = Workload { jobs, ..work(pattern, Bytes::kib(256), SHARED) };
        rate_on(Bytes::gib(4), &machine, &stack(layers, 1), &work)
    };
    let gain = |layers: &[Layer], pattern| of(layers, pattern, 4) / of(layers, pattern, 1);
    let files = gain(&[ext4()], Pattern::RandWrite);
    assert!((3.5..=4.1).contains(&files), "all four are through with the span at the same time: {files}");
    let device = gain(&[Layer::Bare], Pattern::RandWrite);
    assert!((1.3..=2.0).contains(&device), "each waits for its own flush, and comes to its end by itself: {device}");
    let own = Workload { jobs: 4, ..work(Pattern::RandWrite, Bytes::kib(256), COLD) };
    let own = rate_on(Bytes::gib(4), &machine, &stack(&[ext4()], 1), &own);
    assert!(own < 1.05 * of(&[ext4()], Pattern::RandWrite, 1), "jobs have parts of their own, but where it is said");
}

/// Windows grow to two stripes and more, and what is read ahead where a pass ends nobody takes: of a short pass that is most.
#[test]
fn what_is_read_ahead_beyond_the_end_is_read_for_nobody() {
    let machine = machine(DriveKind::SataSsd, Some(Bytes::gib(64)));
    let of = |chunk, span| {
        let stripes = Layer::Raid(Raid { level: RaidLevel::Raid0, chunk: Bytes::kib(chunk), ..Raid::default() });
        rate_on(span, &machine, &stack(&[stripes], 4), &work(Pattern::Mixed(70), Bytes::kib(16), COLD))
    };
    let lost = |chunk| of(chunk, Bytes::gib(64)) / of(chunk, Bytes::mib(8));
    assert!(lost(512) > 1.5, "{}", lost(512));
    assert!(lost(16) < 1.3, "{}", lost(16));
}

/// Who asks that a file be written waits for a drive with few requests, but not for one that a layer's workers wait for.
#[test]
fn workers_take_what_files_write() {
    let rated = Rated {
        read: Some(BytesPerSecond(98.304e6)),
        write: Some(BytesPerSecond(98.304e6)),
        read_iops: Some(Iops(12e3)),
        write_iops: Some(Iops(12e3)),
        read_latency: Some(Nanos(83_300)),
        write_latency: Some(Nanos(83_300)),
        ..Rated::NOTHING
    };
    let drive = DriveGroup { rated, trust: Trust::Held, ..DriveGroup::unknown(name("d0"), DriveKind::Ram) };
    let machine = Machine { drives: vec![drive], ..machine(DriveKind::Ram, Some(Bytes::gib(6))) };
    let of = |flags: CryptFlags| {
        let mapping = Layer::Crypt(Crypt { flags, ..Crypt::default() });
        let write = work(Pattern::RandWrite, Bytes::mib(1), COLD);
        rate_on(Bytes::mib(8), &machine, &stack(&[mapping, ext4()], 1), &write) / 98.304e6
    };
    let inline = CryptFlags { no_write_workqueue: true, ..CryptFlags::default() };
    assert!(of(inline) < 1.1, "{}", of(inline));
    assert!(of(CryptFlags::default()) > 1.1, "{}", of(CryptFlags::default()));
}

/// What a device writes back comes page by page: a MiB is as much work for a layer as 256 writes of a page. What a file writes
/// back is as much as one large write.
#[test]
fn layers_of_a_device_work_for_each_page_that_is_written_back() {
    let machine = machine(DriveKind::Ram, None);
    let cores = |layers: &[Layer], block, cache| {
        let site = Site::new(&machine);
        let mut compiler = Compiler::new(&site);
        let write = work(Pattern::RandWrite, block, cache);
        let network = compiler.compile(&stack(layers, 1), &write, &Conditions::default()).unwrap();
        network.stations.iter().find(|station| station.resource == Resource::Cores).unwrap().demand
    };
    let tags = Layer::Integrity(Integrity { mode: IntegrityMode::NoJournal, ..Integrity::default() });
    for layer in [Layer::Lvm(Lvm::default()), tags] {
        let of = |top: Option<Layer>, block, cache| {
            let with: Vec<Layer> = [layer.clone()].into_iter().chain(top.clone()).collect();
            let without: Vec<Layer> = [top.unwrap_or(Layer::Bare)].to_vec();
            cores(&with, block, cache) - cores(&without, block, cache)
        };
        let page = of(None, Bytes::kib(4), DIRECT);
        let [direct, device] = [DIRECT, COLD].map(|cache| of(None, Bytes::mib(1), cache));
        let file = of(Some(ext4()), Bytes::mib(1), COLD);
        assert!((device / page / 256.0 - 1.0).abs() < 0.02, "{device} {page}");
        assert!(direct < device * 0.8 && (file / direct - 1.0).abs() < 0.02, "{direct} {device} {file}");
    }
}

/// What is written to a record of ZFS that is dirty is copied into it, and a record that only the ARC holds is looked for.
#[test]
fn what_zfs_has_in_memory_is_copied_and_looked_for() {
    let machine = machine(DriveKind::Ram, Some(Bytes::gib(8)));
    let seconds = |pattern, block: Bytes, span| {
        let pool = stack(&[Layer::Zfs(Zfs::default())], 1);
        block.as_f64() / rate_on(span, &machine, &pool, &work(pattern, block, DIRECT))
    };
    let write = |block| seconds(Pattern::RandWrite, block, Bytes::mib(1));
    assert!(write(Bytes::mib(1)) > write(Bytes::kib(128)) * 3.0);
    let read = |span| seconds(Pattern::RandRead, Bytes::kib(4), span);
    assert!(
        read(Bytes::gib(1)) > read(Bytes::mib(8)) * 1.1,
        "the dbuf cache has 8 MiB: {} {}",
        read(Bytes::gib(1)),
        read(Bytes::mib(8))
    );
    assert!((read(Bytes::mib(8)) / read(Bytes::mib(1)) - 1.0).abs() < 1e-3);
}

fn tops() -> Vec<Layer> {
    vec![ext4(), Layer::Xfs(Xfs::default()), Layer::Btrfs(Btrfs::default())]
}

fn accesses() -> impl Strategy<Value = Workload> {
    let patterns = vec![Pattern::Read, Pattern::Write, Pattern::RandRead, Pattern::RandWrite, Pattern::RandMixed(70)];
    (select(patterns), select(vec![4_u64, 64, 1024]), 1u32..9, prop::option::of(1u32..64)).prop_map(
        |(pattern, kib, jobs, flush)| {
            let fsync_every = flush.filter(|_| pattern.writes());
            Workload { jobs, fsync_every, ..work(pattern, Bytes::kib(kib), COLD) }
        },
    )
}

fn kinds() -> impl Strategy<Value = DriveKind> {
    select(vec![DriveKind::Nvme, DriveKind::SataSsd, DriveKind::Hdd, DriveKind::Ram])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// What memory holds it gives at least as fast as drives do, and more of it never slows anything down.
    #[test]
    fn a_warm_cache_and_more_memory_are_never_slower(
        top in select(tops()), cold in accesses(), kind in kinds(), gib in 1u64..256, span in select(vec![1_u64, 64, 1024]),
    ) {
        let warm = Workload { keys: work(Pattern::Read, Bytes::kib(4), WARM).keys, ..cold.clone() };
        let of = |gib: u64, work: &Workload| {
            rate_on(Bytes::gib(span), &machine(kind, Some(Bytes::gib(gib))), &stack(std::slice::from_ref(&top), 1), work)
        };
        prop_assert!(of(gib, &warm) >= of(gib, &cold) * 0.98, "{} {}", of(gib, &warm), of(gib, &cold));
        for work in [&warm, &cold] {
            prop_assert!(of(2 * gib, work) >= of(gib, work) * 0.98, "{} {}", of(2 * gib, work), of(gib, work));
        }
    }

    /// Over the time, no more than memory keeps is written beside what the drives take.
    #[test]
    fn what_is_written_is_in_memory_or_on_the_drives(top in select(tops()), cold in accesses(), kind in kinds(), gib in 1u64..256) {
        let write = Workload { pattern: Pattern::Write, fsync_every: None, ..cold };
        let of = |gib: Option<u64>| {
            let machine = machine(kind, gib.map(Bytes::gib));
            rate_on(Bytes::gib(1024), &machine, &stack(std::slice::from_ref(&top), 1), &write)
        };
        let kept = 0.15 * Bytes::gib(gib).as_f64() / Conditions::default().window.as_seconds();
        prop_assert!(of(Some(gib)) <= (of(None) + kept) * 1.02, "{} {} {kept}", of(Some(gib)), of(None));
    }
}
