//! Programs that only look, and those of which nothing is wanted.

use super::crypt::number_of;
use super::{Call, Did, Reply, broken, device, done, fail, free_device, say};
use crate::device::{Device, Kind, Mapping, Target};
use crate::signature::Found;
use crate::state::State;
use crate::tree::target;

pub(crate) fn nothing(_state: &mut State, _call: &Call<'_>) -> Did {
    done()
}

pub(crate) fn cat(state: &mut State, call: &Call<'_>) -> Did {
    match state.file(call.last()) {
        Some(Ok(bytes)) => say(bytes),
        _ => Err(fail(1, format!("cat: {}: No such file or directory", call.last()))),
    }
}

pub(crate) fn readlink(state: &mut State, call: &Call<'_>) -> Did {
    match call.last() {
        "/proc/self/ns/pid" => say("pid:[4026531836]\n"),
        path if let Some(to) = state.links.get(path) => {
            let end = if call.has("-n") { "" } else { "\n" };
            say(format!("{}{end}", target(to)))
        }
        path => Err(fail(1, format!("{path}: Invalid argument"))),
    }
}

pub(crate) fn kill(state: &mut State, call: &Call<'_>) -> Did {
    let id = call.last().trim_start_matches('-').parse::<u32>().unwrap_or(0);
    // A stubborn program does not heed a polite signal.
    let heeds = |name: &str| call.value("-s") == Some("KILL") || !name.contains("stubborn");
    state.processes.retain(|process| process.id != id || !heeds(&process.name));
    done()
}

pub(crate) fn stat(state: &mut State, call: &Call<'_>) -> Did {
    if call.last() == "/proc/self" {
        return say("0\n");
    }
    if call.argv.iter().any(|word| word.contains("--printf=%d")) {
        let there = call.argv.iter().filter(|path| state.files.contains_key(*path));
        let text: String = there.map(|path| format!("{ROOT} {} {path}\0", inode(path.as_bytes()))).collect();
        return say(text);
    }
    if call.argv.iter().any(|word| ["--format=%i:%T", "--format=%F:%i"].contains(&word.as_str())) {
        // The root of what is mounted has one number, whatever it is mounted on.
        let path = call.last();
        let source = state.mounts.iter().chain(state.pools.values()).rev().find(|mount| mount.point == path);
        return match source.map(|mount| inode(mount.source.as_bytes())) {
            Some(source) => say(format!("{source}:ext2/ext3\n")),
            None if state.directories.contains(path) => say(format!("directory:{}\n", inode(path.as_bytes()))),
            None => Err(fail(1, format!("stat: cannot statx {path}: No such file or directory"))),
        };
    }
    let name = device(state, call.last()).map_err(|reply| fail(1, format!("stat: cannot statx {}", reply.stderr)))?;
    let (major, minor) = state.devices[&name].number;
    say(format!("{major}:{minor}\n"))
}

/// losetup(8), asked for the file behind each loop device.
pub(crate) fn losetup(state: &mut State, _call: &Call<'_>) -> Did {
    let line = |(name, device): (&String, &Device)| {
        let Kind::Loop { of } = &device.kind else { return None };
        let path = device.settings.get("loop/backing_file").cloned().unwrap_or_else(|| format!("/dev/{of}"));
        Some(format!("/dev/{name} 8:1 {}\n", inode(path.as_bytes())))
    };
    say(state.devices.iter().filter_map(line).collect::<String>())
}

/// The device 8:1 of the file system of the root, as `stat` tells it.
pub(crate) const ROOT: u64 = 0x801;

/// The number of a file on the file system of the root.
pub(crate) fn inode(path: &[u8]) -> u32 {
    number_of(path) as u32
}

/// blkid(8): 2 is nothing, 8 are several that contradict one another.
pub(crate) fn blkid(state: &mut State, call: &Call<'_>) -> Did {
    let name = device(state, call.last()).map_err(|reply| Reply { status: 2, ..reply })?;
    if state.size(&name) > 0 && state.read(&name, 0, 512).is_err() {
        return Err(fail(2, format!("error: {}: Input/output error", call.last())));
    }
    let found = state.signatures(&name);
    let content: Vec<&Found> = found.iter().filter(|found| !found.is_table()).collect();
    let entry = match &state.devices[&name].kind {
        Kind::Partition(part) => Some(format!(
            "PART_ENTRY_NAME=bedplate\nPART_ENTRY_UUID={}\nPART_ENTRY_TYPE={}\n",
            part.uuid,
            state.part_type(&name)
        )),
        _ => None,
    };
    if content.len() > 1 {
        return Err(fail(8, ""));
    }
    if found.is_empty() && (entry.is_none() || call.has("value")) {
        return Err(fail(2, ""));
    }
    let tags = found.iter().flat_map(|found| {
        let (kind, id) = if found.is_table() { ("PTTYPE", "PTUUID") } else { ("TYPE", "UUID") };
        [Some((kind, found.kind.clone())), found.uuid.clone().map(|uuid| (id, uuid))].into_iter().flatten()
    });
    let mut text = String::new();
    for (tag, value) in tags {
        match call.has("value") {
            true if tag == "TYPE" || tag == "PTTYPE" => text.push_str(&format!("{value}\n")),
            true => {}
            false => text.push_str(&format!("{tag}={value}\n")),
        }
    }
    if call.has("export") {
        text = format!("DEVNAME={}\n{text}{}", call.last(), entry.unwrap_or_default());
    }
    say(text)
}

