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

/// Messages as they are.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let messages: Vec<&str> = text.lines.iter().filter_map(|line| message(line)).collect();
    let said = machine.runs.entry("dmesg".to_owned()).or_insert_with(|| format!("{EXCERPT}\n"));
    messages.iter().for_each(|line| {
        said.push_str(line);
        said.push('\n');
    });
    messages.len()
}
