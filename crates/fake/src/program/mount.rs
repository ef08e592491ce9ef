//! Making file systems on one device, and putting them where they are used.

use super::{Call, Did, blank_device, broken, device, done, fail, free_device, say};
use crate::mounts::{Mount, Table};
use crate::state::State;

/// Asks nothing without a terminal, and writes over what is there (mke2fs(8); measured with 1.47).
pub(crate) fn ext4(state: &mut State, call: &Call<'_>) -> Did {
    let name = free_device(state, call.last()).map_err(|_| {
        fail(1, format!("{} is apparently in use by the system; will not make a filesystem here!", call.last()))
    })?;
    make(state, &name, "ext4", call.value("-U").unwrap_or_default())
}

/// Refuses what holds anything without `-f` (mkfs.xfs(8)).
pub(crate) fn xfs(state: &mut State, call: &Call<'_>) -> Did {
    let name = blank_device(state, call.last())?;
    let uuid = call.argv.iter().find_map(|word| word.split_once("uuid=")).map_or("", |(_, uuid)| uuid);
    make(state, &name, "xfs", uuid)
}

fn make(state: &mut State, name: &str, kind: &str, uuid: &str) -> Did {
    let drawn = if uuid.is_empty() { state.draw_uuid() } else { uuid.to_owned() };
    state.sign(name, kind, &drawn).map_err(|error| broken(&error))?;
    state.put_table(&[name.to_owned()], &Table::new(1, false)).map_err(|error| broken(&error))?;
    done()
}

pub(crate) fn mount(state: &mut State, call: &Call<'_>) -> Did {
    let (source, point) = (call.word(call.argv.len() - 2), call.last());
    let options: Vec<&str> = call.value("--options").unwrap_or_default().split(',').collect();
    let name = device(state, source).map_err(|reply| fail(32, reply.stderr))?;
    let wanted = call.value("--types");
    let found = state
        .signatures(&name)
        .into_iter()
        .find(|found| wanted.is_none_or(|kind| kind == found.kind) && found.uuid.is_some());
    let Some(found) = found else {
        return Err(fail(32, format!("mount: {point}: wrong fs type, bad option, bad superblock on {source}")));
    };
    let uuid = found.uuid.unwrap_or_default();
    if state.is_claimed(&name) {
        return Err(fail(32, format!("mount: {point}: {source} already mounted or mount point busy.")));
    }
    if found.kind == "xfs" && !options.contains(&"nouuid") && state.mounts.iter().any(|mount| mount.uuid == uuid) {
        return Err(fail(32, format!("mount: {point}: wrong fs type: XFS: Filesystem has duplicate UUID {uuid}")));
    }
    if options.contains(&"X-mount.mkdir") {
        make_directory(state, point);
    } else if !state.directories.contains(point) {
        return Err(fail(32, format!("mount: {point}: mount point does not exist.")));
    }
    let mut table = state.table(&name).map_err(|error| fail(32, error.to_string()))?;
    let root = options.iter().find_map(|option| option.strip_prefix("subvol=")).unwrap_or_default();
    if !root.is_empty() {
        let inside = |path: &str| Some(path.strip_prefix(root)?.strip_prefix('/')?.to_owned());
        table.files = table.files.iter().filter_map(|(path, file)| Some((inside(path)?, file.clone()))).collect();
    }
    let mut devices = vec![name];
    for more in options.iter().filter_map(|option| option.strip_prefix("device=")) {
        devices.push(device(state, more).map_err(|reply| fail(32, reply.stderr))?);
    }
    if !options.contains(&"ro") {
        count(state, &devices[0], &found.kind).map_err(|error| fail(32, error.to_string()))?;
    }
    let mount = Mount {
        source: source.to_owned(),
        devices,
        point: point.to_owned(),
        root: format!("/{root}"),
        kind: found.kind,
        uuid,
        table,
        scrubbed: [0; 3],
        frozen: false,
    };
    state.mounts.push(mount);
    done()
}

/// What a mounted file system counts in its superblock: how often it was mounted, where in its log it is, which of its trees the
/// kernel has looked through (kernel, fs/ext4/super.c, fs/xfs/xfs_mount.c, fs/btrfs/transaction.c).
fn count(state: &mut State, device: &str, kind: &str) -> std::io::Result<()> {
    let (place, bytes): (u64, &[u8]) = match kind {
        "ext4" => (1024 + 0x34, &[1, 0]),
        "xfs" => (240, &[0, 0, 0, 1, 0, 0, 0, 2]),
        "btrfs" => ((64 << 10) + 0x233, &[7, 0, 0, 0, 0, 0, 0, 0]),
        _ => return Ok(()),
    };
    state.write(device, place, bytes)
}

pub(crate) fn umount(state: &mut State, call: &Call<'_>) -> Did {
    let point = call.last();
    let Some(at) = state.mounts.iter().rposition(|mount| mount.point == point) else {
        return Err(fail(32, format!("umount: {point}: no mount point specified.")));
    };
    if state.processes.iter().any(|process| process.device == point) {
        return Err(fail(32, format!("umount: {point}: target is busy.")));
    }
    state.mounts.remove(at);
    done()
}

/// fsfreeze(8): whoever asks for a second freeze is told that there is one.
pub(crate) fn freeze(state: &mut State, call: &Call<'_>) -> Did {
    let (point, freezes) = (call.last(), call.has("--freeze"));
    let Some(mount) = state.mounts.iter_mut().rev().find(|mount| mount.point == point) else {
        return Err(fail(1, format!("fsfreeze: {point}: is not a mountpoint")));
    };
    match (mount.frozen, freezes) {
        (true, true) => Err(fail(1, format!("fsfreeze: {point}: freeze failed: Device or resource busy"))),
        (false, false) => Err(fail(1, format!("fsfreeze: {point}: unfreeze failed: Invalid argument"))),
        _ => {
            mount.frozen = freezes;
            done()
        }
    }
}

pub(crate) fn make_directory(state: &mut State, path: &str) {
    for (at, _) in path.match_indices('/').skip(1) {
        state.directories.insert(path[..at].to_owned());
    }
    state.directories.insert(path.to_owned());
}

pub(crate) fn mkdir(state: &mut State, call: &Call<'_>) -> Did {
    if state.directories.contains(call.last()) && !call.has("-p") {
        return Err(fail(1, format!("mkdir: cannot create directory '{}': File exists", call.last())));
    }
    make_directory(state, call.last());
    done()
}

pub(crate) fn rmdir(state: &mut State, call: &Call<'_>) -> Did {
    let path = call.last();
    if state.mounts.iter().chain(state.pools.values()).any(|mount| mount.point == path) {
        return Err(fail(1, format!("rmdir: failed to remove '{path}': Device or resource busy")));
    }
    if !state.directories.remove(path) {
        return Err(fail(1, format!("rmdir: failed to remove '{path}': No such file or directory")));
    }
    done()
}

pub(crate) fn rm(state: &mut State, call: &Call<'_>) -> Did {
    let path = call.last();
    let inside = |of: &String| of == path || of.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
    if let Some((at, name)) = state.mount_of(path) {
        state.mounts[at].table.files.remove(&name);
    }
    state.files.retain(|of, _| !inside(of));
    state.directories.retain(|of| !inside(of));
    done()
}

pub(crate) fn mktemp(state: &mut State, call: &Call<'_>) -> Did {
    let path = format!("{}/bedplate-fio.{}", call.value("--tmpdir").unwrap_or("/tmp"), &state.draw_uuid()[..8]);
    make_directory(state, &path);
    say(path + "\n")
}
