//! Files and directories that are there whole or not at all, also after `kill -9` and power loss.
//!
//! The order is the usual one: write under a temporary name in the same directory, sync it, rename it, sync the
//! directory that holds it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::RecordError;

/// What names of unfinished files and directories begin with.
pub(crate) const UNFINISHED: &str = ".new-";

/// Writes a new file and syncs it, not its directory.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(RecordError::io("write", path))
}

/// Puts a file in place whole. What has the name already is replaced: callers choose a free one.
pub(crate) fn put_file(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    let unfinished = beside(path);
    remove(&unfinished)?;
    let put = write_synced(&unfinished, bytes).and_then(|()| rename(&unfinished, path));
    if put.is_err() {
        // The cause is told; what is left of the attempt only takes up room and is also cleared on resuming.
        let _ = remove(&unfinished);
    }
    put
}

/// Puts a directory with its files in place whole. The name must be free.
pub(crate) fn put_directory(path: &Path, files: &[(String, Vec<u8>)]) -> Result<(), RecordError> {
    let unfinished = beside(path);
    remove(&unfinished)?;
    let put = fill_directory(&unfinished, files).and_then(|()| rename(&unfinished, path));
    if put.is_err() {
        let _ = remove(&unfinished);
    }
    put
}

/// Makes a directory with files in it and syncs all of them.
fn fill_directory(dir: &Path, files: &[(String, Vec<u8>)]) -> Result<(), RecordError> {
    fs::create_dir(dir).map_err(RecordError::io("create", dir))?;
    for (name, bytes) in files {
        write_synced(&dir.join(name), bytes)?;
    }
    sync_directory(dir)
}

/// Renames and makes the new name last.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), RecordError> {
    fs::rename(from, to).map_err(RecordError::io("put in place", to))?;
    to.parent().map_or(Ok(()), sync_directory)
}

/// Makes the names in a directory last.
pub(crate) fn sync_directory(dir: &Path) -> Result<(), RecordError> {
    File::open(dir).and_then(|handle| handle.sync_all()).map_err(RecordError::io("sync", dir))
}

/// Removes a file or a whole directory; nothing there is fine.
pub(crate) fn remove(path: &Path) -> Result<(), RecordError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(RecordError::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Removes what an interrupted writer left unfinished in a directory.
pub(crate) fn clear_unfinished(dir: &Path) -> Result<(), RecordError> {
    let entries = fs::read_dir(dir).map_err(RecordError::io("list", dir))?;
    for entry in entries {
        let entry = entry.map_err(RecordError::io("list", dir))?;
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// The finished names in a directory, sorted; hidden and unfinished ones are left out. Empty if it is not there.
pub(crate) fn names(dir: &Path) -> Result<Vec<String>, RecordError> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(RecordError::io("list", dir))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(RecordError::io("list", dir))?.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Reads a file; `None` if it is not there.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, RecordError> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        bytes => bytes.map(Some).map_err(RecordError::io("read", path)),
    }
}

/// Reads a JSON file; `None` if it is not there. Fields that are not known are passed over.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, RecordError> {
    read(path)?.map(|bytes| serde_json::from_slice(&bytes).map_err(RecordError::damaged(path))).transpose()
}

/// A value as indented JSON with a line end, for `path`.
pub(crate) fn json(path: &Path, value: &impl Serialize) -> Result<Vec<u8>, RecordError> {
    let mut bytes =
        serde_json::to_vec_pretty(value).map_err(|source| RecordError::Encode { path: path.to_owned(), source })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The temporary name beside a path.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{UNFINISHED}{name}"))
}
