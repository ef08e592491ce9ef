//! When a scrub of a btrfs began.

use jiff::civil::DateTime;

/// The last scrub's texts, where all tell when theirs began; otherwise all.
pub(super) fn last_started(texts: Vec<String>) -> Vec<String> {
    let started: Option<Vec<DateTime>> = texts.iter().map(|text| started(text)).collect();
    let Some((started, last)) = started.and_then(|all| all.iter().max().copied().map(|last| (all, last))) else {
        return texts;
    };
    texts.into_iter().zip(started).filter(|(_, start)| *start == last).map(|(text, _)| text).collect()
}

/// `Scrub started:    Sun Mar  3 01:00:02 2024`, or of old versions `scrub started at Sun Mar  3 01:00:02 2024 and finished after`: the
/// first, where each device has one.
fn started(text: &str) -> Option<DateTime> {
    let told = text.lines().find_map(|line| {
        let line = line.trim();
        line.strip_prefix("Scrub started:").or_else(|| line.strip_prefix("scrub started at "))
    })?;
    let words: Vec<&str> = told.split_whitespace().take(5).collect();
    DateTime::strptime("%a %b %d %H:%M:%S %Y", words.join(" ").trim_end_matches(',')).ok()
}
