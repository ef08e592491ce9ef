//! Directories of guests: each locked by its owner, swept by the next start when the owner is gone.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use host::{Host, Local};
use rustix::fs::{FlockOperation, flock};
use terms::Cmd;

use crate::LabError;
use crate::machine::file;

/// A directory that goes when its owner goes.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    /// Held for as long as the directory is in use; the kernel lets go of it whatever ends the owner.
    _lock: File,
}

impl Scratch {
    /// Makes a fresh directory under `base`, after sweeping what others left there.
    pub(crate) fn make(base: &Path) -> Result<Self, LabError> {
        fs::create_dir_all(base).map_err(LabError::file("make", base))?;
        sweep(base);
        let directory = tempfile::Builder::new()
            .prefix("lab-")
            .tempdir_in(base)
            .map_err(LabError::file("make a directory in", base))?;
        let path = directory.path().to_owned();
        let lock_path = path.join("lock");
        let lock = File::create(&lock_path).map_err(LabError::file("make", &lock_path))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|errno| LabError::file("lock", &lock_path)(errno.into()))?;
        // Kept only now that it is locked: from here on this type removes it.
        Ok(Self { path: directory.keep(), _lock: lock })
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
    // A directory just being made has no lock yet; it is left alone unless it is old enough to be a leftover.
    let Ok(lock) = File::open(path.join("lock")) else { return is_old(path) && fs::remove_dir_all(path).is_ok() };
    if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        return false;
    }
    if let Ok(id) = fs::read_to_string(path.join(file::PROCESS)) {
        end_if_ours(id.trim(), path);
    }
    fs::remove_dir_all(path).is_ok()
}

fn is_old(path: &Path) -> bool {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age.as_secs() > 60))
}

/// Ends a process only if its command line names this very directory: process ids are used again.
fn end_if_ours(id: &str, path: &Path) {
    let host = Local::new();
    let Ok(line) = host.read(&format!("/proc/{id}/cmdline")) else { return };
    if String::from_utf8_lossy(&line).contains(&*path.to_string_lossy()) {
        let _ = host.run(&Cmd::new(["kill", "-KILL", id]));
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
        File::create(left.join("lock")).unwrap();
        fs::write(left.join(file::PROCESS), "1").unwrap();
        assert_eq!(sweep(base.path()), std::slice::from_ref(&left));
        assert!(used.path().exists() && !left.exists());
        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }
}
