//! Drives: those a study asks the lab for, and those found on a machine.

use serde::{Deserialize, Serialize};

use crate::flash::FlashQueue;
use crate::inventory::{Health, NvmeNamespace, Readout};
use crate::name::Name;
use crate::speed::Speed;
use crate::spindle::Spindle;
use crate::units::{Bytes, BytesPerSecond, Iops, Nanos};

/// Operations and bytes in a second of the guest that a flash drive may be told under a virtual clock. Copying and answering
/// are the guest's work: of 594 MB/s (1900 MB/s at 3.2 G instructions/s) an eighth is missing
/// (docs/virtual-time.md).
const MOST: (f64, f64) = (50e3, 600e6);

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
    /// Size of the real drive that it stands for, where somebody said so: what is asked of years and bytes is asked of that.
    #[serde(default, rename = "stands_for_bytes", skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<Bytes>,
    /// Logical block size; NVMe namespaces also offer the other of 512 and 4096.
    #[serde(rename = "lba_bytes")]
    pub lba: Bytes,
    /// Where it is plugged in. RAM drives and remote ones have no port.
    pub port: Port,
    /// How fast it may be.
    #[serde(default, skip_serializing_if = "RateLimit::is_none")]
    pub limit: RateLimit,
    /// Network paths to it: 1 for all but remote drives.
    #[serde(default = "one_path")]
    pub paths: u8,
    /// What makes it as slow as a hard disk; only [`LabDriveKind::Hdd`] has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spindle: Option<Spindle>,
}

impl LabDrive {
    /// An NVMe drive with blocks of 512 bytes on a port of its own, as fast as it goes.
    #[must_use]
    pub fn new(name: Name, size: Bytes) -> Self {
        Self {
            name,
            kind: LabDriveKind::Nvme,
            size,
            stands_for: None,
            lba: Bytes(512),
            port: Port::Cpu,
            limit: RateLimit::default(),
            paths: one_path(),
            spindle: None,
        }
    }

    /// The same drive as another kind: what that kind cannot have is gone, what it has is the usual.
    #[must_use]
    pub fn as_kind(&self, kind: LabDriveKind) -> Self {
        if kind == self.kind {
            return self.clone();
        }
        let limit = match kind {
            // A head is as fast as its data sheet says.
            LabDriveKind::Ram | LabDriveKind::Hdd => RateLimit::default(),
            LabDriveKind::Flash => self.limit.of_reads(),
            _ => self.limit,
        };
        Self {
            name: self.name.clone(),
            kind,
            size: self.size,
            stands_for: self.stands_for,
            lba: if kind.has_blocks() { self.lba } else { Bytes(512) },
            port: if kind == LabDriveKind::Nvme { self.port.clone() } else { Port::Cpu },
            limit,
            paths: if kind == LabDriveKind::NvmeTcp { 2 } else { one_path() },
            spindle: (kind == LabDriveKind::Hdd).then(Spindle::default),
        }
    }

    /// The queue that it gets as a flash drive.
    #[must_use]
    pub fn flash_queue(&self) -> FlashQueue {
        let RateLimit { read, read_iops, .. } = self.limit;
        let bytes = read.map(|rate| BytesPerSecond(rate.as_f64()));
        FlashQueue::of(bytes, read_iops.map(|rate| Iops(f64::from(rate))), self.lba)
    }

    /// Can a guest have it in itself, without anything of this machine? A hard disk is held back by its head alone there.
    #[must_use]
    pub fn can_be_within(&self) -> bool {
        self.kind.in_guest() || self.kind == LabDriveKind::Hdd && self.limit.is_none()
    }

    /// Why the drive is too fast for a virtual clock; `None` where it is not.
    pub(crate) fn too_fast(&self, speed: Speed) -> Option<String> {
        let RateLimit { read, read_iops, .. } = self.limit;
        let (operations, bytes) = (speed.factor() * MOST.0, speed.factor() * MOST.1);
        let is_over = read_iops.is_some_and(|rate| f64::from(rate) > operations)
            || read.is_some_and(|rate| rate.as_f64() > bytes);
        (self.kind == LabDriveKind::Flash && is_over).then(|| {
            format!(
                "drive `{}` is faster than a processor of {speed} can follow: tell it at most {operations:.0} operations and {:.0} MB in a \
                 second, or give `cpu` more",
                self.name,
                bytes / 1e6
            )
        })
    }
}

/// How fast a lab drive or a link of the lab may be at most; what is not set is as fast as it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RateLimit {
    /// Bytes read in a second.
    #[serde(rename = "read_bytes_per_second", skip_serializing_if = "Option::is_none")]
    pub read: Option<Bytes>,
    /// Bytes written in a second.
    #[serde(rename = "write_bytes_per_second", skip_serializing_if = "Option::is_none")]
    pub write: Option<Bytes>,
    /// Reads in a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_iops: Option<u32>,
    /// Writes in a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_iops: Option<u32>,
}

