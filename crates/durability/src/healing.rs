//! What becomes of wrong data that a drive returns as if they were right.

use std::collections::BTreeMap;

use terms::durability::Healing;
use terms::layer::Checksums;
use terms::{LayerNode, Name, Ref, Stack};

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
    let found = node.layer.traits();
    let noticed = if found.checksums == Checksums::None { below } else { below.max(Healing::Noticed) };
    if found.repairs && noticed == Healing::Noticed { Healing::Repaired } else { noticed }
}
