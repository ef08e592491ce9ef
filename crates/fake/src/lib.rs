//! A machine that is a model: drives of bytes, programs as changes of state, and `/dev`, `/proc` and `/sys` that follow
//! from it. For tests without a guest; nothing that users run sees it.
//!
//! It knows no plan and expects no command. Where the behaviour of a tool or of the kernel matters, the place that it is
//! taken from stands beside it; guests are the proof that it is right.

mod bytes;
mod device;
mod fault;
mod files;
mod host_side;
mod mounts;
mod program;
mod raid;
mod signature;
mod state;
mod store;
mod tree;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use terms::Bytes;

use device::{Bus, Kind};
use state::{Process, State};
use tree::Tree;

pub use fault::{FakeFault, Moment};

/// Answers for a program that does not belong to the machine: arguments and standard input to standard output.
pub type Answer = Arc<dyn Fn(&[String], &[u8]) -> Vec<u8> + Send + Sync>;

/// A machine that is a model.
pub struct FakeMachine {
    inner: Mutex<Inner>,
    throwaway: bool,
}

#[derive(Default)]
struct Inner {
    state: State,
    /// What follows from the state, until it changes.
    tree: Option<Arc<Tree>>,
    /// Is nothing more heard of it?
    lost: bool,
    /// Programs that changed something, and settings that were written.
    deeds: Vec<String>,
    faults: BTreeMap<usize, FakeFault>,
    answers: BTreeMap<String, Answer>,
    /// Nanoseconds.
    clock: u64,
    holds: u64,
    /// When locks end of which that is known, by their number.
    ends: BTreeMap<u64, u64>,
}

/// A machine as it was at one moment.
#[derive(Clone)]
pub struct FakeSnapshot(State);

impl Default for FakeMachine {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeMachine {
    /// A machine without drives, whose drives outlive whoever works on them.
    #[must_use]
    pub fn new() -> Self {
        let machine = Self { inner: Mutex::default(), throwaway: false };
        machine.change(|state| {
            state.directories.extend(["/tmp", "/run", "/mnt"].map(str::to_owned));
            state.programs = program::PROGRAMS.iter().map(|(name, _)| *name).collect();
        });
        machine
    }

