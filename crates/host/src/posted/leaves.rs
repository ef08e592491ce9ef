//! Devices of pools by the names that `zpool status` has without `-P`: the last part of a path below `/dev` or `/dev/disk/by-id`.

use terms::plan::partition_of;

use super::lsblk::drive_of;
use super::{Machine, zpool};

/// Where udev keeps such names (systemd's `rules.d/60-persistent-storage.rules`).
pub(super) const BY_ID: &str = "/dev/disk/by-id";

/// Each name leads to the drive that it is of, or to the partition. One that could be of two leads nowhere.
pub(super) fn put_all(machine: &mut Machine) {
    let lists = machine.runs.iter().filter(|(line, _)| line.starts_with(zpool::STATUS));
    let rows = lists.flat_map(|(_, text)| text.split_once("config:").map_or("", |(_, rows)| rows).lines());
    let names: Vec<String> = rows.filter_map(|row| row.split_whitespace().next()).map(ToOwned::to_owned).collect();
    for name in names {
        let name = name.strip_prefix("/dev/disk/by-id/").or_else(|| name.strip_prefix("/dev/")).unwrap_or(&name);
        // `sda1` is of a drive that only its own texts tell of.
        if drive_of(name).is_some_and(|drive| machine.blocks.contains_key(drive)) {
            machine.block(name);
        } else if let Some(node) = machine.identified(name).filter(|_| !machine.blocks.contains_key(name)) {
            // What is told of a device lies there, and nothing below `/dev`.
            machine.links.insert(format!("{BY_ID}/{name}"), format!("/sys/class/block/{node}"));
        }
    }
}

impl Machine {
    /// The only drive whose serial number or identifier such a name has, or its partition.
    fn identified(&mut self, name: &str) -> Option<String> {
        let (whole, part) = match name.rsplit_once("-part") {
            Some((whole, part)) if part.parse::<u8>().is_ok() => (whole, Some(part)),
            _ => (name, None),
        };
        let (_, rest) = whole.split_once('-')?;
        let told = |drive: &str, file: &str| self.block_files.get(&(drive.to_owned(), file.to_owned()));
        let is_it = |drive: &str| {
            let by_wwid = told(drive, "device/wwid").is_some_and(|wwid| has_number(rest, wwid));
            let model = told(drive, "device/model").map(|model| word(model));
            let is_model = model.is_none_or(|model| rest.contains(&model));
            by_wwid || is_model && told(drive, "device/serial").is_some_and(|serial| has_serial(rest, &word(serial)))
        };
        let mut drives =
            self.blocks.iter().filter(|(name, block)| block.is_drive() && is_it(name)).map(|(name, _)| name);
        let drive = drives.next().filter(|_| drives.next().is_none())?.clone();
        let Some(part) = part else { return Some(drive) };
        let partition = partition_of(&drive, part);
        self.block(&partition);
        Some(partition)
    }
}

/// As udev writes it into names (`udev_replace_whitespace` in systemd's `src/shared/udev-util.c`).
fn word(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join("_")
}

/// `WDC_WD40EFRX-68N32N0_WD-WCC7K0AAAAAA`; newer names of namespaces have their number behind it.
fn has_serial(rest: &str, serial: &str) -> bool {
    let before = |rest: &str| rest.strip_suffix(serial).is_some_and(|model| model.is_empty() || model.ends_with('_'));
    serial.len() >= SHORTEST && (before(rest) || rest.strip_suffix("_1").is_some_and(before))
}

/// Shorter ones are no serial numbers but what somebody wrote over them.
const SHORTEST: usize = 4;

/// `0x5000c500a1b2c3d4` of `wwn-`, `35000c500a1b2c3d4` of `scsi-` with the kind of identifier before it, `eui.…` of `nvme-`.
fn has_number(rest: &str, wwid: &str) -> bool {
    let number = |text: &str| {
        let text = ["0x", "naa.", "eui."].iter().find_map(|start| text.strip_prefix(start)).unwrap_or(text);
        text.to_ascii_lowercase()
    };
    let (own, of_drive) = (number(rest), number(wwid));
    let is_number = of_drive.len() >= DIGITS && of_drive.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number && (own == of_drive || own.strip_prefix('3') == Some(&of_drive))
}

/// Of the shortest identifiers: 64 bits.
const DIGITS: usize = 16;
