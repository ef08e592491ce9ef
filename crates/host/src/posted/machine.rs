//! The machine that texts are read into: files, links and program output, as they would be on it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::kept::{Btrfs, Event, Lvm, Mappings, Nameless, PciDevice, Superblock, Watched};
use super::lsblk;

/// What the readers of single kinds write into.
#[derive(Debug, Default)]
pub(super) struct Machine {
    pub(super) files: BTreeMap<String, String>,
    pub(super) links: BTreeMap<String, String>,
    pub(super) directories: BTreeMap<String, Vec<String>>,
    pub(super) runs: BTreeMap<String, String>,
    pub(super) refused: Vec<String>,
    /// The command whose text is read now.
    pub(super) reading: &'static str,
    /// Which command's text told a file.
    pub(super) told_by: BTreeMap<String, &'static str>,
    /// Whose texts told what a program would print.
    pub(super) programs: BTreeMap<String, BTreeSet<&'static str>>,
    /// What two texts told differently: it stays unknown, whatever a third one tells.
    pub(super) contradicted: BTreeSet<String>,
    pub(super) blocks: BTreeMap<String, Block>,
    /// Files of block devices, by device and path below its directory.
    pub(super) block_files: BTreeMap<(String, String), String>,
    /// What a text tells only roundly: it holds where no other tells it.
    pub(super) rounded: BTreeMap<(String, String), String>,
    pub(super) devices: Vec<PciDevice>,
    /// What drives said of themselves in texts that do not name their device.
    pub(super) nameless: Vec<Nameless>,
    /// What texts tell of btrfs, each of one file system.
    pub(super) btrfs: Vec<Btrfs>,
    /// The kernel's names of mappings, by their own.
    mappings: BTreeMap<String, String>,
    mounts: BTreeSet<String>,
    /// Rows of LVM.
    pub(super) lvm: Lvm,
    /// What `mdadm --detail` says of arrays that it does not call by their names in the kernel.
    pub(super) linked: Vec<Vec<String>>,
    /// What members of arrays say of them, by the arrays' UUIDs.
    pub(super) superblocks: BTreeMap<String, Vec<Superblock>>,
    /// Members of arrays that texts tell of.
    members: BTreeSet<String>,
    /// Lines of the device mapper.
    pub(super) dmsetup: Mappings,
    /// By pool and dataset: its properties.
    pub(super) datasets: BTreeMap<String, BTreeMap<String, BTreeMap<String, String>>>,
    /// Pools, each with its number and its state.
    pub(super) pool_states: BTreeMap<String, (usize, String)>,
    /// Properties of pools, which the table of pools tells as well.
    pub(super) pools: BTreeMap<String, BTreeMap<String, String>>,
    /// Signatures that `blkid` tells, by their device.
    pub(super) signatures: BTreeMap<String, Value>,
    /// All signatures on a device, where a text lists them.
    pub(super) probed: BTreeMap<String, Vec<Value>>,
    /// What `xfs_info` tells, by the device.
    pub(super) xfs: BTreeMap<String, String>,
    /// What `smartd` wrote of drives, by their names.
    pub(super) watched: BTreeMap<String, Vec<Watched>>,
    /// What daemons wrote of arrays and pools.
    pub(super) events: Vec<Event>,
    /// By an array's name: the machine that has it, and what that of another one is called here.
    pub(super) owners: BTreeMap<String, (String, BTreeMap<String, String>)>,
}

/// A block device.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// A whole drive of which something is told, not only its name.
    drive: bool,
    /// The drive that it is a partition of.
    part_of: Option<String>,
    /// `sata`, `sas`, `usb` and so on, as `lsblk` has it.
    transport: Option<String>,
    /// It speaks ATA, and so hangs on SATA unless a text tells of another way.
    ata: bool,
    /// What it stands on.
    pub(super) on: BTreeSet<String>,
}

impl Block {
    pub(super) const fn is_drive(&self) -> bool {
        self.drive
    }
}

