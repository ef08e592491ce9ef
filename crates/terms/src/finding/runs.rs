//! Two runs side by side: what differs in how they were made, and what each cell gave in both.

use serde::{Deserialize, Serialize};

use super::{Compared, WithInterval};
use crate::evidence::BottleneckKind;

/// A run (`b`) beside the run that it is compared with (`a`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunComparison {
    /// The run that counts as 1.
    pub a: RunHead,
    /// The run that is compared with it.
    pub b: RunHead,
    /// Both counted instructions and drew the same random numbers: rounds are compared one by one, and the interval of a
    /// ratio is how far such a run repeats itself.
    pub repeats: bool,
    /// What differs in how they were made.
    pub differences: Vec<Difference>,
    /// Every stack and workload that one of them has, in the order of `a`, then of `b`.
    pub cells: Vec<CellComparison>,
}

/// Which run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHead {
    /// Its name.
    pub run: String,
    /// When it began, RFC 3339 with zone.
    pub started: String,
    /// The question of its study.
    pub question: String,
    /// What emulated its machine, where one did; empty where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulated: Option<String>,
}

/// Something that is not the same in both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What.
    pub what: String,
    /// In the run that counts as 1.
    pub a: String,
    /// In the other.
    pub b: String,
}

/// One workload on one stack in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellComparison {
    /// Slug of the stack.
    pub stack: String,
    /// Name of the stack.
    pub name: String,
    /// Name of the workload.
    pub workload: String,
    /// The same in words.
    pub title: String,
    /// What it gave in `a`; `None` where it has no figure there.
    pub a: Option<Figures>,
    /// What it gave in `b`.
    pub b: Option<Figures>,
    /// Throughput of `b` over that of `a`, with its 95 % interval.
    pub ratio: Option<WithInterval>,
    /// The answer; `None` where there is none to be had.
    pub verdict: Option<Compared>,
    /// Why there is none, or why nobody can tell.
    pub why_not: Option<String>,
    /// Chance of such a difference between equals, corrected for the number of cells (Holm).
    pub p_value: Option<f64>,
    /// What changed with a throughput that is faster or slower, most first.
    pub changes: Vec<Change>,
    /// What limited it in `a` and in `b`, where that is not the same.
    #[serde(rename = "limiters")]
    pub bottlenecks: Option<(BottleneckKind, BottleneckKind)>,
}

/// Figures of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Throughput in bytes per second.
    #[serde(rename = "throughput_bytes_per_second")]
    pub throughput: WithInterval,
    /// Operations per second.
    #[serde(rename = "iops_per_second")]
    pub iops: f64,
    /// Mean latency.
    #[serde(rename = "mean_latency_ns")]
    pub latency: Option<f64>,
}

/// A quantity that is not the same in both.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Which.
    pub what: Quantity,
    /// In `a`.
    pub a: f64,
    /// In `b`.
    pub b: f64,
}

/// What explains a throughput.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Processor time of the whole system for each operation, in nanoseconds.
    CpuPerOperationNs,
    /// Bytes moved on the drives for each byte moved by the application.
    DriveBytesRatio,
    /// Operations under way at all drives, in the mean.
    DriveQueueOperations,
}

impl Quantity {
    /// Its name in a sentence.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::CpuPerOperationNs => "CPU time per I/O",
            Self::DriveBytesRatio => "I/O amplification at the drives",
            Self::DriveQueueOperations => "queue depth at the drives",
        }
    }
}

impl RunComparison {
    /// Cells with that answer.
    pub fn with(&self, verdict: Option<Compared>) -> impl Iterator<Item = &CellComparison> {
        self.cells.iter().filter(move |cell| cell.verdict == verdict)
    }

    /// Cells that are certainly slower in `b`, by more than this share.
    pub fn slower_by(&self, share: f64) -> impl Iterator<Item = &CellComparison> {
        self.with(Some(Compared::Slower))
            .filter(move |cell| cell.ratio.and_then(|ratio| ratio.high).is_some_and(|high| high < 1.0 - share))
    }

    /// Cells that are not certainly slower by more than this share, and may be: their interval reaches below, or there is
    /// none.
    pub fn may_be_slower_by(&self, share: f64) -> impl Iterator<Item = &CellComparison> {
        let is_sure = move |cell: &&CellComparison| self.slower_by(share).any(|slower| std::ptr::eq(slower, *cell));
        let low = |cell: &CellComparison| cell.ratio.and_then(|ratio| ratio.low);
        self.cells.iter().filter(move |cell| low(cell).is_none_or(|low| low < 1.0 - share) && !is_sure(cell))
    }
}
