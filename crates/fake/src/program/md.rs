//! mdadm(8), and what writes to an array's files in sysfs do.

use super::{Call, Did, Reply, broken, device, done, fail, free_device};
use crate::device::{Array, Kind, Leg, Spread};
use crate::raid::Level;
use crate::state::State;

/// Where data begin with a superblock at 4 KiB: behind it and the bitmap.
const START: u64 = 1 << 20;
/// The first of the numbers that the kernel counts down from for arrays with names (mdadm, mdopen.c).
const FIRST: u32 = 127;
/// What arrays are resynchronised and checked in.
const STEP: u64 = 64 << 10;

pub(crate) fn mdadm(state: &mut State, call: &Call<'_>) -> Did {
    match call.word(1) {
        "--create" => create(state, call),
        "--stop" => stop(state, call.word(2)),
        "--zero-superblock" => zero(state, call.word(2)),
        "--manage" => manage(state, call.word(2), call.word(3), call.word(4)),
        node if node.starts_with("/dev/") => manage(state, node, call.word(2), call.word(3)),
        other => Err(fail(2, format!("mdadm: unrecognized option '{other}'"))),
    }
}

fn create(state: &mut State, call: &Call<'_>) -> Did {
    let node = call.word(2).to_owned();
    let level = call.value("--level").and_then(Level::parse).ok_or_else(|| fail(2, "mdadm: invalid level"))?;
    let mut members = Vec::new();
    for path in &call.nodes()[1..] {
        let name = free_device(state, path)
            .map_err(|_| fail(2, format!("mdadm: cannot open {path}: Device or resource busy")))?;
        members.push(name);
    }
    if state.device_at(&node).is_some() {
        return Err(fail(2, format!("mdadm: {node} is already in use")));
    }
    let uuid = call.value("--uuid").unwrap_or_default().to_owned();
    let at_end = call.value("--metadata") == Some("1.0");
    let chunk =
        call.value("--chunk").and_then(|text| text.trim_end_matches('K').parse::<u64>().ok()).unwrap_or(512) << 10;
    let smallest = members.iter().map(|member| state.size(member)).min().unwrap_or(0);
    let usable = (smallest.saturating_sub(START)) / chunk * chunk;
    let block = members.iter().map(|member| state.devices[member].block).max().unwrap_or(512);
    for member in &members {
        let kind = if at_end { "linux_raid_member 1.0" } else { "linux_raid_member" };
        let superblock = if at_end { state.size(member) / 4096 * 4096 - 8192 } else { 4096 };
        // `raid_disks` (kernel, include/uapi/linux/raid/md_p.h, `mdp_superblock_1`).
        let count = (members.len() as u32).to_le_bytes();
        state
            .sign(member, kind, &uuid)
            .and_then(|()| state.write(member, superblock + 92, &count))
            .map_err(|error| broken(&error))?;
    }
    let name = state.free_name((0..=FIRST).rev(), |number| format!("md{number}"));
    let spread = Spread::new(level, chunk, &members);
    let size = level.size(members.len(), usable);
    let array = Array {
        uuid,
        name: call.value("--name").unwrap_or_default().to_owned(),
        start: if at_end { 0 } else { START },
        spread,
        mismatches: 0,
    };
    state.add(&name, size, block, Kind::Array(array));
    state.links.insert(node, name.clone());
    if level.is_redundant() && !call.has("--assume-clean") {
        make_alike(state, &name, true);
    }
    done()
}

fn stop(state: &mut State, node: &str) -> Did {
    let Some(name) = state.device_at(node).filter(|name| name.starts_with("md")) else {
        return Err(fail(1, format!("mdadm: error opening {node}: No such file or directory")));
    };
    if state.is_claimed(&name) {
        return Err(fail(
            1,
            format!(
                "mdadm: Cannot get exclusive access to {node}:Perhaps a running process, mounted filesystem or active volume group?"
            ),
        ));
    }
    state.remove(&name);
    done()
}

/// Where there is none it says so and is content (measured with mdadm 4.2).
fn zero(state: &mut State, node: &str) -> Did {
    let name =
        device(state, node).map_err(|_| fail(1, format!("mdadm: Couldn't open {node} for write - not zeroing")))?;
    if state.is_claimed(&name) {
        return Err(fail(1, format!("mdadm: Couldn't open {node} for write - not zeroing: Device or resource busy")));
    }
    let found = state.signatures(&name).into_iter().filter(|found| found.kind == "linux_raid_member");
    let places: Vec<u64> = found.flat_map(|found| found.places).collect();
    if places.is_empty() {
        return Ok(Reply { stderr: format!("mdadm: Unrecognised md component device - {node}"), ..Reply::default() });
    }
    places.iter().try_for_each(|place| state.erase(&name, *place, 4096)).map_err(|error| broken(&error))?;
    done()
}

