//! Reads one value by its key's kind.

mod quantity;
mod words;

use quantity::{bare_duration, bare_size, duration, integer, percent, size};
use terms::text::{Alphabet, BadText};
use terms::{Name, Note, Span};
use toml::Spanned;
use toml::de::{DeArray, DeValue};

use super::{noun, read as read_table, span};
use crate::absent;
use crate::fields::{Fields, Value, Word};
use crate::grammar::{Key, Kind, Table, Without};
use crate::suggest::{either, nearest};

use words::{article, wanted};
pub(crate) use words::{example, time};

/// A value, or why it is none.
type Read<T> = Result<T, Box<Note>>;

/// Reads a value; `None` if it does not fit, with the reason noted.
pub(super) fn read(key: &Key, tree: &Spanned<DeValue<'_>>, notes: &mut Vec<Note>) -> Option<Value> {
    let place = span(&tree.span());
    let outcome = match (key.kind, tree.get_ref()) {
        (Kind::Text(alphabet), DeValue::String(text)) => free(key, alphabet, text, place).map(Value::Text),
        (Kind::Name, DeValue::String(text)) => name(text, place).map(Value::Text),
        (Kind::Choice(words), DeValue::String(text)) => choice(key, words, text, place).map(Value::Text),
        (Kind::Boolean, DeValue::Boolean(yes)) => Ok(Value::Boolean(*yes)),
        (Kind::Size { .. } | Kind::Sizes(_), DeValue::String(text)) => size(key, text, place, notes).map(Value::Size),
        (Kind::Size { .. } | Kind::Sizes(_), DeValue::Integer(number)) => {
            bare_size(key, number, place).map(Value::Size)
        }
        (Kind::Duration { .. }, DeValue::String(text)) => duration(key, text, place).map(Value::Duration),
        (Kind::Duration { .. }, DeValue::Integer(number)) => bare_duration(key, number, place).map(Value::Duration),
        (Kind::Integer { .. } | Kind::Integers(_), DeValue::Integer(n)) => integer(key, n, place).map(Value::Integer),
        (Kind::Percent { .. }, DeValue::String(text)) => percent(key, text, place).map(Value::Percent),
        (Kind::Names, DeValue::String(text)) => Ok(Value::Names(vec![Word { text: text.to_string(), span: place }])),
        (Kind::Names, DeValue::Array(items)) => return names(key, items, notes).map(Value::Names),
        (Kind::Table(table), DeValue::Table(inner)) => Ok(Value::Table(read_table(table, inner, Some(place), notes))),
        (Kind::Tables(table), DeValue::Array(items)) => {
            if items.is_empty() && matches!(key.without, Without::Required) {
                let message = format!("`{}` is empty", key.name);
                notes.push(Note::error("study-empty", Some(place), message).hint(format!("add {}", example(key))));
            }
            return Some(Value::Tables(tables(table, items, notes)));
        }
        // An empty table in its place keeps what rests on it from being reported as well.
        (Kind::Table(_), other) => {
            notes.push(wrong_type(key, other, place));
            Ok(Value::Table(Fields::nothing(place)))
        }
        (_, other) => Err(Box::new(wrong_type(key, other, place))),
    };
    outcome.map_err(|note| notes.push(*note)).ok()
}

/// Every table of a list. What is not a table is noted, and nothing stands in its place.
fn tables(table: &'static Table, items: &DeArray<'_>, notes: &mut Vec<Note>) -> Vec<Fields> {
    let mut found = Vec::new();
    for item in items {
        let place = span(&item.span());
        if let DeValue::Table(inner) = item.get_ref() {
            found.push(read_table(table, inner, Some(place), notes));
            continue;
        }
        let note = Note::error("study-wrong-type", Some(place), format!("{} must be a table", article(&noun(table))))
            .label(format!("this is {}", article(item.get_ref().type_str())));
        notes.push(match item.get_ref() {
            DeValue::String(word) if table.one_of.contains(&word.as_ref()) => {
                note.hint(format!("write {{ {word} = {{}} }}"))
            }
            _ => note.hint(format!("write {{ {} }}", table.keys.first().map(example).unwrap_or_default())),
        });
        found.push(Fields::nothing(place));
    }
    found
}

/// Every name of a list; `None` if one of them is none.
fn names(key: &Key, items: &DeArray<'_>, notes: &mut Vec<Note>) -> Option<Vec<Word>> {
    let mut found = Vec::new();
    for item in items {
        let place = span(&item.span());
        if let DeValue::String(text) = item.get_ref() {
            found.push(Word { text: text.to_string(), span: place });
        } else {
            notes.push(wrong_type(key, item.get_ref(), place));
        }
    }
    (found.len() == items.len()).then_some(found)
}

fn free(key: &Key, alphabet: Alphabet, text: &str, place: Span) -> Read<String> {
    let Err(unfit) = alphabet.check(text) else { return Ok(text.trim().to_owned()) };
    let note = Note::error("study-bad-text", Some(place), format!("`{}` {unfit}", key.name));
    Err(Box::new(match (unfit, alphabet.only()) {
        (BadText::Formula(_), _) => note.hint("begin with a letter, a digit or `#`"),
        (_, Some(only)) => note.hint(format!("write characters of {only}, {} at most", alphabet.longest())),
        (_, None) => note.hint("write one line of text"),
    }))
}

fn name(text: &str, place: Span) -> Read<String> {
    match Name::new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => {
            let note = Note::error("study-bad-name", Some(place), format!("`{}` is not a name", text.escape_debug()));
            let rule = "use letters, digits, `-`, `_` and `.`, starting with a letter or digit, at most 48";
            Err(Box::new(note.hint(rule)))
        }
    }
}

fn choice(key: &Key, words: &[&str], text: &str, place: Span) -> Read<String> {
    if words.contains(&text) {
        return Ok(text.to_owned());
    }
    let note =
        Note::error("study-unknown-word", Some(place), format!("`{}` cannot be `{}`", key.name, text.escape_debug()));
    if let Some(instead) = absent::instead(key.name, text) {
        return Err(Box::new(note.hint(instead)));
    }
    let known = format!("it takes {}", either(words.iter().copied()));
    Err(Box::new(match nearest(text, words.iter().copied()) {
        Some(meant) => note.label(format!("did you mean `{meant}`?")).hint(known),
        None => note.hint(known),
    }))
}

/// A value of the wrong TOML type.
fn wrong_type(key: &Key, found: &DeValue<'_>, place: Span) -> Note {
    let note = Note::error("study-wrong-type", Some(place), format!("`{}` must be {}", key.name, wanted(key.kind)))
        .label(format!("this is {}", article(found.type_str())));
    match (key.kind, found) {
        (Kind::Tables(_), DeValue::Table(_)) => note.hint(format!("write it in brackets: {}", example(key))),
        (Kind::Boolean, DeValue::String(text)) if matches!(text.as_ref(), "true" | "false") => {
            note.hint(format!("write {text} without quotes"))
        }
        (Kind::Integer { .. } | Kind::Integers(_), DeValue::String(text)) if text.trim().parse::<i64>().is_ok() => {
            note.hint(format!("write {} without quotes", text.trim()))
        }
        (Kind::Table(_), DeValue::Boolean(true)) => note.hint(format!("write {} = {{}}", key.name)),
        _ => note.hint(format!("like {}", example(key))),
    }
}
