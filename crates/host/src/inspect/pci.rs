//! The PCI devices that matter to storage: bridges, storage controllers, and network cards where storage is remote.

use std::collections::BTreeMap;

use terms::Bytes;
use terms::inventory::{Interrupt, Link, LinkErrors, Payload, PciDetail, PciDevice, PciRole, Readout};

use super::config_space::{self, Express};
use super::source::Source;

/// Where devices are.
const DEVICES: &str = "/sys/bus/pci/devices";
/// Names of slots with the addresses of what is in them.
const SLOTS: &str = "/sys/bus/pci/slots";

/// Which devices are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Network cards too: some drives are behind them.
    pub(super) network: bool,
    /// Everything about each, and not only what every record has.
    pub(super) detail: bool,
}

/// The devices in the order of their addresses.
pub(super) fn read(source: &Source, wanted: Wanted) -> Vec<PciDevice> {
    let slots = if wanted.detail { slots(source) } else { BTreeMap::new() };
    source.listed(DEVICES).into_iter().filter_map(|address| device(source, wanted, &slots, address)).collect()
}

/// Is it an address, such as `0000:01:00.0`?
pub(crate) fn is_address(part: &str) -> bool {
    // Domains have four digits, or more behind some hypervisors and volume management devices.
    let Some((domain, rest)) = part.split_once(':') else { return false };
    let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let rest = rest.as_bytes();
    domain.len() >= 4 && hex(domain) && rest.len() == 7 && rest[2] == b':' && rest[5] == b'.'
}

/// The bus a device is on, or the one behind a bridge: `0000:01:00` of `0000:01:00.0`.
fn without_function(address: &str) -> &str {
    address.rsplit_once('.').map_or(address, |(device, _)| device)
}

fn device(source: &Source, wanted: Wanted, slots: &BTreeMap<String, String>, address: String) -> Option<PciDevice> {
    let directory = format!("{DEVICES}/{address}");
    let told = |file: &str| source.told(&format!("{directory}/{file}"));
    let class = told("class").unwrap_or_default().trim_start_matches("0x").to_owned();
    let kind = kind(&class, wanted)?;
    let config = source.bytes(&format!("{directory}/config"));
    let express = express(&config);
    let silent = is_silent(&config, told("revision").as_deref());
    let role = match kind {
        Kind::Bridge => bridge_role(source, &directory, &express),
        Kind::Endpoint(role) => role,
    };
    let number = |text: Option<String>| text.unwrap_or_default().trim_start_matches("0x").to_owned();
    let id = format!("{}:{}", number(told("vendor")), number(told("device")));
    let above = |parent: &str| {
        let told = |file: &str| number(source.told(&format!("{DEVICES}/{parent}/{file}")));
        format!("{}:{}", told("vendor"), told("device"))
    };
    let path = source.resolved(&directory).unwrap_or_default();
    let parent = path.rsplit('/').nth(1).filter(|part| is_address(part));
    let plain =
        |speed: Option<String>, width: Option<String>| Some(format!("{} x{}", speed?.replace(" PCIe", ""), width?));
    Some(PciDevice {
        parent: parent.map(ToOwned::to_owned),
        role,
        id: id.clone(),
        link: plain(told("current_link_speed"), told("current_link_width")),
        max_link: plain(told("max_link_speed"), told("max_link_width")),
        detail: wanted.detail.then(|| {
            let slot = slots.get(without_function(&address)).cloned();
            let above = parent.map(above).unwrap_or_default();
            Box::new(detail(source, &directory, Parts { id, above, class, kind, express, silent, slot }))
        }),
        address,
    })
}

/// What a device is to storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bridge,
    Endpoint(PciRole),
}

/// By class and subclass (PCI Code and ID Assignment Specification, 1). `None` for what is not wanted.
fn kind(class: &str, wanted: Wanted) -> Option<Kind> {
    Some(match class.get(..4)? {
        "0604" => Kind::Bridge,
        "0108" => Kind::Endpoint(PciRole::Nvme),
        "0106" => Kind::Endpoint(PciRole::Sata),
        "0107" if wanted.detail => Kind::Endpoint(PciRole::Sas),
        "0104" if wanted.detail => Kind::Endpoint(PciRole::Raid),
        "0107" | "0104" | "0100" | "0180" => Kind::Endpoint(PciRole::Other),
        network if wanted.network && network.starts_with("02") => Kind::Endpoint(PciRole::Network),
        _ => return None,
    })
}

