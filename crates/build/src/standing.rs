//! Is what stands still what a run made? Asked under the lock, before the first command that takes anything back.

use std::thread;
use std::time::Duration;

use claim::{ClaimError, Examination, Identity, LockedDrive, Ours, WrittenMark};
use terms::Name;
use terms::plan::{Effect, Placeholder, Plan, Step, Undo, mapping_of_volume};

use crate::above::Above;
use crate::authority::Authority;
use crate::error::BuildError;
use crate::journal::{self, JournalEntry};
use crate::leftover::Leftovers;
use crate::machine::Machine;

/// A program that looks at a drive whenever something about it changes has it open for a moment.
const TRIES: u32 = 8;
const PAUSE: Duration = Duration::from_millis(400);

/// What was found on the drives of a plan.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Drives on which something of the run is, or which may be erased whatever is on them.
    pub(crate) undoable: Vec<Name>,
    /// Drives on which something of the run is, and nothing of anybody else.
    pub(crate) ours: Vec<Name>,
    /// Drives that a person named and that hold somebody else's and nothing of the run.
    pub(crate) left_alone: Vec<Name>,
    /// May everything on all of them go? Then what an undo cannot take away the erasing takes.
    pub(crate) erasable: bool,
}

/// Looks at every drive of the plan that is there, and at everything that the plan's undos name.
///
/// # Errors
/// [`BuildError::Claim`] with everything on a drive that is not the run's; [`BuildError::NotOurs`] for an array, mapping,
/// group, pool or mount that has the run's name and is not on its drives, or holds what the run did not write.
pub(crate) fn examine(
    authority: &Authority<'_>,
    machine: &Machine<'_>,
    plan: &Plan,
    past: &[JournalEntry],
    absent: &[&Name],
    leftovers: &Leftovers,
) -> Result<Found, BuildError> {
    // Drives of a lab are nobody else's.
    let Some(claims) = authority.claims() else {
        return Ok(Found { undoable: plan.drives.clone(), ours: plan.drives.clone(), ..Found::default() });
    };
    let begun = journal::begun(past, &plan.slug);
    let steps: Vec<&Step> = plan.steps.iter().filter(|step| begun.iter().any(|(id, _)| *id == step.id)).collect();
    let mut ours = ours(machine, plan, &steps, journal::signatures(past, &plan.slug))?;
    for mapping in leftovers.values().flatten() {
        ours.devices.extend(claim::devno_of(machine.host, &mapping.node)?);
        ours.names.push(mapping.name.clone());
    }
    // Of drives that are not to be found nobody kept a lock.
    ours.kept = !claims.is_empty() && claims.values().all(LockedDrive::is_from_the_start);
    let mut found = Found::default();
    let mut seen = Vec::new();
    // A person agreed to lose what is on the drives that were named. What stands on one that is not to be found is on that one, too.
    let mut erasable = absent.is_empty() && !plan.drives.is_empty();
    for name in plan.drives.iter().filter(|name| !absent.contains(name)) {
        let held = claims.get(name).ok_or_else(|| BuildError::NotConsented { drive: name.to_string() })?;
        let examination = look(held, &ours)?;
        let shown = ours.shows_on(&examination);
        let own = partitions(&steps, name);
        let other = examination.partitions.iter().find(|number| !own.contains(number));
        if let Some(number) = other.filter(|_| shown && !held.may_erase()) {
            return Err(BuildError::NotOurs {
                what: format!("partition {number} of `{}`", examination.identity.node),
                why: "the run did not make it".to_owned(),
            });
        }
        erasable &= held.may_erase();
        if held.may_erase() && ours.is_gone_from(&examination) {
            found.left_alone.push(name.clone());
        } else if shown || held.may_erase() {
            found.undoable.push(name.clone());
        }
        if shown && ours.strange(&examination).is_empty() {
            found.ours.push(name.clone());
        }
        seen.push(examination);
    }
    let gone = gone(machine, plan, past, absent)?;
    let finished = journal::finished(past, &plan.slug);
    let had = journal::had(past, &plan.slug);
    let place = Above { machine, plan, had: &had, ours: &ours, seen: &seen, gone, erasable };
    steps.iter().filter_map(|step| Some((*step, step.effect.as_ref()?))).try_for_each(|(step, effect)| {
        // Where nothing of the run is left no undo writes. A full disk kept no word of how it was taken down.
        if !found.undoable.is_empty() {
            place.is_as_left(step, effect, &finished)?;
        }
        place.check(step, effect)
    })?;
    leftovers.values().flatten().try_for_each(|mapping| place.rests(&mapping.node))?;
    place.members()?;
    found.erasable = erasable && !found.undoable.is_empty();
    Ok(found)
}

