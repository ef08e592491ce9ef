//! `hdparm -W` and `hdparm -I`, and what udev says of the same: whether the volatile cache of a SATA drive is on.

use super::lsblk::is_drive;
use super::{Machine, Text};

/// Both programs begin with `/dev/sda:` alone on its line, as `mdadm --examine` does: what comes below it tells.
pub(super) fn is_of(lines: &[&str]) -> bool {
    lines.iter().any(|line| cache(line).is_some() || line.starts_with("ATA device, "))
}

/// `E: ID_ATA_WRITE_CACHE_ENABLED=1`, which tells of the drive that the same text names.
pub(super) fn begins_udev(line: &str) -> bool {
    ["P: /devices/", "DEVPATH=/devices/", "E: DEVPATH=/devices/", "DEVNAME=/dev/"]
        .iter()
        .any(|start| line.starts_with(start))
}

/// ` write-caching =  0 (off)`; or a line of the list of features, with a star where the feature is on (hdparm's `identify.c`).
fn cache(line: &str) -> Option<bool> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["write-caching", "=", "1", ..] | ["*", "Write", "cache"] => Some(true),
        ["write-caching", "=", "0", ..] | ["Write", "cache"] => Some(false),
        _ => None,
    }
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let name = text.lines.first().and_then(|line| line.trim().strip_prefix("/dev/")?.strip_suffix(':'));
    let told = text.lines.iter().find_map(|line| cache(line));
    put(name, told, machine)
}

pub(super) fn read_udev(text: &Text, machine: &mut Machine) -> usize {
    let value = |key: &str| {
        let mut lines = text.lines.iter().map(|line| line.trim_start_matches("E: "));
        lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
    };
    let name = value("DEVNAME").and_then(|path| path.strip_prefix("/dev/"));
    let told = value("ID_ATA_WRITE_CACHE_ENABLED").map(|flag| flag == "1");
    put(name, told, machine)
}

/// The cache of a drive is on, or off.
fn put(name: Option<&str>, told: Option<bool>, machine: &mut Machine) -> usize {
    let (Some(name), Some(is_on)) = (name.filter(|name| is_drive(name)), told) else { return 0 };
    machine.drive(name);
    machine.attached(name, "sata");
    machine.cache(name, is_on);
    1
}
