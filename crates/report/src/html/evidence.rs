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
use crate::evidence::{
    believe, burst, compat, curves, drives, flush, foretold, hosts, layers, parts, path_lost, places, preflight,
    ranking, stack_name,
};
use crate::figure::Measure;
use crate::grid::Grid;
use crate::listing::Listing;
use crate::style::Style;
use crate::svg;
use crate::svg::axis::{Linear, Log};
use crate::svg::curve::{self, Line};
use crate::svg::latency::{self, Row};
use crate::svg::roofs::{House, Roof};

/// A listing as a table.
#[derive(Template)]
#[template(path = "listing.html")]
struct Table<'a> {
    listing: &'a Listing,
}

/// The table of a listing.
pub(crate) fn table(listing: &Listing) -> String {
    Table { listing }.render().expect("the template calls nothing that fails, and writing to a string cannot fail")
}

/// A section of the page: a listing, and charts above it.
pub(super) struct Part {
    /// Its name in the page.
    pub(super) id: &'static str,
    /// Its title.
    pub(super) title: String,
    /// How it is to be read.
    pub(super) hint: String,
    /// Charts.
    pub(super) charts: Vec<Chart>,
    /// Roofs over each stack.
    pub(super) roofs: Vec<Roofs>,
    /// How long operations took at each place, a drawing for each stack.
    pub(super) places: Vec<Roofs>,
    /// The table.
    pub(super) table: String,
    /// Is the table shown only to those who ask for it?
    pub(super) folded: bool,
    /// Commands: a title and the text.
    pub(super) details: Vec<(String, String)>,
}

/// Drawings of all stacks under a workload: roofs, or places.
pub(super) struct Roofs {
    /// The workload.
    pub(super) title: String,
    /// Stacks and their drawings.
    pub(super) drawings: Vec<(String, String)>,
}

/// Load curves of a workload.
pub(super) struct Chart {
    /// The workload.
    pub(super) title: String,
    /// What each drawing shows, and the drawing.
    pub(super) drawings: Vec<(&'static str, String)>,
    /// Marks and the stacks that they stand for.
    pub(super) keys: Vec<(String, String)>,
}

/// How far all of it can be believed: facts, and the bare drive round by round.
pub(super) fn believe(findings: &Findings) -> Option<(Vec<Fact>, Option<String>)> {
    let facts = believe::facts(findings);
    let facts: Vec<Fact> =
        facts.into_iter().map(|(what, value)| Fact::new(super::capital(what.to_owned()), value)).collect();
    (!facts.is_empty()).then(|| (facts, believe::anchor_table(findings).as_ref().map(table)))
}

/// The sections after all figures, without what is left out.
pub(super) fn parts(findings: &Findings, left_out: &[Bulk]) -> Vec<Part> {
    let style = Style::default();
    let has = |bulk: Bulk| !left_out.contains(&bulk);
    let part = |listing: Listing| Part {
        charts: if listing.id == "load" { charts(findings) } else { Vec::new() },
        roofs: if listing.id == "foretold" && has(Bulk::Limits) { roofs(findings, &style) } else { Vec::new() },
        places: if listing.id == "places" && has(Bulk::Places) {
            super::over_places::all(findings, &style)
        } else {
            Vec::new()
        },
        table: table(&listing),
        // As many rows as all cells have drives.
        folded: listing.id == "drives",
        id: listing.id,
        title: listing.title,
        hint: listing.hint,
        details: listing.details,
    };
    let listings = [
        preflight::listing(findings),
        foretold::listing(findings, &style),
        burst::listing(findings, &style),
        places::listing(findings, &style),
        hosts::listing(findings, &style),
        parts::listing(findings, &style),
        path_lost::listing(findings, &style),
        drives::listing(findings, &style),
        layers::listing(findings),
        curves::listing(findings),
    ];
    let listings = listings.into_iter().flatten().chain(compat::listings(findings));
    listings.filter(|listing| listing.id != "drives" || has(Bulk::Drives)).map(part).collect()
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

/// Roofs over every stack of which something was said, on one axis for each workload.
fn roofs(findings: &Findings, style: &Style) -> Vec<Roofs> {
    let drawn = foretold::drawn(findings);
    let of = |work: &Workload| {
        let own = drawn.iter().copied().filter(|score| score.workload == work.name.as_str());
        let houses: Vec<(&Score, House)> = own.map(|score| (score, house(score, work, style))).collect();
        let axis = Log::around(houses.iter().flat_map(|(_, house)| house.values()));
        let (measure, title) = (Measure::of(work), crate::grid::title(work));
        let tick = |value: f64| measure.tick(value, style);
        let figure = |value: f64| format!("{} {}", tick(value), measure.unit(style));
        let drawing = |(score, house): &(&Score, House)| {
            let name = stack_name(findings, &score.stack);
            (name.to_owned(), svg::roofs::draw(house, &axis, &format!("{name}, {title}"), figure, tick))
        };
        Roofs { drawings: houses.iter().map(drawing).collect(), title: title.clone() }
    };
    findings.provenance.workloads.iter().map(of).filter(|roofs| !roofs.drawings.is_empty()).collect()
}

/// Said, measured and roofs of a cell in the unit of its workload.
fn house<'a>(score: &'a Score, work: &Workload, style: &Style) -> House<'a> {
    let measure = Measure::of(work);
    let own = |rate: f64| measure.scaled(measure.of_rate(rate, work), style);
    let range = |range: Range| (own(range.low), own(range.high));
    House {
        roofs: score.roofs.iter().map(|roof| Roof { name: &roof.resource, value: own(roof.throughput) }).collect(),
        said: own(score.foretold.value),
        half: range(score.foretold.half),
        ninety: range(score.foretold.ninety),
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