fn express(config: &Readout<Option<Vec<u8>>>) -> Readout<Option<Express>> {
    config.as_ref().and_then(|config| match config.as_deref() {
        None => Readout::unknown("it shows no configuration space"),
        Some(bytes) => match config_space::read(bytes) {
            None if bytes.len() <= config_space::PUBLIC => {
                Readout::unknown("only root can read more than 64 bytes of the configuration space")
            }
            express => Readout::Known(express),
        },
    })
}

/// The type of a port. Without the capability, the names of the port's services tell it: `ADDRESS:pcieTNN`, where T is
/// the type less 4 (`get_descriptor_id` of the kernel's `drivers/pci/pcie/portdrv.c`).
fn bridge_role(source: &Source, directory: &str, express: &Readout<Option<Express>>) -> PciRole {
    if let Some(Some(express)) = express.known() {
        return config_space::role(express.port_type);
    }
    let services = source.listed(directory);
    let kind = services.iter().find_map(|name| name.split_once(":pcie")?.1.get(..1)?.parse::<u8>().ok());
    kind.map_or(PciRole::Bridge, |kind| config_space::role(kind + 4))
}

struct Parts {
    id: String,
    /// That of the bridge above it.
    above: String,
    class: String,
    kind: Kind,
    express: Readout<Option<Express>>,
    silent: bool,
    slot: Option<String>,
}

/// Does a device answer with nothing but ones? The kernel keeps the revision that it read when it found the device: ones there were ones
/// then, and what was posted of `lspci` has that of now.
fn is_silent(config: &Readout<Option<Vec<u8>>>, revision: Option<&str>) -> bool {
    let bytes = config.known().and_then(Option::as_deref).unwrap_or_default();
    revision == Some(ONES) || (!bytes.is_empty() && bytes.iter().all(|byte| *byte == u8::MAX))
}

/// A revision that is none.
pub(crate) const ONES: &str = "0xff";

fn detail(source: &Source, directory: &str, parts: Parts) -> PciDetail {
    let file = |name: &str| format!("{directory}/{name}");
    let slot = parts.express.known().copied().flatten().and_then(|express| express.slot).map(|slot| slot.to_string());
    let endpoint = matches!(parts.kind, Kind::Endpoint(_));
    let removable = source.told(&file("removable")).filter(|said| said != "unknown");
    let is_of_tunnels = [&parts.id, &parts.above].into_iter().any(|id| is_of_tunnels(id));
    let removable = removable.or_else(|| is_of_tunnels.then(|| "removable".to_owned()));
    let link = |which: &str| {
        let read = link(source, &file(&format!("{which}_link_speed")), &file(&format!("{which}_link_width")));
        told_by_tunnel(read, removable.as_deref())
    };
    PciDetail {
        class: parts.class,
        driver: source.resolved_name(&file("driver")),
        link: link("current"),
        best: link("max"),
        payload: parts.express.map(|express| express.map(|Express { payload, .. }| -> Payload { payload })),
        // -1 where the firmware tells none.
        numa_node: source.told(&file("numa_node")).and_then(|node| node.parse().ok()),
        slot: parts.slot.or(slot),
        removable,
        silent: parts.silent,
        errors: errors(source, directory),
        d3cold_allowed: source.number::<u8>(&file("d3cold_allowed")).map(|flag| flag.map(|flag| flag == 1)),
        link_power_saving: power_saving(source, &file("link")),
        interrupts: if endpoint { interrupts(source, &file("msi_irqs")) } else { Readout::Known(Vec::new()) },
        ..PciDetail::default()
    }
}

/// What a link through a tunnel (Thunderbolt, USB4) tells is made up: 2.5 GT/s, whatever the tunnel carries (USB4 Specification, "PCIe
/// tunneling"). Ports that can be pulled out, as the firmware says, hang on one.
fn told_by_tunnel(link: Readout<Option<Link>>, removable: Option<&str>) -> Readout<Option<Link>> {
    match link {
        Readout::Known(Some(link)) if removable == Some("removable") && link.speed <= MADE_UP => {
            Readout::unknown("it goes through a tunnel, which does not tell its speed")
        }
        link => link,
    }
}

