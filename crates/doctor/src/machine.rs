//! A machine as checks walk over it: what stands on what, which drives are at the bottom, which link leads where.

use std::collections::{BTreeMap, BTreeSet};

use terms::command::quote;
use terms::diagnosis::Place;
use terms::inventory::{
    BtrfsDevice, CryptMapping, Detail, DmRaid, FileSystem, IntegrityHeader, Inventory, LEAST_PAYLOAD, Link, Md,
    Meaning, Mount, Node, NvmeController, PciDetail, PciDevice, PciRole, Readout, Target, ThinPool,
};
use terms::{Bytes, Drive, DriveTransport};

use crate::check::Round;

/// A machine.
#[derive(Debug)]
pub(crate) struct Machine<'a> {
    /// All that is known of it.
    pub(crate) inventory: &'a Inventory,
    /// The part of it that older records do not have.
    pub(crate) detail: &'a Detail,
    nodes: BTreeMap<&'a str, &'a Node>,
    drives: BTreeMap<&'a str, &'a Drive>,
    above: BTreeMap<&'a str, Vec<&'a Node>>,
}

/// A link of the PCIe tree that leads to storage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lane<'a> {
    /// Its lower end.
    pub(crate) device: &'a PciDevice,
    /// What is known of that.
    pub(crate) detail: &'a PciDetail,
    /// Its upper end: a root port or a port of a switch.
    pub(crate) port: &'a PciDevice,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(inventory: &'a Inventory, detail: &'a Detail) -> Self {
        let nodes: BTreeMap<&str, &Node> = detail.nodes.iter().map(|node| (node.name.as_str(), node)).collect();
        let mut above: BTreeMap<&str, Vec<&Node>> = BTreeMap::new();
        for node in &detail.nodes {
            for under in &node.on {
                above.entry(under.as_str()).or_default().push(node);
            }
        }
        let drives = inventory.drives.iter().map(|drive| (drive.kernel_name.as_str(), drive)).collect();
        Self { inventory, detail, nodes, drives, above }
    }

    // --- block devices ---

    pub(crate) fn node(&self, name: &str) -> Option<&'a Node> {
        self.nodes.get(name).copied()
    }

    pub(crate) fn drive(&self, name: &str) -> Option<&'a Drive> {
        self.drives.get(name).copied()
    }

    /// What stands right on a device.
    pub(crate) fn on_top_of(&self, name: &str) -> &[&'a Node] {
        self.above.get(name).map_or(&[], Vec::as_slice)
    }

    /// A device and all below it, each once. Devices that stand on one another in a circle do not make it endless.
    pub(crate) fn down(&self, name: &str) -> Vec<&'a Node> {
        let mut found: Vec<&Node> = self.node(name).into_iter().collect();
        let mut known: BTreeSet<&str> = found.iter().map(|node| node.name.as_str()).collect();
        let mut at = 0;
        while let Some(node) = found.get(at).copied() {
            for under in node.on.iter().filter_map(|under| self.node(under)) {
                if known.insert(&under.name) {
                    found.push(under);
                }
            }
            at += 1;
        }
        found
    }

    /// Kernel names of a device and all below it.
    pub(crate) fn names_below(&self, name: &'a str) -> BTreeSet<&'a str> {
        reached(name, |name| self.node(name).into_iter().flat_map(|node| &node.on).map(String::as_str).collect())
    }

    /// Kernel names of a device and all that stands on it, however far up.
    pub(crate) fn names_above(&self, name: &'a str) -> BTreeSet<&'a str> {
        reached(name, |name| self.on_top_of(name).iter().map(|node| node.name.as_str()).collect())
    }

    /// The array of the device mapper that a mapping is.
    pub(crate) fn raid_of(&self, node: &'a Node) -> Option<&'a DmRaid> {
        let targets = node.dm.as_ref()?.targets.known()?;
        targets.iter().find_map(|target| if let Meaning::Raid(raid) = &target.meaning { Some(raid) } else { None })
    }

    /// Devices at the bottom: those that stand on nothing.
    pub(crate) fn bottom(&self, name: &str) -> Vec<&'a Node> {
        self.down(name).into_iter().filter(|node| node.on.is_empty()).collect()
    }

    /// Does nothing under it spin? Where that is not known it is written down.
    pub(crate) fn is_flash(&self, round: &mut Round, place: &Place, name: &str) -> Option<bool> {
        let bottom = self.bottom(name);
        if bottom.is_empty() {
            round.unknown(place, "it is not known what it stands on");
            return None;
        }
        let is_hdd: Option<Vec<bool>> =
            bottom.iter().map(|node| round.ask(place, &node.queue.rotational).copied()).collect();
        Some(!is_hdd?.contains(&true))
    }

    /// Does a device have anything on it that somebody may want to keep?
    pub(crate) fn is_blank(&self, name: &str) -> bool {
        let signed = self.node(name).is_none_or(|node| node.signatures.known().is_none_or(|all| !all.is_empty()));
        !signed && self.on_top_of(name).is_empty() && !self.is_mounted(name)
    }

    /// Is a device, or its drive, known to be in use: by something on it, a mount, or as swap space?
    pub(crate) fn is_used(&self, name: &str) -> bool {
        let drive = self.node(name).filter(|node| node.partition.is_some()).and_then(|node| node.on.first());
        let is_partition = |node: &Node| node.partition.is_some();
        let all: Vec<&Node> = drive.map_or_else(Vec::new, |drive| self.on_top_of(drive).to_vec());
        let own = self.node(name).into_iter().chain(all);
        own.into_iter().any(|node| {
            let swaps = self.detail.swaps.known().into_iter().flatten();
            self.is_mounted(&node.name)
                || self.on_top_of(&node.name).iter().any(|above| !is_partition(above))
                || swaps.into_iter().any(|swap| swap.node.as_deref() == Some(&node.name))
        })
    }

    /// Is it known that a device holds something: a signature, partitions, or what is made of it?
    pub(crate) fn holds_something(&self, name: &str) -> bool {
        let signed = self.node(name).and_then(|node| node.signatures.known()).is_some_and(|all| !all.is_empty());
        signed || !self.on_top_of(name).is_empty() || self.is_used(name)
    }

    fn is_mounted(&self, name: &str) -> bool {
        let mounts = self.detail.mounts.known().into_iter().flatten();
        mounts.into_iter().any(|mount| mount.node.as_deref() == Some(name))
    }

    /// Arrays of md.
    pub(crate) fn arrays(&self) -> impl Iterator<Item = (&'a Node, &'a Md)> {
        self.detail.nodes.iter().filter_map(|node| Some((node, node.md.as_ref()?)))
    }

    /// Lines of tables that mean something of a kind. Where a table could not be read and may be of that kind, that is
    /// written down.
    fn lines<T>(
        &self,
        round: &mut Round,
        prefixes: &[&str],
        of: fn(&'a Meaning) -> Option<T>,
    ) -> Vec<(&'a Node, &'a Target, T)> {
        let mut found = Vec::new();
        for node in &self.detail.nodes {
            let Some(dm) = &node.dm else { continue };
            match &dm.targets {
                Readout::Known(targets) => {
                    found.extend(targets.iter().filter_map(|target| Some((node, target, of(&target.meaning)?))));
                }
                Readout::Unknown(why) => {
                    let may_be = |uuid: &str| prefixes.iter().any(|prefix| uuid.starts_with(prefix));
                    if dm.uuid.as_deref().is_none_or(may_be) {
                        round.unknown(&place(node), why);
                    }
                }
            }
        }
        found
    }

    /// Mappings of dm-crypt. `cryptsetup` begins their UUIDs so (`lib/libdevmapper.c`).
    pub(crate) fn crypts(&self, round: &mut Round) -> Vec<(&'a Node, &'a Target, &'a CryptMapping)> {
        let kinds = ["CRYPT-LUKS", "CRYPT-PLAIN", "CRYPT-TCRYPT", "CRYPT-BITLK", "CRYPT-LOOPAES", "CRYPT-FVAULT2"];
        self.lines(round, &kinds, |meaning| if let Meaning::CryptMapping(crypt) = meaning { Some(crypt) } else { None })
    }

    /// Mappings of dm-integrity: of their own, under an encrypted volume, in a volume group.
    pub(crate) fn integrities(&self, round: &mut Round) -> Vec<(&'a Node, &'a Target, &'a IntegrityHeader)> {
        let kinds = ["CRYPT-INTEGRITY", "CRYPT-SUBDEV", "LVM-"];
        self.lines(
            round,
            &kinds,
            |meaning| if let Meaning::IntegrityHeader(found) = meaning { Some(found) } else { None },
        )
    }

    /// Arrays of the device mapper.
    pub(crate) fn mapped_arrays(&self, round: &mut Round) -> Vec<(&'a Node, &'a Target, &'a DmRaid)> {
        self.lines(round, &["LVM-"], |meaning| if let Meaning::Raid(found) = meaning { Some(found) } else { None })
    }

    /// Thin pools.
    pub(crate) fn thin_pools(&self, round: &mut Round) -> Vec<(&'a Node, &'a Target, &'a ThinPool)> {
        let of = |meaning: &'a Meaning| if let Meaning::ThinPool(found) = meaning { Some(found) } else { None };
        self.lines(round, &["LVM-"], of)
    }

    // --- PCIe ---

    /// Devices on the way from one to the root, itself first.
    pub(crate) fn way(&self, address: &str) -> Vec<&'a PciDevice> {
        let mut way: Vec<&PciDevice> = Vec::new();
        let mut next = self.inventory.pci_device(address);
        while let Some(device) = next {
            if way.iter().any(|known| known.address == device.address) {
                break;
            }
            way.push(device);
            next = device.parent.as_deref().and_then(|parent| self.inventory.pci_device(parent));
        }
        way
    }

    /// Controllers of storage at and under a device.
    pub(crate) fn endpoints(&self, address: &str) -> Vec<&'a PciDevice> {
        let under = |device: &&PciDevice| self.way(&device.address).iter().any(|above| above.address == address);
        self.inventory.pci.iter().filter(|device| !device.role.is_bridge()).filter(under).collect()
    }

    /// Links that lead to storage. A function other than the first shares the link of the first.
    pub(crate) fn links(&self) -> Vec<Lane<'a>> {
        let lane = |device: &'a PciDevice| {
            let port = self.inventory.pci_device(device.parent.as_deref()?)?;
            let detail = device.detail.as_deref()?;
            // Between the upstream port of a switch and its downstream ports there is no link.
            let above = port.role.is_bridge() && port.role != PciRole::SwitchUpstream;
            let unclear = port.role == PciRole::Bridge && device.role.is_bridge();
            let first = device.address.ends_with(".0");
            (above && !unclear && first && !self.endpoints(&device.address).is_empty()).then_some(Lane {
                device,
                detail,
                port,
            })
        };
        self.inventory.pci.iter().filter_map(lane).collect()
    }

    /// Kernel names of drives behind a device, or addresses of the controllers where no drive is known.
    pub(crate) fn named_behind(&self, address: &str) -> Vec<String> {
        let drives = self.drives_behind(address);
        if drives.is_empty() {
            self.endpoints(address).iter().map(|device| device.address.clone()).collect()
        } else {
            drives
        }
    }

    /// Kernel names of drives behind a device.
    pub(crate) fn drives_behind(&self, address: &str) -> Vec<String> {
        let endpoints = self.endpoints(address);
        let at = |drive: &&Drive| {
            endpoints.iter().any(|endpoint| drive.pci_address.as_deref() == Some(endpoint.address.as_str()))
        };
        self.inventory.drives.iter().filter(at).map(|drive| drive.kernel_name.clone()).collect()
    }

    /// A link by the address of its lower end and the drives behind it.
    pub(crate) fn link_place(&self, address: &str) -> Place {
        match self.drives_behind(address).as_slice() {
            [] => Place::new("link", address),
            drives => Place::new("link", format!("{address} ({})", drives.join(", "))),
        }
    }

    /// What the line to a drive carries at most: its link, or its SATA or SAS line. `None` for what has no such line, and
    /// where it is not known, which is written down.
    fn line_rate(&self, round: &mut Round, place: &Place, name: &str) -> Option<f64> {
        let drive = self.drive(name)?;
        match drive.transport {
            DriveTransport::Sata | DriveTransport::Sas => {
                let told = drive.detail.as_ref().and_then(|detail| serial_rate(detail.line_rate.as_deref()?));
                if told.is_none() {
                    round.unknown(place, format!("the speed of the line to {name} is not told"));
                }
                told
            }
            DriveTransport::Nvme => {
                let device = self.inventory.pci_device(drive.pci_address.as_deref()?)?;
                round.ask(place, &device.detail.as_ref()?.carries)?.map(|capacity| capacity.rate.0)
            }
            _ => None,
        }
    }

    /// The least of what the lines to the drives under a device carry.
    pub(crate) fn least_line_rate(&self, round: &mut Round, place: &Place, name: &str) -> Option<f64> {
        let rates: Option<Vec<f64>> =
            self.bottom(name).iter().map(|node| self.line_rate(round, place, &node.name)).collect();
        rates?.into_iter().reduce(f64::min)
    }

    /// The controller of an NVMe drive.
    pub(crate) fn controller(&self, drive: &Drive) -> Option<&'a NvmeController> {
        let name = drive.detail.as_ref()?.nvme.as_ref()?.controllers.first()?;
        self.detail.controllers.iter().find(|controller| controller.name == *name)
    }

    /// Mounts of file systems on devices, each file system once: options that are its own are those of all its mounts. Where it stands as a
    /// whole comes before a part of it that is bound elsewhere.
    pub(crate) fn mounted(&self, round: &mut Round) -> Vec<&'a Mount> {
        let mut once: Vec<&Mount> = Vec::new();
        let all = round.ask(&Place::machine(), &self.detail.mounts).into_iter().flatten();
        for mount in all.filter(|mount| mount.node.is_some() || mount.source.starts_with("/dev/")) {
            let rank = |mount: &Mount| (mount.target != "/", mount.root != "/");
            let is_same =
                |known: &Mount| known.node == mount.node && (mount.node.is_some() || known.source == mount.source);
            match once.iter_mut().find(|known| is_same(known)) {
                Some(known) if rank(mount) < rank(known) => *known = mount,
                Some(_) => {}
                None => once.push(mount),
            }
        }
        once
    }

    // --- the system ---

    /// A parameter of the kernel.
    pub(crate) fn parameter(&self, name: &str) -> Option<&'a str> {
        self.detail.linux.parameters.get(name).map(String::as_str)
    }

    /// Major and minor version of the kernel.
    pub(crate) fn kernel(&self) -> Option<(u32, u32)> {
        let mut numbers = self.inventory.kernel.split(['.', '-', '+', '_']);
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }
}

