//! `mdadm --detail`: a paragraph of `name : value`, then a table of members.

use std::collections::BTreeSet;

use super::mdstat::{ANY, Member, put_members};
use super::{Machine, Text};

/// `/dev/md0:` alone on its line; `--examine` begins so with a member.
pub(super) fn begins(line: &str) -> bool {
    array(line).is_some()
}

fn array(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix("/dev/")?.strip_suffix(':')?;
    let plain = name.strip_prefix("md").or_else(|| name.strip_prefix("md/"))?;
    (!plain.is_empty() && plain.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-/".contains(&byte)))
        .then_some(name)
}

/// `INACTIVE-ARRAY /dev/md127 metadata=1.2 name=nas:0 UUID=…` of `mdadm --detail --scan`.
pub(super) fn begins_scan(line: &str) -> bool {
    scanned(line).is_some()
}

fn scanned(line: &str) -> Option<(bool, &str)> {
    let (word, rest) = line.split_once(' ')?;
    let (path, rest) = rest.trim_start().split_once(' ')?;
    let is_one = path.starts_with("/dev/md") && rest.contains("UUID=");
    (is_one && ["ARRAY", "INACTIVE-ARRAY"].contains(&word)).then_some((word == "ARRAY", path))
}

/// Only that an array was not started: the others may lack members.
pub(super) fn read_scan(text: &Text, machine: &mut Machine) -> usize {
    let mut told = 0;
    for (is_active, path) in text.lines.iter().filter_map(|line| scanned(line)) {
        let name = path.trim_start_matches("/dev/");
        told += 1;
        if !is_active && !name.contains('/') && machine.is_first(name, "md/array_state") {
            machine.block_file(name, "md/array_state", "inactive");
            put_members(name, Vec::new(), false, machine);
        }
    }
    told
}

/// The first line of the paragraph where that with the name was left away; what else begins so has more before it.
pub(super) fn begins_nameless(line: &str) -> bool {
    line.split_once(" : ").is_some_and(|(key, _)| ["Version", "Raid Level"].contains(&key.trim()))
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let name = text.lines.first().and_then(|line| array(line));
    // `/dev/md/data` is a link, and which array it leads to other texts may tell.
    let Some(name) = name.filter(|name| !name.contains('/')) else {
        machine.linked.push(text.lines.iter().map(|line| (*line).to_owned()).collect());
        return 1;
    };
    let name = &machine.array_of(text.host, name);
    match one(name, &text.lines, machine) {
        Some(()) => 1,
        None => {
            machine.refused.push(format!("array `{name}`: it cannot be understood, or is cut before all its members"));
            0
        }
    }
}

/// Arrays that their texts call by a link, or not at all: each is the one that has its members, and where none has them one of its own.
pub(super) fn put_linked(machine: &mut Machine) {
    for lines in std::mem::take(&mut machine.linked) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let members = lines.iter().filter_map(|line| row(line)?.member()).filter(|member| !member.failed);
        let members: BTreeSet<String> = members.map(|member| member.device).collect();
        let mut same = machine
            .blocks
            .iter()
            .filter(|(name, block)| name.starts_with("md") && !members.is_empty() && block.on == members);
        let (known, another) = (same.next().map(|(name, _)| name.clone()), same.next().is_some());
        let Some(name) = known.filter(|_| !another).or_else(|| machine.free_array()) else { continue };
        if one(&name, &lines, machine).is_none() {
            machine.refused.push(
                "an array without a name of the kernel: it cannot be understood, or is cut before all its members"
                    .to_owned(),
            );
        }
    }
}

