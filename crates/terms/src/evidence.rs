//! What a cell was seen to be besides its figures: steady or not, limited by what, under which conditions.

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Nanos};
use crate::workload::Tool;

/// Was the window one thing, or several?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Steadiness {
    /// The answer.
    pub state: State,
    /// Samples it rests on.
    pub samples: u32,
    /// What was cut from the beginning as warm-up.
    #[serde(rename = "warmup_ns")]
    pub warmup: Nanos,
    /// One more than the degrees of freedom of the mean's interval: in a short window of independent samples, their number.
    pub effective_samples: f64,
    /// Half-width of the 95 % interval of the window's mean, as a share of it; within this one window only.
    pub half_width: Option<f64>,
    /// Rise of the fitted line over the window, as a share of the mean.
    pub drift: f64,
    /// Where the level changed, if it did.
    pub cliff: Option<Cliff>,
    /// Lowest level: the tenth percentile of samples, in bytes per second.
    #[serde(rename = "low_bytes_per_second")]
    pub low: f64,
    /// Highest level: the ninetieth percentile of samples, in bytes per second.
    #[serde(rename = "high_bytes_per_second")]
    pub high: f64,
    /// The answer of SNIA's rule over five parts of the window: range at most 20 %, rise of the line at most 10 %.
    pub snia: bool,
}

/// Kinds of windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// One level with noise: its mean means something.
    Steady,
    /// It rose or fell throughout.
    Drifting,
    /// It changed its level.
    Cliff,
    /// More than half of it was warm-up.
    WarmingUp,
    /// It went up and down too slowly for this window to average it out.
    Wandering,
    /// Too few samples to tell.
    Unknown,
}

impl State {
    /// May the window's mean be used? A window too short to judge is used and reported as [`State::Unknown`].
    #[must_use]
    pub const fn usable(self) -> bool {
        matches!(self, Self::Steady | Self::Unknown)
    }

    /// The words for it.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::Drifting => "drifting",
            Self::Cliff => "changed its level",
            Self::WarmingUp => "still warming up",
            Self::Wandering => "wandering",
            Self::Unknown => "too short to tell",
        }
    }
}

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cliff {
    /// When, from the start of the window.
    #[serde(rename = "at_ns")]
    pub at: Nanos,
    /// Bytes that the application moved in the window before.
    #[serde(rename = "moved_bytes")]
    pub moved: Bytes,
    /// Mean before, in bytes per second.
    #[serde(rename = "before_bytes_per_second")]
    pub before: f64,
    /// Mean after, in bytes per second.
    #[serde(rename = "after_bytes_per_second")]
    pub after: f64,
}

/// What a cell's throughput was limited by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bottleneck {
    /// The kind.
    pub kind: BottleneckKind,
    /// What was seen.
    pub witness: String,
}

/// Kinds of bottlenecks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BottleneckKind {
    /// All processors were busy.
    Core,
    /// One thread was busy all the time, and work waits for it.
    Thread,
    /// A link carried what it can.
    Link,
    /// The workload kept too few operations under way to fill what is below.
    Queue,
    /// A cache answered.
    Cache,
    /// fio itself was busy all the time.
    Generator,
    /// A drive was busy all the time.
    Device,
    /// The rate was fixed by the study.
    Rate,
    /// Nothing seen was at its limit.
    Unknown,
}

impl BottleneckKind {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Thread => "thread",
            Self::Link => "link",
            Self::Queue => "queue",
            Self::Cache => "cache",
            Self::Generator => "generator",
            Self::Device => "device",
            Self::Rate => "rate",
            Self::Unknown => "unclear",
        }
    }
}

/// Processor time of threads of one kind, kernel workers included, from before fio began until after it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadTime {
    /// What they are called, without numbers: `fio`, `kcryptd`, `md_raid1`, `z_wr_iss`.
    pub kind: String,
    /// How many had any.
    pub threads: u32,
    /// All together.
    #[serde(rename = "busy_ns")]
    pub busy: Nanos,
    /// The busiest one.
    #[serde(rename = "busiest_ns")]
    pub busiest: Nanos,
}

/// Processor time by kind of thread.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Threads {
    /// Wall time between both readings.
    #[serde(rename = "wall_ns")]
    pub wall: Nanos,
    /// Kinds, the one with the most time first.
    pub kinds: Vec<ThreadTime>,
}

/// CellConditions of a cell that hardware can change behind its back.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CellConditions {
    /// Drives of the stack.
    #[serde(default)]
    pub drives: Vec<DriveCondition>,
    /// Frequency governors of the processors, each once.
    #[serde(default)]
    pub governors: Vec<String>,
    /// Mean clock of all processors before, in MHz.
    #[serde(default)]
    pub mhz_before: Option<u32>,
    /// Mean clock of all processors after, in MHz.
    #[serde(default)]
    pub mhz_after: Option<u32>,
    /// NUMA nodes of the drives' controllers, each once; empty on machines with one node.
    #[serde(default)]
    pub numa_nodes: Vec<u32>,
}

/// CellConditions of one drive.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DriveCondition {
    /// The study's name for the drive.
    pub drive: String,
    /// Composite temperature before, in degrees Celsius.
    #[serde(default)]
    pub celsius_before: Option<i32>,
    /// Composite temperature after.
    #[serde(default)]
    pub celsius_after: Option<i32>,
    /// By how much its counters of thermal throttling moved: transitions and minutes above the warning temperature.
    #[serde(default)]
    pub throttled: Option<u64>,
    /// Current speed and width of every link from the drive to the root that is below what both ends can do.
    #[serde(default)]
    pub degraded_links: Vec<String>,
    /// What the drive's slowest link can carry, in bytes per second, one way, framing taken off.
    #[serde(default)]
    pub link_bytes_per_second: Option<u64>,
}

/// What one job of a cell did: for holding sums against fio's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobShare {
    /// Bytes, reads and writes together.
    pub bytes: Bytes,
    /// Operations, reads and writes together.
    pub operations: u64,
    /// Processor time of the job as a share of a core.
    pub cpu_cores: f64,
}

/// What another tool would have shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Imitated {
    /// The tool.
    pub tool: Tool,
    /// The fio command that does what it does.
    pub argv: Vec<String>,
    /// Loops in order.
    pub loops: Vec<ImitatedLoop>,
    /// Does the tool show the best loop? The mean otherwise.
    pub best: bool,
    /// The number that it would print.
    pub printed: f64,
    /// The unit that it would print behind it.
    pub unit: String,
    /// Bytes per second that the label promises: `printed` in the unit's own meaning.
    #[serde(rename = "promised_bytes_per_second")]
    pub promised: f64,
    /// What of the tool could not be repeated here, if anything.
    #[serde(default)]
    pub differs: Vec<String>,
}

/// One loop of an imitated test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImitatedLoop {
    /// Bytes per second by its bytes and its time.
    #[serde(rename = "throughput_bytes_per_second")]
    pub throughput: f64,
    /// The rate that the tool takes from the loop before it scales and labels it, in bytes per second: differs from
    /// [`Self::throughput`] where the tool averages rates.
    #[serde(rename = "taken_bytes_per_second")]
    pub taken: f64,
    /// Time under load.
    #[serde(rename = "runtime_ns")]
    pub runtime: Nanos,
}
