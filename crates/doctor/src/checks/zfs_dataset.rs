//! Properties of datasets that decide where data goes and what it costs.

use terms::Bytes;
use terms::command::quote;
use terms::diagnosis::Place;
use terms::inventory::{Dataset, Pool};

use super::zfs_told::place;
use crate::check::{Check, Information, Nothing, Round, Warning, finding};
use crate::machine::Machine;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "zfs-special-all-data",
        severity: Warning,
        looks_at: "`special_small_blocks` and `recordsize` of each dataset, classes of virtual devices",
        rule: "all blocks of files are small enough for the special device: of a whole pool (warning), or of a part of it (information)",
        fixes: false,
        look: special,
    },
    Check {
        id: "zfs-dedup",
        severity: Warning,
        looks_at: "`dedup` of each dataset, the table in a `zpool status -D` that was posted, the machine's memory",
        rule: "it is on, or its table is larger than 1 GiB (information); the table is larger than half of the memory (warning)",
        fixes: false,
        look: dedup,
    },
];

/// Datasets of a pool that are so, and none that has it from one above it.
fn topmost(pool: &Pool, is_so: impl Fn(&Dataset) -> bool) -> Vec<&Dataset> {
    let all: Vec<&Dataset> = pool.datasets.known().into_iter().flatten().filter(|dataset| is_so(dataset)).collect();
    let above = |dataset: &Dataset| {
        let parent = dataset.name.rsplit_once('/').map(|(parent, _)| parent.to_owned());
        parent.is_some_and(|parent| all.iter().any(|other| other.name == parent))
    };
    all.iter().copied().filter(|dataset| !above(dataset)).collect()
}

fn pools<'a>(machine: &Machine<'a>, round: &mut Round) -> Vec<&'a Pool> {
    let pools = round.ask(&Place::machine(), &machine.detail.pools).map_or(&[][..], Vec::as_slice);
    for pool in pools {
        let datasets = round.ask(&Place::new("pool", &pool.name), &pool.datasets);
        if datasets.is_some() {
            round.look();
        }
    }
    pools.iter().collect()
}

/// What of a file goes to the special device: blocks up to this size (zfsprops(7), `special_small_blocks`).
fn small(dataset: &Dataset) -> Option<Bytes> {
    dataset.properties.get("special_small_blocks")?.parse().ok().map(Bytes)
}

/// A limit below a record size: the property takes none below 512 but 0.
const fn below(record: Bytes) -> u64 {
    if record.0 < 2048 { 0 } else { record.0 / 4 }
}

fn special(machine: &Machine, round: &mut Round) {
    for pool in pools(machine, round) {
        let Some(vdevs) = round.ask(&Place::new("pool", &pool.name), &pool.vdevs) else { continue };
        if !vdevs.iter().any(|vdev| vdev.class == "special") {
            continue;
        }
        let takes_all = |dataset: &Dataset| {
            dataset.kind == "filesystem"
                && small(dataset).zip(dataset.record).is_some_and(|(small, record)| small >= record)
        };
        for dataset in topmost(pool, takes_all) {
            let (small, record) = (small(dataset).unwrap_or_default(), dataset.record.unwrap_or_default());
            let severity = if dataset.name == pool.name { Warning } else { Information };
            round.find(
                finding(
                    severity,
                    &Place::new("dataset", &dataset.name),
                    "all of its files go to the special device",
                    format!(
                        "blocks up to {small} go there, and no record is larger than {record}: 0 bytes of what is written go to the data \
                         devices until the special device is full"
                    ),
                )
                .seen(format!("zfs get special_small_blocks,recordsize {}", dataset.name), format!("{}, {}", small.0, record.0))
                .advise(
                    "Where that was not meant let it be below the record size. What is written already stays where it is until it is \
                     written anew.",
                )
                .look(format!("zpool list -v {}", quote(&pool.name)))
                .run(Nothing, format!("zfs set special_small_blocks={} {}", below(record), quote(&dataset.name))),
            );
        }
    }
}

/// Bytes of memory that a block in the table of known blocks takes (zpool-features(7) and the manual's advice on `dedup`: "320 bytes").
const ENTRY: u64 = 320;
const TEBIBYTE: u64 = 1 << 40;

/// Tables smaller than this fit anywhere.
const SMALL_TABLE: Bytes = Bytes(1 << 30);

/// The table of a pool beside the memory. What ZFS keeps of a pool there is at most half of it by default, data and all (zfs(4), `zfs_arc_max`).
fn dedup_table(machine: &Machine, pool: &Pool, round: &mut Round) {
    let Some(table) = pool.dedup.filter(|table| table.memory > SMALL_TABLE) else { return };
    let memory = machine.inventory.memory;
    let is_too_large = memory.0 > 0 && table.memory.0 > memory.0 / 2;
    let has =
        if memory.0 > 0 { format!("the machine has {memory}") } else { "what the machine has was not told".to_owned() };
    let ratio = pool.properties.known().and_then(|all| all.get("dedupratio"));
    let saves = ratio.map_or_else(String::new, |ratio| format!("; its `dedupratio` is {ratio}"));
    let name = quote(&pool.name);
    let found = finding(
        if is_too_large { Warning } else { Information },
        &place(pool),
        format!("its table of blocks for `dedup` takes {} of memory", table.memory),
        format!(
            "{} entries, and {has}: each block that is written or freed is looked up there, and what is not in memory is read from the drives \
             first, so that large files are deleted slowly{saves}",
            table.entries
        ),
    )
    .seen(format!("zpool status -D {}", pool.name), format!("{} entries", table.entries));
    round.find(
        found
            .advise(
                "See what it saves. Where it saves little switch it off for what is written from now on. The table becomes smaller only when what is \
                 in it is deleted or written anew: send the datasets to a place where it is off, and delete the old ones little by little. Until then \
                 more memory helps.",
            )
            .look(format!("zpool status -D {name}"))
            .look(format!("zpool list -o name,dedupratio {name}")),
    );
}

fn dedup(machine: &Machine, round: &mut Round) {
    for pool in pools(machine, round) {
        dedup_table(machine, pool, round);
        let is_on = |dataset: &Dataset| dataset.properties.get("dedup").is_some_and(|value| value != "off");
        for dataset in topmost(pool, is_on) {
            let value = dataset.properties.get("dedup").map_or("on", String::as_str);
            let record = dataset.record.unwrap_or(Bytes::kib(128));
            let table = Bytes((TEBIBYTE / record.0.max(512)).saturating_mul(ENTRY));
            round.find(
                finding(
                    Information,
                    &Place::new("dataset", &dataset.name),
                    "`dedup` is on",
                    format!(
                        "each block that is written or freed is looked up in a table: of 1 TiB in blocks of {record} it takes {table} of \
                         memory, and what does not fit is read from the drives"
                    ),
                )
                .seen(format!("zfs get dedup {}", dataset.name), value)
                .advise(
                    "See what it saves. Where it saves little switch it off for what is written from now on: compression costs less. What \
                     is there stays in the table until it is written anew.",
                )
                .look(format!("zpool list -o name,dedupratio {}", quote(&pool.name)))
                .run(Nothing, format!("zfs set dedup=off {}", quote(&dataset.name))),
            );
        }
    }
}
