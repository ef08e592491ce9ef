//! Firmware that is known to be at fault.

use crate::check::{Check, Round, Warning, finding};
use crate::machine::{Machine, drive_place};

pub(super) const CHECKS: &[Check] = &[Check {
    id: "firmware-fault",
    severity: Warning,
    looks_at: "model and firmware revision of each drive, against a short dated table of faults with public sources",
    rule: "the revision is in the table; one that is not there may be at fault all the same",
    fixes: false,
    look,
}];

/// A fault of a firmware.
struct Fault {
    /// How the model's name begins.
    model: &'static str,
    /// Revisions that have it.
    revisions: &'static [&'static str],
    /// What it does, in numbers.
    does: &'static str,
    /// The first revision without it.
    fixed_in: &'static str,
    /// Where the maker has it.
    maker: &'static str,
    /// Where the fault can be read of.
    source: &'static str,
}

/// Magician, and images to start from, of every consumer drive.
const SAMSUNG: &str = "https://semiconductor.samsung.com/consumer-storage/support/tools/";

/// As of November 2025. Only what can be read in public belongs here, each with its source.
const TABLE: [Fault; 2] = [
    Fault {
        model: "Samsung SSD 980 PRO",
        revisions: &["3B2QGXA7"],
        does: "spare capacity runs out after a few TB are written, and then the drive can only be read; drives with 2000 to \
               32000 media errors were reported",
        fixed_in: "5B2QGXA7",
        maker: SAMSUNG,
        source: "https://hwupgrade.it/news/storage/ssd-samsung-980-pro-un-nuovo-firmware-affronta-un-potenziale-bug-fatale_113771.html",
    },
    Fault {
        model: "Samsung SSD 990 PRO",
        revisions: &["0B2QJXD7"],
        does: "the drive counts wear many times too fast, 10 to 30 % of its life while less than 2 TB are written, and can only \
               be read when nothing is left; the update does not give back what was counted",
        fixed_in: "1B2QJXD7",
        maker: SAMSUNG,
        source: "https://rossmanngroup.com/problems/samsung-990-pro-firmware-degradation",
    },
];

fn look(machine: &Machine, round: &mut Round) {
    for drive in machine.inventory.drives.iter().filter(|drive| drive.transport.is_direct()) {
        let place = drive_place(drive);
        let (Some(model), Some(firmware)) = (drive.model.as_deref(), drive.firmware.as_deref()) else {
            round.unknown(&place, "the drive does not tell its model and firmware");
            continue;
        };
        round.look();
        let (model, firmware) = (model.trim(), firmware.trim());
        let known = |fault: &&Fault| model.starts_with(fault.model) && fault.revisions.contains(&firmware);
        let Some(fault) = TABLE.iter().find(known) else { continue };
        round.find(
            finding(
                Warning,
                &place,
                format!("firmware {firmware} of the {} is known to be at fault", fault.model),
                fault.does,
            )
            .seen(format!("/sys/block/{}/device/firmware_rev", drive.kernel_name), firmware)
            .seen("table of faults, November 2025", fault.source)
            .advise(format!(
                "Have a copy of what is on it, then bring the firmware to {} or later with the maker's program or the image that is \
                 started instead of a system: {}. The update service of Linux (`fwupd`) does not have it.",
                fault.fixed_in, fault.maker
            ))
            .look(format!("cat /sys/block/{}/device/firmware_rev", drive.kernel_name)),
        );
    }
}
