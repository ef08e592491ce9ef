//! zpool(8) and zfs(8).

use super::{Call, Did, blank_device, broken, device, done, fail, say};
use crate::bytes::EIO;
use crate::mounts::{Mount, Table};
use crate::state::State;

const KIB: u64 = 1024;
/// The word in a label that says whether its pool was destroyed or let go (OpenZFS, `POOL_STATE_DESTROYED`).
const POOL_STATE: u64 = 100 * KIB;
const DESTROYED: u64 = 2;

pub(crate) fn zpool(state: &mut State, call: &Call<'_>) -> Did {
    if !state.modules.contains("zfs") {
        return Err(fail(1, "The ZFS modules are not loaded.\nTry running '/sbin/modprobe zfs' as root to load them."));
    }
    match call.word(1) {
        "create" => create(state, call),
        "destroy" => destroy(state, call.last()),
        "labelclear" => clear(state, call.last()),
        "list" => say(state.pools.keys().map(|name| format!("{name}\n")).collect::<String>()),
        "status" => status(state),
        "sync" | "set" | "wait" => pool(state, call.last()).map(|_| super::Reply::default()),
        "scrub" => {
            let at = mounted(state, call.last())?;
            state.mounts[at].scrubbed = [0; 3];
            state.scrub(at);
            keep(state, at);
            done()
        }
        "replace" => replace(state, call),
        other => Err(fail(2, format!("unrecognized command '{other}'"))),
    }
}

fn pool(state: &State, name: &str) -> Result<String, super::Reply> {
    let found = state.pools.contains_key(name).then(|| name.to_owned());
    found.ok_or_else(|| fail(1, format!("cannot open '{name}': no such pool")))
}

/// Its top dataset among mounts.
fn mounted(state: &State, name: &str) -> Result<usize, super::Reply> {
    pool(state, name)?;
    let at = state.mounts.iter().position(|mount| mount.kind == "zfs" && mount.source == name);
    at.ok_or_else(|| fail(1, format!("'{name}' is not mounted")))
}

/// What a pool knows is what its mount knows.
fn keep(state: &mut State, at: usize) {
    let mount = state.mounts[at].clone();
    state.pools.insert(mount.source.clone(), mount);
}

fn create(state: &mut State, call: &Call<'_>) -> Did {
    let mut devices = Vec::new();
    for node in call.nodes() {
        devices.push(blank_device(state, node)?);
    }
    let point = call.argv.iter().find_map(|word| word.strip_prefix("mountpoint=")).unwrap_or_default().to_owned();
    let at = call.argv.iter().position(|word| word.starts_with("mountpoint=")).map_or(0, |at| at + 1);
    let name = call.word(at).to_owned();
    if state.pools.contains_key(&name) {
        return Err(fail(1, format!("cannot create '{name}': pool already exists")));
    }
    let copies = if call.nodes().first() == Some(&call.word(at + 1)) { 1 } else { 2 };
    let uuid = state.draw_uuid();
    for device in &devices {
        label(state, device, &uuid, &name)?;
    }
    // A special mirror holds metadata; data are on the others.
    let special = call
        .argv
        .iter()
        .position(|word| word == "special")
        .map_or(0, |at| call.argv[at..].iter().filter(|word| word.starts_with("/dev/")).count());
    let data = devices[..devices.len() - special].to_vec();
    let table = Table::new(copies, true);
    state.put_table(&data, &table).map_err(|error| broken(&error))?;
    super::mount::make_directory(state, &point);
    let mount = Mount {
        source: name.clone(),
        devices,
        point,
        root: "/".to_owned(),
        kind: "zfs".to_owned(),
        uuid,
        table,
        scrubbed: [0; 3],
        frozen: false,
    };
    state.mounts.push(Mount { devices: data, ..mount.clone() });
    state.pools.insert(name, mount);
    done()
}

fn label(state: &mut State, device: &str, uuid: &str, name: &str) -> Result<(), super::Reply> {
    state.sign(device, "zfs_member", uuid).map_err(|error| broken(&error))?;
    // The name in a packed list of names and values, with its length.
    let list =
        [&b"\0\0\0\x04name\0\0\0\x09\0\0\0\x01"[..], &(name.len() as u32).to_be_bytes(), name.as_bytes()].concat();
    state
        .write(device, 16 * KIB, &list)
        .and_then(|()| state.write(device, POOL_STATE, &0_u64.to_le_bytes()))
        .map_err(|error| broken(&error))
}

fn destroy(state: &mut State, name: &str) -> Did {
    pool(state, name)?;
    if state.processes.iter().any(|process| state.pools[name].point == process.device) {
        return Err(fail(1, format!("cannot unmount '{}': pool or dataset is busy", state.pools[name].point)));
    }
    let Some(mount) = state.pools.remove(name) else { return done() };
    let inside = |set: &str| set.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '@']));
    state.mounts.retain(|other| other.kind != "zfs" || !inside(&other.source));
    state.sets.retain(|set| !inside(set));
    state.directories.remove(&mount.point);
    for device in &mount.devices {
        // A device that is gone keeps its labels.
        let _ = state.write(device, POOL_STATE, &DESTROYED.to_le_bytes());
    }
    done()
}

