//! `sysctl`: settings of the kernel, one on each line: `dev.raid.speed_limit_max = 200000`.

use super::{Machine, Text};

pub(super) fn begins(line: &str) -> bool {
    setting(line).is_some_and(|(key, _)| TREES.iter().any(|tree| key.starts_with(tree)))
}

/// Where settings of storage are. A configuration of another program may have lines of that shape, too.
const TREES: [&str; 3] = ["dev.raid.", "dev.scsi.", "vm."];

fn setting(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim_end().split_once(" = ")?;
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    (key.contains('.') && key.split('.').all(is_part)).then_some((key, value))
}

/// Each as the file of `/proc/sys` that it is (sysctl(8)).
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let all = text.lines.iter().filter_map(|line| setting(line));
    all.map(|(key, value)| machine.file(format!("/proc/sys/{}", key.replace('.', "/")), value)).count()
}
