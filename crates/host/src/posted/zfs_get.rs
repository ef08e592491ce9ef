//! `zfs get` and `zpool get`: properties of datasets and of pools, as tables with the same heading.

use super::machine::POOL;
use super::{Machine, Text, zpool};
use crate::inspect::kernel::EXCERPT;
use crate::inspect::{PROPERTIES, ask_for_datasets};

/// `NAME   PROPERTY   VALUE   SOURCE`.
pub(super) fn begins(line: &str) -> bool {
    line.split_whitespace().eq(["NAME", "PROPERTY", "VALUE", "SOURCE"])
}

/// Sizes that `zfs get` writes with a unit where nobody asks for bytes (`zfs_nicenum`): powers of two, so that none was rounded.
const SIZES: [&str; 3] = ["recordsize", "volblocksize", "special_small_blocks"];

/// Each property that is asked for on the machine itself. A dataset that tells some is of a pool that is imported.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let mut told = 0;
    for line in text.lines.iter().skip(1) {
        let [name, property, value, _, ..] = line.split_whitespace().collect::<Vec<_>>()[..] else { continue };
        let pool = name.split('/').next().unwrap_or(name);
        if pool == name && of_pool(name, property, value, machine) {
            told += 1;
            continue;
        }
        if name.contains('@') || !zpool::is_name(pool) || !PROPERTIES.split(',').any(|known| known == property) {
            continue;
        }
        let value = if SIZES.contains(&property) { bytes(value) } else { Some(value.to_owned()) };
        let Some(value) = value else { continue };
        zpool::put_imported(pool, machine);
        let datasets = machine.datasets.entry(pool.to_owned()).or_default();
        datasets.entry(name.to_owned()).or_default().entry(property.to_owned()).or_insert(value);
        told += 1;
    }
    told
}

/// Is it a property of a pool that is asked for on the machine itself? No dataset has one of its name.
fn of_pool(name: &str, property: &str, value: &str, machine: &mut Machine) -> bool {
    if property == "health" && zpool::is_name(name) && zpool::is_state(value) {
        zpool::put(name, value, machine);
        return true;
    }
    // `zpool get` writes 0, or a number from 9 to 16 (zpoolprops(7)).
    if property == "ashift" && zpool::is_name(name) && value.parse().is_ok_and(|shift: u8| shift <= 16) {
        zpool::put_imported(name, machine);
        machine
            .pools
            .entry(name.to_owned())
            .or_default()
            .entry(property.to_owned())
            .or_insert_with(|| value.to_owned());
        return true;
    }
    let share = value.strip_suffix('%').unwrap_or(value).parse::<u8>().ok().filter(|share| *share <= 100);
    let Some(share) = share.filter(|_| ["capacity", "fragmentation"].contains(&property) && zpool::is_name(name))
    else {
        return false;
    };
    zpool::put_imported(name, machine);
    let properties = machine.pools.entry(name.to_owned()).or_default();
    properties.entry(property.to_owned()).or_insert_with(|| share.to_string());
    true
}

fn bytes(text: &str) -> Option<String> {
    let (number, power) = match (text.strip_suffix('K'), text.strip_suffix('M')) {
        (Some(number), _) => (number, 10),
        (_, Some(number)) => (number, 20),
        _ => (text, 0),
    };
    let bytes = number.parse::<u64>().ok()?.checked_mul(1 << power)?;
    Some(bytes.to_string())
}

/// What texts told of datasets and pools, as the commands that ask for all of it would.
pub(super) fn put_all(machine: &mut Machine) {
    for (pool, datasets) in std::mem::take(&mut machine.datasets) {
        let rows = datasets.iter().flat_map(|(name, properties)| {
            properties.iter().map(move |(property, value)| format!("{name}\t{property}\t{value}\n"))
        });
        let said = format!("{EXCERPT}\n{}", rows.collect::<String>());
        machine.run_if_untold(ask_for_datasets(&pool).join(" "), || said);
    }
    // The table of pools tells of these, too.
    for (pool, properties) in std::mem::take(&mut machine.pools) {
        let rows = properties.iter().map(|(property, value)| format!("{property}\t{value}\n"));
        machine.run_if_untold(format!("{POOL} {pool}"), || rows.collect());
    }
}
