//! Raw results of one run, with what is needed to read them in ten years.
//!
//! Readers of these types must accept fields they do not know: old and new records stay readable.

use serde::{Deserialize, Serialize};

use crate::command::quote;
use crate::design::MeasurePolicy;
use crate::evidence::{Bottleneck, CellConditions, Imitated, JobShare, Steadiness, Threads};
use crate::guard::Guard;
use crate::name::Name;
use crate::speed::Speed;
use crate::units::{Bytes, BytesPerSecond, Iops, Nanos};
use crate::workload::PathLoss;

/// Version of the record's JSON files.
pub const RECORD_SCHEMA: u32 = 1;

/// Where a run came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// [`RECORD_SCHEMA`].
    pub schema: u32,
    /// The run's name: its directory.
    pub run: String,
    /// The study's question.
    pub question: String,
    /// When it began, RFC 3339 with zone.
    pub started: String,
    /// The words of the command line.
    pub command: Vec<String>,
    /// Version of Bedplate.
    pub version: String,
    /// Build id of Bedplate: a digest of its sources.
    pub build: String,
    /// SHA-256 of the study's text.
    pub study_sha256: String,
    /// Where it ran: `lab`, `local`, `ssh://…`.
    pub place: String,
    /// For the lab: `kvm` or `tcg`.
    pub accelerator: Option<String>,
    /// For a lab under a virtual clock: the processor that times and rates are of. Records of old, without it, have those
    /// of the guest's own clock.
    #[serde(default, rename = "cpu_instructions_per_second", skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Speed>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Rounds asked for.
    pub rounds: u32,
    /// Settling time.
    #[serde(rename = "settle_ns")]
    pub settle: Nanos,
    /// Window.
    #[serde(rename = "window_ns")]
    pub window: Nanos,
    /// Bytes filled and worked on.
    #[serde(rename = "span_bytes")]
    pub span: Bytes,
    /// How it was to be measured, in full; absent in records of old.
    #[serde(default)]
    pub policy: Option<MeasurePolicy>,
    /// Real drives that the run was allowed to use; none in the lab, whose drives are its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drives: Vec<UsedDrive>,
    /// Stacks in the study's order: slug and name.
    pub stacks: Vec<StackEntry>,
    /// Workloads in the study's order.
    pub workloads: Vec<crate::workload::Workload>,
    /// Stacks to be shown side by side, besides all of them; those and the workloads of the whole study, whatever part
    /// of it was run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub charts: Vec<crate::chart::Chart>,
}

/// By what share any figure of a run under a virtual clock may miss that of the same run again. A test holds it for stacks
/// that hand no work from thread to thread (tests/lab/clock.rs); others scatter by more.
pub const REPEATS: f64 = 0.005;

/// What records call a guest under a virtual clock.
pub const ICOUNT: &str = "tcg-icount";

impl Provenance {
    /// The command line, as a person would type it: quoted, and by the program's name, wherever it lay.
    #[must_use]
    pub fn command_line(&self) -> String {
        let mut words = self.command.iter().map(String::as_str);
        let program = words.next().and_then(|path| path.rsplit('/').next());
        program.into_iter().chain(words).map(quote).collect::<Vec<_>>().join(" ")
    }

    /// How it was to be measured; records of old had a fixed number of rounds, each with builds of its own.
    #[must_use]
    pub fn policy(&self) -> MeasurePolicy {
        self.policy.clone().unwrap_or_else(|| MeasurePolicy {
            rounds: self.rounds,
            max_rounds: self.rounds,
            settle: self.settle,
            window: self.window,
            span: self.span,
            seed: self.seed,
            control: crate::design::Control::Off,
            ..MeasurePolicy::default()
        })
    }

    /// Did the guest's clock count its instructions?
    #[must_use]
    pub fn has_virtual_clock(&self) -> bool {
        self.accelerator.as_deref() == Some(ICOUNT)
    }

    /// Were the rates measured on an emulated machine?
    #[must_use]
    pub fn is_emulated(&self) -> bool {
        self.place == "lab"
    }
}

/// A real drive that a person allowed a run to use, by what identifies it wherever it is plugged in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedDrive {
    /// What the study calls it.
    pub name: Name,
    /// What the person called it: a stable id.
    pub id: String,
    /// Serial number, if it tells one.
    pub serial: Option<String>,
    /// World-wide or namespace identifier, if it tells one.
    pub wwid: Option<String>,
    /// Model, if told.
    pub model: Option<String>,
    /// Capacity.
    #[serde(rename = "size_bytes")]
    pub size: Bytes,
    /// Was it allowed to lose what it held?
    pub erased: bool,
}

/// A stack of the study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackEntry {
    /// For files and nodes.
    pub slug: String,
    /// For tables.
    pub name: String,
    /// What the study says of it.
    pub note: Option<String>,
    /// Its layers.
    pub nodes: Vec<crate::design::LayerNode>,
    /// Why it cannot be built here and how to get what is missing, if it cannot.
    pub missing: Option<Missing>,
}

