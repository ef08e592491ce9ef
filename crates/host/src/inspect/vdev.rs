//! The tree of virtual devices, from `zpool status -P` and `zdb -C`.

use std::collections::BTreeMap;

use terms::Bytes;
use terms::inventory::{DedupTable, Readout, Vdev};

/// Headings under which `zpool status` puts what is not plain data.
pub(crate) const CLASSES: [(&str, &str); 5] =
    [("special", "special"), ("dedup", "dedup"), ("logs", "log"), ("cache", "cache"), ("spares", "spare")];

/// What stands after `KEY:`, on one line.
pub(super) fn told(status: &str, key: &str) -> Option<String> {
    let line = status.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix(':'))?;
    Some(line.trim().to_owned()).filter(|text| !text.is_empty())
}

/// `DDT entries 149238912, size 532B on disk, 343B in core`: bytes without a larger unit are those of one entry (`print_dedup_stats` in OpenZFS's
/// `cmd/zpool/zpool_main.c`).
pub(super) fn dedup(status: &str) -> Option<DedupTable> {
    let table = told(status, "dedup")?;
    let (entries, rest) = table.strip_prefix("DDT entries ")?.split_once(", size ")?;
    let entries = entries.parse().ok()?;
    let word = rest.split_once(" on disk, ")?.1.split(' ').next()?;
    let memory = match word.strip_suffix('B') {
        Some(each) => each.parse::<u64>().ok()?.saturating_mul(entries),
        None => shortened(word, 1024.0)?,
    };
    Some(DedupTable { entries, memory: Bytes(memory) })
}

/// The list below `errors: Permanent errors have been detected in the following files:`, whose lines are indented (`print_error_log` in
/// OpenZFS's `cmd/zpool/zpool_main.c`).
pub(super) fn damaged(status: &str) -> Vec<String> {
    let behind = status.lines().skip_while(|line| !line.trim_start().starts_with("errors: Permanent errors")).skip(1);
    let list = behind.take_while(|line| line.trim().is_empty() || line.starts_with([' ', '\t']));
    list.map(str::trim).filter(|line| !line.is_empty()).map(ToOwned::to_owned).collect()
}

/// `ashift` of the devices at the top: by their number among them, and by the path of single ones.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shifts {
    numbers: BTreeMap<u32, u32>,
    paths: BTreeMap<String, u32>,
}

/// From the printed configuration: `children[0]:` under `vdev_tree:`, deeper ones further to the right.
pub(super) fn shifts(text: &str) -> Shifts {
    let mut shifts = Shifts::default();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let tops: Vec<usize> = text.lines().filter(|line| line.trim().starts_with("children[")).map(indent).collect();
    let Some(top) = tops.into_iter().min() else { return shifts };
    let mut number = None;
    let mut path = None;
    for line in text.lines() {
        let word = line.trim();
        if indent(line) == top && word.starts_with("children[") {
            number = word.trim_start_matches("children[").split(']').next().and_then(|text| text.parse::<u32>().ok());
            path = None;
        } else if let Some(value) = word.strip_prefix("path: ").filter(|_| path.is_none()) {
            path = Some(value.trim_matches('\'').to_owned());
        } else if let (Some(value), Some(number)) = (word.strip_prefix("ashift: "), number)
            && let Ok(shift) = value.parse()
        {
            shifts.numbers.entry(number).or_insert(shift);
            if let Some(path) = path.clone() {
                shifts.paths.entry(path).or_insert(shift);
            }
        }
    }
    shifts
}

/// A line of the configuration: how far it is indented, and its words.
struct Row<'t> {
    indent: usize,
    words: Vec<&'t str>,
}

