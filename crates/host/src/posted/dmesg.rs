//! `dmesg`, with whatever times or none, and the kernel's lines of a journal.

use terms::inventory::OF_CONTROLLER;

use super::when::{MONTHS, clock, is_clock};
use super::{Machine, Text, daemons, smartd};
use crate::inspect::kernel::{EXCERPT, is_notable};

/// `[   12.345678] …`, `[Sun Mar  3 12:00:00 2024] …`, `[Mar 3 12:00] …`, `[  +0.000372] …`, `Mar 03 12:00:00 host kernel: …`, these with
/// how bad it is before them, or a message without a time; and what `smartd` writes into the same journal.
pub(super) fn begins(line: &str) -> bool {
    message(line).is_some() || smartd::begins(line) || daemons::begins(line)
}

/// A line among messages, behind those that texts have told.
pub(super) fn push(line: &str, machine: &mut Machine) {
    let said = machine.runs.entry("dmesg".to_owned()).or_insert_with(|| format!("{EXCERPT}\n"));
    said.push_str(line);
    said.push('\n');
}

/// What the program of a RAID controller says is told among messages, for nothing else tells of it.
pub(super) fn push_of_controller(program: &str, said: &str, machine: &mut Machine) {
    push(&format!("{OF_CONTROLLER}{program}: {said}"), machine);
}

/// The message, from its time on where that stands in brackets.
fn message(line: &str) -> Option<&str> {
    if let Some(event) = daemons::listed(line) {
        return Some(event);
    }
    let line = without_level(line);
    if let Some((time, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        let time = time.trim_start();
        let since = time.trim_start_matches('+');
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        // In some languages the fraction stands behind a comma; it has six digits, and a reference such as `[1,2]` has not.
        let since_boot = since.split_once('.').is_some_and(|(whole, part)| is_digits(whole) && is_digits(part))
            || since
                .split_once(',')
                .is_some_and(|(whole, part)| is_digits(whole) && part.len() == 6 && is_digits(part));
        return (since_boot || is_clock(time) || is_minute(time)).then_some(line);
    }
    if let Some((before, message)) = line.split_once(" kernel: ") {
        return is_clock(before).then_some(message);
    }
    // As RFC 5424 has it: `1 2024-11-02T03:12:01+01:00 host kernel - - - …`.
    if let Some((before, message)) = line.split_once(" kernel - - - ") {
        return before.split(' ').nth(1).is_some_and(is_clock).then_some(message);
    }
    // Who posts it may leave all away that stands before the program's name.
    if let Some(message) = line.strip_prefix("kernel: ") {
        return (is_bare(message) || is_notable(message)).then_some(message);
    }
    // `10.0.0.2: kern:   alert: [2024-05-13T15:13:11.994Z]: …`, as Talos lists messages of its nodes.
    let of_node = line.split_once(": kern: ").and_then(|(_, rest)| rest.split_once(": [")?.1.split_once("]: "));
    if let Some((time, message)) = of_node {
        return is_clock(time).then_some(message);
    }
    // `dmesg --time-format iso` has a comma before the fraction, as other logs seldom have.
    let (time, rest) = line.split_once(' ').unwrap_or_default();
    if time.contains('T') && time.contains(',') && is_clock(time) {
        return Some(rest);
    }
    let bare = if time.contains('T') && is_clock(time) { rest } else { line };
    is_bare(bare).then_some(bare)
}

/// `<3>[ 12.3] …` of the kernel's own file, `kern  :err   : [ 12.3] …` of `dmesg -x`.
fn without_level(line: &str) -> &str {
    let level = line.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    let number = level.filter(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    let named = line.strip_prefix("kern").and_then(|rest| rest.trim_start().strip_prefix(':')?.split_once(": "));
    number.or(named).map_or(line, |(_, rest)| rest)
}

/// How messages of storage begin that were posted without their times. Nobody writes so.
const BARE: [&str; 34] = [
    "Aborting journal on device ",
    "BTRFS critical (device ",
    "BTRFS error (device ",
    "BTRFS info (device ",
    "BTRFS warning (device ",
    "BTRFS: error (device ",
    "Buffer I/O error on dev",
    "EXT4-fs (",
    "EXT4-fs error (device ",
    "EXT4-fs warning (device ",
    "INFO: task ",
    "I/O error, dev ",
    "JBD2: ",
    "XFS (",
    "blk_update_request: ",
    "aacraid: Host ",
    "ahci 0000:",
    "bcache: ",
    "bcachefs (",
    "device-mapper: ",
    "hpsa 0000:",
    "megaraid_sas 0000:",
    "mpt2sas_cm",
    "mpt3sas_cm",
    "smartpqi 0000:",
    "xhci_hcd 0000:",
    "EDAC MC",
    "end_request: I/O error",
    "md/raid",
    "nvme nvme",
    // Of `btrfs check` and of the kernel.
    "parent transid verify failed on ",
    "pcieport 0000:",
    "print_req_error: ",
    "usb-storage ",
];

/// `ata3.00: exception Emask …`, `sd 2:0:0:0: [sdc] …`, `sda5: rw=4096, … limit=8`, or one of those above.
fn is_bare(line: &str) -> bool {
    let numbered = |start: &str| {
        let rest = line.strip_prefix(start)?;
        let name = rest.split(' ').next()?.strip_suffix(':')?;
        let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit() || b":.-".contains(&byte));
        is_number.then_some(())
    };
    let is_past_end =
        line.split_once(": rw=").is_some_and(|(name, rest)| !name.contains(' ') && rest.contains(" limit="));
    is_past_end
        || BARE.iter().any(|start| line.starts_with(start))
        || ["ata", "sd ", "usb "].iter().any(|start| numbered(start).is_some())
}

/// `Mar 3 12:00` or `Mar03 12:00`, which `dmesg -H` writes where a minute begins.
fn is_minute(text: &str) -> bool {
    let Some((day, time)) = text.rsplit_once(' ') else { return false };
    let is_day = day.get(..3).is_some_and(|month| MONTHS.contains(&month)) && day.len() <= 6;
    is_day && time.split(':').count() == 2 && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
}

/// Messages as they are. Where a start of the machine is between two resets of drives, or another text begins, a line says so.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let mut said = machine.runs.remove("dmesg").unwrap_or_else(|| format!("{EXCERPT}\n"));
    let mut is_new = said.lines().nth(1).is_some();
    let mut before = Times::default();
    let mut told = 0;
    // Behind its command, up to an empty line, what has no time is a message without one.
    let mut of_dmesg = text.command.is_some_and(|typed| typed.contains("dmesg"));
    // Below an event `zpool events -v` lists what it tells of it.
    let mut of_events = false;
    for line in &text.lines {
        is_new |= told > 0 && STARTS.iter().any(|start| line.starts_with(start));
        if let Some(message) = smartd::message(line) {
            said.push_str(&format!("{message}\n"));
            told += 1;
            continue;
        }
        if smartd::put(line, machine) || daemons::put(line, machine) {
            told += 1;
            continue;
        }
        // A message of several lines goes on with an indent.
        let goes_on = told > 0 && line.starts_with(' ');
        of_dmesg &= !line.trim().is_empty();
        let is_one = of_dmesg && told > 0 && !goes_on;
        let Some(message) = message(line).or_else(|| is_one.then_some(*line)) else {
            if let Some(detail) = daemons::detail(line).filter(|_| of_events) {
                said.truncate(said.trim_end().len());
                said.push_str(&format!(" {detail}\n"));
            } else {
                said.extend((goes_on && !of_events).then(|| format!("{line}\n")));
            }
            continue;
        };
        daemons::put_start(line, machine);
        of_events = daemons::listed(line).is_some();
        let now = Times::of(line, message);
        is_new |= now.is_before(&before) || (told > 0 && message.contains(FIRST));
        if is_new && message.contains(RESET) {
            said.push_str(START);
            is_new = false;
        }
        said.push_str(message);
        said.push('\n');
        before = now.or(before);
        told += 1;
    }
    machine.runs.insert("dmesg".to_owned(), said);
    told
}

