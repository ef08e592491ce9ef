//! Throughput and latency over time, a line of each for each stack and workload.

use askama::Template;
use terms::finding::CellFinding;
use terms::record::{Sample, StackEntry};
use terms::units::{BytesPerSecond, Nanos};

use super::bulk::Bulk;
use super::charts::{UNSTEADY, blank};
use super::section::{Drawn, Source};
use crate::grid::{Grid, State};
use crate::svg::spark;

#[derive(Template)]
#[template(path = "report/time.html")]
struct Timeline {
    /// What is drawn.
    heading: &'static str,
    /// Titles of the workloads.
    headings: Vec<String>,
    /// A row for each stack: its name, and a line or a word for each workload.
    rows: Vec<(String, Vec<Result<Line, &'static str>>)>,
}

/// The section; `None` where no sample was kept, or the page leaves it out.
pub(super) fn section(of: &Source) -> Option<Drawn> {
    let body = Some(&of.grid).filter(|_| of.has(Bulk::Time)).and_then(timeline)?;
    let cells = &of.findings().cells;
    let cliff = if cells.iter().any(|finding| finding.burst.is_some()) {
        " A dashed line marks the cliff of the last round that shows one."
    } else {
        ""
    };
    let lost = if cells.iter().any(|finding| finding.path_lost.is_some()) {
        " Where a path was lost, dashed lines mark when it went and when it was back."
    } else {
        ""
    };
    let hint =
        format!("The last round. Every line has a scale of its own, from zero to its largest value.{cliff}{lost}");
    Some(Drawn::new("time", "Over time", body.heading, &body).rates(hint))
}

/// A line.
struct Line {
    /// The drawing.
    drawing: String,
    /// Its scale.
    scale: String,
    /// Latency over the same time, with its scale, where it was kept.
    latency: Option<(String, String)>,
}

/// The lines; `None` where no sample was kept. Each has a scale of its own: whether a stack is steady does not depend
/// on how fast others are, and how fast they are is told by the bars.
fn timeline(grid: &Grid) -> Option<Timeline> {
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
    let is_kept = |cell: &Result<Line, _>| cell.as_ref().is_ok_and(|line| line.latency.is_some());
    let latency = rows.iter().flat_map(|(_, cells)| cells).any(is_kept);
    let heading = if latency { "Throughput and latency over time" } else { "Throughput over time" };
    any.then(|| Timeline { heading, headings: grid.titles.clone(), rows })
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
