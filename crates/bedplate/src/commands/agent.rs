//! `bedplate agent`: what runs on the other side of ssh. Nobody types it.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use host::interrupt::Care;
use host::{Local, agent, interrupt};
use rustix::event::{PollFd, PollFlags, poll};

use crate::BUILD;
use crate::exit::{Exit, Failure};
use crate::settings::ENDING;

/// Serves whoever is at the other end until they go away or a signal comes, and lets nothing run on after that.
pub(crate) fn agent() -> Result<Exit, Failure> {
    let _care = Care::take();
    let input = Asker::listen().map_err(Failure::system("could not listen for signals"))?;
    let served = agent::serve(BUILD, Local::new(), input, std::io::stdout());
    interrupt::raise();
    host::await_all();
    served.map_err(Failure::system("could not speak with whoever asks"))?;
    Ok(Exit::Yes)
}

/// Standard input, which ends when a signal comes.
struct Asker {
    signalled: OwnedFd,
}

impl Asker {
    fn listen() -> std::io::Result<Self> {
        let (signalled, teller) = UnixStream::pair()?;
        for signal in ENDING {
            signal_hook::low_level::pipe::register(signal, teller.try_clone()?)?;
        }
        Ok(Self { signalled: signalled.into() })
    }
}

impl Read for Asker {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let stdin = std::io::stdin();
        let mut ready = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&self.signalled, PollFlags::IN)];
        while let Err(error) = poll(&mut ready, None) {
            if error != rustix::io::Errno::INTR {
                return Err(error.into());
            }
        }
        if ready[1].revents().is_empty() { rustix::io::read(&stdin, buffer).map_err(Into::into) } else { Ok(0) }
    }
}
