//! `btrfs filesystem usage`, `df` and `show`, and `btrfs device stats`: as the files of a btrfs below `/sys/fs/btrfs`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::btrfs_table::{self, Table};
use super::btrfs_time::last_started;
use super::kept::{Btrfs, BtrfsDevice};
use super::{Machine, Text, rounded};

/// `Overall:`, which `usage` begins with, or `Label: 'data'  uuid: …` of `show`: a file system each.
pub(super) fn begins(line: &str) -> bool {
    line.trim_end() == "Overall:" || (line.starts_with("Label: ") && line.contains(" uuid: "))
}

/// `Data, RAID1: total=1.20TiB, used=1.18TiB` of `df`.
pub(super) fn begins_shares(line: &str) -> bool {
    share(line).is_some_and(|share| !share.with_devices)
}

/// `[/dev/sda].write_io_errs    0` of `device stats`, or the heading of its table.
pub(super) fn begins_counters(line: &str) -> bool {
    counter(line).is_some() || btrfs_table::is_of_counters(line)
}

/// `/dev/sda, ID: 1` of `device usage`.
pub(super) fn begins_devices(line: &str) -> bool {
    btrfs_table::used_device(line).is_some()
}

/// `512.00GiB` in bytes. These programs round to hundredths of a unit unless they are told not to.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40), ("PiB", 50), ("B", 0)];
    let (number, power) = units.iter().find_map(|(unit, power)| Some((text.strip_suffix(unit)?, *power)))?;
    rounded(number, &['.'], power)
}

/// What is set aside for a kind of block in a profile, and how much of it is used.
struct Share {
    kind: String,
    profile: String,
    used: u64,
    all: u64,
    /// Lines of devices follow, as in `usage`.
    with_devices: bool,
}

/// `Metadata,DUP: Size:5.99GiB, Used:5.49GiB (91.64%)` or `Metadata, DUP: total=6.00GiB, used=5.49GiB`.
fn share(line: &str) -> Option<Share> {
    let (of, rest) = line.trim().split_once(": ").or_else(|| line.trim().split_once(':'))?;
    let (kind, profile) = of.split_once(',')?;
    let (all, used) = rest.split_once(", ")?;
    let with_devices = all.starts_with("Size:");
    let all = all.strip_prefix("Size:").or_else(|| all.strip_prefix("total="))?;
    let used = used.strip_prefix("Used:").or_else(|| used.strip_prefix("used="))?.split(' ').next()?;
    let kind = kind.to_lowercase();
    ["data", "metadata", "system"].contains(&kind.as_str()).then_some(())?;
    let profile = profile.trim().to_lowercase();
    Some(Share { kind, profile, used: bytes(used)?, all: bytes(all)?, with_devices })
}

/// Path, counter and number.
fn counter(line: &str) -> Option<(&str, &str)> {
    let (path, rest) = line.trim().strip_prefix('[')?.split_once("].")?;
    let mut words = rest.split_whitespace();
    let is_known = words.next()?.ends_with("_errs") && words.next()?.parse::<u64>().is_ok();
    (is_known && words.next().is_none()).then_some((path, rest))
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let mut system = Btrfs { target: text.command.and_then(target).map(ToOwned::to_owned), ..Btrfs::default() };
    let mut of_unallocated = false;
    let mut table = Table::default();
    for line in &text.lines {
        if system.devices.len() > DEVICES {
            break;
        }
        let value = |key: &str| line.trim().strip_prefix(key).map(str::trim);
        if table.read(line, &mut system) {
            continue;
        }
        if let Some(share) = share(line) {
            system.share(&share.kind, &share.profile, Some([share.used, share.all]));
            of_unallocated = false;
        } else if let Some((path, rest)) = counter(line) {
            system.device(path).counters.push(rest.to_owned());
            system.mounted = true;
        } else if let Some((_, uuid)) = value("Label: ").and_then(|label| label.split_once(" uuid: ")) {
            system.uuid = Some(uuid.trim().to_owned()).filter(|uuid| is_uuid(uuid));
        } else if let Some(reserve) = value("Global reserve:") {
            system.reserve = reserve.split_whitespace().next().and_then(bytes);
        } else if let Some(size) = value("Device missing:") {
            // Who is not root is told all of the size by versions up to 5.13 (github.com/kdave/btrfs-progs/issues/395).
            system.missing |= bytes(size).is_some_and(|size| size > 0 && system.size.is_none_or(|all| size < all));
        } else if let Some(size) = value("Device size:") {
            system.size = bytes(size);
        } else if let Some(device) = value("devid") {
            system.shown(device);
        } else if line.contains("Some devices missing") {
            system.missing = true;
        } else if line.trim() == "Unallocated:" {
            of_unallocated = true;
        } else if let [path, size] = line.split_whitespace().collect::<Vec<_>>()[..] {
            let Some(size) = bytes(size).filter(|_| path.starts_with("/dev/")) else { continue };
            let device = system.device(path);
            device.size = device.size.saturating_add(size);
            device.unallocated = device.unallocated.or(of_unallocated.then_some(size));
        }
    }
    if system.devices.is_empty() && system.shares.is_empty() {
        machine.refused.push("it tells neither devices nor profiles".to_owned());
        return 0;
    }
    machine.put_btrfs(system)
}

