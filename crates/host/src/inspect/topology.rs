//! What follows from the PCIe tree: what links carry and what is asked of them, split slots, the chipset.
//!
//! Rates are arithmetic. Split slots and chipsets are conclusions, and say from what they were drawn.

use std::collections::HashMap;

use terms::inventory::{
    Bifurcation, Capacity, Inference, Inventory, LEAST_PAYLOAD, Link, PciDetail, PciDevice, PciRole, Readout,
};
use terms::{Bytes, BytesPerSecond};

use super::pci::line_carries;

/// Adds to each device what follows from the whole tree.
pub(super) fn conclude(inventory: &mut Inventory) {
    let tree = Tree::of(&inventory.pci);
    let payloads: Vec<_> = (0..inventory.pci.len()).map(|at| tree.payload(&inventory.pci, at)).collect();
    let chipsets: Vec<_> = (0..inventory.pci.len()).map(|at| tree.chipset(&inventory.pci, at)).collect();
    for (at, device) in inventory.pci.iter_mut().enumerate() {
        let Some(detail) = device.detail.as_mut() else { continue };
        detail.carries = carries(detail, payloads[at]);
        detail.chipset = chipsets[at].clone();
    }
    let endpoint: Vec<_> = inventory.pci.iter().map(|device| endpoint_asks(device, inventory)).collect();
    let asked: Vec<_> = (0..inventory.pci.len()).map(|at| tree.asked(at, &endpoint)).collect();
    let splits = splits(&inventory.pci, &tree);
    for (at, device) in inventory.pci.iter_mut().enumerate() {
        let bridge = device.role.is_bridge();
        let split = splits.get(&at).cloned();
        let Some(detail) = device.detail.as_mut() else { continue };
        detail.asked = asked[at].filter(|_| bridge);
        detail.bifurcation = split;
    }
}

/// The link of today at the least payload of the way.
fn carries(detail: &PciDetail, payload: Option<Bytes>) -> Readout<Option<Capacity>> {
    detail.link.as_ref().and_then(|link| {
        let Some(link) = link else { return Readout::Known(None) };
        let reckoned = payload.unwrap_or(LEAST_PAYLOAD);
        match link.carries(reckoned) {
            Some(rate) => Readout::Known(Some(Capacity { rate, payload: reckoned, payload_known: payload.is_some() })),
            None => Readout::unknown(format!("what a link of {link} carries is not known here")),
        }
    })
}

/// The most that a storage controller's drives can send: what its link carries, or what the lines of its SATA and SAS
/// drives carry where that is less or where it has no link.
fn endpoint_asks(device: &PciDevice, inventory: &Inventory) -> Option<BytesPerSecond> {
    if device.role.is_bridge() || device.role == PciRole::Network {
        return None;
    }
    // SATA controllers are parts of chipsets, and tell of a link that is none: their drives' lines are what counts. Of one that
    // does not tell who made it nobody knows.
    let chipset = device.detail.as_ref().is_some_and(|detail| detail.chipset.is_some());
    let real = device.role != PciRole::Sata || !(chipset || device.id == NO_ID);
    let link = device.detail.as_ref().and_then(|detail| detail.carries.known().copied().flatten());
    let link = link.map(|capacity| capacity.rate.0).filter(|_| real);
    let under = inventory.drives.iter().filter(|drive| drive.pci_address.as_deref() == Some(&device.address));
    let lines = under.map(|drive| Some(line_carries(drive.detail.as_ref()?.line_rate.as_deref()?)?.as_f64()));
    let lines: Option<f64> = lines.sum::<Option<f64>>().filter(|sum| *sum > 0.0);
    let least = match (link, lines) {
        (Some(link), Some(lines)) => Some(link.min(lines)),
        (link, lines) => link.or(lines),
    };
    least.map(BytesPerSecond)
}

/// What stands for vendor and device where neither is told.
const NO_ID: &str = ":";

/// Who hangs under whom, by position in the list.
struct Tree {
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
}

