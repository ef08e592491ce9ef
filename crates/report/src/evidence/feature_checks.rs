//! What was tried on stacks: every stack with every feature, what came, and where that is not what is expected of its
//! layers.

use std::collections::BTreeSet;

use terms::feature_check::{Grade, Showing};
use terms::{Feature, FeatureCheck, StackFeatureChecks};

use crate::listing::{Group, Listing, MISSING};
use crate::width::Align;

/// Stands for a feature check that showed nothing.
pub(crate) const NOTHING: &str = "? nothing shown";
/// Stands behind what is not as expected.
pub(crate) const OTHERWISE: &str = "!";

/// The table of features; `None` where nothing was tried.
pub(crate) fn listing(feature_checks: &[StackFeatureChecks]) -> Option<Listing> {
    let features = features(feature_checks);
    let mut columns = vec![("Stack", Align::Left)];
    columns.extend(features.iter().map(|feature| (feature.title(), Align::Left)));
    let row = |of: &StackFeatureChecks| {
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
        groups: vec![Group { title: String::new(), rows: feature_checks.iter().map(row).collect() }],
        remarks: legend(feature_checks).into_iter().chain(otherwise(feature_checks)).collect(),
        ..Listing::default()
    }
    .where_missing("it was not asked for")
    .if_any()
}

/// Features that were asked for, in the order of tables.
pub(crate) fn features(feature_checks: &[StackFeatureChecks]) -> Vec<Feature> {
    let asked = |feature: &Feature| feature_checks.iter().any(|of| find(of, *feature).is_some());
    Feature::ALL.into_iter().filter(asked).collect()
}

/// The feature check of a feature.
pub(crate) fn find(of: &StackFeatureChecks, feature: Feature) -> Option<&FeatureCheck> {
    of.feature_checks.iter().find(|feature_check| feature_check.feature == feature)
}

/// Mark and word of a feature check: `✓ repaired`, and a sign where something else was expected.
pub(crate) fn words(feature_check: &FeatureCheck) -> String {
    let Some(came) = feature_check.came else { return NOTHING.to_owned() };
    let otherwise = if feature_check.is_as_expected() { String::new() } else { format!(" {OTHERWISE}") };
    format!("{} {}{otherwise}", came.grade().mark(), came.word())
}

/// What the words in the table mean.
pub(crate) fn legend(feature_checks: &[StackFeatureChecks]) -> Vec<String> {
    let all = || feature_checks.iter().flat_map(|of| &of.feature_checks);
    let came: BTreeSet<Showing> = all().filter_map(|feature_check| feature_check.came).collect();
    let grades = [(Grade::Yes, "has it"), (Grade::Half, "has a part of it"), (Grade::No, "has it not")];
    let marks = grades.iter().filter(|(grade, _)| came.iter().any(|came| came.grade() == *grade));
    let marks: Vec<String> = marks.map(|(grade, means)| format!("{} {means}", grade.mark())).collect();
    let mut lines: Vec<String> = if marks.is_empty() { Vec::new() } else { vec![marks.join("; ") + "."] };
    lines.extend(came.into_iter().map(|came| format!("{}: {}.", came.word(), came.means())));
    lines
}

/// Every feature check that did not come as expected.
pub(crate) fn otherwise(feature_checks: &[StackFeatureChecks]) -> Vec<String> {
    let mut lines = Vec::new();
    for of in feature_checks {
        for feature_check in of.feature_checks.iter().filter(|feature_check| !feature_check.is_as_expected()) {
            let came = feature_check.came.map_or("nothing was shown", Showing::word);
            lines.push(format!(
                "{OTHERWISE} {}, {}: expected “{}”, found “{came}”. {}",
                of.name,
                feature_check.feature,
                feature_check.expected.word(),
                feature_check.says
            ));
        }
    }
    if lines.is_empty() && feature_checks.iter().any(|of| !of.feature_checks.is_empty()) {
        lines.push("All came out as expected.".to_owned());
    }
    lines
}
