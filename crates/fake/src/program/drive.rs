//! Programs that work on drives as such: partitions, discards, formats, modules.

use std::collections::BTreeMap;

use super::{Call, Did, broken, device, done, fail, free_device, say};
use crate::device::{Bus, Device, Drive, Kind, Part};
use crate::state::State;

const MIB: u64 = 1 << 20;

pub(crate) fn discard(state: &mut State, call: &Call<'_>) -> Did {
    let name = if call.has("--force") { device(state, call.last())? } else { free_device(state, call.last())? };
    let offset = call.number("--offset").unwrap_or(0);
    let length = call.number("--length").unwrap_or_else(|| state.size(&name).saturating_sub(offset));
    if !call.has("--zeroout") && state.drive(&name).is_some_and(|drive| drive.bus == Bus::Sata) {
        return Err(fail(1, format!("blkdiscard: {}: BLKDISCARD ioctl failed: Operation not supported", call.last())));
    }
    state.erase(&name, offset, length).map_err(|error| broken(&error))?;
    state.scan_table(&name);
    done()
}

pub(crate) fn blockdev(state: &mut State, call: &Call<'_>) -> Did {
    let name = device(state, call.last())?;
    match call.word(1) {
        "--getsize64" => say(format!("{}\n", state.size(&name))),
        "--rereadpt" if state.is_claimed(&name) => {
            Err(fail(1, "blockdev: ioctl error on BLKRRPART: Device or resource busy"))
        }
        "--rereadpt" => {
            state.scan_table(&name);
            done()
        }
        other => Err(fail(1, format!("blockdev: unknown command: {other}"))),
    }
}

/// Partitions of a table: number, first byte, bytes, identifier.
type Table = BTreeMap<u32, (u64, u64, String)>;

impl State {
    /// What a table lists; none where there is no table.
    fn table_of(&mut self, name: &str) -> Option<Table> {
        let block = self.devices.get(name)?.block;
        if self.read(name, block, 8).ok()? != b"EFI PART" {
            return None;
        }
        let length = u64::from_le_bytes(self.read(name, 2 * block, 8).ok()?.try_into().ok()?);
        serde_json::from_slice(&self.read(name, 2 * block + 8, length.min(MIB / 2)).ok()?).ok()
    }

    /// The kernel reads the table anew: partitions come and go. Partitions of partitions and of mappings it has none.
    pub(crate) fn scan_table(&mut self, name: &str) {
        if self.drive(name).is_none() {
            return;
        }
        let table = self.table_of(name).unwrap_or_default();
        for part in self.partitions(name) {
            self.remove(&part);
        }
        let block = self.devices[name].block;
        for (number, (start, size, uuid)) in table {
            let part = terms::plan::partition_of(&format!("/dev/{name}"), number);
            let kind = Kind::Partition(Part { of: name.to_owned(), number, start, uuid });
            self.add(part.trim_start_matches("/dev/"), size, block, kind);
        }
    }

    fn put_partitions(&mut self, name: &str, uuid: Option<&str>, table: &Table) -> std::io::Result<()> {
        let (size, block) = (self.size(name), self.devices[name].block);
        if let Some(uuid) = uuid {
            let id: Vec<u8> = uuid.bytes().filter(u8::is_ascii_hexdigit).take(16).collect();
            for place in [block, size - block] {
                self.write(name, place, b"EFI PART")?;
                self.write(name, place + 56, &id)?;
            }
            self.write(name, 510, &[0x55, 0xaa])?;
        }
        let text = serde_json::to_vec(table).map_err(std::io::Error::other)?;
        self.write(name, 2 * block, &[&(text.len() as u64).to_le_bytes()[..], &text].concat())
    }
}

pub(crate) fn parted(state: &mut State, call: &Call<'_>) -> Did {
    let node = call.nodes().first().copied().unwrap_or_default().to_owned();
    let name = device(state, &node)?;
    let own_parts = state.partitions(&name).iter().any(|part| state.is_claimed(part));
    if call.has("mklabel") && (state.is_claimed(&name) || own_parts) {
        return Err(fail(1, format!("Error: Partition(s) on {node} are being used.")));
    }
    let mut table = if call.has("mklabel") { Table::new() } else { state.table_of(&name).unwrap_or_default() };
    let mut words = call.argv.iter().skip_while(|word| **word != node).skip(1);
    let mut uuid = None;
    while let Some(word) = words.next() {
        match word.as_str() {
            "mklabel" => {
                words.next();
                uuid = Some(state.draw_uuid());
            }
            "mkpart" => {
                words.next();
                let place = |word: Option<&String>| match word.map(String::as_str) {
                    Some("100%") => (state.size(&name) - MIB) / MIB * MIB,
                    Some(word) => word.trim_end_matches("MiB").parse::<u64>().unwrap_or(0) * MIB,
                    None => 0,
                };
                let (from, to) = (place(words.next()), place(words.next()));
                if to <= from || to > state.size(&name) {
                    return Err(fail(1, "Error: The location is outside of the device."));
                }
                let number = (1..).find(|number| !table.contains_key(number)).unwrap_or(1);
                let id = state.draw_uuid();
                table.insert(number, (from, to - from, id));
            }
            "rm" => {
                let number = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
                let part = terms::plan::partition_of(&node, number);
                if state.device_at(&part).is_some_and(|part| state.is_claimed(&part)) {
                    return Err(fail(1, format!("Error: Partition {part} is being used.")));
                }
                if table.remove(&number).is_none() {
                    return Err(fail(1, "Error: Partition doesn't exist."));
                }
            }
            other => return Err(fail(1, format!("parted: invalid token: {other}"))),
        }
    }
    state.put_partitions(&name, uuid.as_deref(), &table).map_err(|error| broken(&error))?;
    // parted tells the kernel of each partition by itself, and so those in use stay as they are.
    let stay: Vec<(String, Device)> =
        state.partitions(&name).into_iter().map(|part| (part.clone(), state.devices[&part].clone())).collect();
    state.scan_table(&name);
    for (part, device) in stay {
        if let Some(new) = state.devices.get_mut(&part) {
            *new = device;
        }
    }
    done()
}

