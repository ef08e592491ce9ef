//! This machine's end of a [mailbox](crate::mailbox): a thread that carries messages between a guest's memory and whoever
//! talks with its agent.

use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use rustix::pipe::fcntl_setpipe_size;

use crate::error::LabError;
use crate::mailbox::{ADDRESS, LONGEST, SAID, SAID_LENGTH, SAYS, TOLD, TOLD_LENGTH};
use crate::{cage, file};

/// What a bell holds: the least that a pipe can, one page (pipe(7)).
const PIPE: usize = 4096;

/// The bells of a guest, full, so that neither takes a byte.
pub(crate) struct Bells([File; 2]);

impl Bells {
    /// Makes them in a guest's directory, for QEMU to write to.
    pub(crate) fn make(directory: &Path) -> Result<Self, LabError> {
        let make = |name: &str| -> Result<File, LabError> {
            let path = directory.join(name);
            mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
                .map_err(|errno| LabError::file("make", &path)(errno.into()))?;
            cage::give(&path)?;
            let flags = OFlags::NONBLOCK.bits().cast_signed();
            let open = OpenOptions::new().read(true).write(true).custom_flags(flags).open(&path);
            let bell = open.map_err(LabError::file("open", &path))?;
            fcntl_setpipe_size(&bell, PIPE).map_err(|errno| LabError::file("set up", &path)(errno.into()))?;
            fill(&bell).map_err(LabError::file("fill", &path))?;
            Ok(bell)
        };
        let [first, second] = file::BELLS;
        Ok(Self([make(first)?, make(second)?]))
    }

    /// Lets the guest pass at this bell; the other takes nothing from now on.
    fn pass(&self, bell: usize) -> io::Result<()> {
        let other = &self.0[1 - bell];
        empty(other)?;
        fill(other)?;
        empty(&self.0[bell])
    }
}

fn fill(mut bell: &File) -> io::Result<()> {
    bell.write_all(&[0; PIPE])
}

