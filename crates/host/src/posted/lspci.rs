//! `lspci -vv`: one paragraph for each device, which begins with its address.

use super::kept::PciDevice;
use super::{Machine, Text};
use crate::inspect::ONES;

const DEVICES: &str = "/sys/bus/pci/devices";

/// The address at the beginning of a line, with its domain.
fn address(line: &str) -> Option<(String, &str)> {
    let (word, rest) = line.split_once(' ')?;
    let whole = if word.len() == 7 { format!("0000:{word}") } else { word.to_owned() };
    crate::inspect::is_pci_address(&whole).then_some((whole, rest))
}

/// `01:00.0 Non-Volatile memory controller: …`.
pub(super) fn begins(line: &str) -> bool {
    address(line).is_some_and(|(_, rest)| class(rest).is_some() || rest.contains(": "))
}

/// Class and subclass of what storage hangs on, by the name in the PCI ID database, or the number that `-nn` adds.
fn class(rest: &str) -> Option<&'static str> {
    const CLASSES: [(&str, &str, &str); 8] = [
        ("PCI bridge", "[0604]", "0x060400"),
        ("Non-Volatile memory controller", "[0108]", "0x010802"),
        ("SATA controller", "[0106]", "0x010601"),
        ("Serial Attached SCSI controller", "[0107]", "0x010700"),
        ("RAID bus controller", "[0104]", "0x010400"),
        ("SCSI storage controller", "[0100]", "0x010000"),
        ("Mass storage controller", "[0180]", "0x018000"),
        ("IDE interface", "[0101]", "0x010100"),
    ];
    let kind = rest.split(": ").next()?;
    CLASSES.iter().find(|(name, number, _)| kind.starts_with(name) || kind.contains(number)).map(|(_, _, class)| *class)
}

/// Links of each device that storage hangs on, and where bridges lead.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let lines = &text.lines;
    let starts: Vec<usize> = (0..lines.len()).filter(|at| begins(lines[*at])).collect();
    let mut devices: Vec<PciDevice> = Vec::new();
    for (number, start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(lines.len());
        let Some((address, rest)) = address(lines[*start]) else { continue };
        let Some(class) = class(rest) else { continue };
        devices.push(PciDevice::read(address, class, &lines[*start..end]));
    }
    let told = devices.len();
    devices.into_iter().for_each(|device| machine.pci(device));
    told
}

/// All devices, each below the ports that texts tell of.
pub(super) fn put_all(devices: &[PciDevice], machine: &mut Machine) {
    for device in devices {
        let mut way = vec![device.address.clone()];
        while let Some(above) = devices.iter().find(|above| way.last().is_some_and(|at| above.leads_to(at))) {
            if way.contains(&above.address) {
                break;
            }
            way.push(above.address.clone());
        }
        // A device on another bus than the first hangs under a port that the text does not have.
        let domain = device.address.split(':').next().unwrap_or_default().to_owned();
        let mut path = format!("/sys/devices/pci{domain}:00");
        way.iter().rev().for_each(|name| {
            path.push('/');
            path.push_str(name);
        });
        device.put(&path, machine);
        let is_of_tunnel = |name: &String| devices.iter().any(|above| above.address == *name && above.tunnels);
        if way.iter().any(is_of_tunnel) {
            machine.file(format!("{path}/removable"), "removable");
        }
    }
}

/// Words in names of bridges at the ends of tunnels (PCI ID database). What they lead to can be pulled out, as the firmware tells the
/// kernel and `lspci` does not tell.
const TUNNELS: [&str; 2] = ["Thunderbolt", "USB4"];

impl PciDevice {
    fn read(address: String, class: &'static str, lines: &[&str]) -> Self {
        let line = |key: &str| lines.iter().find_map(|line| line.trim_start().strip_prefix(key));
        let bus = |text: &str, key: &str| {
            let rest = text.split_once(key)?.1;
            u8::from_str_radix(rest.get(..2)?, 16).ok()
        };
        let buses = line("Bus: ").and_then(|text| Some((bus(text, "secondary=")?, bus(text, "subordinate=")?)));
        let express = lines.iter().find(|line| line.contains("] Express "));
        let role = express.and_then(|line| {
            let kinds = [("Root Port", 4), ("Upstream Port", 5), ("Downstream Port", 6)];
            kinds.iter().find(|(name, _)| line.contains(name)).map(|(_, role)| *role)
        });
        let id = lines.first().and_then(|line| numbers(line));
        let tunnels = lines.first().is_some_and(|line| TUNNELS.iter().any(|name| line.contains(name)));
        Self {
            address,
            class,
            buses,
            role,
            tunnels,
            silent: lines.first().is_some_and(|line| line.contains("(rev ff)"))
                && lines.iter().any(|line| line.contains("Unknown header type 7f")),
            id,
            now: line("LnkSta:").and_then(link),
            best: line("LnkCap:").and_then(link),
        }
    }

