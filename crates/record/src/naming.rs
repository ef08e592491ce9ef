//! Names of runs: when they began and what they study.

use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use terms::slug;

use crate::error::RecordError;
use crate::layout::numbered;

/// A free name for a run under `root`: the start in UTC and the study's title, such as
/// `2026-11-20T192133Z-quickstart`; with `.2`, `.3` … behind it where that is taken.
///
/// `started` is RFC 3339, with or without a zone's name behind it.
///
/// # Errors
/// [`RecordError::BadTime`] if it is not.
pub fn run_name(root: &Path, started: &str, title: &str) -> Result<String, RecordError> {
    let base = format!("{}-{}", timestamp(started)?.strftime("%Y-%m-%dT%H%M%SZ"), slug(title));
    let names = (1..).map(|number| numbered(&base, "", number));
    let free = names.into_iter().find(|name| root.join(name).symlink_metadata().is_err());
    Ok(free.unwrap_or(base))
}

/// The instant that a text tells.
pub(crate) fn timestamp(text: &str) -> Result<Timestamp, RecordError> {
    text.parse().map_err(|source| RecordError::BadTime { text: text.to_owned(), source })
}

/// An instant as text that sorts by time: RFC 3339 in UTC with all nine digits of the second.
pub(crate) fn sortable(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%S.%9fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_start_and_title() {
        let root = tempfile::tempdir().unwrap();
        for started in
            ["2026-11-20T19:21:33Z", "2026-11-20T20:21:33.25+01:00", "2026-11-20T20:21:33+01:00[Europe/Berlin]"]
        {
            let name = run_name(root.path(), started, "Quick start!").unwrap();
            assert_eq!(name, "2026-11-20T192133Z-quick-start", "{started}");
        }
        assert!(matches!(run_name(root.path(), "yesterday", "x"), Err(RecordError::BadTime { .. })));
    }

    #[test]
    fn taken_names_get_a_number() {
        let root = tempfile::tempdir().unwrap();
        let name = || run_name(root.path(), "2026-11-20T19:21:33Z", "x").unwrap();
        for expect in ["2026-11-20T192133Z-x", "2026-11-20T192133Z-x.2", "2026-11-20T192133Z-x.3"] {
            assert_eq!(name(), expect);
            std::fs::create_dir(root.path().join(expect)).unwrap();
        }
    }

    #[test]
    fn sortable_texts_sort_by_time() {
        let of = |text| sortable(timestamp(text).unwrap());
        assert_eq!(of("2026-11-20T20:21:33.5+01:00"), "2026-11-20T19:21:33.500000000Z");
        assert!(of("2026-11-20T19:21:33Z") < of("2026-11-20T19:21:33.5Z"));
    }
}
