//! The drives of a study before its first step: firmware, block and link of each beside what they should be, and
//! whatever else speaks against a drive or its way to the processor.

use terms::diagnosis::{Diagnosis, Finding, Place, Severity};
use terms::inventory::{Inventory, Readout};
use terms::preflight::{CheckState, DriveCheck};
use terms::{Bytes, Drive, Name};

use crate::diagnose;
use crate::machine::{Machine, carried, drive_place};

/// A drive of a study, as the machine knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyDrive {
    /// Its name in the study.
    pub name: Name,
    /// Its device node of today.
    pub node: String,
    /// The logical block that the study wants it to have.
    pub lba: Option<Bytes>,
}

/// The checks that have a row of their own for every drive, found or not.
const FIRMWARE: &str = "firmware-fault";
const FORMAT: &str = "lba-format";
const LINK: &str = "link-below-both-ends";

/// What there is to say of each drive before anything is built on it. The inventory is one with details, taken after
/// drives were set up.
#[must_use]
pub fn preflight(inventory: &Inventory, drives: &[StudyDrive]) -> Vec<DriveCheck> {
    let diagnosis = diagnose(inventory);
    drives.iter().flat_map(|wanted| of_drive(inventory, &diagnosis, wanted)).collect()
}

fn of_drive(inventory: &Inventory, diagnosis: &Diagnosis, wanted: &StudyDrive) -> Vec<DriveCheck> {
    let Some(drive) = inventory.drives.iter().find(|drive| drive.node() == wanted.node) else {
        let gone = unknown(&wanted.name, "drive", "the machine does not list it");
        return vec![DriveCheck { expected: wanted.node.clone(), ..gone }];
    };
    let machine = inventory.detail.as_deref().map(|detail| Machine::new(inventory, detail));
    let mut rows = vec![firmware(diagnosis, wanted, drive), block(diagnosis, wanted, drive)];
    let mut own = vec![drive_place(drive)];
    let mut above = Vec::new();
    if let Some((machine, address)) = machine.as_ref().zip(drive.pci_address.as_deref()) {
        rows.extend(link(machine, diagnosis, wanted, address));
        own.push(machine.link_place(address));
        above.extend(machine.way(address).iter().skip(1).map(|device| machine.link_place(&device.address)));
    }
    rows.extend(others(diagnosis, wanted, &own, &above));
    rows
}

/// A row of which nothing is known.
fn unknown(name: &Name, looked_at: &str, why: impl Into<String>) -> DriveCheck {
    DriveCheck {
        drive: name.clone(),
        looked_at: looked_at.to_owned(),
        expected: String::new(),
        found: String::new(),
        state: CheckState::Unknown,
        why: why.into(),
        share: None,
    }
}

/// The row of something that a check has an answer to: what it found, why it could not tell, or that all is well.
fn row(diagnosis: &Diagnosis, check: &str, place: &Place, plain: DriveCheck) -> DriveCheck {
    let found = |of: &&Finding| of.check == check && of.place == *place;
    if let Some(finding) = diagnosis.findings.iter().find(found) {
        return DriveCheck { state: CheckState::Off, why: finding.why.clone(), ..plain };
    }
    let blind = [place, &Place::machine()];
    match diagnosis.unknown.iter().find(|of| of.check == check && blind.contains(&&of.place)) {
        Some(unknown) => DriveCheck { state: CheckState::Unknown, why: unknown.reason.clone(), ..plain },
        None => DriveCheck { state: CheckState::AsExpected, ..plain },
    }
}

fn firmware(diagnosis: &Diagnosis, wanted: &StudyDrive, drive: &Drive) -> DriveCheck {
    let told = [drive.model.as_deref(), drive.firmware.as_deref()];
    let told: Vec<&str> = told.into_iter().flatten().map(str::trim).collect();
    let plain = DriveCheck {
        expected: "no known fault".to_owned(),
        found: told.join(", "),
        ..unknown(&wanted.name, "firmware", "")
    };
    row(diagnosis, FIRMWARE, &drive_place(drive), plain)
}

/// The block that the study asks for; where it asks for none, whether the drive offers a better one.
fn block(diagnosis: &Diagnosis, wanted: &StudyDrive, drive: &Drive) -> DriveCheck {
    let now = drive.logical_block;
    let plain = DriveCheck { found: now.to_string(), ..unknown(&wanted.name, "block", "") };
    match wanted.lba {
        Some(asked) if asked == now => {
            DriveCheck { expected: asked.to_string(), state: CheckState::AsExpected, ..plain }
        }
        Some(asked) => DriveCheck {
            expected: asked.to_string(),
            state: CheckState::Off,
            why: "it was to be formatted, and has another block all the same".to_owned(),
            ..plain
        },
        None => row(
            diagnosis,
            FORMAT,
            &drive_place(drive),
            DriveCheck { expected: "the best it offers".to_owned(), ..plain },
        ),
    }
}

/// The drive's own link; `None` where it has none.
fn link(machine: &Machine, diagnosis: &Diagnosis, wanted: &StudyDrive, address: &str) -> Option<DriveCheck> {
    let lane = machine.links().into_iter().find(|lane| lane.device.address == address)?;
    let plain = unknown(&wanted.name, "link", "");
    let best = [&lane.detail.best, &lane.port.detail.as_deref()?.best];
    let [Readout::Known(Some(device)), Readout::Known(Some(port))] = best else {
        return Some(DriveCheck { why: "what its ends can do is not told".to_owned(), ..plain });
    };
    let Readout::Known(Some(now)) = &lane.detail.link else {
        return Some(DriveCheck { why: "what it runs at is not told".to_owned(), ..plain });
    };
    let both = device.common(*port);
    let rates = carried(*now, lane.detail).zip(carried(both, lane.detail));
    let plain = DriveCheck {
        expected: both.to_string(),
        found: now.to_string(),
        share: rates.map(|(now, both)| (now / both).min(1.0)),
        ..plain
    };
    Some(row(diagnosis, LINK, &machine.link_place(address), plain))
}

/// Whatever else is a warning or worse of the drive and its own link, or of a link further up.
fn others(diagnosis: &Diagnosis, wanted: &StudyDrive, own: &[Place], above: &[Place]) -> Vec<DriveCheck> {
    let has_row = |check: &str| [FIRMWARE, FORMAT, LINK].contains(&check);
    let concerns = |found: &&Finding| {
        let further = own.contains(&found.place) && !has_row(&found.check) || above.contains(&found.place);
        further && found.severity >= Severity::Warning
    };
    let row = |found: &Finding| DriveCheck {
        expected: "nothing to find".to_owned(),
        found: found.what.clone(),
        state: CheckState::Off,
        ..unknown(&wanted.name, &found.check, found.why.clone())
    };
    diagnosis.findings.iter().filter(concerns).map(row).collect()
}
