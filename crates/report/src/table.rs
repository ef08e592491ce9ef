//! The column registry: every table has named columns with a help text, a type and a unit; text, CSV and JSON are
//! three ways to print them.
//!
//! Text columns may change from version to version; names and JSON keys do not.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use terms::units::{Bytes, BytesPerSecond, Iops, Nanos, significant};

use crate::notes::Notes;
use crate::sheet::{self, Cell, GAP, Strip};
use crate::style::Style;
pub use crate::width::Align;
use crate::width::{paragraph, wrap};

/// What a column holds; it tells how it is aligned and how it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Words.
    Text,
    /// A count.
    Count,
    /// A ratio without unit.
    Ratio,
    /// A number whose unit stands in another column.
    Number,
    /// Bytes.
    Size,
    /// Nanoseconds.
    Time,
    /// Bytes per second.
    Rate,
    /// Operations per second.
    Iops,
}

impl ColumnKind {
    /// Words are flush left, numbers flush right.
    #[must_use]
    pub const fn align(self) -> Align {
        if matches!(self, Self::Text) { Align::Left } else { Align::Right }
    }

    /// The word for `--list-columns`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Count => "count",
            Self::Ratio => "ratio",
            Self::Number => "number",
            Self::Size => "bytes",
            Self::Time => "ns",
            Self::Rate => "bytes/s",
            Self::Iops => "1/s",
        }
    }
}

/// What stands in one cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing, and why.
    Missing(Cow<'static, str>),
    /// Words.
    Text(String),
    /// Several words.
    List(Vec<String>),
    /// A count.
    Count(u64),
    /// A ratio.
    Ratio(f64),
    /// A number whose unit stands elsewhere.
    Number(f64),
    /// Bytes.
    Size(Bytes),
    /// Nanoseconds.
    Time(Nanos),
    /// Bytes per second.
    Rate(BytesPerSecond),
    /// Operations per second.
    Iops(Iops),
}

impl Value {
    /// A value, or the reason why there is none.
    #[must_use]
    pub fn or_missing(value: Option<Self>, why: impl Into<Cow<'static, str>>) -> Self {
        value.unwrap_or_else(|| Self::Missing(why.into()))
    }

    /// For people: scaled, with its unit.
    #[must_use]
    pub fn shown(&self, style: &Style) -> String {
        let text = match self {
            Self::Missing(_) => "–".to_owned(),
            Self::Text(text) => text.clone(),
            Self::List(items) => items.join(", "),
            Self::Count(count) => count.to_string(),
            Self::Ratio(ratio) => format!("{}×", significant(*ratio)),
            Self::Number(number) => significant(*number),
            Self::Size(size) => style.size(*size),
            Self::Time(time) => time.to_string(),
            Self::Rate(rate) => format!("{} {}", significant(style.rate(*rate)), style.rate_unit()),
            Self::Iops(iops) => iops.to_string(),
        };
        style.spell(&text)
    }

    /// For programs: unscaled, empty where there is nothing.
    #[must_use]
    pub fn raw(&self) -> String {
        match self {
            Self::Missing(_) => String::new(),
            Self::Text(text) => text.clone(),
            Self::List(items) => items.join(";"),
            Self::Count(count) => count.to_string(),
            Self::Size(size) => size.0.to_string(),
            Self::Time(time) => time.0.to_string(),
            Self::Ratio(number)
            | Self::Number(number)
            | Self::Rate(BytesPerSecond(number))
            | Self::Iops(Iops(number)) => number.to_string(),
        }
    }
}

impl Serialize for Value {
    /// Numbers stay numbers; what is missing is null.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Missing(_) => serializer.serialize_none(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => items.serialize(serializer),
            Self::Count(count) => serializer.serialize_u64(*count),
            Self::Size(size) => size.serialize(serializer),
            Self::Time(time) => time.serialize(serializer),
            Self::Ratio(number)
            | Self::Number(number)
            | Self::Rate(BytesPerSecond(number))
            | Self::Iops(Iops(number)) => serializer.serialize_f64(*number),
        }
    }
}

