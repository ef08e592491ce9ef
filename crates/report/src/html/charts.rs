//! The charts of the page: figures and latency of each workload, throughput over time, times of building.

use terms::finding::{CellFinding, Findings, WithInterval};
use terms::record::{Sample, StackEntry};
use terms::units::{BytesPerSecond, Nanos, significant};

use terms::workload::Workload;

use super::evidence;
use crate::columns::build_rows;
use crate::evidence::{foretold, ranking};
use crate::figure::{self, Measure, Spread, spread};
use crate::grid::{Grid, State};
use crate::style::Style;
use crate::svg::bars::{self, Bar, Figure};
use crate::svg::latency::{self, Row};
use crate::svg::layout::Blank;
use crate::svg::spark;

/// Marks a figure that a guard has labelled, or that is more than the drives can do.
const DAGGER: char = '†';

/// Hatched rows.
const FAILED: Blank = Blank { word: "failed", class: "value bad" };
const UNSTEADY: Blank = Blank { word: "no steady state", class: "value warn" };
const MISSING: Blank = Blank { word: "missing", class: "value warn" };
pub(super) const NOT_RUN: Blank = Blank { word: "not run", class: "value soft" };
const NOT_KEPT: Blank = Blank { word: "not kept", class: "value soft" };

/// One workload.
pub(super) struct Series {
    /// Its title.
    pub(super) title: String,
    /// What it is told in.
    pub(super) unit: &'static str,
    /// Figures of all stacks.
    pub(super) figures: String,
    /// Latency of all stacks.
    pub(super) latency: String,
    /// Latency of flushes of all stacks that flush.
    pub(super) flushes: Option<String>,
    /// Ranks and who has them.
    pub(super) ranks: Vec<(String, String)>,
    /// What is known of each stack besides its figure.
    pub(super) details: Option<String>,
    /// What it means that a stack is marked.
    pub(super) clear_means: &'static str,
    /// Is one stack clear of all others?
    pub(super) clear: bool,
    /// Is there a figure with a narrow interval, told in per cent?
    pub(super) narrow: bool,
    /// Is there a figure with a wide interval, told as a factor?
    pub(super) wide: bool,
    /// Is there a figure without an interval?
    pub(super) single: bool,
    /// Why some have no figure, and what guards say of others.
    pub(super) notes: Vec<Note>,
}

/// Why a stack has no figure, or what a guard says of it.
pub(super) struct Note {
    /// The stack.
    pub(super) stack: String,
    /// What stands in the figure's place.
    pub(super) word: &'static str,
    /// Why.
    pub(super) why: String,
}

/// What stands in place of a figure, and why.
pub(super) fn blank(state: &State) -> Option<(Blank, String)> {
    match state {
        State::Measured(..) => None,
        State::Unsteady(_, why) => Some((UNSTEADY, why.clone().into_owned())),
        State::Failed(why) => Some((FAILED, why.clone().into_owned())),
        State::Missing(why) => Some((MISSING, why.clone().into_owned())),
        State::NotRun => Some((NOT_RUN, String::new())),
    }
}

/// What stands in place of a latency that is not there.
pub(super) fn no_latency(state: &State) -> Blank {
    blank(state).map_or(NOT_KEPT, |(blank, _)| blank)
}

/// The reason with the range in front, where a cell never settled.
pub(super) fn unsettled(state: &State, workload: &Workload, why: String) -> String {
    let State::Unsteady(finding, _) = state else { return why };
    let style = Style::default();
    let range = figure::range(finding, workload, &style);
    range.map_or(why.clone(), |range| format!("{range} {}; {why}", Measure::of(workload).unit(&style)))
}

