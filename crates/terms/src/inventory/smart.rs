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
    /// Words that a SAS drive could not read as they came over its line, of all its ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalid_words: Option<u64>,
    /// Its log of self-tests, newest first; `None` where it tells none.
    pub self_tests: Option<Vec<SelfTest>>,
    /// Highest temperature at which it may work.
    #[serde(rename = "temperature_limit_celsius")]
    pub temperature_limit: Option<i32>,
    /// Highest temperature that its maker recommends for work without end.
    #[serde(rename = "recommended_temperature_celsius", skip_serializing_if = "Option::is_none")]
    pub recommended_temperature: Option<i32>,
    /// How long a SATA drive tries to read a bad block (SCT error recovery control).
    pub recovery: Readout<Recovery>,
    /// Speed of the line to a SATA drive.
    pub line: Option<Line>,
}

impl Smart {
    /// What counts a kind of trouble, unless the drive counts something else under its number.
    #[must_use]
    pub fn counter(&self, counter: Counter) -> Option<&Attribute> {
        let (id, words) = counter.named();
        let mut all = self.attributes.iter().filter(|attribute| attribute.id == id);
        all.find(|attribute| {
            let name = attribute.name.to_lowercase();
            name.is_empty() || words.iter().any(|word| name.contains(word))
        })
    }
}

/// Kinds of trouble that SATA drives count in an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Counter {
    /// Blocks that were given up.
    GivenUp,
    /// Reads that failed.
    Uncorrected,
    /// Commands that ran out of time.
    TimedOut,
    /// Blocks that wait to be given up.
    Pending,
    /// Blocks that a drive's own search could not read.
    Unreadable,
    /// Transfers with a wrong checksum.
    Line,
    /// Times that the heads were parked.
    Parked,
}

impl Counter {
    /// Its number, and words of which its name has one: numbers are nobody's standard, and a few makers count sectors or commands under
    /// them (`drivedb.h` of smartmontools: 198 and 199 of Indilinx are `Read_Sectors_Tot_Ct` and `Write_Sectors_Tot_Ct`).
    const fn named(self) -> (u32, &'static [&'static str]) {
        match self {
            Self::GivenUp => (5, &["realloc", "retired", "bad_b", "defect"]),
            Self::Uncorrected => (187, &["uncorrect", "unc_", "uecc", "ue_count"]),
            Self::TimedOut => (188, &["timeout"]),
            Self::Pending => (197, &["pending", "unc_read", "read_failure"]),
            Self::Unreadable => (198, &["uncorrect", "unc_", "uncor"]),
            Self::Line => (199, &["crc"]),
            Self::Parked => (193, &["load"]),
        }
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
    /// Does the maker call it one that tells of a failure to come, and not of age? `None` where that was not told.
    pub pre_failure: Option<bool>,
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
