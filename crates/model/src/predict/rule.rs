//! How far the rules themselves may be off, beside the constants in them.
//!
//! Draws of the constants make intervals of a tenth, and published figures of other machines lie farther away: a rule may
//! leave out what matters there. So every figure is widened by a geometric standard deviation of its kind of stack. The
//! widths are from seven published sets of machines that no rule was written from, 227 figures (docs/expect.md): nine in
//! ten of the distances between what was said and what was published, over 1.645, rounded up.

use terms::{Layer, Pattern, Stack, Workload};

use crate::network::Network;

/// Geometric standard deviations, less 1.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Width {
    /// Drives by themselves (distance exceeded by one in ten: 1.6 times).
    drives: f64,
    /// Small reads at random places through block layers (1.6 times).
    reads: f64,
    /// All else through block layers (3.3 times).
    blocks: f64,
    /// btrfs and ZFS (3.9 times).
    trees: f64,
}

const WIDTH: Width = Width { drives: 0.33, reads: 0.35, blocks: 1.05, trees: 1.3 };

/// Larger requests are cut, read ahead and handed over.
const SMALL: f64 = 16_384.0;

/// The width for a stack under a workload.
pub(super) fn width(stack: &Stack, work: &Workload, network: &Network) -> f64 {
    let has = |is: fn(&Layer) -> bool| stack.nodes.iter().any(|node| is(&node.layer));
    if has(|layer| matches!(layer, Layer::Btrfs(_) | Layer::Zfs(_))) {
        WIDTH.trees
    } else if !has(|layer| !matches!(layer, Layer::Bare)) {
        WIDTH.drives
    } else if work.pattern == Pattern::RandRead && network.bytes <= SMALL {
        WIDTH.reads
    } else {
        WIDTH.blocks
    }
}
