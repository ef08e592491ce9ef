//! The kernel's dm-writecache (Documentation/admin-guide/device-mapper/writecache.rst).

use super::crypt::add_mapping;
use super::{Did, broken, done, fail, free_device};
use crate::device::Target;
use crate::state::State;

/// What a superblock begins with (`MEMORY_SUPERBLOCK_MAGIC` in drivers/md/dm-writecache.c).
const MAGIC: [u8; 4] = 0x2348_9321_u32.to_le_bytes();

/// A new cache where the superblock is zero, an old one where it is there, and nothing else.
pub(crate) fn create(state: &mut State, mapping: &str, below: &str, cache: &str) -> Did {
    let refused = |why: &str| fail(1, format!("device-mapper: reload ioctl on {mapping} failed: {why}"));
    if state.links.contains_key(&format!("/dev/mapper/{mapping}")) {
        return Err(fail(1, format!("device-mapper: create ioctl on {mapping} failed: Device or resource busy")));
    }
    let of = free_device(state, below).map_err(|_| refused("Device or resource busy"))?;
    let cache = free_device(state, cache).map_err(|_| refused("Device or resource busy"))?;
    let magic = state.read(&cache, 0, 4).map_err(|error| broken(&error))?;
    if magic != [0; 4] && magic != MAGIC {
        return Err(refused("Invalid argument"));
    }
    state.write(&cache, 0, &MAGIC).map_err(|error| broken(&error))?;
    let (size, block) = (state.size(&of), 4096.max(state.devices[&of].block));
    add_mapping(state, mapping, "", size, block, Target::Writecache { of, cache });
    done()
}
