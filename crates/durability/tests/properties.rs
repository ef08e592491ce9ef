//! What holds of every outlook, whatever the drives.

#![allow(clippy::unwrap_used, reason = "a test may stop")]

use durability::{
    Arrangement, CORRELATION, Circumstances, Daily, DriveModel, Given, Hazards, RESYNC_CAP, Speeds, Write, class, loss,
    outlook, rebuild,
};
use proptest::prelude::*;
use terms::durability::{Cause, CommonCause, Healing, Outlook, Spread};
use terms::layer::{
    ArrayState, Btrfs, BtrfsProfile, CacheMode, GptPartition, Integrity, Lvm, Raid, RaidLevel, Volume, Zfs, ZfsLayout,
};
use terms::{
    Bytes, BytesPerSecond, Exactness, Layer, LayerAccount, LayerNode, Name, Nanos, Part, Pattern, Ref, Stack, Workload,
};

fn group(count: usize, survives: usize, hazards: Hazards) -> Arrangement<Hazards> {
    Arrangement::Group { members: vec![Arrangement::Drive(hazards); count], survives }
}

prop_compose! {
    fn hazards()(
        failures in 0.001..0.1_f64,
        unreadable in 0.0..0.05_f64,
        latent in 0.0..0.2_f64,
        silent in 0.0..0.01_f64,
        waiting in 0.0..0.005_f64,
    ) -> Hazards {
        Hazards { failures, unreadable, latent: latent + unreadable, silent, waiting: waiting.min(silent) }
    }
}

prop_compose! {
    fn circumstances()(
        drives in (hazards(), 2..9_usize, 0..3_usize)
            .prop_map(|(hazards, count, survives)| group(count, survives.min(count - 1), hazards)),
        window in 0.0..0.02_f64,
        correlation in 1.0..100.0_f64,
        common in 0.0..0.01_f64,
        healing in prop::sample::select(vec![Healing::Unnoticed, Healing::Noticed, Healing::Repaired]),
    ) -> Circumstances {
        Circumstances { drives, window, correlation, common, healing, stored: 1e12, block: 4096.0, region: 65536.0 }
    }
}

fn any_loss(circumstances: &Circumstances) -> (f64, f64) {
    let loss = loss(Spread::exactly(circumstances));
    (loss.any.middle, loss.bytes.middle)
}

/// Overlaps are counted by a form that holds while they are rare.
fn is_rare(circumstances: &Circumstances) -> bool {
    let drives = circumstances.drives.drives();
    let failures: f64 = drives.iter().map(|drive| drive.failures).sum();
    failures * circumstances.correlation * circumstances.window < 0.5
}

proptest! {
    #[test]
    fn more_redundancy_never_loses_more(given in circumstances()) {
        prop_assume!(is_rare(&given));
        let Arrangement::Group { members, survives } = given.drives.clone() else { unreachable!() };
        // One drive more, to survive one more.
        let mut more = members.clone();
        more.push(members[0].clone());
        let better = Circumstances {
            drives: Arrangement::Group { members: more, survives: survives + 1 },
            ..given.clone()
        };
        prop_assert!(any_loss(&better).0 <= any_loss(&given).0 * (1.0 + 1e-12));
        prop_assert!(any_loss(&better).1 <= any_loss(&given).1 * (1.0 + 1e-12));
    }

    #[test]
    fn a_faster_rebuild_never_loses_more(given in circumstances(), faster in 0.0..1.0_f64) {
        let better = Circumstances { window: given.window * faster, ..given.clone() };
        prop_assert!(any_loss(&better).0 <= any_loss(&given).0);
        prop_assert!(any_loss(&better).1 <= any_loss(&given).1);
    }

    #[test]
    fn repairing_silent_corruption_never_loses_more(given in circumstances()) {
        prop_assume!(is_rare(&given));
        let of = |healing| any_loss(&Circumstances { healing, ..given.clone() }).0;
        let redundant = matches!(&given.drives, Arrangement::Group { survives, .. } if *survives > 0);
        prop_assume!(redundant);
        prop_assert!(of(Healing::Repaired) <= of(Healing::Unnoticed));
    }

    #[test]
    fn scrubbing_never_hurts(days in 1_u64..400, sooner in 0.0..1.0_f64, tall in any::<bool>()) {
        let stack = if tall { zfs(ZfsLayout::Raidz2, 6) } else { array(RaidLevel::Raid5, 5) };
        let day = Nanos::seconds(86_400).0;
        let of = |every: Option<Nanos>| outlook(&Given { scrubbed_every: every, ..given(&stack, &drives(6)) }).unwrap();
        let seldom = of(Some(Nanos(days * day)));
        let often = of(Some(Nanos((days as f64 * sooner) as u64 * day)));
        let never = of(None);
        for (more, less) in [(&often, &seldom), (&seldom, &never)] {
            prop_assert!(more.loss.any.middle <= less.loss.any.middle);
            prop_assert!(more.loss.bytes.middle <= less.loss.bytes.middle);
        }
    }
}

