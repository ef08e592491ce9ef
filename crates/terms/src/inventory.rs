//! A machine: processors, memory, PCIe tree, drives, kernel, programs.

use serde::{Deserialize, Serialize};

use crate::drive::Drive;
use crate::units::Bytes;

/// A machine as it was found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Inventory {
    /// Is it an emulated machine? Then no rate measured on it says anything of real drives.
    pub emulated: Option<String>,
    /// Kernel release.
    pub kernel: String,
    /// The distribution's own name for itself.
    pub system: String,
    /// Processor model.
    pub cpu_model: String,
    /// Logical processors.
    pub cpus: u32,
    /// Does the processor have AES instructions?
    pub aes: bool,
    /// Memory.
    #[serde(rename = "memory_bytes")]
    pub memory: Bytes,
    /// Drives.
    pub drives: Vec<Drive>,
    /// PCI bridges and storage controllers.
    pub pci: Vec<PciDevice>,
    /// Programs and the versions they tell.
    pub programs: Vec<Program>,
}

/// A bridge or a storage controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PciDevice {
    /// Address, such as `0000:01:00.0`.
    pub address: String,
    /// The bridge it hangs under, if any.
    pub parent: Option<String>,
    /// What it is: `root port`, `switch upstream`, `switch downstream`, `bridge`, `nvme`, `sata` or `other`.
    pub role: String,
    /// Vendor and device in hexadecimal, such as `1b36:0010`.
    pub id: String,
    /// Link of today, such as `8.0 GT/s x4`.
    pub link: Option<String>,
    /// The best link it can do.
    pub max_link: Option<String>,
}

/// A program and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// The first line of what it says of itself; `None` where it is not installed.
    pub version: Option<String>,
}