fn manage(state: &mut State, node: &str, act: &str, member: &str) -> Did {
    let name = device(state, node)?;
    let member_name = state.device_at(member);
    let here: Vec<String> = state.devices.keys().cloned().collect();
    let Some(Kind::Array(array)) = state.devices.get_mut(&name).map(|device| &mut device.kind) else {
        return Err(fail(1, format!("mdadm: {node} does not appear to be an md device")));
    };
    let uuid = array.uuid.clone();
    let legs = &mut array.spread.legs;
    match (act, member_name) {
        ("--fail" | "--remove", None) if member == "detached" => {
            legs.iter_mut().filter(|leg| !here.contains(&leg.device)).for_each(|leg| leg.works = false);
            done()
        }
        ("--fail", Some(member)) => {
            legs.iter_mut().filter(|leg| leg.device == member).for_each(|leg| leg.works = false);
            done()
        }
        ("--remove", Some(member)) => match legs.iter_mut().find(|leg| leg.device == member) {
            Some(leg) if leg.works => Err(fail(1, "mdadm: hot remove failed: Device or resource busy")),
            Some(leg) => {
                leg.device.clear();
                done()
            }
            None => Err(fail(1, "mdadm: not a member")),
        },
        ("--add", Some(member)) => {
            let Some(leg) = legs.iter_mut().find(|leg| !leg.works) else { return Err(fail(1, "mdadm: no room")) };
            *leg = Leg { device: member.clone(), works: true };
            state.sign(&member, "linux_raid_member", &uuid).map_err(|error| broken(&error))?;
            recover(state, &name, &member);
            done()
        }
        (act, _) => Err(fail(1, format!("mdadm: cannot {act} {member}"))),
    }
}

/// A write to `sync_action` (kernel, Documentation/admin-guide/md.rst).
pub(crate) fn action(state: &mut State, name: &str, action: &str) {
    if matches!(action, "check" | "repair") {
        make_alike(state, name, action == "repair");
    }
}

/// Compares all copies and parities and, if it is to, makes them those of the first. Gives sectors that differed.
fn make_alike(state: &mut State, name: &str, repair: bool) {
    let Some(Kind::Array(array)) = state.devices.get(name).map(|device| device.kind.clone()) else { return };
    let mismatches = alike(state, &array.spread, array.start, state.size(name), repair);
    if let Some(Kind::Array(array)) = state.devices.get_mut(name).map(|device| &mut device.kind) {
        array.mismatches = mismatches;
    }
}

/// The same for any legs.
pub(crate) fn alike(state: &mut State, spread: &Spread, start: u64, size: u64, repair: bool) -> u64 {
    let mut mismatches = 0;
    let step = STEP.min(spread.chunk);
    for byte in (0..size).step_by(step as usize) {
        let run = crate::raid::run(spread.level, spread.legs.len(), spread.chunk, byte);
        let length = step.min(size - byte);
        let works = |(leg, _): &&(usize, u64)| spread.legs[*leg].works;
        let copies: Vec<(String, u64)> =
            run.copies.iter().filter(works).map(|(leg, at)| (spread.legs[*leg].device.clone(), start + at)).collect();
        if copies.iter().all(|(device, at)| state.is_blank(device, *at, length)) {
            continue;
        }
        let read: Vec<Option<Vec<u8>>> =
            copies.iter().map(|(device, at)| state.read(device, *at, length).ok()).collect();
        let Some(first) = read.iter().flatten().next().cloned() else { continue };
        for ((device, at), bytes) in copies.iter().zip(&read) {
            let broken = bytes.is_none();
            let differs = bytes.as_ref().is_some_and(|bytes| *bytes != first);
            mismatches += if differs { length / 512 } else { 0 };
            // What cannot be read is written anew whatever was asked for.
            if broken || (differs && repair) {
                let _ = state.write(device, *at, &first);
            }
        }
    }
    mismatches
}

/// A new member gets what it should hold.
fn recover(state: &mut State, name: &str, member: &str) {
    let Some(Kind::Array(array)) = state.devices.get(name).map(|device| device.kind.clone()) else { return };
    recover_leg(state, &array.spread, array.start, state.size(name), member);
}

/// The same for any legs.
pub(crate) fn recover_leg(state: &mut State, spread: &Spread, start: u64, size: u64, member: &str) {
    let mut without = spread.clone();
    without.lose(&[member.to_owned()]);
    let step = STEP.min(spread.chunk);
    for byte in (0..size).step_by(step as usize) {
        let run = crate::raid::run(spread.level, spread.legs.len(), spread.chunk, byte);
        let length = step.min(size - byte);
        let Ok(bytes) = state.spread_read(&without, start, byte, length) else { continue };
        for (leg, at) in run.copies.iter().filter(|(leg, _)| spread.legs[*leg].device == member) {
            let _ = state.write(&spread.legs[*leg].device, start + at, &bytes);
        }
        // Parity of a row: all of its data together.
        for leg in run.parity.iter().filter(|leg| spread.legs[**leg].device == member) {
            let at = start + run.copies[0].1;
            let old = state.read(member, at, length).unwrap_or_default();
            let sum: Vec<u8> = old.iter().zip(&bytes).map(|(old, new)| old ^ new).collect();
            let _ = state.write(&spread.legs[*leg].device, at, &sum);
        }
    }
}
