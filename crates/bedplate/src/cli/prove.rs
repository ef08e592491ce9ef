//! What can be typed after `prove`.

use clap::Args;

use super::choice::{Place, Selection};

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct ProveArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Only these features: encryption, redundancy, corruption, snapshot; repeat or separate by commas [default: the
    /// study's, or all]
    #[arg(long, value_name = "FEATURE", value_delimiter = ',', value_parser = feature)]
    pub(crate) feature: Vec<terms::Feature>,
    /// Show every command that was run, and what it showed
    #[arg(long, conflicts_with = "json")]
    pub(crate) steps: bool,
    /// Print everything as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const AFTER: &str = "\
Nothing is measured. Each stack gets a guest of its own, which is thrown away:
checks write to drives below the stack, and pull them.

Exit codes: 0 all came out as expected, 1 something did not or showed
nothing, 3 refused outside the lab, 4 a stack cannot be built here.";

fn feature(text: &str) -> Result<terms::Feature, String> {
    let all = terms::Feature::ALL.map(terms::Feature::word);
    terms::Feature::from_word(text).ok_or_else(|| format!("features are {}", all.join(", ")))
}