/// What `journalctl` puts between two starts of the machine (`show` in systemd's `src/journal/journalctl-show.c`).
const STARTS: [&str; 2] = ["-- Boot ", "-- Reboot --"];
/// The kernel's first line (`linux_banner` in its `init/version.c`).
const FIRST: &str = "Linux version ";
/// How a drive tells that it was reset (`scsi_report_sense` in the kernel's `drivers/scsi/scsi_error.c`).
const RESET: &str = "device reset occurred";
/// What is written between two starts of the machine.
const START: &str = "-- Boot\n";

/// When a message was written: in seconds since the machine's start, and by the clock, without a year.
#[derive(Default)]
struct Times {
    since_start: Option<f64>,
    clock: Option<(u32, u32, String)>,
}

impl Times {
    fn of(line: &str, message: &str) -> Self {
        let brackets = message.strip_prefix('[').and_then(|rest| rest.split_once("] "));
        // What `dmesg -H` counts from the line before begins with a sign.
        let since_start = brackets.map(|(time, _)| time.trim()).filter(|time| !time.starts_with('+'));
        Self { since_start: since_start.and_then(|time| time.parse().ok()), clock: clock(line) }
    }

    /// Lines of several processors change places by less than a second.
    fn is_before(&self, other: &Self) -> bool {
        match (self.since_start, other.since_start) {
            (Some(now), Some(before)) => now + 1.0 < before,
            _ => self.clock.is_some() && self.clock < other.clock,
        }
    }

    fn or(self, other: Self) -> Self {
        Self { since_start: self.since_start.or(other.since_start), clock: self.clock.or(other.clock) }
    }
}