/// What is missing and how to get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What is missing.
    pub what: String,
    /// The command that brings it.
    pub remedy: String,
}

/// Stack of the cells that watch the bare drive. No stack of a study has this slug.
pub const CONTROL: &str = "anchor_";
/// Workload of the control's cell at the beginning of a round.
pub const CONTROL_FIRST: &str = "first";
/// Workload of the control's cell at the end of a round.
pub const CONTROL_LAST: &str = "last";

/// Which cell: a workload on a stack in a round.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CellKey {
    /// Round, from 1.
    pub round: u32,
    /// Slug of the stack.
    pub stack: String,
    /// Name of the workload.
    pub workload: String,
}

/// One finished cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// [`RECORD_SCHEMA`].
    pub schema: u32,
    /// Which.
    pub key: CellKey,
    /// Where in its record it was found, such as `cells/1-raid-1-rnd4k.2`; `None` for one that is in none.
    #[serde(skip)]
    pub directory: Option<String>,
    /// When it began, RFC 3339 with zone.
    pub started: String,
    /// The fio command.
    pub argv: Vec<String>,
    /// fio's random seed.
    pub seed: u64,
    /// Its exit status.
    pub status: i32,
    /// What fio counted, if nothing failed.
    pub reading: Option<Reading>,
    /// Why the cell failed: then it has no reading that may be shown.
    pub failure: Option<String>,
    /// Guards that fired.
    #[serde(default)]
    pub guards: Vec<GuardNote>,
    /// What the block layer counted on each drive between two readings inside the window.
    #[serde(default)]
    pub members: Vec<MemberDelta>,
    /// Processor time of the whole system.
    pub cpu: Option<CpuDelta>,
    /// Throughput over time.
    #[serde(default)]
    pub samples: Vec<Sample>,
    /// Each operation of a pass over the span, in the order of places; only for workloads that touch samples and access times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<Probe>,
    /// Was the window one thing? Absent in records of old and for cells without samples.
    #[serde(default)]
    pub steadiness: Option<Steadiness>,
    /// Was it measured again: with a longer window (not steady, short for what was under way, too short for what it decides), or with
    /// longer settling, until its queues were done over?
    #[serde(default)]
    pub extended: bool,
    /// How long it settled, where that was longer than asked for.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "settled_ns")]
    pub settled: Option<Nanos>,
    /// What its window does not show of how far the rate may be off ([`crate::Mechanics::lap_error`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lap_error: Option<f64>,
    /// What the throughput was limited by.
    #[serde(default, rename = "limiter")]
    pub bottleneck: Option<Bottleneck>,
    /// Processor time by kind of thread.
    #[serde(default)]
    pub threads: Option<Threads>,
    /// What every job did.
    #[serde(default)]
    pub jobs: Vec<JobShare>,
    /// Temperatures, clocks and links.
    #[serde(default)]
    pub conditions: CellConditions,
    /// When a network path was lost and came back, where the workload asks for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_lost: Option<PathLoss>,
    /// What each machine did, where several worked at once; the reading is their sum.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostReading>,
    /// What each part of the workload did, where different jobs ran at once; the reading is their sum.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartReading>,
    /// Operations per second that were offered, where the rate was fixed.
    #[serde(default)]
    pub offered_iops: Option<f64>,
    /// What another tool would have shown, where that was asked for.
    #[serde(default)]
    pub imitated: Option<Imitated>,
    /// Wall time of the whole cell.
    #[serde(rename = "took_ns")]
    pub took: Nanos,
}

/// What one of several machines did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostReading {
    /// Its number, from 1.
    pub host: u8,
    /// What fio counted on it.
    pub reading: Reading,
    /// Throughput and latency over time.
    pub samples: Vec<Sample>,
}

/// What one of several different jobs at once did, with its clones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartReading {
    /// Which.
    pub part: Name,
    /// What fio counted of it.
    pub reading: Reading,
}

/// One operation at a place of the span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Where it begins.
    #[serde(rename = "at_bytes")]
    pub at: Bytes,
    /// How long it took.
    #[serde(rename = "took_ns")]
    pub took: Nanos,
}

/// What fio counted in the window.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Reading {
    /// Reads.
    pub read: Option<Flow>,
    /// Writes.
    pub write: Option<Flow>,
    /// Latency of flushes, where the workload flushes.
    #[serde(default)]
    pub sync: Option<Latency>,
    /// fio's own processor time, user and system, as a share of one core.
    pub fio_cpu_cores: f64,
}

impl CellKey {
    /// Does the cell watch the bare drive?
    #[must_use]
    pub fn is_control(&self) -> bool {
        self.stack == CONTROL
    }
}

