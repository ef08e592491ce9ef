//! Rankings with ties: stacks that cannot be told apart stand together.

use terms::finding::{Compared, Comparison, Finding};

use super::{Panel, Table, stack};
use crate::grid::Grid;

/// The panel; `None` where nothing was compared.
pub(super) fn panel(grid: &Grid) -> Option<Panel> {
    let comparisons = &grid.findings.comparisons;
    if comparisons.is_empty() || comparisons.iter().all(|of| of.p_value.is_none()) {
        return None;
    }
    let mut panel = Panel::new("ranking", "Ranking by throughput");
    panel.text.push(decided(comparisons));
    let rows = (0..grid.workloads().len()).flat_map(|workload| rows(grid, workload)).collect();
    let head = vec![("WORKLOAD", false), ("RANK", true), ("STACK", false), ("AGAINST THE FIRST STACK", false)];
    panel.table = Some(Table { head, rows });
    Some(panel)
}

/// How many comparisons are decided.
fn decided(comparisons: &[Comparison]) -> String {
    let count = |verdict| comparisons.iter().filter(|of| of.verdict == verdict).count();
    let (open, equal) = (count(Compared::CannotTell), count(Compared::Equivalent));
    let different = comparisons.len() - open - equal;
    format!(
        "Of {} comparisons, all pairs of stacks on all workloads, {different} tell a difference, {equal} an equivalence \
         and {open} nothing yet. Corrected for their number after Holm: the chance that any difference is none is below 5 %.",
        comparisons.len()
    )
}

/// The stacks of a workload by rank; the workload stands in the first row.
fn rows(grid: &Grid, workload: usize) -> Vec<Vec<String>> {
    let name = grid.workloads()[workload].name.as_str();
    let mut ranked: Vec<&Finding> =
        grid.findings.cells.iter().filter(|of| of.workload == name && of.rank.is_some()).collect();
    let value = |of: &Finding| of.throughput.map_or(0.0, |estimate| estimate.value);
    ranked.sort_by(|a, b| {
        let place = |of: &Finding| of.rank.map(|rank| (rank.best, rank.worst));
        place(a).cmp(&place(b)).then(value(b).total_cmp(&value(a)))
    });
    let row = |(at, of): (usize, &&Finding)| {
        vec![
            if at == 0 { grid.titles[workload].clone() } else { String::new() },
            rank(of),
            stack(grid.findings, &of.stack).to_owned(),
            against_first(grid, of),
        ]
    };
    ranked.iter().enumerate().map(row).collect()
}

/// `1`, `2–3`.
pub(crate) fn rank(finding: &Finding) -> String {
    match finding.rank {
        Some(rank) if rank.best == rank.worst => rank.best.to_string(),
        Some(rank) => format!("{}–{}", rank.best, rank.worst),
        None => String::new(),
    }
}

fn against_first(grid: &Grid, finding: &Finding) -> String {
    let Some(first) = grid.stacks().first().map(|entry| entry.slug.as_str()) else { return String::new() };
    let to_first = |of: &&Comparison| of.stack == finding.stack && of.other == first && of.workload == finding.workload;
    grid.findings.comparisons.iter().find(to_first).map(verdict).unwrap_or_default()
}

/// `slower`, `cannot tell yet, about 4 more rounds`.
pub(crate) fn verdict(comparison: &Comparison) -> String {
    let words = comparison.verdict.words();
    match (comparison.verdict, comparison.more_rounds) {
        (Compared::CannotTell, Some(1)) => format!("{words}, about 1 more round"),
        (Compared::CannotTell, Some(more)) => format!("{words}, about {more} more rounds"),
        (Compared::CannotTell, None) => format!("{words}, rounds alone would not tell"),
        _ => words.to_owned(),
    }
}
