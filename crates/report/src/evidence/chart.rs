//! Stacks side by side, as the study asks for: which of them this run has.

use terms::{Chart, Nanos};

use crate::columns::kept;
use crate::grid::{Grid, State};

/// A chart of the study with what this run has of it.
#[derive(Debug)]
pub(crate) struct SideBySide<'a> {
    /// What the study asks for.
    pub(crate) chart: &'a Chart,
    /// Its stacks, by their places in the grid; the others are held against the first.
    pub(crate) stacks: Vec<usize>,
    /// Its workloads, by their places in the grid.
    pub(crate) workloads: Vec<usize>,
    /// Slugs of its stacks that this run leaves out.
    absent: Vec<&'a str>,
}

impl<'a> SideBySide<'a> {
    /// What the grid has of a chart.
    fn new(grid: &Grid<'a>, chart: &'a Chart) -> Self {
        let place = |slug: &String| grid.stacks().iter().position(|entry| &entry.slug == slug);
        let (stacks, absent): (Vec<_>, Vec<_>) = chart.stacks.iter().partition(|slug| place(slug).is_some());
        let shown = |at: &usize| {
            let workload = grid.workloads()[*at];
            workload.path_lost.is_none() && (chart.workloads.is_empty() || chart.workloads.contains(&workload.name))
        };
        Self {
            chart,
            stacks: stacks.into_iter().filter_map(place).collect(),
            workloads: (0..grid.workloads().len()).filter(shown).collect(),
            absent: absent.into_iter().map(String::as_str).collect(),
        }
    }

    /// Is there anything to compare?
    pub(crate) fn is_shown(&self) -> bool {
        self.stacks.len() > 1 && !self.workloads.is_empty()
    }

    /// What the study says of it, and what is not there.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let absent = (!self.absent.is_empty()).then(|| format!("Not in this run: {}.", self.absent.join(", ")));
        let nothing = (!self.is_shown()).then(|| "This run has too little of it to compare.".to_owned());
        self.chart.note.iter().cloned().chain(absent).chain(nothing).collect()
    }
}

/// All charts of the study.
pub(crate) fn all<'a>(grid: &Grid<'a>) -> Vec<SideBySide<'a>> {
    grid.findings.provenance.charts.iter().map(|chart| SideBySide::new(grid, chart)).collect()
}

/// The mean latency of a cell that has a figure; `None` where none was kept.
pub(crate) fn mean_latency(grid: &Grid, stack: usize, workload: usize) -> Option<Nanos> {
    match grid.state(stack, workload) {
        State::Measured(finding, _) => kept(finding.latency.as_ref()?.mean),
        _ => None,
    }
}
