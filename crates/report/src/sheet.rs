//! A table of text: columns as wide as their widest line, headings above, cells of several lines.

use crate::style::{Style, Tone};
use crate::width::{Align, pad, width};

/// Blanks between two columns.
pub(crate) const GAP: usize = 2;

/// A piece of text in its tone; line ends begin a new line in the cell.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    /// The text.
    pub(crate) text: String,
    /// Its tone.
    pub(crate) tone: Tone,
}

impl Cell {
    /// Text of no special tone.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), tone: Tone::Plain }
    }
}

/// A column with its heading and its cells.
#[derive(Debug, Clone)]
pub(crate) struct Strip {
    /// Lines of the heading; they stand at the bottom of the heading's space.
    pub(crate) heading: Vec<String>,
    /// Flush left or right.
    pub(crate) align: Align,
    /// One for every row.
    pub(crate) cells: Vec<Cell>,
}

impl Strip {
    /// Columns it takes.
    pub(crate) fn width(&self) -> usize {
        let heading = self.heading.iter().map(String::as_str);
        let cells = self.cells.iter().flat_map(|cell| cell.text.lines());
        heading.chain(cells).map(width).max().unwrap_or(0)
    }
}

/// The strips side by side. Lines have no blanks at their ends.
pub(crate) fn render(strips: &[&Strip], style: &Style) -> String {
    let widths: Vec<usize> = strips.iter().map(|strip| strip.width()).collect();
    let mut out = String::new();
    let head = strips.iter().map(|strip| strip.heading.len()).max().unwrap_or(0);
    for line in 0..head {
        let pieces = strips.iter().map(|strip| {
            let text = (line + strip.heading.len()).checked_sub(head).map_or("", |at| &strip.heading[at]);
            (text, Tone::Strong, strip.align)
        });
        push_line(&mut out, pieces, &widths, style);
    }
    let rows = strips.iter().map(|strip| strip.cells.len()).max().unwrap_or(0);
    for row in 0..rows {
        let height = strips.iter().filter_map(|s| s.cells.get(row)).map(|c| c.text.lines().count()).max().unwrap_or(1);
        for line in 0..height.max(1) {
            let pieces = strips.iter().map(|strip| {
                let cell = strip.cells.get(row);
                let text = cell.and_then(|cell| cell.text.lines().nth(line)).unwrap_or("");
                (text, cell.map_or(Tone::Plain, |cell| cell.tone), strip.align)
            });
            push_line(&mut out, pieces, &widths, style);
        }
    }
    out
}

/// One line of pieces; blanks at the end are dropped before colours are put in.
fn push_line<'a>(
    out: &mut String,
    pieces: impl Iterator<Item = (&'a str, Tone, Align)>,
    widths: &[usize],
    style: &Style,
) {
    let pieces: Vec<_> = pieces.collect();
    let last = pieces.iter().rposition(|(text, ..)| !text.trim_end().is_empty());
    for (at, ((text, tone, align), columns)) in pieces.iter().zip(widths).enumerate() {
        let Some(last) = last.filter(|last| at <= *last) else { break };
        let padded = pad(text, *columns, *align);
        out.push_str(&style.paint(*tone, if at == last { padded.trim_end() } else { &padded }));
        if at < last {
            out.push_str(&" ".repeat(GAP));
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_their_headings() {
        let strip = |heading: &[&str], align, cells: &[&str]| Strip {
            heading: heading.iter().map(|&line| line.to_owned()).collect(),
            align,
            cells: cells.iter().map(|&text| Cell::plain(text)).collect(),
        };
        let name = strip(&["STACK"], Align::Left, &["硬盘", "a\nb"]);
        let value = strip(&["SEQ", "MiB/s"], Align::Right, &["1", "12345"]);
        let text = render(&[&name, &value], &Style::default());
        assert_eq!(text, "         SEQ\nSTACK  MiB/s\n硬盘       1\na      12345\nb\n");
    }
}
