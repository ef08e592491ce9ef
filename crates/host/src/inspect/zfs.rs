//! ZFS pools: what `zpool`, `zfs` and `zdb` say.

use std::collections::BTreeMap;

use terms::Bytes;
use terms::inventory::{Dataset, Node, Pool, Readout};

use super::kernel::EXCERPT;
use super::source::Source;
use super::vdev;

/// Properties of datasets that bear on speed and safety.
pub(crate) const PROPERTIES: &str = "type,recordsize,volblocksize,primarycache,secondarycache,sync,compression,atime,encryption,\
                          checksum,logbias,special_small_blocks,copies,dedup";

/// What `zpool` and `zfs` print where there is no value.
pub(crate) const UNTOLD: &str = "-";

/// Pools that are imported; none where the kernel has no ZFS.
pub(super) fn read(source: &Source, nodes: &[Node]) -> Readout<Vec<Pool>> {
    match source.leads("/sys/module/zfs") {
        Readout::Known(Some(_)) => {}
        Readout::Known(None) => return Readout::Known(Vec::new()),
        Readout::Unknown(why) => return Readout::Unknown(why),
    }
    source.said(&["zpool", "list", "-H", "-o", "name,health"]).map(|text| {
        let pools = text.lines().filter_map(|line| line.split_once('\t'));
        pools.map(|(name, state)| pool(source, nodes, name, state)).collect()
    })
}

fn pool(source: &Source, nodes: &[Node], name: &str, state: &str) -> Pool {
    let status = source.said(&["zpool", "status", "-P", name]);
    let told = |key: &str| status.known().and_then(|text| vdev::told(text, key));
    let shifts = source.said(&["zdb", "-C", name]).map(|text| vdev::shifts(&text));
    Pool {
        name: name.to_owned(),
        state: Some(state.trim()).filter(|state| *state != UNTOLD).unwrap_or_default().to_owned(),
        properties: source
            .said(&["zpool", "get", "-H", "-p", "-o", "property,value", "all", name])
            .map(|text| pairs(&text)),
        status: told("status"),
        scan: told("scan"),
        errors: told("errors"),
        damaged: status.known().map_or_else(Vec::new, |text| vdev::damaged(text)),
        dedup: status.known().and_then(|text| vdev::dedup(text)),
        vdevs: status.as_ref().map(|text| vdev::tree(text, &shifts, |path| super::node_of(source, nodes, path))),
        datasets: source.said(&ask_for_datasets(name)).map(|text| {
            if text.starts_with(EXCERPT) {
                source.partial("zfs get", "what was posted of `zfs get` may not be all of it");
            }
            datasets(&text)
        }),
    }
}

/// How a pool is asked for the properties of all its datasets.
pub(crate) fn ask_for_datasets(pool: &str) -> [&str; 11] {
    ["zfs", "get", "-H", "-p", "-r", "-t", "filesystem,volume", "-o", "name,property,value", PROPERTIES, pool]
}

/// `PROPERTY VALUE` on each line.
fn pairs(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// `NAME PROPERTY VALUE` on each line; a property that does not apply is `-`.
fn datasets(text: &str) -> Vec<Dataset> {
    let mut all: Vec<Dataset> = Vec::new();
    for line in text.lines() {
        let mut words = line.split('\t');
        let (Some(name), Some(property), Some(value)) = (words.next(), words.next(), words.next()) else { continue };
        if all.last().is_none_or(|last| last.name != name) {
            all.push(Dataset { name: name.to_owned(), ..Dataset::default() });
        }
        let Some(dataset) = all.last_mut().filter(|_| value != "-") else { continue };
        match property {
            "type" => value.clone_into(&mut dataset.kind),
            "recordsize" | "volblocksize" => dataset.record = value.parse().ok().map(Bytes),
            _ => drop(dataset.properties.insert(property.to_owned(), value.to_owned())),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_understood() {
        let all = datasets(
            "tank\ttype\tfilesystem\ntank\trecordsize\t131072\ntank\tvolblocksize\t-\ntank\tsync\tstandard\n\
                            tank/v\ttype\tvolume\ntank/v\tvolblocksize\t16384\n",
        );
        assert_eq!((all.len(), all[0].record, all[1].record), (2, Some(Bytes::kib(128)), Some(Bytes::kib(16))));
        assert_eq!(all[0].properties["sync"], "standard");
        assert_eq!(pairs("ashift\t12\n")["ashift"], "12");
    }
}
