//! Ratios to the first stack: a chart for each workload, every stack a dot with its interval.

use askama::Template;
use terms::finding::Compared;

use super::FEW;
use super::charts::{NOT_RUN, blank};
use super::section::{Drawn, Fold, Source};
use crate::evidence::ranking;
use crate::figure::Spread;
use crate::grid::{Grid, State};
use crate::svg::ratios::{self, Dot};
use crate::{prose, quantity};

/// How the charts are to be read.
const HINT: &str = "with its joint 95 % interval, paired within rounds; logarithmic. Full dots differ significantly or are \
                    equivalent; hollow ones are undecided. < slower, > faster, ≈ equivalent, ? undecided.";

#[derive(Template)]
#[template(path = "report/ratios.html")]
struct Body {
    /// Workloads and their drawings.
    shown: Vec<(String, String)>,
    folded: Vec<(String, String)>,
}

/// The section; `None` where nothing has a ratio.
pub(super) fn section(of: &Source) -> Option<Drawn> {
    let mut shown = all(&of.grid);
    let first = &of.grid.stacks().first()?.name;
    (!shown.is_empty()).then(|| {
        let body = Body { folded: shown.split_off(FEW.min(shown.len())), shown };
        Drawn::new(prose::RATIOS, "Ratios", format!("Ratios to {first}"), &body)
            .rates(format!("Throughput of each stack over that of {first}, {HINT}{}", single(&of.grid)))
            .fold(Fold::Never)
    })
}

/// What `±?` means, where a ratio has no interval.
fn single(grid: &Grid) -> &'static str {
    let mut ratios = grid.findings.cells.iter().filter_map(|cell| cell.ratio_to_first);
    if ratios.any(|ratio| Spread::of(&ratio) == Spread::Unknown) { " ±?: one round has no interval." } else { "" }
}

/// A chart for each workload in which any stack has a ratio.
fn all(grid: &Grid) -> Vec<(String, String)> {
    let chart = |(workload, title): (usize, &String)| {
        let dots: Vec<Dot> = (1..grid.stacks().len()).map(|stack| dot(grid, stack, workload)).collect();
        let any = dots.iter().any(|dot| dot.blank.is_none());
        any.then(|| (title.clone(), ratios::draw(&dots, &format!("Ratios to the first stack, {title}"))))
    };
    grid.titles.iter().enumerate().filter_map(chart).collect()
}

/// The ratio of a stack; hatched where it has none.
fn dot(grid: &Grid, stack: usize, workload: usize) -> Dot {
    let name = grid.stacks()[stack].name.clone();
    let state = grid.state(stack, workload);
    let ratio = match &state {
        State::Measured(finding, _) => finding.ratio_to_first,
        _ => None,
    };
    let Some(ratio) = ratio else {
        let (blank, _) = blank(&state).unwrap_or((NOT_RUN, String::new()));
        return Dot { name, value: 1.0, interval: None, label: String::new(), open: true, blank: Some(blank) };
    };
    let answer = ranking::against_first(grid, stack, workload);
    let mark = answer.map(|(answer, _)| ranking::mark(answer, None)).unwrap_or_default();
    Dot {
        name,
        value: ratio.value,
        interval: ratio.low.zip(ratio.high),
        label: format!("{} {mark}", quantity::ratio(&ratio)),
        open: answer.is_none_or(|(answer, _)| answer == Compared::CannotTell),
        blank: None,
    }
}
