//! `cat /etc/fstab` and `cat /etc/mdadm/mdadm.conf`: the files as they are.

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

/// `DEVICE /dev/sda1`, `ARRAY /dev/md0 …` and other rows of `mdadm.conf` (mdadm.conf(5)), behind a command that shows it.
pub(super) fn is_of_mdadm(command: &str, line: &str) -> bool {
    let mut words = command.split_whitespace();
    let shows = words.any(|word| ["cat", "grep", "egrep"].contains(&word));
    shows && command.contains("mdadm.conf") && MDADM.iter().any(|word| line.starts_with(word))
}

const MDADM: [&str; 6] = ["DEVICE ", "ARRAY ", "MAILADDR ", "HOMEHOST ", "CREATE ", "# mdadm.conf"];

pub(super) fn read_mdadm(text: &Text, machine: &mut Machine) -> usize {
    machine.file("/etc/mdadm/mdadm.conf".to_owned(), text.lines.join("\n"));
    text.lines.iter().filter(|line| ["DEVICE ", "ARRAY "].iter().any(|word| line.starts_with(word))).count()
}
