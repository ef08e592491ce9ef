//! `dmesg`, with the time since boot or the time of day, and the kernel's lines of a journal.

use super::{Machine, Text};
use crate::inspect::kernel::EXCERPT;

/// `[   12.345678] …`, `[Sun Mar  3 12:00:00 2024] …` or `Mar 03 12:00:00 host kernel: …`.
pub(super) fn begins(line: &str) -> bool {
    message(line).is_some()
}

/// The message, from its time on where that stands in brackets.
fn message(line: &str) -> Option<&str> {
    if let Some((time, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        let time = time.trim_start();
        let since_boot = time.contains('.') && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        return (since_boot || is_clock(time)).then_some(line);
    }
    let (before, message) = line.split_once(" kernel: ")?;
    is_clock(before).then_some(message)
}

/// A time of day with a date, in whichever order, and perhaps the host's name.
fn is_clock(text: &str) -> bool {
    let digits = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    let of_day = |word: &str| {
        let time = word.split_once('T').map_or(word, |(_, time)| time);
        let time = time.get(..8).unwrap_or_default();
        time.split(':').count() == 3 && time.split(':').all(digits)
    };
    let words = text.split_whitespace();
    words.clone().count() <= 6 && text.starts_with(|c: char| c.is_ascii_alphanumeric()) && words.into_iter().any(of_day)
}

/// Messages as they are. Where a start of the machine is between two resets of drives, or another text begins, a line says so.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let said = machine.runs.entry("dmesg".to_owned()).or_insert_with(|| format!("{EXCERPT}\n"));
    let mut is_new = said.lines().nth(1).is_some();
    let mut before = Times::default();
    let mut told = 0;
    for line in &text.lines {
        is_new |= told > 0 && STARTS.iter().any(|start| line.starts_with(start));
        let Some(message) = message(line) else { continue };
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
        Self { since_start: brackets.and_then(|(time, _)| time.trim().parse().ok()), clock: clock(line) }
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

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// `Mar 03 12:00:00`, `[Sun Mar  3 12:00:00 2024]`, `2024-03-03T12:00:02.123456+01:00`: month, day and time of day.
fn clock(line: &str) -> Option<(u32, u32, String)> {
    let words: Vec<&str> = line.trim_start_matches('[').split_whitespace().take(4).collect();
    // `Tue` and `Thu` have that letter, too.
    let iso = words.first().and_then(|word| word.split_once('T')).filter(|(date, _)| date.contains('-'));
    if let Some((date, time)) = iso {
        let mut parts = date.split('-').skip(1).map(|part| part.parse().ok());
        return Some((parts.next()??, parts.next()??, time.get(..8)?.to_owned()));
    }
    let (at, month) =
        words.iter().enumerate().find_map(|(at, word)| Some((at, MONTHS.iter().position(|of| of == word)?)))?;
    Some((u32::try_from(month).ok()?, words.get(at + 1)?.parse().ok()?, words.get(at + 2)?.get(..8)?.to_owned()))
}
