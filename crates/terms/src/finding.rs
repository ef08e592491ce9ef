//! What a record means: estimates with intervals, verdicts, and the records they came from.

use serde::{Deserialize, Serialize};

use crate::inventory::Inventory;
use crate::record::{GuardNote, Latency, Provenance, Sample};
use crate::units::Nanos;

/// Version of the findings' JSON.
pub const FINDINGS_SCHEMA: u32 = 1;

/// What one run means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// [`FINDINGS_SCHEMA`].
    pub schema: u32,
    /// Where it came from.
    pub provenance: Provenance,
    /// The machine it ran on.
    pub inventory: Inventory,
    /// One for every stack and workload of the study, none left out; stacks in the study's order, then workloads.
    pub cells: Vec<Finding>,
    /// One for every stack, in the study's order.
    pub builds: Vec<BuildFinding>,
    /// What was not checked, so that nobody believes it was.
    pub not_checked: Vec<String>,
}

/// One workload on one stack, over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Slug of the stack.
    pub stack: String,
    /// Name of the workload.
    pub workload: String,
    /// May the number be believed?
    pub verdict: Verdict,
    /// Throughput in bytes per second.
    #[serde(rename = "throughput_bytes_per_second")]
    pub throughput: Option<Estimate>,
    /// Operations per second.
    #[serde(rename = "iops_per_second")]
    pub iops: Option<Estimate>,
    /// Throughput relative to the first stack of the study, paired within rounds; `None` for that stack itself
    /// and where either is missing.
    pub ratio_to_first: Option<Estimate>,
    /// Completion latency, all rounds merged.
    pub latency: Option<Latency>,
    /// Processor time of the whole system for each operation.
    #[serde(rename = "cpu_per_operation_ns")]
    pub cpu_per_operation: Option<Nanos>,
    /// Bytes moved on the drives for each byte moved by the application.
    pub drive_bytes_ratio: Option<f64>,
    /// Throughput over time of the last round.
    #[serde(default)]
    pub samples: Vec<Sample>,
    /// Guards that fired in any round.
    #[serde(default)]
    pub guards: Vec<GuardNote>,
    /// Rounds it came from: cell directories in the record.
    pub sources: Vec<String>,
}

/// May a number be believed?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is", content = "why")]
pub enum Verdict {
    /// Yes.
    Measured,
    /// It ran and something is wrong with it: never shown as a bar.
    Failed(String),
    /// It could not be built here: what is missing and how to get it.
    Missing(String),
    /// Not run yet, or left out by the command line.
    NotRun,
}

/// A value with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Geometric mean over rounds.
    pub value: f64,
    /// Lower end of the 95 % interval between rounds; absent for a single round.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Rounds behind it.
    pub rounds: u32,
}

/// How building a stack went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BuildFinding {
    /// Slug of the stack.
    pub stack: String,
    /// Mean time to build.
    #[serde(rename = "build_ns")]
    pub build: Option<Nanos>,
    /// Mean time to fill.
    #[serde(rename = "fill_ns")]
    pub fill: Option<Nanos>,
    /// Why a build failed, if one did.
    pub failure: Option<String>,
}
