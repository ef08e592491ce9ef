//! Why a question has no answer.

use host::HostError;

/// Why a question has no answer.
#[derive(Debug)]
pub(crate) enum Doubt {
    /// It could not be asked.
    Host(HostError),
    /// The answer was not understood.
    Words(String),
}

impl From<HostError> for Doubt {
    fn from(error: HostError) -> Self {
        Self::Host(error)
    }
}

impl Doubt {
    pub(crate) fn words(words: impl Into<String>) -> Self {
        Self::Words(words.into())
    }
}

/// An error with its causes in one line.
pub(crate) fn with_cause(error: &HostError) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}
