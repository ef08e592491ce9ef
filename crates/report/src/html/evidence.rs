//! What findings say besides figures, on the page: tables, load curves, flushes, how far it can be believed.

use askama::Template;
use terms::finding::{Curve, CurvePoint, Findings, Score};
use terms::prediction::Range;
use terms::record::Latency;
use terms::units::{Iops, Nanos};
use terms::workload::Workload;

use super::bulk::Bulk;
use super::charts::no_latency;
use super::facts::Fact;
use super::filters;
use super::over_places::{self, Ceilings};
use super::section::{Drawn, Fold, Source, render};
use crate::evidence::{believe, curves, flush, predicted, ranking, stack_name};
use crate::figure::Measure;
use crate::grid::Grid;
use crate::listing::{Form, Listing};
use crate::style::Style;
use crate::svg;
use crate::svg::axis::{Linear, Log};
use crate::svg::ceilings::{Ceiling, House};
use crate::svg::curve::{self, Line};
use crate::svg::latency::{self, Row};

/// A listing as a table.
#[derive(Template)]
#[template(path = "listing.html")]
struct Table<'a> {
    listing: &'a Listing,
}

/// The table of a listing.
pub(crate) fn table(listing: &Listing) -> String {
    render(&Table { listing })
}

#[derive(Template)]
#[template(path = "report/part.html")]
struct Part {
    /// Load curves.
    charts: Vec<Chart>,
    /// Ceilings over each stack.
    ceilings: Vec<Ceilings>,
    /// How long operations took at each place, a drawing for each stack.
    places: Vec<Ceilings>,
    /// The listing.
    table: String,
    /// Is the table shown only to those who ask for it?
    is_folded: bool,
    /// Commands: a title and the text.
    details: Vec<(String, String)>,
}

/// Load curves of a workload.
struct Chart {
    /// The workload.
    title: String,
    /// What each drawing shows, and the drawing.
    drawings: Vec<(&'static str, String)>,
    /// Marks and the stacks that they stand for.
    keys: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "report/believe.html")]
struct Believe {
    facts: Vec<Fact>,
    /// The bare drive round by round.
    controls: Option<String>,
}

/// How far all of it can be believed; `None` for findings of old.
pub(super) fn believe(of: &Source) -> Option<Drawn> {
    let facts = believe::facts(of.findings());
    let facts: Vec<Fact> =
        facts.into_iter().map(|(what, value)| Fact::new(super::capital(what.to_owned()), value)).collect();
    (!facts.is_empty()).then(|| {
        let controls = believe::control_table(of.findings()).as_ref().map(table);
        Drawn::new("believe", "Trust", "Trust", &Believe { facts, controls }).fold(Fold::Open)
    })
}

/// The section of a listing, with its drawings; `None` where the page leaves it out, or has it elsewhere.
pub(super) fn part(listing: Listing, of: &Source) -> Option<Drawn> {
    let (findings, style) = (of.findings(), Style::default());
    let is_folded = listing.only == Some(Form::Page);
    if listing.only == Some(Form::Terminal) || (listing.id == "drives" && !of.has(Bulk::Drives)) {
        return None;
    }
    let mut body = Part {
        charts: Vec::new(),
        ceilings: Vec::new(),
        places: Vec::new(),
        table: table(&listing),
        is_folded,
        details: listing.details,
    };
    match listing.id {
        "load" => body.charts = charts(findings),
        "foretold" if of.has(Bulk::Limits) => body.ceilings = ceilings(findings, &style),
        "places" if of.has(Bulk::Places) => body.places = over_places::all(findings, &style),
        _ => {}
    }
    Some(Drawn::new(listing.id, &listing.title, listing.title.clone(), &body).rates(listing.hint))
}

/// Who is where: rank and names.
pub(super) fn ranks(grid: &Grid, workload: usize) -> Vec<(String, String)> {
    ranking::places(grid, workload).iter().map(|place| (ranking::rank(place.rank), place.names())).collect()
}

/// The latency of flushes of a workload, where it flushes: every stack, those without a figure as in other charts.
pub(super) fn flushes(grid: &Grid, workload: usize, title: &str) -> Option<String> {
    let entries = grid.stacks().iter().enumerate();
    let rows: Vec<Row> = entries
        .map(|(stack, entry)| Row {
            name: &entry.name,
            latency: flush::latency(grid, stack, workload).ok_or_else(|| no_latency(&grid.state(stack, workload))),
        })
        .collect();
    let any = rows.iter().any(|row| row.latency.is_ok());
    any.then(|| latency::draw(&rows, &format!("Latency of flushes, {title}")))
}

