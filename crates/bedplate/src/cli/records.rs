//! What the verbs take that read records.

use std::path::PathBuf;

use clap::Args;

use super::values::percent;

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The run: a directory, the beginning of a name, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Write the self-contained page here; `-`: standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "csv", "output", "verify"])]
    pub(crate) html: Option<PathBuf>,
    /// Write a picture to share here: question, answer, ratios; no serial numbers. A name that ends in `.png` makes a PNG, any other an SVG; `-`: standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["html", "json", "csv", "output", "verify"])]
    pub(crate) card: Option<PathBuf>,
    /// Print a Markdown table to share
    #[arg(long, conflicts_with_all = ["html", "json", "csv", "output", "verify"])]
    pub(crate) markdown: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print CSV
    #[arg(long)]
    pub(crate) csv: bool,
    /// Print these columns, one row for each cell
    #[arg(long, short, value_name = "COL,…", conflicts_with_all = ["json", "csv", "verify"])]
    pub(crate) output: Option<String>,
    /// List the columns that `-o` knows
    #[arg(long)]
    pub(crate) list_columns: bool,
    /// Print everything instead of a summary that fits a screen; with `--html`, leave nothing out of the page
    #[arg(long, conflicts_with_all = ["card", "markdown", "json", "csv", "output", "verify"])]
    pub(crate) details: bool,
    /// Print rates in units of 1000 instead of 1024
    #[arg(long)]
    pub(crate) si: bool,
    /// Check every file of the record against its seal
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    pub(crate) verify: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The baseline: a run's directory, the beginning of its name, or `latest`
    pub(crate) a: String,
    /// The run that is compared with it
    #[arg(default_value = "latest")]
    pub(crate) b: String,
    /// Exit with 1 if a cell is significantly slower in B by more than this, such as `5%`
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) fail_slower: Option<terms::PerMille>,
    /// Show the cells that are equal, too
    #[arg(long, conflicts_with_all = ["json", "html"])]
    pub(crate) details: bool,
    /// Write a self-contained page here
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) html: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunsArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Rebuild the catalogue from the runs
    #[arg(long)]
    pub(crate) rebuild: bool,
}
