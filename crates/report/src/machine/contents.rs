//! Words for what a block device is and holds.

use terms::drive::Drive;
use terms::inventory::{
    CryptMapping, Detail, FileSystem, IntegrityHeader, Mapping, Md, Meaning, Node, Pool, Readout, Segment, Vdev,
};
use terms::units::Bytes;

use crate::notes::Notes;

/// A drive: model and serial number.
pub(super) fn drive(drive: &Drive) -> Vec<String> {
    let mut words: Vec<String> = drive.model.iter().cloned().collect();
    words.extend(drive.serial.as_ref().map(|serial| format!("serial {serial}")));
    if let Some(paths) = drive.detail.as_ref().and_then(|detail| detail.nvme.as_ref()).map(|nvme| &nvme.paths)
        && !paths.is_empty()
    {
        words.push(format!("{} paths", paths.len()));
    }
    words
}

/// A layer: what it does, and in which state it is.
pub(super) fn layer(node: &Node, detail: &Detail) -> Vec<String> {
    let mut words = Vec::new();
    words.extend(node.md.iter().flat_map(|md| array(md, node)));
    if let Some(dm) = &node.dm {
        words.extend(volume(node, detail).into_iter().chain(mapping(dm)));
    }
    words.extend(node.backing.as_ref().map(|backing| format!("file {}", backing.file)));
    words
}

fn array(md: &Md, node: &Node) -> Vec<String> {
    // What it stands on is told where its own files were not read.
    let mut words = vec![match md.members.len().max(node.on.len()) {
        0 => "its members are not known".to_owned(),
        1 => "1 member".to_owned(),
        count => format!("{count} members"),
    }];
    if let Some(chunk) = md.chunk.known().filter(|chunk| chunk.0 > 0) {
        words.push(format!("chunk {chunk}"));
    }
    match &md.degraded {
        Readout::Known(Some(0)) | Readout::Known(None) => {}
        Readout::Known(Some(missing)) => words.push(format!("DEGRADED by {missing}")),
        Readout::Unknown(_) => words.push("degraded or not is not known".to_owned()),
    }
    match &md.bitmap {
        Readout::Known(Some(place)) if place == "none" => words.push("no bitmap".to_owned()),
        Readout::Known(Some(_)) => words.push("bitmap".to_owned()),
        Readout::Known(None) | Readout::Unknown(_) => {}
    }
    words.extend(md.state.known().cloned());
    if let Readout::Known(Some(action)) = &md.sync_action
        && action != "idle"
    {
        let share = md.sync_completed_sectors.known().copied().flatten().filter(|[_, all]| *all > 0);
        let share = share.map_or(String::new(), |[done, all]| format!(" {} %", done.saturating_mul(100) / all));
        words.push(format!("{}{share}", action.to_uppercase()));
    }
    if let Readout::Known(Some(sectors @ 1..)) = md.mismatch_sectors {
        words.push(format!("{sectors} sectors differ"));
    }
    words
}

/// The logical volume that a mapping is.
fn volume(node: &Node, detail: &Detail) -> Option<String> {
    let groups = detail.volume_groups.known()?;
    groups.iter().find_map(|group| {
        let volume = group.logical.iter().find(|volume| volume.node.as_ref() == Some(&node.name))?;
        let segment = volume.segments.first()?;
        Some(format!("volume of {}, {}", group.name, segment_words(segment)))
    })
}

fn segment_words(segment: &Segment) -> String {
    match segment.stripes {
        0 | 1 => segment.kind.clone(),
        stripes if segment.stripe.0 > 0 => format!("{} over {stripes}, {}", segment.kind, segment.stripe),
        stripes => format!("{} over {stripes}", segment.kind),
    }
}

fn mapping(dm: &Mapping) -> Vec<String> {
    let Readout::Known(targets) = &dm.targets else {
        // Its name in the kernel still tells who made it.
        let maker = dm.uuid.as_deref().and_then(|uuid| uuid.split('-').next()).unwrap_or("unknown");
        return vec![format!("made by {}, table not known", maker.to_lowercase())];
    };
    let mut words: Vec<String> = targets
        .iter()
        .take(1)
        .flat_map(|target| match &target.meaning {
            Meaning::CryptMapping(crypt) => encryption(crypt),
            Meaning::IntegrityHeader(integrity) => checksums(integrity),
            Meaning::Raid(raid) => raid.health.known().map(|health| format!("images {health}")).into_iter().collect(),
            Meaning::ThinPool(pool) => match &pool.data_blocks {
                Readout::Known([used, all]) if *all > 0 => vec![format!("{} % full", used.saturating_mul(100) / all)],
                _ => Vec::new(),
            },
            Meaning::Linear { .. } | Meaning::Striped { .. } | Meaning::Other => Vec::new(),
        })
        .collect();
    if targets.len() > 1 {
        words.push(format!("{} pieces", targets.len()));
    }
    words
}

