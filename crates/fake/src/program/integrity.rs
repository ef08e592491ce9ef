//! integritysetup(8).

use super::crypt::{add_mapping, close};
use super::{Call, Did, blank_device, broken, done, fail, free_device};
use crate::device::{Tags, Target};
use crate::state::State;

/// Where the superblock keeps the size of a tag and of a sector.
const SIZES: u64 = 16;

pub(crate) fn integritysetup(state: &mut State, call: &Call<'_>) -> Did {
    match call.word(1) {
        "format" => {
            let name = blank_device(state, call.last())?;
            let size = state.size(&name);
            state.erase(&name, 0, size).map_err(|error| broken(&error))?;
            state.sign(&name, "DM_integrity", "").map_err(|error| broken(&error))?;
            let sizes = [call.number("--tag-size").unwrap_or(4), call.number("--sector-size").unwrap_or(512)];
            state.write(&name, SIZES, &sizes.map(u64::to_le_bytes).concat()).map_err(|error| broken(&error))?;
            done()
        }
        "open" => {
            let (node, mapping) = (call.word(call.argv.len() - 2), call.last());
            let name = free_device(state, node)?;
            if !state.signatures(&name).iter().any(|found| found.kind == "DM_integrity") {
                return Err(fail(1, format!("Device {node} is not a valid INTEGRITY device.")));
            }
            let sizes = state.read(&name, SIZES, 16).map_err(|error| broken(&error))?;
            let word = |at: usize| sizes[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
            let tags = Tags { of: name.clone(), start: 0, tag: word(0), block: word(8), apart: None };
            let (size, block) = (tags.provided(state.size(&name)), tags.block.max(state.devices[&name].block));
            add_mapping(state, mapping, &format!("CRYPT-INTEGRITY-{mapping}"), size, block, Target::Integrity(tags));
            done()
        }
        "close" => close(state, call.last()),
        other => Err(fail(1, format!("Unknown action {other}."))),
    }
}
