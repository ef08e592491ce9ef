//! `df`, with `-h`, `-P` or neither: as `df -P` would have it.

use super::{Machine, Text};
use crate::inspect::kernel::EXCERPT;

/// `Filesystem      Size  Used Avail Use% Mounted on`; POSIX (`-P`) says `Capacity`.
pub(super) fn begins(line: &str) -> bool {
    line.starts_with("Filesystem ")
        && line.trim_end().ends_with("Mounted on")
        && ["%", " Capacity "].iter().any(|word| line.contains(word))
}

/// Rows as they are, without a column for the kind of file system.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let typed = text.lines.first().is_some_and(|line| line.split_whitespace().nth(1) == Some("Type"));
    let mut said = format!("{EXCERPT}\n");
    let mut told = 0;
    for line in text.lines.iter().skip(1) {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        if typed && words.len() > 1 {
            words.remove(1);
        }
        let line = words.join(" ");
        told += usize::from(crate::inspect::usage(&line).is_some());
        said.push_str(&(line + "\n"));
    }
    machine.run("df -lPk".to_owned(), said);
    told
}