impl Tree {
    fn of(devices: &[PciDevice]) -> Self {
        let places: HashMap<&str, usize> =
            devices.iter().enumerate().map(|(at, device)| (device.address.as_str(), at)).collect();
        let parent = |device: &PciDevice| places.get(device.parent.as_deref()?).copied();
        let parents: Vec<_> = devices.iter().map(parent).collect();
        let mut children = vec![Vec::new(); devices.len()];
        for (at, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent].push(at);
            }
        }
        Self { parents, children }
    }

    /// A device and those above it; ends also where parents name one another in a circle.
    fn up(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(at), |at| self.parents[*at]).take(self.parents.len())
    }

    /// The least payload on the way to the processor; `None` where one on it is not known.
    fn payload(&self, devices: &[PciDevice], at: usize) -> Option<Bytes> {
        let own = |at: usize| devices[at].detail.as_ref()?.payload.known().copied();
        let way: Option<Vec<_>> = self.up(at).map(own).collect();
        way?.into_iter().flatten().map(|payload| payload.current).min()
    }

    /// The sum of what the endpoints under it ask; `None` where one of them does not tell, or there is none.
    fn asked(&self, at: usize, endpoints: &[Option<BytesPerSecond>]) -> Option<BytesPerSecond> {
        let mut sum = None;
        let mut open = self.children[at].clone();
        let mut seen = vec![false; self.children.len()];
        while let Some(next) = open.pop() {
            if std::mem::replace(&mut seen[next], true) {
                continue;
            }
            open.extend(&self.children[next]);
            if let Some(rate) = endpoints[next] {
                sum = Some(sum.unwrap_or(0.0) + rate.0);
            }
        }
        sum.map(BytesPerSecond)
    }

    fn chipset(&self, devices: &[PciDevice], at: usize) -> Option<Inference> {
        self.up(at).find_map(|above| chipset_part(&devices[above])).map(|because| Inference { because })
    }
}

/// Upstream ports and SATA controllers of AMD's chipsets, as the PCI ID database (pci-ids.ucw.cz) names them.
const CHIPSETS: [(&str, &str); 10] = [
    ("1022:57ad", "X570"),
    ("1022:43b0", "X370"),
    ("1022:43b1", "X399"),
    ("1022:43c6", "400 series"),
    ("1022:43e9", "500 series"),
    ("1022:43f4", "600 series"),
    ("1022:43b5", "X370"),
    ("1022:43b7", "300 series"),
    ("1022:43c8", "400 series"),
    ("1022:43eb", "500 series"),
];

/// Why a device is a part of a chipset, if it is.
fn chipset_part(device: &PciDevice) -> Option<String> {
    if let Some((id, name)) = CHIPSETS.iter().find(|(id, _)| *id == device.id) {
        return Some(format!("{} is {id}, a part of AMD's {name} chipset", device.address));
    }
    // Intel puts what is in the platform controller hub on bus 0: root ports as devices 1b, 1c and 1d, SATA as 17 or 1f
    // (datasheets of the 100 to 700 series, "PCI devices and functions").
    let place = device.address.split_once(':').and_then(|(_, rest)| rest.strip_prefix("00:"))?.get(..2)?;
    let in_hub = match device.role {
        PciRole::RootPort => ["1b", "1c", "1d"].contains(&place),
        PciRole::Sata | PciRole::Raid => ["11", "17", "1f"].contains(&place),
        _ => false,
    };
    (device.id.starts_with("8086:") && in_hub).then(|| {
        format!(
            "{} is Intel's device {place} on bus 0, in the platform controller hub; its link to the processor (DMI) \
                 is shared and shows nowhere",
            device.address
        )
    })
}

/// Slots that were split: root ports that are functions of one device, of the same width, two or more, each with an
/// NVMe controller right under it, and none in a chipset.
fn splits(devices: &[PciDevice], tree: &Tree) -> HashMap<usize, Bifurcation> {
    let mut groups: HashMap<&str, Vec<(usize, Link)>> = HashMap::new();
    for (at, device) in devices.iter().enumerate().filter(|(_, device)| device.role == PciRole::RootPort) {
        let Some(detail) = device.detail.as_ref().filter(|detail| detail.chipset.is_none()) else { continue };
        let Some(best) = detail.best.known().copied().flatten() else { continue };
        if tree.children[at].iter().any(|child| devices[*child].role == PciRole::Nvme) {
            let function = device.address.rsplit_once('.').map_or(device.address.as_str(), |(place, _)| place);
            groups.entry(function).or_default().push((at, best));
        }
    }
    let mut out = HashMap::new();
    for (place, ports) in groups {
        let lanes: u32 = ports.iter().map(|(_, link)| link.lanes).sum();
        let width = ports[0].1.lanes;
        // A slot has 16 lanes at most; halves and quarters of it are what firmware offers.
        let halves = [4, 8].contains(&width) && ports.iter().all(|(_, link)| link.lanes == width) && lanes <= 16;
        if ports.len() < 2 || !halves {
            continue;
        }
        let because = format!(
            "{} root ports are functions of one device ({place}), each x{width} with an NVMe drive right under it; a \
             board that wires them to separate connectors looks the same",
            ports.len()
        );
        let names: Vec<String> = ports.iter().map(|(at, _)| devices[*at].address.clone()).collect();
        for (at, _) in ports {
            out.insert(at, Bifurcation { ports: names.clone(), lanes, because: because.clone() });
        }
    }
    out
}
