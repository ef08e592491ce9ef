//! Footnotes: each text once, numbered as they come up.

use crate::style::Style;
use crate::width::paragraph;

/// The footnotes of a report or a table.
#[derive(Debug, Default)]
pub(crate) struct Notes(Vec<String>);

impl Notes {
    /// The mark of a note, such as `[2]`.
    pub(crate) fn mark(&mut self, text: &str) -> String {
        let at = self.0.iter().position(|known| known == text).unwrap_or_else(|| {
            self.0.push(text.to_owned());
            self.0.len() - 1
        });
        format!("[{}]", at + 1)
    }

    /// How many there are.
    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    /// The notes with their marks, wrapped; nothing where there are none.
    pub(crate) fn render(&self, style: &Style) -> String {
        self.first(self.len(), style)
    }

    /// The first notes.
    pub(crate) fn first(&self, most: usize, style: &Style) -> String {
        let line =
            |(at, text): (usize, &String)| paragraph(&format!("[{}] ", at + 1), &style.spell(text), style.columns());
        self.0.iter().take(most).enumerate().map(line).collect()
    }
}
