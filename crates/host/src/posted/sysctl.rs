//! `sysctl`: settings of the kernel, one on each line: `dev.raid.speed_limit_max = 200000`.

use super::{Machine, Text};

/// Of all settings those of arrays are looked at; a configuration of another program may have lines of the shape of others.
pub(super) fn begins(line: &str) -> bool {
    setting(line).is_some_and(|(key, _)| key.starts_with("dev.raid."))
}

fn setting(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim_end().split_once(" = ")?;
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    (key.contains('.') && key.split('.').all(is_part)).then_some((key, value))
}

/// Each as the file of `/proc/sys` that it is (sysctl(8)). What a file says that is read at the start need not be so now.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    if text.command.is_some_and(|typed| typed.contains("sysctl.conf") || typed.contains("sysctl.d")) {
        machine.refused.push("it is what is set at the start, and `sysctl dev.raid` tells what is so now".to_owned());
        return 0;
    }
    let all = text.lines.iter().filter_map(|line| setting(line));
    all.map(|(key, value)| machine.file(format!("/proc/sys/{}", key.replace('.', "/")), value)).count()
}
