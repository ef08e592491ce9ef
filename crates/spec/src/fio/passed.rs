//! Values that are passed on as they are: what they say over earlier ones, and what fio takes of several together.

use super::job::Job;
use super::values::{self, ByDirection};

/// Options with a value for reads, for writes and for trims.
const BY_DIRECTION: [&str; 7] =
    ["ba", "max_latency", "percentage_random", "rate", "rate_iops", "rate_iops_min", "rate_min"];

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

/// May it have a unit that `kb_base` decides?
pub(super) fn has_unit(value: &str) -> bool {
    value.contains(|c: char| "kmgtpKMGTP".contains(c)) && value.contains(|c: char| c.is_ascii_digit())
}

/// Options that are judged together.
pub(super) const TOGETHER: [&str; 6] = ["rate", "rate_iops", "rate_iops_min", "rate_min", "zonemode", "zonesize"];

/// Two rates of which fio takes one: bytes and operations.
const EITHER: [(&str, &str); 2] = [("rate", "rate_iops"), ("rate_min", "rate_iops_min")];
/// A rate that is asked for, and the lowest that is taken: fio's own order of the two.
const LEAST: [(&str, &str); 2] = [("rate", "rate_min"), ("rate_iops", "rate_iops_min")];

impl Job {
    /// What fio refuses of options together when it begins to run (`fixup_options` in its `init.c`), and what is to be done.
    pub(super) fn contradiction(&self) -> Option<(String, &'static str)> {
        let rate = |key: &str| self.rates(key);
        let is_set = |key: &str| rate(key).iter().any(|rate| *rate > 0);
        if let Some((bytes, operations)) = EITHER.iter().find(|(one, other)| is_set(one) && is_set(other)) {
            return Some((format!("`{bytes}` and `{operations}`: fio takes one of them"), "leave one of them out"));
        }
        let is_above = |(most, least): &&(&str, &str)| {
            std::iter::zip(rate(most), rate(least)).any(|(most, least)| most > 0 && most < least)
        };
        if let Some((most, least)) = LEAST.iter().find(is_above) {
            return Some((
                format!("a `{least}` above its `{most}`: fio refuses it"),
                "lower the one, or raise the other",
            ));
        }
        let zone = self.kept("zonesize").is_some_and(|size| size.chars().any(|c| ('1'..='9').contains(&c)));
        match (self.kept("zonemode"), zone) {
            (Some("strided"), false) => Some(("strided zones, and no `zonesize`".to_owned(), "say zonesize")),
            (None | Some("none"), true) => {
                Some(("a `zonesize`, and no mode that heeds it".to_owned(), "say zonemode=strided, or leave it out"))
            }
            _ => None,
        }
    }

    /// Rates by direction; 0 where none is said.
    fn rates(&self, key: &str) -> ByDirection {
        self.kept(key).and_then(|value| values::by_direction(value, self.base, [0; 3]).ok()).unwrap_or_default()
    }

    /// Has it blocks of one size in order and of another at random places, and goes both ways?
    pub(super) fn goes_both_ways(&self) -> bool {
        let share = self.kept("percentage_random").is_some_and(|share| share != "100");
        let [in_order, at_random] = self.blocks.said;
        self.blocks.by_order && share && self.work.is_random() && in_order != at_random
    }
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

    /// Each was run by fio 3.33: what is refused here it refused when it began to run, and not when it read the file.
    #[test]
    fn what_fio_refuses_of_options_together_is_refused() {
        for (lines, why) in [
            ("rate=1m\nrate_iops=100", Some("one of them")),
            ("rate=1m,0\nrate_iops=0,100", Some("one of them")),
            ("rate=1m\nrate_min=2m", Some("`rate_min` above its `rate`")),
            ("rate_iops=1000\nrate_iops_min=2k", Some("above its `rate_iops`")),
            ("zonemode=strided", Some("no `zonesize`")),
            ("zonemode=none\nzonesize=1m", Some("no mode")),
            ("zonesize=1m\nzoneskip=1m", Some("no mode")),
            ("zonemode=strided\nzonesize=1m", None),
            ("rate=0\nrate_iops=100", None),
            ("rate=2m\nrate_min=1m", None),
            ("rate_min=1m", None),
        ] {
            let (_, notes) = import(&format!("[j]\nrw=randrw\nsize=1g\n{lines}\n"), false);
            let found = notes.iter().find(|note| note.severity == terms::NoteLevel::Error);
            let is_so = match why {
                Some(why) => found.is_some_and(|note| note.message.contains(why)),
                None => found.is_none(),
            };
            assert!(is_so, "{lines}: {notes:?}");
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
    /// Each was run by fio 3.33, which told the sizes of its blocks.
    #[test]
    fn a_job_has_the_blocks_that_fio_gives_it() {
        let block = |lines: &str| {
            let (imported, notes) = import(&format!("[j]\nsize=1g\ndirect=1\n{lines}\n"), false);
            imported.map(|imported| imported.workloads[0].block.0).ok_or(notes)
        };
        for (lines, bytes) in [
            ("rw=randread\nbs=4k,64k\nbs_is_seq_rand=1", 65_536),
            ("rw=write\nbs=4k,64k\nbs_is_seq_rand=1", 4096),
            ("rw=randrw\nbs=4k,64k\nbs_is_seq_rand=1", 65_536),
            ("rw=write\nbs=4k,64k\nbs_is_seq_rand=0", 65_536),
            ("rw=read\nbsrange=4k-4k\nbs=64k", 4096),
            ("rw=write\nbs=,8k", 8192),
            ("rw=read\nioengine=aio\nbs=8k", 8192),
        ] {
            assert_eq!(block(lines), Ok(bytes), "{lines}");
        }
        let both = block("rw=randread\nbs=4k,64k\nbs_is_seq_rand=1\npercentage_random=50");
        assert!(both.is_err_and(|notes| notes.iter().any(|note| note.code == "fio-blocks")));
    }
}