/// Chart, latency and notes of a workload.
pub(super) fn series(grid: &Grid, workload: usize) -> Series {
    let style = Style::default();
    let measure = Measure::of(grid.workloads()[workload]);
    let unit = measure.unit(&style);
    let states = grid.states(workload);
    let mut notes = Vec::new();
    let mut bars = Vec::new();
    let mut rows = Vec::new();
    for (stack, (entry, state)) in grid.stacks().iter().zip(&states).enumerate() {
        let figure = match state {
            State::Measured(finding, estimate) => {
                rows.push(Row { name: &entry.name, latency: finding.latency.as_ref().ok_or(NOT_KEPT) });
                notes.extend(finding.guards.iter().map(|guard| Note {
                    stack: format!("{DAGGER} {}", entry.name),
                    word: "guard",
                    why: format!("{}: {}", guard.guard, guard.witness),
                }));
                let doubts: Vec<&str> = foretold::doubts(grid.findings, finding).collect();
                notes.extend(doubts.iter().map(|why| Note {
                    stack: format!("{DAGGER} {}", entry.name),
                    word: "doubtful",
                    why: (*why).to_owned(),
                }));
                let figure = measured(grid, workload, finding, estimate, stack == 0);
                Ok(Figure { best: grid.is_clear_best(stack, workload), ..figure })
            }
            other => {
                let (blank, why) = blank(other).unwrap_or((NOT_RUN, String::new()));
                let why = unsettled(other, grid.workloads()[workload], why);
                notes.push(Note { stack: entry.name.clone(), word: blank.word, why });
                rows.push(Row { name: &entry.name, latency: Err(blank) });
                Err(blank)
            }
        };
        bars.push(Bar { name: entry.name.clone(), figure });
    }
    let title = &grid.titles[workload];
    let any = |is: fn(Spread) -> bool| {
        states.iter().any(|state| matches!(state, State::Measured(_, estimate) if is(Spread::of(estimate))))
    };
    let tick = |value: f64| measure.tick(value, &style);
    Series {
        unit,
        figures: bars::draw(&bars, &format!("{unit} of every stack, {title}"), unit, tick),
        latency: latency::draw(&rows, &format!("Completion latency of every stack, {title}")),
        flushes: evidence::flushes(grid, workload, title),
        ranks: evidence::ranks(grid, workload),
        details: ranking::details(grid, workload).as_ref().map(evidence::table),
        clear_means: if grid.is_ranked() {
            "highest, and faster than every other."
        } else {
            "highest, its interval clear of all others."
        },
        clear: bars.iter().any(|bar| bar.figure.as_ref().is_ok_and(|figure| figure.best)),
        narrow: any(|spread| matches!(spread, Spread::Percent(_))),
        wide: any(|spread| matches!(spread, Spread::Factor(_))),
        single: any(|spread| spread == Spread::Unknown),
        notes,
        title: title.clone(),
    }
}

/// The bar of a figure, marked where a guard or the drives' own limits speak against it.
pub(super) fn measured(
    grid: &Grid,
    workload: usize,
    finding: &CellFinding,
    estimate: &WithInterval,
    first: bool,
) -> Figure {
    let style = Style::default();
    let measure = Measure::of(grid.workloads()[workload]);
    let plain = finding.guards.is_empty() && foretold::doubts(grid.findings, finding).next().is_none();
    let dagger = if plain { String::new() } else { format!(" {DAGGER}") };
    let ends = estimate.low.zip(estimate.high);
    Figure {
        parts: vec![(measure.scaled(estimate.value, &style), if first { "bar first" } else { "bar" })],
        interval: ends.map(|(low, high)| (measure.scaled(low, &style), measure.scaled(high, &style))),
        label: format!("{} {}{dagger}", measure.number(estimate.value, &style), spread(estimate)),
        best: false,
    }
}

