//! What is told of drives behind a network: a path that was lost, and several hosts at once.

use serde::{Deserialize, Serialize};

use super::WithInterval;
use crate::record::{Latency, Sample};
use crate::units::Nanos;
use crate::workload::PathLoss;

/// A window in which a network path was lost: the last round's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PathLossFinding {
    /// When it was lost and when it was there again.
    pub loss: PathLoss,
    /// Until it was lost.
    pub before: Stretch,
    /// While it was lost.
    pub during: Stretch,
    /// From when it was there again.
    pub after: Stretch,
    /// The longest time without a completed operation, in whole samples.
    #[serde(rename = "longest_silence_ns")]
    pub longest_silence: Nanos,
}

/// Means of a part of a window.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Stretch {
    /// Bytes per second; `None` where no sample lies in it.
    #[serde(rename = "throughput_bytes_per_second")]
    pub throughput: Option<f64>,
    /// Mean latency, weighed by throughput; `None` where nothing was completed.
    #[serde(rename = "latency_ns")]
    pub latency: Option<Nanos>,
}

/// One of several machines that worked at once, over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostFinding {
    /// Its number, from 1.
    pub host: u8,
    /// Throughput in bytes per second.
    #[serde(rename = "throughput_bytes_per_second")]
    pub throughput: Option<WithInterval>,
    /// Operations per second.
    #[serde(rename = "iops_per_second")]
    pub iops: Option<WithInterval>,
    /// Completion latency, all rounds merged.
    pub latency: Option<Latency>,
    /// Throughput and latency over time, of the last round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Sample>,
}
