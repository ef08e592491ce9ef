//! What a guest is booted with.

use std::path::{Path, PathBuf};

use terms::{LabDrive, LabDriveKind, LabSpec};

use crate::machine::Console;
use crate::saved::Saves;

/// What to boot, and with what.
#[derive(Debug, Clone)]
pub struct GuestSpec<'a> {
    /// Processors, memory and drives.
    pub machine: &'a LabSpec,
    /// Kernel modules that would be good to have: the choice among kernels.
    pub wanted_modules: &'a [String],
    /// This program's file: the guest's first process is the same.
    pub agent: &'a Path,
    /// This program's build id.
    pub build: &'a str,
    /// Directory for the directories of guests.
    pub base: PathBuf,
    /// Directory for what is worth keeping between guests: whether KVM works, the kernel unpacked.
    pub cache: PathBuf,
    /// Who talks with the guest's console.
    pub console: Console,
    /// Directory that [`Guest::cut_power`](crate::Guest::cut_power) filled: drives begin with what was on them when power went.
    pub drives_from: Option<&'a Path>,
    /// Where a guest under a virtual clock is saved for others like it, or begins as one that was; `None`: it boots.
    pub saves: Option<&'a Saves>,
    /// Its number among the hosts of the lab, from 0: [`boot`](crate::boot) begins with the first.
    pub host: u8,
}

impl GuestSpec<'_> {
    /// The number of its first drive among those of all hosts: every drive has a serial number of its own.
    pub(crate) fn first_drive(&self) -> usize {
        usize::from(self.host) * self.machine.drives.len()
    }
}

/// Is it a drive of the enclosure?
pub(crate) fn is_remote(drive: &LabDrive) -> bool {
    drive.kind == LabDriveKind::NvmeTcp
}