#[test]
fn endurance_is_read_from_either_kind_of_data_sheet() {
    // A FireCuda 530 of 1 TB: 1275 TB; a drive of 0.7 writes a day over five years takes about as many.
    let (written, daily) = (
        durability::of_written(Bytes(1_275_000_000_000_000), Bytes(1_000_000_000_000)),
        durability::of_daily(0.7, 5.0),
    );
    assert!((written.middle - 1275.0).abs() < 1e-9 && (daily.middle - 1277.5).abs() < 1e-9);
    let classes = durability::classes();
    assert!(classes.iter().all(|class| !class.sources.is_empty() && class.failures_per_year.middle > 0.0));
    assert!(classes.iter().all(|class| durability::class(&class.name).as_ref() == Some(class)));
    assert_eq!(class("floppy"), None);
}

fn name(index: usize) -> Name {
    Name::new(format!("d{index}")).unwrap()
}

fn stack(drives: usize, layers: Vec<Layer>) -> Stack {
    let mut on: Vec<Ref> = (0..drives).map(|index| Ref::Drive(name(index))).collect();
    let mut nodes = Vec::new();
    for (index, layer) in layers.into_iter().enumerate() {
        let name = Name::new(format!("l{index}")).unwrap();
        nodes.push(LayerNode { name: name.clone(), layer, on, special: Vec::new() });
        on = vec![Ref::Layer(name)];
    }
    Stack { name: "a stack".to_owned(), note: None, nodes }
}

fn array(level: RaidLevel, drives: usize) -> Stack {
    stack(drives, vec![Layer::Raid(Raid { level, ..Raid::default() })])
}

fn zfs(layout: ZfsLayout, drives: usize) -> Stack {
    stack(drives, vec![Layer::Zfs(Zfs { layout, ..Zfs::default() })])
}

/// Two mirrored drives, each under dm-integrity.
fn checked_mirror() -> Stack {
    let leg = |index: usize| LayerNode {
        name: Name::new(format!("i{index}")).unwrap(),
        layer: Layer::Integrity(Integrity { sector: Bytes(4096), ..Integrity::default() }),
        on: vec![Ref::Drive(name(index))],
        special: Vec::new(),
    };
    let legs = [leg(0), leg(1)];
    let on = legs.iter().map(|leg| Ref::Layer(leg.name.clone())).collect();
    let raid =
        LayerNode { name: Name::new("m").unwrap(), layer: Layer::Raid(Raid::default()), on, special: Vec::new() };
    Stack { name: "checked".to_owned(), note: None, nodes: [legs.to_vec(), vec![raid]].concat() }
}

/// Bytes of the drives of the write-up whose resync took 145 minutes.
const TWO_TB: Bytes = Bytes(2_000_398_934_016);

fn drives(count: usize) -> Vec<DriveModel> {
    (0..count)
        .map(|index| DriveModel { name: name(index), size: TWO_TB, class: class("client-ssd").unwrap() })
        .collect()
}

fn speeds() -> Speeds {
    let left = Spread { low: 0.3, middle: 0.7, high: 1.0 };
    Speeds { drive: Spread::exactly(BytesPerSecond(3.3e9)), left, cap: RESYNC_CAP, thread: None }
}

fn given<'a>(stack: &'a Stack, drives: &'a [DriveModel]) -> Given<'a> {
    const DAILY: [Daily; 1] =
        [Daily { write: Write { block: Bytes::kib(4), random: true, sync: false }, bytes: Bytes::gib(20) }];
    Given {
        stack,
        state: ArrayState::Whole,
        drives,
        layers: &[],
        available: Bytes(TWO_TB.0 * 3),
        used: 0.5,
        speeds: speeds(),
        replace: durability::REPLACE,
        scrubbed_every: Some(Nanos::seconds(30 * 86_400)),
        correlation: CORRELATION,
        common: CommonCause::ASSUMED,
        daily: &DAILY,
    }
}

