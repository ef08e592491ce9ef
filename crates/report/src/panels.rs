//! What a run says beyond its figures, section by section: whether it can be believed, who ranks where, what limits,
//! what layers cost, bursts, flushes, load curves, and what other tools would have shown.
//!
//! A panel is text and at most one table; the terminal and the page draw the same ones. A panel about what a record does
//! not have is not there, so records of old look as they did.

mod compat;
mod cost;
mod curve;
mod ranking;
mod session;

use terms::finding::Findings;
use terms::units::significant;

use crate::grid::Grid;
use crate::style::Style;

/// One section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Panel {
    /// Its anchor on the page.
    pub(crate) id: &'static str,
    /// Its title.
    pub(crate) title: String,
    /// Sentences above the table.
    pub(crate) text: Vec<String>,
    /// The table, if there is one.
    pub(crate) table: Option<Table>,
    /// Drawings on the page, each with its heading.
    pub(crate) drawings: Vec<(String, String)>,
}

impl Panel {
    fn new(id: &'static str, title: impl Into<String>) -> Self {
        Self { id, title: title.into(), text: Vec::new(), table: None, drawings: Vec::new() }
    }
}

/// A table of words and numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    /// Headings, and whether the column holds numbers.
    pub(crate) head: Vec<(&'static str, bool)>,
    /// Rows, as long as the headings.
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// Cells of a row, and whether each is a number.
    pub(crate) fn cells<'a>(&self, row: &'a [String]) -> Vec<(&'a String, bool)> {
        row.iter().zip(&self.head).map(|(cell, head)| (cell, head.1)).collect()
    }
}

/// Every panel of these findings, in the order of reading.
pub(crate) fn all(grid: &Grid, style: &Style) -> Vec<Panel> {
    let findings = grid.findings;
    let panels = [
        ranking::panel(grid),
        session::panel(findings),
        cost::limits(grid),
        cost::layers(grid),
        cost::bursts(grid, style),
        cost::flushes(grid),
        curve::panel(grid),
        compat::panel(grid),
    ];
    panels.into_iter().flatten().collect()
}

/// The name of a stack by its slug.
fn stack<'a>(findings: &'a Findings, slug: &'a str) -> &'a str {
    findings.provenance.stacks.iter().find(|entry| entry.slug == slug).map_or(slug, |entry| &entry.name)
}

/// The title of a workload by its name.
fn title<'a>(grid: &'a Grid, workload: &'a str) -> &'a str {
    let at = grid.workloads().iter().position(|of| of.name.as_str() == workload);
    at.map_or(workload, |at| &grid.titles[at])
}

/// A share as a percentage with its sign: `+3.1 %`.
fn signed(share: f64) -> String {
    let sign = if share < 0.0 { "-" } else { "+" };
    format!("{sign}{} %", significant(share.abs() * 100.0))
}

/// `1 window`, `3 windows`.
fn counted(count: u32, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
