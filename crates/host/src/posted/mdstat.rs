//! `/proc/mdstat`: two lines and more for each array.

use std::collections::BTreeSet;

use super::{Machine, Text};

/// `Personalities : [raid1]`, or the first line of an array.
pub(super) fn begins(line: &str) -> bool {
    line.starts_with("Personalities :") || array(line).is_some()
}

/// `md0 : active raid1 sdb1[1] sda1[0]`: its name and what follows.
fn array(line: &str) -> Option<(&str, Vec<&str>)> {
    let (name, rest) = line.split_once(" : ")?;
    let number = name.strip_prefix("md")?;
    let plain = !number.is_empty() && number.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let words: Vec<&str> = rest.split_whitespace().collect();
    (plain && words.first().is_some_and(|state| STATES.contains(state))).then_some((name, words))
}

/// What an array without redundancy is called that has lost a member stands there since Linux 5.4 (`md_seq_show` in its
/// `drivers/md/md.c`).
const STATES: [&str; 3] = ["active", "inactive", "broken"];

/// Each array as its files below `md/` would tell it.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let lines = &text.lines;
    let starts: Vec<usize> = (0..lines.len()).filter(|at| array(lines[*at]).is_some()).collect();
    let mut told = 0;
    for (number, start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(lines.len());
        let Some((name, mut words)) = array(lines[*start]) else { continue };
        // Posts have lost the ends of lines: what belongs on the second one begins with the array's size.
        let size = words.iter().position(|word| *word == "blocks").and_then(|at| at.checked_sub(1));
        let second = size.map(|at| words.split_off(at).join(" "));
        let rest: Vec<&str> = second.as_deref().into_iter().chain(lines[start + 1..end].iter().copied()).collect();
        let name = &machine.array_of(text.host, name);
        match one(name, &words, &rest, machine) {
            Some(()) => told += 1,
            None => machine.refused.push(format!("array `{name}`: its lines cannot be understood, or are cut")),
        }
    }
    told
}

/// A member: `sdb1[1](F)`.
fn member(word: &str) -> Option<(&str, u32, &str)> {
    let (device, rest) = word.split_once('[')?;
    let (slot, flags) = rest.split_once(']')?;
    let plain = device.chars().all(|c| c.is_ascii_alphanumeric() || "-_!".contains(c)) && !device.is_empty();
    let known = ["", "(F)", "(E)", "(S)", "(W)", "(J)", "(R)", "(W)(F)", "(W)(S)", "(W)(R)", "(S)(R)", "(J)(F)"]
        .contains(&flags);
    (plain && known).then_some((device, slot.parse().ok()?, flags))
}

