//! What a stack may be built for.

use std::fmt;

words! {
    /// What a stack may be built for.
    #[derive(PartialOrd, Ord)]
    pub enum Feature {
        /// What is stored cannot be read without the key.
        Encryption = "encryption",
        /// A drive may go.
        Redundancy = "redundancy",
        /// Wrong data from a drive are found, and put right.
        Corruption = "corruption",
        /// A snapshot restores what was there before.
        Snapshot = "snapshot",
    }
}

impl Feature {
    /// The heading of its column.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Encryption => "Encryption",
            Self::Redundancy => "Redundancy",
            Self::Corruption => "Scrubbing",
            Self::Snapshot => "Snapshot",
        }
    }

    /// From the word of a study.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|feature| feature.word() == word)
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
