//! Two runs side by side: as text for a terminal, as JSON, and as a page.

use askama::Template;
use serde::Serialize;
use terms::PerMille;
use terms::finding::{CellComparison, Change, Compared, Difference, Quantity, RunComparison};
use terms::spelling::spell;
use terms::units::{Nanos, significant};

use crate::evidence::count_of;
use crate::grouped::by_key;
use crate::html::{STYLE, capital, filters, table};
use crate::listing::{Group, Listing, MISSING};
use crate::machine::known;
use crate::prose;
use crate::quantity;
use crate::style::{Style, Tone};
use crate::svg::ratios::{self, Dot};
use crate::terminal::{labelled, listed};
use crate::width::{Align, paragraph};

/// The comparison as text: the answer, the label of emulated rates, what differs between the runs, and the cells that are
/// faster or slower; with `details` every cell.
#[must_use]
pub fn runs_text(of: &RunComparison, details: bool, style: &Style) -> String {
    let columns = style.columns();
    let lines = paragraph("", &style.spell(&answer(of)), columns);
    let mut out: String = lines.lines().map(|line| style.paint(Tone::Strong, line) + "\n").collect();
    out.push_str(&labelled(label(of), style));
    out.push('\n');
    for (mark, head) in [("A  ", &of.a), ("B  ", &of.b)] {
        out.push_str(&paragraph(mark, &style.spell(&head.run), columns));
    }
    out.push('\n');
    for text in differences(&of.differences) {
        out.push_str(&paragraph("", &style.spell(&text), columns));
    }
    for text in unanswered(of) {
        out.push_str(&paragraph("", &style.spell(&text), columns));
    }
    let shown: Vec<&CellComparison> = of.cells.iter().filter(|cell| details || is_decided(cell)).collect();
    if let Some(listing) = listing(&shown, style).if_any() {
        out.push('\n');
        out.push_str(listed(&listing, style).trim_start_matches('\n'));
    }
    if shown.len() < of.cells.len() {
        out.push_str(&paragraph("\n", "`--details` shows every cell.", columns));
    }
    out
}

/// What `--fail-slower` found: cells that are slower by more than the limit, else those that may be. "None" is no pass
/// where nothing was decided.
#[must_use]
pub fn runs_limit(of: &RunComparison, limit: PerMille, style: &Style) -> String {
    let (all, sure) = (count_of(of.cells.len(), "cell"), of.slower_by(limit.share()).count());
    let found = match (sure, of.may_be_slower_by(limit.share()).count()) {
        (0, 0) => "no cell is slower by more".to_owned(),
        (0, open) => format!("no cell is certainly slower by more; in {open} of {all} it cannot be excluded"),
        (1, _) => format!("1 of {all} is certainly slower by more"),
        (sure, _) => format!("{sure} of {all} are certainly slower by more"),
    };
    paragraph("", &style.spell(&format!("`--fail-slower` {limit}: {found}.")), style.columns())
}

/// The label of emulated rates; both runs took place alike, or they would not be compared.
fn label(of: &RunComparison) -> Option<String> {
    of.b.emulated.as_deref().or(of.a.emulated.as_deref()).map(prose::emulated)
}

fn is_decided(cell: &CellComparison) -> bool {
    matches!(cell.verdict, Some(Compared::Faster | Compared::Slower))
}

/// Why cells have no answer, a line for each reason.
fn unanswered(of: &RunComparison) -> Vec<String> {
    let open = of.cells.iter().filter_map(|cell| Some((cell, cell.why_not.as_deref()?)));
    let told = |same: &Vec<(&CellComparison, &str)>| {
        let (first, why) = same[0];
        match same.len() {
            1 => format!("no answer for {} of {}: {why}", first.title, first.name),
            count => format!("no answer for {count} cells: {why}"),
        }
    };
    by_key(open, |(_, why)| *why).iter().map(told).collect()
}

/// The comparison as one JSON document.
#[must_use]
pub fn runs_json(of: &RunComparison) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: &'static str,
        version: u32,
        answer: String,
        #[serde(flatten)]
        of: &'a RunComparison,
    }
    let document = Document { schema: "bedplate.compare", version: 1, answer: answer(of), of };
    let mut text = serde_json::to_string_pretty(&document).expect("names and figures become JSON without fail");
    text.push('\n');
    spell(&text).into_owned()
}

