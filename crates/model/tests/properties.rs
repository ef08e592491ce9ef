//! What must hold for every stack, whatever the constants: more is never slower, nothing is busier than always, every
//! layer is understood.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

#[path = "properties/said.rs"]
mod said;
#[path = "properties/whole.rs"]
mod whole;

use model::{
    Compiler, Conditions, Fault, Parameter, Resource, Site, predict,
    solve::{relieved, solve},
};
use proptest::prelude::*;
use proptest::sample::select;
use terms::layer::{
    ArrayState, Btrfs, BtrfsProfile, Crypt, CryptFlags, Ext4, Integrity, IntegrityMode, Luks, LuksIntegrity, Lvm,
    LvmIntegrity, Raid, RaidLevel, Volume, Xfs, Zfs, ZfsLayout,
};
use terms::machine::{DriveGroup, DriveKind, Machine, Memory, Trust};
use terms::{Bytes, Layer, LayerNode, Name, Pattern, Ref, Stack, Workload};

fn name(text: impl Into<String>) -> Name {
    Name::new(text).unwrap()
}

fn machine(kind: DriveKind, factor: f64) -> Machine {
    let mut group = DriveGroup { count: 8, ..DriveGroup::unknown(name("d"), kind) };
    if kind == DriveKind::NvmeEnterprise {
        group.rated.read = Some(terms::BytesPerSecond(3e9 * factor));
        group.rated.write = Some(terms::BytesPerSecond(2e9 * factor));
        group.rated.read_iops = Some(terms::Iops(500e3 * factor));
        group.rated.write_iops = Some(terms::Iops(150e3 * factor));
    }
    Machine {
        name: "m".to_owned(),
        kernel: Some((6, 1)),
        cores: 8,
        threads: 16,
        memory: Memory { channels: Some(2), speed: Some(3200), ..Memory::default() },
        drives: vec![group],
        ..Machine::default()
    }
}

fn node(title: &str, layer: Layer, on: Vec<Ref>) -> LayerNode {
    LayerNode { name: name(title), layer, on, special: Vec::new() }
}

fn drives(count: usize) -> Vec<Ref> {
    (0..count).map(|at| Ref::Drive(name(format!("d{at}")))).collect()
}

/// Layers that take several drives.
fn wide() -> Vec<Layer> {
    let mut all = vec![Layer::Bare];
    for level in [RaidLevel::Raid0, RaidLevel::Raid1, RaidLevel::Raid10, RaidLevel::Raid5, RaidLevel::Raid6] {
        all.push(Layer::Raid(Raid { level, ..Raid::default() }));
    }
    let volumes = [Volume::Linear, Volume::Striped, Volume::Raid1, Volume::Raid10, Volume::Raid5, Volume::Raid6];
    for volume in volumes {
        all.push(Layer::Lvm(Lvm { volume, ..Lvm::default() }));
    }
    all.push(Layer::Lvm(Lvm { volume: Volume::Raid1, integrity: Some(LvmIntegrity::default()), ..Lvm::default() }));
    all.push(Layer::Lvm(Lvm { thin_chunk: Some(Bytes::kib(64)), snapshot: true, ..Lvm::default() }));
    for data in
        [BtrfsProfile::Single, BtrfsProfile::Dup, BtrfsProfile::Raid0, BtrfsProfile::Raid1, BtrfsProfile::Raid10]
    {
        all.push(Layer::Btrfs(Btrfs { data, ..Btrfs::default() }));
    }
    all.push(Layer::Btrfs(Btrfs { copy_on_write: false, ..Btrfs::default() }));
    for layout in [ZfsLayout::Stripe, ZfsLayout::Mirror, ZfsLayout::Raidz1, ZfsLayout::Raidz2, ZfsLayout::Raidz3] {
        all.push(Layer::Zfs(Zfs { layout, ..Zfs::default() }));
    }
    all
}

/// Layers that rest on one device.
fn narrow() -> Vec<Layer> {
    let inline = CryptFlags { no_read_workqueue: true, no_write_workqueue: true, ..CryptFlags::default() };
    let mut all = vec![
        Layer::Luks(Luks::default()),
        Layer::Luks(Luks { flags: inline, sector: Some(Bytes::kib(4)), ..Luks::default() }),
        Layer::Luks(Luks { integrity: Some(LuksIntegrity::HmacSha256), ..Luks::default() }),
        Layer::Crypt(Crypt::default()),
        Layer::Lvm(Lvm::default()),
        Layer::Ext4(Ext4::default()),
        Layer::Xfs(Xfs::default()),
        Layer::Btrfs(Btrfs { metadata: BtrfsProfile::Dup, ..Btrfs::default() }),
    ];
    for mode in [IntegrityMode::Journal, IntegrityMode::NoJournal, IntegrityMode::Bitmap] {
        all.push(Layer::Integrity(Integrity { mode, ..Integrity::default() }));
    }
    all
}

