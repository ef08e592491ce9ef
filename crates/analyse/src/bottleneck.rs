//! What most rounds of a cell were limited by.

use std::collections::BTreeMap;

use terms::evidence::Bottleneck;
use terms::record::Cell;

/// The kind that most rounds name, with what the newest of them saw. Of kinds named equally often the first by order of
/// [`terms::evidence::BottleneckKind`].
pub(crate) fn most(cells: &[&Cell]) -> Option<Bottleneck> {
    let mut kinds: BTreeMap<_, (usize, &Bottleneck)> = BTreeMap::new();
    for bottleneck in cells.iter().filter_map(|cell| cell.bottleneck.as_ref()) {
        let count = kinds.get(&bottleneck.kind).map_or(0, |(count, _)| *count);
        kinds.insert(bottleneck.kind, (count + 1, bottleneck));
    }
    let most = kinds.values().map(|(count, _)| *count).max()?;
    kinds.into_values().find(|(count, _)| *count == most).map(|(_, bottleneck)| bottleneck.clone())
}