fn one(name: &str, lines: &[&str], machine: &mut Machine) -> Option<()> {
    let value = |key: &str| {
        let mut pairs = lines.iter().filter_map(|line| line.split_once(" : "));
        pairs.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
    };
    let level = value("Raid Level")?;
    if value("State") == Some("inactive") {
        inactive(name, lines, machine)?;
        // What it would be afterwards is told only in the middle of a change of its shape (`Detail` in mdadm's `Detail.c`).
        let is_reshaped =
            ["New Level", "New Layout", "New Chunksize", "Delta Devices"].iter().any(|key| value(key).is_some());
        if is_reshaped {
            machine.block_file(name, "md/sync_action", "reshape");
        }
        return Some(());
    }
    // What firmware made of drives is never started itself; its arrays are (mdadm(8), "CONTAINER").
    if level == "container" {
        inactive(name, lines, machine)?;
        let version = value("Version").filter(|version| ["imsm", "ddf"].contains(version))?;
        machine.block_file(name, "md/metadata_version", format!("external:{version}"));
        return Some(());
    }
    let devices: usize = value("Raid Devices")?.parse().ok()?;
    let state: Vec<&str> = value("State")?.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    // `Not Started` comes last, of one that has its members and waits to be told (`Detail` in mdadm's `Detail.c`).
    let running = state.first().is_some_and(|word| ["clean", "active", "write-pending", "active-idle"].contains(word))
        && !state.contains(&"Not Started");
    let table = lines
        .iter()
        .position(|line| line.split_whitespace().eq(["Number", "Major", "Minor", "RaidDevice", "State"]))?;
    // An empty line stands before those without a place.
    let rows = lines[table + 1..].iter().filter(|line| !line.trim().is_empty());
    let rows: Vec<Row> = rows.map_while(|line| row(line)).collect();
    let places = rows.iter().filter(|row| row.place.is_some()).count();
    let redundant = !["raid0", "linear", "container"].contains(&level);
    // Each place has a line, also one that nobody fills: fewer were cut. What stands above them says how many are missing, and not which.
    if places < devices {
        let up = value("Active Devices")?.parse::<usize>().ok()?;
        let missing = devices.checked_sub(up).filter(|missing| *missing > 0 && redundant && running)?;
        (state.contains(&"degraded") && machine.is_first(name, "md/level")).then_some(())?;
        machine
            .refused
            .push(format!("array `{name}`: it is cut before all its members, so that which are missing is not known"));
        machine.block_file(name, "md/level", level);
        machine.block_file(name, "md/array_state", "active");
        machine.block_file(name, "md/raid_disks", devices.to_string());
        machine.block_file(name, "md/degraded", missing.to_string());
        put_work(name, &state, &value, machine);
        put_members(name, Vec::new(), redundant, machine);
        return Some(());
    }
    if redundant && running {
        let up = rows.iter().filter(|row| row.place.is_some() && row.state.starts_with("active")).count();
        machine.block_file(name, "md/raid_disks", devices.to_string());
        machine.block_file(name, "md/degraded", devices.checked_sub(up)?.to_string());
        put_work(name, &state, &value, machine);
    }
    // `/proc/mdstat` tells more of it.
    if machine.is_first(name, "md/array_state") {
        let down = if state.contains(&"broken") { "broken" } else { "inactive" };
        machine.block_file(name, "md/array_state", if running { "active" } else { down });
    }
    machine.block_file(name, "md/level", level);
    // `101376 (99.00 MiB 103.81 MB)`: the first number counts 1024 bytes each.
    let size = value("Array Size").and_then(|size| size.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(2));
    size.filter(|_| running).into_iter().for_each(|size| machine.block_file(name, "size", size.to_string()));
    // A journal comes behind all places: where no row tells of one, the rows may be cut.
    let may_lack_journal = !rows.iter().any(|row| row.state.contains("journal") || row.state.contains("faulty"));
    put_settings(name, level, may_lack_journal, &value, machine);
    let members = rows.into_iter().filter_map(Row::member).collect();
    put_members(name, members, redundant, machine);
    Some(())
}

/// An array that was not started: it says `raid0` whatever it is, and of its members only which they are.
fn inactive(name: &str, lines: &[&str], machine: &mut Machine) -> Option<()> {
    let table = lines.iter().position(|line| line.split_whitespace().take(3).eq(["Number", "Major", "Minor"]))?;
    let device = |line: &&str| {
        if !is_row(line) {
            return None;
        }
        let device = line.split_whitespace().last()?.strip_prefix("/dev/")?;
        (!device.is_empty() && !device.contains('/')).then(|| device.to_owned())
    };
    let rows = lines[table + 1..].iter().filter(|line| !line.trim().is_empty());
    let members =
        rows.map_while(device).map(|device| Member { device, state: None, slot: None, failed: false }).collect();
    if machine.is_first(name, "md/array_state") {
        machine.block_file(name, "md/array_state", "inactive");
    }
    put_members(name, members, false, machine);
    Some(())
}

