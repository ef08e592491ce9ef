//! Who allows a plan to write to drives: the lab, whose drives are made for it, or permissions for real drives. A plan's
//! command becomes one that can be run here and nowhere else, so nothing is destroyed past an [`Authority`].

use std::collections::{BTreeMap, BTreeSet};

use claim::{LockedDrive, Writable};
use host::{Host, HostError};
use terms::plan::{Placeholder, PlanCommand};
use terms::{Cmd, Name, Nanos, Outcome, Plan, Word};

use crate::error::BuildError;
use crate::machine::{Bindings, Machine, prove_blank};

/// Real drives by the study's names, each permitted and under a lock.
pub type Claims<'h> = BTreeMap<Name, LockedDrive<'h>>;

/// A drive of many terabytes may take its time to discard.
const DISCARD: Nanos = Nanos::seconds(600);

/// What allows writing to the drives of one machine.
pub struct Authority<'a> {
    host: &'a dyn Host,
    drives: Bindings,
    ground: Grant<'a>,
}

enum Grant<'a> {
    /// Drives that go with the machine or with the program that made them.
    Passing,
    /// Drives that outlive the run.
    Held(&'a Claims<'a>),
}

impl<'a> Authority<'a> {
    /// Over drives of a machine that is thrown away: they are consented to by being lab drives.
    ///
    /// # Errors
    /// [`BuildError::NotThrowaway`] for any other machine.
    pub fn lab(host: &'a dyn Host, drives: &Bindings) -> Result<Self, BuildError> {
        Self::passing(host, drives, host.is_throwaway())
    }

    /// Over RAM drives that this program had the kernel make a moment ago, on a machine of any kind.
    ///
    /// # Errors
    /// [`BuildError::NotThrowaway`] where one of them is something else.
    pub fn memory(host: &'a dyn Host, drives: &Bindings) -> Result<Self, BuildError> {
        Self::passing(host, drives, drives.values().all(|node| claim::is_memory(node)))
    }

    fn passing(host: &'a dyn Host, drives: &Bindings, is: bool) -> Result<Self, BuildError> {
        if is {
            Ok(Self { host, drives: drives.clone(), ground: Grant::Passing })
        } else {
            Err(BuildError::NotThrowaway { host: host.name() })
        }
    }

    /// Over real drives, each permitted and locked.
    #[must_use]
    pub fn held(host: &'a dyn Host, claims: &'a Claims<'a>) -> Self {
        let drives = claims.iter().map(|(name, held)| (name.clone(), held.identity().node.clone())).collect();
        Self { host, drives, ground: Grant::Held(claims) }
    }

