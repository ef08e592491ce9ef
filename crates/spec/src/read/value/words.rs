//! What the grammar says, in words: for hints and labels.

use terms::{Bytes, Nanos, PerMille};

use crate::grammar::{Key, Kind, Without};
use crate::suggest::either;

/// A noun with its article.
pub(crate) fn article(noun: &str) -> String {
    let an = noun.starts_with(['a', 'e', 'i', 'o']);
    format!("{} {noun}", if an { "an" } else { "a" })
}

/// What a kind takes, in a few words.
pub(super) const fn wanted(kind: Kind) -> &'static str {
    match kind {
        Kind::Text(_) | Kind::Name | Kind::Choice(_) => "a text",
        Kind::Size { .. } | Kind::Sizes(_) => "a size with its unit",
        Kind::Duration { .. } => "a time with its unit",
        Kind::Integer { .. } | Kind::Integers(_) => "a whole number",
        Kind::Percent { .. } => "a percentage in quotes",
        Kind::Boolean => "true or false",
        Kind::Names => "a list of names",
        Kind::Table(_) => "a table",
        Kind::Tables(_) => "a list of tables",
    }
}

/// The bounds of a kind as a hint.
pub(super) fn expected(key: &Key) -> String {
    match key.kind {
        Kind::Integer { least, most: i64::MAX } => format!("it takes a whole number from {least}"),
        Kind::Integer { least, most } => format!("it takes {least} to {most}"),
        Kind::Integers(numbers) => {
            let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            format!("it takes {}", either(words.iter().map(String::as_str)).replace('`', ""))
        }
        Kind::Sizes(sizes) => {
            let words: Vec<String> = sizes.iter().map(|size| Bytes(*size).to_string()).collect();
            format!("it takes {}", either(words.iter().map(String::as_str)).replace('`', ""))
        }
        Kind::Size { least, most, .. } => format!("it takes {} to {}", Bytes(least), Bytes(most)),
        Kind::Duration { least, most, .. } => format!("it takes {} to {}", time(least), time(most)),
        Kind::Percent { least, most } => format!("it takes {} to {}, in tenths", PerMille(least), PerMille(most)),
        kind => format!("it takes {}", wanted(kind)),
    }
}

/// A key as it might be written.
pub(crate) fn example(key: &Key) -> String {
    let value = match (key.without, key.kind) {
        (Without::Default(value), _) => value.to_owned(),
        (_, Kind::Text(_)) => "\"…\"".to_owned(),
        (_, Kind::Name) => "\"a\"".to_owned(),
        (_, Kind::Choice(words)) => words.first().map(|word| format!("\"{word}\"")).unwrap_or_default(),
        (_, Kind::Sizes(sizes)) => sizes.last().map(|size| format!("\"{}\"", Bytes(*size))).unwrap_or_default(),
        (_, Kind::Size { least, .. }) => format!("\"{}\"", Bytes(least.max(4096))),
        (_, Kind::Duration { .. }) => "\"5 s\"".to_owned(),
        (_, Kind::Integers(numbers)) => numbers.get(1).or(numbers.first()).map(ToString::to_string).unwrap_or_default(),
        (_, Kind::Integer { least, .. }) => least.to_string(),
        (_, Kind::Percent { .. }) => "\"2 %\"".to_owned(),
        (_, Kind::Boolean) => "true".to_owned(),
        (_, Kind::Names) => "[\"a\", \"b\"]".to_owned(),
        (_, Kind::Table(_)) => "{ … }".to_owned(),
        (_, Kind::Tables(table)) if table.written.starts_with("[[") => return format!("a {}", table.written),
        (_, Kind::Tables(_)) => "[ { … } ]".to_owned(),
    };
    format!("{} = {value}", key.name)
}

/// A time in nanoseconds as a person would write it: without parts that are nothing.
pub(crate) fn time(nanos: u64) -> String {
    if nanos == 0 {
        return "0".to_owned();
    }
    let text = Nanos(nanos).to_string();
    let short = text.strip_suffix(" 0 min").or_else(|| text.strip_suffix(" min 0 s").map(|_| &text[..text.len() - 4]));
    short.unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        for (nanos, text) in [
            (0, "0"),
            (100_000_000, "100 ms"),
            (300_000_000_000, "5 min"),
            (3_600_000_000_000, "1 h"),
            (5_400_000_000_000, "1 h 30 min"),
        ] {
            assert_eq!(time(nanos), text);
        }
    }
}
