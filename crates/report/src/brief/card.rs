//! One target: a line for each workload.

use terms::finding::CellFinding;
use terms::units::Iops;

use super::blank;
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

/// The columns after the workload's name.
const COLUMNS: [Column; 6] = [
    ("RATE", |of, style| Some(quantity::rate(of.throughput?.value, style))),
    ("IOPS", |of, _| Some(Iops(of.iops?.value).to_string().trim_end_matches(" IOPS").to_owned())),
    ("95 %", |of, _| of.throughput.or(of.iops).filter(|of| of.low.is_some()).as_ref().map(spread)),
    ("MEDIAN", |of, _| of.latency.as_ref().map(|latency| latency.p50.to_string())),
    ("P99", |of, _| Some(of.latency.as_ref()?.p99?.to_string())),
    ("LIMIT", |of, _| of.limiter.as_ref().map(|limiter| limiter.kind.word().to_owned())),
];

/// The card of the only stack: as many columns as fit, the first ones first.
pub(super) fn draw(grid: &Grid, style: &Style, notes: &mut Notes) -> String {
    let states: Vec<State> = grid.workloads().iter().enumerate().map(|(at, _)| grid.state(0, at)).collect();
    let titles = (style.columns() / 3).max(16);
    let name = |title: &String| Cell::plain(wrap(&style.spell(title), titles).join("\n"));
    let mut strips = vec![Strip {
        heading: vec!["WORKLOAD".to_owned()],
        align: Align::Left,
        cells: grid.titles.iter().map(name).collect(),
    }];
    let measured =
        || states.iter().filter_map(|state| if let State::Measured(of, _) = state { Some(*of) } else { None });
    // A column that nothing is known for says nothing; the first holds the reasons, too.
    let said = |at: usize, text: Text| at == 0 || measured().any(|of| text(of, style).is_some());
    for (at, (heading, text)) in COLUMNS.into_iter().enumerate().filter(|(at, column)| said(*at, column.1)) {
        let cell = |state: &State| match (state, at) {
            (State::Measured(finding, _), _) => {
                Cell::plain(style.spell(&text(finding, style).unwrap_or_else(|| MISSING.to_owned())))
            }
            (other, 0) => blank(other, notes),
            _ => Cell::plain(""),
        };
        let cells = states.iter().map(cell).collect();
        strips.push(Strip { heading: vec![heading.to_owned()], align: Align::Right, cells });
    }
    while strips.len() > 2 && !super::fits(&strips, style) {
        strips.pop();
    }
    sheet::render(&strips.iter().collect::<Vec<_>>(), style)
}