/// What nobody said is marked as a guess, and is that part of a risk which is left where it is taken off.
#[test]
fn what_takes_all_drives_at_once_is_given_or_assumed() {
    let (stack, drives) = (array(RaidLevel::Raid1, 2), drives(2));
    let of = |said| outlook(&Given { common: CommonCause::of(said), ..given(&stack, &drives) }).unwrap();
    let (assumed, given, never) = (of(None), of(Some(0.002)), of(Some(0.0)));
    assert!(assumed.common.is_assumed && !given.common.is_assumed);
    let common = |of: &Outlook| of.loss.of(Cause::CommonCause).unwrap().probability;
    assert!((common(&given).low - 0.002).abs() < 1e-5 && common(&given).low >= common(&given).high);
    assert!(common(&assumed).low < common(&assumed).middle);
    for of in [&assumed, &given] {
        let rest = of.common.taken_off(of.loss.any.middle);
        assert!((rest / never.loss.any.middle - 1.0).abs() < 1e-9, "{rest} {}", never.loss.any.middle);
    }
}

/// ZFS writes a whole record for a part of one, so small random writes wear more; what only reads says nothing of writes.
#[test]
fn what_is_written_in_a_day_is_written_as_the_workloads_write() {
    let work = |pattern, kib| Workload::new(name(0), pattern, Bytes::kib(kib));
    let daily = |works: &[Workload]| Daily::usual(works, Bytes(50_000_000_000));
    let small = daily(&[work(Pattern::RandWrite, 4)]);
    assert_eq!(
        small,
        [Daily { write: Write { block: Bytes::kib(4), random: true, sync: false }, bytes: Bytes(50_000_000_000) }]
    );
    let mixed = daily(&[work(Pattern::Write, 1024), work(Pattern::RandMixed(50), 4), work(Pattern::RandRead, 64)]);
    let parts: Vec<(bool, u64)> = mixed.iter().map(|of| (of.write.random, of.bytes.0 / 1_000_000_000)).collect();
    assert_eq!(parts, [(false, 33), (true, 16)]);
    let none = daily(&[work(Pattern::RandRead, 4)]);
    assert!(Daily::of(&[work(Pattern::RandRead, 4)], Bytes(1)).is_empty() && none[0].write.block == Bytes::kib(16));
    let synced = Workload { fsync_every: Some(1), ..work(Pattern::Write, 4) };
    let parts = Workload::of_parts(name(1), vec![Part::of(work(Pattern::RandRead, 4)), Part::of(synced)]);
    assert!(matches!(daily(&[parts])[..], [Daily { write: Write { random: false, sync: true, .. }, .. }]));
    let (pool, drives) = (stack(1, vec![Layer::Zfs(Zfs { recordsize: Bytes::kib(16), ..Zfs::default() })]), drives(1));
    let life = |daily: &[Daily]| outlook(&Given { daily, ..given(&pool, &drives) }).unwrap().life_years.unwrap().middle;
    assert!(life(&none) / life(&small) > 3.0, "{} {}", life(&none), life(&small));
}

#[test]
fn a_resync_takes_what_the_kernel_allows() {
    let stack = array(RaidLevel::Raid1, 2);
    let minutes = |stack: &Stack, speeds: &Speeds| {
        rebuild(stack, TWO_TB, 0.5, speeds).map(|time| time.map(|time| time.as_seconds() / 60.0))
    };
    // 2.0004 TB at 204.8 MB/s; a write-up measured 145 minutes, of a kernel that went a little over its cap.
    let capped = minutes(&stack, &speeds()).unwrap();
    assert!((capped.middle - 162.8).abs() < 0.1, "{capped:?}");
    assert!((capped.low - capped.high).abs() < 1e-9, "the cap binds whatever else the drives do");
    let free = Speeds { cap: BytesPerSecond(f64::INFINITY), ..speeds() };
    let uncapped = minutes(&stack, &free).unwrap();
    assert!((9.9..10.3).contains(&uncapped.low), "about ten minutes without the cap: {uncapped:?}");
    // What is used, and no cap.
    let pool = minutes(&zfs(ZfsLayout::Mirror, 2), &speeds()).unwrap();
    assert!((pool.low - uncapped.low / 2.0).abs() < 0.01, "{pool:?}");
    assert_eq!(minutes(&array(RaidLevel::Raid0, 2), &speeds()), None);
    let slow = Speeds { thread: Some(BytesPerSecond(1e8)), ..speeds() };
    let parity = minutes(&array(RaidLevel::Raid6, 4), &slow).unwrap();
    assert!((parity.middle - TWO_TB.as_f64() / 1e8 / 60.0).abs() < 0.01, "one thread computes parity: {parity:?}");
}

