//! Ports of ATA: which of them say something of a drive.

use std::collections::BTreeSet;

/// Lines of messages, in small letters, that say nothing of a drive's health: of ports without a drive, and of the reset with which a
/// drive that was put in begins.
pub(super) fn quiet(lines: &[String]) -> BTreeSet<usize> {
    let empty = empty(lines);
    let is_quiet =
        |at: &usize| port(&lines[*at]).is_some_and(|port| empty.contains(port) || is_put_in(lines, *at, port));
    (0..lines.len()).filter(is_quiet).collect()
}

/// Is it the reset of a port at which a drive has just appeared? Before it none was there and the link changed; after it the kernel
/// tells what drive it is, which it does of one that it did not know (`ata_dev_configure` in its `drivers/ata/libata-core.c`).
fn is_put_in(lines: &[String], at: usize, port: &str) -> bool {
    let own = |line: &&String| self::port(line) == Some(port);
    let of_drive = format!("{port}.");
    let before: Vec<&String> = lines[..at].iter().filter(own).collect();
    let changed = before.iter().any(|line| CHANGED.iter().any(|word| line.contains(word)));
    let was_there = before.iter().any(|line| line.contains(&of_drive) || line.contains(RESET));
    let after = lines[at + 1..].iter().filter(own).take_while(|line| !line.contains(RESET));
    let named = format!("{port}.00: ata-");
    lines[at].contains(RESET) && changed && !was_there && after.into_iter().any(|line| line.contains(&named))
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
