//! `cat /proc/swaps` and `swapon --show`: swap space in use.

use super::{Machine, Text, lvm};

/// The heading of either.
pub(super) fn begins(line: &str) -> bool {
    let is_it = |heading: [&str; 5]| line.split_whitespace().eq(heading);
    is_it(["Filename", "Type", "Size", "Used", "Priority"]) || is_it(SHOWN)
}

/// In bytes rounded to a unit (swapon(8)), where the kernel counts KiB.
const SHOWN: [&str; 5] = ["NAME", "TYPE", "SIZE", "USED", "PRIO"];

const HEADING: &str = "Filename\tType\tSize\tUsed\tPriority\n";

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let is_shown = text.lines.first().is_some_and(|line| line.split_whitespace().eq(SHOWN));
    let kib = |word: &str| match is_shown {
        true => lvm::bytes(&word.to_lowercase()).map(|bytes| bytes / 1024),
        false => word.parse::<u64>().ok(),
    };
    let mut rows = String::from(HEADING);
    let mut told = 0;
    for line in &text.lines[1..] {
        let [device, kind @ ("partition" | "file"), size, used, priority] =
            line.split_whitespace().collect::<Vec<_>>()[..]
        else {
            continue;
        };
        let (Some(size), Some(used), Ok(priority)) = (kib(size), kib(used), priority.parse::<i32>()) else { continue };
        if kind == "partition" {
            drop(machine.node_of(device));
        }
        rows.push_str(&format!("{device} {kind} {size} {used} {priority}\n"));
        told += 1;
    }
    machine.file("/proc/swaps".to_owned(), rows);
    told
}
