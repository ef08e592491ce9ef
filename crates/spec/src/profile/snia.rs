//! SNIA's solid-state performance tests, as far as three independent implementations agree on them.

use terms::{Bytes, Nanos, Pattern, Workload};

use super::{Profile, made, rnd, seq};

const SOURCE: &str = "SNIA Solid State Storage Performance Test Specification (client: two threads, 16 under way each), \
                      from three implementations of it";
const DIFFERS: &[&str] = &[
    "The span in place of the drive: what is tested is written twice first, what is not is left alone.",
    "Settling and window of the study in place of a minute for each cell.",
    "A drive that was discarded stands for one that was purged.",
    "The verdict over five rounds is printed under SNIA's name beside the interval, which does not depend on it.",
];

/// Shares of reads of the IOPS test, in per cent.
const MIXES: [u8; 7] = [100, 95, 65, 50, 35, 5, 0];
/// Blocks of the IOPS test, in half KiB.
const BLOCKS: [u64; 8] = [2048, 256, 128, 64, 32, 16, 8, 1];

/// Every profile of the specification.
pub(super) fn all() -> Vec<Profile> {
    let profile = |name, help, workloads: Vec<Option<Workload>>| Profile {
        name,
        help,
        source: SOURCE,
        differs: DIFFERS,
        fill_passes: 2,
        workloads: workloads.into_iter().flatten().collect(),
    };
    vec![
        profile("snia-iops", "Random accesses: seven mixes of eight blocks.", iops()),
        profile("snia-throughput", "Sequential reads and writes of 128 KiB and 1 MiB, 32 under way.", throughput()),
        profile("snia-latency", "One access at a time: three blocks in three mixes.", latency()),
        profile("snia-wsat", "4 KiB random writes, minute by minute, until they settle.", vec![saturation()]),
    ]
}

/// Random with that share of reads.
const fn mix(reads: u8) -> Pattern {
    match reads {
        100 => Pattern::RandRead,
        0 => Pattern::RandWrite,
        share => Pattern::RandMixed(share),
    }
}

fn word(half_kib: u64) -> String {
    if half_kib == 1 { "512".to_owned() } else { format!("{}k", half_kib / 2) }
}

fn cell(profile: &str, half_kib: u64, reads: u8, depth: u32, jobs: u32) -> Option<Workload> {
    let name = format!("{profile}-{}-r{reads}", word(half_kib));
    made(profile, &name, mix(reads), Bytes(half_kib * 512), depth, jobs)
}

fn iops() -> Vec<Option<Workload>> {
    MIXES
        .into_iter()
        .flat_map(|reads| BLOCKS.into_iter().map(move |block| cell("snia-iops", block, reads, 16, 2)))
        .collect()
}

fn throughput() -> Vec<Option<Workload>> {
    let each = [false, true].into_iter();
    each.flat_map(|writes| {
        [1024, 128].into_iter().map(move |kib| seq(kib, 32, 1).workload("snia-throughput", "snia-", writes))
    })
    .collect()
}

fn latency() -> Vec<Option<Workload>> {
    let mixes = [100, 65, 0].into_iter();
    mixes.flat_map(|reads| [16, 8, 1].into_iter().map(move |block| cell("snia-latency", block, reads, 1, 1))).collect()
}

fn saturation() -> Option<Workload> {
    let workload = rnd(4, 16, 2).workload("snia-wsat", "snia-wsat-", true)?;
    Some(Workload { window: Some(Nanos::seconds(60)), ..workload })
}
