//! mkfs.btrfs(8) and btrfs(8).

use super::{Call, Did, blank_device, broken, device, done, fail, say};
use crate::mounts::Table;
use crate::state::State;

pub(crate) fn make(state: &mut State, call: &Call<'_>) -> Did {
    let mut devices = Vec::new();
    for node in call.nodes() {
        devices.push(blank_device(state, node)?);
    }
    let copies = match call.value("--data") {
        Some("single" | "raid0") => 1,
        _ => 2,
    };
    for device in &devices {
        state.sign(device, "btrfs", call.value("--uuid").unwrap_or_default()).map_err(|error| broken(&error))?;
    }
    state.put_table(&devices, &Table::new(copies, true)).map_err(|error| broken(&error))?;
    done()
}

pub(crate) fn btrfs(state: &mut State, call: &Call<'_>) -> Did {
    let place = if call.word(2) == "snapshot" { call.word(call.argv.len() - 2) } else { call.last() };
    let Some(at) = state.mounts.iter().position(|mount| mount.kind == "btrfs" && mount.point == place) else {
        return Err(fail(1, format!("ERROR: not a btrfs filesystem: {place}")));
    };
    match (call.word(1), call.word(2)) {
        ("filesystem", "show") => {
            let line = |(number, name): (usize, &String)| {
                format!("\tdevid    {} size {} used 0 path {}\n", number + 1, state.size(name), state.node_of(name))
            };
            let devices: String = state.mounts[at].devices.iter().enumerate().map(line).collect();
            say(format!(
                "Label: none  uuid: {}\n\tTotal devices {}\n{devices}",
                state.mounts[at].uuid,
                state.mounts[at].devices.len()
            ))
        }
        ("subvolume", "snapshot") => {
            let name = call.last().rsplit('/').next().unwrap_or_default().to_owned();
            let table = &mut state.mounts[at].table;
            let files: Vec<_> =
                table.files.iter().map(|(path, file)| (format!("{name}/{path}"), file.clone())).collect();
            table.files.extend(files);
            done()
        }
        ("scrub", "start") => {
            state.mounts[at].scrubbed = [0; 3];
            state.scrub(at);
            let [broken, repaired, left] = state.mounts[at].scrubbed;
            let text =
                format!("\tcsum_errors: {broken}\n\tcorrected_errors: {repaired}\n\tuncorrectable_errors: {left}\n");
            Ok(super::Reply { status: if left > 0 { 3 } else { 0 }, stdout: text.into(), ..Default::default() })
        }
        ("replace", "start") => {
            let number: usize = call.word(5).parse().unwrap_or(0);
            let new = device(state, call.word(6))?;
            if number == 0 || number > state.mounts[at].devices.len() {
                return Err(fail(1, format!("ERROR: '{number}' is not a valid devid")));
            }
            let uuid = state.mounts[at].uuid.clone();
            state.sign(&new, "btrfs", &uuid).map_err(|error| broken(&error))?;
            state.replace_device(at, number - 1, &new).map_err(|error| broken(&error))?;
            done()
        }
        (group, act) => Err(fail(1, format!("btrfs: unknown token '{group} {act}'"))),
    }
}