/// Kernels before 5.14 and firmware that says nothing leave it to the number of the device, or of the bridge above it.
fn is_of_tunnels(id: &str) -> bool {
    id.strip_prefix("8086:").is_some_and(|device| TUNNEL_BRIDGES.contains(&device))
}

/// Bridges of Intel's Thunderbolt and USB4 controllers, from Light Ridge to Barlow Ridge (`nhi.h` of the kernel's `drivers/thunderbolt`,
/// and `pci.ids`).
const TUNNEL_BRIDGES: [&str; 22] = [
    "1513", "151a", "1547", "1548", "1549", "157e", "1567", "1569", "156b", "156d", "1576", "1578", "15c0", "15d3",
    "15da", "15e7", "15ea", "15ef", "1136", "0b26", "5786", "57a4",
];

/// In millions of transfers in a second on each lane.
const MADE_UP: u32 = 2_500;

/// A link from its two files. Both are absent for what has no link, and say `Unknown` and 0 where none is up.
fn link(source: &Source, speed: &str, width: &str) -> Readout<Option<Link>> {
    source.text(speed).and_then(|speed| {
        source.text(width).map(|width| speed.zip(width).and_then(|(speed, width)| Link::parse(&speed, &width)))
    })
}

/// Files with a line for each kind of error and one with the sum.
fn errors(source: &Source, directory: &str) -> Readout<Option<LinkErrors>> {
    let mut all = LinkErrors::default();
    for (file, total) in [
        ("aer_dev_correctable", &mut all.correctable),
        ("aer_dev_nonfatal", &mut all.nonfatal),
        ("aer_dev_fatal", &mut all.fatal),
    ] {
        let text = match source.text(&format!("{directory}/{file}")) {
            Readout::Known(Some(text)) => text,
            Readout::Known(None) => return Readout::Known(None),
            Readout::Unknown(why) => return Readout::Unknown(why),
        };
        for (kind, number) in text.lines().filter_map(|line| line.rsplit_once(' ')) {
            let number: u64 = number.parse().unwrap_or(0);
            if kind.starts_with("TOTAL_ERR") {
                *total = number;
            } else if number > 0 {
                *all.kinds.entry(kind.to_owned()).or_insert(0) += number;
            }
        }
    }
    Readout::Known(Some(all))
}

fn power_saving(source: &Source, directory: &str) -> Readout<Vec<String>> {
    source.names(directory).map(|names| {
        let on = |name: &String| source.told(&format!("{directory}/{name}")).as_deref() == Some("1");
        names.unwrap_or_default().into_iter().filter(on).collect()
    })
}

fn interrupts(source: &Source, directory: &str) -> Readout<Vec<Interrupt>> {
    source.names(directory).map(|names| {
        let mut numbers: Vec<u32> = names.unwrap_or_default().iter().filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        let cpus = |number| {
            let told = |file: &str| source.told(&format!("/proc/irq/{number}/{file}"));
            told("effective_affinity_list").or_else(|| told("smp_affinity_list"))
        };
        numbers.into_iter().filter_map(|number| Some(Interrupt { number, cpus: cpus(number)? })).collect()
    })
}

/// Slot names by the address of what is in them, without the function.
fn slots(source: &Source) -> BTreeMap<String, String> {
    let address = |slot: &String| source.told(&format!("{SLOTS}/{slot}/address"));
    source.listed(SLOTS).into_iter().filter_map(|slot| Some((address(&slot)?, slot))).collect()
}

/// What a SATA or SAS line carries, from what the kernel says of it, such as `6.0 Gbps` or `12.0 Gbit`: 8b/10b, hence a
/// tenth of its bits in bytes (Serial ATA 3.0, 7.2; SAS-3, 5.3). SAS-4 at 22.5 Gbit has another encoding.
pub(super) fn line_carries(rate: &str) -> Option<Bytes> {
    let giga: f64 = rate.split_whitespace().next()?.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked first")]
    (0.1..=12.0).contains(&giga).then(|| Bytes((giga * 1e8).round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_lines_are_understood() {
        assert!(is_address("0000:01:00.0") && is_address("10000:e1:00.0"));
        assert!(!is_address("pci0000:00") && !is_address("0000:01:00") && !is_address("nvme0"));
        assert_eq!(line_carries("6.0 Gbps"), Some(Bytes(600_000_000)));
        assert_eq!(line_carries("<unknown>"), None);
    }
}