impl State {
    /// What a partition is for: Linux data, unless somebody said otherwise.
    fn part_type(&self, name: &str) -> String {
        let kind = self.devices.get(name).and_then(|device| device.settings.get("type").cloned());
        kind.unwrap_or_else(|| "0fc63daf-8483-4772-8e79-3d69d8477de4".to_owned())
    }
}

/// wipefs(8), which refuses what somebody has claimed.
pub(crate) fn wipefs(state: &mut State, call: &Call<'_>) -> Did {
    if call.has("--no-act") {
        let name = device(state, call.last())?;
        let marks: Vec<serde_json::Value> = state
            .signatures(&name)
            .iter()
            .flat_map(|found| found.places.iter().map(|place| listed(&name, found, *place)).collect::<Vec<_>>())
            .collect();
        return say(serde_json::json!({ "signatures": marks }).to_string());
    }
    let name = free_device(state, call.last()).map_err(|_| {
        fail(1, format!("wipefs: error: {}: probing initialization failed: Device or resource busy", call.last()))
    })?;
    if state.wipe(&name).map_err(|error| broken(&error))? {
        state.scan_table(&name);
    }
    done()
}

fn listed(name: &str, found: &Found, place: u64) -> serde_json::Value {
    let kind = if found.is_table() && place == 510 { "PMBR" } else { &found.kind };
    serde_json::json!({ "device": name, "offset": format!("{place:#x}"), "type": kind, "uuid": found.uuid, "label": null })
}

pub(crate) fn dmsetup(state: &mut State, call: &Call<'_>) -> Did {
    match call.word(1) {
        "deps" => deps(state, call),
        "table" => table(state, call),
        "remove" => super::crypt::close(state, call.last()),
        "suspend" | "resume" => {
            let name = device(state, &format!("/dev/mapper/{}", call.last()))?;
            if let Some(Kind::Mapping(mapping)) = state.devices.get_mut(&name).map(|device| &mut device.kind) {
                mapping.suspended = call.word(1) == "suspend";
            }
            done()
        }
        other => Err(fail(1, format!("Unknown command {other}."))),
    }
}

fn mappings(state: &State) -> impl Iterator<Item = (&String, &Mapping)> {
    state.devices.iter().filter_map(|(name, device)| match &device.kind {
        Kind::Mapping(mapping) => Some((name, mapping)),
        _ => None,
    })
}

fn deps(state: &State, call: &Call<'_>) -> Did {
    let of = |name: &String| {
        let mut below: Vec<String> = state.devices[name].below();
        below.dedup();
        let number = |of: &String| state.number(of).map(|(major, minor)| format!(" ({major}, {minor})"));
        let numbers: Vec<String> = below.iter().filter_map(number).collect();
        format!("{} dependencies\t:{}", numbers.len(), numbers.concat())
    };
    if let (Some(major), Some(minor)) = (call.number("--major"), call.number("--minor")) {
        let wanted = (major as u32, minor as u32);
        let found = mappings(state).find(|(name, _)| state.devices[*name].number == wanted);
        return found.map_or_else(|| Err(fail(1, "Device does not exist.")), |(name, _)| say(of(name) + "\n"));
    }
    let lines: String = mappings(state).map(|(name, mapping)| format!("{}: {}\n", mapping.name, of(name))).collect();
    say(if lines.is_empty() { "No devices found\n".to_owned() } else { lines })
}

fn table(state: &State, call: &Call<'_>) -> Did {
    let number = |name: &String| state.number(name).map_or(String::new(), |(major, minor)| format!("{major}:{minor}"));
    let line = |name: &String, mapping: &Mapping| {
        let sectors = state.size(name) / 512;
        match &mapping.target {
            Target::Linear(pieces) => {
                let mut start = 0;
                let line = |piece: &crate::device::Piece| {
                    let text =
                        format!("{start} {} linear {} {}\n", piece.length / 512, number(&piece.of), piece.start / 512);
                    start += piece.length / 512;
                    text
                };
                pieces.iter().map(line).collect()
            }
            Target::Crypt { of, start, .. } => {
                format!("0 {sectors} crypt aes-xts-plain64 :64:logon:x 0 {} {}\n", number(of), start / 512)
            }
            Target::Integrity(tags) => format!(
                "0 {sectors} integrity {} {} {} J 6 interleave_sectors:{} buffer_sectors:128 journal_sectors:{} block_size:{} fix_padding internal_hash:crc32c\n",
                number(&tags.of),
                tags.start / 512,
                tags.tag,
                crate::bytes::INTERLEAVE,
                crate::bytes::JOURNAL,
                tags.block
            ),
            Target::Spread(_) => format!("0 {sectors} raid raid1 3 0 region_size 4096 2\n"),
            Target::Frozen { .. } => format!("0 {sectors} snapshot\n"),
            Target::Writecache { of, cache } => {
                format!("0 {sectors} writecache s {} {} 4096 0\n", number(of), number(cache))
            }
        }
    };
    if call.value("--target") == Some("integrity") {
        let tagged = mappings(state).filter(|(_, mapping)| matches!(mapping.target, Target::Integrity(_)));
        return say(tagged
            .map(|(name, mapping)| format!("{}: {}", mapping.name, line(name, mapping)))
            .collect::<String>());
    }
    let name = device(state, call.last())?;
    match &state.devices[&name].kind {
        Kind::Mapping(mapping) => say(line(&name, mapping)),
        _ => Err(fail(1, "Device does not exist.")),
    }
}
