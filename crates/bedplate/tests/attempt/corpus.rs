//! The table of attempts, and the files that it is of.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Directories of the corpus.
const DIRECTORIES: [&str; 8] =
    ["fio", "studies", "plans", "machines", "captures", "calibrations", "records", "catalogues"];

/// What a file is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A job file of fio.
    Fio,
    /// A study.
    Study,
    /// A plan as JSON.
    Plan,
    /// A description of a machine.
    Machine,
    /// A captured machine.
    Capture,
    /// What was measured of a machine.
    Calibration,
    /// A run's directory, named on the command line.
    Record,
    /// A run's directory that is found by name or place.
    Runs,
    /// The list of runs, as statements that make it.
    Catalogue,
}

impl Kind {
    /// Where files of this kind are; runs are records.
    fn directory(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::Study => "studies",
            Self::Plan => "plans",
            Self::Machine => "machines",
            Self::Capture => "captures",
            Self::Calibration => "calibrations",
            Self::Record => "records",
            Self::Runs => "runs",
            Self::Catalogue => "catalogues",
        }
    }
}

/// A row of the table.
#[derive(Debug, Deserialize)]
pub(crate) struct Case {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    /// In words.
    pub(crate) attempt: String,
    /// Verbs that are not tried on it; the table says why.
    #[serde(default)]
    pub(crate) without: Vec<String>,
    exit: Vec<i32>,
    says: Option<String>,
    /// What must not be printed.
    pub(crate) never: Option<String>,
    /// Links to make: name in the record, and where it leads.
    #[serde(default)]
    pub(crate) links: Vec<(String, String)>,
    /// Pipes to make.
    #[serde(default)]
    pub(crate) fifos: Vec<String>,
    /// Of [`Kind::Runs`]: which record, and where it is put.
    record: Option<String>,
    pub(crate) at: Option<String>,
    /// What is expected of some verbs.
    #[serde(flatten)]
    pub(crate) verbs: BTreeMap<String, Expected>,
}

/// What has to come of an attempt.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Expected {
    pub(crate) exit: Vec<i32>,
    says: Option<String>,
}

impl Expected {
    /// Words of which one must be printed; none where anything will do.
    pub(crate) fn words(&self) -> Vec<&str> {
        self.says.iter().flat_map(|says| says.split('|')).collect()
    }
}

impl Case {
    pub(crate) fn label(&self) -> String {
        format!("{}/{}", self.kind.directory(), self.name)
    }

    /// Is it among those that the person asked for?
    pub(crate) fn is_wanted(&self) -> bool {
        wanted().is_none_or(|words| self.label().contains(&words))
    }

    pub(crate) fn expected(&self, verb: &str) -> Expected {
        let usual = || Expected { exit: self.exit.clone(), says: self.says.clone() };
        self.verbs.get(verb).cloned().unwrap_or_else(usual)
    }

    /// What the test makes instead of copying it.
    pub(crate) fn made(&self) -> Option<&str> {
        self.name.strip_prefix("made:")
    }

    /// The file or directory in the tree.
    pub(crate) fn source(&self) -> PathBuf {
        match &self.record {
            Some(record) => root().join("records").join(record),
            None => root().join(self.label()),
        }
    }
}

/// Words that `HOSTILE` wants in labels.
pub(crate) fn wanted() -> Option<String> {
    std::env::var("HOSTILE").ok()
}

pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile"))
}

/// Every row.
pub(crate) fn read() -> Vec<Case> {
    #[derive(Deserialize)]
    struct Table {
        case: Vec<Case>,
    }
    let text = fs::read_to_string(root().join("corpus.toml")).unwrap();
    toml::from_str::<Table>(&text).unwrap().case
}

/// Files of the tree that no row is of, and rows that no file is of.
pub(crate) fn unlisted() -> Vec<String> {
    let mut left = BTreeSet::new();
    for directory in DIRECTORIES {
        let names = fs::read_dir(root().join(directory)).unwrap();
        left.extend(names.map(|name| format!("{directory}/{}", name.unwrap().file_name().to_string_lossy())));
    }
    let mut odd = Vec::new();
    for case in read().iter().filter(|case| case.kind != Kind::Runs && case.made().is_none()) {
        if !left.remove(&case.label()) {
            odd.push(format!("{}: no file, or another row of it", case.label()));
        }
    }
    left.into_iter().map(|file| format!("{file}: no row")).chain(odd).collect()
}
