//! What can go wrong with a record. Messages say what was being done on what; the cause is in the source.

use std::io;
use std::path::{Path, PathBuf};

use terms::Bytes;
use terms::spelling::{spell_inline, spell_path};

/// What went wrong with a record or the catalogue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The file system refused.
    #[error("cannot {doing} {}", spell_path(path))]
    Io {
        /// What was being done, such as `write`.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A file of the record does not hold what it should.
    #[error("{} does not hold what a record should", spell_path(path))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A line in the middle of a file is broken. Torn last lines are not an error.
    #[error("line {line} of {} is broken", spell_path(path))]
    BrokenLine {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A line of a file is longer than lines may be.
    #[error("{} has a line of more than {}: it is not read", spell_path(path), Bytes(*most))]
    LongLine {
        /// The file.
        path: PathBuf,
        /// How long a line may be, in bytes.
        most: u64,
    },
    /// A link, a pipe, a device or a directory stands where a record has a file; or a file that is to be written into
    /// has a second name, under which it may be somebody else's.
    #[error("{} is not a file of the record's own: links, pipes and devices are not opened", spell_path(path))]
    NotAFile {
        /// What is in its place.
        path: PathBuf,
    },
    /// A file is larger than any that a record has in its place.
    #[error("{} has more than {}: it is not read", spell_path(path), Bytes(*most))]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How large it may be, in bytes.
        most: u64,
    },
    /// A value cannot be written as JSON.
    #[error("cannot turn the content of {} into JSON", spell_path(path))]
    Encode {
        /// Where it was to go.
        path: PathBuf,
        /// Why not.
        #[source]
        source: serde_json::Error,
    },
    /// The record was written by a newer Bedplate.
    #[error("{} has record format {found}, this Bedplate reads up to {known}: use a newer one", spell_path(path))]
    Newer {
        /// The file that says so.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The newest format known here.
        known: u32,
    },
    /// A directory without `provenance.json`.
    #[error("{} is not a run: it has no provenance.json", spell_path(dir))]
    NotARun {
        /// The directory.
        dir: PathBuf,
    },
    /// A run of that name is there already.
    #[error("a run is already at {}", spell_path(dir))]
    Exists {
        /// Its directory.
        dir: PathBuf,
    },
    /// A sealed run takes nothing more.
    #[error("the run at {} is sealed: nothing can be added", spell_path(dir))]
    Sealed {
        /// Its directory.
        dir: PathBuf,
    },
    /// Another process is writing the run.
    #[error("the run at {} is being written by {}", spell_path(dir), writer(*pid))]
    Locked {
        /// Its directory.
        dir: PathBuf,
        /// The process, if it can be told.
        pid: Option<u32>,
    },
    /// A name that would not stay in its directory or would hide another file.
    #[error("`{}` cannot name a file of a record", spell_inline(name))]
    BadName {
        /// The name.
        name: String,
    },
    /// A time that is not RFC 3339.
    #[error("`{}` is not a time with a date and a zone", spell_inline(text))]
    BadTime {
        /// The text.
        text: String,
        /// What is wrong with it.
        #[source]
        source: jiff::Error,
    },
    /// The catalogue could not be made into a database.
    #[error("cannot write the catalogue {}", spell_path(path))]
    Catalogue {
        /// Where it was to go.
        path: PathBuf,
        /// Why not.
        #[source]
        source: rusqlite::Error,
    },
    /// No run fits.
    #[error("no run is called `{}`", spell_inline(wanted))]
    NoRun {
        /// What was asked for.
        wanted: String,
    },
    /// Several runs fit.
    #[error("`{}` may be any of {}", spell_inline(wanted), spell_inline(&found.join(", ")))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// What fits.
        found: Vec<String>,
    },
}

impl RecordError {
    /// Makes an error of a failed file operation.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }

    /// Makes an error of a file that could not be understood.
    pub(crate) fn damaged(path: &Path) -> impl FnOnce(serde_json::Error) -> Self {
        move |source| Self::Damaged { path: path.to_owned(), source }
    }
}

/// The writing process in words.
fn writer(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}
