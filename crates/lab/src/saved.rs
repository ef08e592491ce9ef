//! Guests that begin where another one stood: the first boots, and all others like it take over its memory and the state of
//! its devices.
//!
//! A guest under a virtual clock touches nothing of this machine ([`mailbox`](crate::mailbox)), so all copies of it go on
//! alike, to the nanosecond. The original differs from them: its QEMU has translated code and theirs has none, and so it sees
//! an interrupt some instructions earlier or later. Its memory is a file that both sides have open. What else there is of it
//! QEMU writes into a file (`xen-save-devices-state`, qapi/migration.json, which is not of Xen alone) and reads as an incoming
//! migration that has no memory in it.
//!
//! QEMU can stop a guest only while it does not wait at a bell. So QEMU is asked to stop while the guest waits there to be told
//! something, then the guest is told to pause, and it is stopped while it does.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use host::{Host, Local, Remote};
use rustix::fs::{MemfdFlags, OFlags, SeekFrom, memfd_create, seek};
use serde_json::json;
use terms::{LabSpec, Name};

use crate::error::LabError;
use crate::file;
use crate::guest_spec::GuestSpec;
use crate::machine::BROUGHT;
use crate::monitor::Monitor;
use crate::post::{Task, Tasks, Told};

/// How long a guest pauses, by its own clock: QEMU comes to other work with each of its kernel's timers.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a guest that has knocked may take to its bell: some thousand instructions.
const TO_BELL: Duration = Duration::from_millis(10);
/// Device states of such a guest take some 33 KB.
const DEVICES: u64 = 16 << 20;
/// How long another QEMU may take to read them, and how often it is asked.
const PATIENCE: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_millis(2);

/// The last guest that was saved, for those that are booted after it.
#[derive(Debug, Default)]
pub struct Saves(Mutex<Kept>);

#[derive(Debug, Default)]
enum Kept {
    /// None was saved yet.
    #[default]
    None,
    /// One was.
    Guest(Arc<Saved>),
    /// None could begin as the one that was: this QEMU is asked no more.
    Refused,
}

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
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn find(&self, like: &Like) -> Option<Arc<Saved>> {
        match &*self.kept() {
            Kept::Guest(saved) if saved.like == *like => Some(Arc::clone(saved)),
            _ => None,
        }
    }

    /// From now on no guest is saved, and every one boots.
    pub(crate) fn refuse(&self) {
        *self.kept() = Kept::Refused;
    }

    /// Is there room for one like this? One that is not like it goes first, and takes no room any more.
    fn has_room(&self, like: &Like) -> bool {
        let mut kept = self.kept();
        match &*kept {
            Kept::Refused => return false,
            Kept::Guest(saved) if saved.like != *like => *kept = Kept::None,
            Kept::Guest(_) | Kept::None => {}
        }
        drop(kept);
        has_memory(&like.machine)
    }
}

/// Is there memory for a copy of such a guest beside the next one? The copy takes less: what was never written is not there.
fn has_memory(machine: &LabSpec) -> bool {
    let guest = machine.memory.0.saturating_add(BROUGHT.0);
    host::available_memory(&Local::new()).is_some_and(|free| free.0 >= guest.saturating_mul(2))
}

/// Saves a guest whose drives are all there while it pauses. Where that cannot be, the others boot. The monitor that was asked
/// is given back: QEMU forgets what it was asked on a connection that is closed, and the guest may have to go on yet.
pub(crate) fn save(
    by: SaveBy<'_>,
    like: Like,
    directory: &Path,
    remote: &Remote,
    drives: &BTreeMap<Name, String>,
) -> Result<Option<Monitor>, LabError> {
    let SaveBy { saves, mut monitor, tasks } = by;
    // A monitor that does not answer is asked for nothing.
    if !saves.has_room(&like) || monitor.heard().is_err() {
        return Ok(None);
    }
    let (send, result) = mpsc::channel();
    let stop = Err(io::ErrorKind::NotConnected.into());
    let save = Save { directory: directory.to_owned(), monitor, stop, send };
    tasks.around(Box::new(save)).map_err(LabError::file("save the guest in", directory))?;
    remote.pause(PAUSE)?;
    let Ok((state, monitor)) = result.recv() else { return Ok(None) };
    if let Ok(state) = state {
        let next = remote.next_question();
        *saves.kept() = Kept::Guest(Arc::new(Saved { like, state, drives: drives.clone(), next }));
    }
    Ok(Some(monitor))
}

/// What a guest is saved by, its QEMU and who carries its messages, and where to.
pub(crate) struct SaveBy<'a> {
    pub(crate) saves: &'a Saves,
    pub(crate) monitor: Monitor,
    pub(crate) tasks: Tasks,
}

/// How a guest is saved that is told to pause.
struct Save {
    directory: PathBuf,
    monitor: Monitor,
    /// The number of the command to stop it, once that was given.
    stop: io::Result<u64>,
    send: Sender<(io::Result<State>, Monitor)>,
}

impl Save {
    fn ask_to_stop(&mut self) -> io::Result<u64> {
        let stop = self.monitor.send("stop", json!({}))?;
        self.monitor.heard()?;
        Ok(stop)
    }
}

impl Task for Save {
    fn before(&mut self) {
        // It has knocked, and comes to the bell some instructions later. There QEMU does nothing else, so the command is done
        // when the guest is let pass, and not before.
        thread::sleep(TO_BELL);
        self.stop = self.ask_to_stop();
    }

    fn meanwhile(self: Box<Self>, told: &Told<'_>) {
        let Self { directory, mut monitor, stop, send } = *self;
        let state = stop.and_then(|stop| State::take(&directory, &mut monitor, stop, told));
        // Not waited for: a `stop` that is done only when the guest has gone on is done when it passes next, and this after it.
        let _ = monitor.send("cont", json!({}));
        let _ = send.send((state, monitor));
    }
}

impl State {
    /// Takes the state of a guest that pauses, when QEMU has done the command of this number and stopped it.
    fn take(directory: &Path, monitor: &mut Monitor, stop: u64, told: &Told<'_>) -> io::Result<Self> {
        let late = || io::Error::other("the guest was not stopped while it paused");
        monitor.answer(stop, || if told.has_knocked()? { Err(late()) } else { Ok(()) })?;
        if !told.is_at_work()? {
            return Err(late());
        }
        Self::copy(directory, monitor, told)
    }

    fn copy(directory: &Path, monitor: &mut Monitor, told: &Told<'_>) -> io::Result<Self> {
        monitor.ask("xen-save-devices-state", json!({ "filename": file::DEVICES, "live": false }))?;
        let memory = File::from(memfd_create("saved", MemfdFlags::CLOEXEC)?);
        memory.set_len(told.memory.metadata()?.len())?;
        copy_data(told.memory, &memory)?;
        Ok(Self { memory, devices: devices(&directory.join(file::DEVICES))?, bell: told.bell })
    }

    /// Has a QEMU that was started for it go on from here: `monitor` and `incoming` are connections to it.
    pub(crate) fn give(&self, process: u32, monitor: UnixStream, mut incoming: UnixStream) -> io::Result<()> {
        let mut monitor = Monitor::new(monitor)?;
        copy_data(&self.memory, &host::open_file_of(process, file::MEMORY)?)?;
        incoming.set_write_timeout(Some(PATIENCE))?;
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
            // Whoever took QEMU over may have cut it short meanwhile.
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            to.write_all_at(&buffer[..count], at)?;
            at += count as u64;
        }
    }
}
