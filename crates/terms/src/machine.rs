//! A machine as a description: what its drives, links, cores and memory can do, on paper or as measured.
//!
//! An [`Inventory`](crate::inventory::Inventory) is what was found on a machine that is there; this is what a prediction
//! needs to know, and may be written for a machine that nobody has yet.

use serde::{Deserialize, Serialize};

use crate::inventory::Link;
use crate::name::Name;
use crate::units::{Bytes, BytesPerSecond, Iops, Nanos};
use crate::workload::Workload;

/// What a prediction needs to know of a machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Machine {
    /// What it is called in reports.
    pub name: String,
    /// Major and minor number of the kernel, where known.
    pub kernel: Option<(u32, u32)>,
    /// Its processor, where the name was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<Processor>,
    /// Cores of all sockets.
    pub cores: u32,
    /// Hardware threads of all cores.
    pub threads: u32,
    /// Memory.
    pub memory: Memory,
    /// Time of a core for one random read of 4 KiB from a raw NVMe drive, submission and completion together, where
    /// somebody measured it.
    #[serde(rename = "submit_ns")]
    pub submit: Option<Nanos>,
    /// AES-XTS of one core, where somebody measured it.
    #[serde(rename = "cipher_bytes_per_second")]
    pub cipher: Option<BytesPerSecond>,
    /// Links and ports that several drives share: switches, chipsets, networks.
    pub uplinks: Vec<Uplink>,
    /// Drives, in groups of equals.
    pub drives: Vec<DriveGroup>,
}

/// What a processor's name tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Processor {
    /// Its name, as its maker writes it.
    pub name: String,
    /// Instructions of one thread in a second, relative to a Xeon E5-1620 v3 (Haswell, 3.6 GHz).
    pub pace: f64,
    /// Rounds of AES for each cycle relative to Haswell.
    pub aes: f64,
    /// How many times as fast the kernel's AES-XTS is since Linux 6.10.
    #[serde(default = "same")]
    pub xts: f64,
    /// Has it instructions for SHA-256?
    pub sha: bool,
    /// Largest payload of a packet that its PCIe roots are left with, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Bytes>,
}

/// What an older record says of code that it does not know of.
const fn same() -> f64 {
    1.0
}

/// Main memory.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Memory {
    /// Channels that have a module.
    pub channels: Option<u32>,
    /// Size of all of it, where known.
    #[serde(rename = "size_bytes")]
    pub size: Option<Bytes>,
    /// Transfers in a second, in millions.
    #[serde(rename = "speed_mt_per_s")]
    pub speed: Option<u32>,
    /// What a copy of large blocks reaches on all cores, where somebody measured it.
    #[serde(rename = "sustained_bytes_per_second")]
    pub sustained: Option<BytesPerSecond>,
}

/// A path that several drives share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Uplink {
    /// Its name.
    pub name: Name,
    /// What it is.
    pub path: Path,
    /// The uplink that it hangs under, if any.
    pub behind: Option<Name>,
}

/// What a shared path is made of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Path {
    /// A PCIe link.
    Pcie {
        /// Speed and width.
        link: Link,
        /// Largest payload of a packet, where known.
        #[serde(rename = "payload_bytes")]
        payload: Option<Bytes>,
    },
    /// A link with given rates. A direction without one is unlimited.
    Told {
        /// Towards the processor.
        #[serde(rename = "read_bytes_per_second")]
        read: Option<BytesPerSecond>,
        /// From it.
        #[serde(rename = "write_bytes_per_second")]
        write: Option<BytesPerSecond>,
    },
    /// A network port.
    Network {
        /// Bits on the wire, in bytes per second and direction.
        #[serde(rename = "line_bytes_per_second")]
        line: BytesPerSecond,
        /// Payload of a packet.
        #[serde(rename = "payload_bytes")]
        payload: Bytes,
        /// Time there and back without load.
        #[serde(rename = "round_trip_ns")]
        round_trip: Nanos,
        /// Who moves the bytes.
        #[serde(default)]
        transport: Transport,
    },
}

/// There and back over TCP between two hosts at a switch, interrupts and wake-ups on both sides included: 30 to 80 µs in
/// published figures of NVMe over TCP at depth 1, less the drive.
pub const TCP_ROUND_TRIP: Nanos = Nanos(50_000);

/// Who moves bytes between a network port and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// The port.
    #[default]
    Rdma,
    /// The processors: NVMe over TCP, iSCSI.
    Tcp,
}

/// Equal drives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DriveGroup {
    /// Their name: the drive's own where there is one of them, else a number from 0 is put behind it.
    pub name: Name,
    /// How many.
    pub count: u32,
    /// What they are.
    pub kind: DriveKind,
    /// What is known of their speed.
    pub rated: Rated,
    /// Bytes of each, where known.
    #[serde(rename = "size_bytes", default)]
    pub size: Option<Bytes>,
    /// Bytes of a block of each, where they matter: those of a flash drive of the lab.
    #[serde(rename = "block_bytes", default, skip_serializing_if = "Option::is_none")]
    pub block: Option<Bytes>,
    /// Link of each, where it has one of its own.
    pub link: Option<Link>,
    /// Largest payload of a packet on it, where known.
    #[serde(rename = "payload_bytes")]
    pub payload: Option<Bytes>,
    /// The uplink that they hang under, if any.
    pub behind: Option<Name>,
    /// How far their figures may be believed.
    pub trust: Trust,
    /// What one of them gave, by itself, where somebody measured it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baseline: Vec<Baseline>,
}