impl Machine {
    /// What a text tells of a btrfs.
    pub(super) fn put_btrfs(&mut self, system: Btrfs) -> usize {
        if self.btrfs.len() == SYSTEMS || system.devices.len() > DEVICES {
            self.refused.push("it tells of more than anybody has".to_owned());
            return 0;
        }
        self.btrfs.push(system);
        1
    }
}

/// Each is held against all others.
const SYSTEMS: usize = 64;
const DEVICES: usize = 256;

/// Where it is mounted: the last word of the command. What the shell does with its output is no part of it, and neither is the `2` of
/// `2>/dev/null`.
pub(super) fn target(line: &str) -> Option<&str> {
    let command = line.split(['|', '>', ';', '&']).find(|part| part.contains("btrfs "))?;
    let last = command.split_whitespace().rfind(|word| !["1", "2"].contains(word))?;
    (last.starts_with('/') && !last.starts_with("/dev/")).then_some(last)
}

pub(super) fn is_uuid(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

impl Btrfs {
    /// One of which a text tells what its last scrub found.
    pub(super) fn scrubbed(target: Option<&str>, uuid: Option<&str>, text: String) -> Self {
        let [target, uuid] = [target, uuid].map(|word| word.map(ToOwned::to_owned));
        Self { target, uuid, mounted: true, scrubs: vec![text], ..Self::default() }
    }

    /// One of which a text tells what it does.
    pub(super) fn busy(target: &str, operation: &'static str) -> Self {
        Self { target: Some(target.to_owned()), mounted: true, operations: vec![operation], ..Self::default() }
    }

    /// One without a path has a number: `devid:2` is how `device stats` calls it.
    pub(super) fn device(&mut self, path: &str) -> &mut BtrfsDevice {
        let number = path.strip_prefix("devid:").and_then(|number| number.parse().ok());
        let path = if path.starts_with("/dev/") { path } else { "" };
        let is_it = |device: &BtrfsDevice| device.path == path && (!path.is_empty() || device.id == number);
        let at = self.devices.iter().position(is_it).unwrap_or_else(|| {
            self.devices.push(BtrfsDevice { path: path.to_owned(), id: number, ..BtrfsDevice::default() });
            self.devices.len() - 1
        });
        &mut self.devices[at]
    }

    /// A kind of block has a profile, and so much of all that is set aside for it is used.
    pub(super) fn share(&mut self, kind: &str, profile: &str, sizes: Option<[u64; 2]>) {
        let (profiles, sum) = self.shares.entry(kind.to_lowercase()).or_default();
        profiles.insert(profile.to_lowercase());
        if let Some([used, all]) = sizes {
            let [known_used, known_all] = sum.unwrap_or_default();
            *sum = Some([known_used.saturating_add(used), known_all.saturating_add(all)]);
        }
        self.mounted = true;
    }

    /// How many devices are told of.
    pub(super) const fn is_full(&self) -> bool {
        self.devices.len() > DEVICES
    }

    /// Something tells of it that only tells of what is mounted.
    pub(super) const fn set_mounted(&mut self) {
        self.mounted = true;
    }

    /// `1 size 2.73TiB used 1.56TiB path /dev/sdb`; of one that is missing newer versions say so, and that its size is 0.
    fn shown(&mut self, rest: &str) {
        let Some(id) = rest.split_whitespace().next().and_then(|id| id.parse().ok()) else { return };
        let path = rest.split_once(" path ").map(|(_, path)| path.trim()).unwrap_or_default();
        let (path, is_missing) = path.strip_suffix(" MISSING").map_or((path, false), |path| (path.trim(), true));
        if path.starts_with("/dev/") && !path.contains(' ') {
            let device = self.device(path);
            device.id = Some(id);
            device.missing |= is_missing;
        } else if is_missing || path.ends_with("MISSING") || path.contains("missing") {
            self.devices.push(BtrfsDevice { id: Some(id), missing: true, ..BtrfsDevice::default() });
        }
    }

    /// Are both of one file system?
    fn is_of(&self, other: &Self) -> bool {
        let both = |one: &Option<String>, other: &Option<String>| one.is_some() && one == other;
        let has =
            |device: &BtrfsDevice| other.devices.iter().any(|own| own.path == device.path && !own.path.is_empty());
        let differ = self.uuid.is_some() && other.uuid.is_some() && self.uuid != other.uuid;
        if differ {
            return false;
        }
        both(&self.target, &other.target) || both(&self.uuid, &other.uuid) || self.devices.iter().any(has)
    }

    fn join(&mut self, other: Self) {
        self.target = self.target.take().or(other.target);
        self.uuid = self.uuid.take().or(other.uuid);
        self.reserve = self.reserve.or(other.reserve);
        self.scrubs.extend(other.scrubs);
        self.operations.extend(other.operations);
        self.mounted |= other.mounted;
        self.missing |= other.missing;
        if self.shares.is_empty() {
            self.shares = other.shares;
        }
        for device in other.devices {
            if device.path.is_empty() {
                if !self.devices.iter().any(|own| own.id == device.id) {
                    self.devices.push(device);
                }
                continue;
            }
            let own = self.device(&device.path);
            own.id = own.id.or(device.id);
            own.missing |= device.missing;
            own.unallocated = own.unallocated.or(device.unallocated);
            own.size = own.size.max(device.size);
            if own.counters.is_empty() {
                own.counters = device.counters;
            }
        }
    }

    /// The kernel's files of it, and what `btrfs` says. Numbers of devices that no text tells are those that are free: both
    /// programs show devices in the order of their numbers. One that is missing gets none: a number that is free may be one that was
    /// removed long ago, and `btrfs replace` takes its numbers from here.
    fn put(self, uuid: &str, machine: &mut Machine) {
        let directory = format!("/sys/fs/btrfs/{uuid}");
        machine.directories.entry(directory.clone()).or_default();
        for (kind, (profiles, sizes)) in &self.shares {
            let below = format!("{directory}/allocation/{kind}");
            machine.directories.insert(below.clone(), profiles.iter().cloned().collect());
            let Some([used, all]) = sizes else { continue };
            machine.file(format!("{below}/bytes_used"), used.to_string());
            machine.file(format!("{below}/total_bytes"), all.to_string());
        }
        if let Some(reserve) = self.reserve {
            machine.file(format!("{directory}/allocation/global_rsv_size"), reserve.to_string());
        }
        for operation in self.operations {
            machine.file(format!("{directory}/exclusive_operation"), operation);
        }
        let known = self.devices.iter().find_map(|device| machine.mounted_at(&device.path));
        let target = known.or(self.target).unwrap_or_else(|| "TARGET".to_owned());
        // Who is not root is told so of all devices by some versions (github.com/kdave/btrfs-progs/issues/1114).
        let are_all = !self.devices.is_empty() && self.devices.iter().all(|device| device.missing);
        let mut ids: BTreeSet<u32> = self.devices.iter().filter_map(|device| device.id).collect();
        let mut free = || (1..).find(|id| ids.insert(*id)).unwrap_or_default();
        let lacks = self.missing && !self.devices.iter().any(|device| device.missing);
        let more = BtrfsDevice { missing: true, ..BtrfsDevice::default() };
        let (mut names, mut shown) = (Vec::new(), String::new());
        for device in self.devices.into_iter().chain(lacks.then_some(more)) {
            let id = match device.id {
                Some(id) => id,
                None if device.missing => UNTOLD,
                None => free(),
            };
            let own = format!("{directory}/devinfo/{id}");
            names.push(id.to_string());
            if !are_all {
                machine.file(format!("{own}/missing"), u8::from(device.missing).to_string());
            }
            if !device.counters.is_empty() {
                machine.file(format!("{own}/error_stats"), device.counters.join("\n"));
            }
            let is_missing = device.missing && !are_all;
            let free = device.unallocated.or(is_missing.then_some(0));
            let free = free.map_or_else(String::new, |free| format!("size {free} used 0 "));
            shown.push_str(&format!("devid {id} {free}path {}\n", device.path));
            let Some(name) = machine.node_of(&device.path).filter(|_| !is_missing) else { continue };
            if device.size > 0 && machine.is_first(&name, "size") {
                machine.block_file(&name, "size", (device.size / 512).to_string());
            }
            let said = json!({"signatures": [{"device": name, "offset": "0x10040", "type": "btrfs", "uuid": uuid}]});
            machine.run(format!("wipefs --no-act --json /dev/{name}"), said.to_string());
            if self.mounted {
                machine.mount(&device.path, &target, "btrfs", "rw");
            }
        }
        machine.directories.insert(format!("{directory}/devinfo"), names);
        if self.mounted {
            machine.run(format!("btrfs filesystem show --raw {target}"), shown);
            for scrub in last_started(self.scrubs) {
                machine.run(format!("btrfs scrub status -d {target}"), scrub);
            }
        }
    }
}

/// All file systems that texts tell of, each once. One text that names no device is of the only one that others tell of.
pub(super) fn put_all(mut all: Vec<Btrfs>, machine: &mut Machine) {
    all.sort_by_key(|system| system.devices.is_empty());
    let mut systems: Vec<Btrfs> = Vec::new();
    for system in all {
        let is_bare = system.devices.is_empty() && system.target.is_none();
        let is_only = |known: &Btrfs| is_bare && (known.uuid.is_none() || system.uuid.is_none());
        let alone = systems.len() == 1;
        match systems.iter_mut().find(|known| alone && is_only(known) || known.is_of(&system)) {
            Some(known) => known.join(system),
            None => systems.push(system),
        }
    }
    for (at, mut system) in systems.into_iter().enumerate() {
        if system.devices.is_empty() {
            let most = system.shares.values().flat_map(|(profiles, _)| profiles).map(|profile| least(profile)).max();
            let own = ('A'..='W').skip(at.saturating_mul(MOST_NAMELESS)).take(most.unwrap_or(1));
            let paths = own.map(|letter| format!("/dev/sd{letter}"));
            system.devices = paths.map(|path| BtrfsDevice { path, ..BtrfsDevice::default() }).collect();
        }
        let uuid =
            system.uuid.clone().unwrap_or_else(|| if at == 0 { "UUID".to_owned() } else { format!("UUID-{at}") });
        system.put(&uuid, machine);
    }
}

/// No device has this number, for numbers begin at 1. One that another device has is never given to one that is missing.
const UNTOLD: u32 = 0;

/// `df` names no device: as many as its profiles want at least (mkfs.btrfs(8), PROFILES), by names that no drive has, and none that a drive without a name is
/// given here.
fn least(profile: &str) -> usize {
    match profile {
        "single" | "dup" | "raid0" => 1,
        "raid6" | "raid1c3" => 3,
        "raid1c4" => 4,
        _ => 2,
    }
}

/// The document of `btrfs --format json device stats`.
pub(super) fn read_document(rows: &[Value], command: Option<&str>, machine: &mut Machine) -> usize {
    let mut system = Btrfs { target: command.and_then(target).map(ToOwned::to_owned), ..Btrfs::default() };
    for row in rows.iter().take(DEVICES) {
        let number = row.get("devid").and_then(plain).and_then(|id| id.parse().ok());
        let path = row.get("device").and_then(Value::as_str).filter(|path| path.starts_with("/dev/"));
        let Some(id) = number else { continue };
        let device = system.device(path.unwrap_or(&format!("devid:{id}")));
        device.id = Some(id);
        let counters = row.as_object().into_iter().flatten().filter(|(key, _)| key.ends_with("_errs"));
        device.counters = counters.filter_map(|(key, count)| Some(format!("{key} {}", plain(count)?))).collect();
        system.set_mounted();
    }
    let told = usize::from(!system.devices.is_empty() && machine.btrfs.len() < SYSTEMS);
    machine.btrfs.extend((told > 0).then_some(system));
    told
}

/// A number, which versions before 5.10 put into quotes.
fn plain(value: &Value) -> Option<String> {
    value.as_str().map(ToOwned::to_owned).or_else(|| value.as_u64().map(|number| number.to_string()))
}

/// So many of them for a file system.
const MOST_NAMELESS: usize = 4;
