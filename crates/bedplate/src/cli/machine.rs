//! What the verbs take that read a machine.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Which machine is read.
#[derive(Debug, Clone, Args)]
pub(crate) struct MachineArguments {
    /// Which machine: `local`, `ssh://host`, or `lab` for the guest of a study
    #[arg(long, default_value = "local", value_name = "PLACE")]
    pub(crate) on: String,
    /// The study whose guest to look at
    #[arg(long, value_name = "STUDY")]
    pub(crate) study: Option<PathBuf>,
    /// A captured machine, see `bedplate capture`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["on", "study"])]
    pub(crate) machine: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print a table of drives with these columns
    #[arg(long, short, value_name = "COL,…", conflicts_with = "json")]
    pub(crate) output: Option<String>,
    /// List the columns that `-o` knows
    #[arg(long)]
    pub(crate) list_columns: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
    /// Output of `smartctl -x`, `mdadm --detail`, `/proc/mdstat`, `zpool status`, `lsblk`, `dmesg`, `lspci -vv` and others in any
    /// mixture, or one capture; `-`: standard input
    #[arg(value_name = "FILE", conflicts_with_all = ["on", "study", "machine", "fix"])]
    pub(crate) files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Only these checks; repeat or separate by commas
    #[arg(long, value_name = "CHECK", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// List the checks: what each looks at and when it finds something
    #[arg(long, conflicts_with_all = ["severity", "fix"])]
    pub(crate) list: bool,
    /// Show and count only findings of at least this severity
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t)]
    pub(crate) severity: Severity,
    /// Apply the settings that fix these checks' findings, where they can be undone, and print how to undo them
    #[arg(long, value_name = "CHECK", value_delimiter = ',', conflicts_with_all = ["only", "severity"])]
    pub(crate) fix: Vec<String>,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Severity {
    /// Everything
    #[default]
    Information,
    /// What costs speed, capacity or safety that could be had
    Warning,
    /// Where data or much of the speed is at stake
    Error,
}

impl From<Severity> for terms::diagnosis::Severity {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Information => Self::Information,
            Severity::Warning => Self::Warning,
            Severity::Error => Self::Error,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CaptureArguments {
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
    /// Where to write it; an existing file is not overwritten [default: standard output]
    pub(crate) file: Option<PathBuf>,
}
