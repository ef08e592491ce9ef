//! What was tried on stacks: every stack with every feature, what came, and where that is not what its layers promise.

use std::collections::BTreeSet;

use terms::trial::{Grade, Showing};
use terms::{Feature, StackTrials, Trial};

use crate::listing::{Group, Listing, MISSING};
use crate::width::Align;

/// Stands for a trial that showed nothing.
pub(crate) const NOTHING: &str = "? nothing shown";
/// Stands behind what is not as promised.
pub(crate) const OTHERWISE: &str = "!";

/// The table of features; `None` where nothing was tried.
pub(crate) fn listing(trials: &[StackTrials]) -> Option<Listing> {
    let features = features(trials);
    let mut columns = vec![("Stack", Align::Left)];
    columns.extend(features.iter().map(|feature| (feature.title(), Align::Left)));
    let row = |of: &StackTrials| {
        let cell = |feature: &Feature| find(of, *feature).map_or_else(|| MISSING.to_owned(), words);
        std::iter::once(of.name.clone()).chain(features.iter().map(cell)).collect()
    };
    Listing {
        id: "trials",
        title: "Feature checks".to_owned(),
        hint:
            "Every feature was exercised on a build of this very stack in the lab; nothing is taken from documentation."
                .to_owned(),
        columns,
        groups: vec![Group { title: String::new(), rows: trials.iter().map(row).collect() }],
        remarks: legend(trials).into_iter().chain(otherwise(trials)).collect(),
        ..Listing::default()
    }
    .where_missing("it was not asked for")
    .if_any()
}

/// Features that were asked for, in the order of tables.
pub(crate) fn features(trials: &[StackTrials]) -> Vec<Feature> {
    let asked = |feature: &Feature| trials.iter().any(|of| find(of, *feature).is_some());
    Feature::ALL.into_iter().filter(asked).collect()
}

/// The trial of a feature.
pub(crate) fn find(of: &StackTrials, feature: Feature) -> Option<&Trial> {
    of.trials.iter().find(|trial| trial.feature == feature)
}

/// Mark and word of a trial: `✓ repaired`, and a sign where it was promised otherwise.
pub(crate) fn words(trial: &Trial) -> String {
    let Some(came) = trial.came else { return NOTHING.to_owned() };
    let otherwise = if trial.is_as_promised() { String::new() } else { format!(" {OTHERWISE}") };
    format!("{} {}{otherwise}", came.grade().mark(), came.word())
}

/// What the words in the table mean.
pub(crate) fn legend(trials: &[StackTrials]) -> Vec<String> {
    let all = || trials.iter().flat_map(|of| &of.trials);
    let came: BTreeSet<Showing> = all().filter_map(|trial| trial.came).collect();
    let grades = [(Grade::Yes, "has it"), (Grade::Half, "has a part of it"), (Grade::No, "has it not")];
    let marks = grades.iter().filter(|(grade, _)| came.iter().any(|came| came.grade() == *grade));
    let marks: Vec<String> = marks.map(|(grade, means)| format!("{} {means}", grade.mark())).collect();
    let mut lines: Vec<String> = if marks.is_empty() { Vec::new() } else { vec![marks.join("; ") + "."] };
    lines.extend(came.into_iter().map(|came| format!("{}: {}.", came.word(), came.means())));
    lines
}

/// Every trial that did not come as promised.
pub(crate) fn otherwise(trials: &[StackTrials]) -> Vec<String> {
    let mut lines = Vec::new();
    for of in trials {
        for trial in of.trials.iter().filter(|trial| !trial.is_as_promised()) {
            let came = trial.came.map_or("nothing was shown", Showing::word);
            lines.push(format!(
                "{OTHERWISE} {}, {}: expected “{}”, found “{came}”. {}",
                of.name,
                trial.feature,
                trial.promised.word(),
                trial.says
            ));
        }
    }
    if lines.is_empty() && trials.iter().any(|of| !of.trials.is_empty()) {
        lines.push("All came out as expected.".to_owned());
    }
    lines
}
