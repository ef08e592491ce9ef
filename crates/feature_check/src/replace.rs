//! Putting a blank drive in the place of one that is gone: the layers on it are made anew, and what joined it rebuilds.

use host::Host;
use terms::{Act, Cmd, Layer, LayerNode, Name, Ref};

use crate::error::FeatureCheckError;
use crate::scene::{Scene, WHOLE};
use crate::scrub::{array, await_md, group, volume};

/// Bytes of a key, as many as the stack's own have.
const KEY_BYTES: usize = 64;
/// What names of new mappings end in: the old ones are held by what rests on them.
const NEW: &str = "-new";

/// A random key. It is handed to a program on its standard input and kept nowhere.
pub(crate) fn fresh_key(host: &dyn Host) -> Result<Vec<u8>, FeatureCheckError> {
    Ok(host::draw_key(host, KEY_BYTES)?)
}

/// What has to be known of a drive before it is gone.
pub(crate) struct Replacement<'a> {
    drive: Name,
    /// Layers that rest on this drive alone, the lowest first.
    own: Vec<&'a LayerNode>,
    /// The layer that joins it with others.
    joiner: &'a LayerNode,
    /// What the joiner rests on: the drive, its partition or the topmost of its own mappings.
    member: String,
    /// What btrfs calls the member.
    devid: Option<String>,
}

impl<'a> Replacement<'a> {
    /// Learns it; `None` where the drive's layers are joined by one that is not redundant itself.
    pub(crate) fn prepare(scene: &Scene<'a>, drive: &Name) -> Result<Option<Self>, FeatureCheckError> {
        let mut own = Vec::new();
        let mut at = Ref::Drive(drive.clone());
        let joiner = loop {
            match scene.above(&at) {
                Some(node) if node.layer.is_one_on_one() => {
                    own.push(node);
                    at = Ref::Layer(node.name.clone());
                }
                Some(node) if node.layer.is_redundant() && node.on.contains(&at) => break node,
                _ => return Ok(None),
            }
        };
        let mut of = Self { drive: drive.clone(), own, joiner, member: String::new(), devid: None };
        of.member = of.device(scene, "")?;
        if matches!(joiner.layer, Layer::Btrfs(_)) {
            of.devid = devid(scene, &of.member)?;
        }
        Ok(Some(of))
    }

    /// Is what the joiner gets a mapping, which lives on without its drive and keeps its name?
    fn is_mapping(&self) -> bool {
        self.own.last().is_some_and(|node| !node.layer.shares_drive())
    }

    /// The device that the joiner gets, with an ending for its name where it is a mapping.
    fn device(&self, scene: &Scene<'_>, ending: &str) -> Result<String, FeatureCheckError> {
        match self.own.last() {
            Some(node) if node.layer.shares_drive() => scene.device_of(&Ref::Layer(node.name.clone())),
            Some(node) => Ok(scene.device_of(&Ref::Layer(node.name.clone()))? + ending),
            None if matches!(self.joiner.layer, Layer::Zfs(_)) => {
                Ok(terms::plan::partition_of(&scene.drive(&self.drive)?, 1))
            }
            None => scene.drive(&self.drive),
        }
    }

    /// Makes the drive's own layers anew and has the joiner rebuild.
    pub(crate) fn rebuild(&self, scene: &Scene<'_>) -> Result<(), FeatureCheckError> {
        for node in &self.own {
            self.make(scene, node)?;
        }
        let new = self.device(scene, NEW_IF[usize::from(self.is_mapping())])?;
        match &self.joiner.layer {
            Layer::Raid(_) => self.md(scene, &new),
            Layer::Lvm(_) => self.lvm(scene, &new),
            Layer::Btrfs(_) => self.btrfs(scene, &new),
            Layer::Zfs(_) => self.zfs(scene, &new),
            other => Err(FeatureCheckError::Strange(format!("{} does not rebuild", other.title()))),
        }
    }

    /// The plan's own commands for a layer, on the new drive and under another name.
    fn make(&self, scene: &Scene<'_>, node: &LayerNode) -> Result<(), FeatureCheckError> {
        let key = fresh_key(scene.subject.host)?;
        for step in scene.subject.plan.steps.iter().filter(|step| step.layer == node.name) {
            let Act::Run(command) = &step.act else { continue };
            let mut cmd = scene.command(&step.id, command)?;
            for word in &mut cmd.argv {
                for own in self.own.iter().filter(|own| !own.layer.shares_drive()) {
                    let mapping = scene.device_of(&Ref::Layer(own.name.clone()))?;
                    let name = mapping.strip_prefix("/dev/mapper/").unwrap_or(&mapping);
                    if *word == mapping || word == name {
                        word.push_str(NEW);
                        break;
                    }
                }
            }
            if command.key.is_some() {
                cmd.stdin.clone_from(&key);
            }
            scene.run_ok(&format!("On the new drive: {}", step.why), &cmd)?;
        }
        Ok(())
    }

