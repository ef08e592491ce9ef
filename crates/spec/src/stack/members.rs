//! How many devices a layer takes, and on which drives.

use std::collections::{BTreeSet, HashMap};

use terms::layer::{BtrfsProfile, Over, Zfs, ZfsLayout};
use terms::{Layer, Name, Note, Ref};

use super::grow::Growth;

/// Notes every layer with too few or too many devices below it.
pub(super) fn check(growth: &[Growth<'_, '_>], notes: &mut Vec<Note>) {
    let drives = drives(growth);
    for grown in growth.iter().filter(|grown| !grown.broken) {
        check_fewest(grown, notes);
        check_most(grown, notes);
        if let Layer::Zfs(zfs) = &grown.node.layer {
            check_special(grown, zfs, notes);
        }
        check_drives(grown, &drives, notes);
        if grown.node.layer.shares_drive() && matches!(grown.node.on.first(), Some(Ref::Layer(_))) {
            notes.push(
                Note::error("study-partition", grown.places.first().copied(), "`partition` rests on a layer")
                    .label("not a drive")
                    .hint("name drives in `on`, and put the layer above the partition; to divide a layer, use lvm"),
            );
        }
        if grown.node.layer.is_bare() && matches!(grown.node.on.first(), Some(Ref::Layer(_))) {
            notes.push(
                Note::error("study-on-bare", grown.places.first().copied(), "`bare` rests on a layer")
                    .label("not a drive")
                    .hint("leave the `bare` entry out: a stack may end in a block device"),
            );
        }
    }
}

/// The drives under each layer.
fn drives<'g>(growth: &'g [Growth<'_, '_>]) -> HashMap<&'g Name, BTreeSet<&'g Name>> {
    let mut under: HashMap<&Name, BTreeSet<&Name>> = HashMap::new();
    for grown in growth {
        let all = grown.node.below().flat_map(|below| drives_of(below, &under)).collect();
        under.insert(&grown.node.name, all);
    }
    under
}

fn drives_of<'g>(below: &'g Ref, under: &HashMap<&Name, BTreeSet<&'g Name>>) -> BTreeSet<&'g Name> {
    match below {
        Ref::Drive(name) => BTreeSet::from([name]),
        Ref::Layer(name) => under.get(name).cloned().unwrap_or_default(),
    }
}

/// Copies and parity on the drive of what they are for are lost with it.
fn check_drives(grown: &Growth<'_, '_>, under: &HashMap<&Name, BTreeSet<&Name>>, notes: &mut Vec<Note>) {
    if !grown.node.layer.is_redundant() {
        return;
    }
    let mut seen: BTreeSet<&Name> = BTreeSet::new();
    for (below, place) in grown.node.on.iter().zip(&grown.places) {
        let own = drives_of(below, under);
        if let Some(drive) = own.iter().find(|drive| seen.contains(*drive)) {
            let message = format!("`{}` has two members on drive `{drive}`", grown.node.name);
            notes.push(
                Note::error("study-one-drive", Some(*place), message)
                    .label("both are lost with the drive")
                    .hint("take partitions of different drives, or a layer without redundancy"),
            );
        }
        seen.extend(own);
    }
}

/// The layer in words, the fewest devices it takes, where its count is written, and how many its tools take where that is
/// fewer.
fn fewest(layer: &Layer) -> Vec<(String, usize, &'static str, Option<&'static str>)> {
    match layer {
        Layer::Raid(raid) => vec![(format!("RAID-{}", raid.level.number()), raid.level.fewest(), "level", None)],
        Layer::Lvm(lvm) => {
            vec![(format!("an LVM {} volume", lvm.volume.word()), lvm.volume.fewest(), "volume", None)]
        }
        Layer::Btrfs(btrfs) => vec![
            (format!("btrfs data in {}", btrfs.data.word()), btrfs.data.fewest(), "data", btrfs_takes(btrfs.data)),
            (
                format!("btrfs metadata in {}", btrfs.metadata.word()),
                btrfs.metadata.fewest(),
                "metadata",
                btrfs_takes(btrfs.metadata),
            ),
        ],
        Layer::Zfs(zfs) => vec![(format!("a ZFS {}", zfs.layout.word()), zfs.layout.fewest(), "layout", None)],
        _ => Vec::new(),
    }
}

