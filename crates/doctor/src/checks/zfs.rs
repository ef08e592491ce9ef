//! ZFS: how the module and datasets are set.

use terms::Bytes;
use terms::command::quote;
use terms::diagnosis::Place;
use terms::inventory::{Dataset, Pool, Vdev};

use crate::check::{Check, Error, Information, Nothing, Round, Warning, finding};
use crate::machine::Machine;
use crate::words::{float, percent, significant_ratio};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "zfs-version",
        severity: Error,
        looks_at: "`/sys/module/zfs/version`, `zfs_dmu_offset_next_sync`",
        rule: "before 2.1.14, 2.2.0 or 2.2.1, and `zfs_dmu_offset_next_sync` is not 0: copies of files could get noughts instead of data",
        fixes: false,
        look: version,
    },
    Check {
        id: "zfs-sync-disabled",
        severity: Error,
        looks_at: "`sync` of each dataset; `zfs_nocacheflush`",
        rule: "`sync=disabled`, or caches of drives are not flushed",
        fixes: true,
        look: sync,
    },
    Check {
        id: "zfs-record-amplification",
        severity: Warning,
        looks_at: "`recordsize` or `volblocksize` and `primarycache` of each dataset",
        rule: "data is not cached and records are larger than 16 KiB",
        fixes: false,
        look: records,
    },
    Check {
        id: "zfs-volume-padding",
        severity: Warning,
        looks_at: "`volblocksize` of volumes, width, parity and `ashift` of RAID-Z",
        rule: "a block with parity and padding takes a tenth more than its share of parity",
        fixes: false,
        look: padding,
    },
    Check {
        id: "zfs-cache-limit",
        severity: Information,
        looks_at: "`c_max` in `/proc/spl/kstat/zfs/arcstats`, `MemTotal`",
        rule: "somebody let the cache take nearly all memory, or it may take less than a sixteenth",
        fixes: false,
        look: cache,
    },
];

fn pools<'a>(machine: &Machine<'a>, round: &mut Round) -> &'a [Pool] {
    round.ask(&Place::machine(), &machine.detail.pools).map_or(&[], Vec::as_slice)
}

pub(super) fn has_zfs(machine: &Machine) -> bool {
    machine.detail.linux.modules.known().is_some_and(|modules| modules.iter().any(|module| module.name == "zfs"))
}

fn version(machine: &Machine, round: &mut Round) {
    let at = Place::machine();
    let Some(modules) = round.ask(&at, &machine.detail.linux.modules) else { return };
    let Some(module) = modules.iter().find(|module| module.name == "zfs") else { return };
    let Some(text) = module.version.as_deref() else {
        round.unknown(&at, "`/sys/module/zfs/version` tells nothing");
        return;
    };
    let mut numbers = text.split(['.', '-', '+', '_', '~']).map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch))) = (numbers.next(), numbers.next(), numbers.next()) else {
        round.unknown(&at, format!("the version `{text}` cannot be understood"));
        return;
    };
    round.look();
    // OpenZFS issue 15526: fixed in 2.1.14 and 2.2.2.
    let bad = (major, minor, patch) < (2, 1, 14) || ((2, 2, 0)..(2, 2, 2)).contains(&(major, minor, patch));
    // With this nothing is looked for in what is still in memory, which is where the fault is.
    if !bad || machine.parameter("zfs.zfs_dmu_offset_next_sync") == Some("0") {
        return;
    }
    round.find(
        finding(
            Error,
            &at,
            format!("OpenZFS {text} may copy noughts instead of data"),
            "a file that is copied right after it was written may have chunks of noughts, without an error and with good checksums; \
             fixed in 2.1.14 and 2.2.2. A distribution may have fixed its older version",
        )
        .seen("/sys/module/zfs/version", text)
        .seen("source", "https://github.com/openzfs/zfs/issues/15526")
        .advise("Bring it up to date. Until then no holes are reported while data is dirty:")
        .run(Nothing, "echo 0 > /sys/module/zfs/parameters/zfs_dmu_offset_next_sync"),
    );
}