    /// The machine.
    #[must_use]
    pub const fn host(&self) -> &'a dyn Host {
        self.host
    }

    /// Nodes of today.
    #[must_use]
    pub const fn drives(&self) -> &Bindings {
        &self.drives
    }

    /// What plans say, on this machine.
    pub(crate) fn machine(&self) -> Machine<'_> {
        Machine::new(self.host, &self.drives)
    }

    /// Real drives; `None` where all of them go with the machine.
    pub(crate) const fn claims(&self) -> Option<&'a Claims<'a>> {
        match self.ground {
            Grant::Passing => None,
            Grant::Held(claims) => Some(claims),
        }
    }

    /// Refuses a plan that writes to a drive that nobody agreed to lose.
    pub(crate) fn check(&self, plan: &Plan) -> Result<(), BuildError> {
        let mut written = plan.steps.iter().flat_map(|step| &step.erases).chain(&plan.drives);
        match written.find(|drive| !self.drives.contains_key(*drive)) {
            Some(drive) => Err(BuildError::NotConsented { drive: drive.to_string() }),
            None => Ok(()),
        }
    }

    /// Refuses drives that are not, or no longer, free.
    pub(crate) fn prove_free(&self, drives: &[Name]) -> Result<(), BuildError> {
        match self.ground {
            Grant::Passing => prove_blank(self.host, &self.drives, drives),
            Grant::Held(claims) => {
                let held = drives.iter().filter_map(|drive| claims.get(drive));
                held.into_iter().try_for_each(|held| Ok(held.recheck()?))
            }
        }
    }

    /// Asks again, before something is destroyed, whether these are still the drives that were permitted. Drives of a lab
    /// are found by their serial numbers when it boots, and nobody can pull one.
    fn confirm(&self, drives: &BTreeSet<&Name>) -> Result<(), BuildError> {
        let Grant::Held(claims) = self.ground else { return Ok(()) };
        drives.iter().try_for_each(|drive| match claims.get(*drive) {
            Some(held) => Ok(held.confirm()?),
            None => Err(BuildError::NotConsented { drive: drive.to_string() }),
        })
    }

    /// Refuses drives with anything at all on them, signature or not, before something that no signature guards.
    pub(crate) fn prove_empty(&self, drives: &[Name]) -> Result<(), BuildError> {
        let Grant::Held(claims) = self.ground else { return Ok(()) };
        let held = drives.iter().filter_map(|drive| claims.get(drive));
        held.into_iter().try_for_each(|held| Ok(held.prove_empty()?))
    }

    /// Erases drives whose content a person agreed to lose, whoever put it there: what a tool was writing when it was ended
    /// may have no signature yet.
    pub(crate) fn erase_agreed(&self, drives: &[Name]) -> Result<(), BuildError> {
        let Grant::Held(claims) = self.ground else { return Ok(()) };
        let agreed = drives.iter().filter_map(|drive| claims.get(drive)).filter(|held| held.may_erase());
        agreed.into_iter().try_for_each(erase_whole)
    }

    /// A plan's command on this machine, for a person or a journal to read.
    pub(crate) fn line(&self, machine: &Machine<'_>, step: &str, command: &PlanCommand) -> Result<String, BuildError> {
        Ok(concrete(machine, step, command)?.line())
    }

    /// Runs a plan's command that destroys what is on these drives. They, and all that it names, are asked for again first. It
    /// may take `times` as long as the plan says.
    pub(crate) fn run(
        &self,
        machine: &Machine<'_>,
        (step, command): (&str, &PlanCommand),
        destroys: &[Name],
        key: Vec<u8>,
        times: u32,
    ) -> Result<Outcome, BuildError> {
        let named = command.argv.iter().flat_map(Word::places).filter_map(Placeholder::drive);
        self.confirm(&destroys.iter().chain(named).collect())?;
        let mut cmd = concrete(machine, step, command)?;
        cmd.limit = cmd.limit.times(times);
        cmd.stdin = key;
        Ok(self.host.run_ok(&cmd)?)
    }

    /// Writes a setting of the kernel. The drive that it is of is asked for again first.
    pub(crate) fn set(&self, machine: &Machine<'_>, (step, path): (&str, &Word), text: &str) -> Result<(), BuildError> {
        self.confirm(&path.places().filter_map(Placeholder::drive).collect())?;
        let path = machine.word(step, path)?;
        if !path.starts_with("/sys/") || path.contains("/../") {
            return Err(BuildError::NoSetting { path });
        }
        Ok(self.host.write(&path, text.as_bytes())?)
    }

    /// A drive with nothing on it, for writing to it as it is.
    ///
    /// # Errors
    /// Where it is not, or no longer, free.
    pub fn bare(&self, drive: &Name) -> Result<Writable, BuildError> {
        let unknown = || BuildError::NotConsented { drive: drive.to_string() };
        self.prove_free(std::slice::from_ref(drive))?;
        self.writable(self.drives.get(drive).ok_or_else(unknown)?)
    }

    /// A device that rests on these drives, for writing to it.
    ///
    /// # Errors
    /// Where it rests on any other.
    pub fn writable(&self, node: &str) -> Result<Writable, BuildError> {
        Ok(match self.ground {
            Grant::Passing => Writable::passing(self.host, node)?,
            Grant::Held(claims) => Writable::held(self.host, node, claims.values())?,
        })
    }

    /// Discards a drive that holds nothing any more: old bytes without a signature mean nothing to anybody, and would
    /// have the next run refused. `false` where the drive cannot, and keeps them.
    ///
    /// # Errors
    /// Where it is not free, or the machine is lost.
    pub fn discard(&self, drive: &Name) -> Result<bool, BuildError> {
        let place = self.bare(drive)?;
        self.confirm(&BTreeSet::from([drive]))?;
        Ok(discard(self.host, place.place().path())?)
    }
}

fn concrete(machine: &Machine<'_>, step: &str, command: &PlanCommand) -> Result<Cmd, BuildError> {
    let argv = command.argv.iter().map(|word| machine.word(step, word)).collect::<Result<Vec<_>, _>>()?;
    Ok(Cmd::new(argv).limit(command.limit).step(step))
}