fn stacked(first: Layer, members: usize, above: &[Layer]) -> Stack {
    let mut nodes = vec![node("n0", first, drives(members))];
    for (at, layer) in above.iter().enumerate() {
        let below = Ref::Layer(nodes[at].name.clone());
        nodes.push(node(&format!("n{}", at + 1), layer.clone(), vec![below]));
    }
    Stack { name: "s".to_owned(), note: None, nodes }
}

fn work() -> impl Strategy<Value = Workload> {
    let patterns = vec![
        Pattern::Read,
        Pattern::Write,
        Pattern::RandRead,
        Pattern::RandWrite,
        Pattern::RandMixed(70),
        Pattern::Mixed(50),
    ];
    (select(patterns), select(vec![4_u64, 16, 64, 256, 1024]), 1u32..65, 1u32..17, prop::option::of(1u32..64)).prop_map(
        |(pattern, kib, depth, jobs, flush)| {
            let mut work = Workload::new(name("w"), pattern, Bytes::kib(kib));
            (work.depth, work.jobs, work.fsync_every) = (depth, jobs, flush.filter(|_| pattern.writes()));
            work
        },
    )
}

fn kinds() -> impl Strategy<Value = DriveKind> {
    select(vec![DriveKind::Nvme, DriveKind::NvmeEnterprise, DriveKind::SataSsd, DriveKind::Hdd, DriveKind::Ram])
}

fn rate(machine: &Machine, stack: &Stack, work: &Workload) -> f64 {
    let site = Site::new(machine);
    let mut compiler = Compiler::new(&site);
    solve(compiler.compile(stack, work, &Conditions::default()).unwrap()).throughput
}

/// Seconds of cores for one operation.
fn busy(machine: &Machine, stack: &Stack, work: &Workload) -> f64 {
    let site = Site::new(machine);
    let mut compiler = Compiler::new(&site);
    let network = compiler.compile(stack, work, &Conditions::default()).unwrap();
    network.stations.iter().filter(|station| station.resource == Resource::Cores).map(|station| station.demand).sum()
}

/// The rate were threads of jobs never busy.
fn rate_relieved(machine: &Machine, stack: &Stack, work: &Workload) -> f64 {
    let site = Site::new(machine);
    let mut compiler = Compiler::new(&site);
    relieved(compiler.compile(stack, work, &Conditions::default()).unwrap()).throughput
}

/// Nothing rests on a file system.
fn blocks(layers: Vec<Layer>) -> Vec<Layer> {
    layers.into_iter().filter(|layer| !layer.is_file_system()).collect()
}

/// Layers on one device that hand no work to workers, and write where they are told to: what copies on write makes writes at
/// random places sequential.
fn quiet() -> Vec<Layer> {
    let hands_over = |layer: &Layer| match layer {
        Layer::Integrity(_) | Layer::Crypt(_) => true,
        Layer::Luks(luks) => !luks.flags.no_read_workqueue || luks.integrity.is_some(),
        Layer::Btrfs(btrfs) => btrfs.copy_on_write,
        _ => false,
    };
    narrow().into_iter().filter(|layer| !hands_over(layer)).collect()
}

/// Layers without checksums of their own, whose workers would be those of the checksums above.
fn unchecked(layers: Vec<Layer>) -> Vec<Layer> {
    layers.into_iter().filter(|layer| layer.traits().checksums == terms::layer::Checksums::None).collect()
}

/// Layers on one device that copy nothing on write.
fn in_place() -> Vec<Layer> {
    narrow().into_iter().filter(|layer| !matches!(layer, Layer::Btrfs(btrfs) if btrfs.copy_on_write)).collect()
}

/// Layers on one device that write where they are told to.
fn unchanging() -> Vec<Layer> {
    let moves = |layer: &Layer| match layer {
        Layer::Integrity(_) => true,
        Layer::Luks(luks) => luks.integrity.is_some(),
        Layer::Btrfs(btrfs) => btrfs.copy_on_write,
        _ => false,
    };
    narrow().into_iter().filter(|layer| !moves(layer)).collect()
}

