//! How many devices a layer takes.

use terms::{Layer, Note, Ref};

use super::grow::Growth;

/// Notes every layer with too few or too many devices below it.
pub(super) fn check(growth: &[Growth<'_, '_>], notes: &mut Vec<Note>) {
    for grown in growth.iter().filter(|grown| !grown.broken) {
        check_fewest(grown, notes);
        check_most(grown, notes);
        if matches!(grown.node.layer, Layer::Bare) && matches!(grown.node.on.first(), Some(Ref::Layer(_))) {
            notes.push(
                Note::error("study-on-bare", grown.places.first().copied(), "`bare` rests on a layer")
                    .label("not a drive")
                    .hint("leave the `bare` entry out: a stack may end in a block device"),
            );
        }
    }
}

/// The layer in words, the fewest devices it takes, and where its count is written.
fn fewest(layer: &Layer) -> Vec<(String, usize, &'static str)> {
    match layer {
        Layer::Raid(raid) => vec![(format!("RAID-{}", raid.level.number()), raid.level.fewest(), "level")],
        Layer::Lvm(lvm) => vec![(format!("an LVM {} volume", lvm.volume.word()), lvm.volume.fewest(), "volume")],
        Layer::Btrfs(btrfs) => vec![
            (format!("btrfs data in {}", btrfs.data.word()), btrfs.data.fewest(), "data"),
            (format!("btrfs metadata in {}", btrfs.metadata.word()), btrfs.metadata.fewest(), "metadata"),
        ],
        Layer::Zfs(zfs) => vec![(format!("a ZFS {}", zfs.layout.word()), zfs.layout.fewest(), "layout")],
        _ => Vec::new(),
    }
}

fn check_fewest(grown: &Growth<'_, '_>, notes: &mut Vec<Note>) {
    let options = grown.entry.options;
    let have = grown.node.on.len();
    for (what, need, key) in fewest(&grown.node.layer) {
        if have >= need || options.is_wrong(key) || !options.has(key) {
            continue;
        }
        let message = if have == 1 && need == 2 && what.contains("RAID-1") {
            "a mirror of one is no mirror".to_owned()
        } else {
            format!("{what} takes at least {need} devices")
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
    if have > 1 && matches!(grown.node.layer, Layer::Bare | Layer::Ext4(_) | Layer::Xfs(_)) {
        let kind = grown.node.layer.kind();
        notes.push(
            Note::error("study-too-many", Some(grown.entry.place()), format!("{kind} takes one device, not {have}"))
                .label(format!("{have} devices are below"))
                .hint("join them with raid or lvm below it, or name one of them in `on`"),
        );
    }
}
