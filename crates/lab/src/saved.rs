//! Guests that begin where another one stood: the first boots, and all others like it take over its memory and the state of
//! its devices.
//!
//! A guest under a virtual clock touches nothing of this machine ([`mailbox`](crate::mailbox)), so a copy of it goes on as it
//! would have gone on itself, and all copies alike, to the nanosecond. Only what QEMU has translated by then is not copied: the
//! one that was saved sees an interrupt some instructions earlier or later than they. Its memory is a file that both sides
//! have open. What else there is of it QEMU writes into a file (`xen-save-devices-state`, qapi/migration.json, which is not of
//! Xen alone) and reads as an incoming migration that has no memory in it.
//!
//! QEMU can stop a guest only while it does not wait at a bell. So it is asked to stop first, then the guest is told to pause,
//! and it is stopped while it does.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use host::{Host, Local, Remote};
use rustix::fs::{MemfdFlags, OFlags, SeekFrom, memfd_create, seek};
use serde_json::json;
use terms::{LabSpec, Name};

use crate::boot::GuestSpec;
use crate::error::LabError;
use crate::file;
use crate::machine::BROUGHT;
use crate::monitor::Monitor;
use crate::post::{Stopped, Tasks};

/// How long a guest pauses, by its own clock: QEMU comes to other work with each of its kernel's timers.
const PAUSE: Duration = Duration::from_secs(1);
/// Device states of such a guest take some 33 KB.
const DEVICES: u64 = 16 << 20;
/// How long another QEMU may take to read them, and how often it is asked.
const PATIENCE: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_millis(2);

/// The last guest that was saved, for those that are booted after it.
#[derive(Debug, Default)]
pub struct Saves(Mutex<Option<Arc<Saved>>>);

/// What a guest is that another may begin as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Like {
    machine: LabSpec,
    first_drive: usize,
    agent: PathBuf,
    /// The kernel's release.
    kernel: String,
}

impl Like {
    pub(crate) fn of(spec: &GuestSpec<'_>, kernel: &str) -> Self {
        let (machine, agent) = (spec.machine.clone(), spec.agent.to_owned());
        Self { machine, first_drive: spec.first_drive(), agent, kernel: kernel.to_owned() }
    }
}

/// A guest that was stopped with all its drives there.
#[derive(Debug)]
pub(crate) struct Saved {
    pub(crate) like: Like,
    pub(crate) state: State,
    /// Device nodes of the study's drives.
    pub(crate) drives: BTreeMap<Name, String>,
    /// The number of the next question to its agent.
    pub(crate) next: u64,
}

/// Where it stood.
#[derive(Debug)]
pub(crate) struct State {
    memory: File,
    devices: Vec<u8>,
    /// Which bell it comes to next.
    pub(crate) bell: usize,
}

impl Saves {
    pub(crate) fn find(&self, like: &Like) -> Option<Arc<Saved>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone().filter(|saved| saved.like == *like)
    }

    /// Keeps this one alone; `None`: none.
    pub(crate) fn keep(&self, saved: Option<Saved>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = saved.map(Arc::new);
    }
}

/// Saves a guest whose drives are all there while it pauses; `None` where that cannot be, and then the others boot.
pub(crate) fn save(
    like: Like,
    directory: &Path,
    remote: &Remote,
    by: SaveBy,
    drives: &BTreeMap<Name, String>,
) -> Result<Option<Saved>, LabError> {
    if !has_room(&like.machine) {
        return Ok(None);
    }
    let saving = by.begin(directory);
    remote.pause(PAUSE)?;
    let state = saving.and_then(|state| state.recv().map_err(io::Error::other)).and_then(|(state, _)| state);
    Ok(state.ok().map(|state| Saved { like, state, drives: drives.clone(), next: remote.next_question() }))
}

/// Is there memory for a copy of such a guest beside the next one? The copy takes less: what was never written is not there.
fn has_room(machine: &LabSpec) -> bool {
    let guest = machine.memory.0.saturating_add(BROUGHT.0);
    host::available_memory(&Local::new()).is_some_and(|free| free.0 >= guest.saturating_mul(2))
}