    /// The same, made for one run and thrown away after it.
    #[must_use]
    pub fn throwaway() -> Self {
        Self { throwaway: true, ..Self::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut inner = self.lock();
        inner.tree = None;
        change(&mut inner.state)
    }

    // --- what is plugged in ---

    fn plug_in(&self, bus: Bus, size: Bytes, block: Bytes) -> String {
        self.change(|state| {
            let slot = (0..).find(|slot| !state.devices.contains_key(&bus.name(*slot))).unwrap_or(0);
            format!("/dev/{}", state.add_drive(bus, slot, size.0, block.0))
        })
    }

    /// Plugs an NVMe drive in, and gives its node.
    pub fn nvme(&self, size: Bytes, block: Bytes) -> String {
        self.plug_in(Bus::Nvme, size, block)
    }

    /// The same with a SATA drive, whose blocks are of 512 bytes.
    pub fn sata(&self, size: Bytes) -> String {
        self.plug_in(Bus::Sata, size, Bytes(512))
    }

    /// The same with a RAM drive.
    pub fn ram(&self, size: Bytes) -> String {
        self.plug_in(Bus::Ram, size, Bytes(512))
    }

    /// A drive is pulled.
    pub fn pull(&self, node: &str) {
        self.change(|state| state.pull(node.trim_start_matches("/dev/")));
    }

    /// Drives that were pulled are back.
    pub fn plug(&self) {
        self.change(State::plug);
    }

    /// Another drive is in the place of this one, under the same name: with another serial number, and blank.
    pub fn swap_drive(&self, node: &str) {
        self.change(|state| {
            state.drawn += 1;
            let number = state.drawn;
            if let Some(drive) = state.drive_mut(node.trim_start_matches("/dev/")) {
                drive.serial = Some(format!("OTHER{number}"));
                drive.wwid = Some(format!("eui.{number:016x}"));
                drive.store = store::Store::default();
            }
        });
    }

    /// One drive says the same of itself as another.
    pub fn clone_identity(&self, from: &str, to: &str) {
        self.change(|state| {
            let told =
                state.drive(from.trim_start_matches("/dev/")).map(|drive| (drive.serial.clone(), drive.wwid.clone()));
            if let (Some((serial, wwid)), Some(drive)) = (told, state.drive_mut(to.trim_start_matches("/dev/"))) {
                (drive.serial, drive.wwid) = (serial, wwid);
            }
        });
    }

    // --- what others do with it ---

    /// A program opens a device, for itself alone or not.
    pub fn open(&self, node: &str, program: &str, exclusively: bool) {
        self.change(|state| {
            let id = 100 + state.processes.len() as u32;
            let device = state.device_at(node).unwrap_or_else(|| node.to_owned());
            state.processes.push(Process { id, name: program.to_owned(), device, exclusively });
        });
    }

    /// How sanitizing an NVMe drive ends: bits 2 to 0 of the status in its log.
    pub fn sanitizing_ends_with(&self, node: &str, status: u16) {
        self.change(|state| {
            if let Some(drive) = state.drive_mut(node.trim_start_matches("/dev/")) {
                drive.sanitized = status;
            }
        });
    }

    /// Programs that others started end.
    pub fn close_all(&self) {
        self.change(|state| state.processes.clear());
    }

    /// A program locks a device (flock(2)), and keeps it.
    pub fn lock_device(&self, node: &str) {
        self.lock_device_for(node, Duration::MAX);
    }

    /// The same for so long, as udev does while it looks.
    pub fn lock_device_for(&self, node: &str, time: Duration) {
        let mut inner = self.lock();
        inner.holds += 1;
        let (id, name) = (inner.holds, node.trim_start_matches("/dev/").to_owned());
        inner.state.locks.insert(id, name);
        let until = u64::try_from(time.as_nanos()).map_or(u64::MAX, |time| inner.clock.saturating_add(time));
        inner.ends.insert(id, until);
    }

    /// Swaps to a device, or to a file.
    pub fn swap_on(&self, node: &str) {
        self.change(|state| {
            let name = node.trim_start_matches("/dev/").to_owned();
            if state.devices.contains_key(&name) {
                let uuid = state.draw_uuid();
                let _ = state.sign(&name, "swap", &uuid);
            }
            state.swaps.push(name);
        });
    }

    /// Swaps to nothing any more.
    pub fn swap_off(&self) {
        self.change(|state| state.swaps.clear());
    }

    /// Puts a loop device over a device, and gives its node.
    pub fn loop_over(&self, node: &str) -> String {
        self.change(|state| {
            let of = node.trim_start_matches("/dev/").to_owned();
            let (name, size) = (state.free_name(0.., |number| format!("loop{number}")), state.size(&of));
            state.add(&name, size, 512, Kind::Loop { of });
            format!("/dev/{name}")
        })
    }

    /// Writes bytes to a device, past everybody.
    ///
    /// # Panics
    /// Where there is no such place.
    pub fn poke(&self, node: &str, offset: u64, bytes: &[u8]) {
        self.change(|state| {
            let name = state.device_at(node).unwrap_or_default();
            let written = state.write(&name, offset, bytes);
            assert!(written.is_ok(), "{node}: {written:?}");
        });
    }

    /// Makes a link to a node, as udev would.
    pub fn link(&self, path: &str, node: &str) {
        self.change(|state| state.links.insert(path.to_owned(), node.trim_start_matches("/dev/").to_owned()));
    }

    /// Writes a file of the root file system, or one of the kernel that nothing else gives.
    pub fn put_file(&self, path: &str, text: &str) {
        self.change(|state| state.files.insert(path.to_owned(), text.as_bytes().to_vec()));
    }

    /// Has a device say something else in its directory in sysfs: `ro`, `size`, `queue/zoned`.
    pub fn tell(&self, node: &str, file: &str, text: &str) {
        self.change(|state| {
            let name = state.device_at(node).unwrap_or_default();
            if let Some(device) = state.devices.get_mut(&name) {
                device.settings.insert(file.to_owned(), text.to_owned());
            }
        });
    }

    /// A program or a module is not installed.
    pub fn without(&self, name: &str) {
        self.change(|state| state.absent.insert(name.to_owned()));
    }

    /// Answers for a program in its stead.
    pub fn answer(&self, program: &str, answer: Answer) {
        self.lock().answers.insert(program.to_owned(), answer);
    }

    /// Runs a line, whose words have no blanks in them.
    ///
    /// # Panics
    /// Where it fails.
    pub fn line(&self, line: &str) -> String {
        let outcome = host::Host::run(self, &terms::Cmd::new(line.split_whitespace()));
        match outcome {
            Ok(outcome) if outcome.ok() => outcome.text(),
            other => panic!("{line}: {other:?}"),
        }
    }

    // --- what goes wrong ---

    /// Something goes wrong at the change of this number from now on, the first being 1.
    pub fn fault(&self, number: usize, fault: FakeFault) {
        let mut inner = self.lock();
        let at = inner.deeds.len() + number;
        inner.faults.insert(at, fault);
    }

    /// Power is lost and comes back.
    pub fn restart(&self) {
        self.change(State::restart);
        self.hear();
    }

    /// It is heard of again.
    pub fn hear(&self) {
        let mut inner = self.lock();
        inner.lost = false;
        inner.faults.clear();
    }

    // --- what is seen of it ---

    /// What changed it so far, a line each.
    #[must_use]
    pub fn deeds(&self) -> Vec<String> {
        self.lock().deeds.clone()
    }

    /// How it is now.
    #[must_use]
    pub fn now_is(&self) -> FakeSnapshot {
        FakeSnapshot(self.lock().state.clone())
    }

    /// A machine that is as this one was, without faults.
    #[must_use]
    pub fn as_of(&self, moment: &FakeSnapshot) -> Self {
        let inner = Inner { state: moment.0.clone(), holds: self.lock().holds, ..Inner::default() };
        Self { inner: Mutex::new(inner), throwaway: self.throwaway }
    }

    /// Every device, link, mount, pool and setting, a line each: equal where nothing was left behind. A link of mdadm's
    /// that leads nowhere is no trace: without udev nobody takes it away.
    #[must_use]
    pub fn shape(&self) -> String {
        let state = &self.lock().state;
        let mut lines = Vec::new();
        for (name, device) in &state.devices {
            lines.push(format!("{name} {} {} {:?}", device.size, device.block, device.settings));
            if let Kind::Drive(drive) = &device.kind {
                lines.push(format!("{name} cache {}", drive.cache_on));
            }
        }
        let live = |(_, name): &(&String, &String)| state.devices.contains_key(*name);
        lines.extend(state.links.iter().filter(live).map(|(path, name)| format!("{path} -> {name}")));
        lines.extend(
            state.mounts.iter().chain(state.pools.values()).map(|mount| format!("{} at {}", mount.source, mount.point)),
        );
        lines.extend(state.directories.iter().cloned());
        lines.extend(state.bcaches.iter().map(|cached| format!("{cached:?}")));
        lines.join("\n")
    }

    /// Kinds of what is written on a device.
    #[must_use]
    pub fn kinds(&self, node: &str) -> Vec<String> {
        self.change(|state| {
            let name = state.device_at(node).unwrap_or_default();
            state.signatures(&name).into_iter().map(|found| found.kind).collect()
        })
    }

    /// Does the drive hold the very bytes that it held then?
    #[must_use]
    pub fn holds_the_same(&self, node: &str, moment: &FakeSnapshot) -> bool {
        let name = node.trim_start_matches("/dev/");
        let store = |state: &State| state.drive(name).map(|drive| drive.store.clone());
        store(&self.lock().state) == store(&moment.0)
    }

    /// Is anything but zeros on the drive?
    #[must_use]
    pub fn is_blank(&self, node: &str) -> bool {
        self.lock()
            .state
            .drive(node.trim_start_matches("/dev/"))
            .is_some_and(|drive| drive.store == store::Store::default())
    }
}
