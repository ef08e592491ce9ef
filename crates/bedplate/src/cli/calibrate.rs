//! What `bedplate calibrate` takes.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct CalibrateArguments {
    /// Which machine: `local`, `ssh://host`, or `lab` for guests of the lab
    #[arg(long, default_value = "local", value_name = "PLACE")]
    pub(crate) on: String,
    /// The study whose guest is meant, with `--on lab` [default: 2 processors, 3 GiB]
    #[arg(long, value_name = "STUDY")]
    pub(crate) study: Option<PathBuf>,
    /// Time for all of it; a step that would not fit is left out
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = super::values::number(1..=3600))]
    pub(crate) seconds: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
