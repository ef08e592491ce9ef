//! The report on a terminal: one row for each stack, one column for each workload, split into several tables where
//! the terminal is narrow.

mod listings;
pub(crate) mod strips;

use terms::finding::Findings;

use crate::evidence::believe::{asked, fewer};
use crate::evidence::{chart, feature_checks};
use crate::figure::{BEYOND, BEYOND_MARK, FACTOR, HALF};
use crate::grid::Grid;
use crate::listing::Form;
use crate::notes::Notes;
use crate::prose;
use crate::sections::{SECTIONS, Section};
use crate::sheet::{self, GAP, Strip};
use crate::style::{Style, Tone};
use crate::width::{Align, pad, paragraph, wrap};

/// Columns of a mark in the legend, with the blanks behind it.
const MARK: usize = 4;

/// The findings as text for a terminal: the question, the label of emulated rates, the answer, then all sections that a
/// terminal has.
#[must_use]
pub fn terminal(findings: &Findings, style: &Style) -> String {
    let grid = Grid::without_points(findings);
    let mut out = heading(&grid, style);
    out.push('\n');
    out.push_str(&paragraph("", &style.spell(&prose::summary(&grid)), style.columns()));
    out.extend(SECTIONS.into_iter().map(|section| told(section, &grid, style)));
    out
}

/// A section as a terminal has it; empty where it has none.
fn told(section: Section, grid: &Grid, style: &Style) -> String {
    match section {
        Section::Ratios => ratios(grid, style),
        Section::Workloads => listings::rankings(grid, style) + &limited_by(grid, style),
        Section::SideBySide => side_by_side(grid, style),
        Section::Trust => listings::believe(grid, style),
        Section::FeatureChecks => feature_checks::listing(&grid.findings.feature_checks)
            .map(|all| listings::listing(&all, style))
            .unwrap_or_default(),
        Section::Tables(made) => {
            let shown = made(grid, style).into_iter().filter(|listing| listing.only != Some(Form::Page));
            shown.map(|listing| listings::listing(&listing, style)).collect()
        }
        Section::NotChecked => not_checked(grid.findings, style),
        Section::Method => origin(grid, style),
        // Drawings, and what `bedplate machine` and the columns of a table tell.
        Section::Time | Section::Figures | Section::Stacks | Section::Builds | Section::Machine => String::new(),
    }
}

/// A table of throughput, a table of ratios to the first stack, and a footnote for everything that has no figure.
fn ratios(grid: &Grid, style: &Style) -> String {
    let mut notes = Notes::default();
    let all: Vec<usize> = (0..grid.stacks().len()).collect();
    let name = strips::stacks(grid, &all, style);
    let mut figures = strips::rates(grid, style, &mut notes);
    let mut out = section(style, &format!("Throughput, {}", prose::figures(grid.findings)));
    tables(&mut out, &name, &figures, style);
    if let [first, _, ..] = grid.stacks() {
        let ratios = strips::ratios(grid, &all, style);
        out.push_str(&section(style, &format!("Ratio to {}, paired within rounds", first.name)));
        tables(&mut out, &name, &ratios, style);
        figures.extend(ratios);
    }
    out + &legend(grid, style, &figures, &notes)
}

/// What limits each cell; empty where nothing is known.
fn limited_by(grid: &Grid, style: &Style) -> String {
    let bottlenecks = listings::bottlenecks(grid);
    if bottlenecks.is_empty() {
        return String::new();
    }
    let all: Vec<usize> = (0..grid.stacks().len()).collect();
    let mut out = section(style, "Limited by");
    tables(&mut out, &strips::stacks(grid, &all, style), &bottlenecks, style);
    out
}

/// A listing by itself.
pub(crate) fn listed(listing: &crate::listing::Listing, style: &Style) -> String {
    listings::listing(listing, style)
}

/// Question and label.
pub(crate) fn heading(grid: &Grid, style: &Style) -> String {
    let mut out = String::new();
    let columns = style.columns();
    for line in wrap(&style.spell(&grid.findings.provenance.question), columns) {
        out.push_str(&style.paint(Tone::Strong, &line));
        out.push('\n');
    }
    out + &labelled(prose::label(grid.findings), style)
}

/// The label of emulated rates, where there is one.
pub(crate) fn labelled(label: Option<String>, style: &Style) -> String {
    let text = label.map(|label| paragraph("! ", &style.spell(&label), style.columns())).unwrap_or_default();
    text.lines().map(|line| style.paint(Tone::Warn, line) + "\n").collect()
}

