//! One of several different jobs that run at once.

use serde::{Deserialize, Serialize};

use super::{Engine, FioKey, Method, Pattern, Workload, is_default};
use crate::name::Name;
use crate::units::Bytes;

/// One kind of job among others that run at the same time: a section of fio's, with its clones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its name among the parts of its workload.
    pub name: Name,
    /// Direction and order.
    pub pattern: Pattern,
    /// Bytes of one operation.
    #[serde(rename = "block_bytes")]
    pub block: Bytes,
    /// Operations that each job keeps under way.
    pub depth: u32,
    /// Parallel jobs of this kind.
    pub jobs: u32,
    /// Flush after every so many writes, if at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fsync_every: Option<u32>,
    /// How operations reach the kernel.
    #[serde(default, skip_serializing_if = "is_default")]
    pub engine: Engine,
    /// Further fio options, passed on as they are; `offset` and `size` say which bytes of the span are this part's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<FioKey>,
}

impl Part {
    /// What a workload of one kind of job does, as a part of another.
    #[must_use]
    pub fn of(workload: Workload) -> Self {
        let Workload { name, pattern, block, depth, jobs, fsync_every, engine, keys, .. } = workload;
        Self { name, pattern, block, depth, jobs, fsync_every, engine, keys }
    }

    /// The workload that it would be by itself.
    #[must_use]
    pub fn alone(&self) -> Workload {
        let Self { name, pattern, block, depth, jobs, fsync_every, engine, keys } = self.clone();
        Workload { depth, jobs, fsync_every, engine, keys, ..Workload::new(name, pattern, block) }
    }
}

impl Workload {
    /// A workload of parts that run at once. Its own fields sum them up: it reads and writes what any of them does, is
    /// random where all are, has their largest block and depth, and as many jobs as all of them.
    #[must_use]
    pub fn of_parts(name: Name, parts: Vec<Part>) -> Self {
        let random = parts.iter().all(|part| part.pattern.random());
        let (reads, writes) =
            (parts.iter().any(|part| part.pattern.reads()), parts.iter().any(|part| part.pattern.writes()));
        // Which share reads is known when it has run.
        let pattern = match (random, reads, writes) {
            (true, true, true) => Pattern::RandMixed(50),
            (true, _, true) => Pattern::RandWrite,
            (true, ..) => Pattern::RandRead,
            (false, true, true) => Pattern::Mixed(50),
            (false, _, true) => Pattern::Write,
            (false, ..) => Pattern::Read,
        };
        let block = parts.iter().map(|part| part.block).max().unwrap_or_default();
        let depth = parts.iter().map(|part| part.depth).max().unwrap_or(1);
        let jobs = parts.iter().fold(0_u32, |sum, part| sum.saturating_add(part.jobs));
        Self { depth, jobs, parts, ..Self::new(name, pattern, block) }
    }

    /// The workloads of one kind of job that run at once in it: its parts, or itself.
    #[must_use]
    pub fn kinds(&self) -> Vec<Self> {
        if self.parts.is_empty() { vec![self.clone()] } else { self.parts.iter().map(Part::alone).collect() }
    }

    /// Are all of its operations of one size?
    #[must_use]
    pub fn has_one_block(&self) -> bool {
        self.parts.iter().all(|part| part.block == self.block)
    }