    /// One of which a text tells no more than where it is.
    pub(super) const fn placed(address: String, class: &'static str, buses: Option<(u8, u8)>) -> Self {
        Self { address, class, buses, role: None, tunnels: false, silent: false, id: None, now: None, best: None }
    }

    /// What another text tells of it besides. False where they cannot be of one device.
    pub(super) fn join(&mut self, other: Self) -> bool {
        let same = |one: &Option<(u8, u8)>, two: &Option<(u8, u8)>| one.is_none() || two.is_none() || one == two;
        let alike = |one: &Option<(String, String)>, two: &Option<(String, String)>| {
            one.is_none() || two.is_none() || one == two
        };
        let one = self.class == other.class
            && same(&self.buses, &other.buses)
            && alike(&self.now, &other.now)
            && alike(&self.best, &other.best);
        if one {
            self.buses = self.buses.or(other.buses);
            self.role = self.role.or(other.role);
            self.tunnels |= other.tunnels;
            self.silent |= other.silent;
            self.id = self.id.take().or(other.id);
            self.now = self.now.take().or(other.now);
            self.best = self.best.take().or(other.best);
        }
        one
    }

    /// Nothing is known of it but that it is there.
    pub(super) fn forget(&mut self) {
        (self.buses, self.role, self.now, self.best) = (None, None, None, None);
    }

    /// Is it the bridge right above a device?
    fn leads_to(&self, address: &str) -> bool {
        let parts = |address: &str| {
            let (domain, rest) = address.split_once(':')?;
            Some((domain.to_owned(), u8::from_str_radix(rest.get(..2)?, 16).ok()?))
        };
        match (self.buses, parts(&self.address), parts(address)) {
            (Some((first, _)), Some((own, _)), Some((domain, bus))) => own == domain && bus == first && bus > 0,
            _ => false,
        }
    }

    fn put(&self, path: &str, machine: &mut Machine) {
        machine.links.insert(format!("{DEVICES}/{}", self.address), path.to_owned());
        machine.directories.entry(DEVICES.to_owned()).or_default().push(self.address.clone());
        machine.file(format!("{path}/class"), self.class);
        if self.silent {
            machine.file(format!("{path}/revision"), ONES);
        }
        if let Some((vendor, device)) = &self.id {
            machine.file(format!("{path}/vendor"), format!("0x{vendor}"));
            machine.file(format!("{path}/device"), format!("0x{device}"));
        }
        for (link, speed, width) in
            [(&self.now, "current_link_speed", "current_link_width"), (&self.best, "max_link_speed", "max_link_width")]
        {
            let Some((rate, lanes)) = link else { continue };
            machine.file(format!("{path}/{speed}"), format!("{rate} GT/s PCIe"));
            machine.file(format!("{path}/{width}"), lanes.clone());
            machine.cite(format!("{DEVICES}/{}/{speed}", self.address));
        }
        // The services of a port are named for its type (`bridge_role` in `inspect/pci.rs`).
        if let Some(role) = self.role {
            let service = format!("{}:pcie{}01", self.address, role - 4);
            machine.directories.entry(path.to_owned()).or_default().push(service);
        }
    }
}

/// `[144d:a808]`, after the name.
fn numbers(line: &str) -> Option<(String, String)> {
    let words = line.split('[').skip(1).filter_map(|rest| rest.split_once(']')?.0.split_once(':'));
    let hex = |text: &str| text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    words
        .filter(|(vendor, device)| hex(vendor) && hex(device))
        .map(|(vendor, device)| (vendor.to_owned(), device.to_owned()))
        .next()
}

/// `Speed 8GT/s, Width x4` with words between and behind; older versions say `Speed 8GT/s (ok), Width x4 (ok)`.
fn link(text: &str) -> Option<(String, String)> {
    let number = |key: &str| {
        let rest = text.split_once(key)?.1;
        let number: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let end = rest.get(number.len()..)?;
        (!number.is_empty()).then_some((number, end.to_owned()))
    };
    let (speed, unit) = number("Speed ")?;
    let (lanes, _) = number("Width x")?;
    let known = ["2.5", "5", "8", "16", "32", "64"].contains(&speed.as_str()) && unit.starts_with("GT/s");
    let speed = if speed.contains('.') { speed } else { format!("{speed}.0") };
    // A cut number is another one: `x1` of `x16`.
    let width: u32 = lanes.parse().ok()?;
    (known && [1, 2, 4, 8, 12, 16, 32].contains(&width)).then_some((speed, lanes))
}
