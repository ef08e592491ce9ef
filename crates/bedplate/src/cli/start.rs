//! What the verbs take that need no study file: `bench` and `demo`, which are `run` with choices made.

use std::path::PathBuf;

use clap::Args;

use super::RunArguments;

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// The directory or mount point. Bedplate writes files of its own in it and removes them at the end
    pub(crate) path: String,
    /// Where it is: `local` this machine, `ssh://host` another
    #[arg(long, default_value = "local", value_name = "PLACE")]
    pub(crate) on: String,
    /// One round of short windows: an answer in seconds
    #[arg(long, conflicts_with_all = ["rounds", "window"])]
    pub(crate) quick: bool,
    /// Number of rounds; an interval needs at least two [default: 5]
    #[arg(long, value_name = "N", value_parser = super::values::number(1..=1000))]
    pub(crate) rounds: Option<u32>,
    /// Add this many rounds to the newest run of this directory with the same options
    #[arg(long, value_name = "N", conflicts_with = "rounds", value_parser = super::values::number(1..=1000))]
    pub(crate) more: Option<u32>,
    /// Workloads of these profiles; repeat or separate by commas [default: kdiskmark]
    #[arg(long, value_name = "PROFILE", value_delimiter = ',')]
    pub(crate) profile: Vec<String>,
    /// Workloads of a fio job file instead
    #[arg(long, value_name = "FILE", conflicts_with = "profile")]
    pub(crate) fio: Option<PathBuf>,
    /// Time for which each workload is measured, such as `2s` [default: the profile's]
    #[arg(long, value_name = "TIME", value_parser = super::values::window)]
    pub(crate) window: Option<terms::Nanos>,
    /// Size of the files [default: 1 GiB]
    #[arg(long, value_name = "SIZE", value_parser = super::values::size)]
    pub(crate) span: Option<terms::Bytes>,
    /// Print everything instead of a summary that fits a screen
    #[arg(long, conflicts_with = "json")]
    pub(crate) details: bool,
    /// Print the findings as JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

impl BenchArguments {
    /// The same as `bedplate run` has it.
    pub(crate) fn as_run(&self) -> RunArguments {
        RunArguments {
            dir: Some(self.path.clone()),
            on: Some(self.on.clone()),
            quick: self.quick,
            rounds: self.rounds,
            more: self.more,
            profile: self.profile.clone(),
            fio: self.fio.clone(),
            window: self.window,
            span: self.span,
            details: self.details,
            json: self.json,
            ..RunArguments::default()
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Continue the newest demo
    #[arg(long)]
    pub(crate) resume: bool,
    /// Print everything instead of a summary that fits a screen
    #[arg(long, conflicts_with = "json")]
    pub(crate) details: bool,
    /// Print the findings as JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

impl DemoArguments {
    /// The quickstart, as it comes with the program.
    pub(crate) fn as_run(&self) -> RunArguments {
        RunArguments {
            study: Some(PathBuf::from("quickstart")),
            on: Some("lab".to_owned()),
            resume: self.resume.then(|| "latest".to_owned()),
            details: self.details,
            json: self.json,
            ..RunArguments::default()
        }
    }
}
