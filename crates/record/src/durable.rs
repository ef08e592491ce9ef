//! Files and directories that are there whole or not at all, also after `kill -9` and power loss.
//!
//! The order is the usual one: write under a temporary name in the same directory, sync it, rename it, sync the
//! directory that holds it.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::RecordError;
use crate::folder::{self, Folder};

/// What names of unfinished files and directories begin with.
pub(crate) const UNFINISHED: &str = ".new-";

/// Writes a new file and syncs it, not its directory.
pub(crate) fn write_synced(folder: &Folder, name: &str, bytes: &[u8]) -> Result<(), RecordError> {
    let path = folder.at(name)?;
    let write = || -> io::Result<()> {
        let mut file = folder.create(name)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(RecordError::io("write", &path))
}

/// Puts a file in place whole. What has the name already is replaced: callers choose a free one.
pub(crate) fn put_file(folder: &Folder, name: &str, bytes: &[u8]) -> Result<(), RecordError> {
    put(folder, name, |unfinished| write_synced(folder, unfinished, bytes))
}

/// Puts a directory with its files in place whole. The name must be free.
pub(crate) fn put_directory(folder: &Folder, name: &str, files: &[(String, Vec<u8>)]) -> Result<(), RecordError> {
    put(folder, name, |unfinished| {
        let inside = folder.make(unfinished)?;
        files.iter().try_for_each(|(name, bytes)| write_synced(&inside, name, bytes))?;
        inside.sync()
    })
}

/// Makes something under an unfinished name and puts it in place.
fn put(folder: &Folder, name: &str, make: impl FnOnce(&str) -> Result<(), RecordError>) -> Result<(), RecordError> {
    let unfinished = format!("{UNFINISHED}{name}");
    folder.remove(&unfinished)?;
    let put = make(&unfinished).and_then(|()| folder.rename(&unfinished, name));
    if put.is_err() {
        // The cause is told; what is left of the attempt only takes up room and is also cleared on resuming.
        let _ = folder.remove(&unfinished);
    }
    put
}

/// Removes what an interrupted writer left unfinished in a directory.
pub(crate) fn clear_unfinished(folder: &Folder) -> Result<(), RecordError> {
    let entries = folder.entries()?;
    entries.iter().filter(|name| name.starts_with(UNFINISHED)).try_for_each(|name| folder.remove(name))
}

/// Reads a JSON file; `None` if it is not there. Fields that are not known are passed over.
pub(crate) fn read_json<T: DeserializeOwned>(folder: &Folder, name: &str) -> Result<Option<T>, RecordError> {
    let Some(bytes) = folder::document(folder, name)? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(RecordError::damaged(&folder.at(name)?))
}

/// A value as indented JSON with a line end, for `path`.
pub(crate) fn json(path: &Path, value: &impl Serialize) -> Result<Vec<u8>, RecordError> {
    let mut bytes =
        serde_json::to_vec_pretty(value).map_err(|source| RecordError::Encode { path: path.to_owned(), source })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Puts a value in place as a JSON file.
pub(crate) fn put_json(folder: &Folder, name: &str, value: &impl Serialize) -> Result<(), RecordError> {
    put_file(folder, name, &json(&folder.at(name)?, value)?)
}