/// Throughput and latency over time, a line of each for each stack and workload.
pub(super) struct Timeline {
    /// What is drawn.
    pub(super) heading: &'static str,
    /// Titles of the workloads.
    pub(super) headings: Vec<String>,
    /// Is a cliff marked?
    pub(super) cliff: bool,
    /// Is a lost path marked?
    pub(super) lost: bool,
    /// A row for each stack: its name, and a line or a word for each workload.
    pub(super) rows: Vec<(String, Vec<Result<Line, &'static str>>)>,
}

/// A line.
pub(super) struct Line {
    /// The drawing.
    pub(super) drawing: String,
    /// Its scale.
    pub(super) scale: String,
    /// Latency over the same time, with its scale, where it was kept.
    pub(super) latency: Option<(String, String)>,
}

/// The lines; `None` where no sample was kept. Each has a scale of its own: whether a stack is steady does not depend
/// on how fast others are, and how fast they are is told by the bars.
pub(super) fn timeline(grid: &Grid) -> Option<Timeline> {
    let row = |(stack, entry): (usize, &StackEntry)| {
        let cells = grid.titles.iter().enumerate().map(|(workload, title)| match grid.state(stack, workload) {
            State::Measured(finding, _) if finding.samples.is_empty() => Err("no samples"),
            State::Unsteady(finding, _) if !finding.samples.is_empty() => {
                let line = line(finding, &entry.name, title);
                Ok(Line { scale: format!("{}; {}", UNSTEADY.word, line.scale), ..line })
            }
            State::Measured(finding, _) => Ok(line(finding, &entry.name, title)),
            other => Err(blank(&other).map_or("", |(blank, _)| blank.word)),
        });
        (entry.name.clone(), cells.collect::<Vec<_>>())
    };
    let rows: Vec<_> = grid.stacks().iter().enumerate().map(row).collect();
    let any = rows.iter().flat_map(|(_, cells)| cells).any(Result::is_ok);
    let cliff = grid.findings.cells.iter().any(|finding| finding.burst.is_some());
    let lost = grid.findings.cells.iter().any(|finding| finding.path_lost.is_some());
    let is_kept = |cell: &Result<Line, _>| cell.as_ref().is_ok_and(|line| line.latency.is_some());
    let latency = rows.iter().flat_map(|(_, cells)| cells).any(is_kept);
    let heading = if latency { "Throughput and latency over time" } else { "Throughput over time" };
    any.then(|| Timeline { heading, headings: grid.titles.clone(), cliff, lost, rows })
}

/// The line of a finding's samples.
fn line(finding: &CellFinding, stack: &str, title: &str) -> Line {
    let samples = &finding.samples;
    let lost = finding.path_lost.map(|lost| [lost.loss.at, lost.loss.back]);
    let marks = finding.burst.map(|burst| burst.cliff.at).into_iter().chain(lost.into_iter().flatten());
    let marks: Vec<f64> = marks.map(Nanos::as_seconds).collect();
    let top = samples.iter().map(|sample| sample.throughput.0).fold(0.0, f64::max);
    let end = samples.iter().map(|sample| sample.at).max().unwrap_or_default();
    let says = format!("Throughput over time of {stack}, {title}");
    let points: Vec<(f64, f64)> = samples.iter().map(|s| (s.at.as_seconds(), s.throughput.0)).collect();
    Line {
        drawing: spark::draw(&points, (top, end.as_seconds()), &marks, &says),
        scale: format!("0 to {}, {end}", BytesPerSecond(top)),
        latency: latency_line(samples, end, &marks, &format!("Latency over time of {stack}, {title}")),
    }
}

/// The line of their latency; `None` where none was kept.
fn latency_line(samples: &[Sample], end: Nanos, marks: &[f64], says: &str) -> Option<(String, String)> {
    let kept = samples.iter().filter_map(|sample| Some((sample.at.as_seconds(), sample.latency?)));
    let kept: Vec<(f64, Nanos)> = kept.collect();
    let top = kept.iter().map(|(_, latency)| *latency).max()?;
    let points: Vec<(f64, f64)> = kept.into_iter().map(|(at, latency)| (at, latency.as_seconds())).collect();
    let drawing = spark::draw(&points, (top.as_seconds(), end.as_seconds()), marks, says);
    Some((drawing, format!("latency, 0 to {top}")))
}

/// Times of building and filling, and why some have none.
pub(super) fn builds(findings: &Findings) -> (String, Vec<String>) {
    let mut notes = Vec::new();
    let mut bars = Vec::new();
    let seconds = |time: Option<Nanos>| time.unwrap_or_default().as_seconds();
    for row in build_rows(findings) {
        let build = row.build.filter(|build| build.failure.is_none() && build.build.is_some());
        let figure = match build {
            Some(build) => Ok(Figure {
                parts: vec![(seconds(build.build), "bar"), (seconds(build.fill), "bar fill")],
                interval: None,
                label: [build.build, build.fill]
                    .into_iter()
                    .flatten()
                    .map(|t| t.to_string())
                    .collect::<Vec<_>>()
                    .join(" + "),
                best: false,
            }),
            None => {
                let blank = if row.stack.missing.is_some() {
                    MISSING
                } else if row.build.is_some_and(|b| b.failure.is_some()) {
                    FAILED
                } else {
                    NOT_RUN
                };
                notes.push(format!("{}: {}", row.stack.name, row.why()));
                Err(blank)
            }
        };
        bars.push(Bar { name: row.stack.name.clone(), figure });
    }
    (bars::draw(&bars, "Time to build and to fill every stack", "s", significant), notes)
}