impl Cell {
    /// A cell that began, before anything is known of it.
    #[must_use]
    pub fn begun(key: CellKey, started: String, argv: Vec<String>, seed: u64) -> Self {
        Self {
            schema: RECORD_SCHEMA,
            key,
            directory: None,
            started,
            argv,
            seed,
            status: 0,
            reading: None,
            failure: None,
            guards: Vec::new(),
            members: Vec::new(),
            cpu: None,
            samples: Vec::new(),
            probes: Vec::new(),
            steadiness: None,
            extended: false,
            settled: None,
            lap_error: None,
            bottleneck: None,
            threads: None,
            jobs: Vec::new(),
            conditions: CellConditions::default(),
            path_lost: None,
            hosts: Vec::new(),
            parts: Vec::new(),
            offered_iops: None,
            imitated: None,
            took: Nanos(0),
        }
    }
}

impl Reading {
    /// Reads and writes together.
    #[must_use]
    pub fn throughput(&self) -> BytesPerSecond {
        BytesPerSecond(self.flows().map(|flow| flow.throughput.0).sum())
    }

    /// Reads and writes together.
    #[must_use]
    pub fn iops(&self) -> Iops {
        Iops(self.flows().map(|flow| flow.iops.0).sum())
    }

    /// The directions that did anything.
    pub fn flows(&self) -> impl Iterator<Item = &Flow> {
        self.read.iter().chain(&self.write)
    }
}

/// One direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Bytes done.
    pub bytes: Bytes,
    /// Operations done.
    pub operations: u64,
    /// Time counted.
    #[serde(rename = "runtime_ns")]
    pub runtime: Nanos,
    /// Bytes per second.
    #[serde(rename = "throughput_bytes_per_second")]
    pub throughput: BytesPerSecond,
    /// Operations per second.
    #[serde(rename = "iops_per_second")]
    pub iops: Iops,
    /// Completion latency.
    pub latency: Latency,
}

/// Completion latency of one direction.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Latency {
    /// Mean.
    #[serde(rename = "mean_ns")]
    pub mean: Nanos,
    /// Median.
    #[serde(rename = "p50_ns")]
    pub p50: Nanos,
    /// 99th percentile; absent where fewer than 100 operations lie beyond it.
    #[serde(rename = "p99_ns")]
    pub p99: Option<Nanos>,
    /// 99.9th percentile; absent where fewer than 100 operations lie beyond it.
    #[serde(rename = "p999_ns")]
    pub p999: Option<Nanos>,
    /// Largest.
    #[serde(rename = "max_ns")]
    pub max: Nanos,
    /// fio's log-spaced bins: value in ns and count.
    #[serde(default)]
    pub bins: Vec<(u64, u64)>,
}

/// A guard that fired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardNote {
    /// Which one.
    pub guard: Guard,
    /// What was seen.
    pub witness: String,
    /// Does it void the number, or only label it?
    pub voids: bool,
}

/// What the block layer counted on one drive.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MemberDelta {
    /// The study's name for the drive.
    pub drive: String,
    /// Bytes read.
    #[serde(rename = "read_bytes")]
    pub read: Bytes,
    /// Bytes written.
    #[serde(rename = "written_bytes")]
    pub written: Bytes,
    /// Time with at least one operation under way.
    #[serde(rename = "busy_ns")]
    pub busy: Nanos,
    /// Reads and writes completed.
    #[serde(default)]
    pub operations: u64,
    /// Time weighted by how many operations were under way: over the wall time, the mean queue.
    #[serde(default, rename = "queued_ns")]
    pub queued: Nanos,
}

/// Processor time of the whole system between two readings inside the window.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuDelta {
    /// All processors, not idle and not waiting.
    #[serde(rename = "busy_ns")]
    pub busy: Nanos,
    /// The busiest processor.
    #[serde(default, rename = "busiest_ns")]
    pub busiest: Nanos,
    /// In soft interrupts, all processors.
    #[serde(default, rename = "softirq_ns")]
    pub softirq: Nanos,
    /// Processors.
    #[serde(default)]
    pub processors: u32,
    /// Bedplate's agent.
    #[serde(rename = "agent_ns")]
    pub agent: Nanos,
    /// Wall time.
    #[serde(rename = "wall_ns")]
    pub wall: Nanos,
}

/// Throughput and latency of a short span of time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Sample {
    /// End of the span, from the start of the window.
    #[serde(rename = "at_ns")]
    pub at: Nanos,
    /// Bytes per second in the span, reads and writes together.
    #[serde(rename = "throughput_bytes_per_second")]
    pub throughput: BytesPerSecond,
    /// Mean latency of what was completed in the span, from handing it over to its end; absent where nothing was, and in
    /// records of old.
    #[serde(default, rename = "latency_ns", skip_serializing_if = "Option::is_none")]
    pub latency: Option<Nanos>,
}

/// How building a stack went in a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildOutcome {
    /// Round, from 1.
    pub round: u32,
    /// Slug of the stack.
    pub stack: String,
    /// Time to build.
    #[serde(rename = "build_ns")]
    pub build: Nanos,
    /// Time to fill.
    #[serde(rename = "fill_ns")]
    pub fill: Nanos,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}
