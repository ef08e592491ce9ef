//! What can go wrong with a record. Messages say what was being done on what; the cause is in the source.

use std::io;
use std::path::{Path, PathBuf};

/// What went wrong with a record or the catalogue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The file system refused.
    #[error("cannot {doing} {}", path.display())]
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
    #[error("{} does not hold what a record should", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A line in the middle of a file is broken. Torn last lines are not an error.
    #[error("line {line} of {} is broken", path.display())]
    BrokenLine {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A value cannot be written as JSON.
    #[error("cannot turn the content of {} into JSON", path.display())]
    Encode {
        /// Where it was to go.
        path: PathBuf,
        /// Why not.
        #[source]
        source: serde_json::Error,
    },
    /// The record was written by a newer Bedplate.
    #[error("{} has record format {found}, this Bedplate reads up to {known}: use a newer one", path.display())]
    Newer {
        /// The file that says so.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The newest format known here.
        known: u32,
    },
    /// A directory without `provenance.json`.
    #[error("{} is not a run: it has no provenance.json", dir.display())]
    NotARun {
        /// The directory.
        dir: PathBuf,
    },
    /// A run of that name is there already.
    #[error("a run is already at {}", dir.display())]
    Exists {
        /// Its directory.
        dir: PathBuf,
    },
    /// A sealed run takes nothing more.
    #[error("the run at {} is sealed: nothing can be added", dir.display())]
    Sealed {
        /// Its directory.
        dir: PathBuf,
    },
    /// Another process is writing the run.
    #[error("the run at {} is being written by {}", dir.display(), writer(*pid))]
    Locked {
        /// Its directory.
        dir: PathBuf,
        /// The process, if it can be told.
        pid: Option<u32>,
    },
    /// A name that would not stay in its directory or would hide another file.
    #[error("`{name}` cannot name a file of a record")]
    BadName {
        /// The name.
        name: String,
    },
    /// A time that is not RFC 3339.
    #[error("`{text}` is not a time with a date and a zone")]
    BadTime {
        /// The text.
        text: String,
        /// What is wrong with it.
        #[source]
        source: jiff::Error,
    },
    /// The catalogue's database failed.
    #[error("cannot {doing} the catalogue {}", path.display())]
    Catalogue {
        /// What was being done.
        doing: &'static str,
        /// The database.
        path: PathBuf,
        /// Why not.
        #[source]
        source: rusqlite::Error,
    },
    /// No run fits.
    #[error("no run is called `{wanted}`")]
    NoRun {
        /// What was asked for.
        wanted: String,
    },
    /// Several runs fit.
    #[error("`{wanted}` may be any of {}", found.join(", "))]
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
