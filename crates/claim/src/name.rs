//! What a person may write to name a drive, and what is refused.

use terms::command::quote;
use terms::spelling::spell_inline;

/// A drive as a person names it: by something that goes with the drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Name {
    /// A name under `/dev/disk/by-id`.
    Link(String),
    /// A serial number.
    Serial(String),
    /// A world-wide or namespace identifier, as the kernel writes it.
    Wwid(String),
    /// The NVMe name of a subsystem.
    Nqn(String),
}

impl Name {
    /// The drive's name and the number of the partition, where the name ends in `-partN`.
    pub(crate) fn split_part(&self) -> Option<(Self, u32)> {
        let make = |text: &str, make: fn(String) -> Self| {
            split_part(text).map(|(drive, number)| (make(drive.to_owned()), number))
        };
        match self {
            Self::Link(text) => make(text, Self::Link),
            Self::Serial(text) => make(text, Self::Serial),
            Self::Wwid(text) => make(text, Self::Wwid),
            Self::Nqn(text) => make(text, Self::Nqn),
        }
    }
}

/// The name of a drive and the number of the partition that `NAME-partN` speaks of.
pub(crate) fn split_part(name: &str) -> Option<(&str, u32)> {
    let (drive, number) = name.rsplit_once("-part")?;
    let plain = !number.is_empty() && !drive.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    number.parse().ok().filter(|_| plain).map(|number| (drive, number))
}

/// A name, or a word with one in it, as it can be pasted into a command. A drive may say of itself what it likes: a shell
/// takes none of it for its own, and it makes no line of its own.
#[must_use]
pub fn in_command(word: &str) -> String {
    spell_inline(&quote(word)).into_owned()
}

/// What of the drive stands in a link of udev's (rules.d/60-persistent-storage.rules).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkSays {
    /// Its identifier, and nothing else: the drive's own name of that form is the only one.
    Identifier,
    /// Its serial number.
    Serial,
    /// Its serial number or its identifier.
    Either,
    /// Nothing that the drive can be asked for.
    Nothing,
}

/// By the form of a link, what it says of the drive.
pub(crate) fn says(link: &str) -> LinkSays {
    let of_identifier = |name: &str| WWID_STARTS.iter().any(|start| name.starts_with(start));
    match link.split_once('-') {
        Some(("wwn", _)) => LinkSays::Identifier,
        Some(("nvme", name)) if of_identifier(name) => LinkSays::Identifier,
        Some(("ata" | "nvme" | "virtio", _)) => LinkSays::Serial,
        Some(("scsi", _)) => LinkSays::Either,
        _ => LinkSays::Nothing,
    }
}

/// Where udev keeps names that go with the drive.
pub(crate) const BY_ID: &str = "/dev/disk/by-id/";

/// Starts of identifiers as the kernel writes them in `wwid`: NVMe (drivers/nvme/host, `wwid_show`) and SCSI
/// (drivers/scsi/scsi_lib.c, `scsi_vpd_lun_id`).
const WWID_STARTS: [&str; 5] = ["eui.", "uuid.", "nvme.", "naa.", "t10."];

/// Starts of names under `/dev/disk/by-id` that udev makes of what is on a drive (systemd, rules.d/60-persistent-storage-dm
/// and 63-md-raid-arrays; lvm2, 69-dm-lvm): they go with it when it is erased.
const CONTENT_STARTS: [&str; 4] = ["lvm-pv-uuid-", "md-uuid-", "md-name-", "dm-"];

/// Starts of kernel names of block devices (kernel, Documentation/admin-guide/devices.txt).
const KERNEL_STARTS: [&str; 16] = [
    "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "md", "dm-", "loop", "ram", "zram", "nbd", "nullb", "sr", "pmem",
    "bcache",
];

/// Understands a name; `Err` says what kind of name it is instead.
pub(crate) fn parse(text: &str) -> Result<Name, NotAnId> {
    let wwid = |value: &str| Ok(Name::Wwid(value.to_owned()));
    let named = [("serial=", Name::Serial as fn(String) -> Name), ("wwid=", Name::Wwid), ("nqn=", Name::Nqn)];
    for (key, make) in named {
        if let Some(value) = text.strip_prefix(key) {
            return if value.trim().is_empty() { Err(NotAnId::Empty) } else { Ok(make(value.trim().to_owned())) };
        }
    }
    if text.trim().is_empty() {
        return Err(NotAnId::Empty);
    }
    if text.starts_with("nqn.") {
        return Ok(Name::Nqn(text.to_owned()));
    }
    if WWID_STARTS.iter().any(|start| text.starts_with(start)) {
        return wwid(text);
    }
    match text.strip_prefix(BY_ID) {
        Some("") => Err(NotAnId::Empty),
        Some(link) if link.contains('/') => Err(NotAnId::Path),
        Some(link) => by_link(link),
        None if text.starts_with("/dev/disk/") => Err(NotAnId::Path),
        None if text.starts_with("/dev/") => Err(NotAnId::Kernel(text["/dev/".len()..].to_owned())),
        None if text.contains('/') => Err(NotAnId::Path),
        None if is_kernel_name(text) => Err(NotAnId::Kernel(text.to_owned())),
        None => by_link(text),
    }
}