/// Ceilings over every stack of which something was said, on one axis for each workload.
fn ceilings(findings: &Findings, style: &Style) -> Vec<Ceilings> {
    let drawn = predicted::drawn(findings);
    let of = |work: &Workload| {
        let own = drawn.iter().copied().filter(|score| score.workload == work.name.as_str());
        let houses: Vec<(&Score, House)> = own.map(|score| (score, house(score, work, style))).collect();
        let axis = Log::around(houses.iter().flat_map(|(_, house)| house.values()));
        let (measure, title) = (Measure::of(work), work.title());
        let tick = |value: f64| measure.tick(value, style);
        let figure = |value: f64| format!("{} {}", tick(value), measure.unit(style));
        let drawing = |(score, house): &(&Score, House)| {
            let name = stack_name(findings, &score.stack);
            (name.to_owned(), svg::ceilings::draw(house, &axis, &format!("{name}, {title}"), figure, tick))
        };
        Ceilings { drawings: houses.iter().map(drawing).collect(), title: title.clone() }
    };
    findings.provenance.workloads.iter().map(of).filter(|ceilings| !ceilings.drawings.is_empty()).collect()
}

/// Said, measured and ceilings of a cell in the unit of its workload.
fn house<'a>(score: &'a Score, work: &Workload, style: &Style) -> House<'a> {
    let measure = Measure::of(work);
    let own = |rate: f64| measure.scaled(measure.of_rate(rate, work), style);
    let range = |range: Range| (own(range.low), own(range.high));
    House {
        ceilings: score
            .ceilings
            .iter()
            .map(|ceiling| Ceiling { name: &ceiling.resource, value: own(ceiling.throughput) })
            .collect(),
        said: own(score.predicted.value),
        half: range(score.predicted.half),
        ninety: range(score.predicted.ninety),
        measured: score.measured.map(own),
        doubtful: score.doubts().next().is_some(),
    }
}

/// Load curves, two drawings for each workload.
fn charts(findings: &Findings) -> Vec<Chart> {
    let chart = |(title, curves): (String, Vec<(&str, &Curve)>)| {
        let number = |curve: &Curve| findings.provenance.stacks.iter().position(|entry| entry.slug == curve.stack);
        let lines = |take: fn(&Latency) -> Option<Nanos>| -> Vec<Line> {
            let line = |(_, curve): &(&str, &Curve)| Line {
                number: number(curve).unwrap_or(0),
                points: curve.points.iter().filter_map(|point| place(point, take)).collect(),
            };
            curves.iter().map(line).filter(|line| !line.points.is_empty()).collect()
        };
        let parts = [("Median", lines(|latency| Some(latency.p50))), ("99th percentile", lines(|latency| latency.p99))];
        let all = || parts.iter().flat_map(|(_, lines)| lines).flat_map(|line| &line.points);
        let (across, up) =
            (Linear::to(all().map(|point| point.0).fold(0.0, f64::max)), Log::around(all().map(|p| p.1)));
        let load = |tick: f64| Iops(tick).to_string().trim_end_matches(" IOPS").to_owned();
        let drawing = |(what, lines): &(&'static str, Vec<Line>)| {
            let says = format!("{what} of latency against operations per second, {title}");
            (*what, curve::draw(lines, (&across, &up), &says, "IOPS", (load, latency::label)))
        };
        let keys = curves.iter().map(|(name, curve)| (curve::glyph(number(curve).unwrap_or(0)), (*name).to_owned()));
        Chart { drawings: parts.iter().map(drawing).collect(), keys: keys.collect(), title }
    };
    curves::by_workload(findings).into_iter().map(chart).collect()
}

/// Where a point stands, and whether its load was limited.
fn place(point: &CurvePoint, take: fn(&Latency) -> Option<Nanos>) -> Option<(f64, f64, bool)> {
    let latency = take(point.latency.as_ref()?).filter(|latency| latency.0 > 0)?;
    Some((point.iops?.value, latency.as_seconds() * 1e9, point.percent.is_some()))
}
