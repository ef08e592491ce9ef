//! Feature checks by themselves: as text for a terminal, and as JSON.

use std::fmt::Write as _;

use serde::Serialize;
use terms::StackFeatureChecks;

use crate::evidence::feature_checks;
use crate::style::{Style, Tone};
use crate::terminal::listed;
use crate::width::{paragraph, wrap};

/// Columns that details are set in by.
const INDENT: &str = "  ";

/// Feature checks as text: the table of features, what was seen in each feature check, and with `steps` every command
/// that was run.
#[must_use]
pub fn feature_checks_text(all: &[StackFeatureChecks], steps: bool, style: &Style) -> String {
    let mut out = feature_checks::listing(all).map(|listing| listed(&listing, style)).unwrap_or_default();
    for of in all {
        out.push('\n');
        for line in wrap(&style.spell(&of.name), style.columns()) {
            out.push_str(&style.paint(Tone::Strong, &line));
            out.push('\n');
        }
        for feature_check in &of.feature_checks {
            let lead = format!("{INDENT}{}: ", feature_check.feature);
            let words = style.spell(&feature_checks::words(feature_check));
            out.push_str(&paragraph(&lead, &format!("{words}. {}", style.spell(&feature_check.says)), style.columns()));
            if steps {
                feature_check.steps.iter().for_each(|step| out.push_str(&step_text(step, style)));
            }
        }
    }
    out.trim_start_matches('\n').to_owned()
}

/// One step: why, the command as it can be pasted, its status, and what was made of it.
fn step_text(step: &terms::FeatureCheckStep, style: &Style) -> String {
    let mut out = paragraph("    # ", &style.spell(&step.why), style.columns());
    let _ = writeln!(out, "    $ {}", step.line);
    if let Some(status) = step.status.filter(|status| *status != 0) {
        let _ = writeln!(out, "      status {status}");
    }
    for line in step.said.lines() {
        let _ = writeln!(out, "      {}", style.spell(line));
    }
    if let Some(seen) = &step.seen {
        out.push_str(&paragraph(&style.spell("    → "), &style.spell(seen), style.columns()));
    }
    out
}

/// Feature checks as one JSON document.
#[must_use]
pub fn feature_checks_json(all: &[StackFeatureChecks]) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: &'static str,
        version: u32,
        stacks: &'a [StackFeatureChecks],
    }
    let document =
        Document { schema: "bedplate.trials", version: terms::feature_check::FEATURE_CHECKS_SCHEMA, stacks: all };
    let mut text = serde_json::to_string_pretty(&document).expect("names and texts become JSON without fail");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use terms::{Feature, FeatureCheck, FeatureCheckStep, Nanos, Showing};

    fn feature_checks() -> Vec<StackFeatureChecks> {
        let step = FeatureCheckStep {
            why: "To see.".to_owned(),
            line: "cmp a b".to_owned(),
            argv: Vec::new(),
            status: Some(1),
            said: "a b differ".to_owned(),
            seen: Some("other bytes".to_owned()),
        };
        let feature_check = |feature, expected, came| FeatureCheck {
            feature,
            expected,
            came,
            says: format!("What was seen of {feature}."),
            steps: vec![step.clone()],
        };
        vec![StackFeatureChecks {
            schema: 1,
            stack: "s".to_owned(),
            name: "a stack".to_owned(),
            at: String::new(),
            build: String::new(),
            took: Nanos(0),
            missing: None,
            feature_checks: vec![
                feature_check(Feature::Redundancy, Showing::Survived, Some(Showing::Lost)),
                feature_check(Feature::Corruption, Showing::Detected, Some(Showing::Detected)),
                feature_check(Feature::Snapshot, Showing::Kept, None),
            ],
        }]
    }

    #[test]
    fn what_came_otherwise_is_shown_with_what_was_expected() {
        let text = feature_checks_text(&feature_checks(), false, &Style::default());
        assert!(text.contains("✗ lost !") && text.contains("~ detected") && text.contains("? nothing shown"), "{text}");
        assert!(text.contains("expected “survived”, found “lost”") && !text.contains("cmp a b"), "{text}");
        assert!(!text.contains("ENCRYPTION"), "what was not asked for has no column:\n{text}");
        assert!(text.lines().all(|line| crate::width::width(line) <= 80), "{text}");
    }

    #[test]
    fn steps_are_shown_where_they_are_asked_for_and_in_ascii() {
        let style = Style { ascii: true, ..Style::default() };
        let text = feature_checks_text(&feature_checks(), true, &style);
        assert!(text.contains("$ cmp a b\n      status 1\n      a b differ\n    -> other bytes"), "{text}");
        assert!(text.is_ascii(), "{text}");
    }
}
