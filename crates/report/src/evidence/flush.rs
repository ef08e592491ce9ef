//! Latency of flushes, where a workload flushes.

use terms::record::{Latency, StackEntry};

use crate::grid::Grid;
use crate::listing::{Form, Group, Listing, MISSING};
use crate::quantity;
use crate::width::Align;

/// Median, 99th percentile and largest of every cell that has them; `None` where no workload flushes.
pub(crate) fn listing(grid: &Grid) -> Option<Listing> {
    let group = |(workload, title): (usize, &String)| {
        let row = |(stack, entry): (usize, &StackEntry)| match latency(grid, stack, workload) {
            Some(sync) => row(&entry.name, sync),
            None => {
                let word = grid.state(stack, workload).word().unwrap_or(MISSING).to_owned();
                vec![entry.name.clone(), word, MISSING.to_owned(), MISSING.to_owned()]
            }
        };
        let any = (0..grid.stacks().len()).any(|stack| latency(grid, stack, workload).is_some());
        let rows = if any { grid.stacks().iter().enumerate().map(row).collect() } else { Vec::new() };
        Group { title: title.clone(), rows }
    };
    Listing {
        id: "flushes",
        // The page draws them with each workload.
        only: Some(Form::Terminal),
        title: "Latency of flushes (fsync), all rounds together".to_owned(),
        columns: vec![("Stack", Align::Left), ("p50", Align::Right), ("p99", Align::Right), ("Max", Align::Right)],
        groups: grid.titles.iter().enumerate().map(group).collect(),
        ..Listing::default()
    }
    .where_missing("it has no figure, or fewer than 100 flushes lie beyond the percentile")
    .if_any()
}

/// The latency of the flushes of a cell.
pub(crate) fn latency<'a>(grid: &Grid<'a>, stack: usize, workload: usize) -> Option<&'a Latency> {
    grid.finding(stack, workload).and_then(|finding| finding.sync.as_ref())
}

/// One stack. A percentile beyond which fewer than 100 flushes lie was not kept.
fn row(name: &str, sync: &Latency) -> Vec<String> {
    let kept = |time: terms::units::Nanos| quantity::time((time.0 > 0).then_some(time));
    vec![name.to_owned(), kept(sync.p50), quantity::time(sync.p99), kept(sync.max)]
}
