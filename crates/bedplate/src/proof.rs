//! Proof that a line of a journal was written by this person on this machine, and after the line before it: a code over the
//! line and the code before, under a key that never leaves the person's state directory. A record that was made elsewhere has none, whatever it says of itself, and
//! so nothing is run because of it.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use build::JournalEntry;
use hmac::{Hmac, KeyInit, Mac};
use host::Local;
use record::{RunReader, RunWriter};
use serde_json::Value;
use sha2::Sha256;
use terms::spelling::spell_path;

use crate::exit::Failure;

/// The key's file in the state directory.
const KEY: &str = "journal.key";
/// As long as a block of the hash, which HMAC takes as it is (RFC 2104).
const KEY_BYTES: usize = 64;
/// The member of a line that holds its code.
const MEMBER: &str = "proof";

/// The key that this person's journals are signed with.
pub(crate) struct Proof {
    key: [u8; KEY_BYTES],
    /// The run whose lines are signed.
    run: String,
    /// The code of its newest line.
    newest: Mutex<String>,
}

impl Proof {
    /// Reads the key, or draws one the first time.
    ///
    /// # Errors
    /// Where it can be neither read nor kept, or somebody else may read or change it.
    pub(crate) fn open(state: &Path) -> Result<Self, Failure> {
        let path = state.join(KEY);
        match read(&path) {
            Err(Failure::Could(error)) if is_missing(&*error) => {
                fs::create_dir_all(state).map_err(Failure::file("make", state))?;
                draw(state, &path)?;
                read(&path)
            }
            result => result,
        }
    }

    /// The same for writing the journal of a run.
    ///
    /// # Errors
    /// Where the journal cannot be read.
    pub(crate) fn of_run(self, reader: &RunReader) -> Result<Self, Failure> {
        let newest = Mutex::new(newest(reader)?);
        Ok(Self { run: reader.provenance().run.clone(), newest, ..self })
    }

    /// Writes a line of the run's journal with its code.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub(crate) fn write(&self, entry: &JournalEntry, writer: &RunWriter) -> Result<(), Failure> {
        let mut newest_code = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let line = self.signed(entry, &newest_code)?;
        let code = code_of(&line).to_owned();
        match writer.journal(&line) {
            Ok(()) => *newest_code = code,
            // A line that failed may be there all the same. It is cut off before the next one, which follows the line before it.
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn signed(&self, entry: &JournalEntry, before: &str) -> serde_json::Result<Value> {
        let mut line = serde_json::to_value(entry)?;
        let code = hex(&self.code(&self.run, before, &line).finalize().into_bytes());
        if let Value::Object(members) = &mut line {
            members.insert(MEMBER.to_owned(), code.into());
        }
        Ok(line)
    }

    /// The journal of a run, every line of it written by this person.
    ///
    /// # Errors
    /// [`Failure::Refused`] where a line is not, or says what this program does not know.
    pub(crate) fn entries(&self, reader: &RunReader) -> Result<Vec<JournalEntry>, Failure> {
        let run = &reader.provenance().run;
        let mut before = String::new();
        let mut entries = Vec::new();
        for (at, line) in reader.journal()?.into_iter().enumerate() {
            let code = code_of(&line).to_owned();
            let line = self.checked(run, &before, line).ok_or_else(|| stranger(reader, at + 1))?;
            entries.push(serde_json::from_value(line).map_err(|error| unknown(reader, at + 1, &error))?);
            before = code;
        }
        Ok(entries)
    }

    fn checked(&self, run: &str, before: &str, mut line: Value) -> Option<Value> {
        let code = line.as_object_mut()?.remove(MEMBER)?;
        self.code(run, before, &line).verify_slice(&bytes(code.as_str()?)?).ok()?;
        Some(line)
    }

    /// Over the run's name, the code of the line before and the line, whose members serde_json keeps in the order of their
    /// names. A line that was taken out, put in or moved breaks the chain; one at the end can be cut off.
    fn code(&self, run: &str, before: &str, line: &Value) -> Hmac<Sha256> {
        let mut code = Hmac::<Sha256>::new(&self.key.into());
        for part in [run, before] {
            code.update(&(part.len() as u64).to_le_bytes());
            code.update(part.as_bytes());
        }
        code.update(line.to_string().as_bytes());
        code
    }
}

fn code_of(line: &Value) -> &str {
    line.get(MEMBER).and_then(Value::as_str).unwrap_or_default()
}

/// The code of the last line of a run's journal.
fn newest(reader: &RunReader) -> Result<String, Failure> {
    Ok(reader.journal()?.last().map(|line| code_of(line).to_owned()).unwrap_or_default())
}

/// A line with the right code that says what this program does not know.
fn unknown(reader: &RunReader, line: usize, error: &serde_json::Error) -> Failure {
    let journal = spell_path(&reader.dir().join("journal.jsonl"));
    let version = &reader.provenance().version;
    Failure::Refused(format!(
        "refused: line {line} of `{journal}` is yours, and this program does not understand it\n  because: {error}\n\n\
         hint: take the run down with the version of bedplate that began it, {version}, or a newer one"
    ))
}

fn stranger(reader: &RunReader, line: usize) -> Failure {
    let journal = reader.dir().join("journal.jsonl");
    Failure::Refused(format!(
        "refused: line {line} of `{}` was not written by you on this machine, or not after the line before it, so nothing is done because of it\n  \
         because: a journal says which commands are to be run; one that comes from elsewhere is only for reading\n\n\
         hint: if you began this run, take it down on that machine as that user; `bedplate report` reads it anywhere",
        spell_path(&journal)
    ))
}

/// The key, if it is a file of ours that nobody else may read or write.
fn read(path: &Path) -> Result<Proof, Failure> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let open = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    let mut file = open.map_err(Failure::file("read the key", path))?;
    let about = file.metadata().map_err(Failure::file("read the key", path))?;
    if !about.is_file() || about.uid() != rustix::process::geteuid().as_raw() || about.mode() & 0o077 != 0 {
        return Err(Failure::Refused(format!(
            "refused: `{0}` is not a file that only you may read and write\n\nhint: ls -l {0}",
            terms::spelling::spell_path(path)
        )));
    }
    let mut key = [0; KEY_BYTES];
    file.read_exact(&mut key).map_err(|_| {
        Failure::Refused(format!(
            "refused: `{0}` does not hold a whole key\n\n\
             hint: remove it, and a new one is drawn; what was begun under the old one has to be taken down by hand",
            terms::spelling::spell_path(path)
        ))
    })?;
    Ok(Proof { key, run: String::new(), newest: Mutex::default() })
}