    /// Operations that all of its jobs together keep under way.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        let each = self.kinds().into_iter().map(|kind| kind.depth.max(1).saturating_mul(kind.jobs.max(1)));
        each.fold(0, u32::saturating_add)
    }

    /// Further fio options of all of its jobs.
    pub fn all_keys(&self) -> impl Iterator<Item = &FioKey> {
        self.keys.iter().chain(self.parts.iter().flat_map(|part| &part.keys))
    }

    /// The first of them by which a job keeps itself from doing what it could; those without a number above 0 do nothing.
    #[must_use]
    pub fn pace(&self) -> Option<&FioKey> {
        const PACING: [&str; 5] = ["latency_target", "rate", "rate_iops", "thinktime", "thinktime_spin"];
        let does_something = |value: &str| value.contains(|c: char| ('1'..='9').contains(&c));
        self.all_keys().find(|key| PACING.contains(&key.key.as_str()) && does_something(&key.value))
    }

    /// Why nothing is predicted of it; `None` where something is.
    #[must_use]
    pub fn unpredictable(&self) -> Option<String> {
        let key = || self.pace().or_else(|| self.displaced());
        match self {
            Self { method: Method::Tree(..), .. } => Some("it depends on caches that nobody described".to_owned()),
            _ if !self.hosts.is_one() => Some("no rule tells what several hosts share".to_owned()),
            _ if !self.parts.is_empty() => Some("no rule tells what different jobs at once share".to_owned()),
            _ => key().map(|FioKey { key, value }| format!("no rule knows `{key}={value}`")),
        }
    }

    /// The first of them that has operations begin elsewhere, or otherwise, than the pattern and the depth say.
    #[must_use]
    pub fn displaced(&self) -> Option<&FioKey> {
        const DISPLACING: [&str; 10] = [
            "ba",
            "blockalign",
            "iodepth_batch_complete_min",
            "iodepth_low",
            "percentage_random",
            "random_distribution",
            "zonemode",
            "zonerange",
            "zonesize",
            "zoneskip",
        ];
        let as_usual = |key: &FioKey| {
            matches!(
                (key.key.as_str(), key.value.as_str()),
                ("percentage_random", "100") | ("random_distribution", "random") | ("zonemode", "none")
            )
        };
        self.all_keys().find(|key| DISPLACING.contains(&key.key.as_str()) && !as_usual(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_sets_its_own_pace_is_known() {
        let pace = |key: &str, value: &str| {
            let keys = vec![FioKey { key: key.into(), value: value.into() }];
            let work = Workload::new(crate::Name::new("j").unwrap(), crate::Pattern::Read, crate::Bytes::kib(4));
            Workload { keys, ..work }.pace().map(|key| key.value.clone())
        };
        assert_eq!(pace("rate_iops", "500,,").as_deref(), Some("500,,"));
        assert_eq!((pace("thinktime", "0"), pace("nice", "1")), (None, None));
    }

    #[test]
    fn of_a_job_that_works_otherwise_than_its_pattern_says_nothing_is_predicted() {
        let why = |key: &str, value: &str| {
            let keys = vec![FioKey { key: key.into(), value: value.into() }];
            let work = Workload::new(crate::Name::new("j").unwrap(), crate::Pattern::Read, crate::Bytes::kib(4));
            Workload { keys, ..work }.unpredictable()
        };
        for (key, value) in
            [("rate", "1m"), ("zonesize", "64k"), ("percentage_random", "0"), ("random_distribution", "zipf:1.2")]
        {
            assert!(why(key, value).is_some_and(|why| why.contains(key)), "{key}");
        }
        assert_eq!([why("random_distribution", "random"), why("fdatasync", "1"), why("rate", "0")], [None, None, None]);
    }

    fn part(name: &str, pattern: Pattern, kib: u64) -> Part {
        Part::of(Workload { jobs: 2, ..Workload::new(Name::new(name).unwrap(), pattern, Bytes::kib(kib)) })
    }

    fn both() -> Workload {
        let parts = vec![part("r", Pattern::RandRead, 4), part("w", Pattern::Write, 128)];
        Workload::of_parts(Name::new("both").unwrap(), parts)
    }

    #[test]
    fn a_workload_of_parts_does_what_any_of_them_does() {
        let both = both();
        assert!(both.pattern.reads() && both.pattern.writes() && !both.pattern.random());
        assert_eq!((both.block, both.jobs, both.in_flight()), (Bytes::kib(128), 4, 4));
        assert_eq!(both.buffers(), Bytes::kib(2 * 4 + 2 * 128));
        assert_eq!(both.describe(), "RND 4 KiB Q1 T2 read + SEQ 128 KiB Q1 T2 write");
        assert!(both.unpredictable().is_some() && both.curve().is_empty() && !both.has_one_block());
        assert_eq!(both.kinds().len(), 2);
        assert_eq!(Part::of(both.kinds().remove(1)), both.parts[1]);
    }

    #[test]
    fn what_one_part_takes_from_the_page_cache_counts_for_all() {
        let mut both = both();
        assert!(!both.is_buffered());
        both.parts[1].keys = vec![FioKey { key: "direct".into(), value: "0".into() }];
        assert!(both.is_buffered() && both.all_keys().count() == 1);
    }

    #[test]
    fn parts_are_written_and_read_again() {
        let text = serde_json::to_string(&both()).unwrap();
        assert_eq!(serde_json::from_str::<Workload>(&text).unwrap(), both());
        assert!(!serde_json::to_string(&both().kinds()[0]).unwrap().contains("parts"));
    }
}