/// The tree under `config:`. `node` finds the kernel name of a device by its path.
pub(super) fn tree(status: &str, shifts: &Readout<Shifts>, node: impl Fn(&str) -> Option<String>) -> Vec<Vdev> {
    let config = status.split_once("config:").map_or("", |(_, rest)| rest);
    let config = config.split("\nerrors:").next().unwrap_or_default();
    // The first line is the headings, and lines begin with a tab.
    let row = |line: &str| {
        let line = line.strip_prefix('\t')?.to_owned();
        Some((line.len() - line.trim_start().len(), line))
    };
    let lines: Vec<(usize, String)> =
        config.lines().filter_map(row).filter(|(_, line)| !line.trim().is_empty()).collect();
    let rows: Vec<Row> = lines
        .iter()
        .skip(1)
        .map(|(indent, line)| Row { indent: *indent, words: line.split_whitespace().collect() })
        .collect();
    let mut class = "data";
    let mut tops: Vec<Vdev> = Vec::new();
    for row in rows {
        let (Some(name), state) = (row.words.first(), row.words.get(1)) else { continue };
        if row.indent == 0 {
            // The pool itself, or the heading of a class.
            class = CLASSES
                .iter()
                .find(|(heading, _)| heading == name && state.is_none())
                .map_or("data", |(_, class)| class);
            continue;
        }
        let [configured, native] = blocks(&row.words);
        let number = |at: usize| row.words.get(at).and_then(|word| count(word)).unwrap_or(0);
        let vdev = Vdev {
            name: (*name).to_owned(),
            kind: kind(name).to_owned(),
            class: class.to_owned(),
            state: state.copied().unwrap_or_default().to_owned(),
            errors: [number(2), number(3), number(4)],
            ashift: shift(name, shifts, row.indent == 2),
            configured,
            native,
            filled: row.words.contains(&"(resilvering)"),
            node: if kind(name) == "disk" { paths(name).iter().find_map(|path| node(path)) } else { None },
            children: Vec::new(),
        };
        place(&mut tops, vdev, (row.indent / 2).saturating_sub(1));
    }
    tops
}

/// The pool's block and the device's own, from `block size: 512B configured, 4096B native` behind a leaf.
fn blocks(words: &[&str]) -> [Option<Bytes>; 2] {
    let before = |name: &str| {
        let at = words.iter().position(|word| word.trim_end_matches(',') == name)?;
        words.get(at.checked_sub(1)?)?.strip_suffix('B')?.parse().ok().map(Bytes)
    };
    if words.windows(2).any(|pair| pair == ["block", "size:"]) {
        [before("configured"), before("native")]
    } else {
        [None, None]
    }
}

/// Hangs it under the last one at each level, as deep as it belongs.
fn place(siblings: &mut Vec<Vdev>, vdev: Vdev, depth: usize) {
    match siblings.last_mut() {
        Some(last) if depth > 0 => place(&mut last.children, vdev, depth - 1),
        _ => siblings.push(vdev),
    }
}

fn kind(name: &str) -> &str {
    if name.starts_with('/') {
        return if name.starts_with("/dev/") { "disk" } else { "file" };
    }
    // `mirror-0`, `raidz2-1`, `draid1:4d:8c:1s-0`. All else is a device, by its name or, if it is missing, by its number.
    let word = name.split(['-', ':']).next().unwrap_or(name);
    let groups = ["mirror", "raidz", "draid", "spare", "replacing", "indirect", "root"];
    if groups.iter().any(|group| word.starts_with(group)) { word } else { "disk" }
}

/// What a name may be the end of, as `zpool status` prints it without `-P`.
fn paths(name: &str) -> Vec<String> {
    if name.starts_with('/') {
        return vec![name.to_owned()];
    }
    ["/dev", "/dev/disk/by-id"].iter().map(|directory| format!("{directory}/{name}")).collect()
}

/// Large counters are shortened: `1.2K`.
fn count(word: &str) -> Option<u64> {
    shortened(word, 1e3)
}