fn one(name: &str, words: &[&str], lines: &[&str], machine: &mut Machine) -> Option<()> {
    let active = words.first() == Some(&"active");
    let read_only = words.iter().find(|word| word.starts_with('(') && word.ends_with("only)"));
    let mut rest = words.iter().skip(1).filter(|word| Some(word) != read_only.as_ref());
    let broken = words.first() == Some(&"broken");
    // One that was not started has a level in few versions.
    let has_level = active || broken || rest.clone().next().is_some_and(|word| !word.contains('['));
    let level = if has_level { rest.next()? } else { &"" };
    let members: Vec<(&str, u32, &str)> = rest.map(|word| member(word)).collect::<Option<_>>()?;
    // Where the text is cut before the empty line that ends an array, what goes on in it is not known.
    let end = lines.iter().position(|line| line.trim().is_empty() || line.starts_with("unused devices"));
    let text = lines[..end.unwrap_or(lines.len())].join("\n");
    let mut files = vec![(
        "array_state",
        match (active, read_only) {
            (false, _) if broken => "broken",
            (false, _) => "inactive",
            (_, Some(&"(auto-read-only)")) => "read-auto",
            (_, Some(_)) => "readonly",
            _ => "active",
        }
        .to_owned(),
    )];
    if !level.is_empty() {
        files.push(("level", (*level).to_owned()));
    }
    let mut places: Option<Vec<char>> = None;
    if active && *level != "raid0" && *level != "linear" {
        // `[3/2] [UU_]`: without it nobody knows whether one is missing.
        let (counts, up) = health(&text)?;
        files.push(("raid_disks", counts.0.to_string()));
        files.push(("degraded", counts.0.checked_sub(counts.1)?.to_string()));
        places = Some(up);
        let (action, completed) = work(&text)?;
        if end.is_some() || action.as_deref() != Some("idle") {
            files.extend(action.map(|action| ("sync_action", action)));
            files.extend(completed.map(|completed| ("sync_completed", completed)));
            files.extend(speed(&text).map(|speed| ("sync_speed", speed)));
        }
        let bitmap = text.lines().any(|line| line.trim_start().starts_with("bitmap:"));
        if end.is_some() && !bitmap {
            files.push(("bitmap/location", "none".to_owned()));
        }
    }
    // One that is listed for what it is tells the policy, also where it failed.
    if members.iter().any(|(_, _, flags)| flags.contains("(J)")) {
        files.push(("consistency_policy", "journal".to_owned()));
    }
    if let Some((chunk, layout)) = chunk(&text) {
        files.push(("chunk_size", chunk.to_string()));
        files.extend(layout.map(|layout| ("layout", layout.to_string())));
    }
    files.extend(metadata(&text).map(|version| ("metadata_version", version)));
    // One that was not started has the sum of its members there.
    if let Some(size) = blocks(&text).filter(|_| active) {
        machine.block_file(name, "size", size.to_string());
    }
    for (file, value) in files {
        machine.block_file(name, &format!("md/{file}"), value);
    }
    let placed_flags = ["", "(W)"];
    let numbers = || members.iter().filter(|of| placed_flags.contains(&of.2)).map(|of| of.1);
    let places = places.map(|marks| Places::of(marks, numbers().collect()));
    let all = members.iter().map(|(device, number, flags)| {
        let (state, slot) = match *flags {
            flags if is_failed(flags) => (Some("faulty"), Some("none".to_owned())),
            "(S)" | "(W)(S)" => (Some("spare"), Some("none".to_owned())),
            "(J)" => (Some("journal"), Some("none".to_owned())),
            flags if flags.contains("(R)") => (Some("spare,replacement"), None),
            _ => match &places {
                Some(places) => places.member(*number),
                None => (Some("in_sync"), Some(number.to_string())),
            },
        };
        let state =
            state.map(|state| if flags.contains("(W)") { format!("{state},write_mostly") } else { state.to_owned() });
        Member { device: (*device).to_owned(), state, slot, failed: is_failed(flags) }
    });
    put_members(name, all.collect(), places.is_some(), machine);
    Some(())
}

/// Synology keeps a member that failed where the array cannot do without it, and marks it as one with errors.
fn is_failed(flags: &str) -> bool {
    flags.contains("(F)") || flags.contains("(E)")
}

/// `5860543744 blocks super 1.2 …`: its size in sectors of 512 bytes; a block has 1024 there.
fn blocks(text: &str) -> Option<u64> {
    let mut words = text.split_whitespace();
    let size = words.next()?.parse::<u64>().ok()?;
    words.next().filter(|word| *word == "blocks").and_then(|_| size.checked_mul(2))
}

/// `level 5, 512k chunk, algorithm 2`, `512K chunks 2 near-copies`: in bytes, and the layout of copies as the kernel counts it (md(4),
/// RAID10; `raid10_status` in the kernel's `drivers/md/raid10.c`).
fn chunk(text: &str) -> Option<(u64, Option<u64>)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().position(|word| ["chunk", "chunk,", "chunks"].contains(word))?;
    let size = words.get(at.checked_sub(1)?)?.trim_end_matches(['k', 'K']).parse::<u64>().ok()?;
    let copies = |way: &str| {
        let at = words.iter().position(|word| *word == way)?;
        words.get(at.checked_sub(1)?)?.parse::<u64>().ok().filter(|copies| *copies < 256)
    };
    let layout = match (copies("near-copies"), copies("far-copies"), copies("offset-copies")) {
        (near, Some(far), None) => Some(far << 8 | near.unwrap_or(1)),
        (near, None, Some(offset)) => Some(1 << 16 | offset << 8 | near.unwrap_or(1)),
        (Some(near), None, None) => Some(1 << 8 | near),
        _ => None,
    };
    Some((size.checked_mul(1024)?, layout))
}

