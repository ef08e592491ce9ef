//! The table of features on the page: each word leads to what was done for it.

use askama::Template;
use terms::{Feature, Grade, Showing, StackTrials, Trial};

use super::bulk::Bulk;
use super::filters;
use super::section::{Drawn, Source};
use crate::evidence::trials;

/// How the table is to be read.
const HINT: &str = "Every feature was exercised on a build of this very stack in the lab; nothing is taken from \
                    documentation. Each word leads to what was done and seen.";

#[derive(Template)]
#[template(path = "report/trials.html")]
struct Body<'a> {
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

/// The section; `None` where nothing was tried.
pub(super) fn section(of: &Source) -> Option<Drawn> {
    let all = &of.findings().trials;
    let features = trials::features(all);
    let body = Body {
        columns: features.iter().map(|feature| feature.title()).collect(),
        rows: all.iter().map(|stack| row(stack, &features, of.has(Bulk::Steps))).collect(),
        legend: trials::legend(all),
        otherwise: trials::otherwise(all),
    };
    let drawn = || Drawn::new("trials", "Feature checks", "Feature checks", &body).hint(HINT);
    (!features.is_empty()).then(drawn)
}

/// A stack. `all_steps` says whether the commands of checks that came out as expected are told.
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
