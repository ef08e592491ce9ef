//! How a drive is attached.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a drive is attached, by the names that `lsblk` and `nvme-cli` have for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriveTransport {
    /// NVMe over PCIe.
    Nvme,
    /// NVMe over TCP.
    NvmeTcp,
    /// NVMe over RDMA.
    NvmeRdma,
    /// NVMe over Fibre Channel.
    NvmeFc,
    /// NVMe of this machine, through its own network target.
    NvmeLoop,
    /// SATA.
    Sata,
    /// SAS.
    Sas,
    /// USB.
    Usb,
    /// SCSI over TCP.
    Iscsi,
    /// A virtual machine's.
    Virtio,
    /// Memory.
    Ram,
    /// A file.
    Loop,
    /// Anything else.
    #[default]
    #[serde(other)]
    Other,
}

impl DriveTransport {
    /// As records and tables write it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nvme => "nvme",
            Self::NvmeTcp => "nvme-tcp",
            Self::NvmeRdma => "nvme-rdma",
            Self::NvmeFc => "nvme-fc",
            Self::NvmeLoop => "nvme-loop",
            Self::Sata => "sata",
            Self::Sas => "sas",
            Self::Usb => "usb",
            Self::Iscsi => "iscsi",
            Self::Virtio => "virtio",
            Self::Ram => "ram",
            Self::Loop => "loop",
            Self::Other => "other",
        }
    }

    /// Does it speak NVMe, here or over a network?
    #[must_use]
    pub const fn is_nvme(self) -> bool {
        matches!(self, Self::Nvme) || self.is_nvme_of()
    }

    /// NVMe over something else than PCIe?
    #[must_use]
    pub const fn is_nvme_of(self) -> bool {
        matches!(self, Self::NvmeTcp | Self::NvmeRdma | Self::NvmeFc | Self::NvmeLoop)
    }

    /// Nothing between, no network, no USB bridge and no virtual machine, so that its firmware and cache can be asked?
    #[must_use]
    pub const fn is_direct(self) -> bool {
        matches!(self, Self::Nvme) || self.is_serial_line()
    }

    /// SATA or SAS: a line whose speed is told, and health by SMART?
    #[must_use]
    pub const fn is_serial_line(self) -> bool {
        matches!(self, Self::Sata | Self::Sas)
    }
}

impl fmt::Display for DriveTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_records() {
        for word in ["nvme", "nvme-tcp", "nvme-rdma", "nvme-fc", "nvme-loop", "sata", "sas", "usb", "iscsi", "ram"] {
            let transport: DriveTransport = serde_json::from_str(&format!("\"{word}\"")).unwrap();
            assert_eq!((transport.word(), transport.is_nvme()), (word, word.starts_with("nvme")));
        }
        assert_eq!(serde_json::from_str::<DriveTransport>("\"unheard-of\"").unwrap(), DriveTransport::Other);
    }
}
