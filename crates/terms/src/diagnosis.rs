//! What is wrong with how a machine is set up: findings with their evidence, what nobody could tell, what passed.

use serde::{Deserialize, Serialize};

words! {
    /// How much a finding matters.
    #[derive(PartialOrd, Ord)]
    pub enum Severity {
        /// Worth knowing; often a choice.
        Information = "information",
        /// Costs speed, capacity or safety that could be had.
        Warning = "warning",
        /// Data or much of the speed is at stake.
        Error = "error",
    }
}

/// All that was found out about a machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Diagnosis {
    /// Is it an emulated machine?
    pub emulated: Option<String>,
    /// Was it read with the rights of root? Much of what is unknown is so because it was not.
    pub as_root: bool,
    /// Findings, worst first.
    pub findings: Vec<Finding>,
    /// What could not be judged, and why.
    pub unknown: Vec<Unknown>,
    /// Every check that was done, in the order of the table.
    pub checks: Vec<Checked>,
}

/// A check, described.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Its name, which stays the same from version to version.
    pub check: String,
    /// The worst that it finds.
    pub severity: Severity,
    /// Files and commands whose content it judges.
    pub looks_at: String,
    /// When it finds something.
    pub rule: String,
    /// Can what it finds be fixed by writes that can be taken back?
    pub fixes: bool,
}

/// A check, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Its name.
    pub check: String,
    /// How it ended.
    pub state: CheckEnd,
    /// How many drives, links, arrays and so on it looked at.
    pub looked_at: u32,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckEnd {
    /// It found something.
    Found,
    /// It found nothing, and some of its evidence could not be read.
    Unknown,
    /// It looked at everything that it wants to look at, and found nothing.
    Passed,
    /// There is nothing of its kind on the machine.
    NothingThere,
}

/// Something that is wrong, or worth knowing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The check that found it.
    pub check: String,
    /// How much it matters.
    pub severity: Severity,
    /// Where.
    pub place: Place,
    /// What is so, in one sentence.
    pub what: String,
    /// What it costs, in numbers.
    pub why: String,
    /// What was read.
    pub seen: Vec<Seen>,
    /// What fixes it.
    #[serde(rename = "mend")]
    pub remedy: Remedy,
}

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// `drive`, `link`, `array`, `mapping`, `file system` and so on.
    pub kind: String,
    /// Its name.
    pub name: String,
}

/// A piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The file or the command.
    pub source: String,
    /// What it says.
    pub value: String,
}

/// What fixes a finding.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Remedy {
    /// What is to be done, in words.
    pub advice: String,
    /// Commands that do it, as a person types them.
    pub commands: Vec<String>,
    /// What it destroys; `None`: nothing.
    pub destroys: Option<String>,
    /// What is less safe until it is done; `None`: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weakens: Option<String>,
    /// Writes that do it and can be taken back; empty where Bedplate does not fix it.
    pub fixes: Vec<Fix>,
}

/// A setting that is written to a file of the kernel, and what takes it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// The file.
    pub path: String,
    /// What it says now, in the form in which it is written.
    pub old: String,
    /// What is written.
    pub new: String,
}

/// Something that could not be judged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unknown {
    /// The check that wanted to.
    pub check: String,
    /// Where.
    pub place: Place,
    /// Why it could not.
    pub reason: String,
}

/// How many of each there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Findings that are errors.
    pub errors: usize,
    /// Findings that are warnings.
    pub warnings: usize,
    /// Findings that are information.
    pub notes: usize,
    /// Checks some of whose evidence could not be read, whether they found something or not.
    pub unknown: usize,
    /// Checks that passed.
    pub passed: usize,
    /// Checks that had nothing to look at.
    pub nothing_there: usize,
}

impl Diagnosis {
    /// How many of each there are.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let severe = |severity| self.findings.iter().filter(|finding| finding.severity == severity).count();
        let ended = |state| self.checks.iter().filter(|check| check.state == state).count();
        let unsure = |check: &&Checked| self.unknown.iter().any(|unknown| unknown.check == check.check);
        Counts {
            errors: severe(Severity::Error),
            warnings: severe(Severity::Warning),
            notes: severe(Severity::Information),
            unknown: self.checks.iter().filter(unsure).count(),
            passed: ended(CheckEnd::Passed),
            nothing_there: ended(CheckEnd::NothingThere),
        }
    }

    /// The worst of the findings.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// With evidence as it was posted: a file that nobody read goes by the command whose text told what it says.
    #[must_use]
    pub fn cited(mut self, told_by: impl Fn(&str) -> Option<&'static str>) -> Self {
        for seen in self.findings.iter_mut().flat_map(|finding| &mut finding.seen) {
            let Some(command) = told_by(&seen.source) else { continue };
            let of_device = seen.source.strip_prefix("/sys/block/").and_then(|rest| rest.split_once('/'));
            // A command is cited as it is.
            let last = || if seen.source.starts_with('/') { seen.source.rsplit('/').next() } else { None };
            let file = of_device.map(|(_, file)| file).or_else(last).unwrap_or(&seen.source);
            seen.source = format!("{command} (`{file}`)");
        }
        self
    }

    /// Without findings that matter less; what is unknown stays.
    #[must_use]
    pub fn at_least(mut self, least: Severity) -> Self {
        self.findings.retain(|finding| finding.severity >= least);
        self
    }
}

impl Place {
    /// A place.
    pub fn new(kind: &str, name: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), name: name.into() }
    }

    /// The whole machine.
    #[must_use]
    pub fn machine() -> Self {
        Self::new("machine", "")
    }
}

impl std::fmt::Display for Place {
    /// `drive nvme0n1`, `machine`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.name.is_empty() { f.pad(&self.kind) } else { f.pad(&format!("{} {}", self.kind, self.name)) }
    }
}

impl Fix {
    /// The command that does it.
    #[must_use]
    pub fn command(&self) -> String {
        format!("echo {} > {}", crate::command::quote(&self.new), self.path)
    }

    /// The command that takes it back.
    #[must_use]
    pub fn undo(&self) -> String {
        format!("echo {} > {}", crate::command::quote(&self.old), self.path)
    }
}
