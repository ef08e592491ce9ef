//! What a machine is at one moment: devices, links, mounts, pools, files. A clone is the machine as it was then.

use std::collections::{BTreeMap, BTreeSet};

use crate::device::{Bus, Cached, Device, Drive, Kind};
use crate::mounts::Mount;

/// A machine at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    /// By kernel name.
    pub(crate) devices: BTreeMap<String, Device>,
    /// Links and nodes below `/dev` that tools make, by path: what the kernel calls the device.
    pub(crate) links: BTreeMap<String, String>,
    pub(crate) mounts: Vec<Mount>,
    pub(crate) swaps: Vec<String>,
    /// Imported ZFS pools.
    pub(crate) pools: BTreeMap<String, Mount>,
    /// What is in them beside the top datasets: file systems, volumes and snapshots, `POOL/…` and `POOL@…`.
    pub(crate) sets: BTreeSet<String>,
    pub(crate) bcaches: Vec<Cached>,
    /// Regular files of the root file system.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) directories: BTreeSet<String>,
    pub(crate) modules: BTreeSet<String>,
    /// Programs there are.
    pub(crate) programs: Vec<&'static str>,
    /// Programs and modules that are not installed.
    pub(crate) absent: BTreeSet<String>,
    pub(crate) processes: Vec<Process>,
    /// Locked devices, by what names the lock.
    pub(crate) locks: BTreeMap<u64, String>,
    /// Drives that were pulled.
    pub(crate) pulled: Vec<Device>,
    /// Numbers of devices that are gone: what rests on one still holds it under that number.
    pub(crate) gone: BTreeMap<String, (u32, u32)>,
    /// Identifiers that were drawn: no two are alike.
    pub(crate) drawn: u64,
    /// How many times it rebooted.
    pub(crate) boots: u64,
}

/// A program at work that is not ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) id: u32,
    pub(crate) name: String,
    /// What it has open.
    pub(crate) device: String,
    /// For itself alone.
    pub(crate) exclusively: bool,
}

