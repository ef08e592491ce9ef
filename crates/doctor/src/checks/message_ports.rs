//! Ports of ATA: which of them say something of a drive.

use std::collections::{BTreeMap, BTreeSet};

/// Lines of messages, in small letters, that say nothing of a drive's health: of ports without a drive, and of the reset with which a
/// drive that was put in begins.
pub(super) fn quiet(lines: &[String]) -> BTreeSet<usize> {
    let empty = empty(lines);
    let mut of_ports: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, port) in lines.iter().enumerate().filter_map(|(at, line)| Some((at, port(line)?))) {
        of_ports.entry(port).or_default().push(at);
    }
    let of_port = |(port, own): (&str, Vec<usize>)| {
        if empty.contains(port) { own } else { put_in(lines, port, &own).into_iter().collect() }
    };
    of_ports.into_iter().flat_map(of_port).collect()
}

/// The reset of a port at which a drive has just appeared, among the port's own lines. Before it none was there and the link changed;
/// after it the kernel tells what drive it is, which it does of one that it did not know (`ata_dev_configure` in its
/// `drivers/ata/libata-core.c`).
fn put_in(lines: &[String], port: &str, own: &[usize]) -> Option<usize> {
    let is_reset = |at: &usize| lines[*at].contains(RESET);
    let first = own.iter().position(is_reset)?;
    let (before, after) = (&own[..first], &own[first + 1..]);
    let has = |own: &[usize], word: &str| own.iter().any(|at| lines[*at].contains(word));
    let after = &after[..after.iter().position(is_reset).unwrap_or(after.len())];
    let changed = CHANGED.iter().any(|word| has(before, word));
    let is_new = changed && !has(before, &format!("{port}.")) && has(after, &format!("{port}.00: ata-"));
    is_new.then_some(own[first])
}

const RESET: &str = "hard resetting link";
/// A device was exchanged, or the link came or went (`ata_eh_link_report` and `ahci_error_intr`).
const CHANGED: [&str; 2] = ["devexch", "connection status changed"];

/// `ata5: hard resetting link`: the port.
fn port(line: &str) -> Option<&str> {
    let at = line.match_indices("ata").map(|(at, _)| &line[at..]);
    at.filter_map(|rest| rest.split([':', '.']).next()).find(|word| {
        word.strip_prefix("ata")
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// Ports whose link is down, and of which no message is of a drive (`ata5.00`) or of a link that was up.
fn empty(lines: &[String]) -> BTreeSet<&str> {
    let of = |word: &str| {
        lines.iter().filter(|line| line.contains(word)).filter_map(|line| port(line)).collect::<BTreeSet<_>>()
    };
    let drives = lines.iter().filter_map(|line| port(line).filter(|port| line.contains(&format!("{port}."))));
    &(&of("sata link down") - &of("sata link up")) - &drives.collect()
}
