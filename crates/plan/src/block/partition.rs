//! A partition of a drive.

use capacity::SizeBounds;
use terms::layer::{Extent, GptPartition, PartitionTables};
use terms::{Name, Word};

use super::wipe;
use crate::draft::{Draft, StepBuilder, words};
use crate::error::PlanError;
use crate::place::{BlockKind, Member, Place};

/// Makes the partition, and before the first of a drive its table.
pub(crate) fn lay(
    draft: &mut Draft,
    layer: &Name,
    partition: &GptPartition,
    below: &Member,
    tables: &mut PartitionTables,
) -> Result<Place, PlanError> {
    let place = &below.place;
    let drive = place.drive.as_ref().filter(|_| place.kind == BlockKind::Drive);
    let drive = drive.ok_or_else(|| PlanError::impossible(layer, "only a whole drive can be partitioned"))?;
    let extent = tables.next(drive, place.size.least, place.lba, partition);
    let extent = extent.ok_or_else(|| PlanError::impossible(layer, format!("no room is left for it on `{drive}`")))?;
    let node = Word::partition(drive, extent.number);
    draft.push(make(layer, drive, &place.node, extent).makes_node(&node));
    Ok(Place { node, drive: None, kind: BlockKind::Slice, size: SizeBounds::exactly(extent.size()), ..place.clone() })
}

fn make(layer: &Name, drive: &Name, whole: &Word, extent: Extent) -> StepBuilder {
    let parted = words!["parted", "--script", "--align", "optimal", whole.clone()];
    let mib = |bytes: terms::Bytes| format!("{}MiB", bytes.0 / GptPartition::ALIGNMENT.0);
    let part = words!["mkpart", "bedplate", mib(extent.start), mib(extent.end)];
    if extent.number == 1 {
        let why = "A table, and its first partition at a whole MiB: what is above begins and ends with the drive's own blocks.";
        return StepBuilder::run(layer, "make", why, [parted, words!["mklabel", "gpt"], part].concat())
            .marks(whole, "gpt", None)
            .erases(vec![drive.clone()])
            .undo("Both copies of the partition table go.", wipe(whole));
    }
    let rm = words!["parted", "--script", whole.clone(), "rm", extent.number.to_string()];
    StepBuilder::run(layer, "make", "It begins where the one before it ends.", [parted, part].concat())
        .undo("Its entry leaves the table, and those before it stay.", rm)
}
