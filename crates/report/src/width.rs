//! Text on a grid of columns: how wide it is, padding, wrapping, shortening.

use unicode_width::UnicodeWidthStr as _;

/// On which side a column is flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Columns that a text takes on a terminal; wide characters take two, combining ones none.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The text filled up with blanks to `columns`; a longer one is left alone.
pub(crate) fn pad(text: &str, columns: usize, align: Align) -> String {
    let blanks = " ".repeat(columns.saturating_sub(width(text)));
    match align {
        Align::Left => format!("{text}{blanks}"),
        Align::Right => format!("{blanks}{text}"),
    }
}

/// The text cut to `columns` at most, with `…` where something was cut.
pub(crate) fn shorten(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = take(text, columns.saturating_sub(1)).trim_end().to_owned();
    out.push('…');
    out
}

/// The text cut to `columns` at most, with `…` in place of its middle: names of stacks differ at their ends.
#[must_use]
pub fn shorten_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let head = take(text, room.div_ceil(2)).trim_end();
    let starts = text.char_indices().map(|(at, _)| at);
    let tail = starts.map(|at| &text[at..]).find(|tail| width(tail) <= room - room.div_ceil(2)).unwrap_or("");
    format!("{head}…{}", tail.trim_start())
}

/// More characters in one column are no writing that anybody reads; without an end of them a line would have none.
const PER_COLUMN: usize = 16;

/// The longest beginning that fits into `columns`.
fn take(text: &str, columns: usize) -> &str {
    // Each of these has one column, and most words have no other.
    if let Some(plain) = text.get(..columns).filter(|text| text.bytes().all(|byte| byte.is_ascii_graphic())) {
        return plain;
    }
    let mut end = 0;
    for (start, c) in text.char_indices().take(columns.max(1) * PER_COLUMN) {
        let next = start + c.len_utf8();
        if width(&text[..next]) > columns {
            break;
        }
        end = next;
    }
    &text[..end]
}

/// Does a text not fit into `columns`? It looks no further than there, and no character has more columns than bytes.
fn is_wider(text: &str, columns: usize) -> bool {
    text.len() > columns && take(text, columns).len() < text.len()
}

/// What looks like a blank, and no line is broken at.
pub(crate) const UNBROKEN: char = '\u{a0}';

/// The text in lines of at most `columns`, broken at blanks, and inside a word only where one is too long.
/// There is always at least one line.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let is_gap = |c: char| c.is_whitespace() && c != UNBROKEN;
    for word in text.split(is_gap).filter(|word| !word.is_empty()) {
        if !line.is_empty() && width(&line) + 1 + width(word) > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        let mut rest = word;
        while is_wider(rest, columns.saturating_sub(width(&line))) {
            let head = take(rest, columns.saturating_sub(width(&line)));
            line.push_str(head);
            lines.push(std::mem::take(&mut line));
            rest = &rest[head.len()..];
        }
        line.push_str(rest);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines.iter().map(|line| line.replace(UNBROKEN, " ")).collect()
}

/// A paragraph: `first` before the first line, as many blanks before the others.
#[must_use]
pub fn paragraph(first: &str, text: &str, columns: usize) -> String {
    let indent = width(first);
    let lines = wrap(text, columns.saturating_sub(indent));
    lines.iter().enumerate().fold(String::new(), |mut out, (number, line)| {
        out.push_str(&if number == 0 { first.to_owned() } else { " ".repeat(indent) });
        out.push_str(line);
        out.push('\n');
        out
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(width("硬盘 a"), 6);
        assert_eq!(pad("硬盘", 6, Align::Right), "  硬盘");
        assert_eq!(shorten("硬盘硬盘", 5), "硬盘…");
    }

    #[test]
    fn a_mark_stays_with_its_word() {
        let text = format!("equal within 3 % ?{UNBROKEN}undecided");
        assert_eq!(wrap(&text, 20), ["equal within 3 %", "? undecided"]);
    }

    #[test]
    fn what_has_no_end_of_marks_has_an_end_of_lines() {
        let marks = format!("a{}", "\u{301}".repeat(100));
        let lines = wrap(&marks, 2);
        assert!(lines.len() > 1 && lines.concat() == marks, "{lines:?}");
    }

    #[test]
    fn paragraphs_hang() {
        assert_eq!(paragraph("[1] ", "one two three", 11), "[1] one two\n    three\n");
    }

    proptest! {
        #[test]
        fn padding_reaches_its_width(text in "[a-z硬盘é ]{0,12}", columns in 0usize..40) {
            for align in [Align::Left, Align::Right] {
                prop_assert_eq!(width(&pad(&text, columns, align)), columns.max(width(&text)));
            }
        }

        #[test]
        fn wrapping_fits_and_loses_nothing(text in "[a-z硬盘 ]{0,60}", columns in 2usize..30) {
            let lines = wrap(&text, columns);
            prop_assert!(lines.iter().all(|line| width(line) <= columns), "{:?}", lines);
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }

        #[test]
        fn shortening_fits(text in "\\PC{0,40}", columns in 1usize..30) {
            prop_assert!(width(&shorten(&text, columns)) <= columns);
        }
    }
}