impl State {
    /// A UUID that nobody had before.
    pub(crate) fn draw_uuid(&mut self) -> String {
        self.drawn += 1;
        // splitmix64, twice.
        let (high, low) = (mixed(self.drawn * 2), mixed(self.drawn * 2 + 1));
        let text = format!("{high:016x}{low:016x}");
        [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
    }

    /// The device of a path: a node, or a link to one.
    pub(crate) fn device_at(&self, path: &str) -> Option<String> {
        let name = match self.links.get(path) {
            Some(name) => name.clone(),
            None => path.strip_prefix("/dev/")?.to_owned(),
        };
        self.devices.contains_key(&name).then_some(name)
    }

    /// The number of a device, also of one that is gone.
    pub(crate) fn number(&self, name: &str) -> Option<(u32, u32)> {
        self.devices.get(name).map(|device| device.number).or_else(|| self.gone.get(name).copied())
    }

    /// Adds a device under a kernel name.
    pub(crate) fn add(&mut self, name: &str, size: u64, block: u64, kind: Kind) {
        let number = self.free_number(kind.major());
        self.devices.insert(name.to_owned(), Device::new((kind.major(), number), size, block, kind));
    }

    fn free_number(&self, major: u32) -> u32 {
        let all = self.devices.values().map(|device| device.number).chain(self.gone.values().copied());
        let used = |minor: &u32| all.clone().any(|number| number == (major, *minor));
        (0..).find(|minor| !used(minor)).unwrap_or(0)
    }

    /// The first of a row of kernel names that nothing has.
    pub(crate) fn free_name(&self, numbers: impl Iterator<Item = u32>, name: impl Fn(u32) -> String) -> String {
        let taken = |name: &String| self.devices.contains_key(name);
        numbers.map(name).find(|name| !taken(name)).unwrap_or_default()
    }

    /// Names of the devices that are made of this one: arrays, mappings, caches; no partitions.
    pub(crate) fn holders(&self, name: &str) -> Vec<String> {
        let holds = |device: &Device| {
            !matches!(device.kind, Kind::Partition(_) | Kind::Loop { .. }) && device.below().iter().any(|of| of == name)
        };
        let made = self.devices.iter().filter(|(_, device)| holds(device)).map(|(name, _)| name.clone());
        // A cache is held by what it caches, too (kernel, drivers/md/bcache/super.c, `bcache_device_link`).
        let set = self.bcaches.iter().find(|cached| cached.device == name).and_then(|cached| cached.set.clone());
        let cached = self.bcaches.iter().filter(|cached| set.is_some() && cached.attached == set);
        made.chain(cached.filter_map(|cached| cached.above.clone())).collect()
    }

    pub(crate) fn partitions(&self, whole: &str) -> Vec<String> {
        let is_of = |device: &Device| matches!(&device.kind, Kind::Partition(part) if part.of == whole);
        self.devices.iter().filter(|(_, device)| is_of(device)).map(|(name, _)| name.clone()).collect()
    }

    /// Is the device, or for a whole drive one of its partitions, claimed by somebody for himself alone?
    /// (kernel, block/bdev.c, `bd_may_claim`)
    pub(crate) fn is_claimed(&self, name: &str) -> bool {
        let whole = match self.devices.get(name).map(|device| &device.kind) {
            Some(Kind::Partition(part)) => Some(part.of.clone()),
            _ => None,
        };
        self.claims(name)
            || self.partitions(name).iter().any(|part| self.claims(part))
            || whole.is_some_and(|whole| self.claims(&whole))
    }

    fn claims(&self, name: &str) -> bool {
        !self.holders(name).is_empty()
            || self
                .mounts
                .iter()
                .chain(self.pools.values())
                .any(|mount| mount.devices.iter().any(|device| device == name))
            || self.swaps.iter().any(|swap| swap == name)
            || self.bcaches.iter().any(|cached| cached.holds(name))
            || self.processes.iter().any(|process| process.exclusively && process.device == name)
    }

    /// Takes a device away, and its partitions and links with it.
    pub(crate) fn remove(&mut self, name: &str) -> Option<Device> {
        for part in self.partitions(name) {
            self.remove(&part);
        }
        // mdadm leaves its link where no udev takes it away (mdadm, Manage.c, `remove_devices`).
        self.links.retain(|path, of| of != name || path.starts_with("/dev/md/"));
        self.devices.remove(name)
    }

    /// A drive is pulled.
    pub(crate) fn pull(&mut self, name: &str) {
        let parts = self.partitions(name);
        let gone: Vec<String> = parts.into_iter().chain([name.to_owned()]).collect();
        for name in &gone {
            let number = self.devices.get(name).map(|device| device.number);
            self.gone.extend(number.map(|number| (name.clone(), number)));
        }
        let drive = self.remove(name);
        self.pulled.extend(drive);
        self.locks.retain(|_, locked| locked != name);
        for device in self.devices.values_mut() {
            if let Kind::Array(array) = &mut device.kind {
                array.spread.lose(&gone);
            }
        }
    }

    /// Drives that were pulled are back: under their old names, or under others where somebody still holds on to those.
    pub(crate) fn plug(&mut self) {
        for mut device in std::mem::take(&mut self.pulled) {
            let Kind::Drive(drive) = &mut device.kind else { continue };
            let bus = drive.bus;
            let held = |name: &str| {
                self.devices.values().any(|other| other.below().iter().any(|of| of == name))
                    || self
                        .mounts
                        .iter()
                        .chain(self.pools.values())
                        .any(|mount| mount.devices.iter().any(|of| of == name))
                    || self.bcaches.iter().any(|cached| cached.holds(name))
            };
            let is_free = |slot: &u32| {
                let name = bus.name(*slot);
                !self.devices.contains_key(&name) && !held(&name) && !held(&terms::plan::partition_of(&name, 1))
            };
            drive.slot = (drive.slot..).find(is_free).unwrap_or(drive.slot);
            let name = bus.name(drive.slot);
            device.number.1 = self.free_number(device.number.0);
            self.devices.insert(name.clone(), device);
            self.scan_table(&name);
        }
    }

    /// Power is lost and comes back: what is not on a drive is gone.
    pub(crate) fn restart(&mut self) {
        self.devices.retain(|_, device| matches!(&device.kind, Kind::Drive(drive) if drive.bus != Bus::Ram));
        let all = (std::mem::take(&mut self.links), std::mem::take(&mut self.mounts), std::mem::take(&mut self.pools));
        drop(all);
        self.bcaches.clear();
        self.swaps.clear();
        self.gone.clear();
        self.modules.clear();
        self.processes.clear();
        self.locks.clear();
        self.files.retain(|path, _| !path.starts_with("/run/"));
        self.boots += 1;
        for device in self.devices.values_mut() {
            device.settings.clear();
        }
        let names: Vec<String> = self.devices.keys().cloned().collect();
        names.iter().for_each(|name| self.scan_table(name));
    }

    pub(crate) fn drive(&self, name: &str) -> Option<&Drive> {
        match &self.devices.get(name)?.kind {
            Kind::Drive(drive) => Some(drive),
            _ => None,
        }
    }

    pub(crate) fn drive_mut(&mut self, name: &str) -> Option<&mut Drive> {
        match &mut self.devices.get_mut(name)?.kind {
            Kind::Drive(drive) => Some(drive),
            _ => None,
        }
    }
}

/// splitmix64 (Steele, Lea and Flood, 2014).
pub(crate) fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
