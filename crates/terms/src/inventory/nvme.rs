//! NVMe controllers: their subsystems, their health, what their namespaces could be formatted as.

use serde::{Deserialize, Serialize};

use super::{Readout, Smart};
use crate::units::{Bytes, Nanos};

/// An NVMe controller. Files are those below `/sys/class/nvme/NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NvmeController {
    /// Kernel name of today, such as `nvme0`.
    pub name: String,
    /// Its subsystem, such as `nvme-subsys0`.
    pub subsystem: Option<String>,
    /// The subsystem's qualified name.
    pub nqn: Option<String>,
    /// How paths are chosen where there are several: `numa`, `round-robin`, `queue-depth`.
    pub path_policy: Option<String>,
    /// What carries its commands.
    pub transport: crate::NvmeTransport,
    /// Where it is: a PCI address, or `traddr=…,trsvcid=…`.
    pub address: String,
    /// PCI address, of those on PCIe.
    pub pci_address: Option<String>,
    /// `live`, `connecting`, `dead` and so on.
    pub state: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// NUMA node; `None` where none is told.
    pub numa_node: Option<u32>,
    /// Queues, the admin queue included.
    pub queues: Readout<u32>,
    /// What it says of its abilities.
    pub identity: Readout<NvmeIdentity>,
    /// Its health.
    pub health: Readout<Health>,
    /// Is the volatile write cache on now? (`nvme get-feature -f 6`); `Known(None)` where it has none.
    pub write_cache_on: Readout<Option<bool>>,
    /// Longest time to come back from a power state that it may enter by itself: `power/pm_qos_latency_tolerance_us`.
    #[serde(rename = "latency_tolerance_ns")]
    pub latency_tolerance: Readout<Option<Nanos>>,
}

/// From `nvme id-ctrl`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NvmeIdentity {
    /// `vwc` bit 0: has it a volatile write cache?
    pub volatile_cache: bool,
    /// `fna` bit 0: does formatting one namespace format all?
    pub format_takes_all: bool,
    /// `sanicap`: ways in which it can be made to forget everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sanitize: Vec<crate::sanitize::Sanitize>,
    /// `apsta` bit 0: does it change power states by itself?
    pub autonomous_power: bool,
    /// Power states it has.
    pub power_states: u32,
    /// Namespaces it can have.
    pub namespaces: u32,
    /// `mdts`: largest transfer; `None` where it has no limit.
    #[serde(rename = "largest_transfer_bytes")]
    pub largest_transfer: Option<Bytes>,
    /// Total capacity, where told.
    #[serde(rename = "capacity_bytes")]
    pub capacity: Option<Bytes>,
    /// `wctemp`: composite temperature from which it warns, where told.
    #[serde(rename = "warning_celsius")]
    pub warning_temperature: Option<i32>,
    /// `cctemp`: composite temperature that is critical, where told.
    #[serde(rename = "critical_celsius")]
    pub critical_temperature: Option<i32>,
}

/// Health of a drive: from `nvme smart-log`, or from `smartctl`. SATA and SAS drives tell less, so much is optional.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Health {
    /// Critical warnings as a bit field: 1 spare, 2 temperature, 4 unreliable, 8 read-only, 16 backup power. A SATA or
    /// SAS drive whose overall assessment is "failed" has 4.
    pub critical_warning: u32,
    /// Composite temperature.
    #[serde(rename = "temperature_celsius")]
    pub temperature: Option<i32>,
    /// Spare capacity left.
    #[serde(rename = "spare_percent")]
    pub spare: Option<u32>,
    /// Spare capacity from which it warns.
    #[serde(rename = "spare_threshold_percent")]
    pub spare_threshold: Option<u32>,
    /// Life used, as the maker counts; may exceed 100.
    #[serde(rename = "used_percent")]
    pub used: Option<u32>,
    /// Read from it in all its life.
    #[serde(rename = "read_bytes")]
    pub read: Option<Bytes>,
    /// Written to it in all its life.
    #[serde(rename = "written_bytes")]
    pub written: Option<Bytes>,
    /// Hours under power.
    pub power_on_hours: Option<u64>,
    /// Times that power went away without notice.
    pub unsafe_shutdowns: Option<u64>,
    /// Errors of the medium; for SATA sectors that were given up and those that wait for it.
    pub media_errors: Option<u64>,
    /// Entries ever made in its error log.
    pub error_log_entries: Option<u64>,
    /// Time above the warning temperature.
    pub warning_temperature_minutes: Option<u64>,
    /// Time above the critical temperature.
    pub critical_temperature_minutes: Option<u64>,
    /// Times that it slowed down because of heat, both grades.
    pub thermal_slowdowns: Option<u64>,
    /// What only SATA and SAS drives tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smart: Option<Box<Smart>>,
}

/// A format that a namespace could have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LbaFormat {
    /// Its number, different from model to model.
    pub index: u32,
    /// Logical block.
    #[serde(rename = "data_bytes")]
    pub data: Bytes,
    /// Metadata for each block.
    #[serde(rename = "metadata_bytes")]
    pub metadata: Bytes,
    /// Relative performance: 0 is best, 3 is degraded.
    pub relative_performance: u32,
    /// Is it the one in use?
    pub in_use: bool,
}

/// What belongs to one namespace and not to its controller. From `nvme id-ns`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NvmeNamespace {
    /// Namespace identifier.
    pub nsid: Option<u32>,
    /// Formats that it could have.
    pub formats: Readout<Vec<LbaFormat>>,
    /// Type of the protection information in use, bits 2:0 of `dps`; 0 is none.
    pub protection: Readout<u32>,
    /// `metadata_bytes`: what each block carries beside its data; `None` before kernel 6.6.
    #[serde(rename = "metadata_bytes")]
    pub metadata: Readout<Option<Bytes>>,
    /// Ways to it, where the kernel joins several: one for each controller.
    pub paths: Vec<NvmePath>,
    /// Controllers through which it is reached.
    pub controllers: Vec<String>,
}

/// A way to a namespace.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NvmePath {
    /// Kernel name, such as `nvme0c1n1`.
    pub name: String,
    /// The controller it goes through.
    pub controller: String,
    /// `optimized`, `non-optimized`, `inaccessible`…
    pub state: Option<String>,
}