/// `finish=299.8min speed=52431K/sec`, in KiB.
fn speed(text: &str) -> Option<String> {
    let (_, rest) = text.split_once(" speed=")?;
    let (number, _) = rest.split_once("K/sec")?;
    number.parse::<u64>().ok().map(|number| number.to_string())
}

/// A member of an array, as a text tells of it.
pub(super) struct Member {
    pub(super) device: String,
    pub(super) state: Option<String>,
    pub(super) slot: Option<String>,
    pub(super) failed: bool,
}

/// All members of an array, and the files that it has.
pub(super) fn put_members(name: &str, members: Vec<Member>, redundant: bool, machine: &mut Machine) {
    // They are there, and what they say is known only where a text says it.
    let there = FILES.iter().chain(if redundant { REDUNDANT } else { &[] });
    let mut entries: Vec<String> = there.map(|file| (*file).to_owned()).collect();
    for member in members {
        let (device, own) = (&member.device, format!("md/dev-{}", member.device));
        entries.push(format!("dev-{device}"));
        member.state.into_iter().for_each(|state| machine.block_file(name, &format!("{own}/state"), state));
        member.slot.into_iter().for_each(|slot| machine.block_file(name, &format!("{own}/slot"), slot));
        machine.block(device);
        machine.member(device);
        if !member.failed {
            machine.stands_on(name, device);
        }
    }
    let list = format!("{}/md", machine.directory(name));
    machine.directories.insert(list, entries);
}

/// Files of every array, and of those with redundancy (the kernel's `Documentation/admin-guide/md.rst`).
const FILES: &[&str] = &[
    "array_state",
    "bitmap",
    "chunk_size",
    "consistency_policy",
    "layout",
    "level",
    "max_read_errors",
    "metadata_version",
    "raid_disks",
    "uuid",
];
const REDUNDANT: &[&str] = &[
    "degraded",
    "group_thread_cnt",
    "mismatch_cnt",
    "stripe_cache_size",
    "sync_action",
    "sync_completed",
    "sync_speed",
    "sync_speed_max",
];

/// Places of an array, and what the numbers of its members say of them. `mdadm --create` numbers the last member of a parity array one
/// past the places, because it begins as a spare, and what is added later gets a number past them that is free (mdadm's `Create.c`
/// and `Manage_add`). So a number that is no filled place says nothing by itself. How many members are being filled follows from how
/// many there are; which are is known where no other has such a number.
struct Places {
    marks: Vec<char>,
    /// Numbers that are no filled place.
    late: Vec<u32>,
    filling: usize,
    /// Filled places that are no member's number, and empty ones.
    untold: Vec<u32>,
    empty: Vec<u32>,
}

impl Places {
    fn of(marks: Vec<char>, numbers: BTreeSet<u32>) -> Self {
        let at = |wanted: char| {
            let places = (0_u32..).zip(&marks).filter(move |(_, mark)| **mark == wanted).map(|(at, _)| at);
            places.collect::<BTreeSet<u32>>()
        };
        let (up, empty) = (at('U'), at('_'));
        let late = numbers.difference(&up).copied().collect();
        let filling = numbers.len().saturating_sub(up.len());
        let untold = up.difference(&numbers).copied().collect();
        Self { late, filling, untold, empty: empty.into_iter().collect(), marks }
    }

