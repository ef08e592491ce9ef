//! `/dev`, `/proc` and `/sys` as they follow from a state.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::device::{Bus, Device, Kind};
use crate::program::md;
use crate::state::State;

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    File(Vec<u8>),
    /// Leads to another path.
    Link(String),
    /// A block device, by kernel name.
    Node(String),
}

/// Every path but those of directories, which are there where something is in them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    entries: BTreeMap<String, Entry>,
    directories: BTreeSet<String>,
}

pub(crate) fn not_found() -> io::Error {
    io::Error::from(io::ErrorKind::NotFound)
}

/// Where a link leads: to a node by its name, or along a path.
pub(crate) fn target(to: &str) -> String {
    if to.starts_with(['/', '.']) { to.to_owned() } else { format!("/dev/{to}") }
}

impl Tree {
    pub(crate) fn of(state: &State) -> Self {
        let mut tree = Self::default();
        tree.programs(state);
        tree.proc(state);
        tree.dev(state);
        for (name, device) in &state.devices {
            tree.block(state, name, device);
        }
        tree.hosts(state);
        // What is in them is read from the state.
        tree.entries.extend(state.files.keys().map(|path| (path.clone(), Entry::File(Vec::new()))));
        for path in &state.directories {
            tree.directory(path);
        }
        let paths: Vec<String> = tree.entries.keys().cloned().collect();
        paths.iter().filter_map(|path| path.rsplit_once('/')).for_each(|(parent, _)| tree.directory(parent));
        tree
    }

    fn directory(&mut self, path: &str) {
        let mut path = path;
        while !path.is_empty() && self.directories.insert(path.to_owned()) {
            path = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        }
    }

    fn file(&mut self, path: impl Into<String>, text: impl AsRef<str>) {
        self.entries.insert(path.into(), Entry::File(format!("{}\n", text.as_ref()).into_bytes()));
    }

    fn link(&mut self, path: impl Into<String>, to: impl Into<String>) {
        self.entries.insert(path.into(), Entry::Link(to.into()));
    }

    /// The path without links; it exists.
    pub(crate) fn resolve(&self, path: &str) -> io::Result<String> {
        let mut done = String::new();
        let mut rest: Vec<String> = path.split('/').filter(|part| !part.is_empty()).rev().map(str::to_owned).collect();
        let mut links = 0;
        while let Some(part) = rest.pop() {
            if part == ".." {
                done.truncate(done.rfind('/').unwrap_or(0));
                continue;
            }
            let next = format!("{done}/{part}");
            match self.entries.get(&next) {
                Some(Entry::Link(to)) => {
                    links += 1;
                    if links > 40 {
                        return Err(io::Error::other("Too many levels of symbolic links"));
                    }
                    if to.starts_with('/') {
                        done.clear();
                    }
                    rest.extend(to.split('/').filter(|part| !part.is_empty()).rev().map(str::to_owned));
                }
                Some(_) if !rest.is_empty() => return Err(io::Error::from(io::ErrorKind::NotADirectory)),
                Some(_) => done = next,
                None if self.directories.contains(&next) => done = next,
                None => return Err(not_found()),
            }
        }
        Ok(done)
    }

