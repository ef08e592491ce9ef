//! Does a snapshot restore the old content?

use terms::layer::Lvm;
use terms::plan::WorkPlace;
use terms::{Cmd, Layer, LayerNode, Name, Plan, Ref, Showing, Stack};

use crate::Came;
use crate::data::{Data, Read, forget, settle};
use crate::error::FeatureCheckError;
use crate::scene::Scene;
use crate::scrub::{group, volume};

/// Name of the snapshot.
const NAME: &str = "trial";
/// Where a volume's snapshot is mounted.
const MOUNTED: &str = "/run/bedplate-trial/snapshot";

/// The stack with room in its volume group for a snapshot, where it is LVM that takes it and keeps its snapshots
/// outside a pool: a volume that fills its group leaves none.
#[must_use]
pub fn roomy(stack: &Stack) -> Option<Stack> {
    let mut roomy = stack.clone();
    let node = roomy.nodes.iter_mut().rfind(|node| node.layer.traits().snapshots)?;
    match &mut node.layer {
        Layer::Lvm(lvm) if lvm.thin_chunk.is_none() => lvm.snapshot = true,
        _ => return None,
    }
    Some(roomy)
}

/// The plan without the snapshot that it would take itself: the feature check takes its own.
#[must_use]
pub fn without_snapshot(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.steps.retain(|step| !step.id.ends_with(".snapshot"));
    plan
}

/// Takes a snapshot, changes the data, and has the old ones back.
pub(crate) fn hold(scene: &Scene<'_>) -> Result<Came, FeatureCheckError> {
    let Some(node) = scene.nodes().iter().rfind(|node| node.layer.traits().snapshots) else {
        return Ok((Some(Showing::NotOffered), "No layer of the stack takes snapshots.".to_owned()));
    };
    let old = Data::new(scene, "snapshot", 0);
    old.write(scene)?;
    let taken = match &node.layer {
        Layer::Lvm(lvm) => take_volume(scene, node, lvm)?,
        Layer::Btrfs(_) => take_btrfs(scene)?,
        _ => take_zfs(scene)?,
    };
    let change = Cmd::new([
        "dd".to_owned(),
        "if=/dev/zero".to_owned(),
        format!("of={}", old.path),
        "bs=1M".to_owned(),
        "count=8".to_owned(),
        "oflag=seek_bytes".to_owned(),
        format!("seek={}", old.begin() * crate::data::BLOCK),
        "conv=notrunc,fsync".to_owned(),
        "status=none".to_owned(),
    ]);
    scene.run_ok("The data are overwritten with zeroes.", &change)?;
    settle(scene)?;
    if old.compare(scene, "The control: what was written is not there any more.")? == Read::Right {
        return Ok((None, "The data could not be overwritten.".to_owned()));
    }
    let back = taken.read(scene, &old)?;
    let by = node.layer.title();
    Ok(match back {
        Some(true) => (Some(Showing::Kept), format!("After overwriting, {} of {by} gives the old data.", taken.what())),
        Some(false) => {
            (Some(Showing::NotKept), format!("After overwriting, {} of {by} does not give the old data.", taken.what()))
        }
        None => {
            (None, format!("{by} took the snapshot, but what rests on its volume is not opened a second time here."))
        }
    })
}

/// A snapshot that was taken.
enum Taken<'a> {
    /// Of a volume: its node.
    Volume { node: String, layer: &'a Name },
    /// A directory.
    Subvolume(String),
    /// Of a pool, to be gone back to.
    Pool(String),
}

impl Taken<'_> {
    const fn what(&self) -> &'static str {
        match self {
            Self::Volume { .. } => "the mounted snapshot",
            Self::Subvolume(_) => "the snapshot",
            Self::Pool(_) => "going back to the snapshot",
        }
    }

    /// Are the old data in it? `None` where that cannot be looked at.
    fn read(&self, scene: &Scene<'_>, old: &Data) -> Result<Option<bool>, FeatureCheckError> {
        let why = "The old data are read from the snapshot.";
        let right = |read: Read| Some(read == Read::Right);
        match self {
            Self::Volume { node, layer } => volume_read(scene, node, layer, old),
            Self::Subvolume(directory) => {
                let path = format!("{directory}/{}", file_name(&old.path));
                Ok(right(old.compare_with(scene, why, &path, 0)?))
            }
            Self::Pool(name) => {
                let back = Cmd::new(["zfs", "rollback", name.as_str()]);
                scene.run_ok("The dataset goes back to what it was.", &back)?;
                forget(scene)?;
                Ok(right(old.compare(scene, "The data are read again.")?))
            }
        }
    }
}

