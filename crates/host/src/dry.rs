//! A machine on which nothing happens: commands are written down and said to have worked.
//!
//! It holds no other host, so it cannot touch anything whatever it is asked.

use std::io;
use std::sync::{Mutex, PoisonError};

use terms::{Cmd, Nanos, Outcome};

use crate::{Devno, Hold, Host, HostError};

/// A machine on which nothing happens.
#[derive(Debug, Default)]
pub struct DryRun {
    lines: Mutex<Vec<String>>,
}

impl DryRun {
    /// A machine on which nothing happens.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What it was asked to change so far, one line each.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, line: String) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

impl Host for DryRun {
    fn name(&self) -> String {
        "dry run".to_owned()
    }

    fn run(&self, cmd: &Cmd) -> Result<Outcome, HostError> {
        self.note(cmd.line());
        Ok(Outcome {
            status: 0,
            stdout: Vec::new(),
            stderr: Vec::new(),
            took: Nanos(0),
            timed_out: false,
            flooded: None,
        })
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        let source = io::Error::from(io::ErrorKind::NotFound);
        Err(HostError::File { host: self.name(), doing: "read", path: path.to_owned(), source })
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), HostError> {
        self.note(format!("echo {} > {path}", terms::command::quote(&String::from_utf8_lossy(bytes))));
        Ok(())
    }

    fn list(&self, _path: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }

    fn resolve(&self, path: &str) -> Result<String, HostError> {
        Ok(path.to_owned())
    }

    fn now(&self) -> Result<Nanos, HostError> {
        Ok(Nanos(0))
    }

    /// Nothing is opened, so whether it could be is not known: [`HostError::Cannot`] stays the answer to
    /// [`Host::open_exclusively`], [`Host::device_number`] and [`Host::read_at`].
    fn hold(&self, path: &str) -> Result<Option<Hold>, HostError> {
        self.note(format!("flock --exclusive {}", terms::command::quote(path)));
        Ok(Some(Hold { id: 0, devno: Devno { major: 0, minor: 0 } }))
    }

    fn release(&self, _hold: u64) -> Result<(), HostError> {
        Ok(())
    }

    /// Nothing can happen to any drive.
    fn is_throwaway(&self) -> bool {
        true
    }
}
