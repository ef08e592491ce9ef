//! How much of each drive a stack has.

use std::collections::BTreeMap;

use terms::layer::{RaidLevel, Volume, ZfsLayout};
use terms::{Layer, LayerNode, Name, Ref, Stack};

/// What a stack has of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Part {
    /// Share of its bytes.
    pub(crate) held: f64,
}

/// Parts of a stack's layers and drives, from the sizes of what they rest on.
pub(crate) fn parts(stack: &Stack, size: impl Fn(&Ref) -> f64) -> BTreeMap<&Name, Part> {
    let mut parts: BTreeMap<&Name, Part> = stack.top().map(|top| (&top.name, Part { held: 1.0 })).into_iter().collect();
    for node in stack.nodes.iter().rev() {
        let Some(part) = parts.get(&node.name).copied() else { continue };
        let own = size(&Ref::Layer(node.name.clone()));
        let smallest = node.on.iter().map(&size).fold(f64::INFINITY, f64::min);
        for on in node.below() {
            let all = size(on).max(1.0);
            let held = match () {
                () if node.layer.traits().shares_drive => own.min(all) / all,
                () if is_cut(&node.layer) && node.on.contains(on) => smallest / all,
                () => 1.0,
            };
            parts.entry(on.name()).or_default().held += part.held * held;
        }
    }
    parts
}

/// Does it use no more of each member than the smallest has?
pub(crate) fn is_cut(layer: &Layer) -> bool {
    match layer {
        Layer::Raid(raid) => raid.level != RaidLevel::Raid0,
        Layer::Lvm(lvm) => lvm.volume != Volume::Linear,
        Layer::Zfs(zfs) => zfs.layout != ZfsLayout::Stripe,
        _ => false,
    }
}

/// The layer whose members are rebuilt, else the one whose tree is compared with its checksums; of several the topmost.
pub(crate) fn compared(stack: &Stack) -> Option<&LayerNode> {
    let nodes = || stack.nodes.iter().rev();
    nodes().find(|node| node.layer.is_redundant()).or_else(|| nodes().find(|node| node.layer.traits().tree))
}