fn sync(machine: &Machine, round: &mut Round) {
    for pool in pools(machine, round) {
        for dataset in round.ask(&Place::new("pool", &pool.name), &pool.datasets).into_iter().flatten() {
            round.look();
            if dataset.properties.get("sync").map(String::as_str) != Some("disabled") {
                continue;
            }
            let every = machine.parameter("zfs.zfs_txg_timeout").unwrap_or("5");
            round.find(
                finding(
                    Error,
                    &Place::new("dataset", &dataset.name),
                    "`sync` is disabled",
                    format!("`fsync` waits for nothing: a crash or power cut loses up to {every} s of what programs were told is safe"),
                )
                .seen(format!("zfs get sync {}", dataset.name), "disabled")
                .advise("Let it be standard; a fast log device gives the speed back.")
                .run(Nothing, format!("zfs set sync=standard {}", quote(&dataset.name))),
            );
        }
    }
    if has_zfs(machine)
        && let Some(value) = machine.parameter("zfs.zfs_nocacheflush")
    {
        round.look();
        if value == "1" {
            let file = "/sys/module/zfs/parameters/zfs_nocacheflush";
            round.find(
                finding(
                    Error,
                    &Place::machine(),
                    "ZFS does not flush the caches of drives",
                    "0 flushes: after a power cut a pool whose drives have volatile caches may not import any more",
                )
                .seen(file, value)
                .advise("Let it flush, and take it out of `/etc/modprobe.d`.")
                .fix(file, "1", "0"),
            );
        }
    }
}

/// Blocks that programs ask for most.
const PAGE: f64 = 4096.0;

fn records(machine: &Machine, round: &mut Round) {
    for pool in pools(machine, round) {
        for dataset in round.ask(&Place::new("pool", &pool.name), &pool.datasets).into_iter().flatten() {
            let Some(record) = dataset.record else { continue };
            round.look();
            let cache = dataset.properties.get("primarycache").map_or("all", String::as_str);
            if cache == "all" || record <= Bytes::kib(16) {
                continue;
            }
            round.find(
                finding(
                    Warning,
                    &Place::new("dataset", &dataset.name),
                    format!("records of {record} are not cached (`primarycache={cache}`)"),
                    format!(
                        "each random read of 4 KiB reads a whole record: {} times as much from the drives, and nothing is kept of it",
                        significant_ratio(record.as_f64(), PAGE)
                    ),
                )
                .seen(format!("zfs get primarycache,recordsize {}", dataset.name), format!("{cache}, {}", record.0))
                .advise("Cache data, or let new files have records of the size that is read; what is there keeps its own.")
                .run(Nothing, format!("zfs set primarycache=all {}", quote(&dataset.name)))
                .run(Nothing, format!("zfs set recordsize=16K {}", quote(&dataset.name))),
            );
        }
    }
}

/// Sectors that a block takes in RAID-Z: data, parity for each row, and padding to a multiple of parity and one
/// (`vdev_raidz_asize` in OpenZFS' `vdev_raidz.c`).
fn allocated(block: u64, sector: u64, width: u64, parity: u64) -> Option<u64> {
    let data = block.div_ceil(sector);
    let rows = data.div_ceil(width.checked_sub(parity).filter(|data| *data > 0)?);
    (data + rows * parity).checked_next_multiple_of(parity + 1)
}

/// How far above the ideal is worth a warning.
const WASTE: f64 = 1.1;

fn padding(machine: &Machine, round: &mut Round) {
    for pool in pools(machine, round) {
        let at = Place::new("pool", &pool.name);
        let volumes: Vec<&Dataset> =
            pool.datasets.known().into_iter().flatten().filter(|d| d.kind == "volume").collect();
        let Some(vdevs) = round.ask(&at, &pool.vdevs) else { continue };
        for vdev in vdevs.iter().filter(|vdev| vdev.class == "data") {
            let Some(parity) = parity_of(vdev) else { continue };
            for volume in &volumes {
                judge_padding(round, volume, vdev, parity);
            }
        }
    }
}

fn parity_of(vdev: &Vdev) -> Option<u64> {
    let rest = vdev.kind.strip_prefix("raidz")?;
    if rest.is_empty() { Some(1) } else { rest.get(..1)?.parse().ok() }
}

