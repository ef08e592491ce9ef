//! Profiles held against tables that were written from the sources, not from the code.

use std::collections::BTreeMap;

use super::*;

/// `RND4K Q32 T16` of the tools: random, KiB, depth, jobs.
type Row = (bool, u64, u32, u32);

fn rows(profile: &str, writes: bool) -> Vec<Row> {
    let workloads = named(profile).unwrap();
    let rows = workloads.iter().filter(|of| of.pattern.writes() == writes);
    rows.map(|of| (of.pattern.random(), of.block.0 / 1024, of.depth, of.jobs)).collect()
}

#[test]
fn tools_have_the_tests_of_their_sources() {
    let seq_q8 = (false, 1024, 8, 1);
    let seq_q1 = (false, 1024, 1, 1);
    let seq_128 = (false, 128, 32, 1);
    let rnd_q32 = (true, 4, 32, 1);
    let rnd_t16 = (true, 4, 32, 16);
    let rnd_q1 = (true, 4, 1, 1);
    for (profile, expect, loops, best) in [
        ("kdiskmark", vec![seq_q8, seq_q1, rnd_q32, rnd_q1], 5, false),
        ("kdiskmark-peak", vec![seq_q8, rnd_q32], 5, true),
        ("kdiskmark-real-world", vec![seq_q1, rnd_q1], 5, true),
        ("kdiskmark-nvme", vec![seq_q8, seq_128, rnd_t16, rnd_q1], 5, false),
        ("kdiskmark-nvme-peak", vec![seq_q8, rnd_t16], 5, true),
        ("kdiskmark-nvme-real-world", vec![seq_q1, rnd_q1], 5, true),
        ("crystaldiskmark", vec![seq_q8, seq_q1, rnd_q32, rnd_q1], 3, true),
        ("crystaldiskmark-nvme", vec![seq_q8, seq_128, rnd_t16, rnd_q1], 3, true),
        ("crystaldiskmark-flash", vec![seq_q8, seq_q1, rnd_q32, rnd_q1], 3, true),
    ] {
        assert_eq!(rows(profile, false), expect, "{profile} reads");
        assert_eq!(rows(profile, true), expect, "{profile} writes");
        for workload in named(profile).unwrap() {
            let imitation = workload.imitates.unwrap();
            assert_eq!((imitation.loops, imitation.best), (loops, best), "{profile}");
        }
    }
}

#[test]
fn studies_have_the_tests_of_their_texts() {
    let names: Vec<String> = named("seed-001").unwrap().iter().map(|w| w.name.to_string()).collect();
    assert_eq!(names, ["seq-1m-q8-t1-read", "rnd-4k-q32-t16-read", "seq-1m-q8-t1-write", "rnd-4k-q32-t16-write"]);
    let [truenas] = &named("truenas-randrw").unwrap()[..] else { panic!("one workload") };
    let is = (truenas.block, truenas.depth, truenas.jobs, truenas.pattern, truenas.engine.fio());
    assert_eq!(is, (Bytes::kib(128), 32, 12, Pattern::RandMixed(50), "posixaio"));
    let iometer = named("iometer-mixed").unwrap();
    assert!(iometer.len() == 6 && iometer.iter().all(|of| of.jobs == 10));
    let sweep = rows("blocksize-sweep", false);
    assert_eq!(sweep.len(), 18);
    assert!(sweep.contains(&(true, 4, 32, 1)) && sweep.contains(&(true, 1024, 32, 16)));
    let gnome = named("gnome-disks").unwrap();
    assert!(gnome.iter().any(|of| of.reach == terms::Reach::Samples(100) && of.block == Bytes::mib(10)));
}

#[test]
fn snia_has_its_cells() {
    let cells = named("snia-iops").unwrap();
    assert_eq!(cells.len(), 56);
    assert!(cells.iter().all(|of| (of.depth, of.jobs) == (16, 2)));
    assert_eq!(cells.iter().filter(|of| of.block == Bytes(512)).count(), 7);
    assert_eq!(named("snia-latency").unwrap().len(), 9);
    assert_eq!(rows("snia-throughput", true), [(false, 1024, 32, 1), (false, 128, 32, 1)]);
    assert_eq!(named("snia-wsat").unwrap()[0].window, Some(terms::Nanos::seconds(60)));
    assert!(all().iter().filter(|of| of.name.starts_with("snia")).all(|of| of.fill_passes == 2));
}

#[test]
fn a_name_means_the_same_accesses_everywhere() {
    let mut known: BTreeMap<String, (Workload, &str)> = BTreeMap::new();
    for profile in all() {
        assert!(!profile.workloads.is_empty() && !profile.source.is_empty(), "{}", profile.name);
        assert!(profile.workloads.is_sorted_by_key(|workload| workload.pattern.writes()), "{}", profile.name);
        for workload in &profile.workloads {
            assert!(workload.name.as_str().len() <= 40, "{}: no room for a point of a curve", workload.name);
            if let Some((other, of)) = known.get(workload.name.as_str()) {
                assert_eq!(&accesses(workload), other, "{} of {} and {of}", workload.name, profile.name);
            }
            known.insert(workload.name.to_string(), (accesses(workload), profile.name));
        }
    }
}

#[test]
fn profiles_are_found_by_name() {
    for name in [
        "quick",
        "kdiskmark",
        "kdiskmark-nvme",
        "crystaldiskmark",
        "gnome-disks",
        "seed-001",
        "truenas-randrw",
        "iometer-mixed",
        "blocksize-sweep",
        "max-iops",
        "fsync",
        "file-copy",
        "snia-iops",
        "snia-throughput",
        "snia-latency",
        "snia-wsat",
    ] {
        assert!(named(name).is_some(), "{name}");
    }
    assert_eq!(named("slow"), None);
}
