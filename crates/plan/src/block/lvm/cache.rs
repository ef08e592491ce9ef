//! The cache of a volume: a volume on faster devices of the same group, which keeps data and its own metadata
//! (lvmcache(7), `--cachevol`).

use terms::layer::{CacheMode, Lvm};
use terms::plan::mapping_of_volume;
use terms::{LayerNode, Name, Word};

use super::VOLUME;
use crate::draft::{Draft, StepBuilder, whole_device, words};
use crate::error::PlanError;
use crate::place::{Member, largest_lba, most, nodes};

/// Name of the cache inside its group.
const CACHE: &str = "cache";

/// Devices without a mode, a mode without devices, and what LVM does not build with a cache.
pub(super) fn check(node: &LayerNode, lvm: &Lvm, members: &[Member], cache: &[Member]) -> Result<(), PlanError> {
    let refuse = |why: &str| Err(PlanError::impossible(&node.name, why));
    if lvm.cache.is_some() == cache.is_empty() {
        return refuse("a cache takes both a mode and devices");
    }
    if lvm.cache.is_some() && (lvm.snapshot || lvm.thin_chunk.is_some() || lvm.integrity.is_some()) {
        return refuse("a cached volume is built without snapshots, thin pools and integrity");
    }
    // vgcreate refuses such a group (lvm.conf(5), `devices/allow_mixed_block_sizes`).
    if lvm.cache.is_some() && largest_lba(members) != largest_lba(cache) {
        return refuse("LVM takes no cache whose logical blocks differ from those of the volume");
    }
    Ok(())
}

/// Makes the cache and attaches it.
pub(super) fn lay(draft: &mut Draft, layer: &Name, group: &str, mode: CacheMode, devices: &[Member]) {
    // A write cache is attached inactive only, and attaching writes the metadata of either.
    let mut argv = words!["lvcreate", "--yes", "--activate", "n", "--wipesignatures", "n", "--zero", "n"];
    argv.extend(words!["--type", "linear", "--extents", "100%PVS", "--name", CACHE, group]);
    argv.extend(nodes(devices));
    // Once it is attached it goes by another name.
    draft.push(
        StepBuilder::run(layer, "cache", "The cache is a volume on the faster devices, and on no other.", argv)
            .undo("The cache gives its extents back.", words!["lvremove", "--yes", format!("{group}/{CACHE}")]),
    );
    // What the cache alone has is written to the volume before it is let go.
    let flush = whole_device(most(devices));
    let cache = Word::from(format!("/dev/mapper/{}", mapping_of_volume(group, &format!("{CACHE}_cvol"))));
    draft.push(
        StepBuilder::run(layer, "attach", why(mode), attach(group, mode))
            .makes_node(&cache)
            .marks(&cache, mark(mode), None)
            .undo_within(
                "Splitting writes back what only the cache has.",
                words!["lvconvert", "--yes", "--splitcache", format!("{group}/{VOLUME}")],
                flush,
            ),
    );
}

/// What the volume of the cache begins with.
const fn mark(mode: CacheMode) -> &'static str {
    match mode {
        CacheMode::Writecache => "DM_writecache",
        CacheMode::Writethrough | CacheMode::Writeback => "DM_cache_metadata",
    }
}

fn attach(group: &str, mode: CacheMode) -> Vec<Word> {
    let mut argv = words!["lvconvert", "--yes"];
    argv.extend(match mode {
        CacheMode::Writecache => words!["--type", "writecache"],
        _ => words!["--type", "cache", "--cachemode", mode.word()],
    });
    argv.extend(words!["--cachevol", CACHE, format!("{group}/{VOLUME}")]);
    argv
}

const fn why(mode: CacheMode) -> &'static str {
    match mode {
        CacheMode::Writethrough => {
            "Blocks that are used often are kept on the faster devices; writes are on both, so losing the cache loses nothing."
        }
        CacheMode::Writeback => {
            "Blocks that are used often are kept on the faster devices; some writes are only there, so losing the cache loses the volume."
        }
        CacheMode::Writecache => {
            "Writes go to the faster devices and from there to the volume; losing the cache loses the volume."
        }
    }
}
