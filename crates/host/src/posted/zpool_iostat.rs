//! `zpool iostat -v -l`: how long the devices of each group of a pool take. Each becomes a line among messages, for nothing else tells of it.

use std::collections::BTreeMap;

use super::dmesg::push;
use super::text::is_plain;
use super::{Machine, Text, zpool};

/// `pool  alloc free read write read write read write …`, the second line of its heading; with `-l` it has waits.
pub(super) fn begins(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(11).collect();
    words.starts_with(&["pool", "alloc", "free", "read", "write", "read", "write", "read", "write", "read", "write"])
}

/// A cell: how often in a second, or how long, in milliseconds.
fn number(word: &str, units: &[(&str, f64)]) -> Option<f64> {
    if word == "-" {
        return Some(0.0);
    }
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = units.iter().find(|(unit, _)| *unit == &word[digits.len()..])?.1;
    digits.replace(',', ".").parse::<f64>().ok().map(|number| number * factor).filter(|number| number.is_finite())
}

/// `zfs_nicenum_format` and `zfs_nicetime` in OpenZFS's `lib/libzutil/zutil_nicenum.c`.
const OFTEN: [(&str, f64); 3] = [("", 1.0), ("K", 1024.0), ("M", 1_048_576.0)];
const LONG: [(&str, f64); 5] = [("ns", 1e-6), ("us", 1e-3), ("ms", 1.0), ("s", 1000.0), ("", 1e-6)];

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    // Of several reports the last counts: the first is of all the time since the pool was imported.
    let mut all: BTreeMap<(String, String, String), String> = BTreeMap::new();
    let (mut pool, mut group) = ("", "");
    for line in &text.lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, _, _, reads, writes, _, _, _, _, read_wait, write_wait, ..] = words[..] else { continue };
        let depth = (line.len() - line.trim_start().len()) / 2;
        match depth {
            0 => (pool, group) = (name, ""),
            1 => group = name,
            _ => {}
        }
        let cells = || {
            let (reads, writes) = (number(reads, &OFTEN)?, number(writes, &OFTEN)?);
            let waits = reads * number(read_wait, &LONG)? + writes * number(write_wait, &LONG)?;
            let wait = if reads + writes > 0.0 { waits / (reads + writes) } else { 0.0 };
            Some(format!("reads {reads:.2} writes {writes:.2} await {wait:.2}"))
        };
        let is_leaf = depth == 2 && zpool::is_name(pool) && is_plain(group) && is_plain(name);
        if let Some(said) = cells().filter(|_| is_leaf) {
            all.insert((pool.to_owned(), group.to_owned(), name.to_owned()), said);
        }
    }
    for ((pool, group, name), said) in &all {
        push(&format!("zpool iostat: {pool} {group} {name} {said}"), machine);
    }
    all.len()
}
