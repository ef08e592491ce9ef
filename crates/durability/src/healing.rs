//! What becomes of wrong data that a drive returns as if they were right.

use std::collections::BTreeMap;

use terms::durability::Healing;
use terms::layer::{BtrfsProfile, RaidLevel, ZfsLayout};
use terms::{Layer, LayerNode, Name, Ref, Stack};

/// What becomes of wrong data from a drive on the way up a stack.
///
/// A layer that checks turns them into read errors; a redundant layer above puts read errors right. A redundant layer
/// without checks below it cannot tell which copy is the right one: md's `check` counts differences, and its `repair`
/// makes copies alike, right or wrong.
#[must_use]
pub fn healing(stack: &Stack) -> Healing {
    let mut layers: BTreeMap<&Name, Healing> = BTreeMap::new();
    for node in &stack.nodes {
        let below = node.below().map(|below| match below {
            Ref::Drive(_) => Healing::Unnoticed,
            Ref::Layer(name) => layers.get(name).copied().unwrap_or(Healing::Unnoticed),
        });
        let below = below.min().unwrap_or(Healing::Unnoticed);
        layers.insert(&node.name, of_node(node, below));
    }
    stack.top().and_then(|top| layers.get(&top.name)).copied().unwrap_or(Healing::Unnoticed)
}

fn of_node(node: &LayerNode, below: Healing) -> Healing {
    let redundant = |is: bool, below: Healing| match below {
        Healing::Noticed if is => Healing::Repaired,
        other => other,
    };
    match &node.layer {
        Layer::Integrity(_) => below.max(Healing::Noticed),
        Layer::Luks(luks) if luks.integrity.is_some() => below.max(Healing::Noticed),
        Layer::Raid(raid) => redundant(raid.level != RaidLevel::Raid0, below),
        Layer::Lvm(lvm) => {
            let below = if lvm.integrity.is_some() { below.max(Healing::Noticed) } else { below };
            redundant(lvm.volume.is_raid(), below)
        }
        // Without copy-on-write there are no checksums.
        Layer::Btrfs(btrfs) if !btrfs.copy_on_write => below,
        Layer::Btrfs(btrfs) => {
            let copies = !matches!(btrfs.data, BtrfsProfile::Single | BtrfsProfile::Raid0);
            redundant(copies, below.max(Healing::Noticed))
        }
        Layer::Zfs(zfs) => redundant(zfs.layout != ZfsLayout::Stripe, below.max(Healing::Noticed)),
        Layer::Luks(_) | Layer::Bare | Layer::Partition(_) | Layer::Crypt(_) | Layer::Ext4(_) | Layer::Xfs(_) => below,
    }
}
