//! Devices that messages name: whoever reads a finding has to know where to look.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::words::list;

/// More are not listed.
const MOST: usize = 8;

/// `sda, ata3 and dm-1`; nothing where no message names one.
pub(super) fn of(lines: &[&str]) -> Option<String> {
    let named = names(lines);
    let all: Vec<&str> = named.iter().map(AsRef::as_ref).collect();
    match all.len() {
        0 => None,
        1..=MOST => Some(list(&all)),
        more => Some(format!("{} and {} more", all[..MOST].join(", "), more - MOST)),
    }
}

/// Each once, in their order.
fn names<'a>(lines: &[&'a str]) -> Vec<Cow<'a, str>> {
    let mut seen = BTreeSet::new();
    let words = lines.iter().flat_map(|line| line.split(|c: char| c.is_whitespace() || "[](),:;='`\"".contains(c)));
    words.filter_map(name).filter(|name| seen.insert(name.clone())).collect()
}

/// The kernel's name that a word is.
pub(super) fn one(word: &str) -> Option<Cow<'_, str>> {
    name(word).filter(|name| !word.contains("/by-") && !name.starts_with("ata"))
}

/// A command whose `DRIVE` or `DEVICE` is what messages name, where that is one device.
pub(super) fn put_into<'a>(command: &'a str, lines: &[&str]) -> Cow<'a, str> {
    let nodes: Vec<Cow<str>> = names(lines).into_iter().filter(|name| !name.starts_with("ata")).collect();
    let drives: BTreeSet<&str> = nodes.iter().map(|name| drive(name)).collect();
    match (&nodes[..], drives.first()) {
        (_, Some(drive)) if drives.len() == 1 && command.contains("DRIVE") => {
            command.replace("DRIVE", &format!("/dev/{drive}")).into()
        }
        ([device], _) if command.contains("DEVICE") => command.replace("DEVICE", &format!("/dev/{device}")).into(),
        _ => command.into(),
    }
}

/// `sda` of `sda1`, `nvme0n1` of `nvme0n1p2`; what is no partition as it is.
pub(super) fn drive(name: &str) -> &str {
    let whole = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_letters = ["sd", "hd", "vd", "xvd"].iter().any(|start| whole.strip_prefix(start).is_some_and(is_lettered));
    match whole.strip_suffix('p') {
        Some(whole) if whole.ends_with(|c: char| c.is_ascii_digit()) => whole,
        _ if is_letters => whole,
        _ => name,
    }
}

/// The word where it is the kernel's name of a block device, of a controller or of a port. `ata3.00` is the drive at `ata3`.
fn name(word: &str) -> Option<Cow<'_, str>> {
    let word = word.trim_end_matches('.');
    // A link, which says by itself which drive it is.
    if let Some(link) = word.strip_prefix("/dev/disk/by-").and_then(|link| link.split('/').nth(1)) {
        return Some(link.into()).filter(|link: &Cow<str>| !link.is_empty());
    }
    if let Some(link) = word.strip_prefix(UNIT_OF_LINK).and_then(|link| link.split_once('-')) {
        return Some(link.1.trim_end_matches(".device").replace("\\x2d", "-").into());
    }
    let word = word.trim_start_matches("/dev/");
    let word = word.split_once('.').filter(|(port, _)| port.starts_with("ata")).map_or(word, |(port, _)| port);
    let is_it = |(start, goes_on): &(&str, GoesOn)| word.strip_prefix(start).is_some_and(goes_on);
    (KINDS.iter().any(is_it) && !WORDS.contains(&word)).then_some(word.into())
}

/// How systemd calls `/dev/disk/by-…`, with its dashes escaped (systemd-escape(1), `--path`).
const UNIT_OF_LINK: &str = "dev-disk-by\\x2d";

/// What looks like a drive and is none: what ZFS calls a device, drivers and buses of cards, and a kind of drive.
const WORDS: [&str; 5] = ["vdev", "sdhci", "sdhc", "sdio", "hdd"];

/// Is it what may come behind such a beginning?
type GoesOn = fn(&str) -> bool;

/// How names begin, and how they go on.
const KINDS: [(&str, GoesOn); 16] = [
    ("sd", is_lettered),
    ("hd", is_lettered),
    ("vd", is_lettered),
    ("xvd", is_lettered),
    ("ata", is_number),
    ("dm-", is_number),
    ("md", is_numbered),
    ("nvme", is_numbered),
    ("mmcblk", is_numbered),
    ("pmem", is_numbered),
    ("loop", is_numbered),
    ("zd", is_numbered),
    ("nbd", is_numbered),
    ("rbd", is_numbered),
    ("bcache", is_numbered),
    ("drbd", is_numbered),
];

/// `a`, `aa`, `b1`.
fn is_lettered(rest: &str) -> bool {
    let letters = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    (1..=3).contains(&letters.len()) && letters.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn is_number(rest: &str) -> bool {
    !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
}

/// `0`, `0n1`, `0p2`, `0n1p3`.
fn is_numbered(rest: &str) -> bool {
    rest.split(['n', 'p']).all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices_are_found_in_messages() {
        let said = |line: &str| of(&[line]);
        for (line, names) in [
            ("[1.0] ata3.00: exception Emask 0x0", "ata3"),
            ("I/O error, dev sdaa, sector 8 op 0x0:(READ)", "sdaa"),
            ("EXT4-fs error (device mmcblk0p2): ext4_lookup:1785: inode #46: comm sd-pam", "mmcblk0p2"),
            ("sd 2:0:0:0: [sdc] tag#2 uas_eh_abort_handler 0 uas-tag 1 inflight: CMD", "sdc"),
            ("nvme nvme0: I/O 12 QID 4 timeout", "nvme0"),
            ("md/raid:md0: Disk failure on sdb1, disabling device.", "md0 and sdb1"),
        ] {
            assert_eq!(said(line).as_deref(), Some(names), "{line}");
        }
        assert_eq!(said("eid=15 class=statechange pool='tank' vdev=sdd1 vdev_state=UNAVAIL").as_deref(), Some("sdd1"));
        let zio = "zio pool=rpool vdev=/dev/disk/by-id/nvme-CT1000P3_2312-part3 error=5 type=2 offset=8 size=4096";
        assert_eq!(said(zio).as_deref(), Some("nvme-CT1000P3_2312-part3"));
        for unit in [r"dev-disk-by\x2duuid-3c11b4d7\x2d2a10.device", "/dev/disk/by-uuid/3c11b4d7-2a10"] {
            let line = format!("Timed out waiting for device {unit}.");
            assert_eq!(said(&line).as_deref(), Some("3c11b4d7-2a10"));
        }
        assert_eq!(said("Buffer I/O error on dev loop0p1, logical block 8").as_deref(), Some("loop0p1"));
        assert_eq!(said("mmc0: sdhci timeout, sdio card on vdev of an hdd"), None);
        assert_eq!(said("usb 2-1: reset SuperSpeed USB device number 2 using xhci_hcd"), None);
    }
}
