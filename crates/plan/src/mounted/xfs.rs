//! An XFS file system.

use terms::layer::Xfs;
use terms::{Name, Word};

use super::mount;
use crate::block::wipe;
use crate::draft::{Draft, StepBuilder, whole_device, words};
use crate::error::PlanError;
use crate::place::{Member, Place};

/// Makes and mounts the file system.
pub(crate) fn lay(draft: &mut Draft, layer: &Name, xfs: &Xfs, below: &Member) -> Result<String, PlanError> {
    if below.place.misaligned {
        let why = "mkfs.xfs refuses it without force: dm-integrity begins between two chunks of the array below; put \
                   dm-integrity under the array, lvm between, or take ext4";
        return Err(PlanError::impossible(layer, why));
    }
    draft.push(make(layer, xfs, &below.place));
    Ok(mount(draft, layer, "xfs", &[], &below.place.node))
}

fn make(layer: &Name, xfs: &Xfs, place: &Place) -> StepBuilder {
    let mut argv = words![
        "mkfs.xfs",
        "-q",
        "-b",
        format!("size={}", xfs.block.0),
        "-m",
        Word::from(format!("reflink={},uuid=", u8::from(xfs.reflink))).then(Word::uuid(layer)),
    ];
    let mut why = "mkfs.xfs refuses a device that holds anything, and nothing here tells it not to.".to_owned();
    if let Some(stripe) = place.stripe {
        argv.extend(words!["-d", format!("su={},sw={}", stripe.unit.0, stripe.data)]);
        why.push_str(" Stripe unit and width are said aloud: mappings in between may hide them.");
    }
    argv.push(place.node.clone());
    StepBuilder::run(layer, "make", why, argv)
        .limit(whole_device(place.size.most))
        .makes_signature(&place.node, "xfs", Some(Word::uuid(layer)))
        .erases(place.drive.iter().cloned().collect())
        .undo("A superblock left behind would be found by whatever is built next.", wipe(&place.node))
}
