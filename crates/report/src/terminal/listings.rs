//! What findings say besides figures, on a terminal: facts, rankings, listings.

use terms::finding::Compared;

use crate::evidence::{believe, ranking};
use crate::grid::{Grid, State};
use crate::listing::{Group, Listing};
use crate::sheet::{self, Cell, GAP, Strip};
use crate::style::{Style, Tone};
use crate::width::{Align, pad, paragraph, width, wrap};

use super::{section, tables};

/// Fewest columns in which a sentence in a table is still read with ease.
const SENTENCE: usize = 20;
/// Columns of the names of facts, with the blanks behind them.
const FACT: usize = 13;
/// Blanks between two places of a ranking.
const APART: usize = 3;

/// Who is where in every workload; nothing where nothing was ranked.
pub(super) fn rankings(grid: &Grid, style: &Style) -> String {
    let ranked: Vec<(String, Vec<String>)> = (0..grid.workloads().len())
        .map(|at| {
            (grid.titles[at].clone(), ranking::places(grid, at).iter().map(|p| style.spell(&p.words())).collect())
        })
        .filter(|(_, places): &(String, Vec<String>)| !places.is_empty())
        .collect();
    if ranked.is_empty() {
        return String::new();
    }
    let titles = (style.columns() / 3).max(16);
    let strip = |cells: Vec<Cell>| Strip { heading: Vec::new(), align: Align::Left, cells };
    let title =
        strip(ranked.iter().map(|(title, _)| Cell::plain(wrap(&style.spell(title), titles).join("\n"))).collect());
    let room = style.columns().saturating_sub(title.width() + GAP);
    let places = strip(ranked.iter().map(|(_, places)| Cell::plain(flow(places, room).join("\n"))).collect());
    let tied = ranked.iter().flat_map(|(_, places)| places).any(|words| words.contains(" = "));
    let tied = if tied { "; = where they do not differ significantly" } else { "" };
    format!("{}\n{}", section(style, &format!("Ranking by throughput{tied}")), sheet::render(&[&title, &places], style))
}

/// Items side by side with some blanks between them, in lines of at most `columns`; one that is too long is broken at
/// blanks and goes on below its second word.
fn flow(items: &[String], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(line) if width(line) + APART + width(item) <= columns => {
                line.push_str(&" ".repeat(APART));
                line.push_str(item);
            }
            _ if width(item) <= columns => lines.push(item.clone()),
            _ => {
                let (rank, rest) = item.split_once(' ').unwrap_or(("", item));
                lines.extend(paragraph(&format!("{rank} "), rest, columns).lines().map(str::to_owned));
            }
        }
    }
    lines
}

/// The marks that stand beside ratios, and what they mean.
pub(super) fn answers(grid: &Grid) -> Vec<(&'static str, String)> {
    let cells = (0..grid.workloads().len()).flat_map(|work| (1..grid.stacks().len()).map(move |stack| (stack, work)));
    let measured = cells.filter(|(stack, work)| matches!(grid.state(*stack, *work), State::Measured(..)));
    let all: Vec<_> = measured.filter_map(|(stack, work)| ranking::against_first(grid, stack, work)).collect();
    let has = |answer| all.iter().any(|found| found.0 == answer);
    let more = |is: fn(Option<u32>) -> bool| all.iter().any(|(a, more)| *a == Compared::CannotTell && is(*more));
    let margin = grid.findings.provenance.policy().margin;
    let marks = [
        (">", has(Compared::Faster), "faster than the first, corrected for the number of comparisons".to_owned()),
        ("<", has(Compared::Slower), "slower than the first, corrected for the number of comparisons".to_owned()),
        ("≈", has(Compared::Equivalent), format!("equivalent to the first: within ±{margin}")),
        ("?4", more(|more| more.is_some()), "undecided: about 4 more rounds may decide it".to_owned()),
        ("?", more(|more| more.is_none()), "undecided".to_owned()),
    ];
    marks.into_iter().filter(|mark| mark.1).map(|(mark, _, text)| (mark, text)).collect()
}

