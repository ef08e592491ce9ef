//! Names in a run's directory, and the numbering of what is written more than once.

use std::path::Path;

use serde::Deserialize;
use terms::record::{CellKey, RECORD_SCHEMA};

use crate::error::RecordError;

pub(crate) const PROVENANCE: &str = "provenance.json";
pub(crate) const STUDY: &str = "study.toml";
pub(crate) const INVENTORY: &str = "inventory.json";
/// Predictions made before the run.
pub(crate) const PREDICTIONS: &str = "prediction.json";
/// What was looked at on drives before the first step; not there in records of runs that do not go by steps.
pub(crate) const PREFLIGHT: &str = "preflight.json";
pub(crate) const JOURNAL: &str = "journal.jsonl";
pub(crate) const EVENTS: &str = "events.jsonl";
pub(crate) const SEALED: &str = "sealed.json";
pub(crate) const LOCK: &str = "lock";
pub(crate) const PLANS: &str = "plans";
pub(crate) const BUILDS: &str = "builds";
pub(crate) const CELLS: &str = "cells";
/// What was tried on stacks; not there in records of runs that tried nothing.
pub(crate) const FEATURE_CHECKS: &str = "trials";
pub(crate) const CELL: &str = "cell.json";
/// Made from the record and no part of it: may be made again, or thrown away, after sealing.
pub(crate) const REPORTS: &str = "reports";

/// Most bytes of a document: what is said of a machine with ten thousand drives is a quarter of it.
pub(crate) const DOCUMENT: u64 = 256 << 20;
/// Most bytes of a file of a cell: a million samples are 130 MB.
pub(crate) const CELL_FILE: u64 = 512 << 20;
/// Most bytes of journal or events: a step takes about 500.
pub(crate) const LINES: u64 = 256 << 20;
/// Most bytes of one line of them.
pub(crate) const LINE: u64 = 16 << 20;
/// Most bytes of any file that is sealed.
pub(crate) const LARGEST: u64 = 1 << 30;

/// Checks that a name stays in its directory and is not hidden.
pub(crate) fn plain(name: &str) -> Result<&str, RecordError> {
    let fits = !name.is_empty() && name.len() <= 255 && !name.starts_with('.') && !name.contains(['/', '\0']);
    if fits { Ok(name) } else { Err(RecordError::BadName { name: name.to_owned() }) }
}

/// The same for a stack's slug, which has no dot either: what follows a dot is a number or a suffix.
pub(crate) fn plain_slug(slug: &str) -> Result<&str, RecordError> {
    if slug.contains('.') { Err(RecordError::BadName { name: slug.to_owned() }) } else { plain(slug) }
}

/// The directory name of a cell's first attempt.
pub(crate) fn cell_name(key: &CellKey) -> Result<String, RecordError> {
    plain_slug(&key.stack)?;
    let name = format!("{}-{}-{}", key.round, key.stack, key.workload);
    plain(&name).map(str::to_owned)
}

/// `base` and `suffix` for the first, with `.n` between them for later ones.
pub(crate) fn numbered(base: &str, suffix: &str, number: u32) -> String {
    if number <= 1 { format!("{base}{suffix}") } else { format!("{base}.{number}{suffix}") }
}

/// The number in a name made by [`numbered`]; `None` for other names.
pub(crate) fn number(name: &str, base: &str, suffix: &str) -> Option<u32> {
    let middle = name.strip_prefix(base)?.strip_suffix(suffix)?;
    if middle.is_empty() {
        return Some(1);
    }
    let number = middle.strip_prefix('.')?.parse().ok()?;
    (number > 1 && numbered(base, suffix, number) == name).then_some(number)
}

/// Refuses a JSON file of a newer format than is known here.
pub(crate) fn check_schema(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    /// The one field that all formats share.
    #[derive(Deserialize)]
    struct Versioned {
        schema: u64,
    }
    let found = serde_json::from_slice::<Versioned>(bytes).map_err(RecordError::damaged(path))?.schema;
    if found > u64::from(RECORD_SCHEMA) {
        return Err(RecordError::Newer { path: path.to_owned(), found, known: RECORD_SCHEMA });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_directory() {
        for good in ["fio.json", "1-a-b", "x"] {
            assert!(plain(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", ".hidden", "a/b", "/etc/passwd", "a\0b", &"x".repeat(256)] {
            assert!(matches!(plain(bad), Err(RecordError::BadName { .. })), "{bad:?}");
        }
        assert!(plain_slug("a.b").is_err());
    }

    #[test]
    fn numbers_go_there_and_back() {
        for n in [1, 2, 9, 10, 4_000_000_000] {
            assert_eq!(number(&numbered("1-a-b", ".json", n), "1-a-b", ".json"), Some(n));
        }
        for other in ["1-a-b.1.json", "1-a-b.02.json", "1-a-b.x.json", "1-a-bc.json", "1-a-b.json.2", "1-a-b.+2.json"] {
            assert_eq!(number(other, "1-a-b", ".json"), None, "{other}");
        }
    }
}
