//! Which drive is meant, and is it still the same one?

use std::fmt::Write as _;

use host::Devno;
use serde::{Deserialize, Serialize};
use terms::Bytes;
use terms::spelling::spell_inline;

use crate::file_id::FilePart;

/// A drive, or a partition of one, as it was found under the name that a person gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The name as it was given.
    pub id: String,
    /// Serial number of the drive, if it tells one.
    pub serial: Option<String>,
    /// World-wide or namespace identifier of the drive, if it tells one.
    pub wwid: Option<String>,
    /// Model of the drive, if told.
    pub model: Option<String>,
    /// Size of what was named.
    #[serde(rename = "size_bytes")]
    pub size: Bytes,
    /// Logical block size.
    #[serde(rename = "logical_block_bytes")]
    pub logical_block: Bytes,
    /// Device number of today.
    pub devno: Devno,
    /// Node of today.
    pub node: String,
    /// PCI addresses from the root port to the drive's controller, with `/` between; several controllers with `+`.
    pub pci_path: Option<String>,
    /// What of which file is behind it, where it is a loop device: that is then all that it is known by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FilePart>,
    /// Where a partition was named: which. `None` is the whole drive.
    pub part: Option<PartitionOf>,
    /// Names as under `/dev/disk/by-id` that mean the same.
    pub names: Vec<String>,
}

/// A partition of a drive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionOf {
    /// Its number in the partition table.
    pub number: u32,
    /// Where it begins, from the start of the drive.
    #[serde(rename = "start_bytes")]
    pub start: Bytes,
    /// The node of the whole drive.
    pub drive: String,
    /// The device number of the whole drive.
    pub drive_devno: Devno,
}

