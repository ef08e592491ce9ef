//! One target: a line for each workload; where it is read as well as written, both in one line.

use terms::finding::CellFinding;
use terms::units::Iops;

use super::{Extent, blank, left_out, marked};
use crate::figure::spread;
use crate::grid::{Grid, State};
use crate::listing::MISSING;
use crate::notes::Notes;
use crate::quantity;
use crate::sheet::{self, Cell, Strip};
use crate::style::Style;
use crate::width::{Align, wrap};

/// A column: its heading, and what it says of a figure, where there is something to say.
type Column = (&'static str, Text);
/// What it says.
type Text = fn(&CellFinding, &Style) -> Option<String>;

/// Heading of the percentile that wants 100 operations beyond it.
const P99: &str = "P99\nLATENCY";

/// The columns after the workload's name.
const COLUMNS: [Column; 7] = [
    ("RATE", |of, style| Some(quantity::rate(of.throughput?.value, style))),
    ("IOPS", |of, _| Some(Iops(of.iops?.value).to_string().trim_end_matches(" IOPS").to_owned())),
    ("95 %", |of, _| of.throughput.or(of.iops).filter(|of| of.low.is_some()).as_ref().map(spread)),
    ("MEDIAN\nLATENCY", |of, _| of.latency.as_ref().map(|latency| latency.p50.to_string())),
    // The latency of a write is without its flush.
    ("MEDIAN\nFLUSH", |of, _| of.sync.as_ref().map(|sync| sync.p50.to_string())),
    (P99, |of, _| Some(of.latency.as_ref()?.p99?.to_string())),
    ("LIMIT", |of, _| of.bottleneck.as_ref().map(|bottleneck| bottleneck.kind.word().to_owned())),
];

/// What stands side by side: the heading of its rates, and the workload of each row, where there is one.
type Side = (&'static str, Vec<Option<usize>>);

/// The card of the only stack: as many columns as fit, the first ones first.
pub(super) fn draw(grid: &Grid, extent: Extent, style: &Style, notes: &mut Notes) -> String {
    let (titles, sides) = sides(grid);
    let room = (style.columns() / 3).max(16);
    let name = |title: &String| Cell::plain(wrap(&style.spell(title), room).join("\n"));
    let names = Strip {
        heading: vec!["WORKLOAD".to_owned()],
        align: Align::Left,
        cells: titles.iter().take(extent.rows).map(name).collect(),
    };
    let mut known: Vec<Column> =
        COLUMNS.into_iter().enumerate().filter(|of| is_said(grid, *of, style)).map(|of| of.1).collect();
    let strips = loop {
        let columns =
            sides.iter().flat_map(|side| known.iter().enumerate().map(move |(at, column)| (side, at, *column)));
        let mut strips = vec![names.clone()];
        strips.extend(columns.map(|(side, at, column)| strip(grid, side, at, column, extent, style, notes)));
        if known.len() == 1 || super::fits(&strips, style) {
            break strips;
        }
        known.pop();
    };
    let few = known.iter().any(|(heading, _)| *heading == P99) && lacks_p99(grid);
    let few = if few { format!("{MISSING} under P99: fewer than 100 operations are slower\n") } else { String::new() };
    sheet::render(&strips.iter().collect::<Vec<_>>(), style)
        + &left_out(titles.len(), extent, "workload")
        + &style.spell(&few)
}

/// Has a figure too few operations for a 99th percentile?
fn lacks_p99(grid: &Grid) -> bool {
    let mut states = (0..grid.workloads().len()).map(|workload| grid.state(0, workload));
    let few = |of: &CellFinding| of.latency.as_ref().is_some_and(|latency| latency.p99.is_none());
    states.any(|state| matches!(state, State::Measured(of, _) if few(of)))
}

/// A column that nothing is known for says nothing; the first holds the reasons, too.
fn is_said(grid: &Grid, (at, (_, text)): (usize, Column), style: &Style) -> bool {
    let mut states = (0..grid.workloads().len()).map(|workload| grid.state(0, workload));
    at == 0 || states.any(|state| matches!(state, State::Measured(of, _) if text(of, style).is_some()))
}

/// The column of one side.
fn strip(
    grid: &Grid,
    (side, rows): &Side,
    at: usize,
    (heading, text): Column,
    extent: Extent,
    style: &Style,
    notes: &mut Notes,
) -> Strip {
    let cell = |row: &Option<usize>| match row.map(|workload| grid.state(0, workload)) {
        Some(State::Measured(finding, _)) => {
            Cell::plain(style.spell(&text(finding, style).unwrap_or_else(|| MISSING.to_owned())))
        }
        Some(other) if at == 0 => blank(&other, notes),
        Some(_) => Cell::plain(""),
        None => Cell::plain(style.spell(if at == 0 { MISSING } else { "" })),
    };
    let heading = if at == 0 { side } else { heading };
    let mut cells: Vec<Cell> = rows.iter().take(extent.rows).map(cell).collect();
    if at == 0 {
        cells = marked(cells, rows.iter().map(|row| row.is_some_and(|workload| grid.is_flagged(0, workload))), style);
    }
    Strip { heading: heading.lines().map(str::to_owned).collect(), align: Align::Right, cells }
}

/// Reads beside writes of the same kind, with the titles of the rows; one after the other where no two are of a kind.
fn sides(grid: &Grid) -> (Vec<String>, Vec<Side>) {
    let (mut titles, mut reads, mut writes): (Vec<String>, Vec<Option<usize>>, Vec<Option<usize>>) = Default::default();
    for (at, title) in grid.titles.iter().enumerate() {
        let (kind, is_read) = match (title.strip_suffix(" read"), title.strip_suffix(" write")) {
            (Some(kind), _) => (kind, true),
            (_, Some(kind)) => (kind, false),
            _ => return one_side(grid),
        };
        let row = titles.iter().position(|known| known == kind).unwrap_or_else(|| {
            titles.push(kind.to_owned());
            reads.push(None);
            writes.push(None);
            titles.len() - 1
        });
        (if is_read { &mut reads } else { &mut writes })[row] = Some(at);
    }
    if titles.len() == grid.titles.len() {
        return one_side(grid);
    }
    (titles, vec![("READ", reads), ("WRITE", writes)])
}

fn one_side(grid: &Grid) -> (Vec<String>, Vec<Side>) {
    (grid.titles.clone(), vec![(COLUMNS[0].0, (0..grid.titles.len()).map(Some).collect())])
}
