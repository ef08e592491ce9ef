//! What is told of different jobs that ran at once.

use serde::{Deserialize, Serialize};

use super::WithInterval;
use crate::name::Name;
use crate::record::Latency;

/// One of several different jobs that ran at once, with its clones, over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartFinding {
    /// Its name in the workload.
    pub part: Name,
    /// Throughput in bytes per second.
    #[serde(rename = "throughput_bytes_per_second")]
    pub throughput: Option<WithInterval>,
    /// Operations per second.
    #[serde(rename = "iops_per_second")]
    pub iops: Option<WithInterval>,
    /// Completion latency, all rounds merged.
    pub latency: Option<Latency>,
}
