//! Processors and memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Readout;
use crate::units::Bytes;

/// Processors, from `/proc/cpuinfo` and `/sys/devices/system/cpu`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    /// Sockets with a processor.
    pub sockets: Readout<u32>,
    /// Cores of all sockets.
    pub cores: Readout<u32>,
    /// Do cores run several threads? From `smt/active`.
    pub smt: Readout<bool>,
    /// Flags that matter to storage and are there, such as `aes`, `vaes`, `sha_ni`, `avx2`, `avx512f`, `pclmulqdq`.
    pub flags: Vec<String>,
    /// `scaling_governor` with the number of processors under each; empty where frequencies are not scaled.
    pub governors: Readout<BTreeMap<String, u32>>,
    /// `scaling_driver` of the first processor.
    pub frequency_driver: Readout<Option<String>>,
    /// `/sys/firmware/acpi/platform_profile`.
    pub platform_profile: Readout<Option<String>>,
    /// What the kernel does about each flaw, from `vulnerabilities/`; flaws that do not affect it are left out.
    pub mitigations: Readout<BTreeMap<String, String>>,
    /// Highest temperature that a processor sensor tells.
    #[serde(rename = "temperature_celsius")]
    pub temperature: Readout<Option<i32>>,
}

/// A NUMA node.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NumaNode {
    /// Its number.
    pub node: u32,
    /// Its processors as a list, such as `0-11,24-35`.
    pub cpus: String,
    /// Its memory.
    #[serde(rename = "memory_bytes")]
    pub memory: Bytes,
    /// Distances to all nodes, this one included, in node order.
    pub distances: Vec<u32>,
}

/// A memory slot with a module in it, as the firmware tells (`dmidecode -t memory`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryModule {
    /// The slot's name on the board.
    pub slot: String,
    /// Bank or channel, in the firmware's words.
    pub bank: String,
    /// Size.
    #[serde(rename = "size_bytes")]
    pub size: Bytes,
    /// Such as `DDR4`.
    pub kind: String,
    /// Transfers in a second that it runs at, in millions.
    #[serde(rename = "speed_mt_per_s")]
    pub speed: Option<u32>,
    /// Transfers in a second that it is rated for, in millions.
    #[serde(rename = "rated_mt_per_s")]
    pub rated: Option<u32>,
}

/// What the firmware tells of the memory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FirmwareMemory {
    /// Modules that are plugged in.
    pub modules: Readout<Vec<MemoryModule>>,
    /// Channels with a module, counted by the names of slots and banks. An inference: firmware names as it likes.
    pub channels: Readout<u32>,
}
