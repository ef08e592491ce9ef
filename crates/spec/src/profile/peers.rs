//! Profiles of tools that people know: their tests by name, faults in compat mode only.

use terms::workload::{Imitation, Tool};
use terms::{Bytes, Engine, Pattern, Reach, Workload};

use super::{Access, BY_THE_CLOCK, Profile, SEQ_1M_Q8, made, rnd, seq};

const SEQ_1M_Q1: Access = seq(1024, 1, 1);
const SEQ_128K_Q32: Access = seq(128, 32, 1);
const RND_4K_Q32: Access = rnd(4, 32, 1);
const RND_4K_Q32_T16: Access = rnd(4, 32, 16);
const RND_4K_Q1: Access = rnd(4, 1, 1);

/// The four tests of the standard preset, and of the one for NVMe drives; alike in both tools.
const STANDARD: [Access; 4] = [SEQ_1M_Q8, SEQ_1M_Q1, RND_4K_Q32, RND_4K_Q1];
const NVME: [Access; 4] = [SEQ_1M_Q8, SEQ_128K_Q32, RND_4K_Q32_T16, RND_4K_Q1];
const PEAK: [Access; 2] = [SEQ_1M_Q8, RND_4K_Q32];
const PEAK_NVME: [Access; 2] = [SEQ_1M_Q8, RND_4K_Q32_T16];
const REAL_WORLD: [Access; 2] = [SEQ_1M_Q1, RND_4K_Q1];

const KDISKMARK: &str = "KDiskMark 3.3, read in its source";
const CRYSTAL: &str = "CrystalDiskMark 9.0.1, read in its source";

const KDISKMARK_DIFFERS: &[&str] = &[
    BY_THE_CLOCK,
    "The mixed test, off by default there, is left out.",
    "MB/s there is KiB/s divided by 1000; `--compat` shows that number beside this one.",
];
const CRYSTAL_DIFFERS: &[&str] = &[
    BY_THE_CLOCK,
    "fio in place of DiskSpd, and a mean with its interval in place of the best of three.",
    "The mixed test, off by default there, is left out.",
];

/// Every profile of a tool.
pub(super) fn all() -> Vec<Profile> {
    let mean = Imitation { tool: Tool::KdiskMark, loops: 5, best: false };
    let best = Imitation { best: true, ..mean };
    let crystal = Imitation { tool: Tool::CrystalDiskMark, loops: 3, best: true };
    let kdm = |name, help, prefix, accesses: &[Access], imitation| Profile {
        name,
        help,
        source: KDISKMARK,
        differs: KDISKMARK_DIFFERS,
        fill_passes: 1,
        workloads: imitating(name, prefix, accesses, imitation),
    };
    let cdm = |name, help, prefix, accesses: &[Access]| Profile {
        name,
        help,
        source: CRYSTAL,
        differs: CRYSTAL_DIFFERS,
        fill_passes: 1,
        workloads: imitating(name, prefix, accesses, crystal),
    };
    vec![
        kdm("kdiskmark", "The four default tests of KDiskMark.", "kdm-", &STANDARD, mean),
        kdm("kdiskmark-peak", "KDiskMark's peak performance.", "kdm-peak-", &PEAK, best),
        kdm("kdiskmark-real-world", "KDiskMark's real world performance.", "kdm-real-", &REAL_WORLD, best),
        kdm("kdiskmark-nvme", "The four default tests of KDiskMark's NVMe preset.", "kdm-nvme-", &NVME, mean),
        kdm("kdiskmark-nvme-peak", "Peak performance of the NVMe preset.", "kdm-nvme-peak-", &PEAK_NVME, best),
        kdm(
            "kdiskmark-nvme-real-world",
            "Real world performance of the NVMe preset.",
            "kdm-nvme-real-",
            &REAL_WORLD,
            best,
        ),
        cdm("crystaldiskmark", "The default tests of CrystalDiskMark.", "cdm-", &STANDARD),
        cdm("crystaldiskmark-peak", "CrystalDiskMark's peak performance.", "cdm-peak-", &PEAK),
        cdm("crystaldiskmark-real-world", "CrystalDiskMark's real world performance.", "cdm-real-", &REAL_WORLD),
        cdm("crystaldiskmark-nvme", "CrystalDiskMark set to NVMe drives.", "cdm-nvme-", &NVME),
        cdm("crystaldiskmark-nvme-peak", "Peak performance, set to NVMe drives.", "cdm-nvme-peak-", &PEAK_NVME),
        cdm("crystaldiskmark-flash", "CrystalDiskMark set to flash memory.", "cdm-flash-", &STANDARD),
        gnome_disks(),
    ]
}

fn imitating(profile: &str, prefix: &str, accesses: &[Access], imitation: Imitation) -> Vec<Workload> {
    let ways = [false, true];
    ways.into_iter()
        .flat_map(|writes| accesses.iter().filter_map(move |access| access.workload(profile, prefix, writes)))
        .map(|workload| Workload { imitates: Some(imitation), ..workload })
        .collect()
}

/// Samples evenly over the device, one call at a time; access times at random places.
fn gnome_disks() -> Profile {
    let imitation = Imitation { tool: Tool::GnomeDisks, loops: 1, best: false };
    let sampled = |name, pattern| {
        made("gnome-disks", name, pattern, Bytes::mib(10), 1, 1).map(|workload| Workload {
            engine: Engine::Psync,
            reach: Reach::Samples(100),
            imitates: Some(imitation),
            ..workload
        })
    };
    let access = made("gnome-disks", "gnome-access", Pattern::RandRead, Bytes::kib(4), 1, 1)
        .map(|workload| Workload { engine: Engine::Psync, ..workload });
    Profile {
        name: "gnome-disks",
        help: "The benchmark of GNOME Disks: 100 samples of 10 MiB evenly over the span, and access times.",
        source: "gnome-disk-utility and udisks of August 2026, read in their source",
        differs: &[
            "Over the filled span, not the whole device: blocks that were never written read as zeros.",
            "Bytes over time in place of the mean of rates; `--compat` shows the mean of rates beside it.",
            "Where the span holds fewer than 100 samples, as many as it holds; samples repeat until the window ends.",
            "The graph over the drive is of a pass of its own behind the window.",
            "The sample is not read a page ahead, and writes new data in place of what was read.",
        ],
        fill_passes: 1,
        workloads: [sampled("gnome-read", Pattern::Read), access, sampled("gnome-write", Pattern::Write)]
            .into_iter()
            .flatten()
            .collect(),
    }
}
