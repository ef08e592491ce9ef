//! Layers that end in a block device.

pub(crate) mod bcache;
pub(crate) mod crypt;
pub(crate) mod integrity;
pub(crate) mod luks;
pub(crate) mod lvm;
pub(crate) mod partition;
pub(crate) mod raid;
pub(crate) mod truecrypt;
pub(crate) mod writecache;

use terms::{LayerNode, Word};

use crate::draft::words;
use crate::error::PlanError;
use crate::place::Member;

/// The only member of a layer that takes one device.
pub(crate) fn only<'a>(node: &LayerNode, members: &'a [Member]) -> Result<&'a Member, PlanError> {
    match members {
        [member] => Ok(member),
        other => Err(wrong_count(node, "one device", other.len())),
    }
}

/// Refuses fewer members than a layer needs.
pub(crate) fn at_least(node: &LayerNode, fewest: usize, members: &[Member]) -> Result<(), PlanError> {
    if members.len() >= fewest {
        Ok(())
    } else {
        Err(wrong_count(node, &format!("at least {fewest} devices"), members.len()))
    }
}

fn wrong_count(node: &LayerNode, wanted: &str, found: usize) -> PlanError {
    PlanError::Members { layer: node.name.clone(), title: node.layer.title(), wanted: wanted.to_owned(), found }
}

/// Erases the signatures of a device. Without force, so that it refuses a device in use.
pub(crate) fn wipe(node: &Word) -> Vec<Word> {
    words!["wipefs", "--all", node.clone()]
}
