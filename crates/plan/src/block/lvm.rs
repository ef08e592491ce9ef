//! A volume group over all members, with one logical volume.

mod cache;

use terms::layer::{IntegrityMode, Lvm, LvmIntegrity, Volume};
use terms::plan::{Condition, Effect, mapping_of_volume};
use terms::{Bytes, LayerNode, Name, Word};

use super::at_least;
use crate::draft::{Draft, StepBuilder, whole_device, words};
use crate::error::PlanError;
use crate::place::{BlockKind, Member, Place, Stripe, drives, largest_lba, most, nodes, sizes};

/// Name of the logical volume inside its group.
const VOLUME: &str = "data";
/// Name of its snapshot; LVM keeps names that begin with `snapshot` for itself.
const SNAPSHOT: &str = "before";
/// Size of LVM's extents; sizes of volumes are counted in it (capacity/src/lvm.rs).
const EXTENT: u64 = 4 << 20;

/// Makes physical volumes, the group and the volume, and waits until it is in sync.
pub(crate) fn lay(
    draft: &mut Draft,
    node: &LayerNode,
    lvm: &Lvm,
    members: &[Member],
    cache: &[Member],
) -> Result<Place, PlanError> {
    check(node, lvm, members)?;
    cache::check(node, lvm, members, cache)?;
    let layer = &node.name;
    let group = draft.naming.group(layer);
    let volume = Word::from(format!("/dev/{group}/{VOLUME}"));
    let all = [members, cache].concat();
    for member in &all {
        draft.push(physical(layer, member));
    }
    draft.push(make_group(layer, &group, &all));
    if let Some(chunk) = lvm.thin_chunk {
        draft.push(make_pool(layer, &group, lvm, chunk, members.len()));
        draft.push(make_thin(layer, &group, &volume, lvm, members));
    } else {
        draft.push(make_volume(layer, &group, &volume, lvm, members));
    }
    if lvm.volume.is_raid() && lvm.thin_chunk.is_none() {
        let synced = || {
            let limit_ns = whole_device(most(members));
            Condition::LvSynced { group: group.clone(), limit_ns }
        };
        let why = "A volume that is still synchronising measures the synchronisation.";
        draft.push(StepBuilder::wait(layer, "sync", why, synced()));
        if let Some(integrity) = &lvm.integrity {
            draft.push(protect(layer, &group, integrity));
            let why = "Adding checksums begins another synchronisation.";
            draft.push(StepBuilder::wait(layer, "resync", why, synced()));
        }
    }
    if let Some(mode) = lvm.cache {
        cache::lay(draft, layer, &group, mode, cache);
    }
    if lvm.snapshot {
        draft.push(snapshot(layer, &group, lvm));
    }
    Ok(place(lvm, volume, members))
}

fn check(node: &LayerNode, lvm: &Lvm, members: &[Member]) -> Result<(), PlanError> {
    at_least(node, lvm.volume.fewest(), members)?;
    let refuse = |why: &str| Err(PlanError::impossible(&node.name, why));
    if let Some(member) = members.iter().find(|member| member.place.kind == BlockKind::Volume) {
        let why =
            "is a logical volume, and LVM takes none as a physical volume; put luks or raid between, or rest on drives";
        return refuse(&format!("`{}` {why}", member.name));
    }
    if lvm.integrity.is_some() && !lvm.volume.is_raid() {
        return refuse("LVM protects only the legs of its raid volumes; put an integrity layer below instead");
    }
    if lvm.integrity.is_some() && (lvm.snapshot || lvm.thin_chunk.is_some()) {
        return refuse("LVM allows neither snapshots nor thin pools on volumes with integrity");
    }
    if lvm.integrity.as_ref().is_some_and(|integrity| integrity.mode == IntegrityMode::NoJournal) {
        return refuse("LVM's integrity has a journal or a bitmap, never neither");
    }
    if lvm.thin_chunk.is_some() && lvm.volume.is_raid() {
        return refuse("a thin pool is linear or striped here; put a raid layer below instead");
    }
    if let Some(least) = capacity::larger_chunk(lvm, &sizes(members)) {
        return refuse(&format!(
            "LVM makes no pool of that size with smaller chunks: write `thin_chunk = \"{least}\"`"
        ));
    }
    Ok(())
}

