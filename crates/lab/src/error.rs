//! Why there is no guest.

use std::io;
use std::path::PathBuf;

use host::HostError;

/// Why there is no guest.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// Something that a lab needs is not on this machine.
    #[error("the lab cannot run here: {what}")]
    Missing {
        /// What is missing.
        what: String,
        /// The command that brings it.
        remedy: String,
    },
    /// A kernel's name means several.
    #[error("`{asked}` is the beginning of several kernels: {}", releases.join(", "))]
    Ambiguous {
        /// What was asked for.
        asked: String,
        /// What it may mean.
        releases: Vec<String>,
    },
    /// The study asks for drives that the lab cannot make.
    #[error("the lab cannot make these drives: {0}")]
    Drives(String),
    /// A file of the guest could not be made.
    #[error("could not {doing} `{}`", path.display())]
    File {
        /// `make`, `write`, `lock`, …
        doing: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// QEMU ended or the guest did not come up.
    #[error("the guest did not come up: {what}{}", if console.is_empty() { String::new() } else { format!("\n  the end of its console:\n{console}") })]
    Boot {
        /// What was seen.
        what: String,
        /// Last lines of QEMU's and the guest's output.
        console: String,
    },
    /// A drive of the study did not appear in the guest.
    #[error("drive `{name}` (serial {serial}) did not appear in the guest within {seconds} s")]
    DriveAbsent {
        /// The study's name.
        name: String,
        /// The serial it was made with.
        serial: String,
        /// How long was waited.
        seconds: u64,
    },
    /// The door to a machine failed.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl LabError {
    pub(crate) fn file(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { doing, path, source }
    }
}
