//! What is written on a device, by three witnesses that do not depend on one another: `blkid`, `wipefs`, and its own
//! bytes at the places where formats keep their marks.

mod blkid;
mod raw;
mod wipefs;

pub use raw::places_of_marks;

use std::ops::Range;

use host::{Host, HostError};
use terms::Cmd;

use crate::device::Device;
use crate::doubt::{Doubt, with_cause};
use crate::examination::{Class, Evidence, Owner};
use crate::log::Log;
use crate::mark::{Mark, WrittenMark, merge};
use crate::survey::{EROFS, Expected, Mount, Survey};

/// Major number of file systems that are on no device (kernel, fs/super.c, `set_anon_super`).
const ANONYMOUS: u32 = 0;

/// Type of an EFI system partition in a GPT (UEFI specification, 5.3.3), and in an MBR.
const ESP: [&str; 2] = ["c12a7328-f81f-11d2-ba4b-00a0c93ec93b", "0xef"];

/// Reports everything that is written on a device, and whether something was.
pub(crate) fn report(host: &dyn Host, device: &Device, survey: &Survey, log: &mut Log) -> Result<bool, HostError> {
    let node = device.node();
    log.at(&node);
    // First: it has the kernel read the device anew, and not what it kept of it.
    let seen = told(log, "its own bytes", raw::scan(host, device, &node))?.unwrap_or_default();
    let probed = told(log, "`blkid`", blkid::probe(host, &node))?.unwrap_or_default();
    let mut marks = told(log, "`wipefs`", wipefs::list(host, &node))?.unwrap_or_default();
    marks = merged(marks, blkid::marks(&probed).into_iter().chain(seen));
    for mark in &mut marks {
        owner(host, device, survey, mark, log)?;
        let evidence = Evidence::Signature(mark.signature());
        log.show(Class::Holds, evidence, describe(mark), shown_by(&node, mark));
    }
    if probed.get("PART_ENTRY_TYPE").is_some_and(|kind| ESP.contains(&kind.as_str())) {
        log.add(
            Class::InUse,
            "an EFI system partition: a machine boots from it",
            format!("lsblk -o +PARTTYPENAME {node}"),
        );
    }
    if marks.iter().any(|mark| mark.kind == EROFS) {
        image(survey, device, log);
    }
    expected(survey, log, |line| line.is_of(device) || is_meant(&line.word, &probed, &marks));
    Ok(!marks.is_empty())
}

/// Reports that an image may be mounted past its loop device: no process has it open, and of such a mount the kernel tells only the
/// path of then, which may lead to another file by now.
fn image(survey: &Survey, device: &Device, log: &mut Log) {
    let from_file = |mount: &&Mount| mount.kind == EROFS && mount.devno.major == ANONYMOUS;
    for mount in survey.mounts.iter().filter(from_file).filter(|_| device.whole_name().starts_with("loop")) {
        log.unknown(format!(
            "it is an erofs, and the one mounted at `{}` is of a file that was `{}` then: which one that is cannot be told",
            mount.point, mount.source
        ));
    }
}

/// Reports lines of the system's tables that are of a device.
fn expected(survey: &Survey, log: &mut Log, is_it: impl Fn(&Expected) -> bool) {
    for line in survey.expected.iter().filter(|line| is_it(line)) {
        let Expected { written, file, .. } = line;
        log.add(
            Class::InUse,
            format!("`{file}` of this machine expects it as `{written}`"),
            Cmd::new(["grep", "--line-number", "--fixed-strings", written, file]).line(),
        );
    }
}

/// Kinds of partition tables, as `blkid` calls them (libblkid, src/partitions).
const TABLES: [&str; 8] = ["gpt", "dos", "PMBR", "mac", "sgi", "sun", "bsd", "atari"];