/// Stacks side by side, as the study asks for: ratios to the first of each chart.
fn side_by_side(grid: &Grid, style: &Style) -> String {
    let mut out = String::new();
    for of in chart::all(grid) {
        let first = of.stacks.first().map(|first| format!("; ratio to {}", grid.stacks()[*first].name));
        out.push_str(&section(style, &format!("{}{}", of.chart.title, first.unwrap_or_default())));
        for remark in of.remarks() {
            out.push_str(&paragraph("", &style.spell(&remark), style.columns()));
        }
        if of.is_shown() {
            let name = strips::stacks(grid, &of.stacks, style);
            tables(&mut out, &name, &strips::side_by_side(grid, &of, style), style);
        }
    }
    out
}

/// The title of a section, after a blank line.
fn section(style: &Style, title: &str) -> String {
    let lines = wrap(&style.spell(title), style.columns());
    lines.iter().fold("\n".to_owned(), |out, line| out + &style.paint(Tone::Dim, line) + "\n")
}

/// The strips beside the names, in as many tables as the width asks for.
pub(crate) fn tables(out: &mut String, name: &Strip, strips: &[Strip], style: &Style) {
    let mut rest = strips;
    while !rest.is_empty() {
        let mut room = style.columns().saturating_sub(name.width());
        let fitting = rest.iter().take_while(|strip| {
            let needs = strip.width() + GAP;
            let fits = needs <= room;
            room = room.saturating_sub(needs);
            fits
        });
        let (now, later) = rest.split_at(fitting.count().max(1));
        let table: Vec<&Strip> = std::iter::once(name).chain(now).collect();
        out.push('\n');
        out.push_str(&sheet::render(&table, style));
        rest = later;
    }
}

/// What the marks mean, and the footnotes.
fn legend(grid: &Grid, style: &Style, figures: &[Strip], notes: &Notes) -> String {
    let shown = |mark: &str| {
        let mark = style.spell(mark);
        figures.iter().flat_map(|strip| &strip.cells).any(|cell| cell.text.contains(&mark))
    };
    let single =
        if grid.findings.provenance.rounds == 1 { "1 round: no interval" } else { "1 round left: no interval" };
    let marks = [
        ("*", shown("*"), prose::highest_means(grid)),
        // A percentage ends in its sign, a missing interval in a question mark.
        ("±", shown(" %"), HALF),
        ("×÷", shown("×÷"), FACTOR),
        ("×÷", shown(BEYOND_MARK), BEYOND),
        ("±?", shown("±?"), single),
    ];
    let line = |(mark, _, text): &(&str, bool, &str)| {
        paragraph(&pad(&style.spell(mark), MARK, Align::Left), &style.spell(text), style.columns())
    };
    let answers = listings::answers(grid).into_iter().map(|(mark, text)| line(&(mark, true, &text)));
    let text = marks.iter().filter(|mark| mark.1).map(line).chain(answers).collect::<String>() + &notes.render(style);
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// What nobody should believe was checked.
fn not_checked(findings: &Findings, style: &Style) -> String {
    if findings.not_checked.is_empty() {
        return String::new();
    }
    let lines = findings.not_checked.iter().map(|item| paragraph("- ", &style.spell(item), style.columns()));
    lines.fold(section(style, "Not checked"), |out, line| out + &line)
}

/// Where it came from and how to run it again.
fn origin(grid: &Grid, style: &Style) -> String {
    let findings = grid.findings;
    let p = &findings.provenance;
    let rounds = match fewer(findings) {
        Some(had) => format!("{had} of {} rounds", asked(findings)),
        None if p.rounds == 1 && !p.policy().is_sequential() => "1 round".to_owned(),
        None => format!("{} rounds", asked(findings)),
    };
    let fio = findings.inventory.programs.iter().find(|program| program.name == "fio");
    let mut facts = vec![
        format!(
            "{rounds} of {} after {} settling on {}{}",
            p.window,
            prose::settling(findings),
            p.span,
            prose::lab_drives(findings)
        ),
        format!("seed {}", p.seed),
        format!("bedplate {} ({})", p.version, p.build),
    ];
    facts.extend(fio.and_then(|program| program.version.clone()));
    facts.push(format!("kernel {}", findings.inventory.kernel));
    facts.push(format!("run {} of {}", p.run, p.started));
    let mut out = section(style, "How it was measured, and how to run it again");
    out.push_str(&paragraph("", &style.spell(&facts.join(" · ")), style.columns()));
    // What is copied must not be broken inside a word, so commands and paths are never wrapped.
    out.push_str(&style.spell(&p.command_line()));
    out.push('\n');
    out.push_str(&paragraph("", &style.spell(&prose::kept(findings)), style.columns()));
    out.push_str(&style.spell(&prose::kept_path(findings)));
    out.push('\n');
    if let Some(resume) = prose::resume(&Grid::new(findings)) {
        out.push_str(&paragraph("! ", &style.spell(&resume), style.columns()));
    }
    out
}