#[test]
fn checks_below_a_mirror_repair_and_a_mirror_alone_does_not() {
    let drives = drives(3);
    for (stack, healing) in [
        (array(RaidLevel::Raid1, 2), Healing::Unnoticed),
        (checked_mirror(), Healing::Repaired),
        (zfs(ZfsLayout::Mirror, 2), Healing::Repaired),
        (zfs(ZfsLayout::Stripe, 2), Healing::Noticed),
        (stack(1, vec![Layer::Integrity(Integrity::default())]), Healing::Noticed),
    ] {
        let outlook = outlook(&given(&stack, &drives)).unwrap();
        assert_eq!(outlook.healing, healing);
        let silent = |loss: &terms::durability::Loss| loss.of(Cause::SilentCorruption).unwrap().probability.middle;
        let (here, otherwise) = (silent(&outlook.loss), silent(&outlook.otherwise));
        // With something redundant the difference is orders of magnitude, and it is in the outlook.
        match (healing, outlook.rebuild.is_some()) {
            (Healing::Repaired, _) => assert!(here * 20.0 < otherwise, "{here} {otherwise}"),
            (_, true) => assert!(otherwise * 20.0 < here, "{here} {otherwise}"),
            _ => {}
        }
    }
}

/// Drives of so many bytes.
fn sized(sizes: &[u64]) -> Vec<DriveModel> {
    let mut all = drives(sizes.len());
    all.iter_mut().zip(sizes).for_each(|(drive, size)| drive.size = Bytes(*size));
    all
}

#[test]
fn only_what_an_array_has_of_a_drive_is_rebuilt_and_at_risk() {
    const GB: u64 = 1_000_000_000;
    let minutes = |time: Option<Spread<Nanos>>| time.unwrap().middle.as_seconds() / 60.0;
    // 500 GB of each at 204.8 MB/s.
    let (unequal, array) = (sized(&[2000 * GB, 500 * GB, 1000 * GB]), array(RaidLevel::Raid5, 3));
    let of = outlook(&given(&array, &unequal)).unwrap();
    assert!((minutes(of.rebuild) - 40.7).abs() < 0.1 && of.scrub == of.rebuild, "{:?}", of.rebuild);
    // btrfs puts the other copy elsewhere: of the largest it has as much as the others together, 750 GB at half full, and
    // where those are larger all of it.
    for data in [BtrfsProfile::Raid1, BtrfsProfile::Raid10] {
        let tree = stack(3, vec![Layer::Btrfs(Btrfs { data, ..Btrfs::default() })]);
        let of = |sizes: &[u64]| outlook(&given(&tree, &sized(sizes))).unwrap();
        let (beyond, whole) = (of(&[2000 * GB, 500 * GB, 1000 * GB]), of(&[1500 * GB, 500 * GB, 1000 * GB]));
        let (spare, all) = (minutes(beyond.rebuild), minutes(whole.rebuild));
        assert!((spare / all - 1.0).abs() < 0.002, "{data:?}: {spare} {all}");
        let all = minutes(of(&[1400 * GB, 1000 * GB, 1000 * GB]).rebuild);
        assert!((all / minutes(of(&[1400 * GB; 3]).rebuild) - 1.0).abs() < 0.002, "{data:?}: {all}");
        // Wrong data come once a year and drive, and three quarters of the largest count.
        let risk = |outlook: &terms::durability::Outlook, cause| outlook.loss.of(cause).unwrap().probability.middle;
        let silent = risk(&beyond, Cause::SilentCorruption) / risk(&whole, Cause::SilentCorruption);
        assert!((silent / (2.75 / 3.0) - 1.0).abs() < 0.002, "{data:?}: {silent}");
        let unreadable = risk(&beyond, Cause::UnreadableBlock) / risk(&whole, Cause::UnreadableBlock);
        assert!((0.9..1.002).contains(&unreadable), "{data:?}: {unreadable}");
    }
    // A mirror of partitions of a fortieth of each drive.
    let partition = |index: usize| LayerNode {
        name: Name::new(format!("p{index}")).unwrap(),
        layer: Layer::Partition(GptPartition { size: Some(Bytes(100 * GB)) }),
        on: vec![Ref::Drive(name(index))],
        special: Vec::new(),
    };
    let entry = |node: &LayerNode| LayerAccount {
        layer: node.name.clone(),
        title: String::new(),
        below: Bytes(4000 * GB),
        above: Bytes(100 * GB),
        uses: Vec::new(),
        exactness: Exactness::Byte,
    };
    let parts = [partition(0), partition(1)];
    let (layers, on) =
        (parts.each_ref().map(entry), parts.each_ref().map(|node| Ref::Layer(node.name.clone())).to_vec());
    let raid =
        LayerNode { name: Name::new("m").unwrap(), layer: Layer::Raid(Raid::default()), on, special: Vec::new() };
    let small = Stack { name: "small".to_owned(), note: None, nodes: [parts.to_vec(), vec![raid]].concat() };
    let large = sized(&[4000 * GB; 2]);
    let of_parts = outlook(&Given { layers: &layers, ..given(&small, &large) }).unwrap();
    assert!((minutes(of_parts.rebuild) - 100.0 / 0.2048 / 60.0).abs() < 0.1, "{:?}", of_parts.rebuild);
    let mirror = stack(2, vec![Layer::Raid(Raid::default())]);
    let whole = outlook(&given(&mirror, &large)).unwrap();
    for cause in [Cause::SilentCorruption, Cause::UnreadableBlock] {
        let of = |outlook: &terms::durability::Outlook| outlook.loss.of(cause).unwrap().probability.middle;
        let times = of(&whole) / of(&of_parts);
        assert!((39.0..41.0).contains(&times), "{cause:?}: {times}");
    }
}

