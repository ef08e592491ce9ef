//! Why a text is not a capture, with the place.

use std::fmt;

/// Most characters of a line that are shown, around the place.
const SHOWN: usize = 76;

/// Why a text is not a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadCapture {
    /// The file's name.
    pub name: String,
    /// Number of the line, from 1.
    pub line: usize,
    /// Number of the character in the line, from 1.
    pub column: usize,
    /// The line.
    pub text: String,
    /// What is wrong there.
    pub what: String,
}

impl std::error::Error for BadCapture {}

impl fmt::Display for BadCapture {
    /// The place, the line, and a caret under what is wrong.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.column.saturating_sub(1).saturating_sub(SHOWN / 2);
        let shown: String =
            self.text.chars().skip(start).take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
        let number = self.line.to_string();
        let blank = " ".repeat(number.len());
        let dots = if start > 0 { "…" } else { "" };
        let lead = " ".repeat(self.column.saturating_sub(1).saturating_sub(start) + dots.chars().count());
        writeln!(f, "{}:{}:{}: {}", self.name, self.line, self.column, self.what)?;
        writeln!(f, "{blank} |")?;
        writeln!(f, "{number} | {dots}{shown}")?;
        write!(f, "{blank} | {lead}^")
    }
}