fn physical(layer: &Name, member: &Member) -> StepBuilder {
    let node = &member.place.node;
    let argv = words!["pvcreate", "--quiet", "--zero", "y", node.clone()];
    let why =
        "A physical volume is a device under LVM's label; without --yes or --force it refuses one that holds anything.";
    StepBuilder::run(layer, &format!("label-{}", member.name), why, argv)
        .makes_signature(node, "LVM2_member", None)
        .erases(member.place.drive.iter().cloned().collect())
        .undo("A label left behind would bring the group back.", words!["pvremove", "--quiet", node.clone()])
}

fn make_group(layer: &Name, group: &str, members: &[Member]) -> StepBuilder {
    let mut argv = words!["vgcreate", "--physicalextentsize", format!("{EXTENT}b"), group];
    argv.extend(nodes(members));
    StepBuilder::run(layer, "group", "The group pools the extents of all physical volumes.", argv)
        .makes(Effect::Group(group.to_owned()))
        .undo("The group lets go of its physical volumes.", words!["vgremove", "--quiet", group])
        .erases(drives(members))
}

/// `lvcreate` with every question answered: signatures of an earlier life are wiped inside the new volume only.
fn create() -> Vec<Word> {
    words!["lvcreate", "--yes", "--wipesignatures", "y", "--zero", "y"]
}

fn make_volume(layer: &Name, group: &str, volume: &Word, lvm: &Lvm, members: &[Member]) -> StepBuilder {
    let mut argv = create();
    argv.extend(words!["--type", lvm.volume.word(), "--extents", share(lvm)]);
    argv.extend(shape(lvm, members.len()));
    argv.extend(words!["--name", VOLUME, group]);
    if lvm.cache.is_some() {
        argv.extend(nodes(members));
    }
    let why = match lvm.volume {
        Volume::Linear => "A linear volume fills one physical volume after the other: one drive works at a time.",
        Volume::Striped => "Stripes deal consecutive blocks out to all drives, so that all work at once.",
        _ => "LVM's raid keeps copies or parity of every block on other physical volumes.",
    };
    StepBuilder::run(layer, "volume", why, argv)
        .makes_node(volume)
        .undo("The volume gives its extents back.", words!["lvremove", "--yes", format!("{group}/{VOLUME}")])
}

/// Gives the legs checksums. `lvcreate` can do it at once, but takes the volume down for it in the first moments of its
/// resync, and Linux 6.1 may then wait for ever: `md_stop` for the resync, and the resync in raid1's barrier for the array
/// that was suspended (2 of 40 times on two busy processors).
fn protect(layer: &Name, group: &str, integrity: &LvmIntegrity) -> StepBuilder {
    let mode = if integrity.mode == IntegrityMode::Bitmap { "bitmap" } else { "journal" };
    let block = integrity.block.0.to_string();
    let argv = words![
        "lvconvert",
        "--yes",
        "--raidintegrity",
        "y",
        "--raidintegritymode",
        mode,
        "--raidintegrityblocksize",
        block,
        format!("{group}/{VOLUME}"),
    ];
    let why = "Each leg gets checksums once it is in sync: taking a volume down in the middle of its first \
               synchronisation can hang the kernel.";
    // The volume takes them along when it is removed.
    StepBuilder::run(layer, "checksums", why, argv)
}

/// How much of the group the volume takes: of the devices that are named, where the cache has the others.
fn share(lvm: &Lvm) -> String {
    let of = if lvm.cache.is_some() && !lvm.snapshot && lvm.integrity.is_none() { "PVS" } else { "FREE" };
    format!("{}%{of}", capacity::volume_share(lvm))
}

