//! Names of types: one name, one type, so that who reads a name need not ask whose.

use std::collections::BTreeMap;

use super::none;
use super::source::all;

/// Types that other rooms can name: what a line declares, if it does.
fn declared(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let name = ["struct ", "enum ", "trait ", "type "].iter().find_map(|kind| rest.strip_prefix(kind))?;
    name.split(|c: char| !c.is_alphanumeric()).next().filter(|name| !name.is_empty())
}

#[test]
fn one_public_name_is_one_type() {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for source in all().iter().filter(|source| source.is_product()) {
        for (at, line) in source.code.lines().enumerate() {
            if let Some(name) = declared(line) {
                places.entry(name).or_default().push(format!("{}:{}", source.path, at + 1));
            }
        }
    }
    assert!(places.len() > 300, "{} types", places.len());
    let twice = places.iter().filter(|(_, places)| places.len() > 1);
    none(&twice.map(|(name, places)| format!("{name}: {}", places.join(", "))).collect::<Vec<_>>());
}
