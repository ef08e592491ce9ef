//! `iostat -x`: how long requests to each drive take, of all its reports together but for the first where there are more, which is of all
//! the time since the machine was started. Each drive becomes a line among messages, for nothing else tells of it.

use std::collections::BTreeMap;

use super::dmesg::push;
use super::lsblk::{is_drive, is_namespace};
use super::{Machine, Text};

/// `Device            r/s     rkB/s … r_await … %util`, with a colon in old versions (iostat(1)).
pub(super) fn begins(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next().is_some_and(|word| word.trim_end_matches(':') == "Device")
        && ["r/s", "w/s", "%util"].iter().all(|word| words.clone().any(|own| own == *word))
        && words.any(|word| word.ends_with("await"))
}

/// Sums over reports.
#[derive(Default)]
struct Sums {
    reads: f64,
    writes: f64,
    /// Requests times what each took.
    waits: f64,
    busy: f64,
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let mut columns: Vec<&str> = Vec::new();
    let mut all: BTreeMap<&str, Sums> = BTreeMap::new();
    let mut reports = 0u32;
    for line in &text.lines {
        // `Linux 6.1.0 (nas)` of a second run may be of another machine.
        if reports > 0 && line.starts_with("Linux ") && line.contains(" (") {
            return 0;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if begins(line) {
            columns = words;
            reports += 1;
            if reports == 2 {
                all.clear();
            }
            continue;
        }
        let Some((name, _)) = words.split_first().filter(|_| words.len() == columns.len()) else { continue };
        let cell = |name: &str| {
            let at = columns.iter().position(|column| *column == name)?;
            words.get(at)?.replace(',', ".").parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0)
        };
        let (Some(reads), Some(writes), Some(busy)) = (cell("r/s"), cell("w/s"), cell("%util")) else { continue };
        let of_both = || Some(reads * cell("r_await")? + writes * cell("w_await")?);
        let Some(waits) = cell("await").map(|wait| wait * (reads + writes)).or_else(of_both) else { continue };
        if !is_whole(name) {
            continue;
        }
        let sums = all.entry(name).or_default();
        sums.reads += reads;
        sums.writes += writes;
        sums.waits += waits;
        sums.busy += busy;
    }
    for (name, sums) in &all {
        if is_drive(name) {
            machine.drive(name)
        } else {
            drop(machine.namespace(name))
        }
        // Options leave drives out of a report in which they do nothing.
        let per = |sum: f64| sum / f64::from(reports.saturating_sub(1).max(1));
        let wait = if sums.waits > 0.0 { sums.waits / (sums.reads + sums.writes) } else { 0.0 };
        let line = format!(
            "iostat: {name} reads {:.2} writes {:.2} await {wait:.2} util {:.2}",
            per(sums.reads),
            per(sums.writes),
            per(sums.busy)
        );
        push(&line, machine);
    }
    all.len()
}

/// Is it a drive, and no partition of one, no array and no mapping?
fn is_whole(name: &str) -> bool {
    let is_plain = name.len() <= 32 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    is_plain && (is_drive(name) || is_namespace(name))
}
