//! How much of each drive a stack has, and how much of what is written goes to it.

use std::collections::BTreeMap;

use terms::layer::{BtrfsProfile, RaidLevel, Volume, ZfsLayout};
use terms::{Layer, LayerNode, Name, Ref, Stack};

/// Share of what is written that a cache takes, and that is written below it: each byte goes to both sooner or later.
const CACHED: f64 = 0.5;

/// What a stack has of a drive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Part {
    /// Share of its bytes.
    pub(crate) held: f64,
    /// Share of what all drives write; nothing where nobody knows how much that is.
    pub(crate) written: Option<f64>,
}

/// Parts of a stack's layers and drives, from the sizes of what they rest on.
pub(crate) fn parts(stack: &Stack, size: impl Fn(&Ref) -> f64) -> BTreeMap<&Name, Part> {
    let mut parts: BTreeMap<&Name, Part> =
        stack.top().map(|top| (&top.name, Part { held: 1.0, written: Some(1.0) })).into_iter().collect();
    for node in stack.nodes.iter().rev() {
        let Some(part) = parts.get(&node.name).copied() else { continue };
        let own = size(&Ref::Layer(node.name.clone()));
        let sizes: Vec<f64> = node.on.iter().map(&size).collect();
        let smallest = sizes.iter().copied().fold(f64::INFINITY, f64::min);
        let members = split(&node.layer, &sizes, !node.special.is_empty());
        let shares = members.into_iter().map(Some).chain(node.special.iter().map(|_| beside(node)));
        for (on, share) in node.below().zip(shares) {
            let all = size(on).max(1.0);
            let held = match () {
                () if node.layer.traits().shares_drive => own.min(all) / all,
                () if is_cut(&node.layer) && node.on.contains(on) => smallest / all,
                () => 1.0,
            };
            let found = parts.entry(on.name()).or_insert(Part { held: 0.0, written: Some(0.0) });
            found.held += part.held * held;
            found.written = found.written.zip(part.written.zip(share)).map(|(sum, (all, share))| sum + all * share);
        }
    }
    parts
}

/// Share of each member in what a layer has all of them write, beside a cache or a special vdev where there is one.
fn split(layer: &Layer, sizes: &[f64], beside: bool) -> Vec<f64> {
    let even = |_: (usize, &f64)| 1.0 / sizes.len().max(1) as f64;
    // What is worked on lies at the start, as in predictions: one member takes all of it.
    let first = |(at, _): (usize, &f64)| if at == 0 { 1.0 } else { 0.0 };
    // Each byte goes where most is free, so in the end by size, and a copy of it elsewhere.
    let all: f64 = sizes.iter().sum();
    let by_size = |copies: f64| move |(_, size): (usize, &f64)| (size / all.max(1.0)).min(1.0 / copies);
    let each = sizes.iter().enumerate();
    let shares: Vec<f64> = match layer {
        Layer::Lvm(lvm) if lvm.volume == Volume::Linear => each.map(first).collect(),
        Layer::Btrfs(btrfs) if matches!(btrfs.data, BtrfsProfile::Raid1 | BtrfsProfile::Raid10) => {
            each.map(by_size(2.0)).collect()
        }
        Layer::Btrfs(_) => each.map(by_size(1.0)).collect(),
        layer if !is_cut(layer) => each.map(by_size(1.0)).collect(),
        _ => each.map(even).collect(),
    };
    let sum: f64 = shares.iter().sum();
    let part = if beside && layer.traits().cache.is_some() { CACHED } else { 1.0 };
    shares.into_iter().map(|share| share / sum.max(f64::MIN_POSITIVE) * part).collect()
}

/// Share of each device of a cache; of a special vdev nothing tells how many metadata and small blocks it takes.
fn beside(node: &LayerNode) -> Option<f64> {
    node.layer.traits().cache.map(|_| CACHED / node.special.len() as f64)
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
