//! Footnotes: each text once, numbered as they come up.

use std::collections::BTreeMap;

use crate::style::Style;
use crate::width::paragraph;

/// The footnotes of a report or a table.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    all: Vec<String>,
    /// Where each stands.
    known: BTreeMap<String, usize>,
}

impl Notes {
    /// The mark of a note, such as `[2]`.
    pub(crate) fn mark(&mut self, text: &str) -> String {
        if let Some(at) = self.known.get(text) {
            return format!("[{}]", at + 1);
        }
        self.known.insert(text.to_owned(), self.all.len());
        self.all.push(text.to_owned());
        format!("[{}]", self.all.len())
    }

    /// How many there are.
    pub(crate) const fn len(&self) -> usize {
        self.all.len()
    }

    /// The notes with their marks, wrapped; nothing where there are none.
    pub(crate) fn render(&self, style: &Style) -> String {
        self.first(self.len(), style)
    }

    /// The first notes.
    pub(crate) fn first(&self, most: usize, style: &Style) -> String {
        let line =
            |(at, text): (usize, &String)| paragraph(&format!("[{}] ", at + 1), &style.spell(text), style.columns());
        self.all.iter().take(most).enumerate().map(line).collect()
    }
}
