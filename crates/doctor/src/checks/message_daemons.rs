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

/// Events of arrays of which nothing else tells how they are.
pub(super) fn of_untold_arrays(machine: &Machine, lines: &mut Vec<&str>) {
    lines.retain(|line| {
        let path = line.split_once("md device ").and_then(|(_, rest)| rest.split([',', ' ']).next());
        let name = path.map(|path| path.trim_end_matches('.').trim_start_matches("/dev/").trim_start_matches("md/"));
        let is_it = |own: &str| Some(own.trim_start_matches("md/")) == name;
        !machine.arrays().any(|(node, md)| {
            let told = matches!(md.degraded.known(), Some(Some(_)));
            // `/dev/md/0` is a link, which may lead to any array.
            told && (is_it(&node.name) || node.label.as_deref().is_some_and(is_it) || line.contains("/dev/md/"))
        })
    });
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
