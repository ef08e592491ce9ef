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
    /// How names of its models begin.
    models: &'static [&'static str],
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

const HPE: &str = "https://support.hpe.com";

/// As of November 2025. Only what can be read in public belongs here, each with its source.
const TABLE: [Fault; 4] = [
    Fault {
        models: &["Samsung SSD 980 PRO"],
        revisions: &["3B2QGXA7"],
        does: "spare capacity runs out after a few TB are written, and then the drive can only be read; drives with 2000 to \
               32000 media errors were reported",
        fixed_in: "5B2QGXA7",
        maker: SAMSUNG,
        source: "https://hwupgrade.it/news/storage/ssd-samsung-980-pro-un-nuovo-firmware-affronta-un-potenziale-bug-fatale_113771.html",
    },
    Fault {
        models: &["Samsung SSD 990 PRO"],
        revisions: &["0B2QJXD7"],
        does: "the drive counts wear many times too fast, 10 to 30 % of its life while less than 2 TB are written, and can only \
               be read when nothing is left; the update does not give back what was counted",
        fixed_in: "1B2QJXD7",
        maker: SAMSUNG,
        source: "https://rossmanngroup.com/problems/samsung-990-pro-firmware-degradation",
    },
    Fault {
        models: &[
            "VO0480JFDGT",
            "VO0960JFDGU",
            "VO1920JFDGV",
            "VO3840JFDHA",
            "MO0400JFFCF",
            "MO0800JFFCH",
            "MO1600JFFCK",
            "MO3200JFFCL",
        ],
        revisions: &["HPD0", "HPD1", "HPD2", "HPD3", "HPD4", "HPD5", "HPD6", "HPD7"],
        does: "the drive fails for good after 32768 hours of power, with all that is on it; drives that were put in together fail together",
        fixed_in: "HPD8",
        maker: HPE,
        source: "https://www.zdnet.com/article/hpe-tells-users-to-patch-ssds-to-prevent-failure-after-32768-hours-of-operation/",
    },
    Fault {
        models: &["EK0800JVYPN", "EO1600JVYPP", "MK0800JVYPQ", "MO1600JVYPR"],
        revisions: &["HPD0", "HPD1", "HPD2", "HPD3", "HPD4", "HPD5", "HPD6"],
        does: "the drive fails for good after 40000 hours of power, with all that is on it; drives that were put in together fail together",
        fixed_in: "HPD7",
        maker: HPE,
        source: "https://servethehome.com/?p=42059",
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
        let of = |fault: &'static Fault| {
            let own = fault.models.iter().find(|own| model.starts_with(**own))?;
            fault.revisions.contains(&firmware).then_some((*own, fault))
        };
        let Some((model, fault)) = TABLE.iter().find_map(of) else { continue };
        round.find(
            finding(
                Warning,
                &place,
                format!("firmware {firmware} of the {model} is known to be at fault"),
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