/// Reports what is written across a whole drive, of which somebody named a partition: a partition of a drive that is a
/// member of an array, or that is a file system itself, is a part of that. What lies inside a partition is the partition's own.
pub(crate) fn report_across(host: &dyn Host, whole: &Device, survey: &Survey, log: &mut Log) -> Result<(), HostError> {
    let node = whole.node();
    log.at(&node);
    expected(survey, log, |line| line.is_of(whole));
    let Some(marks) = told(log, "signatures", all_marks(host, whole, &node))? else { return Ok(()) };
    let Some(parts) = log.proven("where its partitions are", extents(host, whole))? else { return Ok(()) };
    let is_inside = |place: &u64| parts.iter().any(|extent| extent.contains(place));
    let is_across = |mark: &&Mark| mark.places.is_empty() || !mark.places.iter().all(is_inside);
    for mark in marks.iter().filter(|mark| !TABLES.contains(&mark.kind.as_str())).filter(is_across) {
        let what = format!("whose the partition is: across the whole drive is {}", describe(mark));
        log.add(Class::Unknown, what, shown_by(&node, mark));
    }
    Ok(())
}

/// From where to where the partitions of a drive lie on it, in bytes.
fn extents(host: &dyn Host, whole: &Device) -> Result<Vec<Range<u64>>, HostError> {
    let mut found = Vec::new();
    for part in whole.partitions(host)? {
        found.extend(part.start(host)?.map(|start| start.0..start.0.saturating_add(part.size.0)));
    }
    Ok(found)
}

/// The same without a log, for somebody who asks only what is written there.
pub(crate) fn read(host: &dyn Host, device: &Device, node: &str) -> Result<Vec<WrittenMark>, Doubt> {
    Ok(all_marks(host, device, node)?.iter().map(Mark::signature).collect())
}

/// What the three witnesses see.
fn all_marks(host: &dyn Host, device: &Device, node: &str) -> Result<Vec<Mark>, Doubt> {
    let seen = raw::scan(host, device, node)?;
    let probed = blkid::probe(host, node)?;
    Ok(merged(wipefs::list(host, node)?, blkid::marks(&probed).into_iter().chain(seen)))
}

/// Each kind once, with all that the witnesses know of it.
fn merged(mut marks: Vec<Mark>, more: impl IntoIterator<Item = Mark>) -> Vec<Mark> {
    for mark in more {
        merge(&mut marks, mark);
    }
    // The protective MBR is part of a GPT, and no news beside it.
    if marks.iter().any(|mark| mark.kind == "gpt") {
        marks.retain(|mark| mark.kind != "PMBR" && mark.kind != "dos");
    }
    // `blkid` gives up where it sees several; the others say which.
    if marks.len() > 1 {
        marks.retain(|mark| mark.kind != blkid::SEVERAL_KINDS);
    }
    marks
}

fn told<T>(log: &mut Log, what: &str, answer: Result<T, Doubt>) -> Result<Option<T>, HostError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Doubt::Host(error)) => log.proven(what, Err(error)),
        Err(Doubt::Words(words)) => {
            log.unknown(format!("{what}: {words}"));
            Ok(None)
        }
    }
}

/// Names that are told of what is in a group or a pool; how many more there are is told, too.
const NAMED: usize = 12;

/// Whose it is and what goes with it, where a tool knows more than the device's first bytes. For people only: nothing is decided by
/// it, so a tool that is not there leaves a gap and no doubt.
fn owner(host: &dyn Host, device: &Device, survey: &Survey, mark: &mut Mark, log: &mut Log) -> Result<(), HostError> {
    match mark.kind.as_str() {
        "LVM2_member" => {
            let ask = ["pvs", "--readonly", "--noheadings", "--options", "vg_name", &device.node()];
            let Some(group) = lines(host, "its volume group", &ask, log)? else { return Ok(()) };
            let Some(group) = group.first() else {
                mark.details.push("of no volume group".to_owned());
                return Ok(());
            };
            mark.details.push(format!("of the volume group `{group}`"));
            let ask = ["lvs", "--readonly", "--noheadings", "--options", "lv_name", group];
            mark.details.extend(with(lines(host, "volumes of its group", &ask, log)?.unwrap_or_default()));
        }
        "zfs_member" => {
            let pool = survey.listed.iter().find_map(|listed| match &listed.owner {
                Owner::Pool(pool) if listed.devno == device.devno => Some(pool),
                _ => None,
            });
            let Some(pool) = pool else {
                mark.details.push("of a pool that is not imported, so nobody tells what is in it".to_owned());
                return Ok(());
            };
            let ask = ["zfs", "list", "-H", "-r", "-t", "filesystem,volume,snapshot", "-o", "name", pool];
            let sets = lines(host, "what is in its pool", &ask, log)?.unwrap_or_default();
            mark.details.extend(with(sets.into_iter().filter(|set| set != pool).collect()));
        }
        _ => {}
    }
    Ok(())
}