fn take_volume<'a>(scene: &Scene<'_>, node: &'a LayerNode, lvm: &Lvm) -> Result<Taken<'a>, FeatureCheckError> {
    let volume = volume(scene, &node.name)?;
    let mut argv = vec!["lvcreate", "--yes", "--snapshot", "--name", NAME];
    if lvm.thin_chunk.is_some() {
        argv.extend(["--setactivationskip", "n"]);
    } else {
        argv.extend(["--extents", "100%FREE"]);
    }
    argv.push(&volume);
    scene.run_ok("A snapshot of the volume is taken.", &Cmd::new(argv))?;
    Ok(Taken::Volume { node: format!("/dev/{}/{NAME}", group(&volume)), layer: &node.name })
}

fn take_btrfs<'a>(scene: &Scene<'_>) -> Result<Taken<'a>, FeatureCheckError> {
    let directory = scene.target().path();
    let snapshot = format!("{directory}/{NAME}-snapshot");
    let cmd = Cmd::new(["btrfs", "subvolume", "snapshot", "-r", directory, &snapshot]);
    scene.run_ok("A snapshot is taken that cannot be written.", &cmd)?;
    Ok(Taken::Subvolume(snapshot))
}

fn take_zfs<'a>(scene: &Scene<'_>) -> Result<Taken<'a>, FeatureCheckError> {
    let Some(pool) = scene.pool() else { return Err(FeatureCheckError::Strange("the plan has no pool".to_owned())) };
    let name = format!("{pool}@{NAME}");
    scene.run_ok("A snapshot is taken.", &Cmd::new(["zfs", "snapshot", name.as_str()]))?;
    Ok(Taken::Pool(name))
}

/// Mounts a volume's snapshot, or reads it where data stand on the volume itself.
fn volume_read(scene: &Scene<'_>, node: &str, layer: &Name, old: &Data) -> Result<Option<bool>, FeatureCheckError> {
    let why = "The old data are read from the snapshot.";
    if let WorkPlace::Device(_) = scene.target() {
        if scene.subject.stack.top().is_none_or(|top| &top.name != layer) {
            return Ok(None);
        }
        return Ok(Some(old.compare_with(scene, why, node, old.begin())? == Read::Right));
    }
    let on_volume = |top: &&LayerNode| top.on.contains(&Ref::Layer(layer.clone()));
    let options = match scene.subject.stack.top().filter(on_volume).map(|top| &top.layer) {
        Some(Layer::Ext4(_)) => "ro",
        // The snapshot has the same identifier as what it was taken of.
        Some(Layer::Xfs(_)) => "ro,nouuid",
        _ => return Ok(None),
    };
    scene.run_ok("A directory for it.", &Cmd::new(["mkdir", "-p", MOUNTED]))?;
    let mount = Cmd::new(["mount", "--options", options, node, MOUNTED]);
    scene.run_ok("The snapshot is mounted, not to be written.", &mount)?;
    let read = old.compare_with(scene, why, &format!("{MOUNTED}/{}", file_name(&old.path)), 0)?;
    scene.run_ok("It is unmounted.", &Cmd::new(["umount", MOUNTED]))?;
    let remove = Cmd::new(["lvremove", "--yes", node.trim_start_matches("/dev/")]);
    scene.run_ok("And given up.", &remove)?;
    Ok(Some(read == Read::Right))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_volume_that_fills_its_group_is_given_room() {
        let node = |layer| LayerNode { name: Name::new("x").unwrap(), layer, on: Vec::new(), special: Vec::new() };
        let stack = |layer| Stack { name: "s".to_owned(), note: None, nodes: vec![node(layer)] };
        let thick = roomy(&stack(Layer::Lvm(Lvm::default()))).unwrap();
        assert!(matches!(&thick.nodes[0].layer, Layer::Lvm(lvm) if lvm.snapshot));
        let thin = Lvm { thin_chunk: Some(terms::Bytes::kib(64)), ..Lvm::default() };
        assert_eq!(roomy(&stack(Layer::Lvm(thin))), None);
        assert_eq!(roomy(&stack(Layer::Ext4(Default::default()))), None);
    }
}
