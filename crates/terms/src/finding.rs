//! What a record means: estimates with intervals, verdicts, and the records they came from.

mod comparison;
mod network;
mod parts;
mod runs;

use serde::{Deserialize, Serialize};

use crate::evidence::{Bottleneck, Cliff};
use crate::feature_check::StackFeatureChecks;
use crate::inventory::Inventory;
use crate::prediction::{Ceiling, Flag};
use crate::preflight::DriveCheck;
use crate::record::{GuardNote, Latency, Probe, Provenance, Sample};
use crate::units::{BytesPerSecond, Iops, Nanos};
use crate::workload::Tool;

pub use comparison::{Compared, Comparison};
pub use network::{HostFinding, PathLossFinding, Stretch};
pub use parts::PartFinding;
pub use runs::{CellComparison, Change, Difference, Figures, Quantity, RunComparison, RunHead};

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
    pub cells: Vec<CellFinding>,
    /// One for every stack, in the study's order.
    pub builds: Vec<BuildFinding>,
    /// Every pair of stacks on every workload: in the order of the workloads, then of the study's stacks. Only pairs
    /// that share a round are there.
    #[serde(default)]
    pub comparisons: Vec<Comparison>,
    /// The bare drive, round by round.
    #[serde(default)]
    #[serde(rename = "anchors")]
    pub controls: Vec<ControlFinding>,
    /// What a layer costs, where two stacks differ by that layer alone.
    #[serde(default)]
    pub layers: Vec<LayerCost>,
    /// Load curves: points of one stack and workload together, in ascending load.
    #[serde(default)]
    pub curves: Vec<Curve>,
    /// Predictions made before the run, beside what was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "foretold")]
    pub predicted: Option<Scorecard>,
    /// What was looked at on drives before the first step; nothing where nobody looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preflight: Vec<DriveCheck>,
    /// What was tried on stacks, in the study's order; none where nothing was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "trials")]
    pub feature_checks: Vec<StackFeatureChecks>,
    /// What was not checked, so that nobody believes it was.
    pub not_checked: Vec<String>,
}

impl Findings {
    /// The finding of a stack, by its slug, on a workload, by its name.
    #[must_use]
    pub fn cell(&self, stack: &str, workload: &str) -> Option<&CellFinding> {
        self.cells.iter().find(|cell| cell.stack == stack && cell.workload == workload)
    }

    /// What emulates the machine, if anything does; empty where that is not known.
    #[must_use]
    pub fn emulator(&self) -> Option<&str> {
        let known = self.inventory.emulated.as_deref();
        let place = &self.provenance;
        if place.is_emulated() { place.accelerator.as_deref().or(known).or(Some("")) } else { known }
    }

    /// What kind of clock and processor its rates are of, in words: [`Self::emulator`], or the virtual clock.
    #[must_use]
    pub fn emulation(&self) -> Option<String> {
        let by = self.emulator()?;
        let clock = self.provenance.cpu.map(|cpu| format!("virtual clock, one core of {cpu}"));
        Some(clock.unwrap_or_else(|| by.to_owned()))
    }
}

/// Code of a flag: more was read than the drives can read.
pub const READ_ABOVE: &str = "read-above-drive";
/// Code of a flag: more was written than the drives can take.
pub const WRITTEN_ABOVE: &str = "write-above-drive";

/// Predictions made before a run, beside what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scorecard {
    /// When it was said, in UTC (RFC 3339).
    pub at: String,
    /// Digest of what was predicted, as it was written down before the first cell.
    pub sha256: String,
    /// The factor by which intervals were widened because earlier ones were too narrow.
    pub widened: f64,
    /// Why nothing was said, where that is so.
    pub why_not: Option<String>,
    /// Every cell that something was said of.
    pub cells: Vec<Score>,
    /// How such predictions had fared in earlier runs when it was said.
    pub standing: Option<crate::prediction::Standing>,
}

/// One cell: said and measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Slug of the stack.
    pub stack: String,
    /// Name of the workload.
    pub workload: String,
    /// Throughput as it was said, in bytes per second.
    #[serde(rename = "foretold_bytes_per_second")]
    pub predicted: crate::prediction::Estimate,
    /// Throughput as it was measured; `None` where the cell has no figure.
    #[serde(rename = "measured_bytes_per_second")]
    pub measured: Option<f64>,
    /// Predicted bottleneck; `None` where none was probable enough to be named.
    #[serde(rename = "limiter")]
    pub bottleneck: Option<String>,
    /// What each resource alone would allow, as it was said, the lowest first.
    #[serde(default)]
    #[serde(rename = "roofs")]
    pub ceilings: Vec<Ceiling>,
    /// What is odd about what was measured, beside what was predicted.
    #[serde(default)]
    pub flags: Vec<Flag>,
}