/// Numbers of the partitions that these steps make on a drive.
fn partitions(steps: &[&Step], drive: &Name) -> Vec<u32> {
    let nodes = steps.iter().filter_map(|step| match &step.effect {
        Some(Effect::Node(node)) => Some(node),
        _ => None,
    });
    let numbers = nodes.flat_map(|node| node.places()).filter_map(|place| match place {
        Placeholder::Partition(of, number) if of == drive => Some(*number),
        _ => None,
    });
    numbers.collect()
}

/// Drives of the run that are not there any more, as they were: what stood on them may stand still. Device numbers mean
/// nothing after a new start.
fn gone<'p>(
    machine: &Machine<'_>,
    plan: &Plan,
    past: &'p [JournalEntry],
    absent: &[&Name],
) -> Result<Vec<&'p Identity>, BuildError> {
    let Some(origin) = journal::origin(past, &plan.slug).filter(|_| !absent.is_empty()) else { return Ok(Vec::new()) };
    if machine.host.read_text(host::BOOT_ID)? != origin.boot {
        return Ok(Vec::new());
    }
    Ok(absent.iter().filter_map(|name| origin.drives.get(*name)).collect())
}

fn look(held: &LockedDrive<'_>, ours: &Ours) -> Result<Examination, ClaimError> {
    let mut tries = 1;
    loop {
        match held.look(ours) {
            Err(ClaimError::Refused(_)) if tries < TRIES => {
                tries += 1;
                thread::sleep(PAUSE);
            }
            answer => return answer,
        }
    }
}

/// By what the work of these steps is known on this machine today.
fn ours(machine: &Machine<'_>, plan: &Plan, steps: &[&Step], signatures: Vec<WrittenMark>) -> Result<Ours, BuildError> {
    let mut ours = Ours { signatures, ..Ours::default() };
    for step in steps {
        ours.names.extend(step.undo.iter().filter_map(volume));
        if let Some(directory) = plan.mount_point(step) {
            ours.mounts.push(machine.real(directory)?);
        }
        match &step.effect {
            Some(Effect::Node(node)) if !node.is_of_drive() => {
                let node = machine.word(&step.id, node)?;
                ours.devices.extend(claim::devno_of(machine.host, &node)?);
                ours.names.extend(mapping(&node));
            }
            Some(Effect::Pool(name)) => ours.names.push(name.clone()),
            Some(
                Effect::Node(_)
                | Effect::Mount(_)
                | Effect::Group(_)
                | Effect::Signature { .. }
                | Effect::LogicalBlock { .. }
                | Effect::Directory { .. },
            )
            | None => {}
        }
    }
    Ok(ours)
}

/// What the device mapper calls a volume that an undo removes: a pool and a cache have no node that anybody waits for.
fn volume(undo: &Undo) -> Option<String> {
    let argv = &undo.command.argv;
    let (group, volume) = argv.last()?.text()?.split_once('/')?;
    argv.first().is_some_and(|program| program == "lvremove").then(|| mapping_of_volume(group, volume))
}

/// What the device mapper calls a node: `/dev/mapper/NAME`, `/dev/GROUP/VOLUME`.
fn mapping(node: &str) -> Option<String> {
    match node.strip_prefix("/dev/")?.split_once('/')? {
        ("mapper", name) => Some(name.to_owned()),
        ("md", _) => None,
        (group, volume) => Some(mapping_of_volume(group, volume)),
    }
}