    /// State and place of a member.
    fn member(&self, number: u32) -> (Option<&'static str>, Option<String>) {
        let mark = usize::try_from(number).ok().and_then(|at| self.marks.get(at));
        let own = || Some(number.to_string());
        match (mark, self.filling) {
            (Some('U'), _) => (Some("in_sync"), own()),
            (_, 0) => (Some("in_sync"), (self.untold.len() == 1).then(|| self.untold[0].to_string())),
            (_, filling) if filling < self.late.len() => (None, None),
            (Some('_'), _) => (Some("spare"), own()),
            _ => {
                // It has one of the empty places, whichever.
                let at = self.late.binary_search(&number).ok();
                (Some("spare"), at.and_then(|at| self.empty.get(at)).map(ToString::to_string))
            }
        }
    }
}

/// `[3/2] [UU_]`.
fn health(text: &str) -> Option<((u32, u32), Vec<char>)> {
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let counts =
            word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).and_then(|rest| rest.split_once('/'));
        let Some((all, here)) = counts else { continue };
        let (all, here): (u32, u32) = (all.parse().ok()?, here.parse().ok()?);
        let marks = words.peek()?.strip_prefix('[')?.strip_suffix(']')?;
        // What has errors is here for Synology, and not for those whose data are on it.
        let bad = u32::try_from(marks.matches('E').count()).ok()?;
        let marks: Vec<char> = marks.replace('E', "_").chars().collect();
        let here = here.checked_sub(bad)?;
        let up = marks.iter().filter(|mark| **mark == 'U').count();
        let fits = u32::try_from(marks.len()) == Ok(all) && u32::try_from(up) == Ok(here) && here <= all;
        return (fits && marks.iter().all(|mark| "U_".contains(*mark))).then_some(((all, here), marks));
    }
    None
}

/// `super 1.2`, `super external:imsm`; the oldest kind is not told (`md_seq_show` in the kernel's `drivers/md/md.c`).
fn metadata(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.split_whitespace().nth(1) == Some("blocks"))?;
    let version =
        line.split_once(" super ").map_or("0.90", |(_, rest)| rest.split_whitespace().next().unwrap_or_default());
    let known = version.starts_with("external:") || version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (known && !version.is_empty()).then(|| version.to_owned())
}

/// What is going on, and how far it is: `resync = 12.6% (1024/8192)`, `resync=PENDING`; idle where nothing is said. The kernel says
/// `resync=DELAYED` of whatever waits, a check too (`status_resync` in its `drivers/md/md.c`), so that what waits is not told.
fn work(text: &str) -> Option<(Option<String>, Option<String>)> {
    let words = [
        ("resync", "resync"),
        ("recovery", "recover"),
        ("check", "check"),
        ("reshape", "reshape"),
        ("repair", "repair"),
    ];
    for line in text.lines() {
        let Some((word, action)) = words
            .iter()
            .find(|(word, _)| line.split_once(word).is_some_and(|(_, rest)| rest.trim_start().starts_with('=')))
        else {
            continue;
        };
        let rest = line.split_once(word)?.1.trim_start().strip_prefix('=')?.trim_start();
        if rest.starts_with("DELAYED") {
            return Some(((*action != ANY).then(|| (*action).to_owned()), Some("delayed".to_owned())));
        }
        if rest.starts_with("PENDING") {
            return Some((Some((*action).to_owned()), None));
        }
        // In KiB; the kernel's file counts in sectors of 512 bytes.
        let (done, all) = rest.split_once('(')?.1.split_once(')')?.0.split_once('/')?;
        let sectors = |kib: &str| kib.parse::<u64>().ok()?.checked_mul(2);
        let (done, all) = (sectors(done)?, sectors(all)?);
        return (done <= all).then(|| (Some((*action).to_owned()), Some(format!("{done} / {all}"))));
    }
    Some((Some("idle".to_owned()), Some("none".to_owned())))
}

/// What waits is called by this name whatever it is.
pub(super) const ANY: &str = "resync";
