//! How much of each drive a stack has, and how much of what is written goes to it.

use std::collections::BTreeMap;

use terms::layer::{RaidLevel, Volume, ZfsLayout};
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
        let of_members = taken(&node.layer, &sizes);
        let members = split(&node.layer, &of_members, !node.special.is_empty());
        let shares = members.into_iter().map(Some).chain(node.special.iter().map(|_| beside(node)));
        let takes = of_members.into_iter().map(Some).chain(node.special.iter().map(|_| None));
        for (on, (share, taken)) in node.below().zip(shares.zip(takes)) {
            let all = size(on).max(1.0);
            let held = match taken {
                _ if node.layer.traits().shares_drive => own.min(all) / all,
                Some(taken) => taken.min(all) / all,
                None => 1.0,
            };
            let found = parts.entry(on.name()).or_insert(Part { held: 0.0, written: Some(0.0) });
            found.held += part.held * held;
            found.written = found.written.zip(part.written.zip(share)).map(|(sum, (all, share))| sum + all * share);
        }
    }
    parts
}

/// Bytes that a layer uses of each member of so many, once it is full.
pub(crate) fn taken(layer: &Layer, sizes: &[f64]) -> Vec<f64> {
    let smallest = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    match layer {
        layer if is_cut(layer) => vec![smallest; sizes.len()],
        // Of equal members all is taken, beside what is left of the last chunk.
        Layer::Btrfs(btrfs) if sizes.iter().any(|size| *size > smallest) => {
            let free: Vec<u64> = sizes.iter().map(|size| *size as u64).collect();
            btrfs.data.taken(&free, free.iter().sum()).into_iter().map(|taken| taken as f64).collect()
        }
        _ => sizes.to_vec(),
    }
}

/// Share of each member in what a layer has all of them write, by what it uses of each, beside a cache or a special vdev
/// where there is one.
fn split(layer: &Layer, taken: &[f64], beside: bool) -> Vec<f64> {
    // What is worked on lies at the start, as in predictions: one member takes all of it.
    let first = matches!(layer, Layer::Lvm(lvm) if lvm.volume == Volume::Linear);
    let of = |(at, taken): (usize, &f64)| if first { f64::from(u8::from(at == 0)) } else { *taken };
    let shares: Vec<f64> = taken.iter().enumerate().map(of).collect();
    let sum: f64 = shares.iter().sum();
    let part = if beside && layer.traits().cache.is_some() { CACHED } else { 1.0 };
    shares.into_iter().map(|share| share / sum.max(f64::MIN_POSITIVE) * part).collect()
}

/// Share of each device of a cache; of a special vdev nothing tells how many metadata and small blocks it takes.
fn beside(node: &LayerNode) -> Option<f64> {
    node.layer.traits().cache.map(|_| CACHED / node.special.len() as f64)
}

/// Does it use no more of each member than the smallest has?
fn is_cut(layer: &Layer) -> bool {
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
