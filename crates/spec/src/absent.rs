//! Words of the field that mean something here is not built. They are no slips, so nothing that is spelled alike is
//! proposed for them: `raid5` is no `raid0`, and `bcachefs` no `bcache`.

use crate::suggest::fold;

const FILE_SYSTEM: &str = "this file system is not built: there are `ext4`, `xfs`, `btrfs` and `zfs`";
const NO_MOUNT_OPTION: &str = "mount options are the tool's own, but for the keys that are here";

/// Tables or keys in which the words stand, the words, and what is so in place of them.
const ABSENT: [(&[&str], &[&str], &str); 29] = [
    (
        &["layer"],
        &["bcachefs", "ext2", "ext3", "exfat", "f2fs", "gfs2", "jfs", "nilfs2", "ntfs", "ocfs2", "reiserfs", "vfat"],
        FILE_SYSTEM,
    ),
    (
        &["layer", "volume"],
        &["vdo", "kvdo", "dm_vdo", "lvm_vdo"],
        "VDO is not built: no layer here deduplicates, and only `zfs` compresses",
    ),
    (
        &["layer"],
        &["stratis"],
        "Stratis is not built: what its pools do is near to `lvm` with `thin_chunk` and `cache`, and `xfs` on it",
    ),
    (&["layer"], &["dm_cache", "lvmcache", "lvm_cache"], "it is a key of `lvm`: lvm = { cache = \"…\" }"),
    (&["layer"], &["drbd"], "DRBD is not built: no layer here copies to another machine"),
    (&["layer"], &["multipath", "dm_multipath"], "multipath is not built: a drive of kind `nvme-tcp` has `paths`"),
    (&["layer"], &["mergerfs", "snapraid", "unionfs", "overlay", "overlayfs"], "no layer joins file systems here"),
    (&["layer"], &["zvol"], "zvols are not built: `zfs` ends a stack with one dataset"),
    (&["layer"], &["verity", "dm_verity", "swap", "zram", "loop", "bluestore"], "it is not built here"),
    (
        &["layer"],
        &["mirror", "raidz", "raidz1", "raidz2", "raidz3", "draid"],
        "it is a layout of `zfs`: zfs = { layout = \"…\" }",
    ),
    (
        &["layout"],
        &["raid10", "mirrors", "striped_mirror", "striped_mirrors", "stripe_of_mirrors", "raid50", "raidz10"],
        "a pool has one group of devices here: `mirror` keeps a copy on each of them, and several mirrors are not built",
    ),
    (
        &["layout"],
        &["draid", "draid1", "draid2", "draid3"],
        "dRAID is not built: `raidz1` to `raidz3` are another layout",
    ),
    (
        &["zfs"],
        &["vdevs", "vdev", "mirrors"],
        "a pool has one group of devices here: those in `on`, laid out by `layout`",
    ),
    (
        &["zfs"],
        &["log", "logs", "slog", "zil"],
        "a log vdev is not built: writes that wait for the drives go to the data's",
    ),
    (&["zfs"], &["cache", "l2arc"], "a cache vdev is not built: `primarycache` says what memory keeps"),
    (
        &["zfs", "raid"],
        &["spare", "spares", "spare_devices", "hot_spare", "hot_spares"],
        "spares are not built: one that waits changes no speed",
    ),
    (&["zfs"], &["dedup", "dedupe", "deduplication"], "no layer here deduplicates"),
    (&["zfs"], &["encryption", "keyformat"], "encryption of ZFS is not built: put `luks` below"),
    (
        &["zfs"],
        &["sync", "logbias"],
        "it stays `standard` here: `fsync_every` of a workload says what waits for the drives",
    ),
    (&["btrfs"], &["compress", "compress_force", "compression"], "btrfs compresses nothing here, and `zfs` can"),
    (&["btrfs"], &["nodatacow", "nocow", "datacow"], "it is `copy_on_write`"),
    (
        &["data", "metadata"],
        &["raid1c3", "raid1c4", "raid5", "raid6"],
        "this profile is not built: `raid` with level 5 or 6 below `btrfs` has parity",
    ),
    (&["volume"], &["mirror"], "`raid1` is LVM's mirror of today"),
    (&["volume"], &["cache", "thin", "thin_pool", "writecache"], "it is a key of its own: `cache` or `thin_chunk`"),
    (&["lvm"], &["size", "extents"], "the volume takes all of its group; `partition` has a `size`"),
    (
        &["raid"],
        &["journal", "write_journal", "ppl", "consistency_policy"],
        "a journal of writes is not built: `bitmap` is",
    ),
    (
        &["ext4", "xfs"],
        &["stride", "stripe_width", "su", "sw", "sunit", "swidth"],
        "the geometry of what is below is said to mkfs in any case",
    ),
    (&["ext4", "xfs"], &["logdev", "rtdev", "journal_dev", "external_journal"], "one device carries all of it here"),
    (
        &["ext4", "xfs", "btrfs"],
        &["noatime", "relatime", "nobarrier", "barrier", "discard", "mount", "options", "mount_options"],
        NO_MOUNT_OPTION,
    ),
];

/// What is so of a word that stands in this table, or at this key, and means what is not built.
pub(crate) fn instead(place: &str, word: &str) -> Option<&'static str> {
    let plain = fold(word);
    // `draid2:8d:1s` says more of it than what it is.
    let plain = plain.split(':').next().unwrap_or_default();
    let row = ABSENT.iter().find(|(places, words, _)| places.contains(&place) && words.contains(&plain));
    row.map(|(.., instead)| *instead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::tables;

    #[test]
    fn none_of_them_can_be_written_where_it_is_said_to_be_absent() {
        for table in tables() {
            for key in table.keys {
                assert_eq!(instead(table.name, key.name), None, "{} of {}", key.name, table.name);
                if let crate::grammar::Kind::Choice(words) = key.kind {
                    assert!(words.iter().all(|word| instead(key.name, word).is_none()), "{words:?}");
                }
            }
        }
        for place in ABSENT.iter().flat_map(|(places, ..)| *places) {
            let is_there = |table: &&crate::grammar::Table| table.name == *place || table.key(place).is_some();
            assert!(tables().iter().any(is_there), "{place}");
        }
    }
}
