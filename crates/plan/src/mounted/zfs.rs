//! A ZFS pool over all members, mounted by ZFS itself.

use std::fmt::Write as _;

use terms::layer::{Zfs, ZfsLayout};
use terms::plan::Effect;
use terms::{Bytes, LayerNode, Name, Word};

use crate::block::{at_least, wipe};
use crate::draft::{Draft, StepBuilder, words};
use crate::error::PlanError;
use crate::place::{BlockKind, Member, drives};

/// The largest record before OpenZFS 2.2, unless its module is told otherwise (`zfs_max_recordsize`,
/// module/zfs/dsl_dataset.c).
const USUAL_RECORD: Bytes = Bytes::mib(1);

/// Makes the pool. ZFS mounts its top dataset itself.
pub(crate) fn lay(
    draft: &mut Draft,
    node: &LayerNode,
    zfs: &Zfs,
    members: &[Member],
    special: &[Member],
) -> Result<String, PlanError> {
    at_least(node, zfs.layout.fewest(), members)?;
    as_redundant(&node.name, zfs.layout, members, special)?;
    for member in members.iter().chain(special) {
        if let Some(drive) = whole_drive(member) {
            draft.push(partition(&node.name, drive, &member.place.node));
        }
    }
    let directory = draft.naming.directory();
    draft.push(create(draft, &node.name, zfs, members, special, &directory));
    Ok(directory)
}

/// Losing the special vdev loses the pool. Without force zpool 2.1 takes only one that survives exactly as many lost
/// devices as the data, and beside data without redundancy only devices that stand alone.
fn as_redundant(layer: &Name, layout: ZfsLayout, members: &[Member], special: &[Member]) -> Result<(), PlanError> {
    let Some(ways) = layout.special_ways(members.len()) else { return Ok(()) };
    if special.is_empty() || special.len() == ways {
        return Ok(());
    }
    let why = format!(
        "beside this {} it takes a special mirror of {ways} devices, not {}: zpool refuses any other without force, because losing the special vdev loses the pool",
        layout.word(),
        special.len()
    );
    Err(PlanError::impossible(layer, why))
}

/// What the pool rests on: the drive's partition, or the mapping or slice itself.
fn device(member: &Member) -> Word {
    whole_drive(member).map_or_else(|| member.place.node.clone(), |drive| Word::partition(drive, 1))
}

fn whole_drive(member: &Member) -> Option<&Name> {
    member.place.drive.as_ref().filter(|_| member.place.kind == BlockKind::Drive)
}

fn partition(layer: &Name, drive: &Name, node: &Word) -> StepBuilder {
    let argv = words![
        "parted",
        "--script",
        "--align",
        "optimal",
        node.clone(),
        "mklabel",
        "gpt",
        "mkpart",
        "bedplate",
        "1MiB",
        "100%"
    ];
    let why = "Given a whole drive zpool partitions it itself and waits for udev; a partition made here is the same on every machine.";
    StepBuilder::run(layer, &format!("partition-{drive}"), why, argv)
        .makes_node(&Word::partition(drive, 1))
        .marks(node, "gpt", None)
        .erases(vec![drive.clone()])
        .undo("Both copies of the partition table go.", wipe(node))
}

fn create(
    draft: &Draft,
    layer: &Name,
    zfs: &Zfs,
    members: &[Member],
    special: &[Member],
    directory: &str,
) -> StepBuilder {
    let pool = draft.naming.pool(layer);
    // Not in the cache file: a test pool must not be looked for at the next boot.
    let mut argv = words!["zpool", "create", "-o", "cachefile=none"];
    if let Some(ashift) = zfs.ashift {
        argv.extend(words!["-o", format!("ashift={ashift}")]);
    }
    for property in properties(zfs, !special.is_empty()) {
        argv.extend(words!["-O", property]);
    }
    argv.extend(words!["-O", format!("mountpoint={directory}"), pool.clone()]);
    argv.extend(vdev(zfs.layout));
    argv.extend(members.iter().map(device));
    if !special.is_empty() {
        argv.extend(words!["special"]);
        if zfs.layout != ZfsLayout::Stripe {
            argv.extend(words!["mirror"]);
        }
        argv.extend(special.iter().map(device));
    }
    let mut why =
        "Pool and dataset in one step, every property said aloud; without -f zpool refuses devices that hold anything."
            .to_owned();
    if zfs.recordsize > USUAL_RECORD {
        let _ = write!(why, " Records above {USUAL_RECORD} need OpenZFS 2.2.");
    }
    let mut doing = StepBuilder::run(layer, "create", why, argv)
        .limit(terms::Nanos::seconds(120))
        .erases(drives(members).into_iter().chain(drives(special)).collect())
        .makes(Effect::Pool(pool.clone()))
        .undo("Destroying unmounts and lets go of every device.", words!["zpool", "destroy", pool]);
    for member in members.iter().chain(special) {
        doing = doing.marks(&device(member), "zfs_member", None).undo(
            "Labels at both ends of a device would bring the pool back.",
            words!["zpool", "labelclear", device(member)],
        );
    }
    doing
}

fn properties(zfs: &Zfs, has_special: bool) -> Vec<String> {
    let mut properties = vec![
        format!("recordsize={}", zfs.recordsize.0),
        format!("primarycache={}", zfs.primarycache.word()),
        format!("compression={}", zfs.compression.word()),
        format!("atime={}", if zfs.atime { "on" } else { "off" }),
    ];
    if has_special {
        properties.push(format!("special_small_blocks={}", zfs.special_small_blocks.0));
    }
    properties
}

fn vdev(layout: ZfsLayout) -> Vec<Word> {
    match layout {
        ZfsLayout::Stripe => words![],
        other => words![other.word()],
    }
}
