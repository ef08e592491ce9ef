//! What fio takes of several options together.

use super::job::Job;
use super::values::{self, ByDirection};

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

    /// Shares of operations that go to random places, by direction, where it says so; all do by default.
    pub(super) fn random_shares(&self) -> Option<ByDirection> {
        values::by_direction(self.kept("percentage_random")?, self.base, [100; 3]).ok()
    }

    /// Has it blocks of one size at multiples of another? `bs_is_seq_rand` gives random blocks the second size, and fio
    /// puts them at multiples of the first (`get_next_rand_block` in its `io_u.c`).
    pub(super) fn is_off_its_blocks(&self) -> bool {
        let is_unsure = self.is_unsure(&["bs", "bs_is_seq_rand", "rw"]);
        self.work.is_random() && !is_unsure && self.blocks.are_apart()
    }
}

#[cfg(test)]
mod tests {
    use crate::fio::import;

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

    /// Each was run by fio 3.33, which told the sizes of its blocks, and where they lie (`write_iolog`).
    #[test]
    fn a_job_has_the_blocks_that_fio_gives_it() {
        let block = |lines: &str| {
            let (imported, notes) = import(&format!("[j]\nsize=1g\ndirect=1\n{lines}\n"), false);
            imported.map(|imported| imported.workloads[0].block.0).ok_or(notes)
        };
        for (lines, bytes) in [
            ("rw=randread\nbs=64k\nbs_is_seq_rand=1", 65_536),
            ("rw=randread\nbs=4k,64k\nbsrange=8k-8k\nbs_is_seq_rand=1", 8192),
            ("rw=write\nbs=4k,64k\nbs_is_seq_rand=1", 4096),
            ("rw=write\nbs=4k,64k\nbs_is_seq_rand=0", 65_536),
            ("rw=read\nbsrange=4k-4k\nbs=64k", 4096),
            ("rw=write\nbs=,8k", 8192),
            ("rw=read\nioengine=aio\nbs=8k", 8192),
        ] {
            assert_eq!(block(lines), Ok(bytes), "{lines}");
        }
        // Blocks of 64 KiB at multiples of 4 KiB.
        for lines in ["rw=randread", "rw=randwrite", "rw=randrw", "rw=randread\npercentage_random=50"] {
            let notes = block(&format!("{lines}\nbs=4k,64k\nbs_is_seq_rand=1")).expect_err(lines);
            assert!(notes.iter().any(|note| note.code == "fio-blocks"), "{lines}: {notes:?}");
        }
    }
}
