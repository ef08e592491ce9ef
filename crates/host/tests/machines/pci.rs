//! PCI devices with their links and the part of their configuration space that matters.

use super::Machine;

/// Speed in GT/s as the kernel writes it, and width.
pub type Link = (&'static str, u32);

/// What a bridge is: the number that its PCI Express capability says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    Endpoint = 0,
    Root = 4,
    Upstream = 5,
    Downstream = 6,
}

/// A PCI device.
#[derive(Debug, Clone, Copy)]
pub struct Pci {
    pub class: &'static str,
    pub id: &'static str,
    pub port: Port,
    pub driver: &'static str,
    /// Link of today, and the best it can do; none for a part of the root complex.
    pub link: Option<(Link, Link)>,
    /// Largest payload: set, and able.
    pub payload: (u32, u32),
    pub numa: i32,
    /// Number of the slot that a port leads to.
    pub slot: u16,
    /// Correctable errors since boot.
    pub errors: u64,
}

impl Pci {
    pub const fn port(port: Port, id: &'static str, link: Link, best: Link) -> Self {
        Self {
            class: "0x060400",
            id,
            port,
            driver: "pcieport",
            link: Some((link, best)),
            payload: (256, 512),
            numa: -1,
            slot: 0,
            errors: 0,
        }
    }

    pub const fn nvme(id: &'static str, link: Link, best: Link) -> Self {
        Self { class: "0x010802", port: Port::Endpoint, driver: "nvme", ..Self::port(Port::Endpoint, id, link, best) }
    }

    pub const fn sata(id: &'static str) -> Self {
        Self { class: "0x010601", driver: "ahci", link: None, ..Self::nvme(id, ("", 0), ("", 0)) }
    }

    pub const fn payload(mut self, set: u32, able: u32) -> Self {
        self.payload = (set, able);
        self
    }

    pub const fn numa(mut self, node: i32) -> Self {
        self.numa = node;
        self
    }

    pub const fn slot(mut self, slot: u16) -> Self {
        self.slot = slot;
        self
    }

    pub const fn errors(mut self, errors: u64) -> Self {
        self.errors = errors;
        self
    }
}

impl Machine {
    /// Adds a device under another, or under a root bus such as `pci0000:00`; gives its directory.
    pub fn pci(&mut self, under: &str, address: &str, device: Pci) -> String {
        let directory = if under.starts_with('/') {
            format!("{under}/{address}")
        } else {
            format!("/sys/devices/{under}/{address}")
        };
        self.link(format!("/sys/bus/pci/devices/{address}"), &directory);
        let (vendor, id) = device.id.split_once(':').unwrap();
        for (file, value) in [
            ("class", device.class.to_owned()),
            ("vendor", format!("0x{vendor}")),
            ("device", format!("0x{id}")),
            ("numa_node", device.numa.to_string()),
            ("d3cold_allowed", "1".to_owned()),
        ] {
            self.file(format!("{directory}/{file}"), value);
        }
        if let Some((link, best)) = device.link {
            let speed = |speed: &str| if speed == "Unknown" { speed.to_owned() } else { format!("{speed} GT/s PCIe") };
            self.file(format!("{directory}/current_link_speed"), speed(link.0));
            self.file(format!("{directory}/current_link_width"), link.1);
            self.file(format!("{directory}/max_link_speed"), speed(best.0));
            self.file(format!("{directory}/max_link_width"), best.1);
            for kind in ["nonfatal", "fatal"] {
                self.file(
                    format!("{directory}/aer_dev_{kind}"),
                    format!("Undefined 0\nTOTAL_ERR_{} 0", kind.to_uppercase()),
                );
            }
            self.file(
                format!("{directory}/aer_dev_correctable"),
                format!("RxErr 0\nBadTLP {0}\nTOTAL_ERR_COR {0}", device.errors),
            );
        }
        self.link(format!("{directory}/driver"), format!("/sys/bus/pci/drivers/{}", device.driver));
        self.directory(format!("/sys/bus/pci/drivers/{}", device.driver));
        self.bytes(format!("{directory}/config"), configuration(device));
        directory
    }
}

/// 256 bytes with the PCI Express capability at 0x40.
fn configuration(device: Pci) -> Vec<u8> {
    let mut bytes = vec![0; 256];
    // A capability whose link is none is that of a part of the root complex.
    let bits = |size: u32| u8::try_from((size / 128).trailing_zeros()).unwrap();
    bytes[0x34] = 0x40;
    bytes[0x40] = 0x10;
    bytes[0x42] = 2 | (device.port as u8) << 4;
    bytes[0x43] = u8::from(device.slot > 0);
    bytes[0x44] = bits(device.payload.1);
    bytes[0x48] = bits(device.payload.0) << 5;
    bytes[0x56..0x58].copy_from_slice(&(device.slot << 3).to_le_bytes());
    bytes
}