/// Keeps a new key, whole or not at all: of two programs that draw one at once, the first is believed.
fn draw(state: &Path, path: &Path) -> Result<(), Failure> {
    let key = host::draw_key(&Local::new(), KEY_BYTES)?;
    let unfinished: PathBuf = state.join(format!(".{KEY}-{}", std::process::id()));
    let keep = || {
        let _ = fs::remove_file(&unfinished);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
        file.write_all(&key)?;
        file.sync_all()?;
        match fs::hard_link(&unfinished, path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            result => result,
        }
    };
    let kept = keep().map_err(Failure::file("keep the key", path));
    let _ = fs::remove_file(&unfinished);
    kept
}

fn is_missing(error: &(dyn std::error::Error + 'static)) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    source.is_some_and(|source| source.kind() == ErrorKind::NotFound)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> JournalEntry {
        JournalEntry::Down { stack: "s".to_owned() }
    }

    #[test]
    fn only_a_line_of_this_key_and_this_run_is_believed() {
        let state = tempfile::tempdir().unwrap();
        let proof = Proof { run: "run".to_owned(), ..Proof::open(state.path()).unwrap() };
        let line = proof.signed(&entry(), "before").unwrap();
        let read = |line: Option<Value>| serde_json::from_value::<JournalEntry>(line.unwrap()).unwrap();
        assert_eq!(read(proof.checked("run", "before", line.clone())), entry());
        assert_eq!(proof.checked("run", "", line.clone()), None, "another line before it");
        // The same person another time.
        assert_eq!(read(Proof::open(state.path()).unwrap().checked("run", "before", line.clone())), entry());
        let other = tempfile::tempdir().unwrap();
        assert_eq!(Proof::open(other.path()).unwrap().checked("run", "before", line.clone()), None, "another person");
        assert_eq!(proof.checked("other", "before", line.clone()), None, "another run");
        let mut changed = line.clone();
        changed["stack"] = "t".into();
        assert_eq!(proof.checked("run", "before", changed), None, "another line");
        let mut bare = line;
        bare.as_object_mut().unwrap().remove(MEMBER);
        assert_eq!(proof.checked("run", "before", bare), None, "no code");
    }

    #[test]
    fn a_key_that_others_may_read_or_that_is_a_link_is_refused() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let state = tempfile::tempdir().unwrap();
        Proof::open(state.path()).unwrap();
        let key = state.path().join(KEY);
        fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(Proof::open(state.path()), Err(Failure::Refused(_))));
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        let elsewhere = state.path().join("elsewhere");
        fs::rename(&key, &elsewhere).unwrap();
        symlink(&elsewhere, &key).unwrap();
        assert!(Proof::open(state.path()).is_err());
        assert_eq!(fs::read_dir(state.path()).unwrap().count(), 2, "nothing unfinished is left");
    }
}
