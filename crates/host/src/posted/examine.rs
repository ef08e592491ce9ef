//! `mdadm --examine`: what a member's own superblock says.

use std::collections::BTreeSet;

use serde_json::json;

use super::kept::Superblock;
use super::mdstat::{Member, put_members};
use super::{Machine, Text, sayings};

/// `/dev/sda1:` alone on its line, of what is no array.
pub(super) fn begins(line: &str) -> bool {
    device(line).is_some()
}

fn device(line: &str) -> Option<&str> {
    let name = line.trim_end().strip_prefix("/dev/")?.strip_suffix(':')?;
    let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (plain && !name.starts_with("md")).then_some(name)
}

/// Magic number of superblocks of md (`MD_SB_MAGIC` in the kernel's `include/uapi/linux/raid/md_p.h`).
const MAGIC: &str = "a92b4efc";

/// The array's name in the kernel is not among what it tells, and what it tells of other members is what they were when it
/// was written last. So it says what is on its own device, and what `put_all` concludes from several.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let Some(name) = text.lines.first().and_then(|line| device(line)) else { return 0 };
    let value = |key: &str| {
        let mut pairs = text.lines.iter().filter_map(|line| line.split_once(" : "));
        pairs.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
    };
    let uuid = value("Array UUID").or_else(|| value("UUID")).and_then(|uuid| uuid.split_whitespace().next());
    // Who filters the lines of several members leaves these two away, and keeps what only version 1 prints.
    let is_filtered = value("Magic").is_none() && value("Version").is_none() && value("Device Role").is_some();
    let is_one = is_filtered || (value("Magic") == Some(MAGIC) && value("Version").is_some());
    // Who filters may leave it away as well: then it is of an array without a name.
    let uuid = uuid.map_or_else(|| is_filtered.then(String::new), hyphened);
    let Some(uuid) = uuid.filter(|_| is_one) else {
        machine.refused.push(format!("`{name}`: it is no superblock of md, or is cut"));
        return 0;
    };
    // Sectors for version 1; the older one is at the end, and does not say where.
    let offset = value("Super Offset").and_then(|text| text.strip_suffix(" sectors")?.parse::<u64>().ok());
    let offset = offset.filter(|_| value("Version").is_some_and(|version| version.starts_with('1')));
    if offset.is_none() && !is_filtered {
        machine.refused.push(format!("`{name}`: it does not tell where its superblock is"));
        return 0;
    }
    machine.block(name);
    if value("Bad Block Log").is_some_and(|log| log.ends_with("bad blocks present.")) {
        sayings::say("mdadm --examine", &format!("/dev/{name} has bad blocks on its list"), machine);
    }
    let state = value("Array State").and_then(|state| state.split(' ').next());
    let state = state.filter(|state| state.bytes().all(|byte| b"A.R".contains(&byte)));
    let place = value("Device Role").and_then(|role| role.strip_prefix("Active device ")?.parse().ok());
    let events = value("Events").and_then(|events| events.parse().ok());
    if let (Some(state), Some(place), Some(events)) = (state, place, events) {
        let (device, state) = (name.to_owned(), state.to_owned());
        let level = value("Raid Level").map(ToOwned::to_owned);
        machine.superblocks.entry(uuid.clone()).or_default().push(Superblock { device, level, events, place, state });
    }
    if let Some(offset) = offset {
        let said = json!({"signatures": [{
            "device": name, "offset": format!("{:#x}", offset.saturating_mul(512)), "type": "linux_raid_member", "uuid": uuid,
        }]});
        machine.run(format!("wipefs --no-act --json /dev/{name}"), said.to_string());
    }
    1
}

/// Arrays of which no other text tells, where all members that the newest superblock has in sync were posted and say the same: then the
/// others are missing. A superblock alone may be old, and its array whole without it. Where an array has a name that another
/// text tells, it may be this one.
pub(super) fn put_all(machine: &mut Machine) {
    if machine.has_array() {
        machine.superblocks.clear();
    }
    for (uuid, superblocks) in std::mem::take(&mut machine.superblocks) {
        say_left_behind(&superblocks, machine);
        let newest = superblocks.iter().map(|own| own.events).max();
        let here: Vec<&Superblock> = superblocks.iter().filter(|own| Some(own.events) == newest).collect();
        let Some(first) = here.first() else { continue };
        let wanted = (0_u32..).zip(first.state.chars()).filter(|(_, mark)| *mark != '.').map(|(place, _)| place);
        let places: BTreeSet<u32> = here.iter().map(|own| own.place).collect();
        let agree = here.iter().all(|own| (&own.state, &own.level) == (&first.state, &first.level));
        let missing = first.state.matches('.').count();
        if missing == 0 || !agree || !wanted.eq(places) || superblocks.iter().any(|own| machine.is_member(&own.device))
        {
            continue;
        }
        let Some(level) = first.level.clone().filter(|_| !uuid.is_empty()) else { continue };
        let Some(name) = machine.free_array() else { continue };
        for (file, value) in
            [("level", level), ("raid_disks", first.state.len().to_string()), ("degraded", missing.to_string())]
        {
            machine.block_file(&name, &format!("md/{file}"), value);
        }
        let member = |own: &&Superblock| Member {
            device: own.device.clone(),
            state: Some("in_sync".to_owned()),
            slot: Some(own.place.to_string()),
            failed: false,
        };
        put_members(&name, here.iter().map(member).collect(), true, machine);
    }
}

/// Members that the newest superblock calls missing, and that were posted: the array went on without them, or cannot start without those
/// that are least behind. Those of several arrays without names have one place twice.
fn say_left_behind(superblocks: &[Superblock], machine: &mut Machine) {
    let places: BTreeSet<u32> = superblocks.iter().map(|own| own.place).collect();
    let Some(newest) = superblocks.iter().max_by_key(|own| own.events) else { return };
    if places.len() < superblocks.len() || superblocks.iter().any(|own| own.state.len() != newest.state.len()) {
        return;
    }
    let is_missing = |own: &&Superblock| {
        let at = usize::try_from(own.place).ok().and_then(|place| newest.state.as_bytes().get(place));
        own.events < newest.events && at == Some(&b'.')
    };
    let mut missing: Vec<&Superblock> = superblocks.iter().filter(is_missing).collect();
    missing.sort_by_key(|own| std::cmp::Reverse(own.events));
    let in_sync = newest.state.matches('A').count();
    let wanted = newest.level.as_deref().and_then(|level| fewest(level, newest.state.len()));
    let needed = wanted.map_or(0, |wanted| wanted.saturating_sub(in_sync));
    for (at, old) in missing.iter().enumerate() {
        let end = if at < needed { "the array cannot start without it" } else { "they go on without it" };
        let (events, behind) = (old.events, newest.events - old.events);
        let words = format!("/dev/{} has {events} events, {behind} behind the newest members: {end}", old.device);
        sayings::say("mdadm --examine", &words, machine);
    }
}

/// Members without which an array of so many does not start, where the level alone tells (md(4)).
fn fewest(level: &str, all: usize) -> Option<usize> {
    match level {
        "raid0" | "linear" => Some(all),
        "raid1" => Some(1),
        "raid4" | "raid5" => Some(all.saturating_sub(1)),
        "raid6" => Some(all.saturating_sub(2)),
        _ => None,
    }
}

/// `0f1e2d3c:4b5a6978:8796a5b4:c3d2e1f0` as the UUID that other programs print.
fn hyphened(uuid: &str) -> Option<String> {
    let digits: String = uuid.split(':').collect();
    let whole = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    whole.then(|| {
        let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
        format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
    })
}
