//! The table of features on the page: each word leads to what was done for it.

use askama::Template;
use terms::{Feature, FeatureCheck, Grade, Showing, StackFeatureChecks};

use super::bulk::Bulk;
use super::filters;
use super::section::{Drawn, Source};
use crate::evidence::feature_checks;

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

/// A feature check.
struct Cell<'a> {
    feature_check: &'a FeatureCheck,
    /// What was done, where it is told.
    steps: &'a [terms::FeatureCheckStep],
    /// Its name in the page.
    id: String,
    words: String,
    class: &'static str,
}

/// The section; `None` where nothing was tried.
pub(super) fn section(of: &Source) -> Option<Drawn> {
    let all = &of.findings().feature_checks;
    let features = feature_checks::features(all);
    let body = Body {
        columns: features.iter().map(|feature| feature.title()).collect(),
        rows: all.iter().map(|stack| row(stack, &features, of.has(Bulk::Steps))).collect(),
        legend: feature_checks::legend(all),
        otherwise: feature_checks::otherwise(all),
    };
    let drawn = || Drawn::new("trials", "Feature checks", "Feature checks", &body).hint(HINT);
    (!features.is_empty()).then(drawn)
}

/// A stack. `all_steps` says whether the commands of checks that came out as expected are told.
fn row<'a>(of: &'a StackFeatureChecks, features: &[Feature], all_steps: bool) -> Row<'a> {
    let cells = features.iter().map(|feature| {
        feature_checks::find(of, *feature).map(|feature_check| cell(&of.stack, feature_check, all_steps))
    });
    Row { name: &of.name, slug: &of.stack, cells: cells.collect() }
}

fn cell<'a>(slug: &str, feature_check: &'a FeatureCheck, all_steps: bool) -> Cell<'a> {
    let is_told = all_steps || feature_check.came.map(Showing::grade) != Some(Grade::Yes);
    Cell {
        feature_check,
        steps: if is_told { &feature_check.steps } else { &[] },
        id: format!("trial-{slug}-{}", feature_check.feature),
        words: feature_checks::words(feature_check),
        class: match feature_check.came.map(Showing::grade) {
            Some(Grade::Yes) => "yes",
            Some(Grade::Half) => "half",
            Some(Grade::No) => "no",
            None => "nothing",
        },
    }
}
