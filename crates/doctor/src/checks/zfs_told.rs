//! What is told of ZFS pools, for all that look at them.

use terms::diagnosis::Place;
use terms::inventory::{Pool, Vdev};

use crate::check::Round;
use crate::machine::Machine;

pub(super) fn pools<'a>(machine: &Machine<'a>, round: &mut Round) -> &'a [Pool] {
    round.ask(&Place::machine(), &machine.detail.pools).map_or(&[], Vec::as_slice)
}

pub(super) fn place(pool: &Pool) -> Place {
    Place::new("pool", &pool.name)
}

/// A virtual device and all below it.
pub(super) fn walk<'a>(vdev: &'a Vdev, found: &mut Vec<&'a Vdev>) {
    found.push(vdev);
    for child in &vdev.children {
        walk(child, found);
    }
}

/// What a status says of errors where it names none: there are none, or the pool cannot be asked (`print_status_config` in OpenZFS's
/// `cmd/zpool/zpool_main.c`).
const NOTHING_KNOWN: [&str; 2] = ["No known data errors", "List of errors unavailable"];

/// What a status says of data that is damaged.
pub(super) fn damage(pool: &Pool) -> Option<&str> {
    pool.errors.as_deref().filter(|text| !NOTHING_KNOWN.iter().any(|start| text.starts_with(start)))
}