impl Score {
    /// Flags of a figure that is more than the drives can do: it is one of something else.
    pub fn doubts(&self) -> impl Iterator<Item = &Flag> {
        self.flags.iter().filter(|flag| [READ_ABOVE, WRITTEN_ABOVE].contains(&flag.code.as_str()))
    }

    /// What was measured over what was predicted.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        self.measured.map(|measured| measured / self.predicted.value)
    }
}

/// One workload on one stack, over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellFinding {
    /// Slug of the stack.
    pub stack: String,
    /// Name of the workload.
    pub workload: String,
    /// May the number be believed?
    pub verdict: Verdict,
    /// Throughput in bytes per second.
    #[serde(rename = "throughput_bytes_per_second")]
    pub throughput: Option<WithInterval>,
    /// Operations per second.
    #[serde(rename = "iops_per_second")]
    pub iops: Option<WithInterval>,
    /// Throughput relative to the first stack of the study, paired within rounds; `None` for that stack itself
    /// and where either is missing.
    pub ratio_to_first: Option<WithInterval>,
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
    /// What each drive did meanwhile, all rounds together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drives: Vec<DriveWork>,
    /// Operations by their place on the span, of the last round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<Probe>,
    /// Latency of flushes, all rounds merged.
    #[serde(default)]
    pub sync: Option<Latency>,
    /// Its place among the stacks on this workload, by throughput.
    #[serde(default)]
    pub rank: Option<Rank>,
    /// How steady its windows were.
    #[serde(default)]
    pub steady: Steady,
    /// What most rounds were limited by.
    #[serde(default)]
    #[serde(rename = "limiter")]
    pub bottleneck: Option<Bottleneck>,
    /// Writes before and after a cache was full, where a window shows both.
    #[serde(default)]
    pub burst: Option<Burst>,
    /// Before, while and after a network path was lost. Such a cell is compared with no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_lost: Option<PathLossFinding>,
    /// What each machine did, where several worked at once; everything else here is of all of them together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostFinding>,
    /// What each part did, where different jobs ran at once; everything else here is of all of them together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartFinding>,
    /// What another tool would have shown, and why it differs.
    #[serde(default)]
    pub imitation: Option<ImitationFinding>,
    /// SNIA's verdict over rounds.
    #[serde(default)]
    pub snia: Option<SniaFinding>,
    /// Does it need more rounds: its interval is wider than asked for, or a comparison of it is open?
    #[serde(default)]
    pub open: bool,
    /// Guards that fired in any round.
    #[serde(default)]
    pub guards: Vec<GuardNote>,
    /// Rounds it came from: cell directories in the record.
    pub sources: Vec<String>,
}

impl CellFinding {
    /// A cell of which only the verdict is known.
    #[must_use]
    pub fn new(stack: impl Into<String>, workload: impl Into<String>, verdict: Verdict) -> Self {
        Self {
            stack: stack.into(),
            workload: workload.into(),
            verdict,
            throughput: None,
            iops: None,
            ratio_to_first: None,
            latency: None,
            cpu_per_operation: None,
            drive_bytes_ratio: None,
            samples: Vec::new(),
            drives: Vec::new(),
            probes: Vec::new(),
            sync: None,
            rank: None,
            steady: Steady::default(),
            bottleneck: None,
            burst: None,
            path_lost: None,
            hosts: Vec::new(),
            parts: Vec::new(),
            imitation: None,
            snia: None,
            open: false,
            guards: Vec::new(),
            sources: Vec::new(),
        }
    }
}

/// What a drive did while a cell was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DriveWork {
    /// The study's name for it.
    pub drive: String,
    /// What it read.
    #[serde(rename = "read_bytes_per_second")]
    pub read: BytesPerSecond,
    /// What it wrote.
    #[serde(rename = "written_bytes_per_second")]
    pub written: BytesPerSecond,
    /// Reads and writes.
    #[serde(rename = "operations_per_second")]
    pub operations: Iops,
    /// Share of the time with at least one operation under way, 0 to 1.
    #[serde(rename = "busy_ratio")]
    pub busy: f64,
    /// Operations under way in the mean.
    #[serde(rename = "queue_operations")]
    pub queue: f64,
}

/// May a number be believed?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is", content = "why")]
pub enum Verdict {
    /// Yes.
    Measured,
    /// It ran without fault and never settled: there is a range and no number. What was seen.
    Unsteady(String),
    /// It ran and something is wrong with it: never shown as a bar.
    Failed(String),
    /// It could not be built here: what is missing and how to get it.
    Missing(String),
    /// Not run yet, or left out by the command line.
    NotRun,
}

