//! Several stacks: a line for each, its ratios to the first in per cent. Where workloads are too many for the width, in how
//! many of them each is slower or faster.

use terms::finding::{CellFinding, Compared, WithInterval};

use super::{Extent, blank, fits, left_out, marked};
use crate::answer::Beside;
use crate::evidence::ranking;
use crate::figure::Measure;
use crate::grid::{Grid, State};
use crate::listing::MISSING;
use crate::notes::Notes;
use crate::quantity::percent;
use crate::sheet::{self, Cell, GAP, Strip};
use crate::style::{Style, Tone};
use crate::terminal::strips::heading;
use crate::width::{Align, UNBROKEN, pad, paragraph, shorten_middle, width, wrap};

/// What the mark of flagged figures means, in the legend.
pub(super) const FLAGGED: &str = "† flagged";

/// Fewest columns in which the name of a stack is still known.
const NAME: usize = 14;

/// The table and what its marks mean.
pub(super) fn draw(grid: &Grid, extent: Extent, style: &Style, notes: &mut Notes) -> String {
    let mut found = Notes::default();
    let shown = shown(grid, extent);
    let columns: Vec<Strip> =
        (0..grid.workloads().len()).map(|workload| column(grid, &shown, workload, style, &mut found)).collect();
    let taken: usize = columns.iter().map(|strip| strip.width() + GAP).sum();
    let room = style.columns().saturating_sub(taken);
    let any_ratio = grid.findings.cells.iter().any(|cell| cell.ratio_to_first.is_some());
    let Some(first) = grid.stacks().first() else { return String::new() };
    if room < NAME && any_ratio {
        return counts(grid, extent, style, notes);
    }
    *notes = found;
    let names = names(grid, &shown, room.max(NAME), extent, style);
    let mut out = String::new();
    crate::terminal::tables(&mut out, &names, &columns, style);
    let out = out.trim_start_matches('\n').to_owned() + &left_out(grid.stacks().len(), extent, "stack");
    if any_ratio { out + &legend(grid, &first.name, style) } else { out }
}

/// The stacks that have a row, in the study's order. Where not all have, the first and those that the answer counts as
/// slower or faster come before others.
fn shown(grid: &Grid, extent: Extent) -> Vec<usize> {
    let mut all: Vec<usize> = (0..grid.stacks().len()).collect();
    if extent.rows < all.len() {
        all.sort_by_key(|stack| *stack > 0 && !Beside::of(grid, *stack).is_moved());
        all.truncate(extent.rows);
        all.sort_unstable();
    }
    all
}

/// The names of stacks in so many columns.
fn names(grid: &Grid, shown: &[usize], columns: usize, extent: Extent, style: &Style) -> Strip {
    let name = |stack: &usize| {
        let name = style.spell(&grid.stacks()[*stack].name);
        let short = || style.spell(&shorten_middle(&name, columns));
        Cell::plain(if extent.whole_names { wrap(&name, columns).join("\n") } else { short() })
    };
    Strip { heading: vec!["STACK".to_owned()], align: Align::Left, cells: shown.iter().map(name).collect() }
}

/// A workload: the rate of the first stack, and ratios to it.
fn column(grid: &Grid, shown: &[usize], workload: usize, style: &Style, notes: &mut Notes) -> Strip {
    let measure = Measure::of(grid.workloads()[workload]);
    let pieces: Vec<Result<Piece, Cell>> = shown
        .iter()
        .map(|stack| match grid.state(*stack, workload) {
            State::Measured(finding, estimate) => match ratio(grid, *stack, workload, finding) {
                Some(piece) => Ok(piece),
                None => {
                    let text = format!("{} {}", measure.number(estimate.value, style), measure.unit(style));
                    Err(Cell::plain(text))
                }
            },
            other => Err(blank(&other, notes)),
        })
        .collect();
    let widest = |take: fn(&Piece) -> &str| pieces.iter().flatten().map(|piece| width(take(piece))).max().unwrap_or(0);
    let (values, ends) = (widest(|piece| &piece.value), widest(|piece| &piece.ends));
    let cell = |piece: &Result<Piece, Cell>| match piece {
        Err(cell) => cell.clone(),
        Ok(piece) => {
            let (value, ends) = (pad(&piece.value, values, Align::Right), pad(&piece.ends, ends, Align::Left));
            Cell { text: style.spell(&format!("{value} {ends} {}", piece.mark)), tone: piece.tone }
        }
    };
    let is_flagged = shown.iter().map(|stack| grid.is_flagged(*stack, workload));
    let cells = marked(pieces.iter().map(cell).collect(), is_flagged, style);
    Strip { heading: heading(&grid.titles[workload]), align: Align::Right, cells }
}

/// A ratio in per cent, its interval, and what is said of it.
struct Piece {
    value: String,
    ends: String,
    mark: String,
    tone: Tone,
}

/// The ratio of a stack to the first.
fn ratio(grid: &Grid, stack: usize, workload: usize, finding: &CellFinding) -> Option<Piece> {
    let ratio = finding.ratio_to_first.filter(|_| stack > 0)?;
    // Findings of old have ratios and no comparisons.
    let answer = ranking::against_first(grid, stack, workload).map(|(answer, _)| answer);
    let tone = match answer {
        Some(Compared::Faster) => Tone::Good,
        Some(Compared::Slower) => Tone::Warn,
        Some(Compared::CannotTell) => Tone::Dim,
        Some(Compared::Equivalent) | None => Tone::Plain,
    };
    let mark = answer.map(|answer| ranking::mark(answer, None)).unwrap_or_default();
    Some(Piece { value: percent(ratio.value), ends: ends(&ratio), mark, tone })
}

