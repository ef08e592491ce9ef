//! What a study wants to see side by side.

use serde::{Deserialize, Serialize};

use crate::name::Name;

/// Some stacks of a study beside each other, as a write-up would draw them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What the study says of it, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Slugs of its stacks, each once, in the order in which they are shown. The others are held against the first.
    pub stacks: Vec<String>,
    /// The workloads that it shows; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<Name>,
    /// Does it show their mean latency, too?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub latency: bool,
}
