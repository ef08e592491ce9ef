//! Named sets of workloads that come with the program.
//!
//! Each is exact to its source in block, depth, jobs, order and direction; what of it is not the same is said in
//! `differs`, because a profile that silently does something else is worse than none. Workloads of one name are the same
//! accesses in whatever profile they stand.

mod peers;
mod seeds;
mod snia;

use terms::{Bytes, Method, Name, Pattern, Workload};

/// A named set of workloads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The name that `profiles` takes.
    pub name: &'static str,
    /// What it is for, in one sentence.
    pub help: &'static str,
    /// What it is exact to.
    pub source: &'static str,
    /// What is not the same as there, and why.
    pub differs: &'static [&'static str],
    /// How often the span is to be written first.
    pub fill_passes: u32,
    /// Its workloads, reads before writes.
    pub workloads: Vec<Workload>,
}

/// Every profile.
#[must_use]
pub fn all() -> Vec<Profile> {
    let mut all = vec![quick()];
    all.extend(seeds::all());
    all.extend(peers::all());
    all.extend(own());
    all.extend(snia::all());
    for profile in &mut all {
        // Stable: within each half the order is that of the source.
        profile.workloads.sort_by_key(|workload| workload.pattern.writes());
    }
    all
}

/// The workloads of a profile.
#[must_use]
pub fn named(name: &str) -> Option<Vec<Workload>> {
    all().into_iter().find(|profile| profile.name == name).map(|profile| profile.workloads)
}

/// What every profile with a tool behind it does otherwise.
const BY_THE_CLOCK: &str = "Runs by the clock over the filled span, after settling: without that a fast drive ends after a fraction of a second.";

fn quick() -> Profile {
    Profile {
        name: "quick",
        help: "Sequential 1 MiB and random 4 KiB from one job: enough to see what a layer costs.",
        source: "Bedplate",
        differs: &[],
        fill_passes: 1,
        workloads: both_ways("quick", &[SEQ_1M_Q8, rnd(4, 32, 1)]),
    }
}

/// Profiles for questions that no peer asks in this form.
fn own() -> Vec<Profile> {
    use terms::Engine::{IoUring, Psync};
    let registered = |workload: Workload| Workload {
        engine: IoUring,
        keys: ["registerfiles", "fixedbufs"].map(|key| key_of(key, "1")).to_vec(),
        ..workload
    };
    let flushing = |name: &str, jobs: u32, every: u32, pattern: Pattern| {
        made("fsync", name, pattern, Bytes::kib(4), 1, jobs).map(|workload| Workload {
            engine: Psync,
            fsync_every: Some(every),
            ..workload
        })
    };
    vec![
        Profile {
            name: "max-iops",
            help: "As many 4 KiB operations as there can be: io_uring with registered files and buffers, 16 jobs.",
            source: "Bedplate",
            differs: &[],
            fill_passes: 1,
            workloads: [
                made("max-iops", "max-iops-read", Pattern::RandRead, Bytes::kib(4), 64, 16),
                made("max-iops", "max-iops-write", Pattern::RandWrite, Bytes::kib(4), 64, 16),
            ]
            .into_iter()
            .flatten()
            .map(registered)
            .collect(),
        },
        Profile {
            name: "fsync",
            help: "What a durable write costs: 4 KiB and a flush, from one job and from eight at once.",
            source: "Bedplate",
            differs: &[],
            fill_passes: 1,
            workloads: [
                flushing("fsync-1-t1", 1, 1, Pattern::Write),
                flushing("fsync-1-t8", 8, 1, Pattern::Write),
                flushing("fsync-32-t1", 1, 32, Pattern::RandWrite),
            ]
            .into_iter()
            .flatten()
            .collect(),
        },
    ]
}

/// What one access is: order, KiB, depth, jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Access {
    random: bool,
    kib: u64,
    depth: u32,
    jobs: u32,
}

const SEQ_1M_Q8: Access = seq(1024, 8, 1);

const fn seq(kib: u64, depth: u32, jobs: u32) -> Access {
    Access { random: false, kib, depth, jobs }
}

const fn rnd(kib: u64, depth: u32, jobs: u32) -> Access {
    Access { random: true, kib, depth, jobs }
}

impl Access {
    /// Its pattern when it reads or writes.
    const fn pattern(self, writes: bool) -> Pattern {
        match (self.random, writes) {
            (false, false) => Pattern::Read,
            (false, true) => Pattern::Write,
            (true, false) => Pattern::RandRead,
            (true, true) => Pattern::RandWrite,
        }
    }

    /// `seq-1m-q8-t1`.
    fn word(self) -> String {
        let order = if self.random { "rnd" } else { "seq" };
        let block =
            if self.kib.is_multiple_of(1024) { format!("{}m", self.kib / 1024) } else { format!("{}k", self.kib) };
        format!("{order}-{block}-q{}-t{}", self.depth, self.jobs)
    }

    /// The workload of a profile, its name beginning with `prefix`.
    fn workload(self, profile: &str, prefix: &str, writes: bool) -> Option<Workload> {
        let way = if writes { "write" } else { "read" };
        let name = format!("{prefix}{}-{way}", self.word());
        made(profile, &name, self.pattern(writes), Bytes::kib(self.kib), self.depth, self.jobs)
    }
}

/// Each access as a read and as a write.
fn both_ways(profile: &str, accesses: &[Access]) -> Vec<Workload> {
    let ways = [false, true];
    ways.into_iter()
        .flat_map(|writes| accesses.iter().filter_map(move |access| access.workload(profile, "", writes)))
        .collect()
}

/// One workload; none if the name is no name, which a test rules out.
fn made(profile: &str, name: &str, pattern: Pattern, block: Bytes, depth: u32, jobs: u32) -> Option<Workload> {
    let name = Name::new(name).ok()?;
    Some(Workload { depth, jobs, profile: Some(profile.to_owned()), ..Workload::new(name, pattern, block) })
}

fn key_of(key: &str, value: &str) -> terms::workload::FioKey {
    terms::workload::FioKey { key: key.to_owned(), value: value.to_owned() }
}

/// Accesses of a workload without what it is called and where it comes from.
#[cfg(test)]
fn accesses(workload: &Workload) -> Workload {
    let name = Name::new("w").unwrap_or_else(|_| workload.name.clone());
    Workload { name, profile: None, imitates: None, ..workload.clone() }
}

/// Does fio do it?
#[must_use]
pub fn is_by_fio(workload: &Workload) -> bool {
    workload.method == Method::Fio
}

#[cfg(test)]
mod tests;