fn judge_padding(round: &mut Round, volume: &Dataset, vdev: &Vdev, parity: u64) {
    let at = Place::new("dataset", &volume.name);
    let Some(block) = volume.record else { return };
    round.look();
    let Some(ashift) = round.ask(&at, &vdev.ashift).copied().filter(|ashift| (9..=16).contains(ashift)) else { return };
    let width = crate::words::number(vdev.children.len());
    let sector = 1_u64 << ashift;
    // Sizes come from a machine, or from a file that says it is one: none of them is too large to be refused.
    let taken = allocated(block.0, sector, width, parity).and_then(|sectors| sectors.checked_mul(sector));
    let Some(taken) = taken else { return };
    let new = quote(&format!("{}-new", volume.name));
    let ideal = block.as_f64() * float(width) / float(width - parity);
    let real = float(taken);
    if real <= ideal * WASTE {
        return;
    }
    round.find(
        finding(
            Warning,
            &at,
            format!("blocks of {block} waste space on {} of {width}", vdev.kind),
            format!(
                "each takes {}, parity and padding included: {} of what is allocated is data, where {} could be",
                Bytes(taken),
                percent(block.as_f64() / real),
                percent(block.as_f64() / ideal)
            ),
        )
        .seen(format!("zfs get volblocksize {}", volume.name), block.0)
        .seen(format!("zpool status, {}", vdev.name), format!("{width} wide, ashift {ashift}"))
        .advise("The block is chosen once: make a volume with larger ones beside it, copy while nobody writes, and compare before the old one goes.")
        .run(Nothing, format!("zfs create -V SIZE -o volblocksize=64K {new}"))
        .look(format!("zfs list -t volume -r {}", quote(volume.name.split('/').next().unwrap_or_default()))),
    );
}

fn cache(machine: &Machine, round: &mut Round) {
    let at = Place::machine();
    let Some(Some(arc)) = round.ask(&at, &machine.detail.linux.arc) else { return };
    let memory = machine.inventory.memory;
    if memory.0 == 0 {
        round.unknown(&at, "`/proc/meminfo` tells no `MemTotal`");
        return;
    }
    round.look();
    let share = arc.max.as_f64() / memory.as_f64();
    // From 2.3 on OpenZFS itself leaves 1 GiB only (`arc_default_max` in its `module/os/linux/zfs/arc_os.c`), and gives back what is
    // asked for.
    let is_default = machine.parameter("zfs.zfs_arc_max") == Some("0");
    let (what, why) = if share > 0.9 && is_default {
        return;
    } else if share > 0.9 {
        (
            format!("the cache of ZFS may take {} of memory", percent(share)),
            format!(
                "{} are left for all else; what needs more waits until the cache has shrunk",
                Bytes(memory.0.saturating_sub(arc.max.0))
            ),
        )
    } else if share < 1.0 / 16.0 {
        (
            format!("the cache of ZFS is held at {} of memory", percent(share)),
            format!("{} of {memory}: what does not fit is read from the drives each time", arc.max),
        )
    } else {
        return;
    };
    round.find(
        finding(Information, &at, what, why)
            .seen("/proc/spl/kstat/zfs/arcstats", format!("c_max {}", arc.max.0))
            .seen("/proc/meminfo", format!("MemTotal {}", memory))
            .advise("Half of memory is a good start on a machine with other work.")
            .run(Nothing, format!("echo {} > /sys/module/zfs/parameters/zfs_arc_max", memory.0 / 2)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the table for `ashift=12` of "ZFS RAIDZ stripe width" (Ahrens, 2014): sectors for blocks of 4 to 32 KiB.
    #[test]
    fn blocks_of_raidz_take_what_the_table_says() {
        for (kib, width, parity, sectors) in [(4, 5, 1, 2), (8, 5, 1, 4), (16, 5, 1, 6), (32, 5, 1, 10), (8, 6, 2, 6)] {
            assert_eq!(allocated(kib << 10, 4096, width, parity), Some(sectors), "{kib} KiB on {width}");
        }
        assert_eq!(allocated(4096, 4096, 1, 1), None);
    }
}