/// Files of every NVMe controller (the kernel's `drivers/nvme/host/sysfs.c`).
const CONTROLLER: [&str; 11] = [
    "address",
    "device",
    "firmware_rev",
    "model",
    "numa_node",
    "power",
    "queue_count",
    "serial",
    "state",
    "subsysnqn",
    "transport",
];

/// How the UUID of a LUKS volume's mapping begins; the header's version follows (`lib/libdevmapper.c` of cryptsetup).
pub(super) const LUKS: &str = "CRYPT-LUKS";

/// The kernel's list of mounts.
const MOUNTS: &str = "/proc/self/mountinfo";

/// Lists of block devices, and of those that are no partitions.
const NODES: &str = "/sys/class/block";
const DRIVES: &str = "/sys/block";

/// Below a drive's directory. No text tells what address a drive has, and nothing is asked that depends on it.
pub(super) const CACHE: &str = "device/scsi_disk/0:0:0:0/cache_type";

/// How a pool is asked for all its properties.
pub(super) const POOL: &str = "zpool get -H -p -o property,value all";

/// Letters that no drive has, for drives that no text names.
pub(super) const LETTERS: [char; 3] = ['X', 'Y', 'Z'];

impl Machine {
    /// What an array is called here that the texts of a machine call by a name. Where another machine has one of that name it is none of
    /// it, and gets a name of its own.
    pub(super) fn array_of(&mut self, host: Option<&str>, name: &str) -> String {
        let Some(host) = host else { return name.to_owned() };
        let (owner, others) = self.owners.entry(name.to_owned()).or_insert_with(|| (host.to_owned(), BTreeMap::new()));
        if owner == host {
            return name.to_owned();
        }
        if let Some(other) = others.get(host) {
            return other.clone();
        }
        let owner = owner.clone();
        let Some(free) = self.free_array() else { return name.to_owned() };
        self.block(&free);
        self.refused
            .push(format!("array `{name}` of `{host}` is called `{free}` here, for `{owner}` has one of that name"));
        if let Some((_, others)) = self.owners.get_mut(name) {
            others.insert(host.to_owned(), free.clone());
        }
        free
    }

    /// A file. One that says something else already makes both unknown: two texts are of two machines, or of two times.
    pub(super) fn file(&mut self, path: String, value: impl Into<String>) {
        let value = value.into();
        if self.contradicts(&path, |machine| machine.files.get(&path).cloned(), &value) {
            self.files.remove(&path);
        } else if !self.contradicted.contains(&path) {
            self.cite(path.clone());
            self.files.insert(path, value);
        }
    }

    /// What a program printed, in the same way.
    pub(super) fn run(&mut self, line: String, text: impl Into<String>) {
        let text = text.into();
        if self.contradicts(&line, |machine| machine.runs.get(&line).cloned(), &text) {
            self.runs.remove(&line);
        } else if !self.contradicted.contains(&line) {
            self.cite_program(line.split(' ').next().unwrap_or_default());
            if !is_own(self.reading, &line) {
                self.cite(line.clone());
            }
            self.runs.insert(line, text);
        }
    }

    /// What a program printed, where no text of its own tells it.
    pub(super) fn run_if_untold(&mut self, line: String, text: impl FnOnce() -> String) {
        if !self.contradicted.contains(&line) {
            self.runs.entry(line).or_insert_with(text);
        }
    }

    /// Does a text tell something else than another did? That is told, and kept in mind.
    pub(super) fn contradicts(&mut self, what: &str, known: impl Fn(&Self) -> Option<String>, value: &str) -> bool {
        let Some(other) = known(self).filter(|other| other != value) else { return false };
        let short = |text: &str| text.chars().take(60).collect::<String>();
        self.refused.push(format!("`{what}` is `{}` in one text and `{}` in another", short(&other), short(value)));
        self.contradicted.insert(what.to_owned());
        true
    }

    // --- block devices ---

    /// There is a block device of a name.
    pub(super) fn block(&mut self, name: &str) {
        self.blocks.entry(name.to_owned()).or_default();
    }

    /// There is a drive of a name.
    pub(super) fn drive(&mut self, name: &str) {
        self.blocks.entry(name.to_owned()).or_default().drive = true;
    }