/// What goes with a group or a pool.
fn with(names: Vec<String>) -> Option<String> {
    let told: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!told.is_empty()).then(|| format!("with {}{more}", told.join(", ")))
}

/// What a tool prints, line by line; `None` where it is not there or has no answer.
fn lines(host: &dyn Host, what: &str, ask: &[&str], log: &mut Log) -> Result<Option<Vec<String>>, HostError> {
    match host.run(&Cmd::new(ask.iter().copied())) {
        Ok(outcome) if outcome.ok() => {
            let text = outcome.text();
            Ok(Some(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()))
        }
        Ok(_) => Ok(None),
        Err(error) if crate::device::is_lost(&error) => Err(error),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => {
            log.unknown(format!("{what}: {}", with_cause(&error)));
            Ok(None)
        }
    }
}

/// A command that shows a mark: not every tool knows each.
fn shown_by(node: &str, mark: &Mark) -> String {
    match mark.places.first() {
        Some(place) if terms::signature::UNTOLD.iter().any(|(kind, ..)| *kind == mark.kind) => {
            format!("hexdump -C -n 64 -s {place} {node}")
        }
        _ => format!("wipefs {node}"),
    }
}

fn describe(mark: &Mark) -> String {
    let mut text = mark.kind.clone();
    if let Some(name) = plain_name(&mark.kind) {
        text = format!("{text}, {name}");
    }
    if let Some(uuid) = &mark.uuid {
        text = format!("{text}, UUID {uuid}");
    }
    if let Some(label) = &mark.label {
        text = format!("{text}, label `{label}`");
    }
    for detail in &mark.details {
        text = format!("{text}, {detail}");
    }
    match mark.places.as_slice() {
        [] => text,
        [place] => format!("{text}, at byte {place}"),
        [first, .., last] => format!("{text}, {} marks from byte {first} to {last}", mark.places.len()),
    }
}

/// What a kind is, where its name does not say.
fn plain_name(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "crypto_LUKS" => "encryption",
        "linux_raid_member" => "a member of an md array",
        "LVM2_member" => "a physical volume of LVM",
        "zfs_member" => "a device of a ZFS pool",
        "gpt" | "dos" => "a partition table",
        "PMBR" => "the protective table of a GPT",
        "bcache" => "a device of a bcache",
        "DM_writecache" => "the cache of a dm-writecache, which may hold writes that are nowhere else",
        "DM_thin_metadata" => "where the device mapper keeps what is in a thin pool",
        "DM_cache_metadata" => "where a dm-cache keeps what it holds",
        "DM_era_metadata" => "where a dm-era keeps what was written when",
        "DM_clone_metadata" => "where a dm-clone keeps what it has copied",
        _ => return None,
    })
}

