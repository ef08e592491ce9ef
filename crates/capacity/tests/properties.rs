//! What holds of every account, whatever the drives.

#![allow(clippy::unwrap_used, reason = "a test may stop")]

use std::collections::BTreeMap;

use capacity::{CapacityError, DriveSize, SizeBounds, account};
use proptest::prelude::*;
use terms::layer::{
    Bcache, Btrfs, BtrfsProfile, Crypt, CryptFormat, GptPartition, Integrity, IntegrityTag, Luks, LuksIntegrity, Lvm,
    Metadata, Raid, Raid10Layout, RaidLevel, Volume, Writecache, Zfs, ZfsLayout,
};
use terms::{Account, Bytes, Layer, LayerAccount, LayerNode, Name, Purpose, Ref, Stack};

fn name(index: usize) -> Name {
    Name::new(format!("d{index}")).unwrap()
}

fn drives(sizes: &[u64]) -> Vec<DriveSize> {
    let one = |(index, size): (usize, &u64)| DriveSize {
        name: name(index),
        size: Bytes(size * 4096),
        lba: Bytes(4096),
        slice: false,
    };
    sizes.iter().enumerate().map(one).collect()
}

/// A layer over all drives and more layers over that.
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

fn over_many() -> impl Strategy<Value = Layer> {
    let levels = prop::sample::select(vec![
        RaidLevel::Raid0,
        RaidLevel::Raid1,
        RaidLevel::Raid10,
        RaidLevel::Raid5,
        RaidLevel::Raid6,
    ]);
    let metadata = prop::sample::select(vec![Metadata::V1_0, Metadata::V1_1, Metadata::V1_2]);
    let layout = prop::sample::select(vec![Raid10Layout::Near, Raid10Layout::Far, Raid10Layout::Offset]);
    let raid = (levels, metadata, layout, 2_u32..12).prop_map(|(level, metadata, layout, chunk)| {
        Layer::Raid(Raid { level, metadata, layout, chunk: Bytes(4096 << chunk), ..Raid::default() })
    });
    let volume =
        prop::sample::select(vec![Volume::Linear, Volume::Striped, Volume::Raid1, Volume::Raid10, Volume::Raid5]);
    let lvm = (volume, any::<bool>()).prop_map(|(volume, thin)| {
        let thin_chunk = (thin && !volume.is_raid()).then_some(Bytes::kib(256));
        Layer::Lvm(Lvm { volume, thin_chunk, ..Lvm::default() })
    });
    let profile = prop::sample::select(vec![BtrfsProfile::Single, BtrfsProfile::Raid1, BtrfsProfile::Raid10]);
    let btrfs =
        profile.prop_map(|data| Layer::Btrfs(Btrfs { data, metadata: BtrfsProfile::Raid1, ..Btrfs::default() }));
    let layout = prop::sample::select(vec![ZfsLayout::Stripe, ZfsLayout::Mirror, ZfsLayout::Raidz1, ZfsLayout::Raidz2]);
    let zfs = layout.prop_map(|layout| Layer::Zfs(Zfs { layout, ..Zfs::default() }));
    prop_oneof![raid, lvm, btrfs, zfs]
}

fn over_one() -> impl Strategy<Value = Layer> {
    let tag = prop::sample::select(vec![IntegrityTag::Crc32c, IntegrityTag::Xxhash64, IntegrityTag::Sha256]);
    prop_oneof![
        Just(Layer::Luks(Luks::default())),
        Just(Layer::Crypt(Crypt { format: CryptFormat::TrueCrypt, ..Crypt::default() })),
        Just(Layer::Luks(Luks { integrity: Some(LuksIntegrity::HmacSha256), ..Luks::default() })),
        tag.prop_map(|tag| Layer::Integrity(Integrity { tag, sector: Bytes(4096), ..Integrity::default() })),
        Just(Layer::Lvm(Lvm::default())),
        Just(Layer::Bcache(Bcache::default())),
        Just(Layer::Writecache(Writecache::default())),
    ]
}