    /// A file below the directory of a block device.
    pub(super) fn block_file(&mut self, name: &str, file: &str, value: impl Into<String>) {
        self.block(name);
        let (value, key) = (value.into(), (name.to_owned(), file.to_owned()));
        if file == "dm/name" {
            self.mappings.entry(value.clone()).or_insert_with(|| name.to_owned());
        }
        let what = format!("/sys/class/block/{name}/{file}");
        if self.contradicts(&what, |machine| machine.block_files.get(&key).cloned(), &value) {
            self.block_files.remove(&key);
        } else if !self.contradicted.contains(&what) {
            self.cite(format!("/sys/block/{name}/{file}"));
            self.block_files.insert(key, value);
        }
    }

    /// The text that is read now tells a file, unless another did.
    pub(super) fn cite(&mut self, path: String) {
        if !self.reading.is_empty() {
            self.told_by.entry(path).or_insert(self.reading);
        }
    }

    /// The text that is read now tells what a program would print.
    pub(super) fn cite_program(&mut self, program: &str) {
        if !self.reading.is_empty() {
            self.programs.entry(program.to_owned()).or_default().insert(self.reading);
        }
    }

    /// What programs nobody ran would print goes by the one whose text told it, if that is only one.
    pub(super) fn cite_programs(&mut self) {
        for (program, by) in std::mem::take(&mut self.programs) {
            if let [reading] = by.iter().copied().collect::<Vec<_>>()[..]
                && !is_own(reading, &program)
            {
                self.told_by.insert(program, reading);
            }
        }
    }

    /// What a text tells of a drive. Programs shorten names in their own ways: of those the first text has it.
    pub(super) fn told(&mut self, name: &str, file: &str, value: impl Into<String>) {
        if !file.starts_with("device/") || self.is_first(name, file) {
            self.block_file(name, file, value);
        }
    }

    /// Has no text told what a file of a block device says?
    pub(super) fn is_first(&self, name: &str, file: &str) -> bool {
        !self.block_files.contains_key(&(name.to_owned(), file.to_owned()))
    }

    /// A device is a partition of a drive.
    pub(super) fn partition(&mut self, name: &str, drive: &str) {
        self.block(drive);
        self.blocks.entry(name.to_owned()).or_default().part_of = Some(drive.to_owned());
    }

    /// A device stands on another.
    pub(super) fn stands_on(&mut self, name: &str, under: &str) {
        self.cite(format!("/sys/block/{name}/slaves"));
        self.block(under);
        self.blocks.entry(name.to_owned()).or_default().on.insert(under.to_owned());
    }

    /// The device of a path. A mapping that no text names before is called by a letter that no mapping has.
    pub(super) fn node_of(&mut self, path: &str) -> Option<String> {
        let name = path.strip_prefix("/dev/")?;
        let Some(label) = name.strip_prefix("mapper/") else {
            let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
            return plain.then(|| {
                self.block(name);
                name.to_owned()
            });
        };
        if let Some(node) = self.mappings.get(label) {
            return Some(node.clone());
        }
        // After the first three they have numbers as well.
        let name = |at: usize| match (LETTERS[at % LETTERS.len()], at / LETTERS.len()) {
            (letter, 0) => format!("dm-{letter}"),
            (letter, round) => format!("dm-{letter}{round}"),
        };
        let node = (self.mappings.len()..).map(name).find(|name| !self.blocks.contains_key(name))?;
        self.block_file(&node, "dm/name", label);
        Some(node)
    }

    /// Names of mappings that no mapping has.
    pub(super) fn free_letters(&self) -> impl Iterator<Item = String> + use<> {
        let names = LETTERS.map(|letter| format!("dm-{letter}"));
        let free: Vec<String> = names.into_iter().filter(|name| !self.blocks.contains_key(name)).collect();
        free.into_iter()
    }

    /// An array stands on a device.
    pub(super) fn member(&mut self, name: &str) {
        self.members.insert(name.to_owned());
    }

