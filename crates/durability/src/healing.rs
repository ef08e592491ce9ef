//! What becomes of wrong data that a drive returns as if they were right.

use std::collections::BTreeMap;

use terms::durability::Healing;
use terms::layer::{ArrayState, Checksums, Survives};
use terms::{LayerNode, Name, Ref, Stack};

use crate::arrangement::is_degraded;

/// What becomes of wrong data from a drive on the way up a stack.
///
/// A layer that checks turns them into read errors; a redundant layer above puts read errors right. A redundant layer
/// without checks below it cannot tell which copy is the right one: md's `check` counts differences, and its `repair`
/// makes copies alike, right or wrong.
#[must_use]
pub fn healing(stack: &Stack) -> Healing {
    healed(stack, ArrayState::Whole)
}

/// The same in a state that is asked for: what lacks its last member to spare puts nothing right.
pub(crate) fn healed(stack: &Stack, asked: ArrayState) -> Healing {
    let mut layers: BTreeMap<&Name, Healing> = BTreeMap::new();
    for node in &stack.nodes {
        let below = node.below().map(|below| match below {
            Ref::Drive(_) => Healing::Unnoticed,
            Ref::Layer(name) => layers.get(name).copied().unwrap_or(Healing::Unnoticed),
        });
        let below = below.min().unwrap_or(Healing::Unnoticed);
        layers.insert(&node.name, of_node(node, below, asked));
    }
    stack.top().and_then(|top| layers.get(&top.name)).copied().unwrap_or(Healing::Unnoticed)
}

fn of_node(node: &LayerNode, below: Healing, asked: ArrayState) -> Healing {
    let found = node.layer.traits();
    let noticed = if found.checksums == Checksums::None { below } else { below.max(Healing::Noticed) };
    let spare = match found.survives {
        Survives::Any(losses) => losses > 1,
        Survives::AllButOne => node.on.len() > 2,
        Survives::Nothing | Survives::OneOfEachPair => false,
    };
    let repairs = found.repairs && (spare || !is_degraded(node, asked));
    if repairs && noticed == Healing::Noticed { Healing::Repaired } else { noticed }
}
