//! Who is who: clones, leftovers.

use std::collections::BTreeMap;

use terms::DriveTransport;
use terms::diagnosis::Place;
use terms::inventory::{Node, Signature};

use crate::check::{Check, Data, Error, Nothing, Round, Warning, finding};
use crate::machine::{Machine, path, place};
use crate::words::{count, list, number};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "duplicate-uuid",
        severity: Error,
        looks_at: "UUIDs of `wipefs --no-act` or udev, of partitions, arrays and volume groups; what was posted of LVM",
        rule: "two devices carry the same, and neither stands on the other",
        fixes: false,
        look: duplicates,
    },
    Check {
        id: "leftover-signatures",
        severity: Warning,
        looks_at: "all signatures of `wipefs --no-act` on each device",
        rule: "a device carries signatures of several owners",
        fixes: false,
        look: leftovers,
    },
];

/// Signatures whose UUID belongs to one device alone. Members of arrays, of a btrfs and of pools share theirs.
const OWN: [&str; 10] =
    ["ext2", "ext3", "ext4", "xfs", "f2fs", "swap", "crypto_LUKS", "LVM2_member", "DM_integrity", "vfat"];

/// What can own a device.
const OWNERS: [&str; 12] = [
    "ext2",
    "ext3",
    "ext4",
    "xfs",
    "btrfs",
    "f2fs",
    "swap",
    "crypto_LUKS",
    "LVM2_member",
    "linux_raid_member",
    "zfs_member",
    "DM_integrity",
];

fn duplicates(machine: &Machine, round: &mut Round) {
    super::messages::same_volumes(machine, round);
    let mut seen: BTreeMap<(String, String), Vec<&Node>> = BTreeMap::new();
    for node in &machine.detail.nodes {
        if let Some(uuid) = node.partition.as_ref().and_then(|partition| partition.uuid.clone()) {
            seen.entry(("partition".to_owned(), uuid)).or_default().push(node);
        }
        if let Some(md) = &node.md
            && let Some(uuid) = &md.uuid
        {
            seen.entry(("array".to_owned(), uuid.clone())).or_default().push(node);
        }
        let Some(signatures) = round.ask(&place(node), &node.signatures) else { continue };
        round.look();
        for signature in signatures {
            let Some(uuid) = signature.uuid.clone().filter(|_| OWN.contains(&signature.kind.as_str())) else {
                continue;
            };
            let nodes = seen.entry((signature.kind.clone(), uuid)).or_default();
            if nodes.iter().all(|known| known.name != node.name) {
                nodes.push(node);
            }
        }
    }
    for ((kind, uuid), nodes) in seen {
        let clones: Vec<&Node> = nodes
            .iter()
            .copied()
            .filter(|node| nodes.iter().any(|other| node.name != other.name && !related(machine, node, other)))
            .collect();
        let [first, _, ..] = clones.as_slice() else { continue };
        let names: Vec<String> = clones.iter().map(|node| path(node)).collect();
        let found = finding(
            Error,
            &place(first),
            format!("{} carry one UUID ({kind})", list(&names)),
            format!(
                "what names it by UUID gets 1 of {}, by chance, at each start: the other may be mounted, or written to, instead",
                count(number(clones.len()), "device")
            ),
        );
        let found =
            names.iter().fold(found, |found, name| found.seen(format!("blkid -p {name}"), format!("{kind} {uuid}")));
        let may_be_one =
            |node: &&Node| clones.iter().any(|other| node.name != other.name && may_be_one_drive(machine, node, other));
        let paths = names.join(" ");
        round.find(if clones.iter().any(may_be_one) {
            found
                .advise(format!(
                    "Compare the WWN and the serial number of both drives first. Where they are the same it is one drive on two paths: set up \
                     multipath, and rename and wipe nothing, for both names lead to the same data. Where they differ: {COPIED}"
                ))
                .look("lsblk -o NAME,WWN,SERIAL,HCTL,MOUNTPOINT")
                .look(format!("wipefs --no-act {paths}"))
        } else {
            found
                .advise(COPIED)
                .look(format!("lsblk -o NAME,UUID,MOUNTPOINT {paths}"))
                .look(format!("wipefs --no-act {paths}"))
                .run(Nothing, renaming(&kind, &copy(machine, &kind, &clones)))
        });
    }
}

const COPIED: &str = "If one is a copy, give that one a UUID of its own before both are plugged in again; if it is a leftover, wipe it. Never rename \
                      the one that is in use: what mounts it by its UUID, such as `/etc/fstab` and the machine's own start, finds it no more.";

/// Does one stand on the other, do both belong to one thing above them, are both volumes of one group, as a snapshot and its
/// origin are, or are they one drive on two ways?
fn related(machine: &Machine, one: &Node, other: &Node) -> bool {
    let below = |upper: &Node, lower: &Node| machine.down(&upper.name).iter().any(|node| node.name == lower.name);
    let together = machine.on_top_of(&one.name).iter().any(|above| above.on.contains(&other.name));
    // `LVM-` and the 32 letters of the group's UUID; where that is not told the group's name, before the only hyphen that is not doubled.
    let group = |node: &Node| {
        let dm = node.dm.as_ref()?;
        match &dm.uuid {
            Some(uuid) => uuid.strip_prefix("LVM-")?.get(..32).map(ToOwned::to_owned),
            None => Some(dm.name.replace("--", "\0").split_once('-')?.0.to_owned()),
        }
    };
    is_one_drive(machine, one, other)
        || below(one, other)
        || below(other, one)
        || together
        || group(one).is_some_and(|uuid| group(other) == Some(uuid))
}

