//! One writer for one run: an advisory lock that ends with its process, however that ends.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use crate::error::RecordError;
use crate::folder::Folder;
use crate::layout;

/// More than any process id has, in bytes.
const PID: usize = 64;

/// How long a process that is gone may hold a lock: a program that it was about to start has the lock until it runs.
const PATIENCE: Duration = Duration::from_secs(5);

/// Held as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a run's directory and leaves this process's number in it.
    ///
    /// The file stays when the lock is let go: removing it would let two processes lock two files of one name.
    pub(crate) fn take(run: &Folder) -> Result<Self, RecordError> {
        let path = run.at(layout::LOCK)?;
        let file = run.open_to_write(layout::LOCK)?;
        let start = Instant::now();
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    let pid = holder(&file);
                    if pid.is_none_or(is_there) || start.elapsed() > PATIENCE {
                        return Err(RecordError::Locked { dir: run.path().to_owned(), pid });
                    }
                    thread::sleep(Duration::from_millis(20));
                }
                Err(error) => return Err(RecordError::io("lock", &path)(error.into())),
            }
        }
        let pid = format!("{}\n", std::process::id());
        let write = file.set_len(0).and_then(|()| file.write_all_at(pid.as_bytes(), 0));
        write.map_err(RecordError::io("write", &path))?;
        Ok(Self { _file: file })
    }
}

/// The process that left its number: from the beginning of the file, however often it is asked.
fn holder(file: &File) -> Option<u32> {
    let mut said = [0; PID];
    let len = file.read_at(&mut said, 0).ok()?;
    str::from_utf8(&said[..len]).ok()?.trim().parse().ok()
}

/// Is it at work? One that has ended and that nobody has waited for yet (`Z`; proc(5)) is not.
fn is_there(pid: u32) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    // The name in parentheses may hold anything.
    stat.is_ok_and(|stat| stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that a killed run was about to start has the lock until it runs.
    #[test]
    fn a_lock_that_outlives_its_process_is_waited_for() {
        let home = tempfile::tempdir().unwrap();
        let run = Folder::open(home.path()).unwrap();
        let held = run.open_to_write(layout::LOCK).unwrap();
        // Beyond the largest number that Linux gives (`PID_MAX_LIMIT`).
        held.write_all_at(b"4194305\n", 0).unwrap();
        flock(&held, FlockOperation::LockExclusive).unwrap();
        thread::scope(|scope| {
            let taken = scope.spawn(|| Lock::take(&run));
            thread::sleep(Duration::from_millis(300));
            assert!(!taken.is_finished(), "it is held");
            flock(&held, FlockOperation::Unlock).unwrap();
            taken.join().unwrap().unwrap();
        });
    }
}
