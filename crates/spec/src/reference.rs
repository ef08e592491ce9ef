//! The reference of the study file in Markdown, made from the grammar.

use std::fmt::Write as _;

use terms::{Bytes, PerMille};

use crate::grammar::{Key, Kind, Step, Table, Without, tables};
use crate::read::time;

/// Every table of the study file with every key: its type, its default and its meaning.
#[must_use]
pub fn reference() -> String {
    let sections: Vec<String> = tables().into_iter().map(section).collect();
    sections.join("\n")
}

fn section(table: &Table) -> String {
    let heading = if table.written.contains('`') || !table.written.contains(['[', '=']) {
        capitalised(table.written)
    } else {
        format!("`{}`", table.written)
    };
    let mut text = format!("### {heading}\n\n{}\n", table.help);
    if !table.keys.is_empty() {
        text.push_str("\n| key | type | default | meaning |\n| --- | --- | --- | --- |\n");
        for key in table.keys {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| `{}` | {} | {} | {} |", key.name, kind(key.kind), absent(key), key.help);
        }
    }
    text
}

fn capitalised(text: &str) -> String {
    let mut letters = text.trim_start_matches("the ").trim_start_matches("an ").chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn absent(key: &Key) -> String {
    match key.without {
        Without::Required => "**required**".to_owned(),
        Without::Default(value) => format!("`{value}`"),
        Without::Optional(words) => words.to_owned(),
    }
}

fn kind(kind: Kind) -> String {
    let list = |words: &[String]| words.join(", ");
    match kind {
        Kind::Text(alphabet) => match alphabet.only() {
            Some(only) => format!("text of `{only}`, at most {}", alphabet.longest()),
            None => format!("text, at most {} characters", alphabet.longest()),
        },
        Kind::Name => "name".to_owned(),
        Kind::Size { least, most, step } => {
            let step = match step {
                Step::PowerOfTwo => "power of two".to_owned(),
                Step::Multiple(unit) => format!("multiple of {}", Bytes(unit)),
            };
            format!("size, {} to {}, {step}", Bytes(least), Bytes(most))
        }
        Kind::Sizes(sizes) => {
            format!("size: {}", list(&sizes.iter().map(|size| Bytes(*size).to_string()).collect::<Vec<_>>()))
        }
        Kind::Duration { least, most, .. } => format!("time, {} to {}", time(least), time(most)),
        Kind::Integer { least, most: i64::MAX } => format!("number from {least}"),
        Kind::Integer { least, most } => format!("number, {least} to {most}"),
        Kind::Integers(numbers) => {
            format!("number: {}", list(&numbers.iter().map(ToString::to_string).collect::<Vec<_>>()))
        }
        Kind::Percent { least, most } => format!("percentage, {} to {}", PerMille(least), PerMille(most)),
        Kind::Boolean => "`true`, `false`".to_owned(),
        Kind::Choice(words) => list(&words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>()),
        Kind::Names => "name or list of names".to_owned(),
        Kind::Table(_) => "table".to_owned(),
        Kind::Tables(_) => "list of tables".to_owned(),
    }
}
