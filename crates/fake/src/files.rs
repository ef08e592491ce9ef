//! File systems: a table of files on the device, beside the superblock, and the files' bytes behind it.

use std::io;

use crate::bytes::{EIO, error};
use crate::mounts::{DATA, File, Mount, Table};
use crate::state::{State, mixed};

/// Where the table lies, behind everything by which a file system is known.
const TABLE: u64 = 1 << 20;
const BLOCK: u64 = 4096;

impl State {
    /// Writes the table to every device.
    pub(crate) fn put_table(&mut self, devices: &[String], table: &Table) -> io::Result<()> {
        let text = serde_json::to_vec(table).map_err(io::Error::other)?;
        let bytes = [&(text.len() as u64).to_le_bytes()[..], &text].concat();
        let mut kept = false;
        for device in devices {
            kept |= self.write(device, TABLE, &bytes).is_ok();
        }
        if kept { Ok(()) } else { Err(error(EIO)) }
    }

    pub(crate) fn table(&mut self, device: &str) -> io::Result<Table> {
        let length = self.read(device, TABLE, 8)?;
        let length = length.try_into().map(u64::from_le_bytes).map_err(|_| error(EIO))?;
        let text = self.read(device, TABLE + 8, length.min(DATA))?;
        serde_json::from_slice(&text).map_err(io::Error::other)
    }

    /// The mount that a path lies in, and the path within it.
    pub(crate) fn mount_of(&self, path: &str) -> Option<(usize, String)> {
        let inside = |mount: &Mount| Some(path.strip_prefix(&mount.point)?.strip_prefix('/')?.to_owned());
        self.mounts.iter().enumerate().rev().find_map(|(at, mount)| Some((at, inside(mount)?)))
    }

    /// Reads a file, on a mounted file system or of the root; `None` where there is none.
    pub(crate) fn file(&mut self, path: &str) -> Option<io::Result<Vec<u8>>> {
        let Some((at, name)) = self.mount_of(path) else { return self.files.get(path).cloned().map(Ok) };
        let file = self.mounts[at].table.files.get(&name)?.clone();
        Some(self.file_read(at, &file))
    }

    fn file_read(&mut self, at: usize, file: &File) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for block in 0..file.length.div_ceil(BLOCK) {
            bytes.extend(self.block_read(at, file, block)?);
        }
        bytes.truncate(file.length as usize);
        Ok(bytes)
    }

    /// A block from the first copy that fits its checksum; copies that do not are put right.
    fn block_read(&mut self, at: usize, file: &File, block: u64) -> io::Result<Vec<u8>> {
        let (devices, place) = (self.copies(at, file, block), file.start + block * BLOCK);
        let mut broken: Vec<String> = Vec::new();
        for device in devices {
            let read = self.read(&device, place, BLOCK);
            if let Ok(bytes) = read
                && file.sums.get(block as usize).is_none_or(|sum| *sum == sum_of(&bytes))
            {
                for device in &broken {
                    self.mounts[at].scrubbed[1] += u64::from(self.write(device, place, &bytes).is_ok());
                }
                return Ok(bytes);
            }
            self.mounts[at].scrubbed[0] += 1;
            broken.push(device);
        }
        self.mounts[at].scrubbed[2] += 1;
        Err(error(EIO))
    }

    /// Devices that hold a block.
    fn copies(&self, at: usize, file: &File, block: u64) -> Vec<String> {
        let mount = &self.mounts[at];
        let (count, first) = (mount.devices.len(), (file.start / BLOCK + block) as usize);
        (0..mount.table.copies.min(count)).map(|copy| mount.devices[(first + copy) % count].clone()).collect()
    }

    /// Writes into a file, which is made where it is not there.
    pub(crate) fn file_write(&mut self, path: &str, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let Some((at, name)) = self.mount_of(path) else {
            let file = self.files.entry(path.to_owned()).or_default();
            file.resize(file.len().max(offset as usize + bytes.len()), 0);
            file[offset as usize..offset as usize + bytes.len()].copy_from_slice(bytes);
            return Ok(());
        };
        let old = self.mounts[at].table.files.get(&name).cloned();
        let mut content = old.as_ref().map_or(Ok(Vec::new()), |file| self.file_read(at, file))?;
        content.resize(content.len().max(offset as usize + bytes.len()), 0);
        content[offset as usize..offset as usize + bytes.len()].copy_from_slice(bytes);
        let table = &mut self.mounts[at].table;
        let fits = |file: &File| !table.sums && file.length.div_ceil(BLOCK) >= (content.len() as u64).div_ceil(BLOCK);
        let start = old.filter(fits).map_or(table.next, |file| file.start);
        if start == table.next {
            table.next += (content.len() as u64).next_multiple_of(BLOCK);
        }
        let length = content.len() as u64;
        content.resize(length.next_multiple_of(BLOCK) as usize, 0);
        let sums = if table.sums { content.chunks(BLOCK as usize).map(sum_of).collect() } else { Vec::new() };
        let file = File { start, length, sums };
        for (block, bytes) in content.chunks(BLOCK as usize).enumerate() {
            let mut kept = false;
            for device in self.copies(at, &file, block as u64) {
                kept |= self.write(&device, start + block as u64 * BLOCK, bytes).is_ok();
            }
            if !kept {
                return Err(error(EIO));
            }
        }
        self.mounts[at].table.files.insert(name, file);
        let (devices, table) = (self.mounts[at].devices.clone(), self.mounts[at].table.clone());
        self.put_table(&devices, &table)
    }

    /// Reads every copy of every block and puts right what does not fit.
    pub(crate) fn scrub(&mut self, at: usize) {
        let all = self.mounts[at].table.files.clone();
        for (file, block) in
            all.values().flat_map(|file| (0..file.length.div_ceil(BLOCK)).map(move |block| (file, block)))
        {
            // Each copy in turn comes first.
            for device in self.copies(at, file, block) {
                let place = file.start + block * BLOCK;
                let good = self
                    .read(&device, place, BLOCK)
                    .is_ok_and(|bytes| file.sums.get(block as usize) == Some(&sum_of(&bytes)));
                if good {
                    continue;
                }
                self.mounts[at].scrubbed[0] += 1;
                let others: Vec<String> =
                    self.copies(at, file, block).into_iter().filter(|other| *other != device).collect();
                let right = others.iter().find_map(|other| {
                    self.read(other, place, BLOCK)
                        .ok()
                        .filter(|bytes| file.sums.get(block as usize) == Some(&sum_of(bytes)))
                });
                let repaired = right.is_some_and(|bytes| self.write(&device, place, &bytes).is_ok());
                self.mounts[at].scrubbed[if repaired { 1 } else { 2 }] += 1;
            }
        }
    }

    /// A device takes the place of another, and gets what it should hold.
    pub(crate) fn replace_device(&mut self, at: usize, index: usize, new: &str) -> io::Result<()> {
        self.mounts[at].devices[index] = new.to_owned();
        let (devices, table) = (self.mounts[at].devices.clone(), self.mounts[at].table.clone());
        self.put_table(&devices, &table)?;
        self.scrub(at);
        Ok(())
    }
}

fn sum_of(block: &[u8]) -> u64 {
    block.chunks(8).fold(1, |sum, word| mixed(sum ^ word.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))))
}
