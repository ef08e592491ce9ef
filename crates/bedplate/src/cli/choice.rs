//! Options that several verbs have: which study, which of its stacks, and where.

use std::path::PathBuf;

use clap::Args;

/// Which study, and which of its stacks.
#[derive(Debug, Clone, Args)]
pub(crate) struct Selection {
    /// The study: a file, or the name of one that comes with the program (`bedplate studies`)
    pub(crate) study: PathBuf,
    /// Only these stacks: name, number in the study, or pattern with `*`; repeat or separate by commas
    #[arg(long, value_name = "STACK", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// All but these stacks
    #[arg(long, value_name = "STACK", value_delimiter = ',')]
    pub(crate) skip: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Where: `lab` is a guest that can harm nothing
    #[arg(long, default_value = "lab", value_name = "PLACE")]
    pub(crate) on: String,
}
