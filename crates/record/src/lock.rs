//! One writer for one run: an advisory lock that ends with its process, however that ends.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use terms::{ProcessId, ProcessStat};

use crate::error::RecordError;
use crate::folder::Folder;
use crate::layout;

/// More than any process takes as text, in bytes.
const PROCESS: usize = 64;

/// How long a process that is gone may hold a lock: a program that it was about to start has the lock until it runs.
const PATIENCE: Duration = Duration::from_secs(5);

/// Held as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a run's directory and leaves in it which process this is.
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
                    let holder = holder(&file);
                    let is_there = holder.is_some_and(is_at_work);
                    if is_there || holder.is_none() || start.elapsed() > PATIENCE {
                        let pid = holder.filter(|_| is_there).map(|holder| holder.id);
                        return Err(RecordError::Locked { dir: run.path().to_owned(), pid });
                    }
                    thread::sleep(Duration::from_millis(20));
                }
                Err(error) => return Err(RecordError::io("lock", &path)(error.into())),
            }
        }
        let me = ProcessStat::parse(&stat("self").map_err(RecordError::io("read", Path::new("/proc/self/stat")))?);
        let me = me.map(|stat| format!("{}\n", stat.process())).unwrap_or_default();
        let write = file.set_len(0).and_then(|()| file.write_all_at(me.as_bytes(), 0));
        write.map_err(RecordError::io("write", &path))?;
        Ok(Self { _file: file })
    }
}

/// The process that left its name: from the beginning of the file, however often it is asked.
fn holder(file: &File) -> Option<ProcessId> {
    let mut said = [0; PROCESS];
    let len = file.read_at(&mut said, 0).ok()?;
    ProcessId::parse(str::from_utf8(&said[..len]).ok()?.trim())
}

fn is_at_work(process: ProcessId) -> bool {
    stat(&process.id.to_string()).is_ok_and(|line| process.is_at_work(&line))
}

/// What the kernel tells of a process. The name in it may hold any bytes.
fn stat(process: &str) -> std::io::Result<String> {
    let bytes = std::fs::read(Path::new("/proc").join(process).join("stat"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
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
        held.write_all_at(b"4194305:1\n", 0).unwrap();
        flock(&held, FlockOperation::LockExclusive).unwrap();
        thread::scope(|scope| {
            let taken = scope.spawn(|| Lock::take(&run));
            thread::sleep(Duration::from_millis(300));
            assert!(!taken.is_finished(), "it is held");
            flock(&held, FlockOperation::Unlock).unwrap();
            taken.join().unwrap().unwrap();
        });
    }

    /// Numbers are given again: whoever has one by now is not told to be the writer.
    #[test]
    fn whoever_has_the_number_of_a_holder_by_now_is_not_blamed() {
        let home = tempfile::tempdir().unwrap();
        let run = Folder::open(home.path()).unwrap();
        let held = run.open_to_write(layout::LOCK).unwrap();
        held.write_all_at(format!("{}:1\n", std::process::id()).as_bytes(), 0).unwrap();
        flock(&held, FlockOperation::LockExclusive).unwrap();
        let start = Instant::now();
        assert!(matches!(Lock::take(&run), Err(RecordError::Locked { pid: None, .. })));
        assert!(start.elapsed() > PATIENCE, "the one that held it may let go of it at any moment");
    }
}
