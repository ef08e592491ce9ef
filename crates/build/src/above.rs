//! What stands on the drives of a plan: is each thing that has a name of the run's really on its drives, on nothing else,
//! and as the run left it?

use claim::{Evidence, Examination, INTEGRITY_BELOW, Identity, Ours, Owner, WrittenMark};
use host::Devno;
use terms::Cmd;
use terms::plan::{Effect, Step, mapping_of_volume};

use crate::error::BuildError;
use crate::machine::{DIRECTORY, Machine};

/// What is above the drives.
pub(crate) struct Above<'a> {
    /// Today's machine.
    pub(crate) machine: &'a Machine<'a>,
    /// Steps of the plan that were begun.
    pub(crate) steps: &'a [&'a Step],
    /// Those of them that came to no end, and that no teardown began to take back.
    pub(crate) cut_short: &'a [String],
    /// By what the run's work is known.
    pub(crate) ours: &'a Ours,
    /// What was found on the drives that are there.
    pub(crate) seen: &'a [Examination],
    /// Drives of the run that are not there.
    pub(crate) gone: Vec<&'a Identity>,
    /// How many drives the plan has.
    pub(crate) drives: usize,
    /// May everything go that is on the drives?
    pub(crate) erasable: bool,
}

impl Above<'_> {
    pub(crate) fn check(&self, step: &Step, effect: &Effect) -> Result<(), BuildError> {
        match effect {
            Effect::Node(node) if !node.is_of_drive() => self.node(&self.machine.word(&step.id, node)?),
            Effect::Mount(directory) => self.mount(directory),
            Effect::Group(name) => self.group(name),
            Effect::Pool(name) => self.pool(name),
            Effect::Directory { path, file_system } => self.directory(path, file_system),
            Effect::Node(_) | Effect::Signature { .. } | Effect::LogicalBlock { .. } => Ok(()),
        }
    }

    fn shows(&self, is_it: impl Fn(&Evidence) -> bool) -> bool {
        self.seen.iter().any(|examination| examination.shows(&is_it))
    }

    /// Is it one of the run's drives, there or gone, or does it rest on one?
    fn holds(&self, devno: Devno) -> Result<bool, BuildError> {
        let is_drive = |examination: &Examination| examination.identity.devno == devno;
        if self.seen.iter().any(is_drive)
            || self.shows(|evidence| matches!(evidence, Evidence::Upper { devno: upper, .. } if *upper == devno))
            || self.gone.iter().any(|drive| drive.devno == devno)
        {
            return Ok(true);
        }
        // Of a drive that was pulled sysfs tells nothing any more; what rests on it still says so.
        if self.gone.is_empty() {
            return Ok(false);
        }
        let mut below = claim::made_of(self.machine.host, devno)?.into_iter();
        below.try_fold(false, |held, below| Ok(held || self.holds(below)?))
    }

    /// The same of the device behind a node; a path without one is none of ours.
    fn holds_node(&self, node: &str) -> Result<bool, BuildError> {
        claim::devno_of(self.machine.host, node)?.map_or(Ok(false), |devno| self.holds(devno))
    }

    /// Everything that an array, a mapping, a pool or a file system of ours says it is made of is ours: what is taken away
    /// from it goes through to each of its devices.
    pub(crate) fn members(&self) -> Result<(), BuildError> {
        for (devno, owner) in claim::members(self.machine.host, self.ours)? {
            if self.holds(devno)? {
                continue;
            }
            let node = claim::node_of_devno(self.machine.host, devno)?.unwrap_or_else(|| devno.to_string());
            if !self.shows_node(&node) {
                return Err(not_ours(
                    owner.to_string(),
                    &format!("`{node}` is part of it, and is not one of its drives"),
                ));
            }
        }
        Ok(())
    }

    /// What the run left open and is not open any more was closed by somebody, who may have put what is in it to use. In the
    /// same session nobody came between, and whoever named the drives agreed.
    pub(crate) fn is_as_left(&self, step: &Step, effect: &Effect, finished: &[String]) -> Result<(), BuildError> {
        let is_open_else = match effect {
            Effect::Node(node) => !node.is_of_drive(),
            Effect::Mount(_) | Effect::Group(_) | Effect::Pool(_) => true,
            Effect::Signature { .. } | Effect::LogicalBlock { .. } | Effect::Directory { .. } => false,
        };
        let asks = !self.ours.kept && !self.erasable && self.seen.len() == self.drives;
        if !asks || !is_open_else || self.machine.sees(&step.id, effect)? {
            return Ok(());
        }
        if finished.contains(&step.id) {
            return Err(not_ours(
                effect.describe(),
                "it was open when the run ended and is not now, so somebody closed it since",
            ));
        }
        // A mount that was cut short may have been there all the same.
        match effect {
            Effect::Mount(_) if self.cut_short.contains(&step.id) && self.was_mounted(step)? => Err(not_ours(
                effect.describe(),
                "its file system was mounted since it was made, so somebody may have used it",
            )),
            _ => Ok(()),
        }
    }

    /// Was the ext4 of a layer ever mounted? Others do not count that.
    fn was_mounted(&self, mount: &Step) -> Result<bool, BuildError> {
        for step in self.steps.iter().filter(|step| step.layer == mount.layer) {
            let Some(Effect::Signature { node, kind }) = &step.effect else { continue };
            let node = self.machine.word(&step.id, node)?;
            if kind != "ext4" || !self.machine.lives(&node)? {
                continue;
            }
            // Where it is not there any more, whoever wiped it left nothing of theirs in it.
            let header = self.machine.host.run(&Cmd::new(["dumpe2fs", "-h", &node]))?.text();
            let count = header.lines().find_map(|line| line.strip_prefix("Mount count:")).map(str::trim);
            if count.is_some_and(|count| count != "0") {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Refuses a device that does not rest on the run's drives.
    pub(crate) fn rests(&self, node: &str) -> Result<(), BuildError> {
        if self.holds_node(node)? {
            return Ok(());
        }
        Err(not_ours(format!("`{node}`"), "it does not rest on the run's drives"))
    }

    /// A device that has a name of ours rests on our drives and holds what we wrote.
    fn node(&self, node: &str) -> Result<(), BuildError> {
        let host = self.machine.host;
        if !self.machine.lives(node)? {
            return Ok(());
        }
        self.rests(node)?;
        let directory = self.machine.sysfs(node)?;
        if host.read_text(&format!("{directory}/dm/suspended")).is_ok_and(|suspended| suspended == "1") {
            return Err(not_ours(
                format!("`{node}`"),
                "it is suspended, and whatever is asked of it waits (dmsetup resume)",
            ));
        }
        // Nothing can be read of it, and nothing is written to it.
        if !self.gone.is_empty() && self.seen.is_empty() {
            return Ok(());
        }
        let strange: Vec<WrittenMark> = claim::signatures(host, node)?
            .into_iter()
            .filter(|found| !self.ours.made(&Evidence::Signature(found.clone()), true))
            .collect();
        match strange.first() {
            Some(found) if !self.erasable => {
                let uuid = found.uuid.as_ref().map(|uuid| format!(", UUID {uuid}")).unwrap_or_default();
                Err(not_ours(
                    format!("`{node}`"),
                    &format!("it holds {}{uuid}, which the run did not write", found.kind),
                ))
            }
            _ => Ok(()),
        }
    }

    fn mount(&self, directory: &str) -> Result<(), BuildError> {
        let real = self.machine.real(directory)?;
        let is_here = |evidence: &Evidence| matches!(evidence, Evidence::Mount(point) if *point == real);
        // The one on top: somebody may have mounted something of theirs over it.
        let Some(source) = self.machine.mounted(directory)? else { return Ok(()) };
        let on_gone = self.gone.iter().any(|drive| drive.node == source);
        let is_pool = self.ours.names.contains(&source);
        let on_ours = self.holds_node(&source)? || self.shows_node(&source);
        if on_gone || ((on_ours || is_pool) && (self.shows(is_here) || !self.gone.is_empty())) {
            return Ok(());
        }
        Err(not_ours(format!("`{directory}`"), "what is mounted there is not on the run's drives"))
    }

    /// A directory that is not there was taken away, or the file system that it is on is not mounted.
    fn directory(&self, path: &str, file_system: &str) -> Result<(), BuildError> {
        let host = self.machine.host;
        // What is mounted below it goes with it where it is of the same file system: a bind mount of somebody's directory.
        if let Some(below) = self.machine.mounted_below(path)? {
            return Err(not_ours(format!("`{path}`"), &format!("something is mounted at `{below}`")));
        }
        let parent = path.rsplit_once('/').map_or("/", |(parent, _)| if parent.is_empty() { "/" } else { parent });
        // It was made where no link led; a link in its place leads to what somebody else has.
        if let Some(to) = host.resolve(parent).ok().filter(|to| to != parent) {
            return Err(not_ours(format!("`{path}`"), &format!("a link leads there now, to `{to}`")));
        }
        // Records of before 2026-11-30 do not tell which it was.
        let made: Vec<&WrittenMark> = self.ours.signatures.iter().filter(|mark| mark.kind == DIRECTORY).collect();
        if host.exists(path)? {
            if made.is_empty() || made.contains(&&self.machine.directory_mark(path)?) {
                return Ok(());
            }
            return Err(not_ours(format!("`{path}`"), "it is not the directory that the run made"));
        }
        if host::file_system_id(host, parent).is_ok_and(|now| now == file_system) {
            return Ok(());
        }
        Err(BuildError::NotMounted { path: path.to_owned() })
    }

    /// All physical volumes of a group of our name are on our drives, and all logical volumes in it are ours.
    fn group(&self, name: &str) -> Result<(), BuildError> {
        let host = self.machine.host;
        if !self.machine.has_group(name)? {
            return Ok(());
        }
        let list = Cmd::new(["vgs", "--noheadings", "--options", "pv_name", name]);
        for node in host.run_ok(&list)?.text().lines().map(str::trim).filter(|line| line.starts_with('/')) {
            if !self.holds_node(node)? && !self.shows_node(node) {
                return Err(not_ours(format!("the volume group `{name}`"), &format!("`{node}` is not the run's")));
            }
        }
        // One that is not active shows nowhere else, and goes with the pool that it is in.
        let list = Cmd::new(["lvs", "--noheadings", "--options", "lv_name", name]);
        let volumes = host.run_ok(&list)?.text();
        let is_strange = |volume: &&str| {
            let is_ours = self.ours.named(&mapping_of_volume(name, volume)) && !volume.ends_with(INTEGRITY_BELOW);
            !volume.is_empty() && !is_ours
        };
        match volumes.lines().map(str::trim).find(is_strange) {
            Some(volume) if !self.erasable => {
                Err(not_ours(format!("the volume group `{name}`"), &format!("its volume `{volume}` is not the run's")))
            }
            _ => Ok(()),
        }
    }

    /// Is the node one on which something was found: a partition of a drive?
    fn shows_node(&self, node: &str) -> bool {
        self.seen.iter().flat_map(|examination| &examination.findings).any(|finding| finding.node == node)
    }

    fn pool(&self, name: &str) -> Result<(), BuildError> {
        let is_it = |evidence: &Evidence| matches!(evidence, Evidence::Listed(Owner::Pool(pool)) if pool == name);
        if self.machine.has_pool(name)? && !self.shows(is_it) {
            return Err(not_ours(format!("the pool `{name}`"), "it is not on the run's drives"));
        }
        Ok(())
    }
}

fn not_ours(what: String, why: &str) -> BuildError {
    BuildError::NotOurs { what, why: why.to_owned() }
}
