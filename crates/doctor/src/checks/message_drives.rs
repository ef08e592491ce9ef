//! Drives that end before what is on them, drives that are locked, and drives that stopped answering.

use std::collections::{BTreeMap, BTreeSet};

use super::message_kinds::{BEYOND, Kind};
use super::message_names;
use crate::check::{Error, Information, Warning};

/// `blk_add_partition` in the kernel's `block/partitions/core.c`.
pub(super) const TOO_LONG: Kind = Kind {
    words: &[&[" beyond eod"]],
    what: "a partition goes on past the end of its drive",
    cost: "; what it has there cannot be reached: the drive tells of fewer blocks than when the table was written, or the table is damaged",
    ..BEYOND
};

/// `ata_hpa_resize` in its `drivers/ata/libata-core.c`.
pub(super) const HIDDEN_AREA: Kind = Kind {
    words: &[&["hpa detected: current"]],
    severity: Information,
    what: "a host protected area hides blocks at the end of a drive",
    cost: "; it is smaller than others of its model, and may be too small for an array of them",
    advice: "Leave it where what is on the drive fits. Superblocks and tables at its end move when it is changed: what was written while all \
             blocks were there needs it undone, and what was written since would lose its end by that or not be found.",
    command: "dmesg | grep -iE 'hpa|eod'",
};

/// Access Denied (NVM Express Base Specification 2.0, figure 98), which the block layer calls an error of the medium
/// (`nvme_error_status` in its `drivers/nvme/host/core.c`).
pub(super) const LOCKED: Kind = Kind {
    words: &[&["@ lba", "(sct 0x2 / sc 0x86)"]],
    severity: Warning,
    what: "a drive lets nobody at its data: it is locked",
    cost: "; each is a request that it refused, and 0 bytes are damaged by that",
    advice: "Unlock it, with what locked it: the firmware's password, `sedutil-cli` or `cryptsetup` (`--hw-opal`). Neither cable nor blocks \
             are at fault. Format or revert nothing: that throws away the key, and with it all that is there.",
    command: "dmesg | grep -i nvme",
};

/// What a drive answers that could not read or write a block: MEDIUM ERROR (SPC-5, 4.5), `UNC` (ATA8-ACS, 6.2), and Unrecovered Read Error and Write
/// Fault of NVMe (NVM Express NVM Command Set Specification 1.0, figure 16).
pub(super) const UNREADABLE: Kind = Kind {
    words: &[
        &["critical medium error, dev"],
        &["sense key : medium error"],
        &["ata", ": error: { unc }"],
        &["@ lba", "(sct 0x2 / sc 0x81)"],
        &["@ lba", "(sct 0x2 / sc 0x80)"],
    ],
    severity: Warning,
    what: "a drive cannot read or write some of its blocks",
    cost: "; what is in a block that cannot be read is lost unless a copy has it",
    advice: "The drive says so itself: neither its cable nor its controller is at fault. A scrub of an array or a pool \
             writes the block anew from another copy. Where there is no other copy the drive is copied first (`ddrescue`), before anything checks \
             or repairs what is on it. Replace it where its health is bad, or where other blocks follow.",
    command: "smartctl -x DRIVE",
};

/// Is a message no more than what comes of blocks that `drives` cannot read? A drive that must be reset has another fault as well.
pub(super) fn is_of_unreadable(line: &str, drives: &BTreeSet<String>) -> bool {
    let is_other = ["reset", "timeout", "limiting", "NCQ disabled", "offline"].iter().any(|word| line.contains(word));
    !is_other && message_names::of(&[line]).is_some_and(|name| drives.contains(message_names::drive(&name)))
}

/// `ata_dev_disable` in its `drivers/ata/libata-eh.c`, what comes before it where a drive failed and was not taken out, and what comes after
/// it where it is back.
pub(super) const DISABLED: Kind = Kind {
    words: &[
        &["ata", ".00: disable"],
        &["ata", ": reset failed, giving up"],
        &["ata", ".00: revalidation failed"],
        &["ata", ".00: configured for"],
    ],
    severity: Error,
    what: "a drive stopped answering, and the kernel gave it up",
    cost: "; 0 requests reach it until it is found again",
    advice: "Look at its cable and its power, and at its health when it is back. Where it was a member of an array or a pool, add nothing \
             before it is known why it went.",
    command: "dmesg | grep -E 'ata[0-9]+'",
};

/// A drive whose link is lost before the kernel lets it go: it was pulled out, or its cable or its power went. One that was taken out in order
/// is let go first (`ata_scsi_handle_link_detach` in its `drivers/ata/libata-scsi.c`).
pub(super) const LEFT: Kind = Kind {
    words: &[
        &["ata", ": sata link down"],
        &["ata", ".00: disable"],
        &["ata", ".00: detaching (scsi"],
        &["ata", ".00: configured for"],
    ],
    severity: Warning,
    what: "a drive left its port while it was in use, and is not back",
    ..DISABLED
};

/// Of such lines those that tell of drives that left, each in this order and without one that is back.
pub(super) fn left<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut steps: BTreeMap<String, usize> = BTreeMap::new();
    let mut gone: BTreeMap<String, &str> = BTreeMap::new();
    for line in lines {
        let Some(port) = message_names::of(&[line]) else { continue };
        let step = steps.entry(port.clone()).or_default();
        let is_next =
            ["SATA link down", ".00: disable", ".00: detaching"].get(*step).is_some_and(|words| line.contains(words));
        if line.contains(".00: configured for") {
            *step = 0;
            gone.remove(&port);
        } else if is_next {
            *step += 1;
        }
        if *step == 3 && is_next {
            gone.insert(port, line);
        }
    }
    gone.into_values().collect()
}

/// Of such lines those of drives that failed and are not back.
pub(super) fn given_up<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut failed = BTreeSet::new();
    let mut gone: BTreeMap<String, &str> = BTreeMap::new();
    for line in lines {
        let Some(port) = message_names::of(&[line]) else { continue };
        if line.contains(".00: configured for") {
            failed.remove(&port);
            gone.remove(&port);
        } else if !line.contains(".00: disable") {
            failed.insert(port);
        } else if failed.contains(&port) {
            gone.insert(port, line);
        }
    }
    gone.into_values().collect()
}
