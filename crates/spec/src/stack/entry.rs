//! Entries of `layers`: their kinds, their names, and what they say they rest on.

use terms::{LabSpec, Name, Note, Span};

use crate::fields::{Fields, Word};
use crate::grammar::LAYER_KINDS;
use crate::lab::Lab;
use crate::suggest::{either, meant};

/// One entry of `layers`.
#[derive(Debug)]
pub(crate) struct Entry<'f> {
    /// Its name: written, or its kind with a number where needed.
    pub(crate) name: Name,
    /// Its kind; exactly one of the keys that it has.
    pub(crate) kind: &'static str,
    /// The whole entry.
    pub(crate) fields: &'f Fields,
    /// The options of its kind.
    pub(crate) options: &'f Fields,
}

impl Entry<'_> {
    /// Where its kind stands, which is the best place for a caret about the layer.
    pub(crate) fn place(&self) -> Span {
        self.fields.key(self.kind)
    }
}

/// What a name in `on` or `special` stands for, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// What it is.
    pub(crate) to: To,
    /// The name in the text, or the kind of the entry where nothing is written.
    pub(crate) place: Span,
}

/// The far end of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum To {
    /// A drive.
    Drive(Name),
    /// All nodes of the entry with that index.
    Entry(usize),
}

/// What one entry rests on.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// What it rests on, in order.
    pub(crate) on: Vec<Link>,
    /// Its special vdev.
    pub(crate) special: Vec<Link>,
    /// Was something refused, so that counting members would mislead?
    pub(crate) broken: bool,
}

/// Entries that say what they are. Written names go first, so that made-up ones can keep clear of them.
pub(super) fn read<'f>(stack: &'f Fields, lab: &Lab, notes: &mut Vec<Note>) -> Vec<Entry<'f>> {
    let tables = stack.tables("layers");
    let mut taken: Vec<String> = Vec::new();
    for fields in tables {
        if let Some(name) = fields.text("name") {
            if taken.iter().any(|known| known == name) {
                notes.push(
                    Note::error(
                        "study-same-layer",
                        Some(fields.place("name")),
                        format!("two layers are named `{name}`"),
                    )
                    .label("the second of that name")
                    .hint("give every layer of a stack a name of its own"),
                );
            } else if is_drive(&lab.spec, name) {
                notes.push(
                    Note::error(
                        "study-layer-is-drive",
                        Some(fields.place("name")),
                        format!("`{name}` is a drive and cannot be a layer too"),
                    )
                    .hint("give the layer another name"),
                );
            }
            taken.push(name.to_owned());
        }
    }
    let mut entries = Vec::new();
    for fields in tables {
        let Some(kind) = LAYER_KINDS.iter().copied().find(|kind| fields.has(kind)) else { continue };
        let Some(options) = fields.table(kind) else { continue };
        let free = |name: &str| !taken.iter().any(|known| known == name) && !is_drive(&lab.spec, name);
        let made_up = || {
            let mut numbered = std::iter::once(kind.to_owned()).chain((2u32..).map(|n| format!("{kind}{n}")));
            numbered.find(|name| free(name))
        };
        let Some(name) = fields.text("name").map(str::to_owned).or_else(made_up) else { continue };
        taken.push(name.clone());
        if let Ok(name) = Name::new(name) {
            entries.push(Entry { name, kind, fields, options });
        }
    }
    entries
}

fn is_drive(lab: &LabSpec, name: &str) -> bool {
    lab.drives.iter().any(|drive| drive.name.as_str() == name)
}

/// What every entry rests on.
pub(super) fn link(entries: &[Entry<'_>], lab: &Lab, notes: &mut Vec<Note>) -> Vec<Links> {
    (0..entries.len()).map(|index| links(entries, index, lab, notes)).collect()
}

fn links(entries: &[Entry<'_>], index: usize, lab: &Lab, notes: &mut Vec<Note>) -> Links {
    let entry = &entries[index];
    let mut links = Links::default();
    match entry.fields.names("on") {
        Some([]) => {
            links.broken = true;
            notes.push(rests_on_nothing(entry, entry.fields.place("on"), lab));
        }
        Some(words) => links.on = resolve(words, entries, index, lab, &mut links.broken, notes),
        None if entry.fields.has("on") => links.broken = true,
        None => match index.checked_sub(1) {
            Some(before) => links.on = vec![Link { to: To::Entry(before), place: entry.place() }],
            None => {
                links.broken = true;
                notes.push(rests_on_nothing(entry, entry.place(), lab));
            }
        },
    }
    links.broken |= entry.options.is_wrong("special");
    if let Some(words) = entry.options.names("special") {
        links.special = resolve(words, entries, index, lab, &mut links.broken, notes);
    }
    links
}

fn rests_on_nothing(entry: &Entry<'_>, place: Span, lab: &Lab) -> Note {
    let drive = lab.spec.drives.first().map_or("a", |drive| drive.name.as_str());
    Note::error("study-rests-on-nothing", Some(place), format!("layer `{}` rests on nothing", entry.name))
        .hint(format!("say what is below: on = [\"{drive}\"]"))
}

/// Names as links; those that stand for nothing are noted.
fn resolve(
    words: &[Word],
    entries: &[Entry<'_>],
    index: usize,
    lab: &Lab,
    broken: &mut bool,
    notes: &mut Vec<Note>,
) -> Vec<Link> {
    let mut found: Vec<Link> = Vec::new();
    for word in words {
        let drive = lab.spec.drives.iter().find(|drive| drive.name.as_str() == word.text);
        let to = match drive {
            Some(drive) => Some(To::Drive(drive.name.clone())),
            None => entries.iter().position(|entry| entry.name.as_str() == word.text).map(To::Entry),
        };
        let note = match to {
            Some(To::Entry(itself)) if itself == index => {
                Note::error("study-rests-on-itself", Some(word.span), format!("layer `{}` rests on itself", word.text))
                    .hint("name what is below it")
            }
            Some(to) if found.iter().any(|known| known.to == to) => {
                Note::error("study-named-twice", Some(word.span), format!("`{}` is named twice", word.text))
                    .label("the second time")
                    .hint("a layer takes each device once")
            }
            Some(to) => {
                found.push(Link { to, place: word.span });
                continue;
            }
            None => {
                *broken = true;
                if !lab.complete {
                    continue; // It may be one of the drives that could not be read.
                }
                unknown(word, entries, index, lab)
            }
        };
        *broken = true;
        notes.push(note);
    }
    found
}

fn unknown(word: &Word, entries: &[Entry<'_>], index: usize, lab: &Lab) -> Note {
    let drives = lab.spec.drives.iter().map(|drive| drive.name.as_str());
    let layers = entries.iter().enumerate().filter(|(i, _)| *i != index).map(|(_, entry)| entry.name.as_str());
    let known: Vec<&str> = drives.clone().chain(layers).collect();
    let text = word.text.escape_debug();
    let note = Note::error(
        "study-unknown-name",
        Some(word.span),
        format!("there is no drive or layer `{text}` in this stack"),
    );
    let part = entries.iter().find(|entry| word.text.starts_with(&format!("{}-", entry.name)));
    if let Some(whole) = part {
        return note.hint(format!(
            "`{0}` stands for all mappings of the entry; make two entries to tell them apart",
            whole.name
        ));
    }
    note.hint(meant(&word.text, known.iter().copied(), || match known.is_empty() {
        true => "add the drive to [lab]".to_owned(),
        false => format!("there is {}", either(drives)),
    }))
}
