//! The machine behind the door.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use host::{Devno, Exclusivity, Hold, Host, HostError, Needle, NeedleHit, interrupt};
use memchr::memmem;
use terms::{Cmd, Nanos, Outcome};

use crate::fault::changes;
use crate::program::{Call, Reply, program};
use crate::tree::{Entry, Tree, not_found, set};
use crate::{FakeFault, FakeMachine, Inner, Moment};

impl Inner {
    fn tree(&mut self) -> Arc<Tree> {
        let state = &self.state;
        Arc::clone(self.tree.get_or_insert_with(|| Arc::new(Tree::of(state))))
    }

    /// The block device at a path.
    fn device(&mut self, path: &str) -> io::Result<String> {
        match self.tree().entry(path)? {
            Entry::Node(name) => Ok(name.clone()),
            _ => Err(io::Error::other("it is not a block device")),
        }
    }

    fn devno(&self, name: &str) -> Devno {
        let (major, minor) = self.state.devices[name].number;
        Devno { major, minor }
    }

    /// What goes wrong now, if anything does.
    fn deed(&mut self, line: String) -> Option<FakeFault> {
        self.deeds.push(line);
        self.faults.remove(&self.deeds.len())
    }

    fn run(&mut self, cmd: &Cmd) -> io::Result<Reply> {
        let name = cmd.argv.first().map_or("", String::as_str);
        let inner = cmd.argv.iter().position(|word| self.answers.contains_key(word));
        if let Some(at) = inner {
            let answer = Arc::clone(&self.answers[&cmd.argv[at]]);
            return Ok(Reply { stdout: answer(&cmd.argv[at..], &cmd.stdin), ..Reply::default() });
        }
        let program = program(&self.state, name).ok_or_else(not_found)?;
        self.tree = None;
        let call = Call { argv: &cmd.argv, stdin: &cmd.stdin };
        Ok(program(&mut self.state, &call).unwrap_or_else(|reply| reply))
    }
}

impl FakeMachine {
    fn lost(&self) -> HostError {
        HostError::Lost { host: self.name(), what: "it is not heard of".to_owned(), source: None }
    }

    /// Does something with the machine, where it is heard of.
    fn ask<T>(
        &self,
        doing: &'static str,
        path: &str,
        ask: impl FnOnce(&mut Inner) -> io::Result<T>,
    ) -> Result<T, HostError> {
        let mut inner = self.lock();
        if inner.lost {
            return Err(self.lost());
        }
        ask(&mut inner).map_err(|source| HostError::File { host: self.name(), doing, path: path.to_owned(), source })
    }

    /// What becomes of the machine with a fault. `None` where the program is to do what it does.
    fn strike(&self, inner: &mut Inner, fault: &FakeFault, cmd: &Cmd) -> Option<Result<Reply, HostError>> {
        let after = matches!(
            fault,
            FakeFault::Lost(Moment::After) | FakeFault::PowerCut(Moment::After) | FakeFault::Interrupt(Moment::After)
        );
        if after {
            let _ = inner.run(cmd);
        }
        match fault {
            FakeFault::Refused(status, text) => {
                Some(Ok(Reply { status: *status, stderr: (*text).to_owned(), ..Reply::default() }))
            }
            FakeFault::Half(status, text) => {
                let _ = inner.run(cmd);
                Some(Ok(Reply { status: *status, stderr: (*text).to_owned(), ..Reply::default() }))
            }
            FakeFault::Nothing => Some(Ok(Reply::default())),
            FakeFault::Lost(_) => {
                inner.lost = true;
                Some(Err(self.lost()))
            }
            FakeFault::PowerCut(_) => {
                inner.state.restart();
                inner.tree = None;
                inner.lost = true;
                Some(Err(self.lost()))
            }
            FakeFault::Interrupt(_) => {
                interrupt::raise();
                Some(Err(HostError::Interrupted))
            }
            FakeFault::Pull(node) => {
                inner.state.pull(node.trim_start_matches("/dev/"));
                inner.tree = None;
                None
            }
        }
    }
}

impl Host for FakeMachine {
    fn name(&self) -> String {
        "the fake machine".to_owned()
    }

    fn run(&self, cmd: &Cmd) -> Result<Outcome, HostError> {
        let mut inner = self.lock();
        if inner.lost {
            return Err(self.lost());
        }
        let fault = if changes(&cmd.argv) { inner.deed(cmd.line()) } else { None };
        let struck = fault.and_then(|fault| self.strike(&mut inner, &fault, cmd));
        let start = |source| HostError::Start { host: self.name(), line: cmd.line(), source };
        let reply = match struck {
            Some(result) => result?,
            None => inner.run(cmd).map_err(start)?,
        };
        inner.clock += 1_000_000;
        Ok(Outcome {
            status: reply.status,
            stdout: reply.stdout,
            stderr: reply.stderr.into_bytes(),
            took: Nanos::millis(1),
            timed_out: reply.status == 124,
            flooded: None,
        })
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        self.ask("read", path, |inner| {
            if path == host::RANDOM_UUID {
                return Ok(format!("{}\n", inner.state.draw_uuid()).into_bytes());
            }
            if let Some(content) = inner.state.file(path) {
                return content;
            }
            match inner.tree().entry(path)? {
                Entry::File(bytes) => Ok(bytes.clone()),
                _ => Err(io::Error::other("it is not a regular file")),
            }
        })
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), HostError> {
        let line = terms::Cmd::new(["write", path, &String::from_utf8_lossy(&bytes[..bytes.len().min(40)])]);
        let struck = {
            let mut inner = self.lock();
            let fault = if inner.lost { None } else { inner.deed(line.line()) };
            fault.and_then(|fault| self.strike(&mut inner, &fault, &Cmd::new(["sync"])))
        };
        match struck {
            Some(Ok(reply)) if reply.status != 0 => {
                let source = io::Error::other(reply.stderr);
                return Err(HostError::File { host: self.name(), doing: "write", path: path.to_owned(), source });
            }
            Some(Ok(_)) => return Ok(()),
            Some(Err(error)) => return Err(error),
            None => {}
        }
        self.ask("write", path, |inner| {
            inner.tree = None;
            if path.starts_with("/sys/") || path.starts_with("/proc/") {
                return set(&mut inner.state, path, &String::from_utf8_lossy(bytes));
            }
            inner.state.files.insert(path.to_owned(), bytes.to_vec());
            Ok(())
        })
    }

