//! What `bedplate advise` and `bedplate init` take.

use std::path::PathBuf;

use clap::Args;
use terms::advice::Needs;
use terms::durability::CommonCause;
use terms::spelling::spell_path;

use crate::drives::DriveSet;

#[derive(Debug, Default, Args)]
pub(crate) struct AdviseArguments {
    /// A study, for its drives and workloads; its stacks are ignored
    #[arg(conflicts_with = "drives")]
    pub(crate) study: Option<PathBuf>,
    /// Drives instead of a study's: number, size and kind (nvme, sata for SSDs, hdd), such as `4x4TB:hdd`
    #[arg(long, value_name = "DRIVES")]
    pub(crate) drives: Option<DriveSet>,
    /// With --drives: profiles of the workloads to run on them; repeat or separate by commas [default: quick]
    #[arg(long, value_name = "PROFILE", value_delimiter = ',', requires = "drives")]
    pub(crate) profile: Vec<String>,
    /// The machine: a description that ends in `.toml`, see docs/expect.md, or a captured machine [default: this one]. With
    /// --drives only its processors and memory count
    #[arg(long, value_name = "FILE")]
    pub(crate) machine: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) needs: NeedsArguments,
    /// Number of drives to use at most [default: all]
    #[arg(long, value_name = "N", value_parser = super::values::number(1..=64))]
    pub(crate) max_drives: Option<u32>,
    /// Size of every real drive, such as `2TB` [default: `stands_for` of the study, else the machine's drive]
    #[arg(long, value_name = "SIZE", value_parser = super::values::size, conflicts_with = "drives")]
    pub(crate) drive_size: Option<terms::Bytes>,
    /// Number of layouts to show at most
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = super::values::number(1..=50))]
    pub(crate) most: u32,
    /// Also write a study with the advised stacks: `bedplate plan` shows how they are built, `run` measures them. An
    /// existing file is not overwritten
    #[arg(long, value_name = "FILE")]
    pub(crate) write_study: Option<PathBuf>,
    /// Show every layout with its predicted rates, and why layouts that differ in one choice lost
    #[arg(long, conflicts_with = "json")]
    pub(crate) explain: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl AdviseArguments {
    /// What to type to ask the same of a study: its path, requirements, the number of drives, and the machine.
    pub(crate) fn again(&self, study: &str) -> String {
        let drives = self.max_drives.map(|drives| format!(" --max-drives {drives}")).unwrap_or_default();
        let machine =
            self.machine.as_deref().map(|path| format!(" --machine {}", spell_path(path))).unwrap_or_default();
        format!("{study}{}{drives}{machine}", self.needs.words())
    }
}

/// What somebody needs.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Requirements")]
pub(crate) struct NeedsArguments {
    /// Data on a stolen drive must be unreadable
    #[arg(long)]
    pub(crate) encrypted: bool,
    /// Number of drives that may fail at once, whichever they are [default: 1 where there are two or more]
    #[arg(long, value_name = "N", value_parser = super::values::number(0..=8))]
    pub(crate) survive: Option<u32>,
    /// Wrong data that a drive returns without an error must be detected and repaired
    #[arg(long)]
    pub(crate) repair: bool,
    /// Snapshots must be possible
    #[arg(long)]
    pub(crate) snapshots: bool,
    /// Usable capacity at least, such as `4TB`
    #[arg(long, value_name = "SIZE", value_parser = super::values::size)]
    pub(crate) capacity: Option<terms::Bytes>,
    /// Predicted years between losses of any data at least [default: 100 where a layout achieves it]
    #[arg(long, value_name = "YEARS", value_parser = years)]
    pub(crate) once_in: Option<f64>,
    /// Predicted years until the first drive is worn out at least; needs --daily
    #[arg(long, value_name = "YEARS", value_parser = years, requires = "daily")]
    pub(crate) last: Option<f64>,
    /// Data written in a day, such as `50GB`
    #[arg(long, value_name = "SIZE", value_parser = super::values::size)]
    pub(crate) daily: Option<terms::Bytes>,
    /// Years between events that take all drives at once (power supply, fire, theft, a person); part of every risk [default:
    /// 1000, a guess]
    #[arg(long, value_name = "YEARS", value_parser = years)]
    pub(crate) common_cause: Option<f64>,
}

impl NeedsArguments {
    /// The options as they were typed, each after a blank.
    fn words(&self) -> String {
        let flag = |is_said: bool, option: &str| is_said.then(|| format!(" {option}"));
        let size = |size: Option<terms::Bytes>, option: &str| size.map(|size| format!(" {option} {}B", size.0));
        let number = |number: Option<f64>, option: &str| number.map(|number| format!(" {option} {number}"));
        [
            flag(self.encrypted, "--encrypted"),
            self.survive.map(|drives| format!(" --survive {drives}")),
            flag(self.repair, "--repair"),
            flag(self.snapshots, "--snapshots"),
            size(self.capacity, "--capacity"),
            number(self.once_in, "--once-in"),
            number(self.last, "--last"),
            size(self.daily, "--daily"),
            number(self.common_cause, "--common-cause"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

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
            common: CommonCause::of(self.common_cause.map(|years| 1.0 / years)),
        }
    }
}

/// Asks for what a first study takes, and writes it.
#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// The study to write; an existing file is not overwritten
    #[arg(default_value = "study.toml")]
    pub(crate) file: PathBuf,
    /// Number, size and kind of the drives (nvme, sata for SSDs, hdd), such as `4x4TB:hdd`; asked for on a terminal
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

pub(super) fn years(text: &str) -> Result<f64, String> {
    let years: f64 = text.trim().parse().map_err(|_| "write a number of years such as `1000`".to_owned())?;
    if years > 0.0 && years.is_finite() { Ok(years) } else { Err("more than 0 years".to_owned()) }
}
