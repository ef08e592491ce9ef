//! From a machine that was found to what a prediction needs to know of it.

use terms::inventory::{Inventory, Link, PciDevice, PciRole, Readout};
use terms::machine::{DriveGroup, DriveKind, Machine, Memory, Path, Uplink};
use terms::{Bytes, Drive, DriveTransport, Name};

/// A machine from its inventory: links with their payload, shared links, drives, cores, memory, kernel.
///
/// An inventory knows no speed of a drive: those are of usual drives of the kind until somebody measures them.
#[must_use]
pub fn found(inventory: &Inventory) -> Machine {
    let threads = inventory.cpus.max(1);
    let cores = inventory.detail.as_ref().and_then(|detail| detail.cpu.cores.known().copied());
    let mut machine = Machine {
        name: if inventory.cpu_model.is_empty() { "this machine".to_owned() } else { inventory.cpu_model.clone() },
        kernel: kernel(&inventory.kernel),
        cores: cores.unwrap_or(threads).clamp(1, threads),
        threads,
        memory: memory(inventory),
        ..Machine::default()
    };
    for drive in &inventory.drives {
        if let Ok(name) = Name::new(drive.kernel_name.clone()) {
            let group = group(inventory, drive, name, &mut machine.uplinks);
            machine.drives.push(group);
        }
    }
    machine
}

fn kernel(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(['.', '-', '+']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn memory(inventory: &Inventory) -> Memory {
    let told = inventory.detail.as_ref().map(|detail| &detail.memory);
    let modules = told.and_then(|memory| memory.modules.known());
    Memory {
        channels: told.and_then(|memory| memory.channels.known().copied()).filter(|&channels| channels > 0),
        // All run as fast as the slowest.
        speed: modules.and_then(|modules| modules.iter().filter_map(|module| module.speed).min()),
        size: Some(inventory.memory).filter(|size| size.0 > 0),
        sustained: None,
    }
}

fn group(inventory: &Inventory, drive: &Drive, name: Name, uplinks: &mut Vec<Uplink>) -> DriveGroup {
    let mut group = DriveGroup::unknown(name, kind(drive));
    group.size = Some(drive.size).filter(|size| size.0 > 0);
    let told = drive.detail.as_ref().and_then(|detail| detail.write_cache_on.known().copied().flatten());
    group.rated.write_cache = told;
    let Some(controller) = drive.pci_address.as_deref().and_then(|address| inventory.pci_device(address)) else {
        return group;
    };
    if inventory.emulated.is_some() {
        // Emulated links have a speed and carry everything.
        return group;
    }
    group.link = link(controller);
    group.payload = payload(controller);
    group.behind = shared(inventory, controller, uplinks);
    group
}

fn kind(drive: &Drive) -> DriveKind {
    let optane = drive.model.as_deref().is_some_and(|model| model.to_lowercase().contains("optane"));
    match drive.transport {
        _ if optane => DriveKind::Optane,
        DriveTransport::Ram => DriveKind::Ram,
        // Drives of the kernel's own whose content is in memory (null_blk).
        _ if drive.kernel_name.starts_with("nullb") => DriveKind::Ram,
        _ if drive.rotational && drive.transport != DriveTransport::Virtio => DriveKind::Hdd,
        transport if transport.is_nvme() => DriveKind::Nvme,
        _ => DriveKind::SataSsd,
    }
}

fn link(device: &PciDevice) -> Option<Link> {
    device.detail.as_ref()?.link.known().copied().flatten()
}

fn payload(device: &PciDevice) -> Option<Bytes> {
    let detail = device.detail.as_ref()?;
    let carries = match &detail.carries {
        Readout::Known(Some(capacity)) if capacity.payload_known => Some(capacity.payload),
        _ => None,
    };
    carries.or_else(|| detail.payload.known().copied().flatten().map(|payload| payload.current))
}

/// The nearest link above a controller that others hang under too: that of a switch, or of a part of the chipset.
fn shared(inventory: &Inventory, controller: &PciDevice, uplinks: &mut Vec<Uplink>) -> Option<Name> {
    let mut above = controller.parent.as_deref();
    let mut hops = 0;
    while let Some(bridge) = above.and_then(|address| inventory.pci_device(address))
        && hops < 16
    {
        let chipset = bridge.detail.as_ref().is_some_and(|detail| detail.chipset.is_some());
        if (bridge.role == PciRole::SwitchUpstream || chipset)
            && let Some(link) = link(bridge)
        {
            // A colon is no part of a name.
            let name = Name::new(bridge.address.replace(':', "-")).ok()?;
            if uplinks.iter().all(|uplink| uplink.name != name) {
                let path = Path::Pcie { link, payload: payload(bridge) };
                uplinks.push(Uplink { name: name.clone(), path, behind: None });
                let further = shared(inventory, bridge, uplinks);
                if let Some(uplink) = uplinks.iter_mut().find(|uplink| uplink.name == name) {
                    uplink.behind = further;
                }
            }
            return Some(name);
        }
        above = bridge.parent.as_deref();
        hops += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use terms::inventory::PciDetail;

    use super::*;

    fn device(address: &str, parent: Option<&str>, role: PciRole, lanes: u32) -> PciDevice {
        let link = Readout::Known(Some(Link { speed: 8_000, lanes }));
        PciDevice {
            address: address.to_owned(),
            parent: parent.map(str::to_owned),
            role,
            detail: Some(Box::new(PciDetail { link, ..PciDetail::default() })),
            ..PciDevice::default()
        }
    }

    #[test]
    fn drives_behind_a_switch_share_its_link() {
        let drive = |name: &str, at: &str| Drive {
            kernel_name: name.to_owned(),
            transport: DriveTransport::Nvme,
            pci_address: Some(at.to_owned()),
            ..Drive::default()
        };
        let inventory = Inventory {
            kernel: "6.1.0-9-amd64".to_owned(),
            cpus: 8,
            drives: vec![
                drive("nvme0n1", "0000:04:00.0"),
                drive("nvme1n1", "0000:05:00.0"),
                drive("nvme2n1", "0000:06:00.0"),
            ],
            pci: vec![
                device("0000:00:01.0", None, PciRole::RootPort, 16),
                device("0000:01:00.0", Some("0000:00:01.0"), PciRole::SwitchUpstream, 4),
                device("0000:02:00.0", Some("0000:01:00.0"), PciRole::SwitchDownstream, 4),
                device("0000:02:01.0", Some("0000:01:00.0"), PciRole::SwitchDownstream, 4),
                device("0000:04:00.0", Some("0000:02:00.0"), PciRole::Nvme, 4),
                device("0000:05:00.0", Some("0000:02:01.0"), PciRole::Nvme, 4),
                device("0000:00:02.0", None, PciRole::RootPort, 4),
                device("0000:06:00.0", Some("0000:00:02.0"), PciRole::Nvme, 4),
            ],
            ..Inventory::default()
        };
        let machine = found(&inventory);
        assert_eq!((machine.kernel, machine.threads, machine.uplinks.len()), (Some((6, 1)), 8, 1));
        let behind: Vec<bool> = machine.drives.iter().map(|group| group.behind.is_some()).collect();
        assert_eq!(behind, [true, true, false]);
        assert_eq!(machine.uplinks[0].name.as_str(), "0000-01-00.0");
    }
}
