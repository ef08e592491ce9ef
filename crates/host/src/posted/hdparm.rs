//! `hdparm -W` and `hdparm -I`, and what udev says of the same: whether the volatile cache of a SATA drive is on.

use std::collections::BTreeMap;

use super::lsblk::is_drive;
use super::{Machine, Text, sayings};

/// Both programs begin with `/dev/sda:` alone on its line, as `mdadm --examine` does: what comes below it tells.
pub(super) fn is_of(lines: &[&str]) -> bool {
    let is_setting = |line: &str| line.trim_start().starts_with("write-caching ");
    lines.iter().any(|line| is_setting(line) || line.starts_with("ATA device, ") || is_size(line))
}

/// ` max sectors   = 1953523055/1953525168, HPA is enabled` of `hdparm -N`.
fn is_size(line: &str) -> bool {
    line.trim_start().starts_with("max sectors ")
}

/// The first is what the drive shows, the second what it has; newer drives call the same an accessible maximum (hdparm(8), `-N`).
const HIDES: [&str; 2] = [", HPA is enabled", ", ACCESSIBLE MAX ADDRESS enabled"];

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
    let size = text.lines.iter().find(|line| is_size(line));
    let hides = size.filter(|line| HIDES.iter().any(|words| line.contains(words)));
    if let (Some(name), Some(line)) = (name, hides) {
        sayings::say("hdparm", &format!("/dev/{name}: {}", line.trim()), machine);
    }
    if told.is_none() && size.is_some() {
        return 1;
    }
    if told.is_none() {
        machine.refused.push("it tells of no volatile cache".to_owned());
    }
    put(name, told, None, machine)
}

/// A record for each device: it begins with its path, or where a key comes again.
pub(super) fn read_udev(text: &Text, machine: &mut Machine) -> usize {
    let mut records: Vec<BTreeMap<&str, &str>> = vec![BTreeMap::new()];
    for line in &text.lines {
        let pair = line.trim_start_matches("E: ").split_once('=');
        let is_told = pair.is_some_and(|(key, _)| records.last().is_some_and(|record| record.contains_key(key)));
        if line.starts_with("P: ") || is_told {
            records.push(BTreeMap::new());
        }
        if let (Some((key, value)), Some(record)) = (pair, records.last_mut()) {
            record.insert(key, value);
        }
    }
    records.iter().map(|record| read_record(record, machine)).sum()
}

fn read_record(record: &BTreeMap<&str, &str>, machine: &mut Machine) -> usize {
    let value = |key: &str| record.get(key).copied();
    let name = value("DEVNAME").and_then(|path| path.strip_prefix("/dev/"));
    let told = value("ID_ATA_WRITE_CACHE_ENABLED").map(|flag| flag == "1");
    let path = value("DEVPATH").unwrap_or_default();
    let ways = [("/usb", "usb"), ("/end_device-", "sas"), ("/ata", "sata")];
    let way = ways.iter().find(|(part, _)| path.contains(part)).map(|(_, way)| *way);
    put(name, told, way, machine)
}

/// The cache of a drive is on, or off. It speaks ATA; a text may tell that it does so over USB.
fn put(name: Option<&str>, told: Option<bool>, way: Option<&str>, machine: &mut Machine) -> usize {
    let (Some(name), Some(is_on)) = (name.filter(|name| is_drive(name)), told) else { return 0 };
    machine.drive(name);
    match way {
        Some(way) => machine.attached(name, way),
        None => machine.speaks_ata(name),
    }
    machine.cache(name, is_on);
    1
}