/// How steady the windows of a cell were.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Steady {
    /// Windows that were steady.
    pub steady: u32,
    /// Windows that were not, although they were made longer.
    pub unsteady: u32,
    /// Windows too short to tell.
    pub unknown: u32,
    /// Windows that were measured again, longer or after longer settling.
    pub extended: u32,
    /// How long the one settled that settled longest, where that was longer than asked for.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "settled_ns")]
    pub settled: Option<Nanos>,
    /// Lowest and highest level over all windows, in bytes per second.
    #[serde(rename = "range_bytes_per_second")]
    pub range: Option<(f64, f64)>,
}

/// A place in a ranking with ties: between these two, 1 being the fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    /// One more than the stacks that are certainly faster.
    pub best: u32,
    /// All stacks but those that are certainly slower.
    pub worst: u32,
    /// Stacks that have a rank on this workload.
    pub of: u32,
}

/// The bare drive in one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ControlFinding {
    /// Round, from 1.
    pub round: u32,
    /// Throughput at the beginning, in bytes per second.
    #[serde(rename = "first_bytes_per_second")]
    pub first: Option<f64>,
    /// Throughput at the end.
    #[serde(rename = "last_bytes_per_second")]
    pub last: Option<f64>,
    /// `last / first − 1`.
    pub drift: Option<f64>,
    /// What follows from it.
    pub action: ControlAction,
}

/// What follows from a change of the bare drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ControlAction {
    /// Nothing.
    Kept,
    /// The round counts and the change is told.
    Flagged,
    /// The round does not count.
    Discarded,
    /// One of both ends is missing.
    Unknown,
}

/// What a layer costs on a workload: two stacks that differ by it alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayerCost {
    /// Slug of the stack with the layer.
    pub stack: String,
    /// Slug of the stack without.
    pub without: String,
    /// The layer, as a study names it.
    pub layer: String,
    /// Name of the workload.
    pub workload: String,
    /// Throughput with the layer over that without, paired within rounds.
    pub throughput_ratio: Option<WithInterval>,
    /// Processor time of the whole system for each operation with the layer, less that without, in nanoseconds; may be
    /// below zero.
    #[serde(rename = "cpu_per_operation_ns")]
    pub cpu_per_operation: Option<i64>,
}

/// A load curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Slug of the stack.
    pub stack: String,
    /// Name of the workload that it is the curve of.
    pub workload: String,
    /// Points in ascending load; the last is the workload itself at its largest.
    pub points: Vec<CurvePoint>,
}

/// A point of a load curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Name of the point's workload.
    pub workload: String,
    /// Per cent of the largest; `None` for the largest itself.
    pub percent: Option<u8>,
    /// Operations per second that were offered.
    pub offered_iops: Option<f64>,
    /// Operations per second that were done.
    pub iops: Option<WithInterval>,
    /// Latency from when fio took up each operation; for the largest from its submission. `None` where less was done than was
    /// offered: what was taken up late waited before that.
    pub latency: Option<Latency>,
}

/// Writes before and after a cache was full.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// Before, in bytes per second, over the rounds that show it.
    #[serde(rename = "burst_bytes_per_second")]
    pub burst: f64,
    /// After.
    #[serde(rename = "sustained_bytes_per_second")]
    pub sustained: f64,
    /// Where the level changed in the last of them.
    pub cliff: Cliff,
    /// Rounds that show it.
    pub rounds: u32,
}

/// What another tool would have shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImitationFinding {
    /// The tool.
    pub tool: Tool,
    /// The number that it would print, geometric mean over rounds.
    pub printed: f64,
    /// The unit that it would print behind it.
    pub unit: String,
    /// The honest figure in that unit, by the unit's own meaning.
    pub honest: f64,
    /// Why they differ, as factors: their product is `printed / honest`.
    pub gaps: Vec<Gap>,
    /// What of the tool could not be repeated here, if anything.
    pub differs: Vec<String>,
    /// The fio command that does what it does.
    pub argv: Vec<String>,
}

/// One cause of a difference between two figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// The cause.
    pub cause: String,
    /// By what it multiplies the figure.
    pub factor: f64,
}

/// SNIA's verdict over rounds: five in a row within 20 % of their mean, the line through them rising at most 10 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SniaFinding {
    /// Last round of the first five that hold; `None` where no five do.
    pub steady_at: Option<u32>,
    /// Range of the last five over their mean.
    pub range: f64,
    /// Rise of the line through the last five over their mean.
    pub rise: f64,
}

/// A value with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WithInterval {
    /// Geometric mean over rounds.
    pub value: f64,
    /// Lower end of the 95 % interval between rounds; absent for a single round.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Rounds behind it.
    pub rounds: u32,
}

impl WithInterval {
    /// One over it.
    #[must_use]
    pub fn inverted(self) -> Self {
        let (low, high) = (self.high.map(f64::recip), self.low.map(f64::recip));
        Self { value: self.value.recip(), low, high, rounds: self.rounds }
    }
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