    fn list(&self, path: &str) -> Result<Vec<String>, HostError> {
        self.ask("list", path, |inner| {
            let mounted =
                inner.state.mounts.iter().chain(inner.state.pools.values()).rev().find(|mount| mount.point == path);
            let Some(mount) = mounted else { return inner.tree().list(path) };
            let names: BTreeSet<&str> = mount.table.files.keys().filter_map(|name| name.split('/').next()).collect();
            Ok(names.into_iter().map(str::to_owned).collect())
        })
    }

    fn resolve(&self, path: &str) -> Result<String, HostError> {
        self.ask("follow", path, |inner| inner.tree().resolve(path))
    }

    fn now(&self) -> Result<Nanos, HostError> {
        self.ask("ask", "the clock", |inner| Ok(Nanos(inner.clock)))
    }

    /// Its time passes, and hardly any of ours.
    fn pause(&self, time: Duration) -> Result<(), HostError> {
        self.ask("ask", "the clock", |inner| {
            inner.clock += time.as_nanos() as u64;
            let now = inner.clock;
            for (id, _) in inner.ends.extract_if(.., |_, until| *until <= now) {
                inner.state.locks.remove(&id);
            }
            Ok(())
        })?;
        std::thread::sleep(Duration::from_micros(200));
        Ok(())
    }

    fn read_at(&self, path: &str, offset: u64, length: u32) -> Result<Vec<u8>, HostError> {
        self.ask("read", path, |inner| {
            let name = inner.device(path)?;
            inner.state.read(&name, offset, u64::from(length))
        })
    }

    fn find(&self, path: &str, wanted: &Needle<'_>) -> Result<Vec<NeedleHit>, HostError> {
        const PIECE: u64 = 1 << 20;
        let longest = wanted.texts.iter().map(Vec::len).max().unwrap_or(0).max(wanted.keep as usize) as u64;
        let finders: Vec<memmem::Finder<'_>> = wanted.texts.iter().map(memmem::Finder::new).collect();
        self.ask("search", path, |inner| {
            let name = inner.device(path)?;
            let end = (wanted.offset + wanted.length).min(inner.state.size(&name));
            let mut found = Vec::new();
            for at in (wanted.offset..end).step_by(PIECE as usize) {
                let own = PIECE.min(end - at);
                if inner.state.is_blank(&name, at, own) {
                    continue;
                }
                let bytes = inner.state.read(&name, at, own + longest)?;
                let mut here: Vec<usize> = finders.iter().flat_map(|finder| finder.find_iter(&bytes)).collect();
                here.retain(|place| (*place as u64) < own);
                here.sort_unstable();
                here.dedup();
                found.extend(here.into_iter().map(|place| NeedleHit {
                    offset: at + place as u64,
                    bytes: bytes[place..(place + wanted.keep as usize).min(bytes.len())].to_vec(),
                }));
            }
            Ok(found)
        })
    }

    fn device_number(&self, path: &str) -> Result<Option<Devno>, HostError> {
        self.ask("tell the device number of", path, |inner| match inner.tree().entry(path) {
            Ok(Entry::Node(name)) => Ok(Some(inner.devno(name))),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => Ok(None),
            Err(error) => Err(error),
        })
    }

    fn open_exclusively(&self, path: &str) -> Result<Exclusivity, HostError> {
        self.ask("open", path, |inner| {
            let name = inner.device(path)?;
            Ok(if inner.state.is_claimed(&name) { Exclusivity::Busy } else { Exclusivity::Free })
        })
    }

    fn hold(&self, path: &str) -> Result<Option<Hold>, HostError> {
        self.ask("hold", path, |inner| {
            let name = inner.device(path)?;
            if inner.state.locks.values().any(|locked| *locked == name) {
                return Ok(None);
            }
            inner.holds += 1;
            let devno = inner.devno(&name);
            inner.state.locks.insert(inner.holds, name);
            Ok(Some(Hold { id: inner.holds, devno }))
        })
    }

    fn release(&self, hold: u64) -> Result<(), HostError> {
        self.ask("release", "a lock", |inner| {
            inner.state.locks.remove(&hold);
            Ok(())
        })
    }

    fn is_throwaway(&self) -> bool {
        self.throwaway
    }
}
