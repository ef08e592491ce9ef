//! Block devices: their sizes, queues and what is written on them.

use super::Machine;

/// Limits of a queue.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub logical: u32,
    pub physical: u32,
    pub minimum_io: u32,
    pub optimal_io: u32,
    pub discard_max: u64,
    pub scheduler: &'static str,
    pub write_cache: &'static str,
    pub rotational: bool,
    pub queues: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            logical: 512,
            physical: 512,
            minimum_io: 512,
            optimal_io: 0,
            discard_max: 2_199_023_255_040,
            scheduler: "[none] mq-deadline",
            write_cache: "write back",
            rotational: false,
            queues: 8,
        }
    }
}

impl Machine {
    /// A whole device in a directory below `/sys/devices`.
    pub fn block(&mut self, directory: &str, name: &str, major: u32, size: u64, limits: Limits) -> String {
        let directory = format!("{directory}/{name}");
        self.link(format!("/sys/block/{name}"), &directory);
        self.link(format!("/sys/class/block/{name}"), &directory);
        self.common(&directory, name, major, size);
        self.directory(format!("{directory}/slaves"));
        for (file, value) in [
            ("logical_block_size", limits.logical.to_string()),
            ("physical_block_size", limits.physical.to_string()),
            ("minimum_io_size", limits.minimum_io.to_string()),
            ("optimal_io_size", limits.optimal_io.to_string()),
            ("max_sectors_kb", "1280".to_owned()),
            ("discard_max_bytes", limits.discard_max.to_string()),
            ("discard_granularity", limits.logical.to_string()),
            ("write_cache", limits.write_cache.to_owned()),
            ("rotational", u8::from(limits.rotational).to_string()),
            ("nr_requests", "256".to_owned()),
            ("read_ahead_kb", "128".to_owned()),
            ("zoned", "none".to_owned()),
        ] {
            self.file(format!("{directory}/queue/{file}"), value);
        }
        if !limits.scheduler.is_empty() {
            self.file(format!("{directory}/queue/scheduler"), limits.scheduler);
        }
        for queue in 0..limits.queues {
            self.file(format!("{directory}/mq/{queue}/nr_tags"), 1023);
        }
        directory
    }

    fn common(&mut self, directory: &str, name: &str, major: u32, size: u64) {
        let minor = self.minor(major);
        self.file(format!("{directory}/dev"), format!("{major}:{minor}"));
        self.file(format!("{directory}/size"), size / 512);
        self.file(format!("{directory}/ro"), 0);
        self.file(format!("{directory}/alignment_offset"), 0);
        self.signatures.entry(name.to_owned()).or_default();
    }

    /// A partition: `nvme0n1p2` of `nvme0n1`, `sda2` of `sda`.
    pub fn partition(&mut self, drive: &str, number: u32, start: u64, size: u64) -> String {
        let infix = if drive.ends_with(|c: char| c.is_ascii_digit()) { "p" } else { "" };
        let name = format!("{drive}{infix}{number}");
        let directory = format!("{}/{name}", self.links[&format!("/sys/block/{drive}")]);
        self.link(format!("/sys/class/block/{name}"), &directory);
        self.common(&directory, &name, 259, size);
        self.file(format!("{directory}/partition"), number);
        self.file(format!("{directory}/start"), start / 512);
        if self.signatures[drive].is_empty() {
            self.signature(drive, "0x200", "gpt", "", "");
        }
        name
    }

    /// Writes a signature on a device.
    pub fn signature(&mut self, name: &str, offset: &str, kind: &str, uuid: &str, label: &str) {
        self.signatures.get_mut(name).unwrap().push([offset, kind, uuid, label].map(ToOwned::to_owned));
    }

    /// The number of a device, `MAJOR:MINOR`.
    pub fn number(&self, name: &str) -> String {
        let directory = &self.links[&format!("/sys/class/block/{name}")];
        String::from_utf8(self.files[&format!("{directory}/dev")].clone()).unwrap().trim().to_owned()
    }

    /// Says that one device stands on others.
    pub fn stands_on(&mut self, name: &str, under: &[&str]) {
        let directory = self.links[&format!("/sys/class/block/{name}")].clone();
        for device in under {
            let target = self.links[&format!("/sys/class/block/{device}")].clone();
            self.link(format!("{directory}/slaves/{device}"), target);
        }
        self.directories.retain(|path| *path != format!("{directory}/slaves") || under.is_empty());
    }

    pub fn mount(&mut self, name: &str, target: &str, kind: &str, options: &str) {
        let number = self.number(name);
        self.mount_as(&number, &format!("/dev/{name}"), target, kind, options);
    }

    pub fn mount_as(&mut self, number: &str, source: &str, target: &str, kind: &str, options: &str) {
        let id = self.mounts.len() + 20;
        self.mounts.push(format!("{id} 1 {number} / {target} rw,relatime shared:1 - {kind} {source} rw,{options}"));
    }

    pub fn swap(&mut self, name: &str, kib: u64) {
        self.swaps.push(format!("/dev/{name} partition {kib} 0 -2"));
    }
}
