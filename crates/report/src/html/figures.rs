//! The table of all figures.

use askama::Template;

use super::charts::unsettled;
use super::filters;
use super::section::{Drawn, Source};
use crate::columns::{CellRow, cells};
use crate::figure::{FACTOR, HALF, Measure, spread};
use crate::grid::Grid;
use crate::prose;
use crate::style::Style;
use crate::table::{Column, ColumnKind, Value};

/// Columns of the page's table, by name; the stack stands before them, the workload above. `LOW` stands for both ends
/// of the interval, and the ratio carries its own.
const SHOWN: [&str; 10] = ["THROUGHPUT", "LOW", "IOPS", "RATIO", "P50", "P99", "P999", "LAT-MAX", "CPU", "DRIVE-BYTES"];

#[derive(Template)]
#[template(path = "report/figures.html")]
struct Body {
    columns: Vec<Heading>,
    groups: Vec<Group>,
    reasons: Vec<String>,
}

/// A heading.
struct Heading {
    /// What stands above the column.
    title: &'static str,
    /// What a pointer that rests on it is told.
    help: &'static str,
}

/// The rows of a workload.
struct Group {
    /// The workload.
    title: String,
    /// One for each stack.
    rows: Vec<Row>,
}

/// A row.
struct Row {
    /// The stack.
    stack: String,
    /// Its figures, if it may be believed; else the word and the reason that stand in their place.
    figures: Result<Vec<Figure>, (&'static str, String)>,
    /// Guards that fired: name and witness.
    guards: Vec<(String, String)>,
}

/// A figure of a row.
struct Figure {
    /// The number, or a dash.
    text: String,
    /// Its unit.
    unit: String,
    /// Why there is none: the number of the reason below the table.
    mark: Option<usize>,
}

/// Reasons that stand below a table, each once.
#[derive(Default)]
struct Reasons(Vec<String>);

impl Reasons {
    /// The number of a reason, from 1; `None` where there is nothing to say.
    fn mark(&mut self, why: &str) -> Option<usize> {
        if why.is_empty() {
            return None;
        }
        let known = self.0.iter().position(|known| known == why);
        Some(
            1 + known.unwrap_or_else(|| {
                self.0.push(why.to_owned());
                self.0.len() - 1
            }),
        )
    }
}

/// The section.
pub(super) fn section(of: &Source) -> Drawn {
    let (groups, reasons) = groups(&of.grid);
    let body = Body { columns: headings(&cells()), groups, reasons };
    Drawn::new(prose::FIGURES, "All figures", "All figures", &body).rates(format!(
        "Throughput and operations are geometric means over rounds; the interval is in the unit of the throughput. The \
         ratio is to the first stack, paired within rounds, and its interval stands beside it. ±: {HALF}. {FACTOR}. \
         Processor time is that of the whole system for each operation. Drive bytes are those moved on the drives for \
         each byte of the application."
    ))
}

/// The columns that are shown.
fn shown<R>(columns: &[Column<R>]) -> impl Iterator<Item = &Column<R>> {
    SHOWN.iter().filter_map(|name| columns.iter().find(|column| column.name == *name))
}

/// The headings.
fn headings<R>(columns: &[Column<R>]) -> Vec<Heading> {
    let heading = |column: &Column<R>| match column.name {
        "LOW" => Heading { title: "95 % interval", help: "of throughput" },
        _ => Heading { title: column.title, help: column.help },
    };
    shown(columns).map(heading).collect()
}

/// The table, grouped by workload, and the reasons that its marks stand for.
fn groups(grid: &Grid) -> (Vec<Group>, Vec<String>) {
    let mut reasons = Reasons::default();
    let columns = cells();
    let emulator = grid.findings.emulator();
    let group = |(workload, title): (usize, &String)| Group {
        title: title.clone(),
        rows: (0..grid.stacks().len())
            .map(|stack| {
                let cell = crate::columns::cell_row(grid, stack, workload, emulator);
                let why = unsettled(&grid.state(stack, workload), cell.workload, cell.why.clone().into_owned());
                row(&columns, &cell, why, &mut reasons)
            })
            .collect(),
    };
    let groups = grid.titles.iter().enumerate().map(group).collect();
    (groups, reasons.0)
}

/// One row.
fn row<'a>(columns: &[Column<CellRow<'a>>], cell: &CellRow<'a>, why: String, reasons: &mut Reasons) -> Row {
    let figures = match cell.finding {
        Some(_) => Ok(shown(columns).map(|column| figure(column, cell, reasons)).collect()),
        None if cell.verdict == "not-run" => Err(("not run", String::new())),
        None if cell.verdict == "unsteady" => Err(("no steady state", why)),
        None => Err((cell.verdict, why)),
    };
    let guards = cell.any.map(|finding| &finding.guards[..]).unwrap_or_default();
    Row {
        stack: cell.stack.name.clone(),
        figures,
        guards: guards.iter().map(|guard| (guard.guard.to_string(), guard.witness.clone())).collect(),
    }
}

/// A figure with its unit apart, so that the numbers stand out.
fn figure<'a>(column: &Column<CellRow<'a>>, cell: &CellRow<'a>, reasons: &mut Reasons) -> Figure {
    let value = (column.value)(cell);
    let text = value.shown(&Style::default());
    let why = if let Value::Missing(why) = &value { why.clone().into_owned() } else { String::new() };
    let (mut text, mut unit) = match text.rsplit_once(' ') {
        Some((number, unit)) if column.kind != ColumnKind::Text => (number.to_owned(), unit.to_owned()),
        _ => (text, String::new()),
    };
    let interval = cell.finding.and_then(|finding| finding.throughput).and_then(|t| t.low.zip(t.high));
    match (column.name, interval) {
        ("LOW", Some((low, high))) => {
            let number = |end| Measure::Rate.number(end, &Style::default());
            (text, unit) = (format!("{} – {}", number(low), number(high)), String::new());
        }
        ("IOPS", _) => unit = String::new(),
        ("RATIO", _) if why.is_empty() => {
            unit = cell.finding.and_then(|finding| finding.ratio_to_first.as_ref()).map(spread).unwrap_or_default();
        }
        _ => {}
    }
    Figure { text, unit, mark: reasons.mark(&why) }
}
