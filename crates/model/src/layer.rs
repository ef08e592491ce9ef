//! The algebra of layers: what each makes of what it is asked for. One file for each kind.

pub(crate) mod array;
mod bitmap;
mod btrfs;
mod copies;
pub(crate) mod crypt;
pub(crate) mod drive;
mod flush;
mod integrity;
mod pointers;
mod resync;
mod rows;
pub(crate) mod turns;
mod volume;
mod zfs;

use terms::{LayerNode, Ref, Stack};

/// What the top of a stack has of what its layers hand upwards: `of` makes it of a layer and the most that those below it
/// have, at least `least`.
pub(crate) fn upwards(stack: &Stack, least: f64, of: impl Fn(&LayerNode, f64) -> f64) -> f64 {
    let mut found: Vec<f64> = Vec::with_capacity(stack.nodes.len());
    for (at, node) in stack.nodes.iter().enumerate() {
        let below = node.on.iter().filter_map(|under| match under {
            Ref::Layer(name) => stack.nodes[..at].iter().position(|other| other.name == *name),
            Ref::Drive(_) => None,
        });
        found.push(of(node, below.map(|place| found[place]).fold(least, f64::max)));
    }
    found.last().copied().unwrap_or(least)
}
