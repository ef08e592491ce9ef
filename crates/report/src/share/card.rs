//! A picture of 1200 by 630, the size that links are shown with: question, answer, ratios, what it was had with.

use terms::finding::Findings;
use terms::spelling::spell_inline;

use super::{Cell, Ratio, Shared};
use crate::evidence::count_of;
use crate::svg::canvas::{Canvas, px, text_width};
use crate::svg::ratios;
use crate::terminal::strips::heading;
use crate::width::{shorten, shorten_middle, width, wrap};

/// Size in pixels.
const SIZE: (f64, f64) = (1200.0, 630.0);
/// Blank around everything.
const EDGE: f64 = 48.0;
/// Stacks and workloads that have room; what is more stands on the page.
const STACKS: usize = 6;
const WORKLOADS: usize = 4;
/// Width of the names of stacks.
const NAMES: f64 = 330.0;
/// Height of a row.
const ROW: f64 = 40.0;
/// Height of a line of a heading.
const HEADING: f64 = 18.0;
/// Characters of the question in a line: bold letters of the widest usual font, DejaVu Sans, take 22 pixels each.
const QUESTION: usize = 50;
/// Characters of a name in a line of its own, and in each of two lines of small letters.
const NAME: usize = 26;
const SMALL_NAME: usize = 34;
/// Radius of a dot.
const DOT: f64 = 7.0;
/// Lines of the answer and of how far it can be trusted, and characters in each; at most so many.
const LINES: usize = 4;
const TRUST: usize = 2;
const TEXT: usize = 104;
/// Height of a line of text, and of a small one.
const LINE: f64 = 24.0;
const SMALL_LINE: f64 = 20.0;
/// Between the last line of text and the first small one.
const GAP: f64 = 8.0;
/// Characters of a small line.
const SMALL: usize = 140;

/// Colours and fonts of its own, light and dark: the picture stands alone.
const STYLE: &str = "text{font:20px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#1c2430}\
.q{font-size:34px;font-weight:700}.b{font-weight:600}.n{font-size:16px;font-weight:600}.s{font-size:15px;fill:#5a6675}.w{fill:#8a4b00;font-size:16px}\
.bg{fill:#fff}.rule{stroke:#c9d1da}.line{stroke:#2563a8;stroke-width:3}.dot{fill:#2563a8}.open{fill:#fff;stroke:#2563a8;stroke-width:2}";

/// The findings as one SVG that loads nothing.
#[must_use]
pub fn card(findings: &Findings) -> String {
    let of = Shared::of(findings);
    let mut canvas = Canvas::default();
    canvas.element("rect", &[("class", &"bg"), ("width", &"100%"), ("height", &"100%")]);
    let mut top = EDGE + 24.0;
    for line in lines(&of.question, QUESTION, 2) {
        write(&mut canvas, "q", EDGE, top, &line);
        top += 40.0;
    }
    if let Some(label) = &of.label {
        write(&mut canvas, "w", EDGE, top - 6.0, label);
        top += 24.0;
    }
    // What has to be there whatever the answer is stands at the foot. The table has the room that is left.
    let trust = of.trust.iter().map(|trust| format!("Trust {trust}.")).collect::<String>();
    let said = [whole(&of.answer, TEXT, LINES), lines(&trust, TEXT, TRUST)].concat();
    let mut foot = lines(&legend(&of, findings), SMALL, 2);
    foot.push(shorten(&format!("{} · {}", of.run, of.machine), SMALL));
    let tall = |lines: &[String], line: f64| f64::from(u32::try_from(lines.len()).unwrap_or(0)) * line;
    let small = SIZE.1 - EDGE / 2.0 + SMALL_LINE - tall(&foot, SMALL_LINE);
    let below = small - GAP - tall(&said, LINE);
    table(&mut canvas, &of, top + 14.0, below - LINE);
    for (class, lines, first, line) in [("", said, below, LINE), ("s", foot, small, SMALL_LINE)] {
        let mut y = first;
        for text in lines {
            write(&mut canvas, class, EDGE, y, &text);
            y += line;
        }
    }
    let drawn = canvas.fixed(SIZE, "card", &spell_inline(&of.question), " xmlns=\"http://www.w3.org/2000/svg\"");
    drawn.replacen('>', &format!("><style>{STYLE}</style>"), 1)
}

/// What stands in the table and what its marks mean.
fn legend(of: &Shared, findings: &Findings) -> String {
    let cells = || of.rows.iter().flat_map(|row| &row.cells);
    let ratios = || cells().filter_map(|cell| cell.ratio);
    let first = of.rows.first().filter(|_| ratios().next().is_some());
    let mut parts: Vec<String> =
        first.map(|first| format!("Per cent of {}.", shorten_middle(&first.name, 40))).into_iter().collect();
    if ratios().any(|ratio| ratio.interval.is_some()) {
        parts.push("Lines: joint 95 % intervals.".to_owned());
    }
    if cells().any(|cell| cell.text.contains('=')) {
        parts.push(format!("=: equal within ±{}.", findings.provenance.policy().margin));
    }
    if ratios().any(|ratio| ratio.open) {
        parts.push("? and hollow: undecided.".to_owned());
    }
    parts.extend(of.flags());
    parts.join(" ")
}