/// Drives that go with their machine, cut into equal partitions.
impl Authority<'_> {
    /// Cuts a drive into `count` partitions of `mib` MiB each, named `slice-1` and so on.
    ///
    /// # Errors
    /// [`BuildError::NotThrowaway`] for a drive that outlives the run.
    pub fn slice(&self, drive: &Name, mib: u64, count: u64) -> Result<(), BuildError> {
        let mut argv: Vec<String> =
            ["parted", "--script", "--align", "optimal", self.passes(drive)?].map(str::to_owned).to_vec();
        argv.extend(["mklabel", "gpt"].map(str::to_owned));
        for slice in 0..count {
            let (from, to) = (1 + slice * mib, 1 + (slice + 1) * mib);
            argv.extend(["mkpart".to_owned(), format!("slice-{}", slice + 1)]);
            argv.extend([format!("{from}MiB"), format!("{to}MiB")]);
        }
        self.host.run_ok(&Cmd::new(argv))?;
        Ok(())
    }

    /// Takes the partition table away again.
    ///
    /// # Errors
    /// As for [`Authority::slice`].
    pub fn unslice(&self, drive: &Name) -> Result<(), BuildError> {
        self.host.run_ok(&Cmd::new(["wipefs", "--all", "--quiet", self.passes(drive)?]))?;
        Ok(())
    }

    fn passes(&self, drive: &Name) -> Result<&str, BuildError> {
        match (&self.ground, self.drives.get(drive)) {
            (Grant::Passing, Some(node)) => Ok(node),
            (Grant::Passing, None) => Err(BuildError::NotConsented { drive: drive.to_string() }),
            (Grant::Held(_), _) => Err(BuildError::NotThrowaway { host: self.host.name() }),
        }
    }
}

/// Takes away what a person agreed to lose, and uses the consent up: every signature of the drive and of its partitions,
/// and then, where the drive can, every byte. Nothing here forces its way: what is in use by now stops it. Nothing is
/// done where nobody agreed to anything. What was agreed to may be long ago: what came onto the drive since is refused.
///
/// # Errors
/// [`ClaimError::Arrived`](claim::ClaimError::Arrived). Where a signature cannot be taken away, or anything is still there
/// afterwards.
pub fn erase(held: &mut LockedDrive<'_>) -> Result<(), BuildError> {
    let had_something = !held.permission().accepted().is_empty();
    if had_something {
        held.confirm_content()?;
    }
    if !held.use_up_consent() || !had_something {
        return Ok(());
    }
    erase_whole(held)
}

/// The same in a teardown, where a person named the drive and more than the run's work is on it.
pub(crate) fn erase_whole(held: &LockedDrive<'_>) -> Result<(), BuildError> {
    let (host, node) = (held.host(), held.identity().node.clone());
    let run = |argv: &[&str]| -> Result<Outcome, BuildError> {
        held.confirm()?;
        Ok(host.run_ok(&Cmd::new(argv.iter().copied()).limit(DISCARD))?)
    };
    for partition in partitions(host, &node)? {
        run(&["wipefs", "--all", "--quiet", &partition])?;
    }
    run(&["wipefs", "--all", "--quiet", &node])?;
    // The kernel forgets partitions of a table that is gone; a drive without any answers that there is nothing to do.
    host.run(&Cmd::new(["blockdev", "--rereadpt", &node]).limit(DISCARD))?;
    held.confirm()?;
    discard(host, &node)?;
    // There are marks that `wipefs` does not know, and drives that cannot discard or give back what they discarded.
    for (place, length) in claim::places_of_marks(held.identity().size) {
        let [place, length] = [place, length].map(|number| number.to_string());
        run(&["blkdiscard", "--zeroout", "--offset", &place, "--length", &length, &node])?;
    }
    Ok(held.prove_blank()?)
}

fn discard(host: &dyn Host, node: &str) -> Result<bool, HostError> {
    Ok(host.run(&Cmd::new(["blkdiscard", node]).limit(DISCARD))?.ok())
}

/// Nodes of the partitions of a drive, the last first.
fn partitions(host: &dyn Host, node: &str) -> Result<Vec<String>, HostError> {
    let name = node.rsplit('/').next().unwrap_or_default();
    let directory = format!("/sys/class/block/{name}");
    let mut found = Vec::new();
    for entry in host.list(&directory)?.into_iter().filter(|entry| entry.starts_with(name)) {
        if host.exists(&format!("{directory}/{entry}/partition"))? {
            found.push(format!("/dev/{entry}"));
        }
    }
    found.reverse();
    Ok(found)
}
