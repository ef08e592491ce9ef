//! What stands on the drives of a plan: is each thing that has a name of the run's really on its drives, on nothing else,
//! and as the run left it?

use claim::{Evidence, Examination, INTEGRITY_BELOW, Identity, Ours, Owner, WrittenMark};
use host::Devno;
use terms::command::quote;
use terms::plan::{Effect, Plan, Step, Word, WorkFile, mapping_of_volume};
use terms::spelling::spell_inline;
use terms::{Cmd, Nanos};

use crate::error::BuildError;
use crate::machine::{DIRECTORY, Machine};
use crate::retry::is_busy;

/// To freeze a file system the kernel first writes out all that it holds back.
const FREEZE: Nanos = Nanos::seconds(600);
/// One shell freezes and thaws, so that nothing stays frozen where this program is killed between. It has a session of its own: a
/// freeze that outlasts its limit comes to its end all the same, and whoever ends the outer shell does not reach the one that thaws.
const LOOK: &str =
    r#"setsid sh -c "fsfreeze --freeze \"\$1\" && fsfreeze --unfreeze \"\$1\"" sh "$1" </dev/null; exit $?"#;
/// What a new ext4 has in it (mke2fs(8)).
const LOST_AND_FOUND: &str = "lost+found";

/// What is above the drives.
pub(crate) struct Above<'a> {
    /// Today's machine.
    pub(crate) machine: &'a Machine<'a>,
    pub(crate) plan: &'a Plan,
    /// Steps of it that were done, or that an earlier teardown began to take back.
    pub(crate) had: &'a [String],
    /// By what the run's work is known.
    pub(crate) ours: &'a Ours,
    /// What was found on the drives that are there.
    pub(crate) seen: &'a [Examination],
    /// Drives of the run that are not there.
    pub(crate) gone: Vec<&'a Identity>,
    /// May everything go that is on the drives?
    pub(crate) erasable: bool,
}

