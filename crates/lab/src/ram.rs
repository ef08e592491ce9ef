//! RAM drives of the guest's own kernel (`brd`), found by order: they have no serial number.

use std::collections::BTreeMap;

use host::{Host, Remote};
use terms::{Cmd, LabDrive, LabDriveKind, LabSpec, Name};

use crate::error::LabError;

/// Makes the RAM drives of a guest; gives their nodes.
pub(crate) fn make(guest: &Remote, machine: &LabSpec) -> Result<BTreeMap<Name, String>, LabError> {
    let rams: Vec<&LabDrive> = machine.drives.iter().filter(|drive| drive.kind == LabDriveKind::Ram).collect();
    let Some(first) = rams.first() else { return Ok(BTreeMap::new()) };
    if rams.iter().any(|ram| ram.size != first.size) {
        return Err(LabError::Drives("RAM drives of one guest must all have the same size".to_owned()));
    }
    let (count, kib) = (format!("rd_nr={}", rams.len()), format!("rd_size={}", first.size.0 / 1024));
    guest.run_ok(&Cmd::new(["modprobe", "brd", &count, &kib, "max_part=8"]))?;
    Ok(rams.iter().enumerate().map(|(index, ram)| (ram.name.clone(), format!("/dev/ram{index}"))).collect())
}
