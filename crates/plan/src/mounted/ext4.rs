//! An ext4 file system.

use terms::layer::Ext4;
use terms::{Name, Word};

use super::mount;
use crate::block::wipe;
use crate::draft::{Draft, StepBuilder, whole_device, words};
use crate::error::PlanError;
use crate::place::{Member, Place};

/// Makes and mounts the file system.
pub(crate) fn lay(draft: &mut Draft, layer: &Name, ext4: &Ext4, below: &Member) -> Result<String, PlanError> {
    let place = &below.place;
    if ext4.block < place.lba {
        let why = format!("its block of {} is smaller than the device's {}", ext4.block, place.lba);
        return Err(PlanError::impossible(layer, why));
    }
    draft.push(make(layer, ext4, place));
    // Without a journal there is nothing to commit, and the kernel refuses to mount with any time but its default.
    let commit = ext4.journal.then(|| format!("commit={}", ext4.commit.as_millis().div_ceil(1000)).into());
    Ok(mount(draft, layer, "ext4", commit.as_slice(), &place.node))
}

fn make(layer: &Name, ext4: &Ext4, place: &Place) -> StepBuilder {
    let lazy = u8::from(ext4.lazy_init);
    let mut extended = vec![format!("lazy_itable_init={lazy}"), format!("lazy_journal_init={lazy}")];
    let mut why = if ext4.lazy_init {
        "Inode tables are written in the background after mounting, and will disturb what is measured.".to_owned()
    } else {
        "Inode tables and journal are written now: left for later, they would be written during the measurement."
            .to_owned()
    };
    if let Some(stripe) = place.stripe {
        let stride = stripe.unit.0 / ext4.block.0;
        extended.push(format!("stride={stride}"));
        extended.push(format!("stripe_width={}", stride * stripe.data));
        why.push_str(" Stride and stripe width are those of the striping beneath, so that writes fill whole stripes.");
    }
    let mut argv = words![
        "mkfs.ext4",
        "-q",
        "-U",
        Word::uuid(layer),
        "-b",
        ext4.block.0.to_string(),
        "-m",
        ext4.reserved_percent.to_string(),
        "-E",
        extended.join(","),
    ];
    if !ext4.journal {
        argv.extend(words!["-O", "^has_journal"]);
    }
    argv.push(place.node.clone());
    StepBuilder::run(layer, "make", why, argv)
        .limit(whole_device(place.size.most))
        .makes_signature(&place.node, "ext4", Some(Word::uuid(layer)))
        .erases(place.drive.iter().cloned().collect())
        .undo("A superblock left behind would be found by whatever is built next.", wipe(&place.node))
}
