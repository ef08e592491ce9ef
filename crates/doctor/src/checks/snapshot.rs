//! Snapshots that keep what their origin overwrites, in space of their own that runs out.

use terms::command::quote;
use terms::diagnosis::Place;
use terms::inventory::{LogicalVolume, Node, Target, VolumeGroup};

use super::lvm::{MUCH, volume_place};
use crate::check::{Error, Nothing, Round, Warning, finding};
use crate::machine::{Machine, place, volume};
use crate::words::percent;

pub(super) fn look(machine: &Machine, round: &mut Round) {
    let groups: Vec<&VolumeGroup> =
        round.ask(&Place::machine(), &machine.detail.volume_groups).into_iter().flatten().collect();
    for (group, volume) in groups.iter().flat_map(|group| group.logical.iter().map(move |volume| (group, volume))) {
        // The first letter of the attributes: `s` a snapshot, `S` one that is being merged or has become invalid.
        if volume.attributes.starts_with(['s', 'S']) {
            judge(round, Snapshot::of_volume(group, volume));
        }
    }
    let is_told = |node: &Node| {
        let mut volumes = groups.iter().flat_map(|group| &group.logical);
        volumes.any(|volume| volume.node.as_deref() == Some(&node.name))
    };
    for node in machine.detail.nodes.iter().filter(|node| !is_told(node)) {
        let targets = node.dm.as_ref().and_then(|dm| dm.targets.known()).into_iter().flatten();
        for target in targets.filter(|target| ["snapshot", "snapshot-merge"].contains(&target.kind.as_str())) {
            let at = place(node);
            let Some(status) = round.ask(&at, &target.status) else { continue };
            judge(round, Snapshot::of_mapping(node, target, status));
        }
    }
}

struct Snapshot {
    at: Place,
    /// As LVM's programs take it.
    name: String,
    /// Where it is told, and what is said there.
    source: &'static str,
    said: String,
    /// Of its space, in percent.
    used: Option<f64>,
    is_lost: bool,
}

impl Snapshot {
    fn of_volume(group: &VolumeGroup, volume: &LogicalVolume) -> Self {
        Self {
            at: volume_place(group, volume),
            name: quote(&format!("{}/{}", group.name, volume.name)),
            source: "lvs -o lv_attr,data_percent",
            said: volume.attributes.clone(),
            used: volume.data,
            // The fifth letter is its state (lvs(8), `lv_attr`).
            is_lost: volume.attributes.as_bytes().get(4).is_some_and(|state| b"IS".contains(state)),
        }
    }

    /// `USED/ALL METADATA` in sectors, or why it tells none (`snapshot_status` in the kernel's `drivers/md/dm-snap.c`).
    fn of_mapping(node: &Node, target: &Target, status: &str) -> Self {
        let share = |text: &str| {
            let (used, all) = text.split(' ').next()?.split_once('/')?;
            let [used, all] = [used, all].map(|number| number.parse::<f64>().ok());
            Some(100.0 * used? / all.filter(|all| *all > 0.0)?)
        };
        let is_lost = ["Invalid", "Overflow", "Merge failed"].contains(&status);
        Self {
            at: place(node),
            name: volume(node),
            source: "dmsetup status",
            said: format!("{} {status}", target.kind),
            used: if is_lost { Some(100.0) } else { share(status) },
            is_lost,
        }
    }
}

fn judge(round: &mut Round, snapshot: Snapshot) {
    let Snapshot { at, name, source, said, used, is_lost } = snapshot;
    let Some(used) = used else {
        round.unknown(&at, format!("`{source}` does not tell how full it is"));
        return;
    };
    round.look();
    if used < MUCH {
        return;
    }
    if is_lost {
        round.find(
            finding(
                Error,
                &at,
                "the snapshot has become invalid",
                "0 bytes of it can be read: its space was full, and what the origin overwrote after that was not kept",
            )
            .seen(source, said)
            .advise("Nothing brings it back: remove it, and give the next one more space. The origin is as it was.")
            .look(format!("lvs -o lv_attr,origin {name}")),
        );
        return;
    }
    round.find(
        finding(
            if used >= 100.0 { Error } else { Warning },
            &at,
            format!("{} of the snapshot's space are used", percent(used / 100.0)),
            "when all is used the snapshot is dropped; until then each first write to the origin is 2 writes and 1 read",
        )
        .seen(source, format!("{said}, {} used", percent(used / 100.0)))
        .advise("Make it larger, or remove it when it has served.")
        .look("vgs")
        .run(Nothing, format!("lvextend -L +SIZE {name}")),
    );
}