/// A number with the letter of a power of `step`, or without one. Those of sizes are powers of 1024 (`zfs_nicebytes` in OpenZFS's
/// `lib/libzutil/zutil_nicenum.c`).
fn shortened(word: &str, step: f64) -> Option<u64> {
    let split = word.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(word.len());
    let power = ["", "K", "M", "G", "T", "P", "E"].iter().zip(0..).find(|(unit, _)| **unit == &word[split..])?.1;
    let value: f64 = word[..split].parse().ok()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "more than fits is the most")]
    (value >= 0.0).then(|| (value * step.powi(power)).round() as u64)
}

fn shift(name: &str, shifts: &Readout<Shifts>, top: bool) -> Readout<u32> {
    shifts.as_ref().and_then(|shifts| {
        let number = name.rsplit_once('-').and_then(|(_, number)| number.parse().ok());
        let found = if !top {
            None
        } else if name.starts_with('/') {
            shifts.paths.get(name)
        } else {
            number.and_then(|number: u32| shifts.numbers.get(&number))
        };
        match found {
            Some(shift) => Readout::Known(*shift),
            None if top => Readout::unknown("`zdb -C` does not tell it"),
            None => Readout::unknown("it is that of the device it is a part of"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "  pool: tank\n state: ONLINE\n  scan: scrub repaired 0B in 00:01:00 with 0 errors\nconfig:\n\n\
        \tNAME             STATE     READ WRITE CKSUM\n\ttank             ONLINE       0     0     0\n\
        \t  mirror-0       ONLINE       0     0     0\n\t    /dev/sda1    ONLINE       0     0     0\n\
        \t    /dev/sdb1    ONLINE       0     0 1.20K\n\tspecial\t\n\t  /dev/nvme0n1   ONLINE       0     0     0\n\n\
        errors: No known data errors\n";
    const CONFIG: &str = "MOS Configuration:\n        version: 5000\n        vdev_tree:\n            type: 'root'\n            \
        children[0]:\n                type: 'mirror'\n                ashift: 12\n                children[0]:\n                    \
        path: '/dev/sda1'\n            children[1]:\n                type: 'disk'\n                path: '/dev/nvme0n1'\n                \
        ashift: 9\n";

    #[test]
    fn the_tree_has_classes_errors_and_shifts() {
        let node = |path: &str| Some(path.trim_start_matches("/dev/").to_owned());
        let tops = tree(STATUS, &Readout::Known(shifts(CONFIG)), node);
        let [mirror, special] = &tops[..] else { panic!("{tops:?}") };
        assert_eq!((mirror.kind.as_str(), mirror.children.len(), &mirror.ashift), ("mirror", 2, &Readout::Known(12)));
        assert_eq!((mirror.children[1].errors, mirror.children[1].node.as_deref()), ([0, 0, 1200], Some("sdb1")));
        assert_eq!(
            (special.class.as_str(), special.kind.as_str(), &special.ashift),
            ("special", "disk", &Readout::Known(9))
        );
        assert_eq!(told(STATUS, "errors").as_deref(), Some("No known data errors"));
    }

    #[test]
    fn the_table_of_blocks_is_as_large_as_its_entries_together() {
        let memory = |text: &str| dedup(&format!(" dedup: {text}\n")).map(|table| (table.entries, table.memory.0));
        assert_eq!(memory("DDT entries 1000, size 532B on disk, 343B in core"), Some((1000, 343_000)));
        assert_eq!(memory("DDT entries 1000, size 5.1G on disk, 3.2G in core"), Some((1000, 3_435_973_837)));
        assert_eq!(memory("no DDT entries"), None);
        assert_eq!(memory("DDT entries 1000, size 532B on disk"), None);
    }

    #[test]
    fn nonsense_is_no_tree() {
        assert!(tree("config:\n\tNAME\n", &Readout::default(), |_| None).is_empty());
        assert!(tree("", &Readout::default(), |_| None).is_empty());
        assert_eq!(kind("draid1:4d:8c:1s-0"), "draid1");
        assert_eq!(count("x"), None);
    }
}
