//! The PCIe tree: bridges, controllers, their links, and what a link can carry.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::Readout;
use crate::units::{Bytes, BytesPerSecond};

words! {
    /// What a PCI device is: the type of a port (PCI Express Base Specification, 7.5.3.2), or the class of a controller.
    #[derive(Default)]
    pub enum PciRole {
        /// A port of the processor or chipset.
        RootPort = "root port",
        /// The port of a switch towards the processor.
        SwitchUpstream = "switch upstream",
        /// A port of a switch towards a device.
        SwitchDownstream = "switch downstream",
        /// Another bridge, or a port whose type nobody tells.
        Bridge = "bridge",
        /// An NVMe controller.
        Nvme = "nvme",
        /// A SATA controller.
        Sata = "sata",
        /// A SAS controller.
        Sas = "sas",
        /// A RAID controller.
        Raid = "raid",
        /// A network card.
        Network = "network",
        /// Another storage controller.
        #[default]
        #[serde(other)]
        Other = "other",
    }
}

impl PciRole {
    /// A bridge, or a port that leads on?
    #[must_use]
    pub const fn is_bridge(self) -> bool {
        matches!(self, Self::RootPort | Self::SwitchUpstream | Self::SwitchDownstream | Self::Bridge)
    }
}

/// A bridge, a storage controller, or another device that shares a link with one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PciDevice {
    /// Address, such as `0000:01:00.0`.
    pub address: String,
    /// The bridge it hangs under, if any.
    pub parent: Option<String>,
    /// What it is.
    pub role: PciRole,
    /// Vendor and device in hexadecimal, such as `1b36:0010`.
    pub id: String,
    /// Link of today, such as `8.0 GT/s x4`.
    pub link: Option<String>,
    /// The best link it can do.
    pub max_link: Option<String>,
    /// All else that is known of it; absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Box<PciDetail>>,
}

/// All else that is known of a PCI device. Files are those below `/sys/bus/pci/devices/ADDRESS`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PciDetail {
    /// Class as six hexadecimal digits, such as `010802`.
    pub class: String,
    /// The kernel driver that holds it.
    pub driver: Option<String>,
    /// Link of today: `current_link_speed`, `current_link_width`. `Known(None)`: it has none (a part of the root
    /// complex), or none is up (an empty port).
    pub link: Readout<Option<Link>>,
    /// The best link it can do: `max_link_speed`, `max_link_width`.
    pub best: Readout<Option<Link>>,
    /// Largest payload of a packet, from the PCI Express capability in `config`, which mostly only root can read.
    pub payload: Readout<Option<Payload>>,
    /// NUMA node; `None` where the firmware tells none.
    pub numa_node: Option<u32>,
    /// Name of the physical slot that it is plugged in, or that a port leads to.
    pub slot: Option<String>,
    /// `removable`, `fixed` or `unknown`, where the firmware says. Links of tunnels (USB4) tell nothing.
    pub removable: Option<String>,
    /// Does it answer with nothing but ones? So does a device that lost its power or fell off its link.
    pub silent: bool,
    /// Errors since boot; `Known(None)` where the device counts none.
    pub errors: Readout<Option<LinkErrors>>,
    /// `d3cold_allowed`.
    pub d3cold_allowed: Readout<Option<bool>>,
    /// Power-saving states that its link may enter now, such as `l1_aspm`, from `link/`.
    pub link_power_saving: Readout<Vec<String>>,
    /// Interrupts with the processors that take them; of storage controllers only.
    pub interrupts: Readout<Vec<Interrupt>>,
    /// What its link (the one towards the processor) can carry in one direction.
    pub carries: Readout<Option<Capacity>>,
    /// What all storage under it could ask of it: the sum of what the links of the endpoints carry. Of ports only.
    #[serde(rename = "asked_bytes_per_second")]
    pub asked: Option<BytesPerSecond>,
    /// Is it one of several ports that one slot was split into? Concluded, not read.
    pub bifurcation: Option<Bifurcation>,
    /// Is it a part of the chipset, or does it hang under one? Concluded, not read.
    pub chipset: Option<Inference>,
}

/// Something concluded and not read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Inference {
    /// From what.
    pub because: String,
}

/// A slot that was split into several ports.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Bifurcation {
    /// All its ports, this one included.
    pub ports: Vec<String>,
    /// Lanes of all ports together.
    pub lanes: u32,
    /// From what it was concluded.
    pub because: String,
}

/// Speed and width of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Link {
    /// Transfers in a second on each lane, in millions: 2500, 5000, 8000, 16000, 32000, 64000.
    #[serde(rename = "speed_mt_per_s")]
    pub speed: u32,
    /// Lanes.
    pub lanes: u32,
}

/// Bytes that a packet needs besides its payload: 8 of framing, sequence number and checksum, 4 of common header, 12 of
/// a memory write's header with 64-bit address. A drive that is read sends such packets. Model of pcie-bench (Neugebauer
/// et al., SIGCOMM 2018), section 3; PCI Express Base Specification 2.2.
pub const PACKET_OVERHEAD: Bytes = Bytes(24);

/// The payload every device must be able to do (PCI Express Base Specification, 7.5.3.4), hence the least in force.
pub const LEAST_PAYLOAD: Bytes = Bytes(128);

