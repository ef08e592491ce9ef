//! Values that are passed on as they are, and what they say over earlier ones.

use super::rules;
use super::units::{self, Base};

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

/// A list of sizes in bytes, as fio reads it; `None` where a place of it is no size.
pub(super) fn in_bytes(value: &str, base: Base) -> Option<String> {
    let place = |place: &str| match place {
        "" => Some(String::new()),
        place => units::size(place, base).ok().map(|bytes| bytes.to_string()),
    };
    value.split(',').map(place).collect::<Option<Vec<_>>>().map(|places| places.join(","))
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
        for (lines, job, passed) in [
            ("kb_base=1000\nrate=1m", "kb_base=1024", Some("rate=1000000")),
            ("rate=1m", "kb_base=1000\nrate_process=poisson", Some("rate=1048576")),
            ("rate=1m,2mib", "kb_base=1000", Some("rate=1048576,2000000")),
            ("zonemode=strided\nzonesize=1m", "kb_base=1000", Some("zonesize=1048576")),
            ("kb_base=1000\nrate=1m", "kb_base=1000\nbs=4k", Some("rate=1m")),
            ("kb_base=1000\nrate=1m", "kb_base=1024\nrate=2m", Some("rate=2m")),
            ("kb_base=1000\nrate=1000000", "kb_base=1024", Some("rate=1000000")),
            ("kb_base=1000\nthinktime=10ms\nbs=4k", "kb_base=1024", Some("thinktime=10ms")),
            ("kb_base=1000\nrandom_distribution=zoned_abs:60/1m:40/2m", "kb_base=1024\nrw=randread", None),
        ] {
            let (imported, notes) = import(&format!("[global]\nrw=read\nsize=1g\n{lines}\n[j]\n{job}\n"), false);
            assert_eq!(imported.is_some(), passed.is_some(), "{lines}, {job}: {notes:?}");
            let keys = imported.into_iter().flat_map(|imported| imported.workloads).flat_map(|workload| workload.keys);
            let keys: Vec<String> = keys.map(|key| format!("{}={}", key.key, key.value)).collect();
            assert!(passed.is_none_or(|passed| keys.iter().any(|key| key == passed)), "{lines}, {job}: {keys:?}");
            let is_told = notes.iter().any(|note| note.code == "fio-kb-base");
            assert_eq!(is_told, passed.is_none(), "{lines}, {job}: {notes:?}");
        }
    }
}