/// Heading, and rows as far as there is room.
fn table(canvas: &mut Canvas, of: &Shared, top: f64, bottom: f64) {
    let shown = of.workloads.len().min(WORKLOADS);
    let columns = f64::from(u32::try_from(shown).unwrap_or(1)).max(1.0);
    let wide = (SIZE.0 - 2.0 * EDGE - NAMES) / columns;
    let left = |column: usize| EDGE + NAMES + wide * f64::from(u32::try_from(column).unwrap_or(0));
    for (column, title) in of.workloads.iter().take(shown).enumerate() {
        // What differs between workloads may stand at the end of their titles.
        let mut lines = heading(title);
        if lines.len() > 2 {
            lines = vec![lines[0].clone(), lines[1..].join(" ")];
        }
        for (text, y) in lines.iter().zip([top, top + HEADING]) {
            write(canvas, "s", left(column) + 8.0, y, &shorten(text, 24));
        }
    }
    let top = top + HEADING;
    let far = |cell: &Cell| {
        let ratio = cell.ratio.as_ref()?;
        let (low, high) = ratio.interval.unwrap_or((ratio.value, ratio.value));
        Some(low.ln().abs().max(high.ln().abs()))
    };
    let mut y = top + 12.0;
    // Where rows are left out, a line says how many.
    let room = |rows: usize| y + ROW * f64::from(u32::try_from(rows).unwrap_or(1)) + SMALL_LINE <= bottom;
    let stacks = (1..=STACKS.min(of.rows.len())).rev().find(|rows| room(*rows)).unwrap_or(1);
    // One axis for what is drawn: what is left out would only make it coarser.
    let drawn = of.rows.iter().take(stacks).flat_map(|row| row.cells.iter().take(shown));
    let end = ratios::end(drawn.filter_map(far).fold(0.0, f64::max));
    for row in of.rows.iter().take(stacks) {
        canvas.element(
            "line",
            &[("class", &"rule"), ("x1", &px(EDGE)), ("x2", &px(SIZE.0 - EDGE)), ("y1", &px(y)), ("y2", &px(y))],
        );
        if width(&row.name) <= NAME {
            write(canvas, "b", EDGE, y + ROW / 2.0 + 7.0, &row.name);
        } else {
            let name = lines(&shorten_middle(&row.name, 2 * SMALL_NAME - 8), SMALL_NAME, 2);
            for (line, at) in name.iter().zip([ROW / 2.0 - 3.0, ROW / 2.0 + 14.0]) {
                write(canvas, "n", EDGE, y + at, line);
            }
        }
        for (column, cell) in row.cells.iter().take(shown).enumerate() {
            draw_cell(canvas, cell, (left(column) + 8.0, y + ROW / 2.0), wide - 16.0, end);
        }
        y += ROW;
    }
    let more = [(of.rows.len(), stacks, "more stack"), (of.workloads.len(), WORKLOADS, "more workload")];
    let more: Vec<String> = more
        .iter()
        .filter(|(all, shown, _)| all > shown)
        .map(|(all, shown, noun)| count_of(all - shown, noun))
        .collect();
    if !more.is_empty() {
        write(canvas, "s", EDGE, y + 14.0, &format!("and {}: see the page", more.join(", ")));
    }
}

/// A dot with its interval on an axis around 1 that ends at `end`, and the figure beside it; the figure alone where there is
/// no ratio.
fn draw_cell(canvas: &mut Canvas, cell: &Cell, (left, middle): (f64, f64), wide: f64, end: f64) {
    let Some(Ratio { value, interval, open }) = cell.ratio else {
        write(canvas, "", left, middle + 7.0, &cell.text);
        return;
    };
    let label = text_width("100 % ?", 20.0);
    let track = (wide - label - 12.0).max(20.0);
    let half = track / 2.0;
    let place = |ratio: f64| left + half + (half - DOT) * (ratio.ln() / end.ln()).clamp(-1.0, 1.0);
    let line = |canvas: &mut Canvas, class: &str, ends: (f64, f64), tall: (f64, f64)| {
        let (x1, x2, y1, y2) = (px(ends.0), px(ends.1), px(tall.0), px(tall.1));
        canvas.element("line", &[("class", &class), ("x1", &x1), ("x2", &x2), ("y1", &y1), ("y2", &y2)]);
    };
    line(canvas, "rule", (place(1.0), place(1.0)), (middle - 14.0, middle + 14.0));
    if let Some((low, high)) = interval {
        line(canvas, "line", (place(low), place(high)), (middle, middle));
    }
    let class = if open { "open" } else { "dot" };
    canvas.element("circle", &[("class", &class), ("cx", &px(place(value))), ("cy", &px(middle)), ("r", &px(DOT))]);
    write(canvas, "", left + track + 4.0, middle + 7.0, &cell.text);
}

fn write(canvas: &mut Canvas, class: &str, x: f64, y: f64, text: &str) {
    // A picture has no code; a command in it is told by its dashes.
    canvas.text(&spell_inline(&text.replace('`', "")), &[("class", &class), ("x", &px(x)), ("y", &px(y))]);
}

/// As many whole sentences, the first ones first, as so many lines hold; of one that is longer than that, its beginning.
fn whole(sentences: &[String], columns: usize, most: usize) -> Vec<String> {
    let fit = |count: usize| wrap(&sentences[..count].join(" "), columns).len() <= most;
    let count = (1..=sentences.len()).rev().find(|count| fit(*count)).unwrap_or(1);
    lines(&sentences[..count.min(sentences.len())].join(" "), columns, most)
}

/// At most so many lines; the last one says that there is more.
fn lines(text: &str, columns: usize, most: usize) -> Vec<String> {
    let mut lines = if text.is_empty() { Vec::new() } else { wrap(text, columns) };
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = shorten(&format!("{last} …"), columns);
        }
    }
    lines
}