impl Identity {
    /// The independent things by which the drive is known.
    #[must_use]
    pub fn witnesses(&self) -> Vec<&'static str> {
        let serial = self.serial.as_deref().map(|_| "serial number");
        let wwid = self.wwid.as_deref().filter(|wwid| !self.is_made_of_serial(wwid)).map(|_| "wwid");
        let port = self.pci_path.as_deref().map(|_| "PCI path");
        [serial, wwid, port].into_iter().flatten().collect()
    }

    /// What a person who names the drive should know of this identity: `None` where two attributes of the drive itself tell it.
    #[must_use]
    pub fn caveat(&self) -> Option<String> {
        let told: Vec<_> = self.witnesses().into_iter().filter(|witness| *witness != "PCI path").collect();
        let port = match (&self.pci_path, self.file) {
            (Some(_), _) => "the port it is plugged into is the second witness",
            (None, Some(_)) => "it is known by the file behind it",
            (None, None) => "nothing else tells it",
        };
        match told.as_slice() {
            [] => Some(format!("it tells neither a serial number nor an identifier of its own; {port}")),
            [only] => Some(format!("of itself it tells only its {only}; {port}")),
            _ => None,
        }
    }

    /// NVMe controllers without identifiers get one that the kernel makes of vendor, serial number and model
    /// (drivers/nvme/host/core.c, `wwid_show`); that of ATA drives has the serial number in columns.
    fn is_made_of_serial(&self, wwid: &str) -> bool {
        let Some(serial) = self.serial.as_deref() else { return false };
        let hex = serial.bytes().fold(String::new(), |mut text, byte| {
            // Writing into a string does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
        wwid.contains(serial) || (wwid.starts_with("nvme.") && wwid.contains(&hex))
    }

    /// Does another identity mean the very same device?
    #[must_use]
    pub fn is_same_device(&self, other: &Self) -> bool {
        self.devno == other.devno
            && self.part.as_ref().map(|part| part.number) == other.part.as_ref().map(|part| part.number)
    }

    /// What of the drive is not as it was, one clause each; nothing for the same drive, in another port or after a new
    /// start too. A drive that tells no name of its own is known by its port, by the file behind it, and by its number of
    /// today: one that has another number since is nobody's to touch.
    #[must_use]
    pub fn differences(&self, now: &Self) -> Vec<String> {
        let place = |of: &Self| of.part.as_ref().map(|part| (part.number, part.start));
        let named = |of: &Self| of.serial.is_some() || of.wwid.is_some();
        let port = |of: &Self| of.pci_path.clone().filter(|_| !named(self));
        // The number of a partition changes when the table is read anew.
        let number = |of: &Self| if named(self) { String::new() } else { of.drive_devno().to_string() };
        let file = |of: &Self| told(&of.file.filter(|_| self.file.is_some()).map(|file| file.to_string()));
        let part = |of: &Self| match place(of) {
            Some((number, start)) => format!("partition {number} from byte {}", start.0),
            None => "the whole drive".to_owned(),
        };
        let pairs = [
            ("serial number", told(&self.serial), told(&now.serial)),
            ("wwid", told(&self.wwid), told(&now.wwid)),
            ("model", told(&self.model), told(&now.model)),
            ("size", format!("{} bytes", self.size.0), format!("{} bytes", now.size.0)),
            ("PCI path", told(&port(self)), told(&port(now))),
            ("device number", number(self), number(now)),
            ("file behind it", file(self), file(now)),
            ("what is named", part(self), part(now)),
        ];
        let changed = pairs.into_iter().filter(|(_, then, now)| then != now);
        changed.map(|(what, then, now)| format!("{what}: was {then}, is {now}")).collect()
    }

    /// The device number of the whole drive.
    #[must_use]
    pub fn drive_devno(&self) -> Devno {
        self.part.as_ref().map_or(self.devno, |part| part.drive_devno)
    }

    /// The drive in one line, for messages.
    #[must_use]
    pub fn describe(&self) -> String {
        let model = self.model.as_ref().map(|model| format!(", {}", spell_inline(model))).unwrap_or_default();
        let serial =
            self.serial.as_ref().map(|serial| format!(", serial {}", spell_inline(serial))).unwrap_or_default();
        format!("`{}` (today {}{model}{serial}, {})", spell_inline(&self.id), self.node, self.size)
    }
}

/// What a drive tells of itself, inside a line of ours.
pub(crate) fn told(value: &Option<String>) -> String {
    value.as_deref().map_or_else(|| "not told".to_owned(), |value| spell_inline(value).into_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A drive that tells all of itself.
    pub(crate) fn any() -> Identity {
        Identity {
            id: "nvme-X_1".to_owned(),
            serial: Some("S1".to_owned()),
            wwid: Some("eui.1".to_owned()),
            model: Some("X".to_owned()),
            size: Bytes::gib(1),
            logical_block: Bytes(512),
            devno: Devno { major: 259, minor: 0 },
            node: "/dev/nvme0n1".to_owned(),
            pci_path: Some("0000:01:00.0".to_owned()),
            file: None,
            part: None,
            names: Vec::new(),
        }
    }

    #[test]
    fn what_a_drive_says_of_itself_makes_no_line_of_its_own() {
        let evil = || Some("X\nhint: all is well\u{1b}]0;PWN\u{7}".to_owned());
        let drive = Identity { serial: evil(), model: evil(), wwid: evil(), id: "serial=X\n".to_owned(), ..any() };
        let lines = [drive.describe(), any().differences(&drive).join(" ")];
        assert!(!lines.iter().any(|line| line.chars().any(terms::spelling::is_unseen)), "{lines:?}");
    }

    #[test]
    fn a_person_is_told_by_how_little_a_drive_is_known() {
        assert_eq!(any().caveat(), None);
        let nameless = Identity { serial: None, ..any() };
        let told = "of itself it tells only its wwid; the port it is plugged into is the second witness";
        assert_eq!(nameless.caveat().as_deref(), Some(told));
        let bare = Identity { wwid: None, pci_path: None, ..nameless };
        assert!(bare.caveat().is_some_and(|told| told.ends_with("nothing else tells it")));
    }

    #[test]
    fn a_drive_is_the_same_wherever_it_is_plugged_in_and_no_other() {
        let then = any();
        let moved = Identity {
            devno: Devno { major: 259, minor: 7 },
            node: "/dev/nvme3n1".to_owned(),
            pci_path: Some("0000:02:00.0".to_owned()),
            id: "serial=S1".to_owned(),
            ..any()
        };
        assert!(then.differences(&moved).is_empty());
        let part = PartitionOf { number: 1, start: Bytes::mib(1), drive: String::new(), drive_devno: then.devno };
        let nameless = |port: &str| Identity { serial: None, wwid: None, pci_path: Some(port.to_owned()), ..any() };
        let of_loop = |minor| {
            let part = Some(part.clone());
            Identity { devno: Devno { major: 259, minor }, part, ..nameless("0000:01:00.0") }
        };
        assert!(of_loop(1).differences(&of_loop(2)).is_empty());
        for (then, now) in [
            (any(), Identity { serial: Some("S2".to_owned()), ..any() }),
            (any(), Identity { wwid: None, ..any() }),
            (any(), Identity { size: Bytes::gib(2), ..any() }),
            (any(), Identity { part: Some(part.clone()), ..any() }),
            (
                Identity { part: Some(part.clone()), ..any() },
                Identity { part: Some(PartitionOf { start: Bytes::mib(2), ..part }), ..any() },
            ),
            (nameless("0000:01:00.0"), nameless("0000:02:00.0")),
            (nameless("0000:01:00.0"), Identity { devno: Devno { major: 259, minor: 7 }, ..nameless("0000:01:00.0") }),
        ] {
            assert_eq!(then.differences(&now).len(), 1, "{now:?}");
        }
    }
}