/// Does md's own thread write it?
fn mirrors(layer: &Layer) -> bool {
    match layer {
        Layer::Raid(raid) => matches!(raid.level, RaidLevel::Raid1 | RaidLevel::Raid10),
        Layer::Lvm(lvm) => matches!(lvm.volume, Volume::Raid1 | Volume::Raid10),
        _ => false,
    }
}

fn has_parity(layer: &Layer) -> bool {
    match layer {
        Layer::Raid(raid) => matches!(raid.level, RaidLevel::Raid5 | RaidLevel::Raid6),
        Layer::Lvm(lvm) => matches!(lvm.volume, Volume::Raid5 | Volume::Raid6),
        _ => false,
    }
}

/// Rounding of the fixed point.
const SLACK: f64 = 1.0 + 1e-3;
/// Approximate mean value analysis is off by 1 % on average, and not to the same side: where a fast drive moves the queue
/// from one station to another, the law that holds of the network is broken by the approximation. Seen once in some ten
/// thousand designs, by 1.05 %: raidz, 9 jobs, a flush after 48 writes; and once more by 2.02 %: a mix on RAID-6, 13 jobs, a flush after 47.
const APPROXIMATE: f64 = 1.025;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// Where work is handed to workers, a thread that was the limit may be relieved: published of encryption over
    /// dm-integrity, which reads faster than encryption alone. A file system submits itself what it writes to a mirror, and spares
    /// md's thread. All other layers only add.
    #[test]
    fn a_layer_that_hands_nothing_over_never_speeds_up(
        first in select(blocks(wide())), above in prop::collection::vec(select(blocks(narrow())), 0..2), top in select(quiet()),
        work in work(), kind in kinds(),
    ) {
        let spares = top.is_file_system() && mirrors(&first);
        let work = if spares { Workload { pattern: Pattern::RandRead, fsync_every: None, ..work } } else { work };
        let machine = machine(kind, 1.0);
        let below = rate(&machine, &stacked(first.clone(), 4, &above), &work);
        let more: Vec<Layer> = above.iter().cloned().chain([top]).collect();
        prop_assert!(rate(&machine, &stacked(first, 4, &more), &work) <= below * SLACK);
    }

    /// The workers of dm-integrity are those of the processor that asks: for small operations it pays for them. (A journal of
    /// data makes writes at random places sequential; checksums of large blocks are made elsewhere, and with them what RAM
    /// drives copy: of 16 KiB on four mirrors 64.)
    #[test]
    fn checksums_never_speed_up_small_operations(
        first in select(unchecked(blocks(wide()))), mode in select(vec![IntegrityMode::NoJournal, IntegrityMode::Bitmap]), is_below in any::<bool>(),
        work in work(), kib in select(vec![4_u64, 16]), kind in kinds(),
    ) {
        let work = Workload { block: Bytes::kib(if kind == DriveKind::Ram { 4 } else { kib }), ..work };
        let machine = machine(kind, 1.0);
        let checksums = Layer::Integrity(Integrity { mode, ..Integrity::default() });
        let (with, without) = if is_below {
            let bare = stacked(Layer::Bare, 1, &[]);
            (rate(&machine, &stacked(checksums, 1, &[]), &work), rate(&machine, &bare, &work))
        } else {
            (rate(&machine, &stacked(first.clone(), 4, &[checksums]), &work), rate(&machine, &stacked(first, 4, &[]), &work))
        };
        prop_assert!(with <= without * APPROXIMATE, "{with} {without}");
    }

    /// Whatever takes work off a thread takes no more than all of it. A search leaves out designs by this. (A journal below
    /// the top is another thing: it makes writes at random places sequential, which hard disks like.)
    #[test]
    fn no_layer_is_faster_than_threads_without_work(
        first in select(blocks(wide())), above in prop::collection::vec(select(blocks(narrow())), 0..2), top in select(unchanging()),
        work in work(), kind in kinds(),
    ) {
        let machine = machine(kind, 1.0);
        let most = rate_relieved(&machine, &stacked(first.clone(), 4, &above), &work);
        let more: Vec<Layer> = above.iter().cloned().chain([top]).collect();
        prop_assert!(rate(&machine, &stacked(first, 4, &more), &work) <= most * SLACK);
    }

    /// But what copies on write: layers below it have less to do for what is sequential.
    #[test]
    fn no_layer_takes_work_off_the_cores(
        first in select(blocks(wide())), above in prop::collection::vec(select(blocks(narrow())), 0..2), top in select(in_place()),
        work in work(), kind in kinds(),
    ) {
        let machine = machine(kind, 1.0);
        let below = busy(&machine, &stacked(first.clone(), 4, &above), &work);
        let more: Vec<Layer> = above.iter().cloned().chain([top]).collect();
        let with = busy(&machine, &stacked(first, 4, &more), &work);
        prop_assert!(with >= below / SLACK, "{below:?} {with:?}");
    }

    #[test]
    fn faster_drives_are_never_slower(
        first in select(wide()), above in prop::collection::vec(select(narrow()), 0..2), work in work(), times in 1.0..4.0_f64,
    ) {
        let stack = stacked(first, 4, &above);
        let slow = rate(&machine(DriveKind::NvmeEnterprise, 1.0), &stack, &work);
        prop_assert!(rate(&machine(DriveKind::NvmeEnterprise, times), &stack, &work) * APPROXIMATE >= slow);
    }

    #[test]
    fn more_drives_in_a_stripe_are_never_slower(members in 2usize..8, work in work(), kind in kinds()) {
        let stripe = |members| stacked(Layer::Raid(Raid { level: RaidLevel::Raid0, ..Raid::default() }), members, &[]);
        let few = rate(&machine(kind, 1.0), &stripe(members), &work);
        prop_assert!(rate(&machine(kind, 1.0), &stripe(members + 1), &work) * SLACK >= few);
    }

    /// Whatever is made of flash drives, an operation that is alone waits for one of them: no array is quicker than its
    /// drive. (Heads are another thing: the nearer of two is.)
    #[test]
    fn one_small_read_at_a_time_is_never_quicker_than_from_one_drive(
        first in select(wide()), above in prop::collection::vec(select(narrow()), 0..2), members in 4usize..8,
        kib in select(vec![4_u64, 16]),
        kind in select(vec![DriveKind::Nvme, DriveKind::NvmeEnterprise, DriveKind::Optane, DriveKind::SataSsd]),
    ) {
        let work = Workload::new(name("w"), Pattern::RandRead, Bytes::kib(kib));
        let machine = machine(kind, 1.0);
        let alone = rate(&machine, &stacked(Layer::Bare, 1, &[]), &work);
        // Without what a file system still holds.
        let cold = Conditions { warm: false, ..Conditions::default() };
        let said = predict(&Site::new(&machine), &stacked(first, members, &above), &work, &cold).unwrap();
        prop_assert!(said.operations.value <= alone * SLACK);
    }

    /// Of a stream that fills rows of parity to the end, one operation more begins another row, which is written in parts where
    /// drives are in memory: there it is twice as many.
    #[test]
    fn more_depth_is_never_slower(
        first in select(wide()), above in prop::collection::vec(select(narrow()), 0..2), work in work(), kind in kinds(),
    ) {
        let stack = stacked(first.clone(), 4, &above);
        let depth = if kind == DriveKind::Ram && has_parity(&first) { work.depth * 2 } else { work.depth + 1 };
        let deeper = Workload { depth, ..work.clone() };
        let machine = machine(kind, 1.0);
        let (more, few) = (rate(&machine, &stack, &deeper), rate(&machine, &stack, &work));
        // The fixed point of four stations moves by up to 0.2 % where a journal meets parity.
        prop_assert!(more * APPROXIMATE >= few, "{more} {few}");
    }
}

