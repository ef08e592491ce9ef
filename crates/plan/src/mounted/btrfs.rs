//! A btrfs file system over all members.

use terms::layer::{Btrfs, BtrfsProfile};
use terms::{Bytes, LayerNode, Word};

use super::mount;
use crate::block::{at_least, wipe};
use crate::draft::{Draft, StepBuilder, whole_device, words};
use crate::error::PlanError;
use crate::place::{Member, drives, nodes};

/// Where copies of the superblock lie on devices that are large enough, and how long each is (kernel,
/// include/uapi/linux/btrfs_tree.h and fs/btrfs/disk-io.h, `btrfs_sb_offset`).
const COPIES: [Bytes; 2] = [Bytes::mib(64), Bytes::gib(256)];
const SUPERBLOCK: Bytes = Bytes::kib(4);

/// Makes and mounts the file system.
pub(crate) fn lay(draft: &mut Draft, node: &LayerNode, btrfs: &Btrfs, members: &[Member]) -> Result<String, PlanError> {
    let layer = &node.name;
    at_least(node, btrfs.data.fewest().max(btrfs.metadata.fewest()), members)?;
    let first = members.first().ok_or_else(|| PlanError::impossible(layer, "it rests on nothing"))?;
    draft.push(make(node, btrfs, members));
    let mut options = words![format!("commit={}", btrfs.commit.as_millis().div_ceil(1000))];
    if !btrfs.copy_on_write {
        options.extend(words!["nodatacow"]);
    }
    // Every member is named, so that nothing depends on who scanned for devices before.
    options.extend(nodes(&members[1..]).map(|node| Word::from("device=").then(node)));
    Ok(mount(draft, layer, "btrfs", &options, &first.place.node))
}

fn make(node: &LayerNode, btrfs: &Btrfs, members: &[Member]) -> StepBuilder {
    let mut argv = words![
        "mkfs.btrfs",
        "--quiet",
        "--uuid",
        Word::uuid(&node.name),
        "--data",
        btrfs.data.word(),
        "--metadata",
        btrfs.metadata.word(),
        "--csum",
        btrfs.checksum.word(),
    ];
    argv.extend(nodes(members));
    let few_stripes = members.len() < 4 && [btrfs.data, btrfs.metadata].contains(&BtrfsProfile::Raid10);
    let why = if few_stripes {
        "Profiles and checksum are said aloud: their defaults have changed between versions. Linux before 5.15 stripes mirrors over four devices at least."
    } else if btrfs.copy_on_write {
        "Profiles and checksum are said aloud: their defaults have changed between versions."
    } else {
        "Profiles are said aloud: their defaults have changed between versions. Without copy-on-write data has no checksums and cannot be repaired."
    };
    let layer = &node.name;
    let mut doing = StepBuilder::run(layer, "make", why, argv)
        .limit(members.iter().map(|member| whole_device(member.place.size.most)).max().unwrap_or_default())
        .erases(drives(members));
    for (index, member) in members.iter().enumerate() {
        let node = &member.place.node;
        let uuid = Some(Word::uuid(layer));
        doing = if index == 0 { doing.makes_signature(node, "btrfs", uuid) } else { doing.marks(node, "btrfs", uuid) };
        doing = doing.undo("A superblock left behind would bring a member back.", wipe(node));
        for copy in COPIES.iter().filter(|copy| copy.0 + SUPERBLOCK.0 <= member.place.size.least.0) {
            let (offset, length) = (format!("--offset={}", copy.0), format!("--length={}", SUPERBLOCK.0));
            doing = doing.undo(
                "wipefs knows the first superblock only, and `btrfs rescue super-recover` brings a member back from a copy.",
                words!["blkdiscard", "--zeroout", offset, length, node.clone()],
            );
        }
    }
    doing
}
