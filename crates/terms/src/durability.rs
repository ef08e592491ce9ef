//! How long drives and data last: kinds of drives, causes of loss, and what is expected of a stack.

use serde::{Deserialize, Serialize};

use crate::name::Name;
use crate::units::{Bytes, Nanos};

/// A figure, and how far off it may be: not an interval of any level, but what is believed at best, at all and at worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spread<T> {
    /// At the lower end.
    pub low: T,
    /// What is believed.
    pub middle: T,
    /// At the upper end.
    pub high: T,
}

impl<T> Spread<T> {
    /// Of references to each end.
    pub const fn as_ref(&self) -> Spread<&T> {
        Spread { low: &self.low, middle: &self.middle, high: &self.high }
    }
}

impl<T: Copy> Spread<T> {
    /// A figure that is known.
    pub const fn exactly(value: T) -> Self {
        Self { low: value, middle: value, high: value }
    }

    /// The same of each end.
    pub fn map<U>(self, of: impl Fn(T) -> U) -> Spread<U> {
        Spread { low: of(self.low), middle: of(self.middle), high: of(self.high) }
    }

    /// One of the three.
    pub const fn at(&self, end: End) -> T {
        match end {
            End::Low => self.low,
            End::Middle => self.middle,
            End::High => self.high,
        }
    }
}

/// Which of a spread's figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// The lower end.
    Low,
    /// What is believed.
    Middle,
    /// The upper end.
    High,
}

/// What is known of drives of one kind before there is one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DriveClass {
    /// A short name, such as `client-ssd`.
    pub name: String,
    /// What kind that is.
    pub what: String,
    /// Drives that fail within a year, of one.
    pub failures_per_year: Spread<f64>,
    /// Blocks that cannot be read, for each bit read.
    pub unreadable_per_bit: Spread<f64>,
    /// Times in a year that a drive comes to hold a block that cannot be read, whether anybody reads it or not.
    pub latent_per_year: Spread<f64>,
    /// Times in a year that a drive returns wrong data as if they were right.
    pub silent_per_year: Spread<f64>,
    /// How often the whole drive may be written in its life; `None` where writing does not wear it.
    pub drive_writes: Option<Spread<f64>>,
    /// Where the figures come from.
    pub sources: Vec<String>,
}

/// What becomes of wrong data from a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Healing {
    /// They are handed on as if they were right.
    Unnoticed,
    /// They are noticed, and lost.
    Noticed,
    /// They are noticed, and put right from what is redundant.
    Repaired,
}

/// Why data are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// More drives failed at the same time than the stack survives.
    DrivesTogether,
    /// A block could not be read when nothing redundant was left.
    UnreadableBlock,
    /// A drive returned wrong data.
    SilentCorruption,
    /// Something that takes all drives at once: power supply, controller, fire, a person.
    CommonCause,
}

impl Cause {
    /// The words for it in tables.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::DrivesTogether => "drives together",
            Self::UnreadableBlock => "unreadable block",
            Self::SilentCorruption => "silent corruption",
            Self::CommonCause => "common cause",
        }
    }

    /// Does it take everything that is stored?
    #[must_use]
    pub const fn takes_everything(self) -> bool {
        matches!(self, Self::DrivesTogether | Self::CommonCause)
    }
}

/// How often something takes all drives at once: power supply, controller, fire, a thief, a person. Neither drives nor layers tell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CommonCause {
    /// Times in a year.
    #[serde(rename = "times_per_year")]
    pub rate: Spread<f64>,
    /// Did the owner say nothing of it?
    #[serde(rename = "assumed")]
    pub is_assumed: bool,
}

impl CommonCause {
    /// Where the owner says nothing: once in 10,000, in 1,000, in 100 years. A guess, for which there is no source.
    pub const ASSUMED: Self = Self { rate: Spread { low: 1e-4, middle: 1e-3, high: 1e-2 }, is_assumed: true };

    /// So many times in a year, where the owner says how many.
    #[must_use]
    pub fn of(said: Option<f64>) -> Self {
        said.map_or(Self::ASSUMED, |rate| Self { rate: Spread::exactly(rate), is_assumed: false })
    }

    /// Of a probability of any loss in a year, what is left without it: causes are independent, so their rates add up.
    #[must_use]
    pub fn taken_off(&self, loss: f64) -> f64 {
        let rest = -(-loss).ln_1p() - self.rate.middle;
        -(-rest.max(0.0)).exp_m1()
    }
}

/// What older documents were made with.
impl Default for CommonCause {
    fn default() -> Self {
        Self::ASSUMED
    }
}

/// What one cause takes in a year.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CauseLoss {
    /// The cause.
    pub cause: Cause,
    /// Probability that it takes anything.
    pub probability: Spread<f64>,
    /// Bytes that it takes on average.
    pub bytes: Spread<f64>,
}

/// What is lost in a year.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Years in which each probability and the bytes are lost.
    #[serde(default = "one_year")]
    pub period_years: u32,
    /// By cause.
    pub causes: Vec<CauseLoss>,
    /// Probability of any loss.
    pub any: Spread<f64>,
    /// Probability of losing everything.
    pub everything: Spread<f64>,
    /// Bytes lost on average.
    pub bytes: Spread<f64>,
    /// The same for each byte stored (NOMDL: Greenan, Plank, Wylie, HotStorage 2010).
    pub per_byte: Spread<f64>,
}

/// What every figure of a [`Loss`] is for.
const fn one_year() -> u32 {
    1
}

impl Loss {
    /// What one cause takes.
    #[must_use]
    pub fn of(&self, cause: Cause) -> Option<&CauseLoss> {
        self.causes.iter().find(|loss| loss.cause == cause)
    }
}

/// Bytes that one layer writes for each byte written to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WriteCost {
    /// The layer.
    pub layer: Name,
    /// How many.
    pub factor: Spread<f64>,
    /// Why.
    pub why: String,
}

/// Bytes that all drives together write for each byte that is written to a stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Amplification {
    /// Size of each write.
    #[serde(rename = "block_bytes")]
    pub block: Bytes,
    /// Are they at random places?
    pub random: bool,
    /// Layers from the top down.
    pub layers: Vec<WriteCost>,
    /// All of them.
    pub total: Spread<f64>,
}

/// What is to be expected of a stack over the years.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outlook {
    /// The stack's name.
    pub stack: String,
    /// Does each array lack its last member all year?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub degraded: bool,
    /// What becomes of wrong data from a drive.
    pub healing: Healing,
    /// Time until a replaced drive holds its share again; `None` where nothing is redundant.
    #[serde(rename = "rebuild_ns")]
    pub rebuild: Option<Spread<Nanos>>,
    /// Time to read and compare everything; `None` where nothing is compared.
    #[serde(rename = "scrub_ns")]
    pub scrub: Option<Spread<Nanos>>,
    /// What is written for each kind of write asked about.
    pub amplification: Vec<Amplification>,
    /// Years until the first drive is worn; `None` where nothing wears or nothing is written.
    pub life_years: Option<Spread<f64>>,
    /// Drives that wear, of which nobody knows how much is written to them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_life: Vec<Name>,
    /// How often something takes all drives at once, as the losses have it.
    #[serde(rename = "common_cause", default)]
    pub common: CommonCause,
    /// What is lost in a year.
    pub loss: Loss,
    /// The same, were silent corruption repaired where it is not, or not noticed where it is repaired.
    pub otherwise: Loss,
}