/// Bounds of every layer, from the drives up.
fn bounds(stack: &Stack, drives: &[DriveSize]) -> BTreeMap<Name, SizeBounds> {
    let mut known: BTreeMap<Name, SizeBounds> =
        drives.iter().map(|drive| (drive.name.clone(), SizeBounds::exactly(drive.size))).collect();
    for node in &stack.nodes {
        let below: Vec<SizeBounds> = node.on.iter().map(|below| known[below.name()]).collect();
        known.insert(node.name.clone(), SizeBounds::of(&node.layer, &below));
    }
    known
}

fn balanced(account: &Account) -> bool {
    account.entries.iter().all(LayerAccount::balances)
        && account.available <= account.total
        && account.total <= account.drives
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_byte_is_accounted_for(
        sizes in prop::collection::vec(100_000_u64..1_000_000_000, 4..9),
        wide in over_many(),
        narrow in prop::collection::vec(over_one(), 0..3),
        file_system in any::<bool>(),
    ) {
        let is_top = wide.is_file_system();
        let mut layers = vec![wide];
        if !is_top {
            layers.extend(narrow);
            if file_system {
                layers.push(Layer::Ext4(terms::layer::Ext4::default()));
            }
        }
        match account(&stack(sizes.len(), layers), &drives(&sizes)) {
            Ok(account) => prop_assert!(balanced(&account), "{account:#?}"),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn exact_sizes_lie_between_their_bounds(
        sizes in prop::collection::vec(100_000_u64..1_000_000_000, 4..9),
        like in any::<bool>(),
        under in prop::option::of(over_one()),
        wide in over_many(),
        narrow in prop::collection::vec(over_one(), 0..3),
        top in prop::sample::select(vec![
            None,
            Some(Layer::Ext4(terms::layer::Ext4::default())),
            Some(Layer::Xfs(terms::layer::Xfs::default())),
        ]),
    ) {
        let sizes = if like { vec![sizes[0]; sizes.len()] } else { sizes };
        let drives = drives(&sizes);
        let is_top = wide.is_file_system();
        let mut layers = vec![wide];
        if !is_top {
            layers.extend(narrow);
            layers.extend(top);
        }
        let mut stack = stack(sizes.len(), layers);
        if let Some(layer) = under {
            let each = |(at, drive): (usize, &DriveSize)| LayerNode {
                name: Name::new(format!("u{at}")).unwrap(),
                layer: layer.clone(),
                on: vec![Ref::Drive(drive.name.clone())],
                special: Vec::new(),
            };
            let nodes: Vec<LayerNode> = drives.iter().enumerate().map(each).collect();
            stack.nodes[0].on = nodes.iter().map(|node| Ref::Layer(node.name.clone())).collect();
            stack.nodes.splice(0..0, nodes);
        }
        let account = account(&stack, &drives).unwrap();
        let bounds = bounds(&stack, &drives);
        for entry in &account.entries {
            let SizeBounds { least, most } = bounds[&entry.layer];
            prop_assert!(
                least <= entry.above && entry.above <= most,
                "{} of {sizes:?}: {least} <= {} <= {most}\n{:#?}", entry.title, entry.above, stack.nodes
            );
        }
    }

    #[test]
    fn partitions_share_out_their_drive(size in 100_000_u64..1_000_000, parts in prop::collection::vec(16_u64..90, 1..4)) {
        let on = vec![Ref::Drive(name(0))];
        let mut nodes = Vec::new();
        for (at, part) in parts.iter().map(|mib| Some(Bytes::mib(*mib))).chain([None]).enumerate() {
            let layer = Layer::Partition(GptPartition { size: part });
            nodes.push(LayerNode { name: Name::new(format!("p{at}")).unwrap(), layer, on: on.clone(), special: Vec::new() });
        }
        let all = nodes.iter().map(|node| Ref::Layer(node.name.clone())).collect();
        nodes.push(LayerNode { name: Name::new("lvm").unwrap(), layer: Layer::Lvm(Lvm::default()), on: all, special: Vec::new() });
        let account = account(&Stack { name: "a stack".to_owned(), note: None, nodes }, &drives(&[size]));
        let Ok(account) = account else {
            let wanted: u64 = parts.iter().sum();
            prop_assert!(wanted + 16 > size * 4096 / (1 << 20), "{wanted} MiB and more did not fit {size} blocks");
            return Ok(());
        };
        prop_assert!(balanced(&account), "{account:#?}");
        let below: u64 = account.entries[..=parts.len()].iter().map(|entry| entry.below.0).sum();
        prop_assert_eq!(below, size * 4096);
    }

    #[test]
    fn a_larger_drive_never_holds_less(size in 100_000_u64..2_000_000_000, more in 0_u64..100_000, layer in over_one()) {
        let of = |size| account(&stack(1, vec![layer.clone()]), &drives(&[size])).unwrap().available;
        prop_assert!(of(size) <= of(size + more));
    }
}

#[test]
fn parity_takes_one_member_and_a_mirror_all_but_one() {
    let raid = |level, count: usize| {
        let layer = Layer::Raid(Raid { level, ..Raid::default() });
        account(&stack(count, vec![layer]), &drives(&vec![500_000_000; count])).unwrap()
    };
    let five = raid(RaidLevel::Raid5, 5);
    assert_eq!(five.used_for(Purpose::Parity).0 * 4, five.available.0);
    let mirror = raid(RaidLevel::Raid1, 3);
    assert_eq!(mirror.used_for(Purpose::Copies).0, 2 * mirror.available.0);
    assert!((0.33..0.3334).contains(&mirror.efficiency()));
}

/// 15.81 GiB of metadata at 64 bytes a chunk are 15.8 TiB of chunks of 64 KiB (lvm2, `update_thin_pool_params`).
#[test]
fn a_thin_pool_that_lvm_would_not_make_has_no_account() {
    let of = |gib: u64, kib| {
        let layer = Layer::Lvm(Lvm { thin_chunk: Some(Bytes::kib(kib)), ..Lvm::default() });
        account(&stack(1, vec![layer]), &drives(&[gib * 262_144]))
    };
    // Four fifths of the group are the pool's data.
    assert!(of(19_000, 64).is_ok(), "{:?}", of(19_000, 64));
    let Err(CapacityError::ThinChunk { least, .. }) = of(40_000, 64) else { panic!("{:?}", of(40_000, 64)) };
    assert_eq!(least, Bytes::kib(128));
    assert!(of(40_000, 128).is_ok());
}

#[test]
fn what_is_left_for_snapshots_is_told_as_that() {
    let of = |layers| account(&stack(1, layers), &drives(&[500_000_000])).unwrap();
    let thin = of(vec![Layer::Lvm(Lvm { thin_chunk: Some(Bytes::kib(64)), ..Lvm::default() })]);
    let share = thin.used_for(Purpose::Snapshots).as_f64() / thin.drives.as_f64();
    assert!((0.29..0.31).contains(&share) && thin.used_for(Purpose::Reserve) == Bytes(0), "{share}");
    for other in [Layer::Lvm(Lvm::default()), Layer::Btrfs(Btrfs::default()), Layer::Zfs(Zfs::default())] {
        assert_eq!(of(vec![other]).used_for(Purpose::Snapshots), Bytes(0));
    }
}

#[test]
fn members_of_unlike_size_promise_no_more_than_the_smallest_has() {
    for layer in [
        Layer::Raid(Raid { level: RaidLevel::Raid1, ..Raid::default() }),
        Layer::Lvm(Lvm { volume: Volume::Raid1, ..Lvm::default() }),
        Layer::Lvm(Lvm { volume: Volume::Striped, thin_chunk: Some(Bytes::kib(256)), ..Lvm::default() }),
    ] {
        let (stack, drives) = (stack(2, vec![layer]), drives(&[250_000_000, 100_000]));
        let (account, bounds) = (account(&stack, &drives).unwrap(), bounds(&stack, &drives));
        assert!(bounds[&stack.nodes[0].name].least <= account.available, "{}", account.entries[0].title);
        assert!(account.available.0 <= 2 * drives[1].size.0, "{}", account.entries[0].title);
    }
}

#[test]
fn what_does_not_fit_says_which_layer() {
    let layers = vec![Layer::Luks(Luks::default()), Layer::Xfs(terms::layer::Xfs::default())];
    let error = account(&stack(1, layers), &drives(&[10_000])).unwrap_err();
    assert_eq!(error.to_string(), "layer `l1` does not fit the 23.06 MiB below it");
    let error = account(&stack(2, vec![Layer::Bare]), &drives(&[10_000, 10_000])).unwrap_err();
    assert_eq!(error.to_string(), "layer `l0` rests on 2 devices, which it cannot");
}
