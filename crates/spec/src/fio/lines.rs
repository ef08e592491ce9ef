//! The lines of a job file: sections, options, comments, as fio reads them (`__parse_jobs_ini` in its `init.c`).

use terms::{Note, Span};

/// A section and its options in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) options: Vec<Option_>,
}

impl Section {
    /// Does it speak for the jobs behind it? fio looks at the beginning of its name only.
    pub(super) fn is_global(&self) -> bool {
        self.name.starts_with("global")
    }
}

/// One option; an option without a value has an empty one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Option_ {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) span: Span,
}

/// Reads every line. What is none of these is noted and passed over.
pub(super) fn read(text: &str, notes: &mut Vec<Note>) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut start = 0;
    for whole in text.split_inclusive('\n') {
        // A comment begins anywhere in a line.
        let line = whole.split(['#', ';']).next().unwrap_or_default().trim();
        let begin = start + (whole.len() - whole.trim_start().len()).min(whole.len());
        let span = Span { start: begin, end: begin + line.len() };
        start += whole.len();
        if line.is_empty() {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            sections.push(Section { name: name.trim().to_owned(), span, options: Vec::new() });
        } else if line.starts_with("include") {
            let note = Note::error("fio-include", Some(span), "another file would be read");
            notes.push(note.hint("put what it holds into this file"));
        } else if let Some(section) = sections.last_mut() {
            section.options.push(option(line, span, notes));
        } else {
            let note = Note::error("fio-no-section", Some(span), "an option before any section");
            notes.push(note.hint("begin with [global] or [name]"));
        }
    }
    sections
}

fn option(line: &str, span: Span, notes: &mut Vec<Note>) -> Option_ {
    let (key, value) = line.split_once('=').map_or((line, ""), |(key, value)| (key.trim(), value.trim()));
    if value.contains('$') {
        let note = Note::error("fio-variable", Some(span), "the value holds a variable, which fio would fill in");
        notes.push(note.hint("write the value"));
    }
    Option_ { key: key.to_owned(), value: value.trim_matches('"').to_owned(), span }
}
