//! The seal: the digest of every file of a finished run, so that a changed byte is found years later.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use terms::record::{Provenance, RECORD_SCHEMA};

use crate::durable;
use crate::error::RecordError;
use crate::layout;

/// `sealed.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Seal {
    /// [`RECORD_SCHEMA`].
    schema: u32,
    /// Path in the run's directory to SHA-256 in hexadecimal.
    files: BTreeMap<String, String>,
}

/// SHA-256 (FIPS 180-4) in lower-case hexadecimal, as `Provenance::study_sha256` and the seal hold it.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Is the run sealed?
pub(crate) fn is_sealed(dir: &Path) -> bool {
    dir.join(layout::SEALED).exists()
}

/// Writes the seal.
pub(crate) fn write(dir: &Path) -> Result<(), RecordError> {
    let path = dir.join(layout::SEALED);
    let seal = Seal { schema: RECORD_SCHEMA, files: digests(dir)? };
    durable::put_file(&path, &durable::json(&path, &seal)?)
}

/// What is not as it was sealed; empty if all is well.
pub(crate) fn verify(dir: &Path, provenance: &Provenance) -> Result<Vec<String>, RecordError> {
    let mut problems = Vec::new();
    let study = durable::read(&dir.join(layout::STUDY))?;
    if study.is_some_and(|text| sha256_hex(&text) != provenance.study_sha256) {
        problems.push(format!("{} is not the text that {} has the digest of", layout::STUDY, layout::PROVENANCE));
    }
    let path = dir.join(layout::SEALED);
    let Some(bytes) = durable::read(&path)? else {
        problems.push("the run is not sealed: it is not finished, or was interrupted".to_owned());
        return Ok(problems);
    };
    layout::check_schema(&path, &bytes)?;
    let seal: Seal = serde_json::from_slice(&bytes).map_err(RecordError::damaged(&path))?;
    let found = digests(dir)?;
    for (file, digest) in &seal.files {
        match found.get(file) {
            None => problems.push(format!("{file} is gone")),
            Some(now) if now != digest => problems.push(format!("{file} was changed after sealing")),
            Some(_) => {}
        }
    }
    let added = found.keys().filter(|file| !seal.files.contains_key(*file));
    problems.extend(added.map(|file| format!("{file} was added after sealing")));
    Ok(problems)
}

/// The digest of every file below a directory, except the seal itself, the lock and the reports.
fn digests(dir: &Path) -> Result<BTreeMap<String, String>, RecordError> {
    let mut found = BTreeMap::new();
    let mut open = vec![String::new()];
    while let Some(below) = open.pop() {
        let here = dir.join(&below);
        for entry in fs::read_dir(&here).map_err(RecordError::io("list", &here))? {
            let entry = entry.map_err(RecordError::io("list", &here))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if below.is_empty() { name } else { format!("{below}/{name}") };
            let kind = entry.file_type().map_err(RecordError::io("look at", &entry.path()))?;
            if path == layout::REPORTS {
                continue;
            }
            if kind.is_dir() {
                open.push(path);
            } else if path != layout::SEALED && path != layout::LOCK {
                found.insert(path, digest(&entry.path())?);
            }
        }
    }
    Ok(found)
}

/// The digest of a file, read piece by piece.
fn digest(path: &Path) -> Result<String, RecordError> {
    let mut file = File::open(path).map_err(RecordError::io("open", path))?;
    let mut state = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut piece).map_err(RecordError::io("read", path))?;
        if read == 0 {
            return Ok(hex(&state.finalize()));
        }
        state.update(&piece[..read]);
    }
}

/// Lower-case hexadecimal.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(sha256_hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