impl Link {
    /// Reads what sysfs says, such as `8.0 GT/s PCIe` and `4`. `None` for `Unknown` and for width 0, which is no link.
    #[must_use]
    pub fn parse(speed: &str, width: &str) -> Option<Self> {
        let giga = speed.split_whitespace().next()?.parse::<f64>().ok()?;
        let lanes = width.trim().trim_start_matches('x').parse().ok().filter(|lanes| (1..=32).contains(lanes))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked first")]
        (1.0..=1024.0).contains(&giga).then(|| Self { speed: (giga * 1000.0).round() as u32, lanes })
    }

    /// Generation of PCI Express with that speed.
    #[must_use]
    pub const fn generation(self) -> Option<u32> {
        match self.speed {
            2_500 => Some(1),
            5_000 => Some(2),
            8_000 => Some(3),
            16_000 => Some(4),
            32_000 => Some(5),
            64_000 => Some(6),
            _ => None,
        }
    }

    /// Bits on the wire: 8b/10b in generations 1 and 2, 128b/130b in 3 to 5 (PCI Express Base Specification 4.2.1,
    /// 4.2.2). `None` for others: generation 6 has fixed-size flits and another arithmetic.
    #[must_use]
    pub fn raw(self) -> Option<BytesPerSecond> {
        let share = match self.generation()? {
            1 | 2 => 8.0 / 10.0,
            3..=5 => 128.0 / 130.0,
            _ => return None,
        };
        Some(BytesPerSecond(f64::from(self.speed) * 1e6 / 8.0 * share * f64::from(self.lanes)))
    }

    /// What is left for data in one direction, in packets of that payload. It leaves out flow control, which bulk
    /// reads do not show.
    #[must_use]
    pub fn carries(self, payload: Bytes) -> Option<BytesPerSecond> {
        let share = payload.as_f64() / (payload.as_f64() + PACKET_OVERHEAD.as_f64());
        self.raw().map(|raw| BytesPerSecond(raw.0 * share))
    }

    /// The faster speed and the larger width that both ends can do.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        Self { speed: self.speed.min(other.speed), lanes: self.lanes.min(other.lanes) }
    }

    /// No slower and no narrower than another.
    #[must_use]
    pub fn at_least(self, other: Self) -> Self {
        Self { speed: self.speed.max(other.speed), lanes: self.lanes.max(other.lanes) }
    }
}

impl fmt::Display for Link {
    /// `8 GT/s x4`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let speed = f64::from(self.speed) / 1000.0;
        f.pad(&format!("{speed} GT/s x{}", self.lanes))
    }
}

/// Largest payload of a packet: in force and possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Payload {
    /// In force (`DevCtl`).
    #[serde(rename = "current_bytes")]
    pub current: Bytes,
    /// Possible (`DevCap`).
    #[serde(rename = "maximum_bytes")]
    pub maximum: Bytes,
}

/// What a link can carry.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Capacity {
    /// In one direction.
    #[serde(rename = "bytes_per_second")]
    pub rate: BytesPerSecond,
    /// Payload that the rate is computed for: the smallest on the way to the processor.
    #[serde(rename = "payload_bytes")]
    pub payload: Bytes,
    /// Was the payload read? If not, [`LEAST_PAYLOAD`] was assumed and the link carries at least `rate`.
    pub payload_known: bool,
}

/// Errors of a link since boot: `aer_dev_correctable`, `aer_dev_nonfatal`, `aer_dev_fatal`. Only their growth means much.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkErrors {
    /// Corrected ones, of all kinds.
    pub correctable: u64,
    /// Not corrected, link stayed.
    pub nonfatal: u64,
    /// Not corrected, link lost.
    pub fatal: u64,
    /// Kinds that happened, such as `BadTLP`, with their number.
    pub kinds: BTreeMap<String, u64>,
}

/// An interrupt and the processors that take it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Interrupt {
    /// Its number.
    pub number: u32,
    /// Processors as a list, such as `0-3`, from `/proc/irq/N/effective_affinity_list`.
    pub cpus: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked by hand from the wire rates: GT/s / 8 × encoding × lanes × payload / (payload + 24), in MB/s.
    #[test]
    fn links_carry_what_packets_leave() {
        for (speed, lanes, payload, megabytes) in [
            ("2.5 GT/s PCIe", "1", 128, 210.5),
            ("5.0 GT/s PCIe", "2", 256, 914.3),
            ("8.0 GT/s PCIe", "4", 128, 3316.6),
            ("8.0 GT/s PCIe", "4", 256, 3600.9),
            ("16.0 GT/s PCIe", "4", 512, 7524.2),
            ("32.0 GT/s PCIe", "16", 256, 57614.1),
        ] {
            let carries = Link::parse(speed, lanes).and_then(|link| link.carries(Bytes(payload))).unwrap();
            assert!((carries.0 / 1e6 - megabytes).abs() < 0.1, "{speed} x{lanes}: {carries:?}");
        }
    }

    #[test]
    fn what_is_no_link_is_none() {
        for (speed, width) in [("Unknown", "255"), ("8.0 GT/s PCIe", "0"), ("", ""), ("Unknown speed", "4")] {
            assert_eq!(Link::parse(speed, width), None, "{speed} {width}");
        }
        assert_eq!(Link::parse("2.5 GT/s PCIe", "1").unwrap().to_string(), "2.5 GT/s x1");
        assert_eq!(Link { speed: 64_000, lanes: 4 }.raw(), None);
    }
}