/// A name and all that is reached from it step by step, each once.
fn reached<'a>(name: &'a str, next: impl Fn(&'a str) -> Vec<&'a str>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::from([name]);
    let mut ahead = vec![name];
    while let Some(name) = ahead.pop() {
        ahead.extend(next(name).into_iter().filter(|name| found.insert(name)));
    }
    found
}

/// What a link carries in packets of the payload that is in force on it, or of the least where that is not known.
pub(crate) fn carried(link: Link, detail: &PciDetail) -> Option<f64> {
    let capacity = detail.carries.known().copied().flatten();
    link.carries(capacity.map_or(LEAST_PAYLOAD, |capacity| capacity.payload)).map(|rate| rate.0)
}

/// What a SATA or SAS line carries: 8b/10b, hence a tenth of its bits in bytes (Serial ATA 3.0, 7.2; SAS-3, 5.3).
fn serial_rate(rate: &str) -> Option<f64> {
    let giga: f64 = rate.split_whitespace().next()?.parse().ok()?;
    (0.1..=12.0).contains(&giga).then_some(giga * 1e8)
}

/// The block device as a place, by the name people use.
pub(crate) fn place(node: &Node) -> Place {
    let kind = match node.kind.as_str() {
        "partition" => "partition",
        "drive" => "drive",
        _ if node.md.is_some() => "array",
        _ if node.dm.is_some() => "mapping",
        "loop" => "loop device",
        _ => "drive",
    };
    match &node.label {
        Some(label) => Place::new(kind, format!("{label} ({})", node.name)),
        None => Place::new(kind, &node.name),
    }
}

