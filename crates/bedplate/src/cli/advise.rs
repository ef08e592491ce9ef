//! What `bedplate advise` takes.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct AdviseArguments {
    /// The study: its drives, and its workloads as what the stack has to do. Its own stacks are left out
    pub(crate) study: PathBuf,
    /// The machine: a description that ends in `.toml`, see docs/expect.md, or a captured machine [default: this one]
    #[arg(long, value_name = "FILE")]
    pub(crate) machine: Option<PathBuf>,
    /// Nothing may be readable on a drive that is stolen
    #[arg(long)]
    pub(crate) encrypted: bool,
    /// So many drives may fail at once, whichever they are
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=8))]
    pub(crate) survive: u32,
    /// Wrong data that a drive returns as right have to be noticed and put right
    #[arg(long)]
    pub(crate) repair: bool,
    /// The state of a moment can be kept
    #[arg(long)]
    pub(crate) snapshots: bool,
    /// So much can be written at least, such as `4TB`
    #[arg(long, value_name = "SIZE", value_parser = super::size)]
    pub(crate) capacity: Option<terms::Bytes>,
    /// Data may be lost at most once in so many years, as it is believed
    #[arg(long, value_name = "YEARS", value_parser = years)]
    pub(crate) once_in: Option<f64>,
    /// No drive may be worn within so many years; needs --daily
    #[arg(long, value_name = "YEARS", value_parser = years, requires = "daily")]
    pub(crate) last: Option<f64>,
    /// What is written in a day, such as `50GB`
    #[arg(long, value_name = "SIZE", value_parser = super::size)]
    pub(crate) daily: Option<terms::Bytes>,
    /// Drives at most [default: all of the study]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) drives: Option<u32>,
    /// Take every drive to be this large, such as `2TB` [default: the machine's drive, else the study's]
    #[arg(long, value_name = "SIZE", value_parser = super::size)]
    pub(crate) drive_size: Option<terms::Bytes>,
    /// Designs that are told at most
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(crate) most: u32,
    /// Also write a study with the advised stacks: `bedplate plan` shows how they are built, `run` measures them. A file
    /// that is there is not overwritten
    #[arg(long, value_name = "FILE")]
    pub(crate) write_study: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn years(text: &str) -> Result<f64, String> {
    let years: f64 = text.trim().parse().map_err(|_| "write a number of years such as `1000`".to_owned())?;
    if years > 0.0 && years.is_finite() { Ok(years) } else { Err("more than 0 years".to_owned()) }
}