/// Does a word of `/etc/fstab` name what is written on this device?
fn is_meant(word: &str, probed: &blkid::Tags, marks: &[Mark]) -> bool {
    // `mount` compares without case (`blkid_find_dev_with_tag`).
    let tag = |name: &str, value: &str| probed.get(name).is_some_and(|told| told.eq_ignore_ascii_case(value));
    let says = |value: &str, of: fn(&Mark) -> Option<&String>| {
        marks.iter().any(|mark| of(mark).is_some_and(|told| told.eq_ignore_ascii_case(value)))
    };
    let path = |word: &str| {
        let of = |directory: &str| word.strip_prefix(directory);
        of("/dev/disk/by-uuid/").is_some_and(|value| says(value, |mark| mark.uuid.as_ref()))
            || of("/dev/disk/by-label/").is_some_and(|value| says(value, |mark| mark.label.as_ref()))
            || of("/dev/disk/by-partuuid/").is_some_and(|value| tag("PART_ENTRY_UUID", value))
    };
    match word.split_once('=') {
        Some(("UUID", value)) => says(value, |mark| mark.uuid.as_ref()),
        Some(("LABEL", value)) => says(value, |mark| mark.label.as_ref()),
        Some(("PARTUUID", value)) => tag("PART_ENTRY_UUID", value),
        Some(("PARTLABEL", value)) => tag("PART_ENTRY_NAME", value),
        _ => path(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(kind: &str) -> Mark {
        Mark { kind: kind.to_owned(), ..Mark::default() }
    }

    #[test]
    fn words_of_fstab_that_name_a_device_are_known() {
        let marks = [
            Mark { uuid: Some("3f6a".to_owned()), ..mark("xfs") },
            Mark { label: Some("home".to_owned()), ..mark("ext4") },
        ];
        let tags = [("PART_ENTRY_UUID", "aa-01"), ("PART_ENTRY_NAME", "data")];
        let probed = tags.map(|(key, value)| (key.to_owned(), value.to_owned())).into_iter().collect();
        for (word, meant) in [
            ("UUID=3f6a", true),
            ("UUID=3F6A", true),
            ("PARTUUID=AA-01", true),
            ("LABEL=home", true),
            ("PARTUUID=aa-01", true),
            ("PARTLABEL=data", true),
            ("/dev/disk/by-uuid/3f6a", true),
            ("/dev/disk/by-label/home", true),
            ("/dev/disk/by-partuuid/aa-01", true),
            ("UUID=home", false),
            ("LABEL=3f6a", false),
            ("PARTUUID=data", false),
            ("PARTLABEL=aa-01", false),
            ("/dev/disk/by-uuid/home", false),
            ("/dev/disk/by-label/3f6a", false),
            ("/dev/disk/by-partuuid/data", false),
            ("/dev/sda", false),
            ("tmpfs", false),
        ] {
            assert_eq!(is_meant(word, &probed, &marks), meant, "{word}");
        }
    }

    #[test]
    fn what_goes_with_a_group_is_named_and_the_rest_is_counted() {
        let names = |count: usize| (0..count).map(|at| format!("v{at}")).collect::<Vec<_>>();
        assert_eq!(with(names(0)), None);
        assert_eq!(with(names(2)).as_deref(), Some("with `v0`, `v1`"));
        assert!(with(names(NAMED + 3)).is_some_and(|told| told.ends_with("`v11` and 3 more")));
    }

    #[test]
    fn a_hint_shows_what_was_found() {
        let bcachefs = Mark { places: vec![(4 << 10) + 24], ..mark("bcachefs") };
        assert_eq!(shown_by("/dev/sda", &bcachefs), "hexdump -C -n 64 -s 4120 /dev/sda");
        assert_eq!(shown_by("/dev/sda", &mark("ext4")), "wipefs /dev/sda");
    }

    #[test]
    fn what_says_the_same_is_told_once() {
        for (first, more, told) in [
            ("gpt", ["PMBR", "dos"].as_slice(), ["gpt"].as_slice()),
            ("dos", &[], &["dos"]),
            ("PMBR", &["ext4"], &["PMBR", "ext4"]),
            (blkid::SEVERAL_KINDS, &["ext4", "xfs"], &["ext4", "xfs"]),
            // Where nobody else says which, there are several all the same.
            (blkid::SEVERAL_KINDS, &[], &[blkid::SEVERAL_KINDS]),
        ] {
            let marks = merged(vec![mark(first)], more.iter().map(|kind| mark(kind)));
            assert_eq!(marks.iter().map(|mark| mark.kind.as_str()).collect::<Vec<_>>(), told);
        }
    }
}