/// A drive as a place.
pub(crate) fn drive_place(drive: &Drive) -> Place {
    Place::new("drive", &drive.kernel_name)
}

/// The path by which people name a device, as it is typed: a label may hold what a shell understands.
pub(crate) fn path(node: &Node) -> String {
    quote(&match &node.label {
        Some(label) if node.md.is_some() => format!("/dev/md/{label}"),
        Some(label) if node.dm.is_some() => format!("/dev/mapper/{label}"),
        _ => format!("/dev/{}", node.name),
    })
}

/// `GROUP/VOLUME` of a mapping that LVM made, as it is typed: a hyphen in either is doubled in the mapping's name, and what
/// LVM keeps for itself ends in a word of its own (lvm2, `lib/misc/lvm-string.c`).
pub(crate) fn volume(node: &Node) -> String {
    let label = node.label.as_deref().unwrap_or_default();
    let label = label.strip_suffix("-tpool").unwrap_or(label).replace("--", "\u{0}");
    match label.split_once('-') {
        Some((group, volume)) if !volume.contains('-') => quote(&format!("{group}/{volume}").replace('\u{0}', "-")),
        _ => "GROUP/VOLUME".to_owned(),
    }
}

/// A file of a block device.
pub(crate) fn sysfs(node: &Node, file: &str) -> String {
    format!("/sys/block/{}/{file}", node.name)
}

/// Sectors of the device mapper and of md as bytes.
pub(crate) const fn sectors(count: u64) -> Bytes {
    Bytes(count.saturating_mul(512))
}

/// A device of a btrfs, as its findings name it. One without a name may be there all the same.
pub(crate) fn device_place(machine: &Machine, device: &BtrfsDevice, target: &str) -> Place {
    let missing = device.missing.known() == Some(&true);
    let label = device.node.as_deref().and_then(|name| machine.node(name)?.label.as_deref());
    let name = label.or(device.node.as_deref()).unwrap_or(if missing { "missing" } else { "name not known" });
    Place::new("device", format!("{} ({name}) of {target}", device.id))
}

/// A file system by where it is mounted, or by its device, of a mapping with its own name.
pub(crate) fn system_place(machine: &Machine, system: &FileSystem) -> Place {
    let node =
        || system.nodes.first().map(|name| machine.node(name).and_then(|node| node.label.as_ref()).unwrap_or(name));
    let name = system.targets.first().or_else(node);
    Place::new("file system", format!("{} ({})", name.map_or("nowhere", String::as_str), system.kind))
}
