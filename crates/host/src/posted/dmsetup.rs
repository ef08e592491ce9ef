//! `dmsetup table` and `dmsetup status`: lines of the device mapper, each told by its shape.

use std::collections::BTreeSet;

use super::kept::Mappings;
use super::{Machine, Text};
use crate::inspect::without_key;

/// Kinds of lines whose table and status look different (the kernel's `Documentation/admin-guide/device-mapper`). A line of another kind
/// is left out, and that is told.
const KINDS: [&str; 13] = [
    "cache",
    "crypt",
    "integrity",
    "linear",
    "multipath",
    "raid",
    "snapshot",
    "snapshot-merge",
    "snapshot-origin",
    "striped",
    "thin",
    "thin-pool",
    "writecache",
];

/// `vg0-data: 0 1953120256 raid raid1 2 AA …`.
pub(super) fn begins(line: &str) -> bool {
    Line::of(line).is_some_and(|line| line.is_known())
}

struct Line<'t> {
    name: &'t str,
    /// Start and length.
    place: [u64; 2],
    kind: &'t str,
    rest: &'t str,
}

impl<'t> Line<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let (name, rest) = line.trim_end().split_once(": ")?;
        let mut words = rest.splitn(4, ' ');
        let mut number = || words.next()?.parse::<u64>().ok();
        let place = [number()?, number()?];
        let kind = words
            .next()
            .filter(|kind| !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))?;
        let plain =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.+@:".contains(&byte));
        plain.then(|| Self { name, place, kind, rest: words.next().unwrap_or_default().trim_end() })
    }

    fn is_known(&self) -> bool {
        KINDS.contains(&self.kind)
    }

    fn is_status(&self) -> bool {
        let words: Vec<&str> = self.rest.split(' ').collect();
        match self.kind {
            "thin-pool" => words.get(1).is_some_and(|word| word.contains('/')) || words[0] == FAILED,
            "raid" => words.get(2).is_some_and(|word| word.bytes().all(|byte| b"AaD-".contains(&byte))),
            "thin" => !words[0].contains(':'),
            // A table begins with a device, and a status with numbers or with how it failed.
            "cache" | "integrity" | "snapshot" | "snapshot-merge" => {
                !words[0].contains([':', '-']) && !words[0].starts_with('/')
            }
            // `p` and `s` say what a table's cache lies on.
            "writecache" => !["p", "s"].contains(&words[0]),
            "multipath" => words.windows(2).any(|pair| pair[0].contains(':') && ["A", "F"].contains(&pair[1])),
            "striped" => words.get(1).is_some_and(|word| word.contains(':')),
            _ => self.rest.is_empty(),
        }
    }

    fn text(&self) -> String {
        format!("{} {} {} {}", self.place[0], self.place[1], self.kind, without_key(self.kind, self.rest))
    }

    /// What the table of a line has to say, as far as its status tells.
    fn table(&self) -> Option<String> {
        let words: Vec<&str> = self.rest.split(' ').collect();
        let [start, length] = self.place;
        match self.kind {
            // As many blocks as fit are all there are, each a multiple of 64 KiB.
            "thin-pool" if words[0] == FAILED => Some(format!("{start} {length} thin-pool - - 0 0 0")),
            "thin-pool" => {
                let all: u64 = words.get(2)?.split_once('/')?.1.parse().ok()?;
                let block = length.checked_div(all)? / SMALLEST * SMALLEST;
                let fits = length.checked_div(block) == Some(all);
                fits.then(|| format!("{start} {length} thin-pool - - {block} 0 0"))
            }
            "raid" => Some(format!("{start} {length} raid {} 0 0", words[0])),
            // What it lies on is not told.
            "cache" | "writecache" | "multipath" | "snapshot" | "snapshot-merge" => {
                Some(format!("{start} {length} {} - - -", self.kind))
            }
            // Nor in which mode it is.
            "integrity" => Some(format!("{start} {length} integrity - 0 - - 0")),
            _ => None,
        }
    }
}

/// All that a pool tells that has failed (`pool_status` in its `dm-thin.c`).
const FAILED: &str = "Fail";

/// Blocks of a pool are multiples of it, in sectors (`DATA_DEV_BLOCK_SIZE_MIN_SECTORS` in the kernel's `drivers/md/dm-thin.c`).
const SMALLEST: u64 = 128;

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let mut told = 0;
    let (known, other): (Vec<Line>, Vec<Line>) =
        text.lines.iter().filter_map(|line| Line::of(line)).partition(Line::is_known);
    let other: BTreeSet<&str> = other.iter().map(|line| line.kind).collect();
    if !other.is_empty() {
        let kinds: Vec<&str> = other.into_iter().collect();
        machine.refused.push(format!("lines of `{}` are not read", kinds.join("`, `")));
    }
    for line in known {
        if machine.node_of(&format!("/dev/mapper/{}", line.name)).is_none() {
            continue;
        }
        told += 1;
        let all = &mut machine.dmsetup;
        if !all.known.insert(format!("{}: {}", line.name, line.text())) {
            continue;
        }
        let lines = if line.is_status() { &mut all.statuses } else { &mut all.tables };
        lines.entry(line.name.to_owned()).or_default().push(line.text());
        if line.is_status() {
            all.concluded.entry(line.name.to_owned()).or_default().extend(line.table());
        }
    }
    told
}

impl Mappings {
    /// All that no other text told of.
    pub(super) fn put(self, machine: &mut Machine) {
        let Self { mut tables, statuses, concluded, .. } = self;
        for (name, lines) in concluded {
            if statuses.get(&name).map(Vec::len) == Some(lines.len()) {
                tables.entry(name).or_insert(lines);
            }
        }
        let told = machine.runs.get("dmsetup table").map_or("", String::as_str).lines();
        let told: BTreeSet<String> = told.filter_map(|line| Some(line.split_once(": ")?.0.to_owned())).collect();
        for (name, lines) in tables.iter().filter(|(name, _)| !told.contains(*name)) {
            let statuses = statuses.get(name).map_or(&[][..], Vec::as_slice);
            for (at, line) in lines.iter().enumerate() {
                let status = statuses.get(at).map(|status| format!("{name}: {status}"));
                machine.mapping(&format!("{name}: {line}"), status.as_deref());
            }
        }
    }
}
