//! Laws of a stack as a whole: what it lost, how many drives it has, how fast its machine is.

use super::*;

use terms::prediction::Source;
use terms::{BytesPerSecond, Iops, Nanos};

fn rate_in(state: ArrayState, machine: &Machine, stack: &Stack, work: &Workload) -> f64 {
    let site = Site::new(machine);
    let mut compiler = Compiler::new(&site);
    let conditions = Conditions { state, warm: false, ..Conditions::default() };
    solve(compiler.compile(stack, work, &conditions).unwrap()).throughput
}

/// Layers of several drives, with a number of members from which they may lose one, and the next larger number that they
/// may have: what is in pairs grows by pairs.
fn sizes(layer: &Layer, members: usize) -> (usize, usize) {
    let pairs = match layer {
        Layer::Raid(raid) => raid.level == RaidLevel::Raid10,
        Layer::Lvm(lvm) => lvm.volume == Volume::Raid10,
        Layer::Btrfs(btrfs) => btrfs.data == BtrfsProfile::Raid10,
        _ => false,
    };
    if pairs { (members / 2 * 2, members / 2 * 2 + 2) } else { (members, members + 1) }
}

/// Does each drive more hold one more copy of all?
fn copies(layer: &Layer) -> bool {
    match layer {
        Layer::Raid(raid) => raid.level == RaidLevel::Raid1,
        Layer::Lvm(lvm) => lvm.volume == Volume::Raid1,
        Layer::Zfs(zfs) => zfs.layout == ZfsLayout::Mirror,
        _ => false,
    }
}

/// Are there rows of which a part may be written?
fn parity(layer: &Layer) -> bool {
    match layer {
        Layer::Raid(raid) => matches!(raid.level, RaidLevel::Raid5 | RaidLevel::Raid6),
        Layer::Lvm(lvm) => matches!(lvm.volume, Volume::Raid5 | Volume::Raid6),
        _ => false,
    }
}

/// Is each record spread over all drives?
fn shares_records(layer: &Layer) -> bool {
    matches!(layer, Layer::Zfs(zfs) if !matches!(zfs.layout, ZfsLayout::Stripe | ZfsLayout::Mirror))
}

/// A flash drive and a machine so many times as fast, down to its memory and its delays.
fn scaled(times: f64) -> Machine {
    let mut machine = machine(DriveKind::NvmeEnterprise, times);
    let after = |nanoseconds: f64| Some(Nanos::from_seconds(nanoseconds * 1e-9 / times));
    let rated = &mut machine.drives[0].rated;
    (rated.read_latency, rated.write_latency, rated.flush) = (after(80e3), after(20e3), after(64e3));
    rated.ordered_latency = after(10e3);
    rated.sustained = Some(BytesPerSecond(1e9 * times));
    rated.sustained_iops = Some(Iops(80e3 * times));
    machine.memory.sustained = Some(BytesPerSecond(40e9 * times));
    machine
}

/// The rate on it, with a processor that is as many times as fast: every time of the book is a time.
fn rate_scaled(times: f64, stack: &Stack, work: &Workload) -> f64 {
    let mut site = Site::new(&scaled(times));
    for (parameter, entry) in Parameter::ALL.iter().zip(model::parameter::TABLE) {
        if entry.unit != model::parameter::Unit::Ratio {
            let value = site.parameters.get(*parameter) / times;
            site.parameters.set(*parameter, value, entry.sigma, Source::Told, "a test");
        }
    }
    let usual = Conditions::default();
    let conditions = Conditions { window: Nanos::from_seconds(usual.window.as_seconds() / times), ..usual };
    let mut compiler = Compiler::new(&site);
    solve(compiler.compile(stack, work, &conditions).unwrap()).throughput
}

/// Layers that do nothing by a clock of their own, which no machine speeds up.
fn timeless(layers: Vec<Layer>) -> Vec<Layer> {
    let by_clock = |layer: &Layer| match layer {
        Layer::Btrfs(_) | Layer::Zfs(_) => true,
        Layer::Integrity(integrity) => integrity.mode == IntegrityMode::Bitmap,
        _ => false,
    };
    layers.into_iter().filter(|layer| !by_clock(layer)).collect()
}

