//! The seal: the digest of every file of a finished run, so that a changed byte is found years later.

use std::collections::BTreeMap;
use std::io::Read;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use terms::record::{Provenance, RECORD_SCHEMA};
use terms::spelling::spell_inline;

use rustix::fs::FileType;

use crate::durable;
use crate::error::RecordError;
use crate::folder::{self, Folder};
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
pub(crate) fn is_sealed(run: &Folder) -> Result<bool, RecordError> {
    Ok(run.kind(layout::SEALED)?.is_some())
}

/// Writes the seal.
pub(crate) fn write(run: &Folder) -> Result<(), RecordError> {
    let files =
        digests(run)?.into_iter().map(|(file, digest)| Ok((file, digest?))).collect::<Result<_, RecordError>>()?;
    durable::put_json(run, layout::SEALED, &Seal { schema: RECORD_SCHEMA, files })
}

/// What is not as it was sealed; empty if all is well.
pub(crate) fn verify(run: &Folder, provenance: &Provenance) -> Result<Vec<String>, RecordError> {
    let mut problems = Vec::new();
    let study = folder::document(run, layout::STUDY)?;
    if study.is_some_and(|text| sha256_hex(&text) != provenance.study_sha256) {
        problems.push(format!("{} is not the text that {} has the digest of", layout::STUDY, layout::PROVENANCE));
    }
    let Some(bytes) = folder::document(run, layout::SEALED)? else {
        problems.push("the run is not sealed: it is not finished, or was interrupted".to_owned());
        return Ok(problems);
    };
    let path = run.at(layout::SEALED)?;
    layout::check_schema(&path, &bytes)?;
    let seal: Seal = serde_json::from_slice(&bytes).map_err(RecordError::damaged(&path))?;
    let found = digests(run)?;
    for (file, digest) in &seal.files {
        match found.get(file) {
            None => problems.push(format!("{} is gone", spell_inline(file))),
            Some(Err(error)) => problems.push(error.to_string()),
            Some(Ok(now)) if now != digest => {
                problems.push(format!("{} was changed after sealing", spell_inline(file)));
            }
            Some(Ok(_)) => {}
        }
    }
    let added = found.keys().filter(|file| !seal.files.contains_key(*file));
    problems.extend(added.map(|file| format!("{} was added after sealing", spell_inline(file))));
    Ok(problems)
}

/// Paths in a run's directory, each with its digest or with why it has none.
type Digests = BTreeMap<String, Result<String, RecordError>>;

/// Directories in one another that a record has: itself, `cells`, a cell. Deeper ones are nobody's of a record.
const DEEPEST: usize = 3;

/// The digest of every file below a directory, except the seal itself, the lock and the reports.
fn digests(run: &Folder) -> Result<Digests, RecordError> {
    let mut found = BTreeMap::new();
    add_digests(run, "", DEEPEST, &mut found)?;
    Ok(found)
}

/// Holds a directory open at each depth and no more: a long run has more cells than a process may have files open.
fn add_digests(folder: &Folder, below: &str, depth: usize, found: &mut Digests) -> Result<(), RecordError> {
    for name in folder.entries()? {
        let path = format!("{below}{name}");
        if [layout::REPORTS, layout::SEALED, layout::LOCK].contains(&path.as_str()) {
            continue;
        }
        if folder.kind(&name)? != Some(FileType::Directory) {
            found.insert(path, digest(folder, &name));
        } else if depth == 1 {
            found.insert(path, Err(RecordError::NotAFile { path: folder.at(&name)? }));
        } else if let Some(inside) = folder.below(&name)? {
            add_digests(&inside, &format!("{path}/"), depth - 1, found)?;
        }
    }
    Ok(())
}

/// The digest of a file, read piece by piece.
fn digest(folder: &Folder, name: &str) -> Result<String, RecordError> {
    let path = folder.at(name)?;
    let gone = || RecordError::io("open", &path)(std::io::ErrorKind::NotFound.into());
    let mut file = folder.file(name, layout::LARGEST)?.ok_or_else(gone)?.take(layout::LARGEST);
    let mut state = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut piece).map_err(RecordError::io("read", &path))?;
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
