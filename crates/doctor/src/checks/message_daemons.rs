//! What daemons say of arrays and pools: which of it still holds.

use std::collections::BTreeMap;

use crate::machine::Machine;

/// Who wrote a message, for the evidence.
pub(super) fn source(line: &str) -> &'static str {
    match () {
        () if line.contains("detected on md device") => "mdadm --monitor",
        () if line.contains("ereport.fs.zfs.") => "zpool events",
        () if line.starts_with("eid=") => "zed",
        () => "dmesg",
    }
}

/// Of each array the last event, where it lacks a member after that, and nothing else tells how the array is.
pub(super) fn of_short_arrays<'a>(machine: &Machine, lines: &[&'a str]) -> Vec<&'a str> {
    let last: BTreeMap<&str, &str> = lines.iter().filter_map(|line| Some((array(line)?, *line))).collect();
    let is_told = |path: &str| {
        let name = path.trim_start_matches("/dev/").trim_start_matches("md/");
        let is_it = |own: &str| own.trim_start_matches("md/") == name;
        machine.arrays().any(|(node, md)| {
            let told = matches!(md.degraded.known(), Some(Some(_)));
            // `/dev/md/0` is a link, which may lead to any array.
            told && (is_it(&node.name) || node.label.as_deref().is_some_and(is_it) || path.starts_with("/dev/md/"))
        })
    };
    last.into_iter()
        .filter(|(path, line)| !line.contains("SpareActive") && !is_told(path))
        .map(|(_, line)| line)
        .collect()
}

/// `/dev/md0` of `Fail event detected on md device /dev/md0, component device /dev/sdb1`.
fn array(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("md device ")?;
    Some(rest.split([',', ' ']).next()?.trim_end_matches('.'))
}

/// Of each device of a pool the last event, where it is not in order after that.
pub(super) fn of_lost_devices<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut last: BTreeMap<(Option<&str>, Option<&str>), &str> = BTreeMap::new();
    for line in lines {
        last.insert((word(line, "pool="), word(line, "vdev=")), line);
    }
    let is_lost = |line: &&str| word(line, "vdev_state=").is_some_and(|state| LOST.contains(&state));
    last.into_values().filter(is_lost).collect()
}

/// What stands behind a key.
fn word<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.split(' ').find_map(|word| word.strip_prefix(key))
}

const LOST: [&str; 4] = ["FAULTED", "DEGRADED", "UNAVAIL", "REMOVED"];
