//! What daemons say of arrays and pools, in the order in which it happened: which of it still holds.

use std::collections::{BTreeMap, BTreeSet};

use terms::diagnosis::Place;

use super::message_kinds::Kind;
use super::message_programs;
use crate::check::{Error, Round, Warning};
use crate::machine::Machine;
use crate::words::list;

/// Of `smartd`, as SAS drives tell it.
pub(super) const TOO_WARM: Kind = Kind {
    words: &[&["device: /dev/", "specified temperature exceeded"]],
    severity: Warning,
    what: "a drive is warmer than its maker allows",
    cost: "; it slows itself down or stops where it gets no cooler",
    advice: "Look at fans, dust and what stands in the way of the air. Nothing is lost so far.",
    command: "smartctl --scan-open",
};

/// Of `smartd`, as NVMe drives tell it (`checkNVMe…` in smartmontools' `smartd.cpp`): the byte, and the names of its bits.
pub(super) const WARNS: Kind = Kind {
    words: &[&["device: /dev/nvme", ", critical warning (0x"]],
    severity: Error,
    what: "an NVMe drive warns of itself",
    cost: "; each bit of the number is 1 limit that it passed: spare, temperature, reliability, read-only",
    advice: "See first that there is a copy. Ask the drive which it is: one that is only worn or hot goes on, one without spare or that can \
             only be read is replaced.",
    command: "nvme smart-log DEVICE",
};

/// Age and heat (bits 2 and 1 of Critical Warning, NVM Express Base Specification 1.4, figure 194) are a warning.
pub(super) fn warns(lines: &[&str]) -> Kind {
    let byte = |line: &&str| {
        let digits = line.split_once("(0x").and_then(|(_, rest)| rest.get(..2));
        digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())
    };
    let is_mild = lines.iter().all(|line| byte(line).is_some_and(|byte| byte & !0b110 == 0));
    Kind { severity: if is_mild { Warning } else { WARNS.severity }, ..WARNS }
}

/// Who wrote a message, for the evidence.
pub(super) fn source(line: &str) -> &str {
    if let Some((program, _)) = message_programs::parts(line) {
        return program;
    }
    let writer = WRITERS.iter().find(|(words, _)| words.iter().all(|word| line.contains(word)));
    writer.map_or("dmesg", |(_, name)| name)
}

/// Words that only one daemon writes, and its name.
const WRITERS: [(&[&str], &str); 4] = [
    (&["detected on md device"], "mdadm --monitor"),
    (&["ereport.fs.zfs."], "zpool events"),
    (&["eid=", " class="], "zed"),
    (&["Device: /dev/"], "smartd"),
];

/// What shows the same again: a message is where it was written.
pub(super) fn command<'a>(line: &str, own: &'a str) -> &'a str {
    match source(line) {
        "zed" | "zpool events" if own.starts_with("dmesg") => "zpool events -v",
        _ => own,
    }
}

/// What of an array or a pool is lost: by member or device, the line that told it.
#[derive(Default)]
struct Losses<'a> {
    lost: BTreeMap<&'a str, &'a str>,
    /// What may have ended a loss, and is not sure to.
    unsure: Option<&'a str>,
    /// Was something filled since the first loss?
    filled: bool,
}

/// What is not told of an array that lacks a member: which one.
const UNNAMED: &str = "";

impl<'a> Losses<'a> {
    fn lose(&mut self, what: &'a str, line: &'a str) {
        self.filled &= !self.lost.is_empty();
        self.unsure = None;
        self.lost.insert(what, line);
    }

    /// All may be in order again, or be none of it any more.
    fn doubt(&mut self, line: &'a str) {
        if !self.lost.is_empty() {
            self.unsure = Some(line);
            self.lost.clear();
        }
    }

    /// An event of `mdadm --monitor`. One spare makes up for one member that failed.
    fn of_array(&mut self, line: &'a str, event: &str) {
        let member = line.split_once("component device ").map_or(UNNAMED, |(_, path)| path);
        match event {
            "Fail" | "DegradedArray" => self.lose(member, line),
            // What the kernel says of an array that it starts stands among the events.
            "StartedWhole" => *self = Self::default(),
            "RebuildStarted" => self.filled |= !self.lost.is_empty(),
            // That ends as well where it did not come to its end.
            "RebuildFinished" => self.doubt(line),
            "DeviceDisappeared" => {
                self.lost.clear();
                self.unsure = Some(line);
            }
            "SpareActive" => {
                self.lost.remove(UNNAMED);
                if self.lost.remove(member).is_none() {
                    self.lost.pop_first();
                }
                self.unsure = Some(line).filter(|_| !self.filled && self.lost.is_empty());
            }
            _ => {}
        }
    }

