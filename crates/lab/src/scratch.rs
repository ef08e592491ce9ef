//! Directories of guests: each locked by its owner, swept by the next start when the owner is gone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use host::interrupt::Care;
use host::{Host, Local};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::{Pid, PidfdFlags, Signal, getuid, pidfd_open, pidfd_send_signal};

use crate::file;
use crate::{LabError, cage};

/// The file in a guest's directory that its owner has locked.
const LOCK: &str = "lock";
/// What is in it: a directory without is somebody else's, whatever it is called.
const MARK: &[u8] = b"Bedplate's directory of one guest. It is removed when nobody has this file locked.\n";

/// A directory that goes when its owner goes.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    /// Held for as long as the directory is in use; the kernel lets go of it whatever ends the owner.
    _lock: File,
    /// A signal does not end the program while it is there.
    _care: Care,
}

impl Scratch {
    /// Makes a fresh directory under `base`, after sweeping what others left there.
    pub(crate) fn make(base: &Path) -> Result<Self, LabError> {
        let care = Care::take();
        make_private(base)?;
        sweep(base);
        let directory = tempfile::Builder::new()
            .prefix("lab-")
            .tempdir_in(base)
            .map_err(LabError::file("make a directory in", base))?;
        let path = directory.path().to_owned();
        let lock_path = path.join(LOCK);
        let mut lock = File::create_new(&lock_path).map_err(LabError::file("make", &lock_path))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|errno| LabError::file("lock", &lock_path)(errno.into()))?;
        lock.write_all(MARK).map_err(LabError::file("write", &lock_path))?;
        cage::let_through(&path)?;
        let own = path.join(file::OWN);
        fs::DirBuilder::new().mode(0o700).create(&own).map_err(LabError::file("make", &own))?;
        cage::give(&own)?;
        // Kept only now that it is locked: from here on this type removes it.
        Ok(Self { path: directory.keep(), _lock: lock, _care: care })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Makes the directory for guests, or makes sure that the one that is there is ours alone: its parent may be open to
/// everybody, and what lies in it is written by name.
fn make_private(base: &Path) -> Result<(), LabError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(base);
    made.map_err(LabError::file("make", base))?;
    let metadata = fs::symlink_metadata(base).map_err(LabError::file("look at", base))?;
    let ours = metadata.is_dir() && metadata.uid() == getuid().as_raw() && metadata.mode() & 0o022 == 0;
    if ours {
        return cage::let_through(base);
    }
    let source =
        io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to somebody else, or others may write in it");
    Err(LabError::file("use", base)(source))
}

/// Ends guests whose owner is gone and removes their directories. Returns what was swept.
pub fn sweep(base: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(base) else { return Vec::new() };
    let labs = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("lab-")));
    labs.filter(|path| sweep_one(path)).collect()
}

fn sweep_one(path: &Path) -> bool {
    // Nothing but what this type made, for this person: the mark says so. Without a lock it is being made, or was.
    let Some(lock) = marked(path) else { return is_old(path) && fs::remove_dir(path).is_ok() };
    if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        return false;
    }
    end_guests_of(path);
    fs::remove_dir_all(path).is_ok()
}

/// The lock of a directory that is ours and says what it is.
fn marked(path: &Path) -> Option<File> {
    let is_ours = |metadata: &fs::Metadata| metadata.uid() == getuid().as_raw();
    if !fs::symlink_metadata(path).is_ok_and(|about| about.is_dir() && is_ours(&about)) {
        return None;
    }
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let lock = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path.join(LOCK)).ok()?;
    let about = lock.metadata().ok().filter(|about| about.is_file() && is_ours(about))?;
    let mut mark = Vec::new();
    (&lock).take(about.len().min(MARK.len() as u64 + 1)).read_to_end(&mut mark).ok()?;
    (mark == MARK).then_some(lock)
}

fn is_old(path: &Path) -> bool {
    let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age.as_secs() > 60))
}

/// How long a QEMU that was killed may take to be gone: its memory is given back first.
const GOING: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// Ends every QEMU that was started in this very directory: an owner may die before it writes anything down.
fn end_guests_of(path: &Path) {
    let host = Local::new();
    let Ok(path) = host.resolve(&path.to_string_lossy()) else { return };
    let ids = host.list("/proc").unwrap_or_default();
    for id in ids.iter().filter_map(|id| Pid::from_raw(id.parse().ok()?)) {
        // Held before it is looked at, so that what is ended is what was looked at.
        let Ok(process) = pidfd_open(id, PidfdFlags::empty()) else { continue };
        let line = host.read(&format!("/proc/{id}/cmdline")).unwrap_or_default();
        let is_machine = String::from_utf8_lossy(&line).contains("qemu-system");
        if is_machine && host.resolve(&format!("/proc/{id}/cwd")).is_ok_and(|cwd| cwd == path) {
            let _ = pidfd_send_signal(&process, Signal::KILL);
            let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&GOING));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_in_use_is_left_alone_and_a_leftover_is_swept() {
        let base = tempfile::tempdir().unwrap();
        let used = Scratch::make(base.path()).unwrap();
        let left = base.path().join("lab-left");
        fs::create_dir(&left).unwrap();
        fs::write(left.join(LOCK), MARK).unwrap();
        let theirs = base.path().join("lab-notes");
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("thesis"), "all of it").unwrap();
        let fifo = base.path().join("lab-fifo");
        fs::create_dir(&fifo).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, fifo.join(LOCK), rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
            .unwrap();
        let locked = base.path().join("lab-2024");
        fs::create_dir(&locked).unwrap();
        fs::write(locked.join(LOCK), "").unwrap();
        let long_ago = std::time::SystemTime::UNIX_EPOCH;
        for theirs in [&theirs, &fifo, &locked] {
            File::open(theirs).unwrap().set_modified(long_ago).unwrap();
        }
        assert_eq!(sweep(base.path()), std::slice::from_ref(&left));
        assert!(used.path().exists() && !left.exists());
        assert!(theirs.join("thesis").exists() && fifo.exists() && locked.exists());
        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }
}