#[test]
fn writes_multiply_as_layers_write_more() {
    let site = Site::new(&machine(DriveKind::Nvme, 1.0));
    let mut work = Workload::new(name("w"), Pattern::RandWrite, Bytes::kib(4));
    work.depth = 8;
    let raid = |level| Layer::Raid(Raid { level, bitmap: terms::layer::Bitmap::None, ..Raid::default() });
    let journal = Layer::Integrity(Integrity { sector: Bytes::kib(4), ..Integrity::default() });
    for (layer, members, expect) in [
        (Layer::Bare, 1, 1.0),
        (raid(RaidLevel::Raid1), 2, 2.0),
        (raid(RaidLevel::Raid1), 3, 3.0),
        (raid(RaidLevel::Raid10), 4, 2.0),
        (raid(RaidLevel::Raid5), 5, 2.0),
        (raid(RaidLevel::Raid6), 6, 3.0),
        (journal, 1, 2.04),
        (Layer::Zfs(Zfs::default()), 1, 32.0),
    ] {
        let said = predict(&site, &stacked(layer.clone(), members, &[]), &work, &Conditions::default()).unwrap();
        let times = said.write_amplification.unwrap();
        assert!((times - expect).abs() < 0.05 * expect, "{layer:?}: {times} and not {expect}");
    }
}