/// The page.
#[derive(Template)]
#[template(path = "runs.html")]
struct Page<'a> {
    style: &'static str,
    headline: String,
    label: Option<String>,
    answer: String,
    of: &'a RunComparison,
    differences: Vec<String>,
    unanswered: Vec<String>,
    charts: Vec<(String, String)>,
    cells: String,
}

/// The comparison as one self-contained page: the answer, a chart of ratios for each workload, and every cell.
#[must_use]
pub fn runs_html(of: &RunComparison) -> String {
    let all: Vec<&CellComparison> = of.cells.iter().collect();
    let page = Page {
        style: STYLE,
        headline: headline(of),
        label: label(of).map(capital),
        answer: answer(of),
        of,
        differences: differences(&of.differences),
        unanswered: unanswered(of),
        charts: charts(of),
        cells: table(&listing(&all, &Style::default())),
    };
    let page = page.render().expect("the template calls nothing that fails, and writing to a string cannot fail");
    spell(&page).into_owned()
}

/// So many differences are named in the answer; of more, how many there are.
const NAMED: usize = 4;

/// What came of it, in a sentence or two, and what else differs.
fn answer(of: &RunComparison) -> String {
    format!("{}{}", outcome(of), besides(&of.differences))
}

/// What differs between the runs: it may be the reason, whatever was to be compared.
fn besides(all: &[Difference]) -> String {
    let mut named: Vec<String> = all.iter().take(NAMED).map(|of| of.what.clone()).collect();
    named.extend(all.len().checked_sub(NAMED).filter(|more| *more > 0).map(|more| format!("{more} more")));
    if named.is_empty() { String::new() } else { format!(" The runs differ in: {}.", named.join(", ")) }
}

/// The answer in a line: how many cells are slower and how many faster.
fn headline(of: &RunComparison) -> String {
    let count = |verdict| of.with(Some(verdict)).count();
    let compared = count_of(of.cells.iter().filter(|cell| cell.ratio.is_some()).count(), "cell");
    match (count(Compared::Slower), count(Compared::Faster)) {
        (0, 0) if count(Compared::CannotTell) > 0 => format!("B is certainly slower or faster in none of {compared}"),
        (0, 0) => format!("B equals A in {compared}"),
        (0, faster) => format!("B is faster in {faster} of {compared}, slower in none"),
        (slower, 0) => format!("B is slower in {slower} of {compared}, faster in none"),
        (slower, faster) => format!("B is slower in {slower} of {compared}, faster in {faster}"),
    }
}

fn outcome(of: &RunComparison) -> String {
    let compared = of.cells.iter().filter(|cell| cell.ratio.is_some()).count();
    let count = |verdict| of.with(Some(verdict)).count();
    if compared == 0 {
        return "No cell has a figure in both runs.".to_owned();
    }
    let equal = count(Compared::Equivalent);
    let mut parts: Vec<String> =
        [Compared::Slower, Compared::Faster].into_iter().filter_map(|verdict| farthest(of, verdict)).collect();
    if parts.is_empty() && equal == compared {
        let cells = if compared == 1 { "the one cell".to_owned() } else { format!("all {compared} cells") };
        return format!("B equals A in {cells}.{}", without(of, compared));
    }
    if equal > 0 {
        parts.push(format!("equal in {equal}"));
    }
    let open = match count(Compared::CannotTell) {
        0 => String::new(),
        1 => " 1 is undecided.".to_owned(),
        open => format!(" {open} are undecided."),
    };
    match parts.as_slice() {
        [] => format!("All {compared} cells are undecided.{}", without(of, compared)),
        parts => format!("Of {compared} cells, B is {}.{open}{}", parts.join("; "), without(of, compared)),
    }
}

/// How many cells are faster or slower, and which the most.
fn farthest(of: &RunComparison, verdict: Compared) -> Option<String> {
    let distance = |cell: &CellComparison| cell.ratio.map_or(0.0, |ratio| ratio.value.ln().abs());
    let cells: Vec<&CellComparison> = of.with(Some(verdict)).collect();
    let far = cells.iter().max_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let ratio = quantity::ratio(&far.ratio?);
    let all = of.cells.iter().filter(|cell| cell.ratio.is_some()).count() == cells.len();
    let count = if all { format!("all {}", cells.len()) } else { cells.len().to_string() };
    let most = if cells.len() == 1 { "" } else { "the most " };
    Some(format!("{} in {count} ({most}in {} of {}: {ratio})", verdict.words(), far.title, far.name))
}

