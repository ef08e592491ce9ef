//! What `bedplate expect` takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct ExpectArguments {
    /// The study, or a plan: what `bedplate plan --json` prints, or a file in `plans/` of a run
    pub(crate) study: PathBuf,
    /// Only these stacks: name, number in the study, or pattern with `*`; repeat or separate by commas
    #[arg(long, value_name = "STACK", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// All but these stacks
    #[arg(long, value_name = "STACK", value_delimiter = ',')]
    pub(crate) skip: Vec<String>,
    /// Workloads of these profiles instead of the study's, or of `quick` for a plan; repeat or separate by commas
    #[arg(long, value_name = "PROFILE", value_delimiter = ',')]
    pub(crate) profile: Vec<String>,
    /// Workloads of a fio job file instead of the study's
    #[arg(long, value_name = "FILE", conflicts_with = "profile")]
    pub(crate) fio: Option<PathBuf>,
    /// Keep options of that file that defeat measurement
    #[arg(long, requires = "fio")]
    pub(crate) force: bool,
    /// What `${NAME}` stands for in that file; repeat
    #[arg(long, requires = "fio", value_name = "NAME=VALUE", value_parser = super::values::variable)]
    pub(crate) set: Vec<(String, String)>,
    /// The machine: a description that ends in `.toml`, see docs/expect.md, or a captured machine [default: this one]
    #[arg(long, value_name = "FILE")]
    pub(crate) machine: Option<PathBuf>,
    /// State of the arrays
    #[arg(long, value_enum, value_name = "STATE", default_value_t)]
    pub(crate) state: ArrayState,
    /// Predict for drives whose write caches are full
    #[arg(long)]
    pub(crate) sustained: bool,
    /// Also print the capacity: what each layer takes, to the byte
    #[arg(long)]
    pub(crate) space: bool,
    /// Also print rebuild and scrub times, the life of the drives (needs --daily) and the risk of data loss in a year
    #[arg(long)]
    pub(crate) years: bool,
    /// Size of every real drive, such as `2TB` [default: `stands_for` of the study, else the machine's drive, else, for --space, the size in the lab]
    #[arg(long, value_name = "SIZE", value_parser = super::values::size)]
    pub(crate) drive_size: Option<terms::Bytes>,
    /// Data written in a day, such as `50GB`, by which drives wear out
    #[arg(long, value_name = "SIZE", value_parser = super::values::size, requires = "years")]
    pub(crate) daily: Option<terms::Bytes>,
    /// Years between events that take all drives at once (power supply, fire, theft, a person); part of every risk [default:
    /// 1000, a guess]
    #[arg(long, value_name = "YEARS", value_parser = super::advise::years, requires = "years")]
    pub(crate) common_cause: Option<f64>,
    /// Print how every figure is computed, and the source of each value
    #[arg(long, conflicts_with = "json")]
    pub(crate) explain: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// How the arrays of a stack are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ArrayState {
    /// All members are there and in sync
    #[default]
    Whole,
    /// One member of each is gone
    Degraded,
    /// One member of each is being rebuilt
    Resync,
}

impl From<ArrayState> for terms::layer::ArrayState {
    fn from(state: ArrayState) -> Self {
        match state {
            ArrayState::Whole => Self::Whole,
            ArrayState::Degraded => Self::Degraded,
            ArrayState::Resync => Self::Resync,
        }
    }
}
