//! The table of features on the page: each word leads to what was done for it.

use askama::Template;
use terms::{Feature, Grade, Showing, StackTrials, Trial};

use super::filters;
use crate::evidence::trials;

/// The section.
#[derive(Template)]
#[template(path = "trials.html")]
struct Section<'a> {
    columns: Vec<&'static str>,
    rows: Vec<Row<'a>>,
    legend: Vec<String>,
    otherwise: Vec<String>,
}

/// A stack.
struct Row<'a> {
    name: &'a str,
    slug: &'a str,
    /// One for each column; `None` where it was not asked for.
    cells: Vec<Option<Cell<'a>>>,
}

/// A trial.
struct Cell<'a> {
    trial: &'a Trial,
    /// What was done, where it is told.
    steps: &'a [terms::TrialStep],
    /// Its name in the page.
    id: String,
    words: String,
    class: &'static str,
}

/// The section of trials; `None` where nothing was tried. `all_steps` says whether the commands of those that came out as
/// expected are in it.
pub(super) fn section(all: &[StackTrials], all_steps: bool) -> Option<String> {
    let features = trials::features(all);
    if features.is_empty() {
        return None;
    }
    let section = Section {
        columns: features.iter().map(|feature| feature.title()).collect(),
        rows: all.iter().map(|of| row(of, &features, all_steps)).collect(),
        legend: trials::legend(all),
        otherwise: trials::otherwise(all),
    };
    Some(section.render().expect("the template calls nothing that fails, and writing to a string cannot fail"))
}

fn row<'a>(of: &'a StackTrials, features: &[Feature], all_steps: bool) -> Row<'a> {
    let cells =
        features.iter().map(|feature| trials::find(of, *feature).map(|trial| cell(&of.stack, trial, all_steps)));
    Row { name: &of.name, slug: &of.stack, cells: cells.collect() }
}

fn cell<'a>(slug: &str, trial: &'a Trial, all_steps: bool) -> Cell<'a> {
    let is_told = all_steps || trial.came.map(Showing::grade) != Some(Grade::Yes);
    Cell {
        trial,
        steps: if is_told { &trial.steps } else { &[] },
        id: format!("trial-{slug}-{}", trial.feature),
        words: trials::words(trial),
        class: match trial.came.map(Showing::grade) {
            Some(Grade::Yes) => "yes",
            Some(Grade::Half) => "half",
            Some(Grade::No) => "no",
            None => "nothing",
        },
    }
}
