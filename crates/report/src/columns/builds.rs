//! Columns of how the stacks were built.

use terms::finding::{BuildFinding, Findings};
use terms::record::StackEntry;

use crate::table::{Column, ColumnKind, Value};

/// How one stack was built.
#[derive(Debug, Clone, Copy)]
pub struct BuildRow<'a> {
    /// The stack.
    pub stack: &'a StackEntry,
    /// What is known of it.
    pub build: Option<&'a BuildFinding>,
}

/// A row for every stack of the study, in its order.
#[must_use]
pub fn build_rows(findings: &Findings) -> Vec<BuildRow<'_>> {
    let find = |slug: &str| findings.builds.iter().find(|build| build.stack == slug);
    findings.provenance.stacks.iter().map(|stack| BuildRow { stack, build: find(&stack.slug) }).collect()
}

impl BuildRow<'_> {
    /// Why it has no time, if it has none.
    pub(crate) fn why(&self) -> String {
        if let Some(missing) = &self.stack.missing {
            return format!("{}; to get it: {}", missing.what, missing.remedy);
        }
        self.build.and_then(|build| build.failure.clone()).unwrap_or_else(|| "it was not built".to_owned())
    }
}

/// The columns, in the order of their default table.
#[must_use]
pub fn builds<'a>() -> Vec<Column<BuildRow<'a>>> {
    vec![
        Column {
            name: "STACK",
            key: "stack",
            title: "Stack",
            help: "name of the stack",
            kind: ColumnKind::Text,
            value: |row| Value::Text(row.stack.name.clone()),
        },
        Column {
            name: "SLUG",
            key: "stack_slug",
            title: "Slug",
            help: "name of the stack in files and device nodes",
            kind: ColumnKind::Text,
            value: |row| Value::Text(row.stack.slug.clone()),
        },
        Column {
            name: "BUILD",
            key: "build_ns",
            title: "Build",
            help: "mean time to build it",
            kind: ColumnKind::Time,
            value: |row| Value::or_missing(row.build.and_then(|build| build.build).map(Value::Time), row.why()),
        },
        Column {
            name: "FILL",
            key: "fill_ns",
            title: "Fill",
            help: "mean time to fill the span with data",
            kind: ColumnKind::Time,
            value: |row| Value::or_missing(row.build.and_then(|build| build.fill).map(Value::Time), row.why()),
        },
        Column {
            name: "FAILURE",
            key: "failure",
            title: "Failure",
            help: "why it could not be built",
            kind: ColumnKind::Text,
            value: |row| {
                let failed = row.stack.missing.is_some() || row.build.is_none_or(|build| build.failure.is_some());
                Value::or_missing(failed.then(|| Value::Text(row.why())), "it was built")
            },
        },
    ]
}
