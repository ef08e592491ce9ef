//! What somebody needs, and what is advised.

use serde::{Deserialize, Serialize};

use crate::durability::{CommonCause, Spread};
use crate::prediction::{Estimate, Flag};
use crate::units::{Bytes, Nanos};

/// What somebody needs. What is not said is not needed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Needs {
    /// Nothing is readable on a drive that is stolen.
    pub encryption: bool,
    /// So many drives may fail at once, whichever they are.
    pub survives: u32,
    /// Wrong data that a drive returns as right are noticed and put right.
    pub repairs: bool,
    /// The state of a moment can be kept.
    pub snapshots: bool,
    /// Bytes that can be written at least.
    #[serde(rename = "capacity_bytes")]
    pub capacity: Option<Bytes>,
    /// Probability of losing any data in a year, as it is believed, at most.
    #[serde(rename = "loss_per_year")]
    pub loss: Option<f64>,
    /// Years until the first drive is worn, as it is believed, at least.
    pub life_years: Option<f64>,
    /// What is written in a day.
    #[serde(rename = "daily_bytes")]
    pub daily: Option<Bytes>,
    /// How often something takes all drives at once.
    #[serde(rename = "common_cause", default)]
    pub common: CommonCause,
}

/// The probability of losing data in a year that is accepted where nobody says which. A choice of ours: what is built to be
/// kept for ten years is then lost once in ten such builds, and one hard disk of a usual kind is worse.
pub const ACCEPTED_LOSS: f64 = 0.01;

/// One of the things that somebody needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// [`Needs::encryption`]
    Encryption,
    /// [`Needs::survives`]
    Survives,
    /// [`Needs::repairs`]
    Repairs,
    /// [`Needs::snapshots`]
    Snapshots,
    /// [`Needs::capacity`]
    Capacity,
    /// [`Needs::loss`]
    Loss,
    /// [`Needs::life_years`]
    Life,
}

impl Needs {
    /// What is needed, one by one.
    #[must_use]
    pub fn asked(&self) -> Vec<Need> {
        let all = [
            (Need::Encryption, self.encryption),
            (Need::Survives, self.survives > 0),
            (Need::Repairs, self.repairs),
            (Need::Snapshots, self.snapshots),
            (Need::Capacity, self.capacity.is_some()),
            (Need::Loss, self.loss.is_some()),
            (Need::Life, self.life_years.is_some()),
        ];
        all.into_iter().filter_map(|(need, is_asked)| is_asked.then_some(need)).collect()
    }

    /// The same with one of them given up; of drives that fail, with one fewer.
    #[must_use]
    pub fn without(&self, need: Need) -> Self {
        let mut rest = self.clone();
        match need {
            Need::Encryption => rest.encryption = false,
            Need::Survives => rest.survives = rest.survives.saturating_sub(1),
            Need::Repairs => rest.repairs = false,
            Need::Snapshots => rest.snapshots = false,
            Need::Capacity => rest.capacity = None,
            Need::Loss => rest.loss = None,
            Need::Life => rest.life_years = None,
        }
        rest
    }
}

/// What would do if one thing were not needed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compromise {
    /// What is given up.
    pub need: Need,
    /// What is left to be needed.
    pub needs: Needs,
    /// Designs that meet the rest.
    pub fitting: u64,
    /// The one of them that comes nearest to what was given up; the fastest where there is no nearer and farther.
    pub closest: Advised,
}

/// What is advised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// What was needed.
    pub needs: Needs,
    /// Designs that were looked at: all that meet what can be seen from their choices.
    pub designs: u64,
    /// Those that meet all needs.
    pub fitting: u64,
    /// Those that would hold enough, were no room left for snapshots of their thin volumes.
    #[serde(rename = "fitting_without_snapshots", default, skip_serializing_if = "is_zero")]
    pub kept_free: u64,
    /// Those that meet all but the limit of the risk.
    #[serde(default)]
    pub fitting_but_for_risk: u64,
    /// Is that limit ours, as nobody asked for one?
    #[serde(rename = "risk_limit_assumed", default)]
    pub is_limit_assumed: bool,
    /// The best: for each of them, everything that is better in one way is worse in another, be it only in how many layers it
    /// has. First the simplest of those as fast as any, then the fastest.
    pub front: Vec<Advised>,
    /// Which of them, from 0, has the fewest layers of all designs that meet the needs, with usual options; of several the fastest.
    #[serde(default)]
    pub fewest_layers: Option<usize>,
    /// Where nothing meets the needs: what would, were one of them given up.
    #[serde(default)]
    pub compromises: Vec<Compromise>,
    /// The one of all that meet the needs with the least probability of a loss.
    #[serde(skip)]
    pub safest: Option<Box<Advised>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// One design that is advised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advised {
    /// Its name, made of its layers.
    pub name: String,
    /// Its layers, as a study has them.
    pub layers: String,
    /// Drives that it takes.
    pub drives: u32,
    /// Drives that may fail at once, whichever they are.
    pub survives: u32,
    /// Throughput under each workload, in their order.
    pub rates: Vec<Rate>,
    /// Geometric mean of the rates over those of the fastest design of the front.
    #[serde(rename = "speed_ratio", alias = "speed")]
    pub speed: f64,
    /// Bytes that can be written.
    #[serde(rename = "available_bytes")]
    pub available: Bytes,
    /// Probability of losing any data in a year.
    #[serde(rename = "loss_per_year")]
    pub loss: Spread<f64>,
    /// Probability of losing everything in a year; `None` where nothing is known of causes.
    #[serde(rename = "loss_of_everything_per_year")]
    pub everything: Option<Spread<f64>>,
    /// Years until the first drive is worn; `None` where nothing was said of what is written.
    pub life_years: Option<Spread<f64>>,
    /// Time to rebuild a drive; `None` where nothing is redundant.
    #[serde(rename = "rebuild_ns")]
    pub rebuild: Option<Spread<Nanos>>,
    /// What has to be known of its layers before data are kept on them for good.
    #[serde(default)]
    pub caveats: Vec<Flag>,
    /// What differs by one choice, and why it lost.
    pub neighbours: Vec<Neighbour>,
    /// Designs of the front that are as fast as far as can be told, and the workload whose measurement would decide.
    pub ties: Vec<Tie>,
}

/// What is expected of one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// The workload.
    pub workload: String,
    /// The workload in words.
    pub pattern: String,
    /// Its throughput.
    #[serde(rename = "throughput_bytes_per_second")]
    pub throughput: Estimate,
    /// Its operations.
    #[serde(rename = "operations_per_second")]
    pub operations: Estimate,
    /// What limits it, where that is likely enough to be said.
    #[serde(rename = "limiter")]
    pub bottleneck: Option<String>,
    /// What `expect` warns of under this workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
}

/// A design that differs by one choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Neighbour {
    /// The choice, and what it would be: `chunk: 64 KiB and not 512 KiB`.
    pub change: String,
    /// Why it is not on the front.
    pub why: String,
    /// Probability of losing any data in a year, where it is simpler and that alone rules it out, by less than is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub barely_too_risky: Option<f64>,
}

/// Two designs that do not differ significantly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tie {
    /// The other, by its place in the front, from 0.
    pub with: usize,
    /// The workload that tells most, when it is measured on both.
    pub decides: String,
}
