//! What the TOML parser has to say, as notes.

use terms::{Note, Span};
use toml::de::Error;

/// What the text is as TOML.
pub(crate) struct Syntax {
    /// One note for each fault.
    pub(crate) notes: Vec<Note>,
    /// Where the first fault begins after which the tree cannot be trusted, if there is one.
    pub(crate) broken_from: Option<usize>,
}

/// Faults of the text as TOML, without those that are an echo of another: a second one on the same line, and
/// what a table that was never closed makes of the lines after it.
pub(crate) fn notes(text: &str, faults: &[Error]) -> Syntax {
    let mut found: Vec<Note> = Vec::new();
    let mut broken_from: Option<usize> = None;
    let mut last: Option<(usize, bool)> = None;
    let ends: Vec<usize> =
        if faults.is_empty() { Vec::new() } else { text.match_indices('\n').map(|(at, _)| at).collect() };
    for fault in faults {
        let span = fault.span().map(|range| Span { start: range.start, end: range.end });
        let at = text.floor_char_boundary(span.map_or(0, |span| span.start).min(text.len()));
        if is_duplicate(fault) {
            let message = "this key is written twice in one table";
            found.push(Note::error("study-duplicate-key", span, message).hint("keep one of the two"));
            continue;
        }
        let line = ends.partition_point(|end| *end < at);
        let line_start = line.checked_sub(1).map_or(0, |before| ends[before] + 1);
        broken_from = Some(broken_from.map_or(line_start, |from| from.min(line_start)));
        let unclosed = fault.message().contains("inline table") || fault.message().contains("missing comma");
        let echo = last.is_some_and(|(before, open)| line == before || (open && unclosed && line == before + 1));
        last = Some((line, unclosed));
        if !echo {
            found.push(note(fault, span));
        }
    }
    Syntax { notes: found, broken_from }
}

/// TOML refuses a key that is written twice; everything else about the text is then well.
fn is_duplicate(fault: &Error) -> bool {
    fault.message().contains("duplicate key")
}

fn note(fault: &Error, span: Option<Span>) -> Note {
    let (message, expected) = match fault.message().split_once(", expected ") {
        Some((message, expected)) => (message, Some(expected)),
        None => (fault.message(), None),
    };
    let note = Note::error("study-syntax", span, format!("not TOML: {message}"));
    match expected {
        Some(expected) => note.label(format!("expected {expected}")),
        None => note,
    }
}
