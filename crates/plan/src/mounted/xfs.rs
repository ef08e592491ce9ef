//! An XFS file system.

use terms::layer::Xfs;
use terms::{Bytes, Name, Word};

use super::{mount, roomy};
use crate::block::wipe;
use crate::draft::{Doing, Draft, whole_device, words};
use crate::error::PlanError;
use crate::place::{Member, Place};

/// mkfs.xfs has refused less than 300 MiB since xfsprogs 5.19.
const SMALLEST: Bytes = Bytes::mib(300);
/// The log has 64 MiB at least, and lies in one group (mkfs/xfs_mkfs.c, `calculate_log_size`)…
const LOG: Bytes = Bytes::mib(64);
/// …of which there are four on one drive, and eight on stripes of less than 8 GiB (libfrog/topology.c,
/// `calc_default_ag_geometry`).
const GROUPS: u64 = 8;
/// What a group has besides: headers, roots of trees, the first inodes.
const BESIDES: Bytes = Bytes::kib(128);

/// The least that mkfs.xfs takes. A group may be made smaller by a stripe unit, so that groups begin on different members.
fn least(place: &Place) -> Bytes {
    place.stripe.map_or(SMALLEST, |stripe| Bytes(GROUPS * (LOG.0 + stripe.unit.0 + BESIDES.0)))
}

/// Makes and mounts the file system.
pub(crate) fn lay(draft: &mut Draft, layer: &Name, xfs: &Xfs, below: &Member) -> Result<String, PlanError> {
    roomy(layer, &below.place, least(&below.place))?;
    draft.push(make(layer, xfs, &below.place));
    Ok(mount(draft, layer, "xfs", &[], &below.place.node))
}

fn make(layer: &Name, xfs: &Xfs, place: &Place) -> Doing {
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
    Doing::run(layer, "make", why, argv)
        .limit(whole_device(place.most))
        .makes_signature(&place.node, "xfs", Some(Word::uuid(layer)))
        .erases(place.drive.iter().cloned().collect())
        .undo("A superblock left behind would be found by whatever is built next.", wipe(&place.node))
}
