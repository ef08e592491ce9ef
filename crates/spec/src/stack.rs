//! Stacks: entries of `layers` become a graph of nodes in building order.

mod entry;
mod geometry;
mod grow;
mod members;
mod order;
mod shape;

use std::collections::{HashMap, HashSet};

use terms::{Bytes, Name, Note, NoteLevel, Span, Stack, slug};

use crate::fields::{Fields, too_many};
use crate::lab::Lab;

pub(crate) use entry::Entry;

/// Stacks of a study, and layers of one of them, at most.
const MOST_STACKS: usize = 1000;
const MOST_LAYERS: usize = 256;

/// A stack as read, with what later checks need of it.
#[derive(Debug)]
pub(crate) struct Grown {
    /// The stack.
    pub(crate) stack: Stack,
    /// Bytes that workloads can have at most, if every size below is known.
    pub(crate) capacity: Option<Bytes>,
    /// What direct I/O must be a multiple of, where the top passes it down unchanged.
    pub(crate) direct_block: Option<Bytes>,
    /// Where its name stands.
    pub(crate) place: Span,
}

/// Reads every `[[stack]]`; those with errors are noted and left out.
pub(crate) fn read(study: &Fields, lab: &Lab, notes: &mut Vec<Note>) -> Vec<Grown> {
    let tables = study.tables("stack");
    if let Some(note) = too_many(tables, MOST_STACKS, "study-too-many-stacks", "stacks") {
        notes.push(note.hint("split the study: a run of so many takes weeks"));
        return Vec::new();
    }
    note_twins(tables, notes);
    let stacks: Vec<Grown> = tables.iter().filter_map(|fields| stack(fields, lab, notes)).collect();
    // A key that is none may name a drive.
    let is_whole = notes.iter().all(|note| note.severity != NoteLevel::Error);
    if stacks.len() == tables.len() && is_whole {
        note_idle(study, lab, &stacks, notes);
    }
    stacks
}

/// Reads the `[[source]]`, if there is one: on drives that no stack uses, and ending in a directory.
pub(crate) fn read_source(study: &Fields, lab: &Lab, stacks: &[Grown], notes: &mut Vec<Note>) -> Option<Grown> {
    let tables = study.tables("source");
    if let Some(second) = tables.get(1) {
        let note = Note::error("study-two-sources", Some(second.place("name")), "files are copied from one source");
        notes.push(note.hint("leave out the others"));
    }
    let fields = tables.first()?;
    let source = stack(fields, lab, notes)?;
    let place = Some(fields.place("name"));
    if !source.stack.top().is_some_and(|top| top.layer.is_file_system()) {
        let note =
            Note::error("study-source-device", place, "the source ends in a device, and files need a file system");
        notes.push(note.hint("add { ext4 = {} } on top"));
    }
    let mut users: HashMap<Name, &Grown> = HashMap::new();
    for grown in stacks {
        for drive in grown.stack.drives() {
            users.entry(drive).or_insert(grown);
        }
    }
    for drive in source.stack.drives() {
        if let Some(other) = users.get(&drive) {
            let name = &other.stack.name;
            let message = format!("the source and stack `{name}` share drive `{drive}`");
            notes.push(Note::error("study-source-shared", place, message).hint("give the source a drive of its own"));
        }
    }
    if let Some(twin) = stacks.iter().find(|grown| grown.stack.slug() == source.stack.slug()) {
        let message = format!("the source has the file name of stack `{}`", twin.stack.name);
        notes.push(Note::error("study-same-slug", place, message).hint("give one of them another name"));
    }
    Some(source)
}

fn stack(fields: &Fields, lab: &Lab, notes: &mut Vec<Note>) -> Option<Grown> {
    let before = notes.len();
    if let Some(note) = too_many(fields.tables("layers"), MOST_LAYERS, "study-too-many-layers", "layers in one stack") {
        notes.push(note.hint("leave some out"));
        return None;
    }
    let entries = entry::read(fields, lab, notes);
    if entries.len() < fields.tables("layers").len() {
        // An entry that says not what it is has been noted; guessing what rests on it would only add noise.
        return None;
    }
    let links = entry::link(&entries, lab, notes);
    let order = order::order(&entries, &links, notes)?;
    let growth = grow::grow(&entries, &links, &order, lab, notes);
    shape::check(&growth, notes);
    members::check(&growth, notes);
    let geometry = geometry::Geometry::of(&growth, lab);
    geometry.check(&growth, notes);
    let name = fields.text("name")?.to_owned();
    let wrong = notes[before..].iter().any(|note| note.severity == NoteLevel::Error);
    if wrong || fields.is_wrong("layers") {
        return None;
    }
    let top = growth.last()?;
    let capacity = geometry.capacity(top);
    let stack = Stack {
        name,
        note: fields.text("note").map(str::to_owned),
        nodes: growth.into_iter().map(|grown| grown.node).collect(),
    };
    Some(Grown {
        capacity,
        direct_block: stack.direct_block(|drive| lab.block(drive)),
        place: fields.place("name"),
        stack,
    })
}

/// Two stacks with one name, or with names that become one file name.
fn note_twins(tables: &[Fields], notes: &mut Vec<Note>) {
    let mut first: HashMap<String, &str> = HashMap::new();
    for fields in tables {
        let Some(name) = fields.text("name") else { continue };
        let twin = *first.entry(slug(name)).or_insert(name);
        // The first of a name is its own.
        if !std::ptr::eq(twin, name) {
            let place = Some(fields.place("name"));
            notes.push(if twin == name {
                Note::error("study-same-stack", place, format!("two stacks are named `{name}`"))
                    .label("the second of that name")
                    .hint("give one of them another name")
            } else {
                Note::error("study-same-slug", place, format!("`{name}` has the file name of `{twin}`"))
                    .label(format!("filed as `{}` too", slug(name)))
                    .hint("let the first 40 letters and digits of the names differ")
            });
        }
    }
}

/// Drives that no stack uses: they cost the guest memory and the reader a thought.
fn note_idle(study: &Fields, lab: &Lab, stacks: &[Grown], notes: &mut Vec<Note>) {
    let drives = study.table("lab").map(|lab| lab.tables("drives")).unwrap_or_default();
    // A source's drives are named in its own layers; whether they are right is said there.
    let layers = study.tables("source").iter().flat_map(|source| source.tables("layers"));
    let named = layers.flat_map(|layer| layer.names("on").unwrap_or_default()).map(|on| on.text.clone());
    let of_stacks = stacks.iter().flat_map(|grown| grown.stack.drives()).map(String::from);
    let used: HashSet<String> = named.chain(of_stacks).collect();
    for fields in drives {
        let Some(name) = fields.text("name").filter(|name| lab.drive(name).is_some()) else { continue };
        if !stacks.is_empty() && !used.contains(name) {
            notes.push(
                Note::error("study-idle-drive", Some(fields.place("name")), format!("no stack uses drive `{name}`"))
                    .as_warning()
                    .hint("leave the drive out, or name it in `on`"),
            );
        }
    }
}