/// Layers without a journal of data.
fn unjournalled(layers: Vec<Layer>) -> Vec<Layer> {
    layers.into_iter().filter(|layer| layer.traits().checksums != terms::layer::Checksums::Journalled).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// Of any kind, under anything: a member that is written anew makes nothing faster, and one that is lost no reads. Writes
    /// are spared what it is no longer written, and no more than that.
    #[test]
    fn no_stack_is_faster_for_what_it_lost(
        first in select(wide()), above in prop::collection::vec(select(narrow()), 0..3), members in 4usize..8,
        work in work(), kind in kinds(), state in select(vec![ArrayState::Degraded, ArrayState::Resync]),
    ) {
        // What one drive serves: how pieces of larger ones are joined depends on how many drives are left.
        let work = Workload { block: work.block.min(Bytes::kib(64)), ..work };
        let (members, _) = sizes(&first, members);
        let (machine, stack) = (machine(kind, 1.0), stacked(first, members, &above));
        let (less, whole) = (rate_in(state, &machine, &stack, &work), rate_in(ArrayState::Whole, &machine, &stack, &work));
        let spared = work.read_share() < 1.0 && state == ArrayState::Degraded;
        let most = if spared { members as f64 / (members - 1) as f64 } else { 1.0 };
        prop_assert!(less <= whole * most * APPROXIMATE, "{less} {whole}");
    }

    /// But where each is one more copy that has to be written, or rows of parity are longer: what is not written whole is read
    /// first; and where more drives share one operation, which waits for the slowest of them and is more requests.
    #[test]
    fn more_drives_are_never_slower(
        first in select(wide().into_iter().filter(|layer| !shares_records(layer)).collect::<Vec<_>>()), above in prop::collection::vec(select(narrow()), 0..2), members in 4usize..7,
        work in work(), kind in kinds(),
    ) {
        let work = if copies(&first) || parity(&first) { Workload { pattern: Pattern::RandRead, fsync_every: None, ..work } } else { work };
        // A stripe of LVM's and btrfs'.
        let work = Workload { block: work.block.min(Bytes::kib(64)), ..work };
        let (few, many) = sizes(&first, members);
        let machine = machine(kind, 1.0);
        let at = |members| rate_in(ArrayState::Whole, &machine, &stacked(first.clone(), members, &above), &work);
        let (few, many) = (at(few), at(many));
        prop_assert!(many * APPROXIMATE >= few, "{many} {few}");
    }

    /// A machine that does everything in half the time does twice as much: a time that was taken for a number, or a rate for
    /// a time, would show.
    #[test]
    fn a_machine_twice_as_fast_does_twice_as_much(
        first in select(timeless(wide())), above in prop::collection::vec(select(timeless(narrow())), 0..3), members in 4usize..8,
        work in work(), times in select(vec![2.0, 4.0, 8.0]),
    ) {
        let stack = stacked(first, members, &above);
        let (once, more) = (rate_scaled(1.0, &stack, &work), rate_scaled(times, &stack, &work));
        prop_assert!((more / once / times - 1.0).abs() < 1e-3, "{once} {more}");
    }

    /// An operation that is alone on an array of flash waits for the slowest of those that have to have it. (What copies on
    /// write answers from memory, and so does a journal of dm-integrity until it is full, which its predictions say.)
    #[test]
    fn one_small_write_at_a_time_is_never_quicker_than_to_one_drive(
        first in select(unjournalled(blocks(wide()))), above in prop::collection::vec(select(unjournalled(blocks(narrow()))), 0..2), members in 4usize..8,
        kib in select(vec![4_u64, 16]),
        kind in select(vec![DriveKind::Nvme, DriveKind::NvmeEnterprise, DriveKind::Optane, DriveKind::SataSsd]),
    ) {
        let work = Workload::new(name("w"), Pattern::RandWrite, Bytes::kib(kib));
        let machine = machine(kind, 1.0);
        let alone = rate(&machine, &stacked(Layer::Bare, 1, &[]), &work);
        let (members, _) = sizes(&first, members);
        prop_assert!(rate(&machine, &stacked(first, members, &above), &work) <= alone * SLACK);
    }

    /// Before Linux 5.14 all who read from an array with parity take its lock, which is longer on its way the more they are: more
    /// hardware threads on as many cores read no faster, but for what they have to wait for besides.
    #[test]
    fn more_processors_read_no_faster_through_one_lock(
        level in select(vec![RaidLevel::Raid5, RaidLevel::Raid6]), members in 4usize..9, jobs in 64u32..256, threads in 64u32..512,
    ) {
        let mut work = Workload::new(name("w"), Pattern::RandRead, Bytes::kib(4));
        (work.depth, work.jobs) = (128, jobs);
        let array = stacked(Layer::Raid(Raid { level, ..Raid::default() }), members, &[]);
        let at = |threads| {
            let machine = Machine { kernel: Some((5, 4)), cores: 64, threads, ..machine(DriveKind::NvmeEnterprise, 8.0) };
            rate_in(ArrayState::Whole, &machine, &array, &work)
        };
        let (few, many) = (at(threads), at(threads * 2));
        prop_assert!(many <= few * APPROXIMATE, "{many} {few}");
    }

    /// More stripes in memory hold more of what is written together: no array with parity is slower for them, whoever shares them.
    #[test]
    fn a_larger_stripe_cache_is_never_slower(
        level in select(vec![RaidLevel::Raid5, RaidLevel::Raid6]), members in 4usize..9, kib in select(vec![16_u64, 64, 512]),
        work in work(), kind in kinds(), times in 2u32..64,
    ) {
        let of = |stripe_cache| Layer::Raid(Raid { level, chunk: Bytes::kib(kib), stripe_cache, ..Raid::default() });
        let at = |stripe_cache| rate_in(ArrayState::Whole, &machine(kind, 1.0), &stacked(of(stripe_cache), members, &[]), &work);
        let (few, many) = (at(256), at(256 * times));
        prop_assert!(many * APPROXIMATE >= few, "{many} {few}");
    }
}