fn by_link(link: &str) -> Result<Name, NotAnId> {
    if CONTENT_STARTS.iter().any(|start| link.starts_with(start)) {
        return Err(NotAnId::Content);
    }
    Ok(Name::Link(link.to_owned()))
}

/// Why a text names no drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotAnId {
    /// It says nothing.
    Empty,
    /// It is, or may be, a name that the kernel gave in the order of finding.
    Kernel(String),
    /// It is made of what is on the drive.
    Content,
    /// It is a path that goes with a port, a file system or something else than the drive.
    Path,
}

/// Is it a name such as the kernel gives: a driver's letters, then letters and digits, and nothing like a model?
fn is_kernel_name(text: &str) -> bool {
    let plain = |rest: &str| rest.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()) && rest.len() <= 12;
    KERNEL_STARTS.iter().any(|start| text.strip_prefix(start).is_some_and(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_go_with_the_drive_are_taken() {
        let link = |name: &str| Ok(Name::Link(name.to_owned()));
        assert_eq!(parse("/dev/disk/by-id/nvme-A_B"), link("nvme-A_B"));
        assert_eq!(parse("nvme-A_B"), link("nvme-A_B"));
        assert_eq!(parse("ata-WDC_1-part3"), link("ata-WDC_1-part3"));
        assert_eq!(parse("nvme-eui.0025385b"), link("nvme-eui.0025385b"));
        assert_eq!(parse("serial= S4EW "), Ok(Name::Serial("S4EW".into())));
        assert_eq!(parse("wwid=0x5000c500"), Ok(Name::Wwid("0x5000c500".into())));
        assert_eq!(parse("eui.0025385b"), Ok(Name::Wwid("eui.0025385b".into())));
        assert_eq!(parse("nqn.2014-08.org:x"), Ok(Name::Nqn("nqn.2014-08.org:x".into())));
    }

    #[test]
    fn names_of_today_and_of_other_things_are_refused() {
        for kernel in ["sda", "sda1", "nvme0n1", "nvme0n1p2", "vdb", "md127", "dm-0", "loop3", "mmcblk0p1", "ram0"] {
            assert_eq!(parse(kernel), Err(NotAnId::Kernel(kernel.to_owned())));
            assert_eq!(parse(&format!("/dev/{kernel}")), Err(NotAnId::Kernel(kernel.to_owned())));
        }
        assert_eq!(parse("/dev/mapper/x"), Err(NotAnId::Kernel("mapper/x".into())));
        for path in ["/dev/disk/by-path/pci-1", "/dev/disk/by-uuid/1", "x/y", "/dev/disk/by-id/a/b"] {
            assert_eq!(parse(path), Err(NotAnId::Path), "{path}");
        }
        for content in ["lvm-pv-uuid-7h3", "md-name-any:x", "dm-uuid-CRYPT-1"] {
            assert_eq!(parse(content), Err(NotAnId::Content), "{content}");
            assert_eq!(parse(&format!("/dev/disk/by-id/{content}")), Err(NotAnId::Content));
        }
        for empty in ["", " ", "serial=", "wwid= ", "/dev/disk/by-id/"] {
            assert_eq!(parse(empty), Err(NotAnId::Empty), "{empty:?}");
        }
    }

    #[test]
    fn what_a_drive_says_of_itself_is_one_word_of_a_command() {
        assert_eq!(in_command("nvme-A_B"), "nvme-A_B");
        assert_eq!(in_command("serial=X$(id); #"), "'serial=X$(id); #'");
        let told = in_command("serial=X'\nhint: all is well\u{1b}]0;PWN\u{7}\u{202e}");
        assert!(!told.chars().any(terms::spelling::is_unseen) && told.starts_with("'serial=X'\\''"), "{told}");
    }

    #[test]
    fn partitions_are_told_by_their_end() {
        assert_eq!(split_part("nvme-A_B-part12"), Some(("nvme-A_B", 12)));
        for whole in ["nvme-A_B", "nvme-A-party", "-part1", "a-part", "a-part-1", "a-part+1"] {
            assert_eq!(split_part(whole), None, "{whole}");
        }
    }
}
