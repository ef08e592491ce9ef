//! Why a feature check could not be held.

use host::HostError;
use terms::plan::Unresolved;

/// Why a feature check could not be held. What a stack does not do is no error but what came of the feature check.
#[derive(Debug, thiserror::Error)]
pub enum FeatureCheckError {
    /// The machine outlives the feature check.
    #[error("feature checks write to the drives of a stack and break it: they run in the lab only, and not on {host}")]
    NotThrowaway {
        /// The machine.
        host: String,
    },
    /// The machine failed, or a command that must work did not.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A plan's word that nothing stands for.
    #[error("could not read the plan's step `{step}`")]
    Unresolved {
        /// The step.
        step: String,
        /// Which word.
        source: Unresolved,
    },
    /// Something did not happen in time.
    #[error("{what} took longer than {seconds} s")]
    Late {
        /// What.
        what: String,
        /// How long was waited.
        seconds: u64,
    },
    /// Something that this room does not understand.
    #[error("{0}")]
    Strange(String),
}

impl FeatureCheckError {
    /// Is it the machine that is lost, or the person who wants to stop, so that nothing more can be tried?
    #[must_use]
    pub const fn ends_all(&self) -> bool {
        matches!(self, Self::NotThrowaway { .. } | Self::Host(HostError::Interrupted | HostError::Lost { .. }))
    }
}
