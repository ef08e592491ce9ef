//! How much of what a stack holds may be used before it has no room to work.

use terms::units::MIB;
use terms::{Bytes, Stack};

/// The most data that leaves a stack which holds that much room to work in, in whole MiB: six tenths. A file system that
/// writes elsewhere what it overwrites has both until its transaction has ended: five. Both
/// shares are a choice.
#[must_use]
pub fn room_to_work(stack: &Stack, holds: Bytes) -> Bytes {
    let is_tree = stack.nodes.iter().any(|node| node.layer.traits().tree);
    let tenths = if is_tree { 5 } else { 6 };
    Bytes::mib(holds.0 / 10 * tenths / MIB)
}