/// The drive that a device is, or is a partition of.
fn whole(node: &Node) -> &String {
    node.partition.as_ref().and_then(|_| node.on.first()).unwrap_or(&node.name)
}

/// May two drives, or partitions of them, be one on two paths? Nothing tells that they are two.
fn may_be_one_drive(machine: &Machine, one: &Node, other: &Node) -> bool {
    let is_plain = |node: &Node| ["drive", "partition"].contains(&node.kind.as_str());
    let [first, second] = [one, other].map(|node| machine.drive(whole(node)));
    let differ = first.zip(second).is_some_and(|(first, second)| {
        let told = [(&first.wwid, &second.wwid), (&first.serial, &second.serial)];
        told.iter().any(|pair| matches!(pair, (Some(one), Some(other)) if one != other))
    });
    is_plain(one) && is_plain(other) && whole(one) != whole(other) && !differ
}

/// Two ways to one drive have its name in common, and partitions of it their number, too.
fn is_one_drive(machine: &Machine, one: &Node, other: &Node) -> bool {
    let drive = |node: &Node| {
        let whole = whole(node);
        // Bridges of USB make up names, and many the same one.
        let drive = machine.drive(whole).filter(|drive| drive.transport != DriveTransport::Usb)?;
        let identity = drive.wwid.clone()?;
        Some((identity, node.partition.as_ref().map(|partition| partition.number)))
    };
    drive(one).is_some_and(|name| drive(other) == Some(name))
}

/// The one that may be renamed: where another is in use and it is not. Else only a person knows.
fn copy(machine: &Machine, kind: &str, clones: &[&Node]) -> String {
    // Of a partition all of its drive is renamed.
    let whole = |node: &Node| match node.on.first() {
        Some(drive) if kind == "partition" => machine.node(drive).map_or_else(|| "COPY".to_owned(), path),
        _ => path(node),
    };
    let idle: Vec<&&Node> = clones.iter().filter(|node| !machine.is_used(&node.name)).collect();
    match idle[..] {
        [one] => whole(one),
        _ => "COPY".to_owned(),
    }
}

/// tune2fs(8), `-U`: a file system with checksums has to be checked right before.
fn renaming(kind: &str, device: &str) -> String {
    match kind {
        "ext2" | "ext3" | "ext4" => format!("e2fsck -f -p {device} && tune2fs -U random {device}"),
        "xfs" => format!("xfs_admin -U generate {device}"),
        "swap" => format!("swaplabel -U $(uuidgen) {device}"),
        "crypto_LUKS" => format!("cryptsetup luksUUID --uuid $(uuidgen) {device}"),
        "LVM2_member" => format!("vgimportclone {device}"),
        // sgdisk(8), `-G`: it wants a whole drive. Of anything else it begins a new table, over what is there.
        "partition" => format!("sgdisk -G {device}   # a whole drive, and no partition"),
        "array" => format!("mdadm --stop {device}   # and assemble it with --update=uuid"),
        _ => format!("wipefs --no-act {device}"),
    }
}

fn leftovers(machine: &Machine, round: &mut Round) {
    for node in &machine.detail.nodes {
        let at = place(node);
        let Some(signatures) = round.ask(&at, &node.signatures) else { continue };
        if signatures.is_empty() {
            continue;
        }
        round.look();
        let mut kinds: Vec<&str> = Vec::new();
        for signature in signatures {
            if OWNERS.contains(&signature.kind.as_str()) && !kinds.contains(&signature.kind.as_str()) {
                kinds.push(&signature.kind);
            }
        }
        // With metadata at its end the member of a mirror shows what is on the mirror, too.
        let above = machine.on_top_of(&node.name);
        let at_end = |metadata: &str| ["0.90", "1.0"].contains(&metadata);
        let shows_through =
            above.iter().any(|array| array.md.as_ref().and_then(|md| md.metadata.as_deref()).is_some_and(at_end));
        if kinds.len() < 2 || shows_through {
            continue;
        }
        let shown = |signature: &Signature| {
            let at = signature.offset.map_or_else(|| "somewhere".to_owned(), |offset| format!("at {}", offset.0));
            format!("{} {at}", signature.kind)
        };
        let all: Vec<String> = signatures.iter().map(shown).collect();
        round.find(
            finding(
                Warning,
                &at,
                format!("it carries signatures of {}", list(&kinds)),
                format!(
                    "1 of {} is real: what finds the other first may assemble, activate or mount it, and write to it",
                    count(number(kinds.len()), "owner")
                ),
            )
            .seen(format!("wipefs --no-act {}", path(node)), all.join(", "))
            .advise(
                "Find out which is real. Take away the other by its offset only, and keep a copy of what was there.",
            )
            .look(format!("wipefs --no-act {}", path(node)))
            .run(
                Data("what the signature that is taken away belongs to".to_owned()),
                format!("wipefs --backup --offset OFFSET {}", path(node)),
            ),
        );
    }
    let groups = machine.detail.volume_groups.known().into_iter().flatten();
    let mut names: BTreeMap<&str, u32> = BTreeMap::new();
    for group in groups {
        *names.entry(group.name.as_str()).or_default() += 1;
    }
    for (name, number) in names.into_iter().filter(|(_, number)| *number > 1) {
        round.find(
            finding(
                Warning,
                &Place::new("volume group", name),
                format!("{number} volume groups are called `{name}`"),
                format!("1 of {number} can be used, by its UUID only"),
            )
            .seen("vgs -o vg_name,vg_uuid", format!("{name} × {number}"))
            .advise("Give one another name, by its UUID.")
            .run(Nothing, "vgrename UUID NEW-NAME"),
        );
    }
}
