//! What was looked at on the drives of a study before anything was built on them.

use serde::{Deserialize, Serialize};

use crate::name::Name;

/// One thing that was looked at on a drive: what it should be and what it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DriveCheck {
    /// The drive, by its name in the study.
    pub drive: Name,
    /// `firmware`, `block`, `link`, or the name of a check of `bedplate doctor`.
    pub looked_at: String,
    /// What it should be, in words.
    pub expected: String,
    /// What it is, in words.
    pub found: String,
    /// How the two stand to each other.
    pub state: CheckState,
    /// What it costs, or why it is not known; empty where it is as expected.
    pub why: String,
    /// What is left of the rate that was expected, where it is a rate: 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

/// How what was found stands to what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    /// The same.
    AsExpected,
    /// Something else.
    Off,
    /// It could not be read.
    Unknown,
}

impl CheckState {
    /// The words for it.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::AsExpected => "as expected",
            Self::Off => "off",
            Self::Unknown => "not known",
        }
    }
}
