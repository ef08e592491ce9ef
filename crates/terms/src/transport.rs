//! How a drive is attached.

use std::fmt;

words! {
    /// How a drive is attached, by the names that `lsblk` and `nvme-cli` have for it.
    #[derive(PartialOrd, Ord, Default)]
    pub enum DriveTransport {
        /// NVMe over PCIe.
        Nvme = "nvme",
        /// NVMe over TCP.
        NvmeTcp = "nvme-tcp",
        /// NVMe over RDMA.
        NvmeRdma = "nvme-rdma",
        /// NVMe over Fibre Channel.
        NvmeFc = "nvme-fc",
        /// NVMe of this machine, through its own network target.
        NvmeLoop = "nvme-loop",
        /// SATA.
        Sata = "sata",
        /// SAS.
        Sas = "sas",
        /// USB.
        Usb = "usb",
        /// SCSI over TCP.
        Iscsi = "iscsi",
        /// A virtual machine's.
        Virtio = "virtio",
        /// Memory.
        Ram = "ram",
        /// A file.
        Loop = "loop",
        /// Anything else.
        #[default]
        #[serde(other)]
        Other = "other",
    }
}

words! {
    /// What carries the commands of an NVMe controller, as `/sys/class/nvme/*/transport` says it.
    #[derive(Default)]
    pub enum NvmeTransport {
        /// PCIe.
        Pcie = "pcie",
        /// TCP.
        Tcp = "tcp",
        /// RDMA.
        Rdma = "rdma",
        /// Fibre Channel.
        Fc = "fc",
        /// This machine's own network target.
        Loop = "loop",
        /// Something else, or not told.
        #[default]
        #[serde(other)]
        Unknown = "unknown",
    }
}

impl NvmeTransport {
    /// The transport of that word; unknown where there is none.
    #[must_use]
    pub fn from_word(word: &str) -> Self {
        Self::ALL.into_iter().find(|transport| transport.word() == word).unwrap_or_default()
    }

    /// How a drive behind it is attached.
    #[must_use]
    pub const fn of_drive(self) -> DriveTransport {
        match self {
            Self::Pcie | Self::Unknown => DriveTransport::Nvme,
            Self::Tcp => DriveTransport::NvmeTcp,
            Self::Rdma => DriveTransport::NvmeRdma,
            Self::Fc => DriveTransport::NvmeFc,
            Self::Loop => DriveTransport::NvmeLoop,
        }
    }
}

impl DriveTransport {
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