pub(crate) fn nvme(state: &mut State, call: &Call<'_>) -> Did {
    let node = call.nodes().first().copied().unwrap_or_default().to_owned();
    // A controller has a node of its own, and here one namespace.
    let name = match node.strip_prefix("/dev/nvme").filter(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
        Some(number) => format!("nvme{number}n1"),
        None => device(state, &node)?,
    };
    let claimed = state.is_claimed(&name);
    let size = state.size(&name);
    if state.drive(&name).is_none_or(|drive| drive.bus != Bus::Nvme) {
        return Err(fail(1, format!("{node}: No such file or directory")));
    }
    match call.word(1) {
        "format" if claimed => Err(fail(1, "format: Device or resource busy")),
        "format" => {
            state.erase(&name, 0, size).map_err(|error| broken(&error))?;
            let block = if call.number("--lbaf") == Some(0) { 512 } else { 4096 };
            if let Some(device) = state.devices.get_mut(&name) {
                device.block = block;
            }
            done()
        }
        "set-feature" => {
            let on = call.number("--value") == Some(1);
            if let Some(drive) = state.drive_mut(&name) {
                drive.cache_on = on;
            }
            done()
        }
        "sanitize" => {
            state.erase(&name, 0, size).map_err(|error| broken(&error))?;
            if let Some(drive) = state.drive_mut(&name) {
                drive.sanitizing = 2;
            }
            done()
        }
        "get-log" => {
            let Some(drive) = state.drive_mut(&name) else { return done() };
            let under_way = drive.sanitizing > 0;
            drive.sanitizing = drive.sanitizing.saturating_sub(1);
            let status = if under_way { 2 } else { drive.sanitized };
            let mut log = vec![0; 20];
            log[2..4].copy_from_slice(&status.to_le_bytes());
            say(log)
        }
        other => Err(fail(1, format!("ERROR: '{other}' is not known here"))),
    }
}

pub(crate) fn hdparm(state: &mut State, call: &Call<'_>) -> Did {
    let name = device(state, call.last())?;
    if let Some(drive) = state.drive_mut(&name) {
        drive.cache_on = call.has("-W1");
    }
    done()
}

/// `brd` makes RAM drives as it is loaded (kernel, drivers/block/brd.c).
pub(crate) fn modprobe(state: &mut State, call: &Call<'_>) -> Did {
    let module = call.word(1);
    if state.absent.contains(module) {
        return Err(fail(1, format!("modprobe: FATAL: Module {module} not found in directory /lib/modules")));
    }
    state.modules.insert(module.to_owned());
    if module == "brd" {
        let size = call.number("rd_size").unwrap_or(4096) << 10;
        for slot in 0..call.number("rd_nr").unwrap_or(1) as u32 {
            state.add_drive(Bus::Ram, slot, size, 512);
        }
    }
    done()
}

pub(crate) fn rmmod(state: &mut State, call: &Call<'_>) -> Did {
    let module = call.word(1);
    if module == "brd" {
        let drives: Vec<String> = state.devices.keys().filter(|name| name.starts_with("ram")).cloned().collect();
        if drives.iter().any(|name| state.is_claimed(name)) {
            return Err(fail(1, "rmmod: ERROR: Module brd is in use"));
        }
        drives.iter().for_each(|name| drop(state.remove(name)));
    }
    if !state.modules.remove(module) {
        return Err(fail(1, format!("rmmod: ERROR: Module {module} is not currently loaded")));
    }
    done()
}

impl State {
    /// Plugs a drive in, and gives what the kernel calls it.
    pub(crate) fn add_drive(&mut self, bus: Bus, slot: u32, size: u64, block: u64) -> String {
        let name = bus.name(slot);
        let told = bus != Bus::Ram;
        let drive = Drive {
            store: crate::store::Store::default(),
            bus,
            slot,
            serial: told.then(|| format!("{}{slot}F{size:x}", if bus == Bus::Nvme { 'S' } else { 'W' })),
            wwid: match bus {
                Bus::Nvme => Some(format!("eui.00253858{slot:08x}")),
                Bus::Sata => Some(format!("naa.50014ee2{slot:08x}")),
                Bus::Ram => None,
            },
            model: format!("FAKE DRIVE {slot}"),
            cache_on: true,
            sanitized: 1,
            sanitizing: 0,
        };
        self.add(&name, size, block, Kind::Drive(drive));
        name
    }
}