#[test]
fn an_array_without_a_member_is_as_safe_as_what_is_left_of_it() {
    let drives = drives(6);
    let of = |stack: &Stack, state| outlook(&Given { state, ..given(stack, &drives) }).unwrap();
    let any = |stack: &Stack, state| of(stack, state).loss.any.middle;
    let (whole, degraded) = (ArrayState::Whole, ArrayState::Degraded);
    // A mirror of two is one drive, parity that lacks a member is a stripe set, and a second parity is a first.
    let bare = stack(1, vec![Layer::Bare]);
    for (array, left) in [
        (array(RaidLevel::Raid1, 2), bare.clone()),
        (array(RaidLevel::Raid1, 3), array(RaidLevel::Raid1, 2)),
        (array(RaidLevel::Raid5, 5), array(RaidLevel::Raid0, 4)),
        (array(RaidLevel::Raid6, 6), array(RaidLevel::Raid5, 5)),
        (zfs(ZfsLayout::Raidz2, 6), zfs(ZfsLayout::Raidz1, 5)),
        (zfs(ZfsLayout::Mirror, 2), zfs(ZfsLayout::Stripe, 1)),
    ] {
        let (expected, found) = (any(&left, whole), any(&array, degraded));
        assert!((found / expected - 1.0).abs() < 1e-9, "{array:?}: {found} and not {expected}");
        assert!(of(&array, degraded).degraded && !of(&array, whole).degraded);
    }
    // By the study's own word, and of nothing that has no member to spare.
    let layer = Layer::Raid(Raid { level: RaidLevel::Raid5, state: degraded, ..Raid::default() });
    let own = stack(5, vec![layer]);
    assert_eq!(of(&own, whole).loss, of(&array(RaidLevel::Raid5, 5), degraded).loss);
    assert_eq!(of(&bare, degraded), of(&bare, whole));
    // One pair of two has nothing to spare: as often as a drive fails, all is lost.
    let pairs = array(RaidLevel::Raid10, 4);
    let failures = drives[0].class.failures_per_year.middle;
    assert!(any(&pairs, degraded) > failures && any(&pairs, degraded) < any(&array(RaidLevel::Raid5, 4), degraded));
    // What puts wrong data right needs something to put them right from.
    assert_eq!(of(&zfs(ZfsLayout::Mirror, 2), degraded).healing, Healing::Noticed);
    assert_eq!(of(&zfs(ZfsLayout::Raidz2, 6), degraded).healing, Healing::Repaired);
}

