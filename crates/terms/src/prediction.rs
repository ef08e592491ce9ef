//! What a stack will do under a workload, predicted before it is built: figures with intervals, what limits them, and
//! everything that was put in.

use serde::{Deserialize, Serialize};

use crate::layer::ArrayState;
use crate::machine::Machine;

/// Predictions by less than this factor apart are not distinguishable. Of published pairs that were predicted within 3 % half came out in
/// the predicted order, of those 3 to 10 % apart three in four (`docs/accuracy.md`).
pub const APART: f64 = 1.1;

/// Predictions by this factor apart come out in their order: of published pairs 505 of 558, and of those that were closer 532 of 735
/// (`docs/accuracy.md`).
pub const ORDERED: f64 = 1.5;

/// One stack under one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The stack.
    pub stack: String,
    /// The workload's name.
    pub workload: String,
    /// The workload in words.
    pub pattern: String,
    /// How its array is.
    pub state: ArrayState,
    /// Throughput.
    #[serde(rename = "throughput_bytes_per_second")]
    pub throughput: Estimate,
    /// Operations per second.
    #[serde(rename = "operations_per_second")]
    pub operations: Estimate,
    /// Mean latency of an operation.
    #[serde(rename = "latency_mean_ns")]
    pub latency: Estimate,
    /// Latency that 99 of 100 operations stay under.
    #[serde(rename = "latency_p99_ns")]
    pub p99: Estimate,
    /// Processor time of one operation, kernel threads included.
    #[serde(rename = "cpu_per_operation_ns")]
    pub cpu: Estimate,
    /// Hardware threads kept busy.
    pub threads_busy: Estimate,
    /// Throughput once the write caches of the drives are full; `None` where that changes nothing.
    #[serde(rename = "sustained_bytes_per_second")]
    pub sustained: Option<Estimate>,
    /// What is resynchronised meanwhile on each member; `None` where nothing is.
    #[serde(rename = "resync_bytes_per_second")]
    pub resync: Option<Estimate>,
    /// Bytes that the drives write for each byte that the workload writes; `None` where it writes none.
    pub write_amplification: Option<f64>,
    /// Resources by how often they are the limit, the likeliest first.
    pub limits: Vec<Limit>,
    /// What more of something would buy, the most useful first.
    pub elasticities: Vec<Elasticity>,
    /// What each resource alone would allow, the lowest first.
    #[serde(rename = "roofs")]
    pub ceilings: Vec<Ceiling>,
    /// How each ceiling came about.
    pub demands: Vec<Demand>,
    /// Every value that was put in.
    pub inputs: Vec<Input>,
    /// What is odd about it.
    pub flags: Vec<Flag>,
}

impl Prediction {
    /// The limiting resource, where one is likely enough to be named.
    #[must_use]
    pub fn bottleneck(&self) -> Option<&Limit> {
        self.limits.first().filter(|limit| limit.probability >= NAMED)
    }

    /// The same with intervals that are so many times as wide on a logarithmic scale.
    #[must_use]
    pub fn widened(mut self, by: f64) -> Self {
        let all = [
            &mut self.throughput,
            &mut self.operations,
            &mut self.latency,
            &mut self.p99,
            &mut self.cpu,
            &mut self.threads_busy,
        ];
        for estimate in all.into_iter().chain(&mut self.sustained).chain(&mut self.resync) {
            *estimate = estimate.widened(by);
        }
        self
    }

    /// What would limit next.
    #[must_use]
    pub fn runner_up(&self) -> Option<&Limit> {
        self.limits.get(1)
    }
}

/// What was predicted of a whole study before it was run, and from what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Predictions {
    /// [`PREDICTIONS_SCHEMA`].
    pub schema: u32,
    /// When, in UTC (RFC 3339).
    pub at: String,
    /// The program that said it: a digest of its sources.
    pub build: String,
    /// The machine as the prediction saw it.
    pub machine: Machine,
    /// The factor by which intervals were widened, on a logarithmic scale, because earlier ones were too narrow.
    pub widened: f64,
    /// How such predictions fared in earlier runs that were known then.
    pub standing: Option<Standing>,
    /// When the machine was calibrated, if it was; absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibrated: Option<String>,
    /// Why nothing was said, where that is so.
    pub why_not: Option<String>,
    /// Every stack under every workload that something was said of.
    pub cells: Vec<PredictedCell>,
}

/// Version of [`Predictions`].
pub const PREDICTIONS_SCHEMA: u32 = 1;

/// What was predicted of one stack under one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictedCell {
    /// Slug of the stack.
    pub stack: String,
    /// Name of the workload.
    pub workload: String,
    /// What was predicted.
    pub prediction: Prediction,
}

/// Probability from which a bottleneck is named.
pub const NAMED: f64 = 0.6;

