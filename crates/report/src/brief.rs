//! The report in brief: what fits a screen. The question first, the answer last, one line for each stack between them.
//!
//! Everything that it counts and leaves out stands in [`crate::terminal()`].

mod card;
mod caveats;
mod ratios;

use terms::finding::Findings;

use crate::confidence;
use crate::evidence::{count, count_of};
use crate::figure::{BEYOND, BEYOND_MARK, DAGGER, DAGGER_MEANS};
use crate::grid::{Grid, State};
use crate::notes::Notes;
use crate::prose;
use crate::sheet::{Cell, GAP, Strip};
use crate::style::{Style, Tone};
use crate::terminal::heading;
use crate::width::{Align, pad, paragraph};

/// Columns of the word before a line, with the blanks behind it.
const WORD: usize = 9;
/// Lines of a screen that are ours: of 25, two are the program's, the command for details and the page.
const LINES: usize = 25 - 2;
/// Fewest rows of a table that are still a comparison.
const ROWS: usize = 4;

/// How much is drawn. The first that fits a screen is taken; what is left out is in the details.
#[derive(Debug, Clone, Copy)]
struct Extent {
    /// Names of stacks are wrapped, not shortened.
    whole_names: bool,
    /// How it was measured and what speaks against it are said, not only the worst of that.
    asides: bool,
    /// Reasons for blanks that are told in full, after an empty line; of more, how many there are.
    reasons: usize,
    /// Rows of the table.
    rows: usize,
    /// Of many stacks that are compared, who is highest where is said too.
    leaders: bool,
}

/// From all to least, but for rows.
const EXTENTS: [Extent; 6] = [
    Extent { whole_names: true, asides: true, reasons: 3, rows: usize::MAX, leaders: true },
    Extent { whole_names: false, asides: true, reasons: 3, rows: usize::MAX, leaders: true },
    Extent { whole_names: false, asides: true, reasons: 3, rows: usize::MAX, leaders: false },
    Extent { whole_names: false, asides: false, reasons: 3, rows: usize::MAX, leaders: true },
    Extent { whole_names: false, asides: false, reasons: 1, rows: usize::MAX, leaders: true },
    Extent { whole_names: false, asides: false, reasons: 0, rows: usize::MAX, leaders: true },
];

/// The findings on a screen. One target is a card of its workloads; several stacks are ratios to the first, and what
/// comparing them says.
#[must_use]
pub fn brief(findings: &Findings, style: &Style) -> String {
    let grid = Grid::without_points(findings);
    let mut text = String::new();
    let mut least = EXTENTS[0];
    for extent in EXTENTS {
        text = drawn(&grid, extent, style);
        least = extent;
        if text.lines().count() <= LINES {
            return text;
        }
    }
    let all = if grid.stacks().len() == 1 { grid.workloads().len() } else { grid.stacks().len() };
    for leaders in [true, false] {
        let whole = drawn(&grid, Extent { leaders, ..least }, style);
        // One line says how many rows there are besides.
        let over = whole.lines().count().saturating_sub(LINES) + 1;
        let most = all.saturating_sub(over).max(ROWS);
        // What is said below the rows may take another line than it did beside more of them.
        for rows in (ROWS..=most).rev() {
            text = if rows + 1 < all { drawn(&grid, Extent { rows, leaders, ..least }, style) } else { whole.clone() };
            if text.lines().count() <= LINES {
                return text;
            }
        }
    }
    text
}

fn drawn(grid: &Grid, extent: Extent, style: &Style) -> String {
    let mut notes = Notes::default();
    let mut out = heading(grid, style);
    if grid.stacks().len() == 1 {
        let table = card::draw(grid, extent, style, &mut notes);
        out = out + &table + &legend(&table, style);
    } else {
        let table = ratios::draw(grid, extent, style, &mut notes);
        let gap = if extent.reasons > 0 { "\n" } else { "" };
        out = out + "\n" + &table + &legend(&table, style) + gap;
    }
    out.push_str(&reasons(&notes, extent.reasons, style));
    for (word, text) in lines(grid, extent) {
        out.push_str(&paragraph(&pad(word, WORD, Align::Left), &style.spell(&text), style.columns()));
    }
    out
}

