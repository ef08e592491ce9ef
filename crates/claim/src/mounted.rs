//! Was a file system had for writing since it was made? Its own superblock tells, so that no note of how it was left is needed.

use host::{Host, HostError};
use terms::units::KIB;

/// What of a superblock is zero as it is made, and never again once the kernel has mounted it for writing.
struct Count {
    kind: &'static str,
    /// By which it is known that there is a superblock, and where.
    magic: (usize, &'static [u8]),
    /// Place and length.
    place: (usize, usize),
}

/// ext4: `s_mnt_count` (kernel, Documentation/filesystems/ext4/super.rst). XFS: `sb_lsn`, where in its log the superblock was
/// written last, by which every unmounting ends (kernel, fs/xfs/libxfs/xfs_format.h, `xfs_dsb`; fs/xfs/xfs_mount.c,
/// `xfs_log_sbcount`). btrfs: `uuid_tree_generation`, which the kernel sets when it has first looked the tree through (kernel,
/// include/uapi/linux/btrfs_tree.h, `btrfs_super_block`; fs/btrfs/transaction.c, `update_super_roots`).
const COUNTS: [Count; 3] = [
    Count { kind: "ext4", magic: (1024 + 0x38, &[0x53, 0xef]), place: (1024 + 0x34, 2) },
    Count { kind: "xfs", magic: (0, b"XFSB"), place: (240, 8) },
    Count { kind: "btrfs", magic: (BTRFS + 0x40, b"_BHRfS_M"), place: (BTRFS + 0x233, 8) },
];
const BTRFS: usize = 64 * KIB as usize;

/// All superblocks that are looked at begin and end before it.
const LENGTH: u32 = 68 * KIB as u32;

/// Was the file system of this kind on a device ever mounted for writing? Not, where there is none any more; `None` where its kind
/// does not tell.
///
/// # Errors
/// Where the device cannot be read.
pub fn was_mounted(host: &dyn Host, node: &str, kind: &str) -> Result<Option<bool>, HostError> {
    let Some(count) = COUNTS.iter().find(|count| count.kind == kind) else { return Ok(None) };
    Ok(Some(count.is_up(&host.read_at(node, 0, LENGTH)?)))
}

impl Count {
    fn is_up(&self, bytes: &[u8]) -> bool {
        let at = |place: usize, length: usize| bytes.get(place..place + length);
        let (magic, (place, length)) = (self.magic, self.place);
        at(magic.0, magic.1.len()) == Some(magic.1)
            && at(place, length).is_some_and(|count| count.iter().any(|byte| *byte != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_superblock_tells_that_it_was_mounted_and_one_that_is_gone_does_not() {
        for count in &COUNTS {
            let mut bytes = vec![0; LENGTH as usize];
            bytes[count.place.0 + count.place.1 - 1] = 1;
            assert!(!count.is_up(&bytes), "{}: it was wiped", count.kind);
            bytes[count.magic.0..count.magic.0 + count.magic.1.len()].copy_from_slice(count.magic.1);
            assert!(count.is_up(&bytes), "{}", count.kind);
            bytes[count.place.0..count.place.0 + count.place.1].fill(0);
            assert!(!count.is_up(&bytes) && !count.is_up(&bytes[..200]), "{}", count.kind);
        }
    }
}