impl RateLimit {
    /// Is nothing limited?
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// For a drive that has one speed for both directions: that of reads, or of writes where reads have none.
    #[must_use]
    pub fn of_reads(&self) -> Self {
        let (bytes, operations) = (self.read.or(self.write), self.read_iops.or(self.write_iops));
        Self { read: bytes, write: bytes, read_iops: operations, write_iops: operations }
    }
}

/// A PCIe switch of the lab whose link to the processor is slower than all drives behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabSwitch {
    /// Its number: [`Port::Switch`].
    pub number: u8,
    /// How fast all drives behind it may be together.
    pub limit: RateLimit,
}

const fn one_path() -> u8 {
    1
}

/// What a lab drive appears as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabDriveKind {
    /// An NVMe controller with one namespace.
    Nvme,
    /// A disk on an AHCI controller.
    Sata,
    /// A disk on an AHCI controller that takes as long as a head over turning platters.
    Hdd,
    /// The guest kernel's own RAM drive (`brd`).
    Ram,
    /// The guest kernel's own drive that answers after a while (`null_blk`).
    Flash,
    /// A namespace of a second guest, reached over NVMe/TCP.
    NvmeTcp,
}

impl LabDriveKind {
    /// Does the guest's own kernel have it, in the guest's memory, under either clock?
    #[must_use]
    pub const fn in_guest(self) -> bool {
        matches!(self, Self::Ram | Self::Flash)
    }

    /// Can it have blocks of 4 KiB?
    #[must_use]
    pub const fn has_blocks(self) -> bool {
        matches!(self, Self::Nvme | Self::NvmeTcp | Self::Flash)
    }

    /// Many of them, in words.
    #[must_use]
    pub const fn many(self) -> &'static str {
        match self {
            Self::Nvme => "NVMe drives",
            Self::Sata => "SATA drives",
            Self::Hdd => "hard disks",
            Self::Ram => "RAM drives",
            Self::Flash => "flash drives",
            Self::NvmeTcp => "remote drives",
        }
    }
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
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
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
    /// How it is attached.
    pub transport: crate::DriveTransport,
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
    /// All else that is known of it; absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Box<DriveDetail>>,
}

/// All else that is known of a drive.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DriveDetail {
    /// Limits and settings of its queue are those of the node with the same kernel name.
    /// This is how many hardware queues it has.
    pub hardware_queues: Readout<u32>,
    /// NUMA node of its controller; `None` where none is told.
    pub numa_node: Option<u32>,
    /// Of NVMe: formats, paths, controllers.
    pub nvme: Option<NvmeNamespace>,
    /// Health, of the controller for NVMe; `Known(None)` where drives of its kind have none to tell (RAM, loop, virtio).
    pub health: Readout<Option<Health>>,
    /// Is a volatile cache on, as the drive says? NVMe feature 6, SATA and SAS `hdparm -W` or the caching mode page as
    /// the kernel read it. `Known(None)`: it has none.
    pub write_cache_on: Readout<Option<bool>>,
    /// Temperature, from its log or from its sensor below `hwmon`.
    #[serde(rename = "temperature_celsius")]
    pub temperature: Readout<Option<i32>>,
    /// Speed of a SATA link, such as `6.0 Gbps`, or of a SAS one.
    pub line_rate: Option<String>,
    /// How long the kernel waits for a SATA or SAS drive before it resets it: `device/timeout`. `Known(None)`: of other
    /// drives.
    #[serde(rename = "command_timeout_ns")]
    pub command_timeout: Readout<Option<Nanos>>,
}

impl Drive {
    /// The device node of today.
    #[must_use]
    pub fn node(&self) -> String {
        format!("/dev/{}", self.kernel_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_kind_keeps_what_it_can_have_and_nothing_else() {
        let limit = RateLimit { read_iops: Some(100), ..RateLimit::default() };
        let plain = LabDrive::new(Name::new("a").unwrap(), Bytes::mib(64));
        let drive = LabDrive { lba: Bytes(4096), port: Port::Switch(1), limit, ..plain };
        let hdd = drive.as_kind(LabDriveKind::Hdd);
        assert_eq!((hdd.lba, hdd.port, hdd.spindle), (Bytes(512), Port::Cpu, Some(Spindle::default())));
        assert!(hdd.limit.is_none());
        assert_eq!((hdd.size, hdd.paths), (Bytes::mib(64), 1));
        let ram = drive.as_kind(LabDriveKind::Ram);
        assert!(ram.limit.is_none() && ram.spindle.is_none());
        assert_eq!(drive.as_kind(LabDriveKind::NvmeTcp).paths, 2);
        let flash = drive.as_kind(LabDriveKind::Flash);
        assert_eq!((flash.lba, flash.limit.read_iops, flash.limit.write_iops), (Bytes(4096), Some(100), Some(100)));
        assert_eq!(drive.as_kind(LabDriveKind::Nvme), drive);
    }
}