/// How far all of it can be believed.
pub(super) fn believe(grid: &Grid, style: &Style) -> String {
    let facts = believe::facts(grid.findings);
    if facts.is_empty() {
        return String::new();
    }
    let line =
        |(what, value): &(&str, String)| paragraph(&pad(what, FACT, Align::Left), &style.spell(value), style.columns());
    facts.iter().fold(section(style, "Trust"), |out, fact| out + &line(fact))
}

/// One listing: its title, its groups under common headings, what is said below.
pub(super) fn listing(listing: &Listing, style: &Style) -> String {
    let mut out = section(style, &listing.title);
    if !listing.hint.is_empty() {
        out.push_str(&paragraph("", &style.spell(&listing.hint), style.columns()));
    }
    let widths = widths(listing, style);
    for group in &listing.groups {
        if !group.title.is_empty() {
            out.push('\n');
            out.push_str(&paragraph("", &style.spell(&group.title), style.columns()));
        }
        let strips = strips(listing, group, &widths, style);
        if let [name, rest @ ..] = &strips[..] {
            let mut table = String::new();
            tables(&mut table, name, rest, style);
            out.push_str(table.strip_prefix('\n').unwrap_or(&table));
        }
    }
    let remarks = listing.remarks.iter().map(|remark| paragraph("", &style.spell(remark), style.columns()));
    let remarks: String = remarks.collect();
    if remarks.is_empty() { out } else { format!("{out}\n{remarks}") }
}

/// Columns of each column of a listing: names at most a third of the terminal, and the last column, where it holds
/// sentences, what the others leave.
fn widths(listing: &Listing, style: &Style) -> Vec<usize> {
    let all = style.columns();
    let last = listing.columns.len().saturating_sub(1);
    let mut widths: Vec<usize> = Vec::new();
    for (at, (heading, align)) in listing.columns.iter().enumerate() {
        let widest = listing.texts(at).map(|text| width(&style.spell(text))).max().unwrap_or(0).max(width(heading));
        let taken: usize = widths.iter().map(|width| width + GAP).sum();
        widths.push(match align {
            Align::Left if at == 0 => widest.min((all / 3).max(16)),
            Align::Left if at == last => {
                let room = all.saturating_sub(taken);
                let beside = all.saturating_sub(widths.first().map_or(0, |name| name + GAP));
                widest.min(if room < SENTENCE { beside } else { room })
            }
            _ => widest,
        });
    }
    widths
}

/// A group's rows as strips that are as wide in every group.
fn strips(listing: &Listing, group: &Group, widths: &[usize], style: &Style) -> Vec<Strip> {
    let strip = |(at, (heading, align)): (usize, &(&str, Align))| {
        let text = |row: &Vec<String>| {
            let text = row.get(at).map(|text| style.spell(text)).unwrap_or_default();
            Cell::plain(if *align == Align::Left { wrap(&text, widths[at]).join("\n") } else { text })
        };
        let heading = pad(&style.spell(heading).to_uppercase(), widths[at], *align);
        Strip { heading: vec![heading], align: *align, cells: group.rows.iter().map(text).collect() }
    };
    listing.columns.iter().enumerate().map(strip).collect()
}

/// The words for what limits each cell, a column for each workload; empty where nothing is known.
pub(super) fn bottlenecks(grid: &Grid) -> Vec<Strip> {
    if !ranking::any_bottleneck(grid) {
        return Vec::new();
    }
    let strip = |(at, title): (usize, &String)| Strip {
        heading: super::strips::heading(title),
        align: Align::Right,
        cells: (0..grid.stacks().len())
            .map(|stack| match ranking::bottleneck(grid, stack, at) {
                Some(kind) => Cell::plain(kind.word()),
                None => Cell { text: grid.state(stack, at).word().unwrap_or("not told").to_owned(), tone: Tone::Dim },
            })
            .collect(),
    };
    grid.titles.iter().enumerate().map(strip).collect()
}
