//! Figures and latency of each workload, and what stands where a stack has none.

use askama::Template;
use terms::finding::{CellFinding, WithInterval};
use terms::workload::Workload;

use super::bulk::Bulk;
use super::section::{Drawn, Fold, Source};
use super::{FEW, evidence, filters};
use crate::evidence::{predicted, ranking};
use crate::figure::{self, BEYOND, BEYOND_MARK, DAGGER, FACTOR, HALF, Measure, Spread, spread};
use crate::grid::{Grid, State};
use crate::prose;
use crate::style::Style;
use crate::svg::bars::{self, Bar, Figure};
use crate::svg::latency::{self, Row};
use crate::svg::layout::Blank;

/// Hatched rows.
pub(super) const FAILED: Blank = Blank { word: "failed", class: "value bad" };
pub(super) const UNSTEADY: Blank = Blank { word: "no steady state", class: "value warn" };
pub(super) const MISSING: Blank = Blank { word: "missing", class: "value warn" };
pub(super) const NOT_RUN: Blank = Blank { word: "not run", class: "value soft" };
const NOT_KEPT: Blank = Blank { word: "not kept", class: "value soft" };

#[derive(Template)]
#[template(path = "report/workloads.html")]
struct Body<'a> {
    series: Vec<Series>,
    tag: Option<&'a str>,
    half: &'static str,
    factor: &'static str,
    beyond: &'static str,
    /// What the figures are of.
    figures: &'static str,
}

/// The section; `None` where the page leaves it out.
pub(super) fn section(of: &Source) -> Option<Drawn> {
    let grid = &of.grid;
    let (details, workloads) = (of.has(Bulk::Details), grid.workloads().len());
    let ranked = if grid.is_ranked() {
        " Ranks are by throughput; = joins stacks that do not differ significantly."
    } else {
        ""
    };
    of.has(Bulk::Workloads).then(|| {
        let series = (0..workloads).map(|workload| series(grid, workload, details)).collect();
        let body = Body {
            series,
            tag: of.tag.as_deref(),
            half: HALF,
            factor: FACTOR,
            beyond: BEYOND,
            figures: prose::figures(grid.findings),
        };
        Drawn::new(prose::WORKLOADS, "Workloads", "Workloads", &body)
            .hint(format!(
                "Stacks stand in the study’s order; the first, in grey, is what the others are compared with. Whiskers \
                 are 95 % intervals.{ranked}"
            ))
            // The answer on one target is its figures, and names the first of them only.
            .fold(if workloads <= FEW || grid.stacks().len() == 1 { Fold::Open } else { Fold::Closed })
    })
}

/// One workload.
struct Series {
    /// Its title.
    title: String,
    /// What it is told in.
    unit: &'static str,
    /// Figures of all stacks.
    figures: String,
    /// Latency of all stacks.
    latency: String,
    /// Latency of flushes of all stacks that flush.
    flushes: Option<String>,
    /// Ranks and who has them.
    ranks: Vec<(String, String)>,
    /// What is known of each stack besides its figure.
    details: Option<String>,
    /// What it means that a stack is marked.
    clear_means: &'static str,
    /// Is one stack clear of all others?
    clear: bool,
    /// Is there a figure with a narrow interval, told in per cent?
    narrow: bool,
    /// Is there a figure with a wide interval, told as a factor?
    wide: bool,
    /// Is there one so wide that it says nothing?
    beyond: bool,
    /// Is there a figure without an interval?
    single: bool,
    /// Why some have no figure, and what guards say of others.
    notes: Vec<Note>,
}

/// Why a stack has no figure, or what a guard says of it.
struct Note {
    stack: String,
    /// What stands in the figure's place.
    word: &'static str,
    why: String,
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
fn series(grid: &Grid, workload: usize, details: bool) -> Series {
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
                let doubts: Vec<&str> = predicted::doubts(grid.findings, finding).collect();
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
        details: ranking::details(grid, workload).filter(|_| details).as_ref().map(evidence::table),
        clear_means: if grid.is_ranked() {
            "highest, and faster than every other."
        } else {
            "highest, its interval clear of all others."
        },
        clear: bars.iter().any(|bar| bar.figure.as_ref().is_ok_and(|figure| figure.best)),
        narrow: any(|spread| matches!(spread, Spread::Percent(_))),
        wide: any(|spread| matches!(spread, Spread::Factor(_))),
        beyond: any(|of| matches!(of, Spread::Factor(_)) && of.to_string().starts_with(BEYOND_MARK)),
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
    let plain = finding.guards.is_empty() && predicted::doubts(grid.findings, finding).next().is_none();
    let dagger = if plain { String::new() } else { format!(" {DAGGER}") };
    let ends = estimate.low.zip(estimate.high);
    Figure {
        parts: vec![(measure.scaled(estimate.value, &style), if first { "bar first" } else { "bar" })],
        interval: ends.map(|(low, high)| (measure.scaled(low, &style), measure.scaled(high, &style))),
        label: format!("{} {}{dagger}", measure.number(estimate.value, &style), spread(estimate)),
        best: false,
    }
}
