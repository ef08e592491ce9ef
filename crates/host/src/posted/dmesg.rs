//! `dmesg`: lines that begin with the time since boot.

use super::{Machine, Text};

/// `[   12.345678] `.
pub(super) fn begins(line: &str) -> bool {
    let time = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    time.is_some_and(|(time, _)| {
        let time = time.trim_start();
        time.contains('.') && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

/// Messages as they are.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let messages: Vec<&str> = text.lines.iter().copied().filter(|line| begins(line)).collect();
    let said = machine.runs.entry("dmesg".to_owned()).or_default();
    messages.iter().for_each(|line| {
        said.push_str(line);
        said.push('\n');
    });
    messages.len()
}
