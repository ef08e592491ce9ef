//! `cat /etc/fstab`: the file as it is.

use super::{Machine, Text};

/// `UUID=… / ext4 defaults 0 1`, or the comment that distributions begin the file with.
pub(super) fn begins(line: &str) -> bool {
    is_row(line) || line.starts_with("# /etc/fstab: static file system information")
}

/// What names a device (fstab(5)).
const NAMES: [&str; 4] = ["UUID=", "LABEL=", "PARTUUID=", "/dev/"];

fn is_row(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [device, target, kind, _, rest @ ..] = &words[..] else { return false };
    NAMES.iter().any(|name| device.starts_with(name))
        && (target.starts_with('/') || ["none", "swap"].contains(target))
        && kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
        && (1..=2).contains(&rest.len())
        && rest.iter().all(|number| ["0", "1", "2"].contains(number))
}

/// Lines keep their places, which findings name.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let line = |line: &&str| if is_row(line) { (*line).to_owned() } else { "#".to_owned() };
    let lines: Vec<String> = text.lines.iter().map(line).collect();
    machine.file("/etc/fstab".to_owned(), lines.join("\n"));
    lines.iter().filter(|line| *line != "#").count()
}
