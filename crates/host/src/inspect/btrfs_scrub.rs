//! What the last scrub of a btrfs found: `btrfs scrub status`, of old and new versions, of all devices or one by one.

use terms::inventory::{Readout, Scrub};

use super::source::Source;

/// Nothing where it was never scrubbed, or nobody knows.
pub(super) fn read(source: &Source, target: Option<&String>) -> Readout<Option<Scrub>> {
    let Some(target) = target else { return Readout::unknown("it is not mounted") };
    source.said(&["btrfs", "scrub", "status", "-d", target]).map(|text| understood(&text))
}

/// Sums over all devices (`print_scrub_summary` in btrfs-progs' `cmds/scrub.c`).
fn understood(text: &str) -> Option<Scrub> {
    let mut scrub = Scrub::default();
    let mut device = None;
    let mut is_told = false;
    for line in text.lines().map(str::trim) {
        // The word began with a small letter before 6.0.
        if let Some(rest) = line.strip_prefix("Scrub device ").or_else(|| line.strip_prefix("scrub device ")) {
            device = rest.split_once(" (id ").map(|(path, _)| path.to_owned());
        }
        is_told |=
            line.starts_with("Error summary:") || line.contains(" with 0 errors") || line.ends_with("_errors: 0");
        for (kind, number) in counts(line) {
            is_told = true;
            let sum = match kind {
                "corrected" => &mut scrub.corrected,
                "uncorrectable" => &mut scrub.uncorrectable,
                kind => scrub.errors.entry(kind.to_owned()).or_default(),
            };
            *sum = sum.saturating_add(number);
            let path = device.clone().filter(|path| !scrub.devices.contains(path));
            scrub.devices.extend(path);
        }
    }
    // What was never scrubbed has no errors, either.
    let is_empty = scrub == Scrub::default() && text.contains("no stats available");
    (is_told && !is_empty).then_some(scrub)
}

/// Kinds of errors and what becomes of them, with how many there are: `Error summary:    csum=14 read=2`, `Corrected: 14` and so on of newer
/// versions, `error details: csum=3`, `corrected errors: 1, uncorrectable errors: 2, …` of older ones. None is 0.
fn counts(line: &str) -> Vec<(&str, u64)> {
    let summary = ["Error summary:", "error details:"].iter().find_map(|start| line.strip_prefix(start));
    let pairs: Vec<(&str, &str)> = match (summary, line.split_once(':')) {
        (Some(rest), _) => rest.split_whitespace().filter_map(|word| word.split_once('=')).collect(),
        (None, Some(("Corrected", number))) => vec![("corrected", number)],
        (None, Some(("Uncorrectable", number))) => vec![("uncorrectable", number)],
        (None, Some(("corrected errors", _))) => line
            .split(", ")
            .filter_map(|part| part.split_once(" errors:"))
            .filter(|(kind, _)| *kind != "unverified")
            .collect(),
        _ => Vec::new(),
    };
    let told = pairs.into_iter().filter_map(|(kind, number)| Some((kind, number.trim().parse().ok()?)));
    told.filter(|(_, number)| *number > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_words_are_understood() {
        let new = "UUID:             x\nError summary:    csum=14 read=2\n  Corrected:      15\n  Uncorrectable:  1\n  Unverified:     0\n";
        let old = "scrub status for x\n\ttotal bytes scrubbed: 1.22TiB with 16 errors\n\terror details: csum=14 read=2\n\
                   \tcorrected errors: 15, uncorrectable errors: 1, unverified errors: 0\n";
        for text in [new, old] {
            let scrub = understood(text).unwrap();
            assert_eq!((scrub.corrected, scrub.uncorrectable), (15, 1), "{text}");
            assert_eq!((scrub.errors["csum"], scrub.errors["read"]), (14, 2), "{text}");
        }
        let each = "scrub device /dev/sda (id 1) history\nError summary:    no errors found\nscrub device /dev/sdb (id 2) history\n\
                    Error summary:    read=8\n  Corrected:      8\n";
        assert_eq!(understood(each).unwrap().devices, ["/dev/sdb"]);
        assert_eq!(understood("UUID: x\nError summary:    no errors found\n"), Some(Scrub::default()));
        let fresh = "UUID: x\n\tno stats available\n";
        assert_eq!(understood(fresh), None);
        assert_eq!(understood(&format!("{fresh}Error summary:    no errors found\n")), None);
    }
}