    /// Does any text tell of an array that stands on a device?
    pub(super) fn is_member(&self, name: &str) -> bool {
        self.members.contains(name)
    }

    /// The name of an array that no array has.
    pub(super) fn free_array(&self) -> Option<String> {
        LETTERS.iter().map(|letter| format!("md{letter}")).find(|name| !self.blocks.contains_key(name))
    }

    /// Has any text told of an array by its name?
    pub(super) fn has_array(&self) -> bool {
        self.blocks
            .keys()
            .any(|name| name.strip_prefix("md").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())))
    }

    /// Has any text told of a block device?
    pub(super) fn has_blocks(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// A line of a table of the device mapper, and one of its status, where that is told.
    pub(super) fn mapping(&mut self, table: &str, status: Option<&str>) {
        self.cite_program("dmsetup");
        for (what, line) in [("table", Some(table)), ("status", status)] {
            let all = self.runs.entry(format!("dmsetup {what}")).or_default();
            line.into_iter().for_each(|line| all.push_str(&format!("{line}\n")));
        }
    }

    /// A mount, as the kernel lists it (proc_pid_mountinfo(5)). What number its device has is not told.
    pub(super) fn mount(&mut self, source: &str, target: &str, kind: &str, options: &str) {
        let target = target.replace('\\', "\\134").replace(' ', "\\040").replace('\t', "\\011").replace('\n', "\\012");
        let line = format!("1 0 0:0 / {target} {options} - {kind} {source} {options}\n");
        if self.mounts.insert(line.clone()) {
            self.cite(MOUNTS.to_owned());
            self.files.entry(MOUNTS.to_owned()).or_default().push_str(&line);
        }
    }

    /// Where a text of mounts has a device.
    pub(super) fn mounted_at(&self, source: &str) -> Option<String> {
        let of = format!(" {source} ");
        let line = self.files.get(MOUNTS)?.lines().find(|line| line.contains(&of) && !source.is_empty())?;
        Some(line.split(' ').nth(4)?.replace("\\040", " ").replace("\\134", "\\"))
    }

    /// How a drive is attached; the first text that tells has it.
    pub(super) fn attached(&mut self, name: &str, transport: &str) {
        self.blocks.entry(name.to_owned()).or_default().transport.get_or_insert_with(|| transport.to_owned());
    }

    /// A drive speaks ATA.
    pub(super) fn speaks_ata(&mut self, name: &str) {
        self.blocks.entry(name.to_owned()).or_default().ata = true;
    }

    /// The volatile cache of a SATA drive, as the kernel has it of the drive's caching mode page.
    pub(super) fn cache(&mut self, name: &str, is_on: bool) {
        let kind = if is_on { "write back" } else { "write through" };
        self.block_file(name, CACHE, kind);
    }

    /// An NVMe namespace hangs on the controller of its number, unless it is reached over several, which no text of a
    /// namespace tells.
    pub(super) fn namespace(&mut self, name: &str) -> Option<String> {
        let (number, _) = name.strip_prefix("nvme")?.split_once('n')?;
        let controller = format!("nvme{number}");
        self.drive(name);
        self.controller(&controller, Some(name));
        Some(controller)
    }

    /// There is an NVMe controller.
    pub(super) fn controller(&mut self, name: &str, namespace: Option<&str>) {
        let all = self.directories.entry("/sys/class/nvme".to_owned()).or_default();
        push(all, name);
        let own = self.directories.entry(format!("/sys/class/nvme/{name}")).or_default();
        // They are there, and what they say is known only where a text says it.
        CONTROLLER.iter().for_each(|file| push(own, file));
        namespace.into_iter().for_each(|namespace| push(own, namespace));
    }

    /// A PCI device. Texts that contradict each other leave only that it is there.
    pub(super) fn pci(&mut self, device: PciDevice) {
        let Some(known) = self.devices.iter_mut().find(|known| known.address == device.address) else {
            self.devices.push(device);
            return;
        };
        if !known.join(device) {
            known.forget();
            self.refused.push(format!("device `{}` is one thing in one text and another in another", known.address));
        }
    }

    // --- the end ---

    /// Directories of block devices, and what is in them.
    pub(super) fn put_blocks(&mut self) {
        self.find_partitions();
        let names: Vec<String> = self.blocks.keys().cloned().collect();
        let drives = names.iter().filter(|name| self.blocks.get(*name).is_some_and(|block| block.drive));
        let drives: Vec<String> = drives.cloned().collect();
        for name in &names {
            let directory = self.directory(name);
            let Some(block) = self.blocks.get(name) else { continue };
            self.links.insert(format!("{NODES}/{name}"), directory.clone());
            if block.drive {
                self.links.insert(format!("{DRIVES}/{name}"), directory.clone());
            }
            // What a mapping stands on is not "nothing" where no text tells it.
            if !block.on.is_empty() || !name.starts_with("dm-") {
                let slaves = self.directories.entry(format!("{directory}/slaves")).or_default();
                let known: BTreeSet<String> = slaves.iter().cloned().collect();
                slaves.extend(block.on.iter().filter(|under| !known.contains(*under)).cloned());
            }
        }
        // No hard disk has that word in its model.
        let is_flash = |model: &str| model.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "SSD");
        for name in &drives {
            let file = |file: &str| (name.clone(), file.to_owned());
            if self.block_files.get(&file("device/model")).is_some_and(|model| is_flash(model)) {
                self.block_files.entry(file("queue/rotational")).or_insert_with(|| "0".to_owned());
            }
        }
        for (list, names) in [(NODES, names), (DRIVES, drives)].into_iter().filter(|(_, names)| !names.is_empty()) {
            let all = self.directories.entry(list.to_owned()).or_default();
            let known: BTreeSet<String> = all.iter().cloned().collect();
            all.extend(names.into_iter().filter(|name| !known.contains(name)));
        }
        for (key, value) in std::mem::take(&mut self.rounded) {
            self.block_files.entry(key).or_insert(value);
        }
        for ((name, file), value) in std::mem::take(&mut self.block_files) {
            let directory = self.directory(&name);
            if file == CACHE {
                self.directories.insert(format!("{directory}/device/scsi_disk"), vec!["0:0:0:0".to_owned()]);
            }
            self.files.insert(format!("{directory}/{file}"), value);
        }
    }

    /// The kernel names a partition after its drive (`bdevname` in its `block/genhd.c`), which only some texts tell otherwise.
    fn find_partitions(&mut self) {
        let lone = self.blocks.iter().filter(|(_, block)| block.part_of.is_none());
        let named = lone.filter_map(|(name, _)| Some((name.clone(), lsblk::drive_of(name)?.to_owned())));
        let found: Vec<(String, String)> = named.filter(|(_, drive)| self.blocks.contains_key(drive)).collect();
        for (name, drive) in found {
            let number = name.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default().to_owned();
            self.partition(&name, &drive);
            self.block_file(&name, "partition", number);
        }
    }

    /// Where a block device has its directory: its place tells how it is attached (`transport` in `inspect/drive.rs`).
    pub(super) fn directory(&self, name: &str) -> String {
        let block = self.blocks.get(name);
        if let Some(drive) = block.and_then(|block| block.part_of.as_deref()).filter(|drive| *drive != name) {
            return format!("{}/{name}", self.directory(drive));
        }
        if name.starts_with("md") || name.starts_with("dm-") || name.starts_with("loop") {
            return format!("/sys/devices/virtual/block/{name}");
        }
        let told = block.and_then(|block| block.transport.as_deref().or(block.ata.then_some("sata")));
        let way = match told {
            Some("sata" | "ata") => "/ata",
            Some("sas") => "/end_device-",
            Some("usb") => "/usb",
            Some("virtio") => "/virtio",
            _ => "",
        };
        format!("/sys/devices/posted{way}/{name}")
    }
}

/// Is a text of the program whose command line this is? A document is.
fn is_own(reading: &str, line: &str) -> bool {
    reading == "JSON" || reading.split(' ').next() == line.split(' ').next()
}

/// Adds a name that is not there yet.
pub(super) fn push(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}