fn without(of: &RunComparison, compared: usize) -> String {
    match of.cells.len() - compared {
        0 => String::new(),
        1 => " 1 cell has no figure in one of them.".to_owned(),
        more => format!(" {more} cells have no figure in one of them."),
    }
}

/// What differs between the runs, a line each.
fn differences(all: &[Difference]) -> Vec<String> {
    if all.is_empty() {
        return vec!["Nothing that is recorded of them differs.".to_owned()];
    }
    let line = |of: &Difference| format!("differs: {}: {} → {}", of.what, known(&of.a), known(&of.b));
    all.iter().map(line).collect()
}

/// Cells as a table, by workload.
fn listing(cells: &[&CellComparison], style: &Style) -> Listing {
    let right = Align::Right;
    let group = |cells: Vec<&CellComparison>| Group {
        title: cells[0].title.clone(),
        rows: cells.iter().map(|cell| row(cell, style)).collect(),
    };
    let remark = |cell: &&CellComparison| Some(format!("{}, {}: {}", cell.name, cell.title, explained(cell)?));
    Listing {
        id: "cells",
        title: "Throughput of both runs".to_owned(),
        columns: vec![("STACK", Align::Left), ("A", right), ("B", right), ("B/A", right), ("ANSWER", Align::Left)],
        groups: by_key(cells.iter().copied(), |cell| &cell.workload).into_iter().map(group).collect(),
        remarks: cells.iter().filter(|cell| is_decided(cell)).filter_map(remark).collect(),
        ..Listing::default()
    }
}

fn row(cell: &CellComparison, style: &Style) -> Vec<String> {
    // The block of the workload says whether operations or bytes are told; both runs had the same.
    let told =
        |of: &terms::finding::Figures| quantity::by_block(of.throughput.value, (of.throughput.value, of.iops), style);
    let missing = || MISSING.to_owned();
    vec![
        cell.name.clone(),
        cell.a.as_ref().map_or_else(missing, told),
        cell.b.as_ref().map_or_else(missing, told),
        cell.ratio.as_ref().map_or_else(missing, quantity::ratio),
        cell.verdict.map_or("no answer", words).to_owned(),
    ]
}

const fn words(verdict: Compared) -> &'static str {
    match verdict {
        Compared::Equivalent => "equal",
        other => other.words(),
    }
}

/// What changed with a throughput.
fn explained(cell: &CellComparison) -> Option<String> {
    let mut parts: Vec<String> = cell.changes.iter().map(change).collect();
    if let Some((a, b)) = cell.bottlenecks {
        parts.push(format!("bottleneck {} → {}", a.word(), b.word()));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn change(of: &Change) -> String {
    let told = |value: f64| match of.what {
        Quantity::CpuPerOperationNs => Nanos::from_seconds(value / 1e9).to_string(),
        Quantity::DriveBytesRatio | Quantity::DriveQueueOperations => significant(value),
    };
    let percent = (of.b / of.a - 1.0) * 100.0;
    format!("{} {} → {} ({percent:+.1} %)", of.what.words(), told(of.a), told(of.b))
}

/// A chart of ratios for each workload that has one.
fn charts(of: &RunComparison) -> Vec<(String, String)> {
    let compared = of.cells.iter().filter(|cell| cell.ratio.is_some());
    let drawn = |cells: Vec<&CellComparison>| {
        let title = cells[0].title.clone();
        let dots: Vec<Dot> = cells.iter().filter_map(|cell| dot(cell)).collect();
        let drawing = ratios::draw(&dots, &format!("Throughput of B over A under {title}"));
        (title, drawing)
    };
    by_key(compared, |cell| &cell.workload).into_iter().map(drawn).collect()
}

fn dot(cell: &CellComparison) -> Option<Dot> {
    let ratio = cell.ratio?;
    Some(Dot {
        name: cell.name.clone(),
        value: ratio.value,
        interval: ratio.low.zip(ratio.high),
        label: format!("{} {}", quantity::ratio(&ratio), cell.verdict.map_or("", words)),
        open: matches!(cell.verdict, None | Some(Compared::CannotTell)),
        blank: None,
    })
}