#[test]
fn life_is_what_is_left_of_the_writes_after_the_layers() {
    let drives = drives(4);
    let years = |stack: &Stack| outlook(&given(stack, &drives)).unwrap().life_years.unwrap().middle;
    // 600 TB for each TB, 20 GiB a day over one drive: 153 years of 365.25 days.
    let bare = years(&stack(1, vec![Layer::Bare]));
    assert!((bare - 600.0 * TWO_TB.as_f64() / (20.0 * Bytes::gib(1).as_f64() * 365.25)).abs() < 0.01);
    // Striping halves it, a mirror of two does not, parity for part of a row doubles it over three.
    assert!((years(&array(RaidLevel::Raid0, 2)) / bare - 2.0).abs() < 1e-9);
    assert!((years(&array(RaidLevel::Raid1, 2)) / bare - 1.0).abs() < 1e-9);
    assert!((years(&array(RaidLevel::Raid5, 3)) / bare - 1.5).abs() < 1e-9);
    // A linear volume works on one drive at a time, and unequal stripes by their size.
    let lvm = |drives, volume| stack(drives, vec![Layer::Lvm(Lvm { volume, ..Lvm::default() })]);
    assert!((years(&lvm(3, Volume::Linear)) / bare - 1.0).abs() < 1e-9);
    assert!((years(&lvm(2, Volume::Striped)) / bare - 2.0).abs() < 1e-9);
    // Whole records of 128 KiB for 4 KiB.
    assert!((bare / years(&zfs(ZfsLayout::Stripe, 1)) - 32.0).abs() < 1e-9);
}

#[test]
fn what_goes_to_a_special_vdev_is_not_known_and_a_cache_has_half() {
    let (beside, on) = ([2, 3], [0, 1]);
    let refs = |all: [usize; 2]| all.map(|index| Ref::Drive(name(index))).to_vec();
    let of = |layer: Layer| {
        let node = LayerNode { name: Name::new("l").unwrap(), layer, on: refs(on), special: refs(beside) };
        Stack { name: "two and two".to_owned(), note: None, nodes: vec![node] }
    };
    let years =
        |stack: &Stack, drives: &[DriveModel]| outlook(&given(stack, drives)).unwrap().life_years.map(|of| of.middle);
    let flash = drives(4);
    let mut mixed = drives(4);
    mixed[..2].iter_mut().for_each(|drive| drive.class = class("nearline-hdd").unwrap());
    let pool = of(Layer::Zfs(Zfs { layout: ZfsLayout::Mirror, ..Zfs::default() }));
    // Data vdevs bear all data, and flash beside hard disks metadata alone.
    assert_eq!(years(&pool, &flash), years(&zfs(ZfsLayout::Mirror, 2), &flash));
    let outlook = outlook(&given(&pool, &mixed)).unwrap();
    assert_eq!((outlook.life_years, outlook.unknown_life), (None, vec![name(2), name(3)]));
    let cached = of(Layer::Lvm(Lvm { volume: Volume::Raid1, cache: Some(CacheMode::Writeback), ..Lvm::default() }));
    let written = durability::amplification(&cached, &given(&cached, &flash).daily[0].write).total.middle;
    let (bare, cached) = (years(&stack(1, vec![Layer::Bare]), &flash), years(&cached, &flash));
    assert!((bare.unwrap() / cached.unwrap() - written / 4.0).abs() < 1e-9, "half of it over two drives");
}

#[test]
fn the_same_stack_has_the_same_outlook_and_it_survives_json() {
    let (stack, drives) = (checked_mirror(), drives(2));
    let outlook = outlook(&given(&stack, &drives)).unwrap();
    assert_eq!(Some(&outlook), durability::outlook(&given(&stack, &drives)).as_ref());
    let text = serde_json::to_string(&outlook).unwrap();
    assert_eq!(serde_json::from_str::<terms::durability::Outlook>(&text).unwrap(), outlook);
    assert!(outlook.loss.causes.iter().all(|loss| loss.probability.low <= loss.probability.high));
    assert!(outlook.amplification[0].total.middle > 4.0, "a journal under a mirror");
    assert_eq!(outlook.amplification[0].layers.len(), 2, "one entry for both legs");
}