/// What goes on, which the state names (`Detail` in mdadm's `Detail.c`). Of what waits `mdadm` only knows what the kernel's list says.
fn put_work<'t>(name: &str, state: &[&str], value: &impl Fn(&str) -> Option<&'t str>, machine: &mut Machine) {
    let words = [("resyncing", "resync"), ("recovering", "recover"), ("reshaping", "reshape"), ("checking", "check")];
    let under_way = words.iter().find(|(word, _)| state.iter().any(|said| said.starts_with(word)));
    let waits = ["Resync Status", "Rebuild Status", "Reshape Status", "Check Status"];
    let waits = waits.iter().filter_map(|key| value(key)).find(|status| ["DELAYED", "PENDING"].contains(status));
    let (_, action) = match (under_way, waits) {
        (Some(found), _) => *found,
        (None, Some(_)) => ("", "resync"),
        (None, None) => ("", "idle"),
    };
    let is_delayed = waits == Some("DELAYED") || state.iter().any(|said| said.contains("DELAYED"));
    if !is_delayed || action != ANY {
        machine.block_file(name, "md/sync_action", action);
    }
    if action == "idle" {
        machine.block_file(name, "md/sync_completed", "none");
    } else if is_delayed {
        machine.block_file(name, "md/sync_completed", "delayed");
    }
}

fn put_settings<'t>(
    name: &str,
    level: &str,
    may_lack_journal: bool,
    value: &impl Fn(&str) -> Option<&'t str>,
    machine: &mut Machine,
) {
    let chunk = value("Chunk Size").and_then(|size| size.strip_suffix('K')?.parse::<u64>().ok()?.checked_mul(1024));
    chunk.into_iter().for_each(|chunk| machine.block_file(name, "md/chunk_size", chunk.to_string()));
    let policy = value("Consistency Policy").filter(|policy| ["resync", "bitmap", "ppl", "journal"].contains(policy));
    let told = policy.filter(|policy| *policy != "journal" || !may_lack_journal);
    told.into_iter().for_each(|policy| machine.block_file(name, "md/consistency_policy", policy));
    // It is told of arrays that have none by its absence, which the policy says in words since mdadm 4.0.
    if policy == Some("resync") && level != "raid0" {
        machine.block_file(name, "md/bitmap/location", "none");
    }
    // `/dev/md/imsm0, member 0`, or the kernel's name of it.
    let container = value("Container").and_then(|text| text.strip_prefix("/dev/")?.split_once(", member "));
    if let Some((container, member)) = container {
        machine.block_file(name, "md/metadata_version", format!("external:/{container}/{member}"));
        return;
    }
    let version = value("Version").filter(|version| version.contains('.'));
    version.into_iter().for_each(|version| machine.block_file(name, "md/metadata_version", version));
}

/// `       1       8       17        1      active sync   /dev/sdb1`.
struct Row<'t> {
    place: Option<usize>,
    state: String,
    device: Option<&'t str>,
}

/// Four numbers, or what stands for one, begin a row, and more follows.
fn is_row(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let number = |word: &str| word == "-" || word.bytes().all(|byte| byte.is_ascii_digit());
    words.by_ref().take(4).filter(|word| number(word)).count() == 4 && words.next().is_some()
}

fn row(line: &str) -> Option<Row<'_>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if !is_row(line) {
        return None;
    }
    let last = words.last()?;
    let device = last.strip_prefix("/dev/").filter(|name| !name.is_empty());
    let state = words[4..words.len() - usize::from(device.is_some())].join(" ");
    let known = [
        "active",
        "spare",
        "faulty",
        "removed",
        "journal",
        "sync",
        "rebuilding",
        "writemostly",
        "failfast",
        "-",
        "blocked",
    ];
    let known = state.split_whitespace().all(|word| known.contains(&word) || word.starts_with("set-"));
    (known && !state.is_empty()).then(|| Row { place: words[3].parse().ok(), state, device })
}

impl Row<'_> {
    fn member(self) -> Option<Member> {
        let device = self.device.filter(|name| !name.contains('/'))?.to_owned();
        let has = |word: &str| self.state.split_whitespace().any(|own| own == word);
        let (state, failed) = match () {
            () if has("faulty") => ("faulty", true),
            () if has("active") => ("in_sync", false),
            () if has("journal") => ("journal", false),
            () => ("spare", false),
        };
        // `spare rebuilding` fills the place that its line names; a mere spare has none.
        let place = self.place.filter(|_| !failed && state != "journal");
        let slot = place.map_or("none".to_owned(), |place| place.to_string());
        let mut state = state.to_owned();
        for (word, flag) in [("writemostly", ",write_mostly"), ("failfast", ",failfast")] {
            state.push_str(if has(word) { flag } else { "" });
        }
        Some(Member { device, state: Some(state), slot: Some(slot), failed })
    }
}
