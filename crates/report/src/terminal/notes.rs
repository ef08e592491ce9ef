//! Footnotes: each text once, numbered as they come up.

/// The footnotes of a report.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<String>);

impl Notes {
    /// The mark of a note, such as `[2]`.
    pub(super) fn mark(&mut self, text: &str) -> String {
        let at = self.0.iter().position(|known| known == text).unwrap_or_else(|| {
            self.0.push(text.to_owned());
            self.0.len() - 1
        });
        format!("[{}]", at + 1)
    }

    /// The notes with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &str)> {
        self.0.iter().enumerate().map(|(at, text)| (at + 1, text.as_str()))
    }
}