    /// An event of ZED.
    fn of_pool(&mut self, line: &'a str) {
        let class = word(line, "class=").or_else(|| word(line, "ereport.fs.zfs.")).unwrap_or_default();
        let device = ["vdev=", "vdev_path=", "vdev_guid="].iter().find_map(|key| word(line, key)).unwrap_or(UNNAMED);
        match word(line, "vdev_state=").filter(|_| class == "statechange") {
            Some(state) if LOST.contains(&state) => self.lose(device, line),
            Some(_) => drop(self.lost.remove(device)),
            None if CHANGES.iter().any(|change| class.starts_with(change)) => self.doubt(line),
            None if UNTOLD.contains(&class) => self.unsure = Some(line),
            None => {}
        }
    }
}

const LOST: [&str; 4] = ["FAULTED", "DEGRADED", "UNAVAIL", "REMOVED"];
/// Classes of events after which a pool has other devices, or is not there.
const CHANGES: [&str; 7] =
    ["vdev_attach", "vdev_remove", "vdev_spare", "vdev_clear", "pool_destroy", "pool_export", "resilver_finish"];
/// Classes of events that tell of a fault of that time, and not what became of it.
const UNTOLD: [&str; 5] = ["vdev.open_failed", "vdev.no_replicas", "vdev.corrupt_data", "vdev.bad_guid_sum", "zpool"];

/// Arrays that lack a member after the last event, where nothing else tells how the array is.
pub(super) fn of_short_arrays<'a>(machine: &Machine, lines: &[&'a str], round: &mut Round) -> Vec<&'a str> {
    let known: BTreeSet<&str> = machine
        .arrays()
        .filter(|(_, md)| matches!(md.degraded.known(), Some(Some(_))))
        .flat_map(|(node, _)| [Some(node.name.as_str()), node.label.as_deref()].into_iter().flatten())
        .map(|name| name.trim_start_matches("md/"))
        .collect();
    // `/dev/md/0` is a link, which may lead to any array.
    let is_told = |path: &str| {
        let name = path.trim_start_matches("/dev/").trim_start_matches("md/");
        known.contains(name) || (path.starts_with("/dev/md/") && !known.is_empty())
    };
    let mut all: BTreeMap<(&str, &str), Losses> = BTreeMap::new();
    for line in lines {
        let Some((before, path)) = line.split_once("md device ") else { continue };
        let path = path.split([',', ' ']).next().unwrap_or_default().trim_end_matches('.');
        let words = before.split_once(" event ").map_or("", |(words, _)| words);
        let (host, event) = words.rsplit_once(' ').unwrap_or(("", words));
        let host = host.trim_end_matches('A').trim_end();
        if !is_told(path) {
            all.entry((host, path)).or_default().of_array(line, event);
        }
    }
    left(all, "array", round)
}

/// Devices of pools that are not in order after the last event, where nothing else tells how the pool's devices are.
pub(super) fn of_lost_devices<'a>(machine: &Machine, lines: &[&'a str], round: &mut Round) -> Vec<&'a str> {
    let pools = machine.detail.pools.known().map_or(&[][..], Vec::as_slice);
    let known: BTreeSet<&str> =
        pools.iter().filter(|pool| pool.vdevs.known().is_some()).map(|pool| pool.name.as_str()).collect();
    let mut all: BTreeMap<(&str, &str), Losses> = BTreeMap::new();
    for line in lines {
        let host = line.split_once("eid=").map_or("", |(host, _)| host);
        let pool = pool(line).unwrap_or_default();
        if !known.contains(pool) {
            all.entry((host, pool)).or_default().of_pool(line);
        }
    }
    left(all, "pool", round)
}

/// What is lost. What may be is unknown.
fn left<'a>(all: BTreeMap<(&str, &str), Losses<'a>>, kind: &'static str, round: &mut Round) -> Vec<&'a str> {
    let mut lost = Vec::new();
    for ((_, name), losses) in all {
        if let Some(line) = losses.unsure.filter(|_| losses.lost.is_empty()) {
            let why = format!("whether it has all its devices is not told after `{line}`");
            let place = if name.is_empty() { Place::machine() } else { Place::new(kind, name) };
            round.unknown(&place, why);
        }
        lost.extend(losses.lost.into_values());
    }
    lost
}

/// `sdd1 of pool tank`, where ZED tells both.
pub(super) fn devices(lines: &[&str]) -> Option<String> {
    let is_plain = |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:+".contains(c));
    let one = |line: &&str| {
        let (device, pool) = (word(line, "vdev=").filter(is_plain)?, pool(line).filter(is_plain)?);
        Some(format!("{device} of pool {pool}"))
    };
    let all: BTreeSet<String> = lines.iter().filter_map(one).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    (1..=MOST).contains(&all.len()).then(|| list(&all))
}

/// More are not listed.
const MOST: usize = 4;

fn pool(line: &str) -> Option<&str> {
    word(line, "pool=").or_else(|| word(line, "pool_guid=")).map(|pool| pool.trim_matches('\''))
}

/// What stands behind a key.
fn word<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.split(' ').find_map(|word| word.strip_prefix(key))
}
