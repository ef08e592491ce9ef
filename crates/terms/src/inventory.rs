//! A machine: processors, memory, PCIe tree, drives, what stands on them, kernel, programs.

mod block;
mod cpu;
mod filesystem;
mod kernel;
mod nvme;
mod pci;
mod reading;
mod smart;
mod volume;

use serde::{Deserialize, Serialize};

pub use block::{
    Backing, CryptMapping, DmRaid, IntegrityHeader, LuksHeader, Mapping, Md, MdMember, Meaning, Node, Partition,
    RequestQueue, Signature, Swap, Target, ThinPool,
};
pub use cpu::{Cpu, FirmwareMemory, MemoryModule, NumaNode};
pub use filesystem::{
    BtrfsDevice, BtrfsState, Dataset, DedupTable, FileSystem, Geometry, Mount, Pool, Scrub, Usage, Used, Vdev, is_image,
};
pub use kernel::{
    Arc, CRON_WORDS, ConfigLine, Configuration, CryptoDriver, Kernel, Module, OF_CONTROLLER, OF_PROGRAM, SystemdUnit,
    Taken, UnreadFile,
};
pub use nvme::{Health, LbaFormat, NvmeController, NvmeIdentity, NvmeNamespace, NvmePath};
pub use pci::{
    Bifurcation, Capacity, Inference, Interrupt, LEAST_PAYLOAD, Link, LinkErrors, PACKET_OVERHEAD, Payload, PciDetail,
    PciDevice, PciRole,
};
pub use reading::{NOT_LOOKED_AT, Readout};
pub use smart::{Attribute, Counter, Line, Recovery, SelfTest, Smart};
pub use volume::{LogicalVolume, PhysicalVolume, Segment, VolumeGroup};

use crate::drive::Drive;
use crate::units::Bytes;

/// A machine as it was found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
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
    /// All else that is known of the machine; absent in records of older versions and in those of runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Box<Detail>>,
}

/// All else that is known of a machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Detail {
    /// When it was read.
    pub taken: Taken,
    /// Was it read with the rights of root? Much of what is unknown is so because it was not.
    pub as_root: bool,
    /// Maker and name of the board or the whole machine, where the firmware tells.
    pub board: Option<String>,
    /// Processors.
    pub cpu: Cpu,
    /// What the firmware tells of memory.
    pub memory: FirmwareMemory,
    /// NUMA nodes.
    pub numa: Readout<Vec<NumaNode>>,
    /// NVMe controllers.
    pub controllers: Vec<NvmeController>,
    /// Block devices of every kind, drives included.
    pub nodes: Vec<Node>,
    /// LVM volume groups.
    pub volume_groups: Readout<Vec<VolumeGroup>>,
    /// File systems that were found on nodes.
    pub file_systems: Vec<FileSystem>,
    /// ZFS pools that are imported; empty where there is no ZFS.
    pub pools: Readout<Vec<Pool>>,
    /// Mounts of devices, datasets and networks; those of the kernel's own file systems are left out.
    pub mounts: Readout<Vec<Mount>>,
    /// How full mounted file systems are.
    pub usage: Readout<Vec<Usage>>,
    /// Swap space.
    pub swaps: Readout<Vec<Swap>>,
    /// The kernel.
    pub linux: Kernel,
    /// Services and timers that watch over storage: those that are there, whether active or not.
    pub units: Readout<Vec<SystemdUnit>>,
    /// Files in which people name drives.
    pub configuration: Configuration,
    /// Files and directories that were asked for and could not be read, whose content goes into facts that have no
    /// reason of their own: lists, numbers, names. What was read from elsewhere may be all there is, or not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<UnreadFile>,
}

impl Inventory {
    /// Why what a path and all below it say may not be all there is; `None` where everything of it was read.
    #[must_use]
    pub fn why_unread(&self, path: &str) -> Option<&str> {
        let below = |gap: &&UnreadFile| {
            gap.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.detail.as_deref()?.gaps.iter().find(below).map(|gap| gap.why.as_str())
    }

    /// A block device by its kernel name.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.detail.as_deref()?.nodes.iter().find(|node| node.name == name)
    }

    /// A PCI device by its address.
    #[must_use]
    pub fn pci_device(&self, address: &str) -> Option<&PciDevice> {
        self.pci.iter().find(|device| device.address == address)
    }
}

/// A program and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// The first line of what it says of itself; `None` where it is not installed.
    pub version: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inventory_of_an_older_version_is_still_read() {
        let old = r#"{"emulated":null,"kernel":"6.1","system":"","cpu_model":"","cpus":2,"aes":true,"memory_bytes":0,
            "drives":[{"kernel_name":"vda","serial":null,"wwid":null,"model":null,"firmware":null,"transport":"virtio",
            "size_bytes":1,"logical_block_bytes":512,"physical_block_bytes":512,"rotational":false,"scheduler":null,
            "write_cache":null,"pci_address":null}],
            "pci":[{"address":"0000:00:01.0","parent":null,"role":"nvme","id":"1:2","link":null,"max_link":null}],
            "programs":[]}"#;
        let inventory: Inventory = serde_json::from_str(old).unwrap();
        assert_eq!((inventory.detail.as_ref(), inventory.drives[0].detail.as_ref()), (None, None));
        assert!(!serde_json::to_string(&inventory).unwrap().contains("detail"));
    }

    #[test]
    fn what_nobody_looked_at_is_unknown() {
        let node = Node { md: Some(Md::default()), ..Node::default() };
        assert_eq!(node.md.unwrap().degraded.why_unknown(), Some(NOT_LOOKED_AT));
        let detail: Detail = serde_json::from_str("{}").unwrap();
        assert_eq!(detail, Detail::default());
    }
}
