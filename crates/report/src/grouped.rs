//! Items that have something in common, told together.

use std::collections::HashMap;
use std::hash::Hash;

/// Items with the same key together, groups in the order of the first of each.
pub(crate) fn by_key<T, K: Hash + Eq>(items: impl IntoIterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut places: HashMap<K, usize> = HashMap::new();
    let mut groups: Vec<Vec<T>> = Vec::new();
    for item in items {
        let at = *places.entry(key(&item)).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}