impl Above<'_> {
    pub(crate) fn check(&self, step: &Step, effect: &Effect) -> Result<(), BuildError> {
        match effect {
            Effect::Node(node) if !node.is_of_drive() => self.node(&self.machine.word(&step.id, node)?),
            Effect::Mount(directory) => self.mount(directory),
            Effect::Group(name) => self.group(name),
            Effect::Pool(name) => self.pool(step, name),
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

    /// Whoever came between put what the run had made to use, or closed what it had left open and may have put that to use. In
    /// the same session nobody came between, and whoever named the drives agreed.
    pub(crate) fn is_as_left(&self, step: &Step, effect: &Effect, finished: &[String]) -> Result<(), BuildError> {
        if self.ours.kept || self.erasable {
            return Ok(());
        }
        match effect {
            Effect::Signature { node, kind } => self.is_unused(step, node, kind),
            Effect::Node(node) if node.is_of_drive() => Ok(()),
            Effect::Node(_) | Effect::Mount(_) | Effect::Group(_) | Effect::Pool(_) => {
                self.is_still_open(step, effect, finished)
            }
            Effect::LogicalBlock { .. } | Effect::Directory { .. } => Ok(()),
        }
    }

    fn is_still_open(&self, step: &Step, effect: &Effect, finished: &[String]) -> Result<(), BuildError> {
        let all_there = self.seen.len() == self.plan.drives.len();
        if !all_there || !finished.contains(&step.id) || self.machine.sees(&step.id, effect)? {
            return Ok(());
        }
        Err(not_ours(effect.describe(), "it was open when the run ended and is not now, so somebody closed it since"))
    }

    /// A file system that the run did not come to mount was mounted by nobody.
    fn is_unused(&self, made: &Step, node: &Word, kind: &str) -> Result<(), BuildError> {
        let is_mount = |step: &&Step| step.layer == made.layer && matches!(step.effect, Some(Effect::Mount(_)));
        if let Some(Step { id, effect: Some(mount), .. }) = self.plan.steps.iter().find(is_mount) {
            // A program that the run left behind may have come to it.
            if self.had.contains(id) || self.machine.sees(id, mount)? {
                return Ok(());
            }
        }
        let node = self.machine.word(&made.id, node)?;
        if !self.machine.lives(&node)? || claim::was_mounted(self.machine.host, &node, kind)? != Some(true) {
            return Ok(());
        }
        Err(not_ours(
            format!("the {kind} on `{node}`"),
            "it was mounted since it was made, and not by the run, so somebody may have used it",
        ))
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
        let signatures = match claim::signatures(host, node) {
            // Its drives were pulled, so nothing can be read of it, and nothing is lost with it.
            Err(_) if !self.gone.is_empty() && self.seen.is_empty() => return Ok(()),
            signatures => signatures?,
        };
        let strange: Vec<WrittenMark> =
            signatures.into_iter().filter(|found| !self.ours.made(&Evidence::Signature(found.clone()), true)).collect();
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
            self.is_thawed(directory)?;
            return self.holds_only_ours(directory);
        }
        Err(not_ours(format!("`{directory}`"), "what is mounted there is not on the run's drives"))
    }

    /// A frozen file system lets itself be unmounted, and holds its device until somebody thaws it, for which there is no
    /// directory any more. The kernel tells only whoever asks for another freeze (kernel, fs/super.c, `freeze_super`).
    fn is_thawed(&self, directory: &str) -> Result<(), BuildError> {
        let look = self.machine.host.run(&Cmd::new(["sh", "-c", LOOK, "sh", directory]).limit(FREEZE))?;
        if look.ok() || !(look.timed_out || is_busy(&look.error_text())) {
            // File systems that nobody can freeze say so, and that is all that was asked.
            return Ok(());
        }
        let why = format!("it is frozen, and whatever writes to it waits (fsfreeze --unfreeze {})", quote(directory));
        Err(not_ours(format!("the mount at `{directory}`"), &why))
    }

    /// Workloads lay their files in the directory under names of ours: whoever found it mounted may have put theirs beside them.
    fn holds_only_ours(&self, directory: &str) -> Result<(), BuildError> {
        let found = match self.machine.host.list(directory) {
            _ if self.erasable => return Ok(()),
            // Of what rests on a drive that was pulled nothing can be read, and nothing can be saved.
            Err(_) if !self.gone.is_empty() => return Ok(()),
            found => found?,
        };
        let is_ours = |name: &&String| WorkFile::named(name).is_some() || name.as_str() == LOST_AND_FOUND;
        found.iter().find(|name| !is_ours(name)).map_or(Ok(()), |name| {
            let what = format!("`{}`", spell_inline(&format!("{directory}/{name}")));
            Err(not_ours(what, "the run did not put it there; move it away, and it is not lost"))
        })
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
                return self.holds_only_ours(path);
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

    /// A pool of our name is on our drives, and holds its top dataset and nothing else: whatever is in it goes with it, mounted or
    /// not.
    fn pool(&self, step: &Step, name: &str) -> Result<(), BuildError> {
        let is_it = |evidence: &Evidence| matches!(evidence, Evidence::Listed(Owner::Pool(pool)) if pool == name);
        if !self.machine.has_pool(name)? {
            return Ok(());
        }
        if !self.shows(is_it) {
            return Err(not_ours(format!("the pool `{name}`"), "it is not on the run's drives"));
        }
        let list = Cmd::new(["zfs", "list", "-H", "-r", "-t", "filesystem,volume,snapshot", "-o", "name", name]);
        let sets = match self.machine.host.run_ok(&list) {
            // Where its drives were pulled nobody can read it any more.
            Err(_) if !self.gone.is_empty() => String::new(),
            sets => sets?.text(),
        };
        if let Some(other) = sets.lines().find(|set| *set != name).filter(|_| !self.erasable) {
            return Err(not_ours(format!("the pool `{name}`"), &strange_set(other)));
        }
        let Some(directory) = self.plan.mount_point(step) else { return Ok(()) };
        match self.machine.mounted(directory)? {
            Some(source) if source == name => self.holds_only_ours(directory),
            Some(_) => Err(not_ours(format!("`{directory}`"), "what is mounted there is not on the run's drives")),
            None => Ok(()),
        }
    }
}

/// Why a pool with something in it that the run did not make is left, and what a person may do. Whole machines have programs that take
/// snapshots of every pool by the clock.
fn strange_set(set: &str) -> String {
    let shown = spell_inline(set);
    if !set.contains('@') {
        return format!(
            "its dataset or volume `{shown}` is not the run's; `zfs send` or copy away what you want of it"
        );
    }
    format!(
        "its snapshot `{shown}` is not the run's: zfs-auto-snapshot, sanoid or another program that takes them by the clock may have made \
         it; if nobody wants it, say `zfs destroy {}`, and the same command again",
        spell_inline(&quote(set))
    )
}

fn not_ours(what: String, why: &str) -> BuildError {
    BuildError::NotOurs { what, why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::{Duration, Instant};
    use std::{fs, thread};

    use host::{Host as _, Local};

    use super::*;

    /// A `fsfreeze` that takes its time, and keeps in a file whether it is frozen.
    const SLOW: &str = "#!/bin/sh\n\
        if [ $1 = --freeze ]; then trap '' TERM; touch $2/begun; sleep 1; touch $2/frozen\n\
        else rm $2/frozen && touch $2/thawed; fi\n";

    #[test]
    fn a_freeze_that_outlasts_its_limit_is_thawed() {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join("fsfreeze");
        fs::write(&program, SLOW).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("PATH={}:{}", home.path().display(), std::env::var("PATH").unwrap());
        let directory = home.path().to_str().unwrap();
        for (limit, in_time) in [(Nanos::seconds(60), true), (Nanos::millis(300), false)] {
            let look = Cmd::new(["env", &path, "sh", "-c", LOOK, "sh", directory]).limit(limit);
            let outcome = Local::new().run(&look).unwrap();
            assert!(home.path().join("begun").exists(), "{outcome:?}");
            assert_eq!((outcome.ok(), outcome.timed_out), (in_time, !in_time), "{outcome:?}");
            let begin = Instant::now();
            while !home.path().join("thawed").exists() {
                assert!(begin.elapsed() < Duration::from_secs(20), "it is frozen, and nobody is left to thaw it");
                thread::sleep(Duration::from_millis(20));
            }
            fs::remove_file(home.path().join("thawed")).unwrap();
        }
    }
}
