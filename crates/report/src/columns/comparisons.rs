//! Columns of comparisons: one row for every pair of stacks on a workload.

use terms::finding::{Comparison, Findings};

use crate::evidence::stack_name;
use crate::table::{Column, ColumnKind, Value};

/// Two stacks on one workload, with their names.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonRow<'a> {
    /// The name of the stack.
    pub stack: &'a str,
    /// The name of the stack that it is held against.
    pub other: &'a str,
    /// What was found.
    pub comparison: &'a Comparison,
}

/// A row for every pair, in the order of the findings.
#[must_use]
pub fn comparison_rows(findings: &Findings) -> Vec<ComparisonRow<'_>> {
    findings
        .comparisons
        .iter()
        .map(|comparison| ComparisonRow {
            stack: stack_name(findings, &comparison.stack),
            other: stack_name(findings, &comparison.other),
            comparison,
        })
        .collect()
}

/// Why an end of an interval is missing.
const ONE: &str = "1 round: no interval";

/// Shorthand for a column.
const fn column<'a>(
    [name, key, title, help]: [&'static str; 4],
    kind: ColumnKind,
    value: fn(&ComparisonRow<'a>) -> Value,
) -> Column<ComparisonRow<'a>> {
    Column { name, key, title, help, kind, value }
}

/// The columns, in the order of CSV and JSON.
#[must_use]
pub fn comparisons<'a>() -> Vec<Column<ComparisonRow<'a>>> {
    let mut columns = pair();
    columns.extend(answer());
    columns
}

/// Which pair.
fn pair<'a>() -> Vec<Column<ComparisonRow<'a>>> {
    vec![
        column(["WORKLOAD", "workload", "Workload", "name of the workload"], ColumnKind::Text, |r| {
            Value::Text(r.comparison.workload.clone())
        }),
        column(["STACK", "stack", "Stack", "name of the stack"], ColumnKind::Text, |r| Value::Text(r.stack.to_owned())),
        column(["SLUG", "stack_slug", "Slug", "its name in files and device nodes"], ColumnKind::Text, |r| {
            Value::Text(r.comparison.stack.clone())
        }),
        column(["OTHER", "other", "Other", "the stack that it is held against"], ColumnKind::Text, |r| {
            Value::Text(r.other.to_owned())
        }),
        column(
            ["OTHER-SLUG", "other_slug", "Other slug", "its name in files and device nodes"],
            ColumnKind::Text,
            |r| Value::Text(r.comparison.other.clone()),
        ),
    ]
}

/// What was found.
fn answer<'a>() -> Vec<Column<ComparisonRow<'a>>> {
    vec![
        column(
            ["RATIO", "ratio", "Ratio", "throughput of the stack over that of the other, paired within rounds"],
            ColumnKind::Ratio,
            |r| Value::Ratio(r.comparison.ratio.value),
        ),
        column(
            ["LOW", "ratio_low", "Low", "lower end of its interval, widened where it decides"],
            ColumnKind::Ratio,
            |r| Value::or_missing(r.comparison.ratio.low.map(Value::Ratio), ONE),
        ),
        column(["HIGH", "ratio_high", "High", "upper end of its interval"], ColumnKind::Ratio, |r| {
            Value::or_missing(r.comparison.ratio.high.map(Value::Ratio), ONE)
        }),
        column(["ROUNDS", "rounds", "Rounds", "rounds that both stacks share"], ColumnKind::Count, |r| {
            Value::Count(u64::from(r.comparison.ratio.rounds))
        }),
        column(
            ["ANSWER", "answer", "Answer", "faster, slower, equivalent or undecided, corrected (Holm)"],
            ColumnKind::Text,
            |r| Value::Text(r.comparison.verdict.words().to_owned()),
        ),
        column(["MORE", "more_rounds", "More rounds", "rounds still needed, about"], ColumnKind::Count, |r| {
            let more = r.comparison.more_rounds.map(|more| Value::Count(u64::from(more)));
            Value::or_missing(more, "it is decided, or nobody knows")
        }),
        column(
            ["P", "p_value", "p", "chance of such a difference between equals, corrected (Holm)"],
            ColumnKind::Ratio,
            |r| Value::or_missing(r.comparison.p_value.map(Value::Ratio), "too few rounds to compute it"),
        ),
    ]
}