/// `55–110`; nothing where a single round has no interval.
fn ends(ratio: &WithInterval) -> String {
    ratio.low.zip(ratio.high).map_or_else(String::new, |(low, high)| format!("{}–{}", percent(low), percent(high)))
}

/// What stands in the table.
fn legend(grid: &Grid, first: &str, style: &Style) -> String {
    let intervals = grid.findings.cells.iter().any(|cell| cell.ratio_to_first.is_some_and(|ratio| ratio.low.is_some()));
    let intervals = if intervals { " and joint 95 % interval" } else { "; 1 round has no interval" };
    let margin = grid.findings.provenance.policy().margin;
    let answers = (1..grid.stacks().len()).flat_map(|stack| {
        (0..grid.workloads().len()).filter_map(move |workload| ranking::against_first(grid, stack, workload))
    });
    let answers: Vec<Compared> = answers.map(|(answer, _)| answer).collect();
    let marks = [
        (Compared::Slower, "slower".to_owned()),
        (Compared::Faster, "faster".to_owned()),
        (Compared::Equivalent, format!("equal within ±{margin}")),
        (Compared::CannotTell, "undecided".to_owned()),
    ];
    let marks = marks.iter().filter(|(answer, _)| answers.contains(answer));
    let marks: String =
        marks.map(|(answer, word)| format!("  {}{UNBROKEN}{word}", ranking::mark(*answer, None))).collect();
    let mut cells = (0..grid.stacks().len()).flat_map(|stack| (0..grid.workloads().len()).map(move |at| (stack, at)));
    let flagged = if cells.any(|(stack, at)| grid.is_flagged(stack, at)) { FLAGGED } else { "" };
    paragraph("", &style.spell(&format!("Per cent of {first}{intervals}.{marks} {flagged}")), style.columns())
}

/// Headings of columns that are left out where there is no room.
const FASTER: &str = "FASTER";
const RANGE: &str = "PER CENT";

/// In how many workloads each stack is slower, equal, faster or undecided beside the first.
fn counts(grid: &Grid, extent: Extent, style: &Style, notes: &mut Notes) -> String {
    let first = grid.stacks().first().map_or("", |first| first.name.as_str());
    let all = shown(grid, extent).split_off(1);
    let beside: Vec<Beside<'_>> = all.iter().map(|stack| Beside::of(grid, *stack)).collect();
    let column = |heading: &str, text: &dyn Fn(&Beside<'_>) -> String| Strip {
        heading: vec![heading.to_owned()],
        align: Align::Right,
        cells: beside.iter().map(|of| Cell::plain(style.spell(&text(of)))).collect(),
    };
    let number = |of: &Beside<'_>, count: usize| match of.compared() {
        0 => MISSING.to_owned(),
        _ => count.to_string(),
    };
    let range = |(low, high): (f64, f64)| match (percent(low), percent(high)) {
        (low, high) if low == high => low,
        (low, high) => format!("{low}–{high}"),
    };
    let mut strips = vec![
        names(grid, &all, (style.columns() / 3).max(16), extent, style),
        column("SLOWER", &|of| number(of, of.ratios(Compared::Slower).len())),
        column("EQUAL", &|of| number(of, of.equal)),
        column(FASTER, &|of| number(of, of.ratios(Compared::Faster).len())),
        column("UNDECIDED", &|of| number(of, of.open)),
        without(grid, &all, notes),
        column(RANGE, &|of| of.range().map_or_else(|| MISSING.to_owned(), range)),
    ];
    while strips.len() > 2 && !fits(&strips, style) {
        strips.pop();
    }
    let is_shown = |heading: &str| strips.iter().any(|strip| strip.heading == [heading]);
    let range = if is_shown(RANGE) { ", and the range of rates in per cent of it" } else { "" };
    let faster = if is_shown(FASTER) { " or faster" } else { "" };
    let says =
        format!("Of {} workloads, how many are slower{faster} than with {first}{range}:", grid.workloads().len());
    paragraph("", &style.spell(&says), style.columns())
        + &sheet::render(&strips.iter().collect::<Vec<_>>(), style)
        + &left_out(grid.stacks().len(), extent, "stack")
}

/// In how many workloads each stack has no figure, and the marks of the reasons.
fn without(grid: &Grid, all: &[usize], notes: &mut Notes) -> Strip {
    let mut cell = |stack: usize| {
        let states = (0..grid.workloads().len()).map(|workload| grid.state(stack, workload));
        let blanks: Vec<Cell> =
            states.filter(|state| state.word().is_some()).map(|state| blank(&state, notes)).collect();
        let mut marks: Vec<&str> = blanks.iter().filter_map(|cell| cell.text.split_once('[')).map(|of| of.1).collect();
        marks.dedup();
        let marks: String = marks.iter().map(|mark| format!(" [{mark}")).collect();
        Cell::plain(format!("{}{marks}", blanks.len()))
    };
    let cells = all.iter().map(|stack| cell(*stack)).collect();
    Strip { heading: vec!["NO FIGURE".to_owned()], align: Align::Right, cells }
}
