//! What happens in a run, as its record tells it line by line.

use serde::{Deserialize, Serialize};

use crate::preflight::DriveCheck;
use crate::{Name, Nanos};

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When, in UTC (RFC 3339).
    pub at: String,
    /// Slug of the stack; empty for the whole run.
    pub stack: String,
    /// The round, from 1; 0 for the whole run.
    pub round: u32,
    /// What it was.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// Kinds of events, with what each one tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", content = "more", rename_all = "kebab-case")]
pub enum EventKind {
    /// A drive that a person agreed to lose is about to be erased.
    Erasing {
        /// The study's name of it.
        drive: Name,
        /// By which name the person agreed.
        id: String,
        /// What it held, one sentence each.
        held: Vec<String>,
    },
    /// Predictions were written down, before anything was measured.
    #[serde(rename = "foretold")]
    Predictions {
        /// How many cells have one.
        cells: usize,
        /// Digest of their file, in hexadecimal.
        sha256: String,
    },
    /// Drives were looked at before the first step.
    Preflight {
        /// Every check of every drive.
        checks: Vec<DriveCheck>,
    },
    /// A span was written before it is measured.
    Filled {
        /// fio's command.
        argv: Vec<String>,
        /// Its job; empty where an older program wrote.
        #[serde(default)]
        job: String,
        /// Seed of what was written.
        seed: u64,
        /// Time by our clock.
        #[serde(rename = "took_ns")]
        took: Nanos,
        /// What fio said.
        fio: String,
    },
    /// A cell was measured.
    Measured {
        /// Name of the workload.
        workload: String,
        /// Time by our clock.
        #[serde(rename = "took_ns")]
        took: Nanos,
    },
    /// A stack was taken down.
    TakenDown {
        /// Time by our clock.
        #[serde(rename = "took_ns")]
        took: Nanos,
    },
    /// A drive was told to forget what it held.
    Discarded {
        /// The study's name of it.
        drive: Name,
        /// Could it?
        worked: bool,
    },
    /// Something went wrong with a stack.
    Failed {
        /// The error and its causes.
        why: String,
        /// Did it stand by then?
        stood: bool,
    },
    /// No other step is begun.
    Stopped(Stopped),
    /// What is open by then stays open.
    BudgetSpent {},
    /// The program ends, finished or not.
    Session {
        /// What the first rounds were expected to take.
        estimated_seconds: f64,
        /// Time by our clock.
        #[serde(rename = "took_ns")]
        took: Nanos,
        /// Did it go on with an earlier one?
        resumed: bool,
        /// Earlier runs that the estimate was made from.
        learned_from_runs: usize,
    },
}

/// Why a run that goes by steps begins no other.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Stopped {
    /// A sentence.
    pub why: String,
    /// The drive that is slower than it should be, where it was that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<Name>,
    /// The workload that is off its prediction, where it was that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// Its predicted bottleneck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "limiter")]
    pub bottleneck: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records of older programs have lines like these.
    #[test]
    fn a_line_of_a_record_is_read_and_written_alike() {
        for more in [
            r#""event":"taken-down","more":{"took_ns":1500000000}"#,
            r#""event":"failed","more":{"why":"x","stood":true}"#,
            r#""event":"budget-spent","more":{}"#,
            r#""event":"stopped","more":{"why":"x","workload":"w"}"#,
        ] {
            let line = format!(r#"{{"at":"2026-01-01T00:00:00Z","stack":"a","round":1,{more}}}"#);
            let event: Event = serde_json::from_str(&line).unwrap();
            assert_eq!(serde_json::to_string(&event).unwrap(), line);
        }
        assert!(
            serde_json::from_str::<Event>(r#"{"at":"","stack":"","round":0,"event":"unheard-of","more":{}}"#).is_err()
        );
    }
}
