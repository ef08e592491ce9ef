//! A device and everything that is made of it: partitions, arrays, mappings, loop devices, and what is made of those.

use host::{Host, HostError};
use terms::command::quote;

use crate::device::Device;
use crate::survey::Backing;

/// A device of the family.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// The device.
    pub(crate) device: Device,
    /// What it is made of, and how it is to be called; `None` for the drive itself and its partitions.
    pub(crate) made: Option<Made>,
}

/// How a device came to be on top of another.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    /// The node it rests on.
    pub(crate) below: String,
    /// `the array md0, raid1, active`.
    pub(crate) name: String,
    /// What the device mapper calls it; empty for others.
    pub(crate) mapping: String,
    /// What takes it away.
    pub(crate) undo: String,
}

/// The device first, then its partitions, then what is on top, each once.
pub(crate) fn family(host: &dyn Host, device: &Device, loops: &[Backing]) -> Result<Vec<Member>, HostError> {
    let mut members = vec![Member { device: device.clone(), made: None }];
    let mut next = 0;
    while let Some(below) = members.get(next).map(|member| member.device.clone()) {
        next += 1;
        let mut found = Vec::new();
        for partition in below.partitions(host)? {
            let made = members[next - 1].made.clone();
            found.push(Member { device: partition, made });
        }
        found.extend(on_top_of(host, &below, loops)?);
        for member in found {
            if !members.iter().any(|known| known.device.devno == member.device.devno) {
                members.push(member);
            }
        }
    }
    Ok(members)
}

/// Devices that are made of this very one, and not of a partition of it.
pub(crate) fn on_top_of(host: &dyn Host, below: &Device, loops: &[Backing]) -> Result<Vec<Member>, HostError> {
    let mut found = Vec::new();
    for name in below.holders(host)? {
        // Gone between two questions: then nothing is on top any more, and the exclusive open has the last word.
        let Some(holder) = Device::named(host, &name)? else { continue };
        let made = made(host, below, &holder)?;
        found.push(Member { device: holder, made: Some(made) });
    }
    for backing in loops.iter().filter(|backing| backing.devno == Some(below.devno)) {
        let Some(device) = Device::named(host, &backing.name)? else { continue };
        let name = format!("the loop device `{}`", backing.name);
        let undo = format!("losetup --detach {}", device.node());
        found.push(Member { device, made: Some(Made { below: below.node(), name, mapping: String::new(), undo }) });
    }
    Ok(found)
}

fn made(host: &dyn Host, below: &Device, holder: &Device) -> Result<Made, HostError> {
    let node = holder.node();
    let mapped = holder.attribute(host, "dm/name")?;
    let (name, undo) = if let Some(name) = &mapped {
        let uuid = holder.attribute(host, "dm/uuid")?.unwrap_or_default();
        mapping(name, &uuid)
    } else if let Some(level) = holder.attribute(host, "md/level")? {
        let state = holder.attribute(host, "md/array_state")?.unwrap_or_default();
        (format!("the array `{}`, {level}, {state}", holder.name), format!("mdadm --stop {node}"))
    } else if holder.name.starts_with("bcache") {
        (format!("the cache `{}`", holder.name), format!("echo 1 > /sys/block/{}/bcache/stop", holder.name))
    } else {
        (format!("`{}`", holder.name), format!("lsblk --inverse {node}"))
    };
    Ok(Made { below: below.node(), name, mapping: mapped.unwrap_or_default(), undo })
}

/// What a mapping is, by its identifier (cryptsetup, lvm2 and multipath begin theirs so).
fn mapping(name: &str, uuid: &str) -> (String, String) {
    let kind = uuid.split('-').next().unwrap_or_default();
    let quoted = quote(name);
    match kind {
        "CRYPT" => (format!("the opened encryption `{name}`"), format!("cryptsetup close {quoted}")),
        // What a volume is made of inside cannot be closed by itself.
        "LVM" => (format!("the logical volume `{name}`"), format!("vgchange --activate n {}", quote(&group_of(name)))),
        "mpath" => (format!("the multipath device `{name}`"), format!("multipath -f {quoted}")),
        _ => (format!("the mapping `{name}`"), format!("dmsetup remove {quoted}")),
    }
}

/// The group of a volume, by the name of its mapping: the dashes of a name are doubled there, and one alone ends it.
fn group_of(mapping: &str) -> String {
    let marked = mapping.replace("--", "\0");
    marked.split('-').next().unwrap_or_default().replace('\0', "-")
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_a_mapping_is_comes_from_its_identifier() {
        for (uuid, what, undo) in [
            ("CRYPT-LUKS2-1f-x", "the opened encryption `x`", "cryptsetup close x"),
            ("LVM-aB", "the logical volume `x`", "vgchange --activate n x"),
            ("mpath-3600", "the multipath device `x`", "multipath -f x"),
            ("", "the mapping `x`", "dmsetup remove x"),
        ] {
            assert_eq!(super::mapping("x", uuid), (what.to_owned(), undo.to_owned()));
        }
        for (name, group) in [("bp--a--b-data", "bp-a-b"), ("vg-my--data_rimage_0", "vg")] {
            assert_eq!(super::group_of(name), group, "{name}");
        }
    }
}
