//! What SATA and SAS drives tell of themselves beside their health: from `smartctl -x`.

use serde::{Deserialize, Serialize};

use super::Readout;
use crate::units::Nanos;

/// What a SATA or SAS drive tells of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Smart {
    /// Does it tell of its overall assessment at all?
    pub assessed: bool,
    /// Attributes of a SATA drive.
    pub attributes: Vec<Attribute>,
    /// Blocks that a SAS drive has given up since it was made.
    pub grown_defects: Option<u64>,
    /// Requests that a SAS drive could not carry out in spite of all it tried.
    pub uncorrected: Option<u64>,
    /// Its log of self-tests, newest first; `None` where it tells none.
    pub self_tests: Option<Vec<SelfTest>>,
    /// Highest temperature at which it may work.
    #[serde(rename = "temperature_limit_celsius")]
    pub temperature_limit: Option<i32>,
    /// How long a SATA drive tries to read a bad block (SCT error recovery control).
    pub recovery: Readout<Recovery>,
    /// Speed of the line to a SATA drive.
    pub line: Option<Line>,
}

impl Smart {
    /// An attribute by its number.
    #[must_use]
    pub fn attribute(&self, id: u32) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.id == id)
    }
}

/// A counter that a drive keeps.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Attribute {
    /// Its number.
    pub id: u32,
    /// What `smartctl` calls it.
    pub name: String,
    /// What it counts. Makers differ in what that is.
    pub raw: u64,
    /// Is it below the maker's threshold now?
    pub failing: bool,
}

/// A test that a drive did on itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SelfTest {
    /// Its kind, such as `Extended`.
    pub kind: String,
    /// How it ended; `None` where it did not, or somebody stopped it.
    pub passed: Option<bool>,
    /// Hours under power when it was done.
    pub hours: Option<u64>,
    /// How the drive words it.
    pub says: String,
}

/// How long a drive tries to read or write a bad block before it gives up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// The drive has no such limit.
    Unsupported,
    /// It has one, and it is off.
    Off,
    /// At most so long, the longer of reads and writes.
    Limited(Nanos),
}

/// Speeds of a SATA line in units of 100 Mbit/s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Line {
    /// What the drive can do.
    pub best: u32,
    /// What is in force.
    pub now: u32,
}
