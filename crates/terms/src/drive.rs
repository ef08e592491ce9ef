//! Drives: those a study asks the lab for, and those found on a machine.

use serde::{Deserialize, Serialize};

use crate::name::Name;
use crate::units::Bytes;

/// A drive that the lab makes for a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabDrive {
    /// The name that stacks use.
    pub name: Name,
    /// What it appears as in the guest.
    pub kind: LabDriveKind,
    /// Capacity.
    #[serde(rename = "size_bytes")]
    pub size: Bytes,
    /// Logical block size; NVMe namespaces also offer the other of 512 and 4096.
    #[serde(rename = "lba_bytes")]
    pub lba: Bytes,
    /// Where it is plugged in. RAM drives have no port.
    pub port: Port,
}

/// What a lab drive appears as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabDriveKind {
    /// An NVMe controller with one namespace.
    Nvme,
    /// A disk on an AHCI controller.
    Sata,
    /// The guest kernel's own RAM drive (`brd`).
    Ram,
}

/// Where a lab drive is plugged in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Port {
    /// A root port of its own.
    Cpu,
    /// A downstream port of the PCIe switch with this number.
    Switch(u8),
}

/// A drive as found on a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drive {
    /// Kernel name of today, such as `nvme0n1`. Not an identity.
    pub kernel_name: String,
    /// Serial number, if the drive tells one.
    pub serial: Option<String>,
    /// World-wide or namespace identifier, if the drive tells one.
    pub wwid: Option<String>,
    /// Model, if told.
    pub model: Option<String>,
    /// Firmware revision, if told.
    pub firmware: Option<String>,
    /// `nvme`, `sata`, `ram`, `loop`, `virtio` or `other`.
    pub transport: String,
    /// Capacity.
    #[serde(rename = "size_bytes")]
    pub size: Bytes,
    /// Logical block size.
    #[serde(rename = "logical_block_bytes")]
    pub logical_block: Bytes,
    /// Physical block size.
    #[serde(rename = "physical_block_bytes")]
    pub physical_block: Bytes,
    /// Does it spin?
    pub rotational: bool,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    /// What the block layer believes of its volatile cache: `write back` or `write through`.
    pub write_cache: Option<String>,
    /// PCI address of its controller, if it has one.
    pub pci_address: Option<String>,
}

impl Drive {
    /// The device node of today.
    #[must_use]
    pub fn node(&self) -> String {
        format!("/dev/{}", self.kernel_name)
    }
}
