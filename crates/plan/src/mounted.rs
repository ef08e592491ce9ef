//! Layers that end in a mounted directory.

pub(crate) mod btrfs;
pub(crate) mod ext4;
pub(crate) mod xfs;
pub(crate) mod zfs;

use terms::{Bytes, Name, Word};

use crate::draft::{Doing, Draft, words};
use crate::error::PlanError;
use crate::place::Place;

/// Mounts a file system on the stack's directory, which is made if it is not there.
pub(crate) fn mount(draft: &mut Draft, layer: &Name, kind: &str, options: &[Word], node: &Word) -> String {
    let directory = draft.naming.directory();
    let first = Word::from("X-mount.mkdir");
    let options = options.iter().cloned().fold(first, |all, option| all.then(",").then(option));
    let argv = words!["mount", "--types", kind, "--options", options, node.clone(), directory.clone()];
    let why = "Mounted where nothing else is, with the study's options and no others.";
    draft.push(
        Doing::run(layer, "mount", why, argv)
            .makes_mount(&directory)
            .undo("Unmounting writes out what is still cached.", words!["umount", directory.clone()])
            .undo("The empty directory was ours.", words!["rmdir", directory.clone()]),
    );
    directory
}

/// Refuses what is certainly too small.
pub(crate) fn roomy(layer: &Name, place: &Place, needed: Bytes) -> Result<(), PlanError> {
    if place.most >= needed {
        return Ok(());
    }
    Err(PlanError::TooSmall { layer: layer.clone(), needed, found: place.most })
}
