//! Stacks side by side, as the study asks for: bars of each workload, held against the first.

use askama::Template;
use terms::units::{Nanos, significant};

use super::charts::{NOT_RUN, blank, measured, no_latency};
use super::filters;
use super::section::{Drawn, Source};
use crate::evidence::chart::{self, SideBySide};
use crate::evidence::ranking;
use crate::figure::Measure;
use crate::grid::{Grid, State};
use crate::style::Style;
use crate::svg::bars::{self, Bar, Figure};

/// How the charts are to be read.
const HINT: &str = "What the study wants to see together. The first of each, in grey, is what the others are held \
                    against: × says how their throughput stands to its own, paired within rounds. > faster, < slower, \
                    ≈ equivalent, ? undecided, with the rounds that would be needed.";

#[derive(Template)]
#[template(path = "report/side_by_side.html")]
struct Body {
    charts: Vec<Chart>,
}

/// A chart of the study.
struct Chart {
    title: String,
    /// What the study says of it, and what is not there.
    remarks: Vec<String>,
    /// Workloads and their drawings.
    drawings: Vec<(String, String)>,
}

/// The section; `None` where the study asks for no chart.
pub(super) fn section(of: &Source) -> Option<Drawn> {
    let body = Body { charts: all(&of.grid) };
    let drawn = || Drawn::new("charts", "Side by side", "Side by side", &body).rates(HINT);
    (!body.charts.is_empty()).then(drawn)
}

/// All charts that the study asks for.
fn all(grid: &Grid) -> Vec<Chart> {
    let drawn = |of: &SideBySide| {
        let workloads: &[usize] = if of.is_shown() { &of.workloads } else { &[] };
        Chart {
            title: of.chart.title.clone(),
            remarks: of.remarks(),
            drawings: workloads.iter().flat_map(|workload| draw(grid, of, *workload)).collect(),
        }
    };
    chart::all(grid).iter().map(drawn).collect()
}

/// The drawings of a workload, each with its title.
fn draw(grid: &Grid, of: &SideBySide, workload: usize) -> Vec<(String, String)> {
    let latency = of.chart.latency.then(|| draw_latency(grid, of, workload));
    [draw_figures(grid, of, workload)].into_iter().chain(latency).collect()
}

/// The figures of a workload as bars, with their title.
fn draw_figures(grid: &Grid, of: &SideBySide, workload: usize) -> (String, String) {
    let style = Style::default();
    let measure = Measure::of(grid.workloads()[workload]);
    let unit = measure.unit(&style);
    let title = &grid.titles[workload];
    let bars: Vec<Bar> = of.stacks.iter().map(|stack| bar(grid, of, *stack, workload)).collect();
    let says = format!("{}: {unit} under {title}", of.chart.title);
    let drawing = bars::draw(&bars, &says, unit, |value| measure.tick(value, &style));
    (format!("{title}, {unit}"), drawing)
}

/// The bar of a stack, with its ratio to the first.
fn bar(grid: &Grid, of: &SideBySide, stack: usize, workload: usize) -> Bar {
    let first = of.stacks[0];
    let state = grid.state(stack, workload);
    let figure = match &state {
        State::Measured(finding, estimate) => {
            let figure = measured(grid, workload, finding, estimate, stack == first);
            let ratio = ranking::against(grid, stack, first, workload);
            let ratio = ratio.map(|(ratio, answer, more)| {
                format!(" · {}× {}", significant(ratio.value), ranking::mark(answer, more))
            });
            Ok(Figure { label: figure.label + &ratio.unwrap_or_default(), ..figure })
        }
        other => Err(blank(other).map_or(NOT_RUN, |(blank, _)| blank)),
    };
    Bar { name: grid.stacks()[stack].name.clone(), figure }
}

/// Mean latencies of a workload as bars, with their title. Write-ups show them beside throughput; percentiles, which say
/// more, are shown with each workload.
fn draw_latency(grid: &Grid, of: &SideBySide, workload: usize) -> (String, String) {
    let title = &grid.titles[workload];
    let bars: Vec<Bar> = of.stacks.iter().map(|stack| latency_bar(grid, of, *stack, workload)).collect();
    let drawing = bars::draw(&bars, &format!("{}: mean latency under {title}", of.chart.title), "ms", significant);
    (format!("{title}, mean latency in ms: less is better"), drawing)
}

/// The mean latency of a stack, with its ratio to that of the first.
fn latency_bar(grid: &Grid, of: &SideBySide, stack: usize, workload: usize) -> Bar {
    let first = of.stacks[0];
    let millis = |time: Nanos| time.as_seconds() * 1e3;
    let figure = chart::mean_latency(grid, stack, workload).map(|mean| {
        let to_first = chart::mean_latency(grid, first, workload).filter(|_| stack != first);
        let ratio = to_first.map(|first| format!(" · {}×", significant(millis(mean) / millis(first))));
        let class = if stack == first { "bar first" } else { "bar" };
        let label = mean.to_string() + &ratio.unwrap_or_default();
        Figure { parts: vec![(millis(mean), class)], interval: None, label, best: false }
    });
    let figure = figure.ok_or_else(|| no_latency(&grid.state(stack, workload)));
    Bar { name: grid.stacks()[stack].name.clone(), figure }
}