/// What is said of rows that are left out.
fn left_out(all: usize, extent: Extent, noun: &str) -> String {
    let more = all.saturating_sub(extent.rows);
    if more == 0 { String::new() } else { format!("and {}: --details\n", count_of(more, &format!("more {noun}"))) }
}

/// What is said below the table, the answer last.
fn lines(grid: &Grid, extent: Extent) -> Vec<(&'static str, String)> {
    let findings = grid.findings;
    let is_card = grid.stacks().len() == 1;
    let mut lines = Vec::new();
    if extent.asides && !is_card {
        lines.extend([("Method", method(findings)), ("Caveats", caveats::of(grid))]);
    }
    lines.extend(caveats::checks(findings).map(|text| ("Checks", text)));
    lines.extend(prose::resume(&Grid::new(findings)).map(|text| ("Resume", text)));
    let trust = confidence::of(grid).map(|of| of.words());
    if is_card {
        // The card itself is the answer, and its method is short.
        lines.extend(trust.map(|trust| ("Trust", format!("{trust}; {}", measured(findings)))));
    } else {
        lines.extend(trust.map(|trust| ("Trust", trust)));
        lines.push(("Answer", prose::short(grid, extent.leaders).join(" ")));
    }
    lines.retain(|line| !line.1.is_empty());
    lines
}

/// How it was measured, as short as can be.
fn method(findings: &Findings) -> String {
    let p = &findings.provenance;
    let figures = || findings.cells.iter().filter_map(|cell| cell.throughput.or(cell.iops));
    let had = figures().map(|figure| figure.rounds).max().unwrap_or(p.rounds);
    let interval = match had {
        1 if figures().any(|figure| figure.low.is_some()) => " with the intervals of its windows",
        1 => " without an interval",
        _ => "",
    };
    let rounds = count(had, "round");
    format!("{rounds}{interval}, {}{}", measured(findings), prose::lab_drives(findings))
}

/// How long and on how much.
fn measured(findings: &Findings) -> String {
    format!("{} measured on {}", findings.provenance.window, findings.provenance.span)
}

/// Why some cells have no figure. The notes are those of the table above, so their marks stand in it.
fn reasons(notes: &Notes, most: usize, style: &Style) -> String {
    let shown = notes.first(most, style);
    let more = notes.len().saturating_sub(most);
    let more = if more == 0 {
        String::new()
    } else {
        format!(
            "{}{}: --details\n",
            if most == 0 { "" } else { "and " },
            count_of(more, if most == 0 { "reason" } else { "more reason" })
        )
    };
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

/// The cells with a mark behind figures that are flagged, and room for it behind the others.
fn marked(cells: Vec<Cell>, is_flagged: impl Iterator<Item = bool>, style: &Style) -> Vec<Cell> {
    let flagged: Vec<bool> = is_flagged.collect();
    if !flagged.contains(&true) {
        return cells;
    }
    let mark = style.spell(&format!(" {DAGGER}"));
    let behind = |flagged: bool| if flagged { mark.as_str() } else { "  " };
    cells.into_iter().zip(flagged).map(|(cell, is)| Cell { text: cell.text + behind(is), ..cell }).collect()
}

/// What marks of figures mean, where they stand above.
fn legend(table: &str, style: &Style) -> String {
    let is_shown = |mark: &str| {
        let mark = style.spell(&format!(" {mark}"));
        table.lines().any(|line| line.contains(&mark))
    };
    let is_told = table.contains(&style.spell(ratios::FLAGGED));
    let flagged = !is_told && is_shown(&DAGGER.to_string());
    let flagged = flagged.then(|| format!("{DAGGER} {DAGGER_MEANS}: --details"));
    let beyond = is_shown(BEYOND_MARK).then(|| BEYOND.to_owned());
    let lines = flagged.into_iter().chain(beyond);
    lines.map(|line| paragraph("", &style.spell(&line), style.columns())).collect()
}

/// Is there room for these columns side by side?
fn fits(strips: &[Strip], style: &Style) -> bool {
    strips.iter().map(|strip| strip.width() + GAP).sum::<usize>() <= style.columns() + GAP
}
