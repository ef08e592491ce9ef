//! What has to be known of a drive: sizes decide what fits.

use terms::{Bytes, Drive, LabDrive, LabSpec, Name};

/// What has to be known of a drive: sizes decide what fits and what can be proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriveSize {
    /// The name that stacks use.
    pub name: Name,
    /// Its size, as `blockdev --getsize64` tells it.
    pub size: Bytes,
    /// Logical block size.
    pub lba: Bytes,
    /// Is it a partition of the drive, which cannot be partitioned again?
    pub slice: bool,
}

impl DriveSize {
    /// The same for a partition of that size.
    #[must_use]
    pub fn sliced(&self, size: Bytes) -> Self {
        Self { size, slice: true, ..self.clone() }
    }

    /// One for each drive of a lab.
    #[must_use]
    pub fn of_lab(lab: &LabSpec) -> Vec<Self> {
        lab.drives.iter().map(Self::from).collect()
    }

    /// What is known of a drive found on a machine, under the name that the study gives it.
    #[must_use]
    pub fn of_drive(name: &Name, drive: &Drive) -> Self {
        Self { name: name.clone(), size: drive.size, lba: drive.logical_block, slice: false }
    }
}

impl From<&LabDrive> for DriveSize {
    fn from(drive: &LabDrive) -> Self {
        Self { name: drive.name.clone(), size: drive.size, lba: drive.lba, slice: false }
    }
}
