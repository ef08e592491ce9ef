//! Why a plan was not carried out.

use host::HostError;
use terms::plan::Unresolved;

/// Why a plan was not carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The plan writes to a drive that nobody agreed to lose.
    #[error("refused: the plan erases drive `{drive}`, which was not consented to")]
    NotConsented {
        /// The study's name for it.
        drive: String,
    },
    /// Consent to lose drives of a lab says nothing of a machine whose drives are somebody's.
    #[error("refused: the drives of {host} outlive this run, so each needs a permission of its own")]
    NotThrowaway {
        /// The machine.
        host: String,
    },
    /// Something that a teardown would take away is not what the run made.
    #[error("refused: {what} is not the run's\n  because: {why}")]
    NotOurs {
        /// What.
        what: String,
        /// What it is instead.
        why: String,
    },
    /// A directory that is to be taken away is on a file system that is not mounted now.
    #[error(
        "refused: `{path}` is not there, and another file system is than the run worked on\n\nhint: mount that again"
    )]
    NotMounted {
        /// The directory.
        path: String,
    },
    /// A plan would write to a file that is no setting of the kernel.
    #[error("refused: `{path}` is no setting of the kernel")]
    NoSetting {
        /// The file.
        path: String,
    },
    /// A drive may not be touched.
    #[error(transparent)]
    Claim(#[from] claim::ClaimError),
    /// A drive holds something.
    #[error("refused: drive `{drive}` ({node}) is not blank\n  because: {found}")]
    NotBlank {
        /// The study's name for it.
        drive: String,
        /// Its node of today.
        node: String,
        /// What was found.
        found: String,
    },
    /// A drive is not there, and what is on it could not be taken away.
    #[error("drive `{drive}` is not there, so what is on it is still on it")]
    DriveAbsent {
        /// The study's name for it.
        drive: String,
    },
    /// What a step would make is there, and this plan did not make it.
    #[error("refused: step `{step}` would make {what}, which is there already and is not ours")]
    AlreadyThere {
        /// The step.
        step: String,
        /// What is there.
        what: String,
    },
    /// A step ran and what it should have made did not come.
    #[error("step `{step}` ran, but {what} did not appear within {seconds} s")]
    NoEffect {
        /// The step.
        step: String,
        /// What did not come.
        what: String,
        /// How long was waited.
        seconds: u64,
    },
    /// Something waited for did not happen in time.
    #[error("step `{step}`: {what} did not happen within {limit}")]
    Timeout {
        /// The step.
        step: String,
        /// What was waited for.
        what: String,
        /// How long.
        limit: terms::Nanos,
    },
    /// A drive did not forget what is on it.
    #[error(
        "step `{step}`: {node} says that sanitizing did not succeed (state {state:?} of its log, 1 or 4 is success)"
    )]
    NotSanitized {
        /// The step.
        step: String,
        /// The controller.
        node: String,
        /// Bits 2 to 0 of the status in its log.
        state: Option<u16>,
    },
    /// A placeholder of the plan has no meaning on this machine.
    #[error("step `{step}` cannot be made concrete")]
    Unresolved {
        /// The step.
        step: String,
        /// Which.
        #[source]
        source: Unresolved,
    },
    /// A step needs a key that only an earlier run had.
    #[error("step `{step}` needs the key of an earlier run, which is gone: take the stack down and build it again")]
    KeyGone {
        /// The step.
        step: String,
    },
    /// The journal could not be written, so the step was not run.
    #[error("could not write the journal, so nothing more is done")]
    Journal(#[source] std::io::Error),
    /// Everything was taken down, and the journal does not say so.
    #[error("everything was taken down, but that could not be written into the journal")]
    Unwritten(#[source] std::io::Error),
    /// The machine failed.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A step failed, and taking back what was done failed too.
    #[error("{cause}; and taking back what was done failed: {rollback}\ncommands left for you to run, in this order:\n{}", left.join("\n"))]
    Rollback {
        /// The first failure.
        cause: Box<BuildError>,
        /// The failure while taking back.
        rollback: Box<BuildError>,
        /// Commands left to run.
        left: Vec<String>,
    },
}

impl BuildError {
    /// Was it a refusal, before anything was touched?
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        match self {
            Self::Claim(error) => error.is_refusal(),
            Self::NotConsented { .. }
            | Self::NotThrowaway { .. }
            | Self::NotOurs { .. }
            | Self::NotMounted { .. }
            | Self::NoSetting { .. }
            | Self::NotBlank { .. }
            | Self::AlreadyThere { .. } => true,
            _ => false,
        }
    }
}
