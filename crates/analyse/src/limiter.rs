//! What most rounds of a cell were limited by.

use std::collections::BTreeMap;

use terms::evidence::Limiter;
use terms::record::Cell;

/// The kind that most rounds name, with what the newest of them saw. Of kinds named equally often the first by order of
/// [`terms::evidence::LimiterKind`].
pub(crate) fn most(cells: &[&Cell]) -> Option<Limiter> {
    let mut kinds: BTreeMap<_, (usize, &Limiter)> = BTreeMap::new();
    for limiter in cells.iter().filter_map(|cell| cell.limiter.as_ref()) {
        let count = kinds.get(&limiter.kind).map_or(0, |(count, _)| *count);
        kinds.insert(limiter.kind, (count + 1, limiter));
    }
    let most = kinds.values().map(|(count, _)| *count).max()?;
    kinds.into_values().find(|(count, _)| *count == most).map(|(_, limiter)| limiter.clone())
}
