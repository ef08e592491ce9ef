//! Values that are passed on as they are, and what they say over earlier ones.

use super::rules;

/// Options with a value for reads, for writes and for trims.
const BY_DIRECTION: [&str; 7] =
    ["ba", "max_latency", "percentage_random", "rate", "rate_iops", "rate_iops_min", "rate_min"];

/// Options whose units are those of times: `2m` are two minutes (`fio --parse-only --debug=parse` of 3.33).
const TIMES: [&str; 6] =
    ["latency_target", "latency_window", "max_latency", "thinktime", "thinktime_iotime", "thinktime_spin"];

/// A value over an earlier one: a place that is left empty keeps what was there.
pub(super) fn over(key: &str, known: Option<&str>, value: &str) -> String {
    let has_gap = value.split(',').any(str::is_empty);
    let Some(known) = known.filter(|_| has_gap && BY_DIRECTION.contains(&key)) else { return value.to_owned() };
    let (known, said) = (places(known), places(value));
    let merged = std::iter::zip(known, said).map(|(known, said)| if said.is_empty() { known } else { said });
    merged.collect::<Vec<_>>().join(",")
}

/// The values of each direction: the last goes for those behind it.
fn places(value: &str) -> [&str; 3] {
    let parts: Vec<&str> = value.split(',').collect();
    [0, 1, 2].map(|at| parts.get(at).or(parts.last()).copied().unwrap_or_default())
}

/// May it have a unit that `kb_base` decides? By fio's first name of the option.
pub(super) fn has_unit(key: &str, value: &str) -> bool {
    let is_other = TIMES.contains(&key) || rules::is_time(key) || rules::has_no_effect(key);
    !is_other && value.as_bytes().windows(2).any(|pair| pair[0].is_ascii_digit() && b"kmgtpKMGTP".contains(&pair[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::import;

    #[test]
    fn a_place_that_is_left_empty_keeps_what_was_there() {
        for (key, known, value, whole) in [
            ("rate", Some("1m"), ",2m", "1m,2m,2m"),
            ("rate", Some("1m,2m"), "3m,", "3m,2m,2m"),
            ("rate", None, ",2m", ",2m"),
            ("rate", Some("1m"), "2m", "2m"),
            ("cpus_allowed", Some("1"), "0,", "0,"),
        ] {
            assert_eq!(over(key, known, value), whole, "{key}={value}");
        }
    }

    #[test]
    fn units_are_passed_on_with_what_decides_them() {
        let keys = |lines: &str| {
            let (imported, notes) = import(&format!("[j]\nkb_base=1000\nrw=read\nsize=1g\n{lines}\n"), false);
            imported.unwrap_or_else(|| panic!("{notes:?}")).workloads.remove(0).keys
        };
        assert!(keys("rate=1m").iter().any(|key| key.key == "kb_base" && key.value == "1000"));
        assert!(keys("rate=1000000").iter().all(|key| key.key != "kb_base"));
    }

    /// fio 3.33 reads each section with its own.
    #[test]
    fn a_value_is_passed_on_with_no_other_base_than_its_own() {
        for (lines, job, is_refused) in [
            ("kb_base=1000\nrate=1m", "kb_base=1024", true),
            ("rate=1m", "kb_base=1000\nrate_process=poisson", true),
            ("zonemode=strided\nzonesize=1m", "kb_base=1000", true),
            ("kb_base=1000\nrate=1m", "kb_base=1000\nbs=4k", false),
            ("kb_base=1000\nrate=1000000", "kb_base=1024", false),
            ("kb_base=1000\nthinktime=10ms\nbs=4k", "kb_base=1024", false),
        ] {
            let (imported, notes) = import(&format!("[global]\n{lines}\n[j]\nrw=read\nsize=1g\n{job}\n"), false);
            assert_eq!(imported.is_none(), is_refused, "{lines}, {job}: {notes:?}");
            assert_eq!(notes.iter().any(|note| note.code == "fio-kb-base"), is_refused, "{lines}, {job}: {notes:?}");
        }
    }
}