/// Refuses what may belong to a pool that is not destroyed, without `-f` (OpenZFS, cmd/zpool/zpool_main.c,
/// `zpool_do_labelclear`).
fn clear(state: &mut State, node: &str) -> Did {
    let name = device(state, node)?;
    if state.is_claimed(&name) {
        return Err(fail(1, format!("{node} is a member (ACTIVE) of a pool")));
    }
    if !state.signatures(&name).iter().any(|found| found.kind == "zfs_member") {
        return Err(fail(1, format!("failed to clear label for {node}: no label found")));
    }
    let word = state.read(&name, POOL_STATE, 8).map_err(|error| broken(&error))?;
    if word != DESTROYED.to_le_bytes() {
        return Err(fail(
            1,
            format!("use '-f' to override the following error:\n{node} is a member of potentially active pool"),
        ));
    }
    let end = state.size(&name) / (256 * KIB) * (256 * KIB);
    for start in [0, 256 * KIB, end - 512 * KIB, end - 256 * KIB] {
        state.erase(&name, start, 256 * KIB).map_err(|error| broken(&error))?;
    }
    done()
}

fn status(state: &State) -> Did {
    let mut text = String::new();
    for (name, mount) in &state.pools {
        let [broken, repaired, left] = mount.scrubbed;
        text.push_str(&format!("  pool: {name}\n state: ONLINE\n  scan: scrub repaired {repaired}B in 00:00:00 with {left} errors on a day\nconfig:\n\n"));
        let devices: Vec<String> =
            mount.devices.iter().map(|device| format!("    {}", state.node_of(device))).collect();
        let width = devices.iter().chain([name]).map(String::len).max().unwrap_or(0);
        text.push_str(&format!("\t{:<width$}  STATE  READ WRITE CKSUM\n\t{name:<width$}  ONLINE  0  0  0\n", "NAME"));
        for device in devices {
            text.push_str(&format!("\t{device:<width$}  ONLINE  0  0  {broken}\n"));
        }
        text.push_str("\nerrors: No known data errors\n");
    }
    say(text)
}

fn replace(state: &mut State, call: &Call<'_>) -> Did {
    let at = mounted(state, call.word(2))?;
    let old = call.word(3).to_owned();
    let new = blank_device(state, call.last())?;
    // A device that is gone is known by what it was called.
    let old = state.device_at(&old).unwrap_or_else(|| old.trim_start_matches("/dev/").to_owned());
    let Some(index) = state.mounts[at].devices.iter().position(|device| *device == old) else {
        return Err(fail(1, format!("cannot replace {old}: no such device in pool")));
    };
    let uuid = state.mounts[at].uuid.clone();
    label(state, &new, &uuid, call.word(2))?;
    state.replace_device(at, index, &new).map_err(|error| broken(&error))?;
    keep(state, at);
    done()
}

pub(crate) fn zfs(state: &mut State, call: &Call<'_>) -> Did {
    match call.word(1) {
        "list" => return list(state, call.last()),
        "create" => return add(state, call),
        "set" if call.word(2).starts_with("mountpoint=") => return move_to(state, call),
        _ => {}
    }
    let (name, snapshot) = call.last().split_once('@').map_or((call.last(), ""), |(name, snapshot)| (name, snapshot));
    let at = mounted(state, name)?;
    let (name, snapshot) = (name.to_owned(), snapshot.to_owned());
    let table = &mut state.mounts[at].table;
    match call.word(1) {
        "snapshot" => {
            let files = table.files.clone();
            state.sets.insert(format!("{name}@{snapshot}"));
            table.snapshots.insert(snapshot, files);
        }
        "rollback" => match table.snapshots.get(&snapshot) {
            Some(files) => table.files = files.clone(),
            None => return Err(fail(1, format!("cannot open '{name}@{snapshot}': dataset does not exist"))),
        },
        "set" => {}
        other => return Err(fail(2, format!("unrecognized command '{other}'"))),
    }
    let (devices, table) = (state.mounts[at].devices.clone(), state.mounts[at].table.clone());
    state.put_table(&devices, &table).map_err(|_| broken(&crate::bytes::error(EIO)))?;
    keep(state, at);
    done()
}

/// A pool and everything in it, by name.
fn list(state: &State, name: &str) -> Did {
    pool(state, name)?;
    let sets = state.sets.iter().filter(|set| set.strip_prefix(name).is_some_and(|rest| rest.starts_with(['/', '@'])));
    say(std::iter::once(name).chain(sets.map(String::as_str)).map(|set| format!("{set}\n")).collect::<String>())
}

/// A volume where there is a size, else a file system, which is mounted where it says, or below the one that it is in.
fn add(state: &mut State, call: &Call<'_>) -> Did {
    let name = call.last().to_owned();
    let top = name.split('/').next().unwrap_or_default().to_owned();
    let above = state.mounts[mounted(state, &top)?].clone();
    state.sets.insert(name.clone());
    if call.has("-V") || call.has("canmount=off") {
        return done();
    }
    let place = call.argv.iter().find_map(|word| word.strip_prefix("mountpoint="));
    let point = place.map_or_else(|| format!("{}{}", above.point, &name[top.len()..]), str::to_owned);
    super::mount::make_directory(state, &point);
    state.mounts.push(Mount { source: name, point, table: Table::new(above.table.copies, true), ..above });
    done()
}

fn move_to(state: &mut State, call: &Call<'_>) -> Did {
    let at = mounted(state, call.last())?;
    let point = call.word(2).trim_start_matches("mountpoint=").to_owned();
    super::mount::make_directory(state, &point);
    state.mounts[at].point = point;
    keep(state, at);
    done()
}
