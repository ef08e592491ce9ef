//! Directories of guests: each locked by its owner, swept by the next start when the owner is gone.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use host::{Host, Local};
use rustix::fs::{FlockOperation, flock};
use rustix::process::getuid;
use terms::Cmd;

use crate::LabError;

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
        make_private(base)?;
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

/// Makes the directory for guests, or makes sure that the one that is there is ours alone: its parent may be open to
/// everybody, and what lies in it is written by name.
fn make_private(base: &Path) -> Result<(), LabError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(base);
    made.map_err(LabError::file("make", base))?;
    let metadata = fs::symlink_metadata(base).map_err(LabError::file("look at", base))?;
    let ours = metadata.is_dir() && metadata.uid() == getuid().as_raw() && metadata.mode() & 0o022 == 0;
    if ours {
        return Ok(());
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
    // A directory just being made has no lock yet; it is left alone unless it is old enough to be a leftover.
    let Ok(lock) = File::open(path.join("lock")) else { return is_old(path) && fs::remove_dir_all(path).is_ok() };
    if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        return false;
    }
    end_guests_of(path);
    fs::remove_dir_all(path).is_ok()
}

fn is_old(path: &Path) -> bool {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age.as_secs() > 60))
}

/// Ends every process whose command line names this very directory: an owner may die before it writes anything down.
fn end_guests_of(path: &Path) {
    let host = Local::new();
    let needle = format!("{}/", path.to_string_lossy());
    let ids = host.list("/proc").unwrap_or_default().into_iter().filter(|id| id.chars().all(|c| c.is_ascii_digit()));
    for id in ids {
        let line = host.read(&format!("/proc/{id}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        if line.contains("qemu-system") && line.contains(&needle) {
            let _ = host.run(&Cmd::new(["kill", "-KILL", &id]));
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
        File::create(left.join("lock")).unwrap();
        assert_eq!(sweep(base.path()), std::slice::from_ref(&left));
        assert!(used.path().exists() && !left.exists());
        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }
}