fn shape(lvm: &Lvm, members: usize) -> Vec<Word> {
    let stripe = format!("{}b", lvm.stripe.0);
    let stripes = words!["--stripes", lvm.volume.data_members(members).to_string(), "--stripesize", stripe];
    match lvm.volume {
        Volume::Linear => words![],
        Volume::Striped | Volume::Raid5 | Volume::Raid6 => stripes,
        Volume::Raid1 => words!["--mirrors", (members - 1).to_string()],
        Volume::Raid10 => [words!["--mirrors", "1"], stripes].concat(),
    }
}

fn make_pool(layer: &Name, group: &str, lvm: &Lvm, chunk: Bytes, members: usize) -> StepBuilder {
    // A pool has no content of its own whose signatures could be wiped.
    let mut argv = words!["lvcreate", "--yes", "--zero", "y"];
    argv.extend(words!["--type", "thin-pool", "--extents", "80%FREE", "--chunksize", format!("{}b", chunk.0)]);
    argv.extend(shape(lvm, members));
    argv.extend(words!["--name", "pool", group]);
    StepBuilder::run(
        layer,
        "pool",
        "A thin pool hands out chunks as they are first written; room is left for its metadata to grow.",
        argv,
    )
    .undo("The pool gives its extents back.", words!["lvremove", "--yes", format!("{group}/pool")])
}

fn make_thin(layer: &Name, group: &str, volume: &Word, lvm: &Lvm, members: &[Member]) -> StepBuilder {
    // Never larger than the pool can hold: a full pool hangs or fails writes.
    let size = capacity::thin_size(lvm, &sizes(members)).0;
    let argv = words![
        "lvcreate",
        "--yes",
        "--type",
        "thin",
        "--virtualsize",
        format!("{size}b"),
        "--thinpool",
        "pool",
        "--name",
        VOLUME,
        group,
    ];
    StepBuilder::run(
        layer,
        "volume",
        "A thin volume promises no more than the pool has: a full pool would fail writes.",
        argv,
    )
    .makes_node(volume)
    .undo("The volume gives its chunks back.", words!["lvremove", "--yes", format!("{group}/{VOLUME}")])
}

fn snapshot(layer: &Name, group: &str, lvm: &Lvm) -> StepBuilder {
    let mut argv = words!["lvcreate", "--yes", "--snapshot", "--name", SNAPSHOT];
    // What was not mapped when the snapshot was taken is new to the volume alone (kernel, drivers/md/dm-thin.c,
    // `process_cell`).
    let (why, undo) = if lvm.thin_chunk.is_some() {
        (
            "The snapshot is of a thin volume that nothing was written to: it shares no chunk, and no write copies one.",
            "A snapshot that is not needed goes before its volume.",
        )
    } else {
        argv.extend(words!["--extents", "100%FREE"]);
        (
            "While the snapshot lives, the first write to every chunk copies what was there before.",
            "A snapshot that is not needed still costs every first write.",
        )
    };
    argv.push(Word::from(format!("{group}/{VOLUME}")));
    StepBuilder::run(layer, "snapshot", why, argv)
        .makes_node(&Word::from(format!("/dev/mapper/{}", mapping_of_volume(group, SNAPSHOT))))
        .undo(undo, words!["lvremove", "--yes", format!("{group}/{SNAPSHOT}")])
}

fn place(lvm: &Lvm, node: Word, members: &[Member]) -> Place {
    Place {
        node,
        drive: None,
        kind: BlockKind::Volume,
        exact: false,
        lba: largest_lba(members),
        stripe: Stripe::new(lvm.stripe, lvm.volume.data_members(members.len())).or_else(|| alone(members)),
        detects: lvm.integrity.is_some() || members.iter().any(|member| member.place.detects),
        // `data_alignment_offset_detection` of lvm.conf(5) is on.
        misaligned: false,
        ..members[0].place.clone()
    }
}

/// A linear volume on one device shows that device's striping.
fn alone(members: &[Member]) -> Option<Stripe> {
    if let [member] = members { member.place.stripe } else { None }
}
