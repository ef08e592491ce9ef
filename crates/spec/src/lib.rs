//! Turns the text of a study into a [`Design`], and says everything that is wrong with it at once.
//!
//! [`parse`] reads, [`render`] draws notes with carets, [`schema`] and [`reference()`] describe the file.
//! This room knows keys, spans and what layers demand of each other. It knows nothing of machines.
//!
//! ```
//! let text = r#"
//! question = "What does a file system cost?"
//! lab.drives = [ { name = "a", size = "512 MiB" } ]
//! [[stack]]
//! name = "ext4"
//! layers = [ { ext4 = {}, on = "a" } ]
//! "#;
//! let (design, notes) = spec::parse(text);
//! assert!(design.is_some() && notes.is_empty());
//!
//! let (design, notes) = spec::parse(&text.replace("MiB", "Mib"));
//! assert!(design.is_none());
//! assert!(spec::render("study.toml", text, &notes, false).starts_with("error[study-bad-unit]"));
//! ```

mod absent;
mod chart;
mod feature_checks;
mod fields;
pub mod fio;
mod grammar;
mod known;
mod lab;
mod layer;
mod machine;
mod measure;
pub mod profile;
mod read;
mod reference;
mod render;
mod schema;
mod setup;
mod stack;
mod suggest;
mod syntax;
mod workload;

use terms::{Design, LabDrive, Note, NoteLevel, Span};
use toml::de::DeTable;

pub use grammar::SHORTEST_WINDOW;
pub use machine::parse_machine;
pub use reference::reference;
pub use render::render;
pub use schema::schema;
pub use suggest::{did_you_mean, nearest};

/// Reads a study. Every problem of the text is noted, in the order of the text; there is a design only if none
/// of them is an error. A design is sound by itself: whether a machine can build it is not asked here.
#[must_use]
pub fn parse(text: &str) -> (Option<Design>, Vec<Note>) {
    parse_on(text, &[])
}

/// Reads a study whose drives are these where it has no `[lab]`: to predict is all that can be done with it.
#[must_use]
pub fn parse_on(text: &str, drives: &[LabDrive]) -> (Option<Design>, Vec<Note>) {
    parse_by(&grammar::STUDY, text, |fields, notes| design(fields, drives, notes))
}

/// Reads a text by a grammar and makes a noun of it.
fn parse_by<T>(
    table: &'static grammar::Table,
    text: &str,
    make: impl Fn(&fields::Fields, &mut Vec<Note>) -> Option<T>,
) -> (Option<T>, Vec<Note>) {
    let (tree, faults) = DeTable::parse_recoverable(text);
    let syntax = syntax::notes(text, &faults);
    let mut notes = Vec::new();
    let fields = read::read(table, tree.get_ref(), None, &mut notes);
    let noun = match syntax.broken_from {
        None => make(&fields, &mut notes),
        Some(broken) => {
            // What the parser skipped would be reported as missing, what follows may be in another table than it
            // seems: only say what is certain.
            let lost = |note: &Note| note.code == read::MISSING || note.code == read::NO_KIND;
            notes.retain(|note| !lost(note) && note.span.is_some_and(|span| span.end < broken));
            None
        }
    };
    notes.extend(syntax.notes);
    for note in &mut notes {
        note.span = note.span.map(|span| tidy(text, span));
    }
    notes.sort_by_key(|note| (note.span, note.severity));
    notes.dedup();
    let sound = notes.iter().all(|note| note.severity != NoteLevel::Error);
    (noun.filter(|_| sound), notes)
}

/// Cells of a study at most.
const MOST_CELLS: usize = 10_000;

/// What is wrong with so many stacks under so many workloads; nothing where a study may have them.
#[must_use]
pub fn too_many_cells(stacks: usize, workloads: usize) -> Option<String> {
    let cells = stacks.saturating_mul(workloads);
    let told = || format!("{stacks} stacks under {workloads} workloads are {cells} cells, more than {MOST_CELLS}");
    (cells > MOST_CELLS).then(told)
}

/// Makes the nouns of the fields and checks what they mean together.
fn design(fields: &fields::Fields, drives: &[LabDrive], notes: &mut Vec<Note>) -> Option<Design> {
    let mut lab = lab::read(fields, drives, notes);
    let setups = setup::read(fields, &lab, notes);
    lab.spec.set_caches(&setups);
    lab.formats = setups.iter().filter_map(|setup| Some((setup.name.clone(), setup.lba?))).collect();
    let stacks = stack::read(fields, &lab, notes);
    let source = stack::read_source(fields, &lab, &stacks, notes);
    let own = fields.tables("workload");
    let too_many = |workloads: usize, place| {
        let message = too_many_cells(stacks.len(), workloads)?;
        Some(Note::error("study-too-many-cells", place, message).hint("split the study"))
    };
    // What is asked of each workload takes time, so they are counted first; profiles and curves bring more.
    if let Some(note) = too_many(own.len(), own.last().map(|last| last.span)) {
        notes.push(note);
        return None;
    }
    let (measure, workloads) = measure::read(fields, &lab.spec, &stacks, source.as_ref(), notes);
    if let Some(note) = too_many(workloads.len(), Some(fields.key("measure"))) {
        notes.push(note);
        return None;
    }
    let question = fields.text("question")?.to_owned();
    let charts = chart::read(fields, &workloads, notes);
    Some(Design {
        question,
        lab: lab.spec,
        setups,
        stacks: stacks.into_iter().map(|grown| grown.stack).collect(),
        sources: source.into_iter().map(|grown| grown.stack).collect(),
        workloads,
        measure,
        feature_checks: feature_checks::read(fields, notes),
        charts,
    })
}

/// Holds a span to one line of the text and to whole characters: a caret under five lines points at nothing.
fn tidy(text: &str, span: Span) -> Span {
    let start = text.floor_char_boundary(span.start.min(text.len()));
    let end = text.ceil_char_boundary(span.end.clamp(start, text.len()));
    let line = text[start..end].find(['\r', '\n']).map_or(end, |at| start + at);
    Span { start, end: line }
}