#[test]
fn the_state_of_an_array_may_be_the_study_s() {
    let site = Site::new(&machine(DriveKind::NvmeEnterprise, 1.0));
    let mut work = Workload::new(name("w"), Pattern::RandRead, Bytes::kib(64));
    (work.depth, work.jobs) = (64, 8);
    for state in [ArrayState::Degraded, ArrayState::Resync] {
        let array = |state| stacked(Layer::Raid(Raid { level: RaidLevel::Raid5, state, ..Raid::default() }), 5, &[]);
        let asked = predict(&site, &array(state), &work, &Conditions::default()).unwrap();
        let told =
            predict(&site, &array(ArrayState::Whole), &work, &Conditions { state, ..Conditions::default() }).unwrap();
        assert_eq!((asked.state, asked.operations, asked.resync), (told.state, told.operations, told.resync));
    }
}

#[test]
fn drives_that_are_held_at_their_rates_wait_less_for_one_another() {
    let mut held = machine(DriveKind::NvmeEnterprise, 0.001);
    let at = |machine: &Machine, layer, depth| {
        let mut work = Workload::new(name("w"), Pattern::RandRead, Bytes::kib(4));
        work.depth = depth;
        predict(&Site::new(machine), &stacked(layer, 4, &[]), &work, &Conditions::default()).unwrap().operations.value
    };
    let stripe = || Layer::Raid(Raid { level: RaidLevel::Raid0, ..Raid::default() });
    let usual: Vec<f64> = [4, 8, 32].map(|depth| at(&held, stripe(), depth)).to_vec();
    held.drives[0].trust = Trust::Held;
    let even: Vec<f64> = [4, 8, 32].map(|depth| at(&held, stripe(), depth)).to_vec();
    let most = 4.0 * 500e3 * 0.001;
    assert!(usual.iter().zip(&even).all(|(usual, even)| even > usual && *even <= most), "{usual:?} {even:?}");
    assert!(even[2] > 0.95 * most && even[0] < 0.85 * most, "{even:?}");
}

#[test]
fn a_degraded_array_reads_more_and_is_slower() {
    let site = Site::new(&machine(DriveKind::NvmeEnterprise, 1.0));
    let stack = stacked(Layer::Raid(Raid { level: RaidLevel::Raid5, ..Raid::default() }), 5, &[]);
    let mut work = Workload::new(name("w"), Pattern::RandRead, Bytes::kib(64));
    (work.depth, work.jobs) = (64, 8);
    let at =
        |state| predict(&site, &stack, &work, &Conditions { state, ..Conditions::default() }).unwrap().operations.value;
    let bare = Conditions { state: ArrayState::Degraded, ..Conditions::default() };
    assert_eq!(predict(&site, &stacked(Layer::Bare, 1, &[]), &work, &bare).unwrap().state, ArrayState::Whole);
    assert!(at(ArrayState::Degraded) < 0.7 * at(ArrayState::Whole));
    assert!(at(ArrayState::Resync) < at(ArrayState::Whole));
}

#[test]
fn an_unknown_drive_and_an_empty_stack_are_faults() {
    let site = Site::new(&machine(DriveKind::Nvme, 1.0));
    let work = Workload::new(name("w"), Pattern::Read, Bytes::kib(4));
    let mut compiler = Compiler::new(&site);
    let none = Stack { name: "s".into(), note: None, nodes: Vec::new() };
    assert_eq!(compiler.compile(&none, &work, &Conditions::default()).unwrap_err(), Fault::Empty);
    let other = Stack { nodes: vec![node("n", Layer::Bare, vec![Ref::Drive(name("x"))])], ..none };
    let fault = compiler.compile(&other, &work, &Conditions::default()).unwrap_err();
    assert_eq!(fault, Fault::NoDrive("x".to_owned()));
}

#[test]
fn a_constant_is_found_again_from_what_it_makes() {
    let site = Site::new(&machine(DriveKind::Ram, 1.0));
    let stack = stacked(Layer::Bare, 1, &[Layer::Integrity(Integrity::default())]);
    let mut work = Workload::new(name("w"), Pattern::RandRead, Bytes::kib(4));
    (work.depth, work.jobs) = (32, 16);
    let rate = rate(&machine(DriveKind::Ram, 1.0), &stack, &work);
    let found = model::fit(&site, Parameter::JournalReadIo, &stack, &work, &Conditions::default(), rate).unwrap();
    assert!((found / site.parameters.get(Parameter::JournalReadIo) - 1.0).abs() < 1e-3, "{found}");
}
