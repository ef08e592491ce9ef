//! make-bcache(8), and the kernel's bcache (Documentation/admin-guide/bcache.rst).

use super::{Call, Did, Reply, blank_device, broken, device, done, fail};
use crate::device::{Cached, Kind};
use crate::state::State;

/// Where the superblock says what the device is.
const ROLE: u64 = 4096 + 128;

pub(crate) fn make(state: &mut State, call: &Call<'_>) -> Did {
    let name = blank_device(state, call.last())?;
    let uuid = state.draw_uuid();
    state.sign(&name, "bcache", &uuid).map_err(|error| broken(&error))?;
    state.write(&name, ROLE, &[u8::from(call.has("--cache"))]).map_err(|error| broken(&error))?;
    done()
}

/// A write to `/sys/fs/bcache/register_quiet`: what is registered already is passed over.
fn register(state: &mut State, node: &str) -> Result<String, Reply> {
    let name = device(state, node)?;
    let Some(found) = state.signatures(&name).into_iter().find(|found| found.kind == "bcache") else {
        return Err(fail(1, "sh: write error: Invalid argument"));
    };
    if state.bcaches.iter().any(|cached| cached.device == name) {
        return Ok(name);
    }
    if state.is_claimed(&name) {
        return Err(fail(1, "sh: write error: Device or resource busy"));
    }
    let is_cache = state.read(&name, ROLE, 1).is_ok_and(|role| role == [1]);
    let mut cached = Cached { device: name.clone(), set: None, attached: None, above: None };
    if is_cache {
        cached.set = found.uuid;
    } else {
        let above = state.free_name(0.., |number| format!("bcache{number}"));
        let (size, block) = (state.size(&name) - 8192, state.devices[&name].block);
        state.add(&above, size, block, Kind::Bcache { of: name.clone() });
        cached.above = Some(above);
    }
    state.bcaches.push(cached);
    Ok(name)
}

fn entry<'a>(state: &'a mut State, node: &str) -> Option<&'a mut Cached> {
    let name = state.device_at(node)?;
    state.bcaches.iter_mut().find(|cached| cached.device == name)
}

pub(crate) fn up(state: &mut State, node: &str, link: &str) -> Did {
    register(state, node)?;
    let above = entry(state, node).and_then(|cached| cached.above.clone()).unwrap_or_default();
    if state.links.contains_key(link) {
        return Err(fail(1, format!("ln: failed to create symbolic link '{link}': File exists")));
    }
    state.links.insert(link.to_owned(), above);
    done()
}

pub(crate) fn stop(state: &mut State, node: &str, link: &str) -> Did {
    state.links.remove(link);
    let Some(name) = state.device_at(node) else { return done() };
    let above = entry(state, node).and_then(|cached| cached.above.clone());
    if let Some(above) = above {
        if state.is_claimed(&above) {
            // The kernel waits until it is let go, and so does the script, until its time is up.
            return Err(fail(124, "timed out: the cache is in use"));
        }
        state.remove(&above);
        state.bcaches.retain(|cached| cached.device != name);
    }
    done()
}

pub(crate) fn leave(state: &mut State, node: &str) -> Did {
    let Some(name) = state.device_at(node) else { return done() };
    let set = entry(state, node).and_then(|cached| cached.set.clone());
    state.bcaches.retain(|cached| cached.device != name || cached.set.is_none());
    for cached in state.bcaches.iter_mut().filter(|cached| set.is_some() && cached.attached == set) {
        cached.attached = None;
    }
    done()
}

pub(crate) fn attach(state: &mut State, node: &str, cache: &str) -> Did {
    register(state, cache)?;
    let set = entry(state, cache).and_then(|cached| cached.set.clone());
    match entry(state, node) {
        Some(cached) => cached.attached = set,
        None => return Err(fail(1, "sh: cannot create attach: Directory nonexistent")),
    }
    done()
}

pub(crate) fn detach(state: &mut State, node: &str) -> Did {
    if let Some(cached) = entry(state, node) {
        cached.attached = None;
    }
    done()
}
