//! The report in brief: what fits a screen. The question first, the answer last, one line for each stack between them.
//!
//! Everything that it counts and leaves out stands in [`crate::terminal()`].

mod card;
mod caveats;
mod ratios;

use terms::finding::Findings;

use crate::confidence;
use crate::evidence::count;
use crate::grid::{Grid, State};
use crate::notes::Notes;
use crate::prose;
use crate::sheet::{Cell, GAP, Strip};
use crate::style::{Style, Tone};
use crate::terminal::heading;
use crate::width::{Align, pad, paragraph};

/// Columns of the word before a line, with the blanks behind it.
const WORD: usize = 9;
/// Reasons that are told in full; of more, how many there are.
const REASONS: usize = 3;

/// The findings on a screen. One target is a card of its workloads; several stacks are ratios to the first, and what
/// comparing them says.
#[must_use]
pub fn brief(findings: &Findings, style: &Style) -> String {
    let grid = Grid::without_points(findings);
    let mut notes = Notes::default();
    let mut out = heading(&grid, style);
    out.push('\n');
    out.push_str(&match grid.stacks() {
        [_] => card::draw(&grid, style, &mut notes),
        _ => ratios::draw(&grid, style, &mut notes),
    });
    out.push('\n');
    out.push_str(&reasons(&notes, style));
    for (word, text) in lines(&grid) {
        out.push_str(&paragraph(&pad(word, WORD, Align::Left), &style.spell(&text), style.columns()));
    }
    out
}

/// What is said below the table, the answer last.
fn lines(grid: &Grid) -> Vec<(&'static str, String)> {
    let findings = grid.findings;
    let mut lines = vec![("Method", method(findings)), ("Caveats", caveats::of(grid))];
    lines.extend(caveats::checks(findings).map(|text| ("Checks", text)));
    lines.extend(prose::resume(&Grid::new(findings)).map(|text| ("Resume", text)));
    let answer = match grid.stacks() {
        // The card has said it.
        [_] => Vec::new(),
        _ => vec![("Answer", prose::short(grid).join(" "))],
    };
    lines.extend(confidence::of(grid).map(|of| ("Trust", of.words())));
    lines.extend(answer);
    lines.retain(|line| !line.1.is_empty());
    lines
}

/// How it was measured, as short as can be.
fn method(findings: &Findings) -> String {
    let p = &findings.provenance;
    let had = findings.cells.iter().filter_map(|cell| cell.throughput.or(cell.iops)).map(|figure| figure.rounds).max();
    let had = had.unwrap_or(p.rounds);
    let interval = if had == 1 { " without an interval" } else { "" };
    let rounds = count(had, "round");
    format!("{rounds}{interval}, {} measured on {}{}", p.window, p.span, prose::lab_drives(findings))
}

/// Why some cells have no figure. The notes are those of the table above, so their marks stand in it.
fn reasons(notes: &Notes, style: &Style) -> String {
    let shown = notes.first(REASONS, style);
    let more = notes.len().saturating_sub(REASONS);
    let more =
        if more == 0 { String::new() } else { format!("and {}: --details\n", count(more as u64, "more reason")) };
    shown + &more
}

/// What stands in place of a figure: a word, and the mark of its reason.
fn blank(state: &State, notes: &mut Notes) -> Cell {
    let word = state.word().unwrap_or_default();
    let mut reason = |why: &str| format!("{word} {}", notes.mark(&format!("{word}: {why}")));
    let (text, tone) = match state {
        State::Measured(..) | State::NotRun => (word.to_owned(), Tone::Dim),
        State::Unsteady(..) => (word.to_owned(), Tone::Warn),
        State::Failed(why) => (reason(why), Tone::Bad),
        State::Missing(why) => (reason(why), Tone::Warn),
    };
    Cell { text, tone }
}

/// Is there room for these columns side by side?
fn fits(strips: &[Strip], style: &Style) -> bool {
    strips.iter().map(|strip| strip.width() + GAP).sum::<usize>() <= style.columns() + GAP
}
