//! This machine's end of a [mailbox](crate::mailbox): a thread that carries messages between a guest's memory and whoever
//! talks with its agent.

use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
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
pub(crate) struct Outgoing(Sender<Vec<u8>>);

impl Write for Outgoing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes.to_vec()).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Begins to carry messages of the guest whose QEMU is this process, until it ends. Gives what is heard of the agent, and
/// where it is spoken to.
pub(crate) fn begin(knocks: UnixStream, bells: Bells, process: u32) -> io::Result<(PipeReader, Outgoing)> {
    let (hear, heard) = io::pipe()?;
    let (send, messages) = mpsc::channel();
    let carrier = Carrier { knocks, bells, messages, rest: Vec::new(), heard };
    thread::Builder::new().name("mailbox".to_owned()).spawn(move || drop(carrier.carry(process)))?;
    Ok((hear, Outgoing(send)))
}

struct Carrier {
    knocks: UnixStream,
    bells: Bells,
    messages: Receiver<Vec<u8>>,
    /// What of a message the guest was not told yet.
    rest: Vec<u8>,
    heard: PipeWriter,
}

impl Carrier {
    fn carry(mut self, process: u32) -> io::Result<()> {
        let mut knock = self.knock()?;
        // QEMU makes it after the ports, and gives it this name and no other.
        let memory = host::open_file_of(process, "/memfd:memory")?;
        let mut bell = 0;
        loop {
            if knock == SAYS {
                self.hear(&memory)?;
            } else {
                self.tell(&memory)?;
            }
            self.bells.pass(bell)?;
            bell = 1 - bell;
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
                Ok(message) => self.rest = message,
                Err(RecvTimeoutError::Timeout) => self.still_there()?,
                Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
        let told: Vec<u8> = self.rest.drain(..self.rest.len().min(LONGEST)).collect();
        memory.write_all_at(&told, ADDRESS + TOLD)?;
        memory.write_all_at(&(told.len() as u64).to_le_bytes(), ADDRESS + TOLD_LENGTH)
    }

    fn still_there(&self) -> io::Result<()> {
        let mut fds = [PollFd::new(&self.knocks, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default()))?;
        // A guest that waits does not knock: there is something to read only where QEMU has gone.
        if fds[0].revents().is_empty() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
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