/// What a guest is saved by: its QEMU, and who carries its messages.
pub(crate) struct SaveBy {
    pub(crate) monitor: Monitor,
    pub(crate) tasks: Tasks,
}

impl SaveBy {
    /// Where the state of the guest comes, which does what it is told next. The monitor comes along: QEMU does not do what it was
    /// asked by somebody who is gone.
    fn begin(self, directory: &Path) -> io::Result<Receiver<(io::Result<State>, Monitor)>> {
        let Self { mut monitor, tasks } = self;
        // A monitor that does not answer is asked for nothing.
        monitor.heard()?;
        // It is done as soon as the guest does not wait for us any more, and not before.
        let stop = monitor.send("stop", json!({}))?;
        monitor.heard()?;
        let ((send, state), directory) = (mpsc::channel(), directory.to_owned());
        tasks.meanwhile(move |stopped| {
            let state = State::take(&directory, &mut monitor, stop, stopped);
            let _ = send.send((state, monitor));
        })?;
        Ok(state)
    }
}

impl State {
    /// Takes it from a guest that pauses and is to be stopped by the command of this number, and lets that go on.
    fn take(directory: &Path, monitor: &mut Monitor, stop: u64, stopped: &Stopped<'_>) -> io::Result<Self> {
        let awake = || io::Error::other("the guest went on before it was stopped");
        let pauses = || if stopped.has_knocked()? { Err(awake()) } else { Ok(()) };
        let state = monitor.answer(stop, pauses).and_then(|_| {
            pauses()?;
            Self::copy(directory, monitor, stopped)
        });
        // Not waited for: where it comes too late to stop the guest, QEMU comes to neither before we let the guest pass.
        monitor.send("cont", json!({}))?;
        state
    }

    fn copy(directory: &Path, monitor: &mut Monitor, stopped: &Stopped<'_>) -> io::Result<Self> {
        monitor.ask("xen-save-devices-state", json!({ "filename": file::DEVICES, "live": false }))?;
        let memory = File::from(memfd_create("saved", MemfdFlags::CLOEXEC)?);
        memory.set_len(stopped.memory.metadata()?.len())?;
        copy_data(stopped.memory, &memory)?;
        Ok(Self { memory, devices: devices(&directory.join(file::DEVICES))?, bell: stopped.bell })
    }

    /// Has a QEMU that was started for it go on from here: `monitor` and `incoming` are connections to it.
    pub(crate) fn give(&self, process: u32, monitor: UnixStream, mut incoming: UnixStream) -> io::Result<()> {
        let mut monitor = Monitor::new(monitor)?;
        copy_data(&self.memory, &host::open_file_of(process, file::MEMORY)?)?;
        incoming.write_all(&self.devices)?;
        drop(incoming);
        let start = Instant::now();
        while monitor.ask("query-migrate", json!({}))?["status"] != "completed" {
            if start.elapsed() > PATIENCE {
                return Err(io::ErrorKind::TimedOut.into());
            }
            thread::sleep(STEP);
        }
        monitor.ask("cont", json!({}))?;
        Ok(())
    }
}

/// What QEMU wrote. It may have put a link there.
fn devices(path: &Path) -> io::Result<Vec<u8>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut bytes = Vec::new();
    file.take(DEVICES).read_to_end(&mut bytes)?;
    fs::remove_file(path)?;
    Ok(bytes)
}

/// Copies what a sparse file holds to the same places of an empty one (lseek(2), `SEEK_DATA`).
fn copy_data(from: &File, to: &File) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 20];
    let mut at = 0;
    loop {
        let begin = match seek(from, SeekFrom::Data(at)) {
            Ok(begin) => begin,
            Err(rustix::io::Errno::NXIO) => return Ok(()),
            Err(errno) => return Err(errno.into()),
        };
        let end = seek(from, SeekFrom::Hole(begin))?;
        at = begin;
        while at < end {
            let most = buffer.len().min(usize::try_from(end - at).unwrap_or(usize::MAX));
            let count = from.read_at(&mut buffer[..most], at)?;
            to.write_all_at(&buffer[..count], at)?;
            at += count as u64;
        }
    }
}
