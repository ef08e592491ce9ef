//! Feature checks: does a stack do what it was built for? What is expected of its layers, what was done, and what came
//! of it.
//!
//! A feature check is no drill: it asks for one feature that people choose a stack for, on data made for it, in a guest
//! that is thrown away.

use serde::{Deserialize, Serialize};

use crate::feature::Feature;
use crate::record::Missing;
use crate::units::Nanos;

/// Version of the feature checks' JSON.
pub const FEATURE_CHECKS_SCHEMA: u32 = 1;

/// What a stack does about a feature: expected of its layers, or shown by a feature check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Showing {
    /// What is stored is found on no drive, and another key is refused.
    Hidden,
    /// What is stored stands readable on a drive.
    Readable,
    /// The data were right with a drive gone and after another was rebuilt, which then served them alone.
    Survived,
    /// The data were right with a drive gone; no other drive was rebuilt.
    NotRebuilt,
    /// With a drive gone the data could not be read.
    Lost,
    /// Wrong bytes on a drive were put right, and never returned.
    Repaired,
    /// Wrong bytes on a drive gave errors, and were never returned.
    Detected,
    /// Wrong bytes on a drive were returned as if they were right.
    Silent,
    /// The snapshot restored the old content.
    Kept,
    /// The snapshot did not restore the old content.
    NotKept,
    /// No layer has it.
    NotOffered,
}

impl Showing {
    /// The word for it in tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Hidden => "hidden",
            Self::Readable => "readable",
            Self::Survived => "survived",
            Self::NotRebuilt => "not rebuilt",
            Self::Lost => "lost",
            Self::Repaired => "repaired",
            Self::Detected => "detected",
            Self::Silent => "silent",
            Self::Kept => "kept",
            Self::NotKept => "not kept",
            Self::NotOffered => "not offered",
        }
    }

    /// What the word means, for legends.
    #[must_use]
    pub const fn means(self) -> &'static str {
        match self {
            Self::Hidden => "what was written is found on no drive, and another key is refused",
            Self::Readable => "what was written was read from the bare drives",
            Self::Survived => {
                "right with a drive pulled, rebuilt onto a blank one, and right again from the new drive with another one pulled"
            }
            Self::NotRebuilt => "right with a drive pulled, but no other drive took its place",
            Self::Lost => "with a drive pulled the data could not be read",
            Self::Repaired => "bytes changed on a drive were put right, and never returned",
            Self::Detected => "bytes changed on a drive gave errors, and were never returned",
            Self::Silent => "bytes changed on a drive were returned as if they were right",
            Self::Kept => "the snapshot restored the old content",
            Self::NotKept => "the snapshot did not restore the old content",
            Self::NotOffered => "no layer of the stack has it",
        }
    }

    /// How far it is what people want.
    #[must_use]
    pub const fn grade(self) -> Grade {
        match self {
            Self::Hidden | Self::Survived | Self::Repaired | Self::Kept => Grade::Yes,
            Self::NotRebuilt | Self::Detected => Grade::Half,
            Self::Readable | Self::Lost | Self::Silent | Self::NotKept | Self::NotOffered => Grade::No,
        }
    }
}

/// How far a stack has a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grade {
    /// It has it.
    Yes,
    /// It has a part of it.
    Half,
    /// It has it not.
    No,
}

impl Grade {
    /// The mark for it, beside the word.
    #[must_use]
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Yes => "✓",
            Self::Half => "~",
            Self::No => "✗",
        }
    }
}

/// Everything that was tried on one stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackFeatureChecks {
    /// [`FEATURE_CHECKS_SCHEMA`].
    pub schema: u32,
    /// Slug of the stack.
    pub stack: String,
    /// Its name.
    pub name: String,
    /// When it began, RFC 3339.
    pub at: String,
    /// Build id of Bedplate.
    pub build: String,
    /// What boots, builds and feature checks took.
    #[serde(rename = "took_ns")]
    pub took: Nanos,
    /// What is missing to build it here, where something is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// One for every feature that was asked for.
    #[serde(rename = "trials")]
    pub feature_checks: Vec<FeatureCheck>,
}

/// One feature, tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeatureCheck {
    /// Which.
    pub feature: Feature,
    /// What is expected of the layers.
    #[serde(rename = "promised")]
    pub expected: Showing,
    /// What came; `None` where the feature check showed nothing, which [`Self::says`] explains.
    pub came: Option<Showing>,
    /// What was seen, in a sentence or two.
    pub says: String,
    /// Everything that was done, in order.
    pub steps: Vec<FeatureCheckStep>,
}

impl FeatureCheck {
    /// Did it come as expected?
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        self.came == Some(self.expected)
    }
}

/// Something that was done in a feature check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeatureCheckStep {
    /// Why.
    pub why: String,
    /// What: a command as a person would type it.
    pub line: String,
    /// The same as an argument vector; empty where a file of the kernel was written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// Exit status; `None` where nothing ran.
    pub status: Option<i32>,
    /// What it said, cut where it is long.
    pub said: String,
    /// What was made of it, where it does not speak for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_written_as_they_are_read() {
        for feature in Feature::ALL {
            assert_eq!(Feature::from_word(feature.word()), Some(feature));
            assert_eq!(serde_json::to_string(&feature).unwrap(), format!("\"{feature}\""));
        }
        assert_eq!(Feature::from_word("speed"), None);
    }

    #[test]
    fn nothing_shown_is_never_as_expected() {
        let feature_check = |came| FeatureCheck {
            feature: Feature::Snapshot,
            expected: Showing::Kept,
            came,
            says: String::new(),
            steps: Vec::new(),
        };
        assert!(feature_check(Some(Showing::Kept)).is_as_expected());
        assert!(!feature_check(Some(Showing::NotKept)).is_as_expected() && !feature_check(None).is_as_expected());
    }
}