fn encryption(crypt: &CryptMapping) -> Vec<String> {
    let mut words = vec![crypt.cipher.clone(), format!("sector {}", crypt.sector)];
    words.extend(crypt.integrity.clone().map(|integrity| format!("authenticated {integrity}")));
    words.extend(crypt.flags.iter().cloned());
    words
}

fn checksums(integrity: &IntegrityHeader) -> Vec<String> {
    let mode = match integrity.mode.as_str() {
        "J" => "journal",
        "B" => "bitmap",
        "D" => "no journal",
        "I" => "inline",
        "R" => "recovery",
        other => other,
    };
    let mut words = vec![mode.to_owned()];
    words.extend(integrity.hash.clone());
    words.push(format!("block {}", integrity.block));
    if let Readout::Known(Some(_)) = integrity.recalculated_sectors {
        words.push("STILL RECALCULATING".to_owned());
    }
    if let Readout::Known(wrong @ 1..) = integrity.mismatches {
        words.push(format!("{wrong} MISMATCHES"));
    }
    words
}

/// What a device at the top holds: a file system, swap, another signature, nothing.
pub(super) fn held(node: &Node, system: Option<&FileSystem>, detail: &Detail, notes: &mut Notes) -> Vec<String> {
    let swap = detail.swaps.known().into_iter().flatten().any(|swap| swap.node.as_ref() == Some(&node.name));
    if swap {
        return vec!["swap in use".to_owned()];
    }
    if let Some(system) = system {
        return file_system(system, detail);
    }
    match &node.signatures {
        Readout::Known(found) if found.is_empty() => vec!["blank".to_owned()],
        Readout::Known(found) => found.iter().map(|signature| format!("holds {}", signature.kind)).collect(),
        Readout::Unknown(why) => vec![format!("content not known {}", notes.mark(why))],
    }
}

/// A file system: kind, label, geometry for an array, state, place.
pub(super) fn file_system(system: &FileSystem, detail: &Detail) -> Vec<String> {
    let mut words = vec![match &system.label {
        Some(label) if system.nodes.len() == 1 => format!("{} \"{label}\"", system.kind),
        _ => system.kind.clone(),
    }];
    if let Some(geometry) = system.geometry.known().filter(|geometry| geometry.stripe_unit > Bytes(0)) {
        words.push(format!("laid out for {} of {}", geometry.stripe_width, geometry.stripe_unit));
    }
    if let Some(btrfs) = &system.btrfs {
        for (kind, profiles) in btrfs.profiles.known().into_iter().flatten().filter(|(kind, _)| *kind != "system") {
            words.push(format!("{kind} {}", profiles.join("+")));
        }
        let errors: u64 =
            btrfs.devices.iter().filter_map(|device| device.errors.known()).flat_map(|errors| errors.values()).sum();
        if errors > 0 {
            words.push(format!("{errors} ERRORS COUNTED"));
        }
    }
    words.push(match (system.targets.is_empty(), &detail.mounts) {
        (false, _) => system.targets.join(" "),
        (true, Readout::Known(_)) => "not mounted".to_owned(),
        (true, Readout::Unknown(_)) => "mounted or not is not known".to_owned(),
    });
    words
}

/// A device of a pool at its top.
pub(super) fn vdev(pool: &Pool, top: &Vdev, detail: &Detail) -> String {
    let mut words = vec![top.class.clone()];
    if top.children.len() > 1 {
        words.push(format!("{} over {}", top.kind, top.children.len()));
    }
    words.extend(top.ashift.known().map(|shift| format!("ashift {shift}")));
    words.push(top.state.clone());
    let errors: u64 = top.children.iter().chain([top]).flat_map(|vdev| vdev.errors).sum();
    if errors > 0 {
        words.push(format!("{errors} ERRORS"));
    }
    let first = pool.vdevs.known().and_then(|tops| tops.first());
    if first == Some(top) {
        let mounts = detail.mounts.known().into_iter().flatten();
        words.extend(mounts.filter(|mount| mount.source == pool.name).map(|mount| mount.target.clone()));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_read_is_not_called_absent() {
        let on = |names: &[&str]| Node { on: names.iter().map(|name| (*name).to_owned()).collect(), ..Node::default() };
        assert_eq!(array(&Md::default(), &on(&["sda", "sdb"]))[0], "2 members");
        assert_eq!(array(&Md::default(), &on(&[]))[0], "its members are not known");
        let system = FileSystem { kind: "ext4".to_owned(), ..FileSystem::default() };
        let mut detail = Detail { mounts: Readout::unknown("not captured"), ..Detail::default() };
        assert_eq!(file_system(&system, &detail), ["ext4", "mounted or not is not known"]);
        detail.mounts = Readout::Known(Vec::new());
        assert_eq!(file_system(&system, &detail), ["ext4", "not mounted"]);
    }
}
