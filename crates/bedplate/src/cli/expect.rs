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
    /// The machine: a description that ends in `.toml`, see docs/expect.md, or a captured machine [default: this one]
    #[arg(long, value_name = "FILE")]
    pub(crate) machine: Option<PathBuf>,
    /// How the arrays are
    #[arg(long, value_enum, value_name = "STATE", default_value_t)]
    pub(crate) state: ArrayState,
    /// Write caches of the drives are full
    #[arg(long)]
    pub(crate) sustained: bool,
    /// Also account for every byte: what each layer takes, keeps and hands up
    #[arg(long)]
    pub(crate) space: bool,
    /// Also predict the years: rebuilds, scrubs, life of the drives, risk of data loss in a year
    #[arg(long)]
    pub(crate) years: bool,
    /// Take every drive to be this large, such as `2TB` [default: the machine's drive, else the study's]
    #[arg(long, value_name = "SIZE", value_parser = super::values::size)]
    pub(crate) drive_size: Option<terms::Bytes>,
    /// What is written in a day, such as `50GB`: drives wear by it
    #[arg(long, value_name = "SIZE", value_parser = super::values::size, requires = "years")]
    pub(crate) daily: Option<terms::Bytes>,
    /// Print the account of every figure: each limit as the sum that it is, and where each value is from
    #[arg(long, conflicts_with = "json")]
    pub(crate) explain: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// How the arrays of a stack are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ArrayState {
    /// All members are there and in step
    #[default]
    Whole,
    /// One member of each is gone
    Degraded,
    /// One member of each is being written anew
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
