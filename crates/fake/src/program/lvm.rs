//! LVM2's programs. What a group is stands on its physical volumes, and is read from there each time.

mod group;
mod volume;

use super::{Call, Did, blank_device, device, done, fail, free_device, say};
use crate::signature::lvm_uuid;
use crate::state::State;
use group::{Group, Physical, area};

pub(crate) use volume::{lvchange, lvconvert, lvcreate, lvremove, lvs, vgchange};

/// Whatever goes wrong (lvm(8), `ECMD_FAILED`).
const FAILED: i32 = 5;

fn bad(text: impl Into<String>) -> super::Reply {
    fail(FAILED, text)
}

fn failed(reply: super::Reply) -> super::Reply {
    fail(FAILED, reply.stderr)
}

/// Without `--yes` it asks before it writes over anything, and without a terminal nobody answers.
pub(crate) fn pvcreate(state: &mut State, call: &Call<'_>) -> Did {
    let name = blank_device(state, call.last()).map_err(failed)?;
    let uuid = state.draw_uuid().replace('-', "");
    state.sign(&name, "LVM2_member", &uuid).map_err(|error| bad(error.to_string()))?;
    state.erase(&name, area(), 8).map_err(|error| bad(error.to_string()))?;
    done()
}

pub(crate) fn pvremove(state: &mut State, call: &Call<'_>) -> Did {
    let node = call.last();
    let name = free_device(state, node).map_err(failed)?;
    let Some(uuid) = state.physical(&name) else { return Err(bad(format!("No PV found on device {node}."))) };
    if let Some(group) = state.groups().values().find(|group| group.physical.iter().any(|of| of.uuid == uuid)) {
        return Err(bad(format!("PV {node} is used by VG {} so please use vgreduce first.", group.name)));
    }
    // The label goes, and with it the way to the rest.
    state
        .erase(&name, 512, 512)
        .and_then(|()| state.erase(&name, area(), 8))
        .map_err(|error| bad(error.to_string()))?;
    done()
}

pub(crate) fn pvs(state: &mut State, call: &Call<'_>) -> Did {
    let name = device(state, call.last()).map_err(failed)?;
    let Some(uuid) = state.physical(&name) else { return Err(bad("Failed to find physical volume")) };
    let group = state.groups().into_values().find(|group| group.physical.iter().any(|of| of.uuid == uuid));
    say(format!("  {}\n", group.map_or(String::new(), |group| group.name)))
}

pub(crate) fn vgcreate(state: &mut State, call: &Call<'_>) -> Did {
    let nodes = call.nodes();
    let Some(name) = call.argv.iter().rev().find(|word| !word.starts_with("/dev/")).cloned() else {
        return Err(bad("No name"));
    };
    if state.groups().contains_key(&name) {
        return Err(bad(format!("A volume group called {name} already exists.")));
    }
    let extent = call.number("--physicalextentsize").unwrap_or(4 << 20);
    let mut group = Group { name, extent, physical: Vec::new(), volumes: Vec::new(), version: 0 };
    for node in nodes {
        let physical = take(state, node, extent)?;
        group.physical.push(physical);
    }
    state.put_group(&mut group)
}

fn take(state: &mut State, node: &str, extent: u64) -> Result<Physical, super::Reply> {
    let name = free_device(state, node).map_err(failed)?;
    let Some(uuid) = state.physical(&name) else { return Err(bad(format!("No PV found on device {node}."))) };
    if state.groups().values().any(|group| group.physical.iter().any(|of| of.uuid == uuid)) {
        return Err(bad(format!("Physical volume '{node}' is already in a volume group")));
    }
    Ok(Physical { uuid, extents: state.size(&name).saturating_sub(1 << 20) / extent })
}

pub(crate) fn vgextend(state: &mut State, call: &Call<'_>) -> Did {
    let mut group = state.group(call.word(1))?;
    let physical = take(state, call.last(), group.extent)?;
    group.physical.push(physical);
    state.put_group(&mut group)
}

/// `--removemissing --force`: devices that are not there leave the group, and legs on them are errors from then on.
pub(crate) fn vgreduce(state: &mut State, call: &Call<'_>) -> Did {
    let mut group = state.group(call.last())?;
    let here: Vec<String> = state.physicals().into_values().collect();
    group.physical.retain(|of| here.contains(&of.uuid));
    state.put_group(&mut group)
}

pub(crate) fn vgremove(state: &mut State, call: &Call<'_>) -> Did {
    let group = state.whole_group(call.last())?;
    if !group.volumes.is_empty() {
        return Err(bad(format!(
            "Volume group \"{}\" still contains {} logical volume(s)",
            group.name,
            group.volumes.len()
        )));
    }
    for (name, uuid) in state.physicals() {
        if group.physical.iter().any(|of| of.uuid == uuid) {
            state.erase(&name, area(), 8).map_err(|error| bad(error.to_string()))?;
        }
    }
    done()
}

pub(crate) fn vgs(state: &mut State, call: &Call<'_>) -> Did {
    let groups = state.groups();
    match (call.value("--options"), call.value("--select").and_then(|select| select.strip_prefix("vg_name="))) {
        (Some("vg_name"), Some(name)) => {
            say(if groups.contains_key(name) { format!("  {name}\n") } else { String::new() })
        }
        (Some("pv_name"), None) => {
            let group = state.group(call.last())?;
            let here = state.physicals();
            let node =
                |of: &Physical| here.iter().find(|(_, uuid)| **uuid == of.uuid).map(|(name, _)| state.node_of(name));
            let nodes = group.physical.iter().map(|of| node(of).unwrap_or_else(|| "[unknown]".to_owned()));
            say(nodes.map(|node| format!("  {node}\n")).collect::<String>())
        }
        _ => Err(bad("Unrecognised field")),
    }
}

impl State {
    /// The node that tools name a device by.
    pub(crate) fn node_of(&self, name: &str) -> String {
        let mapped = self.links.iter().find(|(path, of)| *of == name && path.starts_with("/dev/mapper/"));
        mapped.map_or_else(|| format!("/dev/{name}"), |(path, _)| path.clone())
    }

    /// The identifier of a physical volume; none where the device is none, or a member of an array.
    fn physical(&mut self, name: &str) -> Option<String> {
        let uuid = self.read(name, 512, 72).ok()?;
        if !uuid.starts_with(b"LABELONE") || self.signatures(name).iter().any(|found| found.kind == "linux_raid_member")
        {
            return None;
        }
        String::from_utf8(uuid[32..64].to_vec()).ok().map(|text| lvm_uuid(&text))
    }
}