/// A figure of one drive that somebody measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Under which workload.
    pub work: Workload,
    /// Through which file system, or raw.
    pub files: Option<BaselineFiles>,
    /// How many operations in a second.
    pub operations: Iops,
}

/// The file system that a single drive was measured through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaselineFiles {
    /// ext4.
    Ext4,
    /// XFS.
    Xfs,
}

impl DriveGroup {
    /// A group of one of which nothing is known.
    #[must_use]
    pub const fn unknown(name: Name, kind: DriveKind) -> Self {
        Self {
            name,
            count: 1,
            kind,
            rated: Rated::NOTHING,
            size: None,
            block: None,
            link: None,
            payload: None,
            behind: None,
            trust: Trust::Sheet,
            baseline: Vec::new(),
        }
    }

    /// The name of one of them, by its number from 0.
    #[must_use]
    pub fn member(&self, number: u32) -> String {
        if self.count == 1 { self.name.to_string() } else { format!("{}{number}", self.name) }
    }
}

/// What a drive is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriveKind {
    /// Flash on NVMe, for people at home.
    #[default]
    Nvme,
    /// Flash on NVMe that keeps its word through a power cut.
    NvmeEnterprise,
    /// Optane.
    Optane,
    /// Flash on SATA.
    SataSsd,
    /// Flash on SATA that keeps its word through a power cut.
    SataEnterprise,
    /// Flash on SAS.
    SasSsd,
    /// A hard disk, on SATA or SAS.
    #[serde(alias = "sas-hdd")]
    Hdd,
    /// Memory that looks like a drive.
    Ram,
}

impl DriveKind {
    /// In words.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nvme => "NVMe",
            Self::NvmeEnterprise => "NVMe for servers",
            Self::Optane => "Optane",
            Self::SataSsd => "SATA SSD",
            Self::SataEnterprise => "SATA SSD for servers",
            Self::SasSsd => "SAS SSD",
            Self::Hdd => "hard disk",
            Self::Ram => "RAM",
        }
    }
}

/// What is known of a drive's speed; what is not known is taken from a table, with wide intervals.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Rated {
    /// Large sequential reads.
    #[serde(rename = "read_bytes_per_second")]
    pub read: Option<BytesPerSecond>,
    /// Large sequential writes, while its cache has room.
    #[serde(rename = "write_bytes_per_second")]
    pub write: Option<BytesPerSecond>,
    /// Random reads of 4 KiB at a depth that keeps it busy.
    pub read_iops: Option<Iops>,
    /// Random writes of 4 KiB at a depth that keeps it busy, while its cache has room.
    pub write_iops: Option<Iops>,
    /// Large writes once its cache is full.
    #[serde(rename = "sustained_bytes_per_second")]
    pub sustained: Option<BytesPerSecond>,
    /// Random writes of 4 KiB once its cache is full.
    pub sustained_iops: Option<Iops>,
    /// What its cache takes before that.
    #[serde(rename = "cache_bytes")]
    pub cache: Option<Bytes>,
    /// One read of 4 KiB with nothing else under way.
    #[serde(rename = "read_latency_ns")]
    pub read_latency: Option<Nanos>,
    /// One small read in order with nothing else under way: the drive has it in its buffer before it is asked.
    #[serde(default, rename = "ordered_read_latency_ns")]
    pub ordered_latency: Option<Nanos>,
    /// One write of 4 KiB with nothing else under way.
    #[serde(rename = "write_latency_ns")]
    pub write_latency: Option<Nanos>,
    /// One flush.
    #[serde(rename = "flush_ns")]
    pub flush: Option<Nanos>,
    /// One small write past its cache (FUA).
    #[serde(default, rename = "fua_ns")]
    pub fua: Option<Nanos>,
    /// Is its volatile write cache on, or does it need none?
    pub write_cache: Option<bool>,
    /// Turns in a minute, of a hard disk.
    #[serde(default)]
    pub rpm: Option<u32>,
}

impl Rated {
    /// Nothing is known.
    pub const NOTHING: Self = Self {
        read: None,
        write: None,
        read_iops: None,
        write_iops: None,
        sustained: None,
        sustained_iops: None,
        cache: None,
        read_latency: None,
        ordered_latency: None,
        write_latency: None,
        flush: None,
        fua: None,
        write_cache: None,
        rpm: None,
    };
}

/// How far a drive's figures may be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// From its data sheet.
    #[default]
    Sheet,
    /// Measured on the drive itself.
    Measured,
    /// What holds the drive at them, such as the lab's throttles: one operation takes as long as any other.
    Held,
}
