//! Reads a TOML tree by the grammar: what fits becomes [`Fields`], what does not becomes a note.

mod value;

use std::collections::BTreeMap;
use std::ops::Range;

use terms::{Note, Span};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(crate) use value::time;

use crate::absent;
use crate::fields::{Field, Fields};
use crate::grammar::{Table, Without, tables};
use crate::suggest::{all_of, either, is_worth_it, nearest};

/// A key is missing. Left out of the notes where the text is not even TOML: it may have been lost with the rest.
pub(crate) const MISSING: &str = "study-missing-key";
/// None of the keys is there of which one must be.
pub(crate) const NO_KIND: &str = "study-no-kind";

/// A range of the text as a span.
pub(crate) const fn span(range: &Range<usize>) -> Span {
    Span { start: range.start, end: range.end }
}

/// Reads one table. `place` is `None` for the file as a whole, which no caret can point to.
pub(crate) fn read(table: &'static Table, tree: &DeTable<'_>, place: Option<Span>, notes: &mut Vec<Note>) -> Fields {
    let mut written = BTreeMap::new();
    let mut unknown_kind = false;
    for (key, tree) in tree {
        let at = span(&key.span());
        match table.key(key.get_ref()) {
            Some(known) => {
                let value = value::read(known, tree, notes);
                written.insert(known.name, Field { key: at, place: span(&tree.span()), value });
            }
            None => {
                let message = format!("`{}` is not a key of {}", key.get_ref().escape_debug(), home(table));
                let note = Note::error("study-unknown-key", Some(at), message).label("unknown key");
                if !is_worth_it(notes) {
                    notes.push(note);
                    continue;
                }
                if let Some(instead) = absent::instead(table.name, key.get_ref()) {
                    unknown_kind = true;
                    notes.push(note.hint(instead));
                    continue;
                }
                let meant = nearest(key.get_ref(), table.keys.iter().map(|key| key.name));
                // Options in a table of their own are those of a kind.
                unknown_kind |= meant.map_or(tree.get_ref().is_table(), |meant| table.one_of.contains(&meant));
                notes.push(note.hint(right_key(table, key.get_ref(), meant, tree)));
            }
        }
    }
    let fields = Fields { span: place.unwrap_or(Span { start: 0, end: 0 }), written };
    note_missing(table, &fields, place, notes);
    if !unknown_kind {
        note_kinds(table, &fields, place, notes);
    }
    fields
}

/// Required keys that are not there.
fn note_missing(table: &Table, fields: &Fields, place: Option<Span>, notes: &mut Vec<Note>) {
    for key in table.keys {
        if matches!(key.without, Without::Required) && !fields.has(key.name) {
            let of = format!("{} {}", if place.is_none() { "the" } else { "this" }, noun(table));
            notes.push(
                Note::error(MISSING, place, format!("{of} has no `{}`", key.name))
                    .label(format!("`{}` is missing", key.name))
                    .hint(format!("add {}", value::example(key))),
            );
        }
    }
}

/// Tables that must have exactly one of a few keys.
fn note_kinds(table: &Table, fields: &Fields, place: Option<Span>, notes: &mut Vec<Note>) {
    if table.one_of.is_empty() {
        return;
    }
    let found: Vec<&str> = table.one_of.iter().copied().filter(|key| fields.has(key)).collect();
    match found.as_slice() {
        [] => notes.push(
            Note::error(NO_KIND, place, format!("this {} does not say what it is", noun(table)))
                .hint(format!("give it one of {}", either(table.one_of.iter().copied()))),
        ),
        [_] => {}
        [first, rest @ ..] => notes.extend(rest.iter().map(|key| {
            Note::error(
                "study-two-kinds",
                Some(fields.key(key)),
                format!("one {} is both `{first}` and `{key}`", noun(table)),
            )
            .label("the second kind")
            .hint(format!("make two entries: {{ {first} = {{}} }}, {{ {key} = {{}} }}"))
        })),
    }
}

/// What a table is called in a sentence.
fn noun(table: &Table) -> String {
    table.name.replace('-', " ")
}

/// What to write in the place of a key that a table does not have.
fn right_key(table: &'static Table, key: &str, meant: Option<&str>, tree: &Spanned<DeValue<'_>>) -> String {
    // A key in the wrong table is more often misplaced than invented.
    let elsewhere: Vec<String> = tables().into_iter().filter(|other| other.key(key).is_some()).map(home).collect();
    match (meant, elsewhere.as_slice()) {
        (Some(meant), _) => format!("did you mean `{meant}`?"),
        (None, [home]) if !tree.get_ref().is_table() => format!("`{key}` is a key of {home}"),
        (None, _) if table.keys.is_empty() => "it has no keys: write {}".to_owned(),
        (None, _) => format!("its keys are {}", all_of(table.keys.iter().map(|key| key.name))),
    }
}

/// Where a key is written, in a sentence.
fn home(table: &Table) -> String {
    if table.written.contains('=') { format!("`{}`", table.name) } else { table.written.to_owned() }
}
