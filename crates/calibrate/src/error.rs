//! Why something could not be measured.

use build::BuildError;
use host::HostError;
use measure::MeasureError;

/// Why something could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// The machine did not do what it was asked.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A stack on RAM could not be built or taken down.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// It could not be filled.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// Anything else, in words.
    #[error("{0}")]
    Told(String),
}

impl CalibrateError {
    /// Is there no machine to go on with?
    #[must_use]
    pub fn is_lost(&self) -> bool {
        let (Self::Host(error) | Self::Measure(MeasureError::Host(error))) = self else { return false };
        matches!(error, HostError::Lost { .. } | HostError::Interrupted)
    }
}
