//! Layers that end in a mounted directory.

pub(crate) mod btrfs;
pub(crate) mod ext4;
pub(crate) mod xfs;
pub(crate) mod zfs;

use terms::{LayerNode, Name, Word};

use crate::draft::{Draft, StepBuilder, words};
use crate::error::PlanError;
use crate::place::{Member, Place};

/// Mounts a file system on the stack's directory, which is made if it is not there.
pub(crate) fn mount(draft: &mut Draft, layer: &Name, kind: &str, options: &[Word], node: &Word) -> String {
    let directory = draft.naming.directory();
    let first = Word::from("X-mount.mkdir");
    let options = options.iter().cloned().fold(first, |all, option| all.then(",").then(option));
    let argv = words!["mount", "--types", kind, "--options", options, node.clone(), directory.clone()];
    let why = "Mounted where nothing else is, with the study's options and no others.";
    draft.push(
        StepBuilder::run(layer, "mount", why, argv)
            .makes_mount(&directory)
            .undo("Unmounting writes out what is still cached.", words!["umount", directory.clone()])
            .undo("The empty directory was ours.", words!["rmdir", directory.clone()]),
    );
    directory
}

/// Refuses devices that are certainly too small for a file system.
pub(crate) fn roomy(node: &LayerNode, devices: &[Member]) -> Result<(), PlanError> {
    for Place { size, stripe, .. } in devices.iter().map(|device| &device.place) {
        let needed = capacity::smallest_device(&node.layer, stripe.map(|stripe| stripe.unit)).unwrap_or_default();
        if size.most < needed {
            return Err(PlanError::TooSmall { layer: node.name.clone(), needed, found: size.most });
        }
    }
    Ok(())
}