/// A column of rows of `R`.
#[derive(Debug)]
pub struct Column<R> {
    /// What `-o` takes and what stands above it, in capitals.
    pub name: &'static str,
    /// Its key in JSON and CSV, with the unit.
    pub key: &'static str,
    /// What stands above it in the HTML report.
    pub title: &'static str,
    /// What it is, in one phrase.
    pub help: &'static str,
    /// What it holds.
    pub kind: ColumnKind,
    /// Takes it from a row.
    pub value: fn(&R) -> Value,
}

impl<R> Clone for Column<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Column<R> {}

/// A name that no column has, or no name at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", unnamed(name))]
pub struct UnknownColumn {
    /// What was asked for; empty where nothing was.
    pub name: String,
    /// What there is.
    pub known: Vec<&'static str>,
}

/// What is wrong with a name.
fn unnamed(name: &str) -> String {
    if name.is_empty() { "no column is named".to_owned() } else { format!("there is no column `{name}`") }
}

/// The columns that a list such as `STACK,iops` names, in its order, each by its name or its key.
///
/// # Errors
/// [`UnknownColumn`] for the first name that no column has, and for a list without a name.
pub fn select<R>(columns: &[Column<R>], names: &str) -> Result<Vec<Column<R>>, UnknownColumn> {
    let unknown =
        |name: &str| UnknownColumn { name: name.to_owned(), known: columns.iter().map(|column| column.name).collect() };
    let find = |name: &str| {
        let is = |column: &Column<R>| [column.name, column.key].iter().any(|own| own.eq_ignore_ascii_case(name));
        let found = columns.iter().copied().find(is);
        found.ok_or_else(|| unknown(name))
    };
    let names: Vec<&str> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if names.is_empty() { Err(unknown("")) } else { names.into_iter().map(find).collect() }
}

/// Fewest columns in which a help text is still read with ease.
const HELP: usize = 20;

/// What `--list-columns` prints: name, type, key and help of every column. Help is wrapped at blanks beside the others,
/// or below them where they leave it no room.
#[must_use]
pub fn list<R>(columns: &[Column<R>], style: &Style) -> String {
    let strip = |heading: &str, text: fn(&Column<R>) -> &'static str| Strip {
        heading: vec![heading.to_owned()],
        align: Align::Left,
        cells: columns.iter().map(|column| Cell::plain(style.spell(text(column)))).collect(),
    };
    let [name, kind, key, mut help] = [
        strip("NAME", |c| c.name),
        strip("TYPE", |c| c.kind.word()),
        strip("KEY", |c| c.key),
        strip("HELP", |c| c.help),
    ];
    let taken: usize = [&name, &kind, &key].into_iter().map(|strip| strip.width() + GAP).sum();
    let room = style.columns().saturating_sub(taken);
    if room < HELP {
        let line = |text: &str, first: &str| paragraph(first, &style.spell(text), style.columns());
        let entry =
            |c: &Column<R>| line(&format!("{} {} {}", c.name, c.kind.word(), c.key), "") + &line(c.help, "    ");
        return columns.iter().map(entry).collect();
    }
    for cell in &mut help.cells {
        cell.text = wrap(&cell.text, room).join("\n");
    }
    sheet::render(&[&name, &kind, &key, &help], style)
}