/// A figure with its intervals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// It is in here once in two times.
    pub half: Range,
    /// It is in here nine times in ten.
    pub ninety: Range,
}

impl Estimate {
    /// The same with intervals that are so many times as wide on a logarithmic scale.
    #[must_use]
    pub fn widened(self, by: f64) -> Self {
        let range = |range: Range| Range {
            low: self.value * (range.low / self.value).powf(by),
            high: self.value * (range.high / self.value).powf(by),
        };
        if self.value > 0.0 { Self { half: range(self.half), ninety: range(self.ninety), ..self } } else { self }
    }

    /// The same in another unit.
    #[must_use]
    pub fn scaled(self, by: f64) -> Self {
        Self { value: self.value * by, half: self.half.scaled(by), ninety: self.ninety.scaled(by) }
    }
}

/// From and to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// From.
    pub low: f64,
    /// To.
    pub high: f64,
}

impl Range {
    /// Is it in there?
    #[must_use]
    pub fn holds(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    fn scaled(self, by: f64) -> Self {
        Self { low: self.low * by, high: self.high * by }
    }
}

/// A resource that may be the limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// The resource.
    pub resource: String,
    /// Share of time that it is busy.
    pub utilisation: f64,
    /// Share of draws in which it is the limit.
    pub probability: f64,
}

/// What ten per cent more of something buys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Elasticity {
    /// Of what.
    pub of: String,
    /// Per cent of throughput that it buys.
    pub buys_percent: f64,
}

/// What a resource alone would allow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// The resource.
    pub resource: String,
    /// What it is.
    pub kind: CeilingKind,
    /// Operations per second that it allows.
    pub operations_per_second: f64,
    /// Bytes per second of the workload that it allows.
    #[serde(rename = "throughput_bytes_per_second")]
    pub throughput: f64,
}

/// What a ceiling is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CeilingKind {
    /// A drive.
    Drive,
    /// A drive's own link.
    Link,
    /// A link or port that several share.
    Uplink,
    /// Memory.
    Memory,
    /// All cores together.
    Cores,
    /// A thread that does one thing after the other.
    Thread,
    /// A lock or a kernel thread of which there is one.
    Serial,
    /// Operations under way and the time that each takes with nothing else under way.
    Depth,
}

/// How much of a resource one operation takes, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// The resource.
    pub resource: String,
    /// How many of it there are that share the work evenly.
    pub units: f64,
    /// Time of each unit for one operation.
    #[serde(rename = "demand_ns")]
    pub demand: f64,
    /// What it is the sum of.
    pub terms: Vec<Term>,
}

/// One part of a demand: a factor times one or two inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// Why.
    pub why: String,
    /// The factor: bytes, operations, shares.
    pub factor: f64,
    /// The inputs it is multiplied with, by their place in [`Prediction::inputs`].
    pub inputs: Vec<usize>,
    /// The product.
    #[serde(rename = "product_ns")]
    pub product: f64,
}

/// A value that was put in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// What it is.
    pub name: String,
    /// Its value, in its unit.
    pub value: f64,
    /// The unit.
    pub unit: String,
    /// Geometric standard deviation less 1: 0.3 means that two in three are within a factor of 1.3.
    pub sigma: f64,
    /// Where it is from.
    pub source: Source,
    /// Where exactly, in words.
    pub origin: String,
}

/// Where a value is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Measured on this machine.
    Measured,
    /// Told by the machine or by whoever described it.
    Told,
    /// Published by others.
    Published,
    /// Somebody's judgement.
    Guessed,
}

impl Source {
    /// The word for it in reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Measured => "measured here",
            Self::Told => "told",
            Self::Published => "published",
            Self::Guessed => "guessed",
        }
    }
}

/// Something odd.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flag {
    /// A stable code, such as `above-rating`.
    pub code: String,
    /// What, in a sentence without a full stop.
    pub message: String,
}

impl Flag {
    /// A flag.
    #[must_use]
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }
}

/// How predictions fared over many figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Runs.
    pub runs: u32,
    /// Figures.
    pub figures: u32,
    /// Median of how far what was measured was off what was predicted, as a share of the latter.
    pub median_error: f64,
    /// Share of figures inside the 50 % interval.
    pub in_half: f64,
    /// Share of figures inside the 90 % interval.
    pub in_ninety: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_widened_by_factors() {
        let estimate =
            Estimate { value: 100.0, half: Range { low: 80.0, high: 125.0 }, ninety: Range { low: 50.0, high: 200.0 } };
        let wide = estimate.widened(2.0);
        assert!((wide.ninety.low - 25.0).abs() < 1e-9 && (wide.ninety.high - 400.0).abs() < 1e-9, "{wide:?}");
        assert!((wide.half.low - 64.0).abs() < 1e-9, "{wide:?}");
        assert_eq!(estimate.widened(1.0).ninety, estimate.ninety);
    }
}
