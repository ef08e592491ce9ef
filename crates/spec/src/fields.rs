//! What was read of one table: values that fit the grammar, each with its place in the text.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};
use terms::{Bytes, Name, Nanos, Note, PerMille, Span};

/// A text with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// The text.
    pub(crate) text: String,
    /// Where it stands.
    pub(crate) span: Span,
}

/// A value that fits its key.
#[derive(Debug)]
pub(crate) enum Value {
    Text(String),
    Size(Bytes),
    Duration(Nanos),
    Integer(i64),
    Percent(PerMille),
    Boolean(bool),
    Names(Vec<Word>),
    Table(Fields),
    Tables(Vec<Fields>),
}

/// A key that was written.
#[derive(Debug)]
pub(crate) struct Field {
    /// Where the key stands.
    pub(crate) key: Span,
    /// Where the value stands.
    pub(crate) place: Span,
    /// The value; `None` if it did not fit, which has been noted.
    pub(crate) value: Option<Value>,
}

/// What was read of one table.
#[derive(Debug)]
pub(crate) struct Fields {
    /// Where the table stands.
    pub(crate) span: Span,
    /// Keys that were written and are known.
    pub(crate) written: BTreeMap<&'static str, Field>,
}

impl Fields {
    /// What stands in the place of something that is not a table.
    pub(crate) const fn nothing(span: Span) -> Self {
        Self { span, written: BTreeMap::new() }
    }

    /// Was the key written, rightly or wrongly?
    pub(crate) fn has(&self, key: &str) -> bool {
        self.written.contains_key(key)
    }

    /// Was the key written, and its value refused?
    pub(crate) fn is_wrong(&self, key: &str) -> bool {
        self.written.get(key).is_some_and(|field| field.value.is_none())
    }

    /// Where the value stands, or the table if the key is not there.
    pub(crate) fn place(&self, key: &str) -> Span {
        self.written.get(key).map_or(self.span, |field| field.place)
    }

    /// Where the key stands, or the table if the key is not there.
    pub(crate) fn key(&self, key: &str) -> Span {
        self.written.get(key).map_or(self.span, |field| field.key)
    }

    fn value(&self, key: &str) -> Option<&Value> {
        self.written.get(key)?.value.as_ref()
    }

    /// A text.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        if let Value::Text(text) = self.value(key)? { Some(text) } else { None }
    }

    /// A name.
    pub(crate) fn name(&self, key: &str) -> Option<Name> {
        Name::new(self.text(key)?).ok()
    }

    /// One of a few words, as the noun that it stands for.
    pub(crate) fn word<'de, T: Deserialize<'de>>(&'de self, key: &str) -> Option<T> {
        let text: StrDeserializer<'de, Error> = self.text(key)?.into_deserializer();
        T::deserialize(text).ok()
    }

    /// A size.
    pub(crate) fn size(&self, key: &str) -> Option<Bytes> {
        if let Value::Size(size) = self.value(key)? { Some(*size) } else { None }
    }

    /// A time.
    pub(crate) fn duration(&self, key: &str) -> Option<Nanos> {
        if let Value::Duration(time) = self.value(key)? { Some(*time) } else { None }
    }

    /// A whole number.
    pub(crate) fn integer(&self, key: &str) -> Option<i64> {
        if let Value::Integer(number) = self.value(key)? { Some(*number) } else { None }
    }

    /// A whole number that the grammar bounds to fit `T`.
    pub(crate) fn number<T: TryFrom<i64>>(&self, key: &str) -> Option<T> {
        T::try_from(self.integer(key)?).ok()
    }

    /// A percentage.
    pub(crate) fn percent(&self, key: &str) -> Option<PerMille> {
        if let Value::Percent(share) = self.value(key)? { Some(*share) } else { None }
    }

    /// Yes or no.
    pub(crate) fn boolean(&self, key: &str) -> Option<bool> {
        if let Value::Boolean(yes) = self.value(key)? { Some(*yes) } else { None }
    }

    /// A list of names.
    pub(crate) fn names(&self, key: &str) -> Option<&[Word]> {
        if let Value::Names(names) = self.value(key)? { Some(names) } else { None }
    }

    /// A table.
    pub(crate) fn table(&self, key: &str) -> Option<&Fields> {
        if let Value::Table(table) = self.value(key)? { Some(table) } else { None }
    }

    /// A list of tables.
    pub(crate) fn tables(&self, key: &str) -> &[Fields] {
        if let Some(Value::Tables(tables)) = self.value(key) { tables } else { &[] }
    }
}
/// The note on the first table beyond the most that are taken, where there is one: what is asked of each takes time, and a
/// short text could ask it without end.
pub(crate) fn too_many(tables: &[Fields], most: usize, rule: &'static str, what: &str) -> Option<Note> {
    let first = tables.get(most)?;
    Some(Note::error(rule, Some(first.span), format!("more than {most} {what}")))
}
