//! Two stacks held against one another.

use serde::{Deserialize, Serialize};

use super::WithInterval;

/// Two stacks on one workload, paired within rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Name of the workload.
    pub workload: String,
    /// Slug of the stack.
    pub stack: String,
    /// Slug of the stack that it is held against.
    pub other: String,
    /// Throughput of `stack` over that of `other`. Its interval is widened for the size of the table where it decides.
    pub ratio: WithInterval,
    /// The answer, corrected for the number of comparisons in the table.
    pub verdict: Compared,
    /// Rounds still needed, about, where it cannot be told yet.
    pub more_rounds: Option<u32>,
    /// The chance of a difference this large between equals, corrected (Holm).
    pub p_value: Option<f64>,
}

impl Comparison {
    /// The ratio and the answer as seen from `stack`, where the comparison is of it and `other`.
    #[must_use]
    pub fn seen_from(&self, stack: &str, other: &str) -> Option<(WithInterval, Compared)> {
        match (self.stack.as_str(), self.other.as_str()) {
            pair if pair == (stack, other) => Some((self.ratio, self.verdict)),
            pair if pair == (other, stack) => Some((self.ratio.inverted(), self.verdict.reversed())),
            _ => None,
        }
    }
}

/// Answers of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// The stack is faster.
    Faster,
    /// The stack is slower.
    Slower,
    /// The ratio lies within the margin.
    Equivalent,
    /// Not enough rounds, or too much noise.
    #[serde(rename = "undecided", alias = "cannot-tell")]
    CannotTell,
}

impl Compared {
    /// The words for it.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::CannotTell => "undecided",
        }
    }

    /// The same seen from the other stack.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Faster => Self::Slower,
            Self::Slower => Self::Faster,
            same => same,
        }
    }
}