    fn md(&self, scene: &Scene<'_>, new: &str) -> Result<(), FeatureCheckError> {
        let array_node = scene.device_of(&Ref::Layer(self.joiner.name.clone()))?;
        // A drive that is gone has no node to name it by.
        let old = if self.is_mapping() { &self.member } else { "detached" };
        let fail = Cmd::new(["mdadm", &array_node, "--fail", old]);
        scene.run("The lost member is given up, if md has not done so itself.", &fail)?;
        scene.run("And let go.", &Cmd::new(["mdadm", &array_node, "--remove", old]))?;
        scene.run_ok("The new one takes its place.", &Cmd::new(["mdadm", &array_node, "--add", new]))?;
        let directory = array(scene, &self.joiner.name)?;
        await_md(scene, &directory)?;
        let host = scene.subject.host;
        scene.await_that("the array to be whole", WHOLE, || {
            Ok(host.read_text(&format!("{directory}/degraded"))? == "0"
                && host.read_text(&format!("{directory}/sync_action"))? == "idle")
        })?;
        scene.seen("the array is whole again");
        Ok(())
    }

    fn lvm(&self, scene: &Scene<'_>, new: &str) -> Result<(), FeatureCheckError> {
        let volume = volume(scene, &self.joiner.name)?;
        let group = group(&volume);
        scene.run_ok("The new drive becomes a physical volume.", &Cmd::new(["pvcreate", "--quiet", new]))?;
        let reduce = Cmd::new(["vgreduce", "--removemissing", "--force", group]);
        scene.run_ok("The group forgets the lost one.", &reduce)?;
        scene.run_ok("And takes the new one.", &Cmd::new(["vgextend", group, new]))?;
        let repair = Cmd::new(["lvconvert", "--yes", "--repair", &volume]).limit(WHOLE);
        scene.run_ok("The lost leg is made anew.", &repair)?;
        let synced = Cmd::new(["lvs", "--noheadings", "--options", "sync_percent,raid_sync_action", &volume]);
        scene.await_that("the volume to be whole", WHOLE, || {
            let told = scene.subject.host.run_ok(&synced)?.text();
            Ok(told.trim().starts_with("100") && told.contains("idle"))
        })?;
        scene.seen("the volume is whole again");
        Ok(())
    }

    fn btrfs(&self, scene: &Scene<'_>, new: &str) -> Result<(), FeatureCheckError> {
        let Some(devid) = &self.devid else {
            return Err(FeatureCheckError::Strange(format!("btrfs did not tell the number of `{}`", self.member)));
        };
        let argv = ["btrfs", "replace", "start", "-B", "-r", devid, new, scene.target().path()];
        scene.run_ok("btrfs writes onto the new drive what the lost one held.", &Cmd::new(argv).limit(WHOLE))?;
        Ok(())
    }

    fn zfs(&self, scene: &Scene<'_>, new: &str) -> Result<(), FeatureCheckError> {
        let Some(pool) = scene.pool() else {
            return Err(FeatureCheckError::Strange("the plan has no pool".to_owned()));
        };
        let wanted = format!("partition-{}", self.drive);
        let steps = scene.subject.plan.steps.iter();
        for step in steps.filter(|step| step.layer == self.joiner.name && step.id.ends_with(&wanted)) {
            if let (Act::Run(command), true) = (&step.act, self.own.is_empty()) {
                scene.run_ok(&format!("On the new drive: {}", step.why), &scene.command(&step.id, command)?)?;
            }
        }
        let argv = ["zpool", "replace", pool.as_str(), self.member.as_str(), new];
        // The same name for a new drive is said once.
        let argv = if self.member == new { &argv[..4] } else { &argv[..] };
        scene.run_ok("ZFS writes onto the new drive what the lost one held.", &Cmd::new(argv.iter().copied()))?;
        let wait = Cmd::new(["zpool", "wait", "-t", "replace,resilver", &pool]).limit(WHOLE);
        scene.run_ok("Until it is done.", &wait)?;
        scene.run_ok("How the pool stands.", &Cmd::new(["zpool", "status", "-P", &pool]))?;
        Ok(())
    }
}

/// What the name of the new device ends in: nothing for a drive, [`NEW`] for a mapping.
const NEW_IF: [&str; 2] = ["", NEW];

/// What btrfs calls a device: the number before its path.
fn devid(scene: &Scene<'_>, member: &str) -> Result<Option<String>, FeatureCheckError> {
    let show = Cmd::new(["btrfs", "filesystem", "show", "--raw", scene.target().path()]);
    let told = scene.run_ok("What btrfs calls the drive that will be pulled.", &show)?.text();
    Ok(parse_devid(&told, member))
}

fn parse_devid(told: &str, member: &str) -> Option<String> {
    let line = told.lines().find(|line| line.trim_end().ends_with(&format!("path {member}")))?;
    line.split_whitespace().nth(1).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn btrfs_numbers_its_devices() {
        let told = "Label: none  uuid: 0\n\tTotal devices 2 FS bytes used 1\n\tdevid    1 size 8 used 1 path /dev/nvme0n1\n\
                    \tdevid    2 size 8 used 1 path /dev/mapper/x\n";
        assert_eq!(parse_devid(told, "/dev/mapper/x").as_deref(), Some("2"));
        assert_eq!(parse_devid(told, "/dev/nvme1n1"), None);
    }
}