    pub(crate) fn entry(&self, path: &str) -> io::Result<&Entry> {
        let path = self.resolve(path)?;
        self.entries.get(&path).ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))
    }

    pub(crate) fn list(&self, path: &str) -> io::Result<Vec<String>> {
        let path = self.resolve(path)?;
        if self.entries.contains_key(&path) {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        let inside = format!("{path}/");
        let names = self.entries.keys().chain(&self.directories).filter_map(|other| other.strip_prefix(&inside));
        let names: BTreeSet<&str> =
            names.filter_map(|name| name.split('/').next()).filter(|name| !name.is_empty()).collect();
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    // --- what is there ---

    fn programs(&mut self, state: &State) {
        for name in state.programs.iter().filter(|name| !state.absent.contains(**name)) {
            self.file(format!("/usr/sbin/{name}"), "");
        }
    }

    fn proc(&mut self, state: &State) {
        self.link("/proc/self", "/proc/1");
        for id in state.processes.iter().map(|process| process.id).chain([1]) {
            let name =
                state.processes.iter().find(|process| process.id == id).map_or("bedplate", |process| &process.name);
            self.file(format!("/proc/{id}/comm"), name);
            self.file(format!("/proc/{id}/mountinfo"), mountinfo(state));
            self.file(
                format!("/proc/{id}/stat"),
                format!("{id} ({name}) S 0 {id} 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0"),
            );
        }
        self.file(
            "/proc/mounts",
            state
                .mounts
                .iter()
                .map(|mount| format!("{} {} {} rw 0 0\n", mount.source, mount.point, mount.kind))
                .collect::<String>(),
        );
        let swap = |name: &String| match name.starts_with('/') {
            true => format!("{name} file 1024 0 -2\n"),
            false => format!("/dev/{name} partition 1024 0 -2\n"),
        };
        self.file(
            "/proc/swaps",
            format!("Filename\tType\tSize\tUsed\tPriority\n{}", state.swaps.iter().map(swap).collect::<String>()),
        );
        self.file("/proc/filesystems", "nodev\tsysfs\nnodev\tproc\nnodev\ttmpfs\nnodev\tzfs\n\text4\n\txfs\n\tbtrfs");
        self.file("/proc/mdstat", mdstat(state));
        self.file("/proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0");
        self.file("/proc/diskstats", "");
        self.file("/proc/meminfo", "MemTotal:        8388608 kB");
        self.file(
            "/proc/cpuinfo",
            "processor : 0\nmodel name : Fake\nflags : aes\n\nprocessor : 1\nmodel name : Fake\nflags : aes",
        );
        self.file("/proc/sys/kernel/osrelease", "6.1.0-fake");
        self.file("/proc/sys/kernel/random/boot_id", format!("boot-{}", state.boots));
        self.file("/proc/sys/kernel/random/uuid", "drawn at every reading");
        self.file("/proc/sys/vm/drop_caches", "0");
        if state.modules.contains("zfs") {
            self.file("/proc/spl/kstat/zfs/arcstats", "");
        }
        for module in &state.modules {
            self.file(format!("/sys/module/{}/refcnt", module.replace('-', "_")), "0");
        }
    }

    fn dev(&mut self, state: &State) {
        for name in state.devices.keys() {
            self.entries.insert(format!("/dev/{name}"), Entry::Node(name.clone()));
            // As the first process sees it, which may have another root than we.
            self.entries.insert(format!("/proc/1/root/dev/{name}"), Entry::Node(name.clone()));
        }
        for (path, name) in &state.links {
            // A link that was left behind leads to whatever has the name now.
            self.link(path.clone(), target(name));
        }
    }

    fn block(&mut self, state: &State, name: &str, device: &Device) {
        let directory = state.sysfs(name);
        let number = format!("{}:{}", device.number.0, device.number.1);
        self.link(format!("/sys/class/block/{name}"), directory.clone());
        self.link(format!("/sys/dev/block/{number}"), directory.clone());
        self.file(format!("{directory}/dev"), number);
        self.file(format!("{directory}/size"), (device.size / 512).to_string());
        self.file(format!("{directory}/ro"), u8::from(device.read_only).to_string());
        for holder in state.holders(name) {
            self.link(format!("{directory}/holders/{holder}"), state.sysfs(&holder));
        }
        self.directory(&format!("{directory}/holders"));
        if let Kind::Partition(part) = &device.kind {
            self.file(format!("{directory}/partition"), part.number.to_string());
            self.file(format!("{directory}/start"), (part.start / 512).to_string());
        } else {
            self.link(format!("/sys/block/{name}"), directory.clone());
            self.queue(&directory, device);
            for below in device.below() {
                self.link(format!("{directory}/slaves/{below}"), state.sysfs(&below));
            }
        }
        self.kind(state, &directory, name, device);
        for cached in state.bcaches.iter().filter(|cached| cached.device == name) {
            let set = cached.set.as_ref().or(cached.attached.as_ref());
            self.file(format!("{directory}/bcache/state"), if set.is_some() { "clean" } else { "no cache" });
        }
        for (file, text) in &device.settings {
            self.file(format!("{directory}/{file}"), text);
        }
    }

    fn queue(&mut self, directory: &str, device: &Device) {
        let files = [
            ("logical_block_size", device.block.to_string()),
            ("physical_block_size", device.block.to_string()),
            ("rotational", "0".to_owned()),
            ("scheduler", "[none] mq-deadline".to_owned()),
            ("write_cache", "write back".to_owned()),
            ("zoned", "none".to_owned()),
        ];
        files.iter().for_each(|(file, text)| self.file(format!("{directory}/queue/{file}"), text));
    }

    fn kind(&mut self, state: &State, directory: &str, name: &str, device: &Device) {
        match &device.kind {
            Kind::Drive(drive) => self.drive(directory, drive),
            Kind::Array(array) => {
                let files = [
                    ("level", array.spread.level.word().to_owned()),
                    ("array_state", "active".to_owned()),
                    ("sync_action", "idle".to_owned()),
                    ("degraded", array.spread.missing().to_string()),
                    ("resync_start", "none".to_owned()),
                    ("mismatch_cnt", array.mismatches.to_string()),
                    ("max_read_errors", "20".to_owned()),
                    ("stripe_cache_size", "256".to_owned()),
                    ("group_thread_cnt", "0".to_owned()),
                ];
                files.iter().for_each(|(file, text)| self.file(format!("{directory}/md/{file}"), text));
            }
            Kind::Mapping(mapping) => {
                let suspended = u8::from(mapping.suspended).to_string();
                for (file, text) in [("name", &mapping.name), ("uuid", &mapping.uuid), ("suspended", &suspended)] {
                    self.file(format!("{directory}/dm/{file}"), text);
                }
            }
            Kind::Loop { of } => self.file(format!("{directory}/loop/backing_file"), format!("/dev/{of}")),
            Kind::Bcache { of } => {
                self.link(format!("{directory}/bcache"), format!("{}/bcache", state.sysfs(of)));
                let below = state.sysfs(of);
                self.link(format!("{below}/bcache/dev"), state.sysfs(name));
                self.file(format!("{below}/bcache/cache_mode"), "[writethrough] writeback writearound none");
                self.file(format!("{below}/bcache/sequential_cutoff"), "4.0M");
                for (file, text) in
                    device.settings.iter().filter_map(|(file, text)| Some((file.strip_prefix("bcache/")?, text)))
                {
                    self.file(format!("{below}/bcache/{file}"), text);
                }
            }
            Kind::Partition(_) => {}
        }
    }

    fn drive(&mut self, directory: &str, drive: &crate::device::Drive) {
        let above = directory.rsplit_once('/').map_or("", |(above, _)| above);
        let slot = drive.slot;
        match drive.bus {
            Bus::Nvme => {
                let pci = format!("/sys/devices/pci0000:00/0000:{slot:02x}:00.0");
                self.link(format!("{directory}/device"), above);
                self.link(format!("{above}/device"), pci.clone());
                self.link(format!("/sys/class/nvme/nvme{slot}"), above);
                self.file(format!("{pci}/remove"), "");
                let serial = drive.serial.clone().unwrap_or_default();
                let nqn = format!("nqn.2014.08.org.fake:{serial}");
                for (file, text) in [
                    ("model", &drive.model),
                    ("serial", &serial),
                    ("subsysnqn", &nqn),
                    ("state", &"live".to_owned()),
                    ("transport", &"pcie".to_owned()),
                ] {
                    self.file(format!("{above}/{file}"), text);
                }
                drive.wwid.iter().for_each(|wwid| self.file(format!("{directory}/wwid"), wwid));
            }
            Bus::Sata => {
                let device = directory.rsplit_once("/block/").map_or("", |(device, _)| device).to_owned();
                self.link(format!("{directory}/device"), device.clone());
                for (file, text) in [("model", drive.model.as_str()), ("state", "running"), ("delete", "")] {
                    self.file(format!("{device}/{file}"), text);
                }
                drive.wwid.iter().for_each(|wwid| self.file(format!("{device}/wwid"), wwid));
                let page = [&[0, 0x80, 0, 0][..], drive.serial.clone().unwrap_or_default().as_bytes()].concat();
                self.entries.insert(format!("{device}/vpd_pg80"), Entry::File(page));
            }
            Bus::Ram => {}
        }
    }

    fn hosts(&mut self, state: &State) {
        self.file("/sys/bus/pci/rescan", "");
        self.file("/sys/class/scsi_host/host0/scan", "");
        self.directory("/sys/class/nvme");
        self.directory("/sys/fs/btrfs");
        self.directory("/sys/block");
        self.directory("/tmp");
        self.directory("/mnt");
        self.directory("/dev/disk/by-id");
        for mount in state.mounts.iter().filter(|mount| mount.kind == "btrfs") {
            for device in mount.devices.iter().filter(|device| state.devices.contains_key(*device)) {
                self.link(format!("/sys/fs/btrfs/{}/devices/{device}", mount.uuid), state.sysfs(device));
            }
        }
        for mount in &state.mounts {
            self.directory(&mount.point);
            for name in mount.table.files.keys() {
                self.file(format!("{}/{name}", mount.point), "");
            }
        }
    }
}

impl State {
    /// The directory of a device in sysfs.
    pub(crate) fn sysfs(&self, name: &str) -> String {
        match self.devices.get(name).map(|device| &device.kind) {
            Some(Kind::Drive(drive)) => match drive.bus {
                Bus::Nvme => {
                    format!("/sys/devices/pci0000:00/0000:{slot:02x}:00.0/nvme/nvme{slot}/{name}", slot = drive.slot)
                }
                Bus::Sata => format!(
                    "/sys/devices/pci0000:00/0000:00:1f.2/ata{slot}/host0/target0:0:{slot}/0:0:{slot}:0/block/{name}",
                    slot = drive.slot
                ),
                Bus::Ram => format!("/sys/devices/virtual/block/{name}"),
            },
            Some(Kind::Partition(part)) => format!("{}/{name}", self.sysfs(&part.of)),
            _ => format!("/sys/devices/virtual/block/{name}"),
        }
    }
}

fn mountinfo(state: &State) -> String {
    let mut text = "1 0 0:1 / / rw - tmpfs none rw\n".to_owned();
    for (at, mount) in state.mounts.iter().enumerate() {
        // btrfs and ZFS have numbers of their own (proc(5)).
        let own = mount.devices.first().and_then(|name| state.devices.get(name)).map(|device| device.number);
        let (major, minor) =
            own.filter(|_| !["btrfs", "zfs"].contains(&mount.kind.as_str())).unwrap_or((0, 40 + at as u32));
        text.push_str(&format!(
            "{} 1 {major}:{minor} {} {} rw - {} {} rw\n",
            at + 2,
            mount.root,
            mount.point,
            mount.kind,
            mount.source
        ));
    }
    text
}

fn mdstat(state: &State) -> String {
    let mut text = "Personalities : [raid0] [raid1]\n".to_owned();
    for (name, device) in &state.devices {
        if let Kind::Array(array) = &device.kind {
            let member = |(number, leg): (usize, &crate::device::Leg)| {
                format!(" {}[{number}]{}", leg.device, if leg.works { "" } else { "(F)" })
            };
            let members: String =
                array.spread.legs.iter().enumerate().filter(|(_, leg)| !leg.device.is_empty()).map(member).collect();
            text.push_str(&format!(
                "{name} : active {}{members}\n      {} blocks ({})\n\n",
                array.spread.level.word(),
                device.size / 1024,
                array.name
            ));
        }
    }
    text + "unused devices: <none>"
}

/// A write to a file of the kernel, and what comes of it.
pub(crate) fn set(state: &mut State, path: &str, text: &str) -> io::Result<()> {
    let path = Tree::of(state).resolve(path)?;
    let text = text.trim_end();
    if path == "/sys/bus/pci/rescan" || path.ends_with("/scan") {
        state.plug();
        return Ok(());
    }
    let names: Vec<String> = state.devices.keys().cloned().collect();
    if path.ends_with("/remove") || path.ends_with("/delete") {
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let of = names
            .iter()
            .find(|name| state.drive(name).is_some() && state.sysfs(name).starts_with(&format!("{directory}/")));
        of.iter().for_each(|name| state.pull(name));
        return Ok(());
    }
    let inside = |name: &&String| path.strip_prefix(&format!("{}/", state.sysfs(name))).is_some();
    let Some(name) = names.iter().filter(inside).max_by_key(|name| state.sysfs(name).len()).cloned() else {
        // Settings of the kernel that are nobody's here.
        return if path.starts_with("/proc/sys/") {
            Ok(())
        } else {
            Err(io::Error::from(io::ErrorKind::PermissionDenied))
        };
    };
    let file = path[state.sysfs(&name).len() + 1..].to_owned();
    if file == "md/sync_action" {
        md::action(state, &name, text);
        return Ok(());
    }
    let above = state.bcaches.iter().find(|cached| cached.device == name).and_then(|cached| cached.above.clone());
    let owner = if file.starts_with("bcache/") { above.unwrap_or(name) } else { name };
    let shown = if file == "queue/scheduler" { format!("[{text}] kyber") } else { text.to_owned() };
    if let Some(device) = state.devices.get_mut(&owner) {
        device.settings.insert(file, shown);
    }
    Ok(())
}
