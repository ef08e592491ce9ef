//! Machines built by hand: what sysfs, procfs and programs of a machine would say, from a description of it.
//!
//! [`Machine`] writes the text of a capture, so a machine that nobody has at hand can be inspected and checked. Another
//! room's tests take this file by its path: `#[path = "../../host/tests/machines/mod.rs"] mod machines;`.
#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    missing_docs,
    reason = "not every test uses every part, and the names say it"
)]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

mod block;
mod drives;
mod layers;
mod pci;
mod recipes;
mod system;

use std::collections::BTreeMap;
use std::fmt::Write as _;

pub use block::Limits;
pub use drives::{Disk, Nvme};
pub use pci::{Pci, Port};
pub use recipes::{all, enclosure};
pub use system::Cpu;

/// A machine that is being described.
#[derive(Debug, Default, Clone)]
pub struct Machine {
    files: BTreeMap<String, Vec<u8>>,
    links: BTreeMap<String, String>,
    directories: std::collections::BTreeSet<String>,
    /// What commands say, with their status.
    runs: BTreeMap<String, (i32, String)>,
    missing: Vec<String>,
    /// Kernel names of all block devices with what is written on each: offset, kind, UUID, label.
    signatures: BTreeMap<String, Vec<[String; 4]>>,
    tables: Vec<String>,
    statuses: Vec<String>,
    mounts: Vec<String>,
    swaps: Vec<String>,
    /// Interrupts given so far.
    interrupts: u32,
    /// Minor numbers given so far, by major number.
    minors: BTreeMap<u32, u32>,
}

impl Machine {
    /// A machine with a system and nothing else.
    pub fn new(system: &str, kernel: &str) -> Self {
        let mut machine = Self::default();
        machine.system(system, kernel);
        machine
    }

    /// A file with one line.
    pub fn file(&mut self, path: impl Into<String>, line: impl std::fmt::Display) {
        self.files.insert(path.into(), format!("{line}\n").into_bytes());
    }

    pub fn bytes(&mut self, path: impl Into<String>, content: Vec<u8>) {
        self.files.insert(path.into(), content);
    }

    pub fn link(&mut self, path: impl Into<String>, target: impl Into<String>) {
        self.links.insert(path.into(), target.into());
    }

    /// A directory with nothing in it.
    pub fn directory(&mut self, path: impl Into<String>) {
        self.directories.insert(path.into());
    }

    pub fn says(&mut self, command: impl Into<String>, text: impl Into<String>) {
        self.runs.insert(command.into(), (0, text.into()));
    }

    pub fn installed(&mut self, program: &str) {
        self.missing.retain(|known| known != program);
    }

    pub fn missing(&mut self, program: &str) {
        self.missing.push(program.to_owned());
    }

    /// The text of the capture.
    pub fn text(mut self) -> String {
        self.finish();
        let mut out = "bedplate capture 1\n\nwhole /dev\nwhole /etc\nwhole /proc\nwhole /run\nwhole /sys\n".to_owned();
        for directory in &self.directories {
            writeln!(out, "directory {directory}").unwrap();
        }
        for (path, target) in &self.links {
            writeln!(out, "link {path} -> {target}").unwrap();
        }
        for (path, content) in &self.files {
            put(&mut out, path, content);
        }
        for program in &self.missing {
            writeln!(out, "missing {program}").unwrap();
        }
        for (command, (status, text)) in &self.runs {
            writeln!(out, "run {command}").unwrap();
            if *status != 0 {
                writeln!(out, "status {status}").unwrap();
            }
            text.lines().for_each(|line| writeln!(out, "|{line}").unwrap());
        }
        out
    }

    /// What only the whole machine tells.
    fn finish(&mut self) {
        for (name, found) in std::mem::take(&mut self.signatures) {
            let entries: Vec<String> = found
                .iter()
                .map(|[offset, kind, uuid, label]| {
                    let value = |text: &str| if text.is_empty() { "null".to_owned() } else { format!("\"{text}\"") };
                    format!(
                        "{{\"device\":\"{name}\",\"offset\":\"{offset}\",\"type\":\"{kind}\",\"uuid\":{},\"label\":{}}}",
                        value(uuid),
                        value(label)
                    )
                })
                .collect();
            let text = if entries.is_empty() {
                String::new()
            } else {
                format!("{{\"signatures\":[\n{}]}}", entries.join(",\n"))
            };
            self.says(format!("wipefs --no-act --json /dev/{name}"), text);
        }
        let join = |lines: &[String]| lines.join("\n");
        if !self.tables.is_empty() {
            self.says("dmsetup table", join(&self.tables.clone()));
            self.says("dmsetup status", join(&self.statuses.clone()));
        }
        self.file("/proc/self/mountinfo", join(&self.mounts.clone()));
        let swaps = std::iter::once("Filename Type Size Used Priority".to_owned()).chain(self.swaps.clone());
        self.file("/proc/swaps", swaps.collect::<Vec<_>>().join("\n"));
    }

    fn minor(&mut self, major: u32) -> u32 {
        let next = self.minors.entry(major).or_insert(0);
        *next += 1;
        *next - 1
    }
}

fn put(out: &mut String, path: &str, content: &[u8]) {
    match std::str::from_utf8(content) {
        Ok(text) if !text.contains(|c: char| c.is_control() && c != '\n' && c != '\t') => {
            writeln!(out, "file {path}").unwrap();
            text.lines().for_each(|line| writeln!(out, "|{line}").unwrap());
        }
        _ => {
            writeln!(out, "hex {path}").unwrap();
            for (row, bytes) in content.chunks(16).enumerate() {
                let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                writeln!(out, "|{:04x}: {}", row * 16, digits.join(" ")).unwrap();
            }
        }
    }
}

/// A UUID that is different for every number and the same for the same one.
pub fn uuid(number: u32) -> String {
    format!("{:08x}-0b57-4e1d-9a6c-{:012x}", 0x5eed_0000_u32.wrapping_add(number), u64::from(number) * 7919 + 1)
}
