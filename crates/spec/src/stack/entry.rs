//! Entries of `layers`: their kinds, their names, and what they say they rest on.

use std::collections::{HashMap, HashSet};

use terms::{Name, Note, Span};

use crate::fields::{Fields, Word};
use crate::grammar::LAYER_KINDS;
use crate::lab::Lab;
use crate::suggest::{either, is_worth_it, meant};

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
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum To {
    /// A drive.
    Drive(Name),
    /// All nodes of the entry with that index.
    Entry(usize),
}

/// Options that name devices too, one of a kind of layer ([`terms::Layer::beside`]).
const BESIDE: [&str; 2] = ["special", "cache"];

/// What one entry rests on.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// What it rests on, in order.
    pub(crate) on: Vec<Link>,
    /// Its special vdev, or its cache.
    pub(crate) special: Vec<Link>,
    /// Was something refused, so that counting members would mislead?
    pub(crate) broken: bool,
}

/// Entries that say what they are. Written names go first, so that made-up ones can keep clear of them.
pub(super) fn read<'f>(stack: &'f Fields, lab: &Lab, notes: &mut Vec<Note>) -> Vec<Entry<'f>> {
    let tables = stack.tables("layers");
    let mut taken: HashSet<String> = HashSet::new();
    for fields in tables {
        if let Some(name) = fields.text("name") {
            if taken.contains(name) {
                notes.push(
                    Note::error(
                        "study-same-layer",
                        Some(fields.place("name")),
                        format!("two layers are named `{name}`"),
                    )
                    .label("the second of that name")
                    .hint("give every layer of a stack a name of its own"),
                );
            } else if lab.drive(name).is_some() {
                notes.push(
                    Note::error(
                        "study-layer-is-drive",
                        Some(fields.place("name")),
                        format!("`{name}` is a drive and cannot be a layer too"),
                    )
                    .hint("give the layer another name"),
                );
            }
            taken.insert(name.to_owned());
        }
    }
    let mut entries = Vec::new();
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    for fields in tables {
        let Some(kind) = LAYER_KINDS.iter().copied().find(|kind| fields.has(kind)) else { continue };
        let Some(options) = fields.table(kind) else { continue };
        // What was once taken stays so: the search goes on where it ended for the entry before.
        let number = numbers.entry(kind).or_insert(1u32);
        let made_up = || {
            let numbered = (*number..).map(|n| (n, if n == 1 { kind.to_owned() } else { format!("{kind}{n}") }));
            let (found, name) =
                numbered.into_iter().find(|(_, name)| !taken.contains(name) && lab.drive(name).is_none())?;
            *number = found;
            Some(name)
        };
        let Some(name) = fields.text("name").map(str::to_owned).or_else(made_up) else { continue };
        taken.insert(name.clone());
        if let Ok(name) = Name::new(name) {
            entries.push(Entry { name, kind, fields, options });
        }
    }
    entries
}

/// What every entry rests on.
pub(super) fn link(entries: &[Entry<'_>], lab: &Lab, notes: &mut Vec<Note>) -> Vec<Links> {
    let mut known = Known { entries, lab, places: HashMap::new() };
    for (index, entry) in entries.iter().enumerate() {
        known.places.entry(entry.name.as_str()).or_insert(index);
    }
    (0..entries.len()).map(|index| links(&known, index, notes)).collect()
}

/// What a name can stand for.
struct Known<'a, 'f> {
    entries: &'a [Entry<'f>],
    lab: &'a Lab,
    /// The first entry of each name.
    places: HashMap<&'a str, usize>,
}

impl Known<'_, '_> {
    fn named(&self, text: &str) -> Option<To> {
        match self.lab.drive(text) {
            Some(drive) => Some(To::Drive(drive.name.clone())),
            None => self.places.get(text).copied().map(To::Entry),
        }
    }
}

fn links(known: &Known<'_, '_>, index: usize, notes: &mut Vec<Note>) -> Links {
    let (entry, lab) = (&known.entries[index], known.lab);
    let mut links = Links::default();
    match entry.fields.names("on") {
        Some([]) => {
            links.broken = true;
            notes.push(rests_on_nothing(entry, entry.fields.place("on"), lab));
        }
        Some(words) => links.on = resolve(words, known, index, &mut links.broken, notes),
        None if entry.fields.has("on") => links.broken = true,
        None => match index.checked_sub(1) {
            Some(before) => links.on = vec![Link { to: To::Entry(before), place: entry.place() }],
            None => {
                links.broken = true;
                notes.push(rests_on_nothing(entry, entry.place(), lab));
            }
        },
    }
    for key in BESIDE {
        links.broken |= entry.options.is_wrong(key);
        if let Some(words) = entry.options.names(key) {
            links.special = resolve(words, known, index, &mut links.broken, notes);
        }
    }
    links
}

fn rests_on_nothing(entry: &Entry<'_>, place: Span, lab: &Lab) -> Note {
    let drive = lab.spec.drives.first().map_or("a", |drive| drive.name.as_str());
    Note::error("study-rests-on-nothing", Some(place), format!("layer `{}` rests on nothing", entry.name))
        .hint(format!("say what is below: on = [\"{drive}\"]"))
}

/// Names as links; those that stand for nothing are noted.
fn resolve(words: &[Word], known: &Known<'_, '_>, index: usize, broken: &mut bool, notes: &mut Vec<Note>) -> Vec<Link> {
    let mut found: Vec<Link> = Vec::new();
    let mut seen: HashSet<To> = HashSet::new();
    for word in words {
        let note = match known.named(&word.text) {
            Some(To::Entry(itself)) if itself == index => {
                Note::error("study-rests-on-itself", Some(word.span), format!("layer `{}` rests on itself", word.text))
                    .hint("name what is below it")
            }
            Some(to) if seen.contains(&to) => {
                Note::error("study-named-twice", Some(word.span), format!("`{}` is named twice", word.text))
                    .label("the second time")
                    .hint("a layer takes each device once")
            }
            Some(to) => {
                seen.insert(to.clone());
                found.push(Link { to, place: word.span });
                continue;
            }
            None => {
                *broken = true;
                if !known.lab.complete {
                    continue; // It may be one of the drives that could not be read.
                }
                unknown(word, known, index, is_worth_it(notes))
            }
        };
        *broken = true;
        notes.push(note);
    }
    found
}

fn unknown(word: &Word, known: &Known<'_, '_>, index: usize, is_worth_it: bool) -> Note {
    let text = word.text.escape_debug();
    let note = Note::error(
        "study-unknown-name",
        Some(word.span),
        format!("there is no drive or layer `{text}` in this stack"),
    );
    if !is_worth_it {
        return note;
    }
    let Known { entries, lab, .. } = known;
    let drives = lab.spec.drives.iter().map(|drive| drive.name.as_str());
    let layers = entries.iter().enumerate().filter(|(i, _)| *i != index).map(|(_, entry)| entry.name.as_str());
    let known: Vec<&str> = drives.clone().chain(layers).collect();
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