/// What btrfs takes of profiles that become others on fewer devices (kernel, fs/btrfs/volumes.c, `btrfs_raid_array`).
/// Capacities and predictions were not compared with it on one.
const fn btrfs_takes(profile: BtrfsProfile) -> Option<&'static str> {
    match profile {
        BtrfsProfile::Raid0 => Some("btrfs itself takes 1 since Linux 5.15, which is `single`"),
        BtrfsProfile::Single | BtrfsProfile::Dup | BtrfsProfile::Raid1 | BtrfsProfile::Raid10 => None,
    }
}

fn check_fewest(grown: &Growth<'_, '_>, notes: &mut Vec<Note>) {
    let options = grown.entry.options;
    let have = grown.node.on.len();
    for (what, need, key, tools) in fewest(&grown.node.layer) {
        if have >= need || options.is_wrong(key) || !options.has(key) {
            continue;
        }
        let message = if have == 1 && need == 2 && what.contains("RAID-1") {
            "a mirror of one is no mirror".to_owned()
        } else {
            match tools {
                Some(tools) => format!("Bedplate takes {what} on at least {need} devices; {tools}"),
                None => format!("{what} takes at least {need} devices"),
            }
        };
        let hint = match have {
            1 => format!("name {} more in `on`", need - have),
            _ => format!("name {} more in `on`, or choose another `{key}`", need - have),
        };
        notes.push(
            Note::error("study-too-few", Some(options.place(key)), message)
                .label(format!("{what} needs {need}, this has {have}"))
                .hint(hint),
        );
    }
}

fn check_most(grown: &Growth<'_, '_>, notes: &mut Vec<Note>) {
    let have = grown.node.on.len();
    if have > 1 && matches!(grown.node.layer.traits().over, Over::Drive | Over::One) {
        let kind = grown.node.layer.kind();
        notes.push(
            Note::error("study-too-many", Some(grown.entry.place()), format!("{kind} takes one device, not {have}"))
                .label(format!("{have} devices are below"))
                .hint("join them with raid or lvm below it, or name one of them in `on`"),
        );
    }
    // What stands on one device has one beside it.
    let beside = grown.node.special.len();
    if let Some(key) = grown.node.layer.beside()
        && beside > 1
        && grown.node.layer.traits().over != Over::All
    {
        let message = format!("`{key}` takes one device, not {beside}");
        let note = Note::error("study-too-many", Some(grown.entry.options.place(key)), message);
        notes.push(note.hint("join them with raid or lvm, and name that"));
    }
}

/// Losing the special vdev loses the pool. Without force zpool takes only one that survives exactly as many lost
/// devices as the data, and beside data without redundancy only devices that stand alone.
fn check_special(grown: &Growth<'_, '_>, zfs: &Zfs, notes: &mut Vec<Note>) {
    let (data, have) = (grown.node.on.len(), grown.node.special.len());
    let Some(ways) = zfs.layout.special_ways(data) else { return };
    let options = grown.entry.options;
    // With too few devices, or a layout that could not be read, nobody knows how many there will be.
    if have == 0 || have == ways || data < zfs.layout.fewest() || options.is_wrong("layout") {
        return;
    }
    let layout = zfs.layout.word();
    let code = if have == 1 { "study-special-alone" } else { "study-special-unlike" };
    let message = match zfs.layout {
        ZfsLayout::Mirror => format!("beside a mirror of {ways} devices `special` takes {ways}, not {have}"),
        _ => format!("beside {layout} `special` takes {ways} devices, not {have}"),
    };
    notes.push(
        Note::error(code, Some(options.place("special")), message)
            .label(if have < ways {
                "less redundant than the data, and losing it loses the pool"
            } else {
                "more redundant than the data"
            })
            .hint(if have < ways {
                format!("name {} more in `special`: zpool refuses what survives fewer or more losses", ways - have)
            } else {
                format!("name {ways} in `special`: zpool refuses what survives fewer or more losses")
            }),
    );
}