/// The rows as a table of text. What is missing has a footnote that tells why; without headings there are no footnotes
/// either, for such a table is read by programs.
#[must_use]
pub fn text<R>(columns: &[Column<R>], rows: &[R], style: &Style, headings: bool) -> String {
    // Row by row, so that footnotes are numbered in the order in which they are read.
    let mut notes = Notes::default();
    let mut lines: Vec<Vec<String>> = Vec::new();
    for row in rows {
        let cell = |column: &Column<R>| {
            let value = (column.value)(row);
            match &value {
                Value::Missing(why) if headings => format!("{} {}", value.shown(style), notes.mark(why)),
                _ => value.shown(style),
            }
        };
        lines.push(columns.iter().map(cell).collect());
    }
    let strip = |(at, column): (usize, &Column<R>)| Strip {
        heading: if headings { vec![column.name.to_owned()] } else { Vec::new() },
        align: column.kind.align(),
        cells: lines.iter().map(|line| Cell::plain(line[at].as_str())).collect(),
    };
    let strips: Vec<Strip> = columns.iter().enumerate().map(strip).collect();
    let (table, notes) = (sheet::render(&strips.iter().collect::<Vec<_>>(), style), notes.render(style));
    if notes.is_empty() { table } else { format!("{table}\n{notes}") }
}

/// The rows as a table with headings and without footnotes: what is missing is a dash.
pub(crate) fn plain<R>(columns: &[Column<R>], rows: &[R], style: &Style) -> String {
    let strip = |column: &Column<R>| Strip {
        heading: vec![column.name.to_owned()],
        align: column.kind.align(),
        cells: rows.iter().map(|row| Cell::plain((column.value)(row).shown(style))).collect(),
    };
    let strips: Vec<Strip> = columns.iter().map(strip).collect();
    sheet::render(&strips.iter().collect::<Vec<_>>(), style)
}

/// A row as a JSON object: every column under its key, then `missing`, which tells why for each null.
#[derive(Debug)]
pub struct RowObject<'a, R> {
    /// Its columns.
    pub columns: &'a [Column<R>],
    /// The row.
    pub row: &'a R,
}

impl<R> Serialize for RowObject<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;
        let mut map = serializer.serialize_map(None)?;
        let mut missing = std::collections::BTreeMap::new();
        for column in self.columns {
            let value = (column.value)(self.row);
            map.serialize_entry(column.key, &value)?;
            if let Value::Missing(why) = value {
                missing.insert(column.key, why);
            }
        }
        map.serialize_entry("missing", &missing)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column<u64>; 2] = [
        Column {
            name: "SIZE",
            key: "size_bytes",
            title: "Size",
            help: "how large",
            kind: ColumnKind::Size,
            value: |n| Value::Size(Bytes(*n)),
        },
        Column {
            name: "NOTE",
            key: "note",
            title: "Note",
            help: "what is said",
            kind: ColumnKind::Text,
            value: |_| Value::Missing("nobody spoke".into()),
        },
    ];

    #[test]
    fn columns_are_chosen_by_name() {
        assert_eq!(
            select(&COLUMNS, "note, SIZE").unwrap().iter().map(|c| c.name).collect::<Vec<_>>(),
            ["NOTE", "SIZE"]
        );
        assert_eq!(select(&COLUMNS, "size_bytes").unwrap()[0].name, "SIZE");
        let error = select(&COLUMNS, "size,colour").unwrap_err();
        assert_eq!(error.to_string(), "there is no column `colour`");
        assert_eq!(error.known, ["SIZE", "NOTE"]);
        for nothing in ["", " , "] {
            let error = select(&COLUMNS, nothing).unwrap_err();
            assert_eq!(error.to_string(), "no column is named");
        }
    }

    #[test]
    fn rows_are_printed() {
        let style = Style { ascii: true, ..Style::default() };
        assert_eq!(
            text(&COLUMNS, &[4096, 1 << 30], &style, true),
            " SIZE  NOTE\n4 KiB  - [1]\n1 GiB  - [1]\n\n[1] nobody spoke\n"
        );
        assert_eq!(text(&COLUMNS, &[5_000_000], &Style { si: true, ..style }, false), "5 MB  -\n");
        assert!(list(&COLUMNS, &style).contains("NOTE  text   note        what is said\n"));
    }

    #[test]
    fn what_is_missing_is_null_with_its_reason() {
        let json = serde_json::to_string(&RowObject { columns: &COLUMNS, row: &7 }).unwrap();
        assert_eq!(json, r#"{"size_bytes":7,"note":null,"missing":{"note":"nobody spoke"}}"#);
    }
}
