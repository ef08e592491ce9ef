//! Profiles of published studies.

use terms::workload::{FileClass, FileTree, TreeWork};
use terms::{Bytes, Engine, Method, Pattern, Workload};

use super::{Access, BY_THE_CLOCK, Profile, SEQ_1M_Q8, both_ways, made, rnd};

/// Every profile of a study.
pub(super) fn all() -> Vec<Profile> {
    vec![long_term_storage(), truenas(), iometer(), block_sizes(), file_copy(), file_tree()]
}

fn long_term_storage() -> Profile {
    Profile {
        name: "seed-001",
        help: "The peak-performance test of CrystalDiskMark as the dm-integrity benchmarks ran it: \
               1 MiB Q8 T1 and 4 KiB Q32 T16.",
        source: "t13a's dm-integrity benchmarks, 2023",
        differs: &["Seconds in place of a minute of delay, a minute of ramp and a minute of load."],
        fill_passes: 1,
        workloads: both_ways("seed-001", &[SEQ_1M_Q8, rnd(4, 32, 16)]),
    }
}

fn truenas() -> Profile {
    let workload = made("truenas-randrw", "truenas-randrw", Pattern::RandMixed(50), Bytes::kib(128), 32, 12);
    Profile {
        name: "truenas-randrw",
        help: "128 KiB random reads and writes, half and half, from 12 jobs.",
        source: "the fio command of a post on Optane drives behind a PCIe switch under TrueNAS",
        differs: &[
            "The span in place of 256 MiB for each job, which a cache of the machine held whole.",
            "Latency is counted: `gtod_reduce=1` there switches it off.",
            "Settling and window of the study in place of 10 s and 60 s.",
        ],
        fill_passes: 1,
        workloads: workload.into_iter().map(|workload| Workload { engine: Engine::PosixAio, ..workload }).collect(),
    }
}

/// Ten workers as there; the paper names no block sizes.
fn iometer() -> Profile {
    const PROFILE: &str = "iometer-mixed";
    let mixed = |name, depth| made(PROFILE, name, Pattern::RandMixed(67), Bytes::kib(4), depth, 10);
    let ordered = |name, pattern, depth| made(PROFILE, name, pattern, Bytes::kib(128), depth, 10);
    Profile {
        name: PROFILE,
        help: "Mixed random, sequential reads and sequential writes from ten workers at low and high depth.",
        source: "a vendor's paper on software RAID and LVM over remote flash, measured with Iometer",
        differs: &[
            "The paper states neither blocks nor depths: 4 KiB with 67 % reads, the mix of Iometer's own default, \
             128 KiB where sequential, 1 and 32 under way.",
            BY_THE_CLOCK,
        ],
        fill_passes: 1,
        workloads: [
            ordered("iom-seq-read-low", Pattern::Read, 1),
            ordered("iom-seq-read-high", Pattern::Read, 32),
            mixed("iom-mixed-low", 1),
            mixed("iom-mixed-high", 32),
            ordered("iom-seq-write-low", Pattern::Write, 1),
            ordered("iom-seq-write-high", Pattern::Write, 32),
        ]
        .into_iter()
        .flatten()
        .collect(),
    }
}

fn block_sizes() -> Profile {
    const PROFILE: &str = "blocksize-sweep";
    let blocks = [4, 8, 16, 32, 64, 128, 256, 512, 1024];
    let accesses: Vec<Access> =
        [1, 16].into_iter().flat_map(|jobs| blocks.into_iter().map(move |kib| rnd(kib, 32, jobs))).collect();
    Profile {
        name: PROFILE,
        help: "Random reads of 4 KiB to 1 MiB, from one job and from sixteen.",
        source: "the raw-drive tests of a series on building an AM4 workstation",
        differs: &[
            "What is known of the series does not tell its depth: 32 under way in each job.",
            "Every power of two from 4 KiB to 1 MiB with one job and with sixteen.",
        ],
        fill_passes: 1,
        workloads: accesses.into_iter().filter_map(|access| access.workload(PROFILE, "", false)).collect(),
    }
}

/// Sizes as in a home directory: most files are small, most bytes are in large ones.
const TREE: [FileClass; 4] = [
    FileClass { size: Bytes::kib(16), per_mille: 550 },
    FileClass { size: Bytes::kib(256), per_mille: 300 },
    FileClass { size: Bytes::mib(2), per_mille: 120 },
    FileClass { size: Bytes::mib(8), per_mille: 30 },
];

fn file_copy() -> Profile {
    let tree = FileTree { total: Bytes::gib(1), sizes: TREE.to_vec(), source: None, goes: 1 };
    let workload = made("file-copy", "file-copy", Pattern::Write, Bytes::mib(1), 1, 1);
    Profile {
        name: "file-copy",
        help: "Copies a tree of files: of a thousand, 550 of 16 KiB, 300 of 256 KiB, 120 of 2 MiB and 30 of 8 MiB.",
        source: "the copy of 1.8 TB in a post on encrypted NVMe arrays",
        differs: &[
            "Scaled to half of the span; the post does not state the sizes of its files.",
            "From memory, or from the study's `[[source]]`, which may be encrypted as it was there. The source alone is \
             timed too, so that a copy that its source limits is told.",
        ],
        fill_passes: 1,
        workloads: workload
            .into_iter()
            .map(|workload| Workload { method: Method::Copy(tree.clone()), ..workload })
            .collect(),
    }
}

/// Files of one size: small ones, which a special vdev may hold too.
const SMALL: Bytes = Bytes::kib(8);

fn file_tree() -> Profile {
    const PROFILE: &str = "file-tree";
    let sizes = vec![FileClass { size: SMALL, per_mille: 1000 }];
    let tree = FileTree { total: Bytes::mib(64), sizes, source: None, goes: 20 };
    let of = |name, work: TreeWork| {
        let workload = made(PROFILE, name, Pattern::RandRead, work.block(SMALL), 1, 1)?;
        Some(Workload { method: Method::Tree(work, tree.clone()), ..workload })
    };
    Profile {
        name: PROFILE,
        help: "A tree of files of 8 KiB, a hundred to a directory, grown in twenty goes: listed with `ls -lR`, then \
               every file read once in random order. Before each, what memory holds of the tree is forgotten.",
        source: "what a special vdev is said to be for, in a post on Optane drives behind a PCIe switch",
        differs: &[
            "The post quotes that listings become faster, and measures none.",
            "At most 8192 files, and no more than half of the span.",
        ],
        fill_passes: 1,
        workloads: [of("tree-list", TreeWork::List), of("tree-read", TreeWork::Read)].into_iter().flatten().collect(),
    }
}
