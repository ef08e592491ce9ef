//! Named sets of workloads that come with the program.

use terms::{Bytes, Name, Pattern, Workload};

/// A named set of workloads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The name that `profiles` takes.
    pub name: &'static str,
    /// What it is for, in one sentence.
    pub help: &'static str,
    /// Its workloads, reads before writes.
    pub workloads: Vec<Workload>,
}

/// Every profile.
#[must_use]
pub fn all() -> Vec<Profile> {
    vec![
        Profile {
            name: "quick",
            help: "Sequential 1 MiB and random 4 KiB from one job: enough to see what a layer costs.",
            workloads: peak("quick", 1),
        },
        Profile {
            name: "seed-001",
            help: "The peak-performance test of CrystalDiskMark as the dm-integrity benchmarks ran it: \
                   1 MiB Q8 T1 and 4 KiB Q32 T16.",
            workloads: peak("seed-001", 16),
        },
    ]
}

/// The workloads of a profile.
#[must_use]
pub fn named(name: &str) -> Option<Vec<Workload>> {
    all().into_iter().find(|profile| profile.name == name).map(|profile| profile.workloads)
}

/// Sequential 1 MiB Q8 T1 and random 4 KiB Q32 with as many jobs as said, reads before writes.
fn peak(profile: &str, jobs: u32) -> Vec<Workload> {
    let sequential = |pattern, way| workload(profile, &format!("seq-1m-q8-t1-{way}"), pattern, Bytes::mib(1), 8, 1);
    let random =
        |pattern, way| workload(profile, &format!("rnd-4k-q32-t{jobs}-{way}"), pattern, Bytes::kib(4), 32, jobs);
    [
        sequential(Pattern::Read, "read"),
        random(Pattern::RandRead, "read"),
        sequential(Pattern::Write, "write"),
        random(Pattern::RandWrite, "write"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// One workload; none if the name is no name, which a test rules out.
fn workload(profile: &str, name: &str, pattern: Pattern, block: Bytes, depth: u32, jobs: u32) -> Option<Workload> {
    let name = Name::new(name).ok()?;
    Some(Workload { depth, jobs, profile: Some(profile.to_owned()), ..Workload::new(name, pattern, block) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_have_all_their_workloads_reads_first() {
        for profile in all() {
            assert_eq!(profile.workloads.len(), 4, "{}", profile.name);
            assert!(profile.workloads.is_sorted_by_key(|workload| workload.pattern.writes()), "{}", profile.name);
            assert_eq!(named(profile.name), Some(profile.workloads));
        }
        assert_eq!(named("slow"), None);
    }

    #[test]
    fn the_seed_is_named_as_published() {
        let names: Vec<String> = named("seed-001").unwrap().iter().map(|w| w.name.to_string()).collect();
        assert_eq!(names, ["seq-1m-q8-t1-read", "rnd-4k-q32-t16-read", "seq-1m-q8-t1-write", "rnd-4k-q32-t16-write"]);
    }
}
