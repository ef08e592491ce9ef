//! A run for others: as a table for forums and issues, and as a picture. Neither has serial numbers, names of machines or
//! paths in it.

mod card;
mod markdown;

use terms::finding::{Compared, Findings};

use crate::evidence::ranking;
use crate::figure::{DAGGER, DAGGER_MEANS};
use crate::grid::{Grid, State};
use crate::style::Style;
use crate::{confidence, figure, prose, quantity};

pub use card::card;
pub use markdown::markdown;

/// What both tell.
struct Shared {
    question: String,
    label: Option<String>,
    workloads: Vec<String>,
    rows: Vec<Row>,
    answer: Vec<String>,
    trust: Option<String>,
    machine: String,
    run: String,
}

/// A stack.
struct Row {
    name: String,
    cells: Vec<Cell>,
}

/// A figure, or a word in its place.
struct Cell {
    /// The rate of the first stack and of an only one, else per cent of the first with what comparing them says.
    text: String,
    /// Beside the first.
    ratio: Option<Ratio>,
}

/// The ratio to the first, its interval, and whether nothing is certain of it.
#[derive(Clone, Copy)]
struct Ratio {
    value: f64,
    interval: Option<(f64, f64)>,
    open: bool,
}

impl Shared {
    /// What the mark of flagged figures means, where one is shown.
    fn flags(&self) -> Option<String> {
        let is_flagged = self.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.text.contains(DAGGER));
        is_flagged.then(|| format!("{DAGGER} {DAGGER_MEANS}."))
    }

    fn of(findings: &Findings) -> Self {
        let grid = Grid::without_points(findings);
        let row = |(stack, entry): (usize, &terms::record::StackEntry)| Row {
            name: entry.name.clone(),
            cells: (0..grid.workloads().len()).map(|workload| cell(&grid, stack, workload)).collect(),
        };
        Self {
            question: findings.provenance.question.clone(),
            label: prose::label(findings),
            workloads: grid.titles.clone(),
            rows: grid.stacks().iter().enumerate().map(row).collect(),
            answer: prose::short(&grid, true),
            trust: confidence::of(&grid).map(|of| of.words()),
            machine: machine(findings),
            run: format!("{} · bedplate {}", findings.provenance.run, findings.provenance.version),
        }
    }
}

/// Processor, drives by model, kernel and fio, as far as they are known.
fn machine(findings: &Findings) -> String {
    let inventory = &findings.inventory;
    let mut models: Vec<&str> = inventory.drives.iter().filter_map(|drive| drive.model.as_deref()).collect();
    models.sort_unstable();
    models.dedup();
    let fio = inventory.programs.iter().find(|program| program.name == "fio").and_then(|of| of.version.as_deref());
    let cpu = inventory.cpu_model.clone();
    let kernel = if inventory.kernel.is_empty() { String::new() } else { format!("kernel {}", inventory.kernel) };
    let parts = [cpu, models.join(", "), kernel, fio.unwrap_or_default().to_owned()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn cell(grid: &Grid, stack: usize, workload: usize) -> Cell {
    let state = grid.state(stack, workload);
    let State::Measured(finding, estimate) = &state else {
        return Cell { text: state.word().unwrap_or_default().to_owned(), ratio: None };
    };
    let dagger = if grid.is_flagged(stack, workload) { format!(" {DAGGER}") } else { String::new() };
    let Some(ratio) = finding.ratio_to_first.filter(|_| stack > 0) else {
        let (measure, style) = (figure::Measure::of(grid.workloads()[workload]), Style::default());
        let text = format!("{} {}{dagger}", measure.number(estimate.value, &style), measure.unit(&style));
        return Cell { text, ratio: None };
    };
    let answer = ranking::against_first(grid, stack, workload).map(|(answer, _)| answer);
    let word = match answer {
        Some(Compared::Slower | Compared::Faster) | None => "",
        Some(Compared::Equivalent) => " =",
        Some(Compared::CannotTell) => " ?",
    };
    let open = answer.is_none_or(|answer| answer == Compared::CannotTell);
    let text = format!("{} %{word}{dagger}", quantity::percent(ratio.value));
    Cell { text, ratio: Some(Ratio { value: ratio.value, interval: ratio.low.zip(ratio.high), open }) }
}