fn empty(mut bell: &File) -> io::Result<()> {
    let mut bytes = [0; PIPE];
    loop {
        match bell.read(&mut bytes) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// Where messages to an agent go. Each is handed over whole: in how many parts it comes would be a matter of our clock.
pub(crate) struct Outgoing(Sender<Letter>);

/// What a carrier is handed.
enum Letter {
    /// For the guest.
    Message(Vec<u8>),
    /// To be done around the message after this one.
    Around(Box<dyn Task>),
}

/// What is done around one message to a guest.
pub(crate) trait Task: Send {
    /// The guest has asked for the message and was not told it.
    fn before(&mut self);
    /// It was told, and let pass.
    fn meanwhile(self: Box<Self>, told: &Told<'_>);
}

/// A guest that was told something and let pass.
pub(crate) struct Told<'a> {
    knocks: &'a UnixStream,
    /// Where it was let pass.
    passed: &'a File,
    /// Its memory.
    pub(crate) memory: &'a File,
    /// Which bell it comes to next.
    pub(crate) bell: usize,
}

impl Told<'_> {
    /// Does it do as it was told? It left a byte where it passed, and has not knocked since.
    pub(crate) fn is_at_work(&self) -> io::Result<bool> {
        Ok(is_readable(self.passed)? && !is_readable(self.knocks)?)
    }

    /// Has it knocked since, or is it gone?
    pub(crate) fn has_knocked(&self) -> io::Result<bool> {
        is_readable(self.knocks)
    }
}

/// Is there something to read, or the end?
fn is_readable(from: impl AsFd) -> io::Result<bool> {
    let mut fds = [PollFd::from_borrowed_fd(from.as_fd(), PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::default()))?;
    Ok(!fds[0].revents().is_empty())
}

impl Outgoing {
    /// Where tasks for the carrier go.
    pub(crate) fn tasks(&self) -> Tasks {
        Tasks(self.0.clone())
    }
}

/// Where tasks for the carrier of a guest go.
pub(crate) struct Tasks(Sender<Letter>);

impl Tasks {
    /// Has something done around the next message to the guest.
    pub(crate) fn around(&self, task: Box<dyn Task>) -> io::Result<()> {
        self.0.send(Letter::Around(task)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Write for Outgoing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(Letter::Message(bytes.to_vec())).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Begins to carry messages of the guest whose QEMU is this process, until it ends. Gives what is heard of the agent, and
/// where it is spoken to. `bell`: the one that it comes to first.
pub(crate) fn begin(knocks: UnixStream, bells: Bells, bell: usize, process: u32) -> io::Result<(PipeReader, Outgoing)> {
    let (hear, heard) = io::pipe()?;
    let (send, messages) = mpsc::channel();
    let carrier = Carrier { knocks, bells, bell, messages, rest: Vec::new(), task: None, heard };
    thread::Builder::new().name("mailbox".to_owned()).spawn(move || drop(carrier.carry(process)))?;
    Ok((hear, Outgoing(send)))
}

struct Carrier {
    knocks: UnixStream,
    bells: Bells,
    /// Which bell the guest comes to next.
    bell: usize,
    messages: Receiver<Letter>,
    /// What of a message the guest was not told yet.
    rest: Vec<u8>,
    task: Option<Box<dyn Task>>,
    heard: PipeWriter,
}

impl Carrier {
    fn carry(mut self, process: u32) -> io::Result<()> {
        let mut knock = self.knock()?;
        // QEMU makes it after the ports, and gives it this name and no other.
        let memory = host::open_file_of(process, file::MEMORY)?;
        loop {
            if knock == SAYS {
                self.hear(&memory)?;
            } else {
                self.tell(&memory)?;
            }
            if let Some(task) = &mut self.task {
                task.before();
            }
            self.bells.pass(self.bell)?;
            let passed = &self.bells.0[self.bell];
            self.bell = 1 - self.bell;
            if let Some(task) = self.task.take() {
                task.meanwhile(&Told { knocks: &self.knocks, passed, memory: &memory, bell: self.bell });
            }
            knock = self.knock()?;
        }
    }

    fn knock(&mut self) -> io::Result<u8> {
        let mut knock = [0];
        self.knocks.read_exact(&mut knock)?;
        Ok(knock[0])
    }

    fn hear(&mut self, memory: &File) -> io::Result<()> {
        let mut length = [0; 8];
        memory.read_exact_at(&mut length, ADDRESS + SAID_LENGTH)?;
        // Whatever runs in the guest may have written it.
        let length = usize::try_from(u64::from_le_bytes(length)).unwrap_or(usize::MAX).min(LONGEST);
        let mut said = vec![0; length];
        memory.read_exact_at(&mut said, ADDRESS + SAID)?;
        self.heard.write_all(&said)
    }

    fn tell(&mut self, memory: &File) -> io::Result<()> {
        while self.rest.is_empty() {
            match self.messages.recv_timeout(Duration::from_millis(100)) {
                Ok(Letter::Message(message)) => self.rest = message,
                Ok(Letter::Around(task)) => self.task = Some(task),
                Err(RecvTimeoutError::Timeout) => self.still_there()?,
                Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
        let told: Vec<u8> = self.rest.drain(..self.rest.len().min(LONGEST)).collect();
        memory.write_all_at(&told, ADDRESS + TOLD)?;
        memory.write_all_at(&(told.len() as u64).to_le_bytes(), ADDRESS + TOLD_LENGTH)
    }

    fn still_there(&self) -> io::Result<()> {
        // A guest that waits does not knock: there is something to read only where QEMU has gone.
        if is_readable(&self.knocks)? { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_takes_a_byte_only_when_it_is_let_through_and_then_one_after_the_other() {
        let directory = tempfile::tempdir().unwrap();
        let bells = Bells::make(directory.path()).unwrap();
        let ends = file::BELLS.map(|name| {
            let flags = OFlags::NONBLOCK.bits().cast_signed();
            OpenOptions::new().write(true).custom_flags(flags).open(directory.path().join(name)).unwrap()
        });
        let takes = |bell: usize| (&ends[bell]).write(&[0]).is_ok();
        for round in 0..10 {
            let bell = round % 2;
            assert!(!takes(bell), "round {round}");
            bells.pass(bell).unwrap();
            assert!(takes(bell) && !takes(1 - bell), "round {round}");
        }
    }
}
