//! Notes: what is wrong, or worth saying, about an input, a plan or a machine.

use serde::{Deserialize, Serialize};

/// How much a note matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoteLevel {
    /// Nothing may be built from this.
    Error,
    /// It works, and something about it is likely not what was meant.
    Warning,
    /// Worth knowing.
    Info,
}

/// A half-open range of bytes in the text of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// One thing that is wrong or worth saying.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Note {
    /// Where in the text, if it is about a place.
    pub span: Option<Span>,
    /// How much it matters.
    pub severity: NoteLevel,
    /// A stable code, such as `study-unknown-key`.
    pub code: String,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The few words that stand beside the caret.
    pub label: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Note {
    /// An error at a place.
    #[must_use]
    pub fn error(code: &str, span: Option<Span>, message: impl Into<String>) -> Self {
        Self {
            span,
            severity: NoteLevel::Error,
            code: code.to_owned(),
            message: message.into(),
            label: None,
            hint: None,
        }
    }

    /// The same note as a warning.
    #[must_use]
    pub fn as_warning(mut self) -> Self {
        self.severity = NoteLevel::Warning;
        self
    }

    /// The same note with words beside the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// The same note with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
