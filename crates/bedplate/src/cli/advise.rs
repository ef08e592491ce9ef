//! What `bedplate advise` and `bedplate init` take.

use std::path::PathBuf;

use clap::Args;
use terms::advice::Needs;

use crate::drives::DriveSet;

#[derive(Debug, Default, Args)]
pub(crate) struct AdviseArguments {
    /// The study: its drives, and its workloads as what the stack has to do. Its own stacks are left out
    #[arg(conflicts_with = "drives")]
    pub(crate) study: Option<PathBuf>,
    /// Drives in place of a study's: how many, how large, of which kind (nvme, sata, hdd), such as `4x4TB:hdd`
    #[arg(long, value_name = "DRIVES")]
    pub(crate) drives: Option<DriveSet>,
    /// With --drives: what they are for, by workload profiles; repeat or separate by commas [default: quick]
    #[arg(long, value_name = "PROFILE", value_delimiter = ',', requires = "drives")]
    pub(crate) profile: Vec<String>,
    /// The machine: a description that ends in `.toml`, see docs/expect.md, or a captured machine [default: this one]. With
    /// --drives only its processors and memory count
    #[arg(long, value_name = "FILE")]
    pub(crate) machine: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) needs: NeedsArguments,
    /// Use at most so many of the drives [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) max_drives: Option<u32>,
    /// Take every drive to be this large, such as `2TB` [default: the machine's drive, else the study's]
    #[arg(long, value_name = "SIZE", value_parser = super::values::size, conflicts_with = "drives")]
    pub(crate) drive_size: Option<terms::Bytes>,
    /// Layouts that are shown at most
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(crate) most: u32,
    /// Also write a study with the advised stacks: `bedplate plan` shows how they are built, `run` measures them. A file
    /// that is there is not overwritten
    #[arg(long, value_name = "FILE")]
    pub(crate) write_study: Option<PathBuf>,
    /// Show every layout with its predicted rates, and why those that differ in one choice lost
    #[arg(long, conflicts_with = "json")]
    pub(crate) explain: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What somebody needs.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Requirements")]
pub(crate) struct NeedsArguments {
    /// Nothing may be readable on a drive that is stolen
    #[arg(long)]
    pub(crate) encrypted: bool,
    /// So many drives may fail at once, whichever they are [default: 1 where there are two or more]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=8))]
    pub(crate) survive: Option<u32>,
    /// Wrong data that a drive returns as right have to be noticed and put right
    #[arg(long)]
    pub(crate) repair: bool,
    /// The state of a moment can be kept
    #[arg(long)]
    pub(crate) snapshots: bool,
    /// So much can be written at least, such as `4TB`
    #[arg(long, value_name = "SIZE", value_parser = super::values::size)]
    pub(crate) capacity: Option<terms::Bytes>,
    /// Data may be lost at most once in so many years, as predicted [default: 100 where a layout can]
    #[arg(long, value_name = "YEARS", value_parser = years)]
    pub(crate) once_in: Option<f64>,
    /// No drive may be worn within so many years; needs --daily
    #[arg(long, value_name = "YEARS", value_parser = years, requires = "daily")]
    pub(crate) last: Option<f64>,
    /// What is written in a day, such as `50GB`
    #[arg(long, value_name = "SIZE", value_parser = super::values::size)]
    pub(crate) daily: Option<terms::Bytes>,
}

impl NeedsArguments {
    /// The needs of somebody with so many drives.
    pub(crate) fn of(&self, drives: usize) -> Needs {
        Needs {
            encryption: self.encrypted,
            survives: self.survive.unwrap_or(u32::from(drives > 1)),
            repairs: self.repair,
            snapshots: self.snapshots,
            capacity: self.capacity,
            loss: self.once_in.map(|years| 1.0 / years),
            life_years: self.last,
            daily: self.daily,
        }
    }
}

/// Asks for what a first study takes, and writes it.
#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// The study to write; a file that is there is not overwritten
    #[arg(default_value = "study.toml")]
    pub(crate) file: PathBuf,
    /// How many drives, how large, of which kind (nvme, sata, hdd), such as `4x4TB:hdd`; asked for on a terminal
    #[arg(long, value_name = "DRIVES")]
    pub(crate) drives: Option<DriveSet>,
    #[command(flatten)]
    pub(crate) needs: NeedsArguments,
}

impl InitArguments {
    /// The same as `bedplate advise` has it.
    pub(crate) fn as_advise(&self, drives: DriveSet, needs: NeedsArguments) -> AdviseArguments {
        AdviseArguments {
            drives: Some(drives),
            needs,
            most: 3,
            write_study: Some(self.file.clone()),
            ..AdviseArguments::default()
        }
    }
}

fn years(text: &str) -> Result<f64, String> {
    let years: f64 = text.trim().parse().map_err(|_| "write a number of years such as `1000`".to_owned())?;
    if years > 0.0 && years.is_finite() { Ok(years) } else { Err("more than 0 years".to_owned()) }
}
