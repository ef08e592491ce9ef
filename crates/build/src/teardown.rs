//! Taking a stack down: the undos of every step that was begun, last first.

use std::collections::BTreeSet;

use host::HostError;
use terms::command::quote;
use terms::plan::{Act, Effect, Placeholder, Plan, Step, Undo};
use terms::{Name, Word};

use crate::authority::Authority;
use crate::error::BuildError;
use crate::journal::{self, Journal, JournalEntry};
use crate::lanes::rests_on;
use crate::leftover::{self, Leftovers};
use crate::machine::{Bindings, Machine, prove_blank};
use crate::retry::{again, is_busy};
use crate::standing;

/// Takes back every step that the journal says was begun, and proves the drives blank. What stands is looked at first:
/// only what is still what the run made is taken back. Gives the drives that held nothing but the run's work, which may
/// be discarded. A drive that holds nothing of the run is left as it is, also where a person agreed to lose what is on it.
///
/// # Errors
/// [`BuildError`] of the first undo that cannot be done; [`commands_left`] then tells what remains. After a refusal
/// nothing was touched, after [`BuildError::Unwritten`] nothing remains.
pub fn teardown(
    plan: &Plan,
    authority: &Authority<'_>,
    past: &[JournalEntry],
    journal: &mut dyn Journal,
) -> Result<Vec<Name>, BuildError> {
    let machine = authority.machine();
    let absent = absent(&machine, plan)?;
    let leftovers = leftover::find(&machine, plan, past)?;
    let found = standing::examine(authority, &machine, plan, past, &absent, &leftovers)?;
    // What is undone twice does no harm: a full disk must not keep a stack standing.
    let mut unwritten = None;
    let mut note = |entry: JournalEntry| {
        if let Err(error) = journal.note(&entry) {
            unwritten.get_or_insert(error);
        }
    };
    let finished = journal::finished(past, &plan.slug);
    let begun = journal::begun(past, &plan.slug);
    let gone = gone(&machine, plan, &begun)?;
    let is_left_alone = |name: &Name| found.left_alone.contains(name);
    for (id, old) in begun.iter().rev() {
        let Some(step) = plan.steps.iter().find(|step| &step.id == id) else { continue };
        // What the step made may be gone and its other traces not: a stopped array leaves superblocks. So every undo
        // runs; where there is nothing left to undo it may fail, and the proof below has the last word.
        let is_gone = gone.contains(&id.as_str());
        let lenient = found.erasable || !finished.contains(id) || is_gone;
        // What is on a drive that is not there is taken away when it is back: until then the step is not undone.
        let undos = leftover::undos(&leftovers, step);
        let (here, elsewhere): (Vec<&Undo>, Vec<&Undo>) =
            undos.iter().partition(|undo| !names_any(&undo.command.argv, &absent));
        let mut undone = elsewhere.is_empty();
        if let (Act::Write { path, .. }, Some(old)) = (&step.act, old) {
            if names_any([path], &absent) {
                undone = false;
            } else if let Some(line) = line_back(&machine, id, (path, old), is_gone)? {
                note(undoing(plan, step, line));
                put_back(authority, &machine, (id, path), old)?;
            }
        }
        for undo in here {
            let destroyed = destroyed(step, undo);
            // Where nothing of the run is left on a drive there is nothing to take away from it.
            if !destroyed.iter().all(|name| found.undoable.contains(name)) {
                match &step.effect {
                    Some(Effect::LogicalBlock { .. }) if !destroyed.iter().any(is_left_alone) => {
                        authority.prove_empty(&destroyed)?;
                    }
                    _ => continue,
                }
            }
            note(undoing(plan, step, authority.line(&machine, id, &undo.command)?));
            let command = (id.as_str(), &undo.command);
            match again(machine.host, is_busy, || authority.run(&machine, command, &destroyed, Vec::new(), 1)) {
                // If the proof finds something left, the next teardown tries again.
                Err(BuildError::Host(HostError::Command(_))) if lenient => undone = false,
                result => drop(result?),
            }
        }
        if undone {
            note(JournalEntry::Undone { stack: plan.slug.clone(), step: id.clone() });
        }
    }
    if let Some(drive) = absent.first() {
        return Err(BuildError::DriveAbsent { drive: drive.to_string() });
    }
    let drives: Vec<Name> = plan.drives.iter().filter(|name| !is_left_alone(name)).cloned().collect();
    authority.erase_agreed(&drives)?;
    prove_blank(authority.host(), authority.drives(), &drives)?;
    note(JournalEntry::Down { stack: plan.slug.clone() });
    unwritten.map_or(Ok(found.ours), |error| Err(BuildError::Unwritten(error)))
}

/// Drives of the plan that are not there: pulled, or dead.
fn absent<'a>(machine: &Machine<'_>, plan: &'a Plan) -> Result<Vec<&'a Name>, BuildError> {
    let mut absent = Vec::new();
    for drive in &plan.drives {
        let known = machine.drives.contains_key(drive);
        if !known || !machine.lives(&machine.word("teardown", &Word::drive(drive))?)? {
            absent.push(drive);
        }
    }
    Ok(absent)
}

/// Drives that an undo takes something away from: what its step erased, and whatever it names a partition of, which the kernel
/// may know still when its table is gone. Others that it names get a setting back.
fn destroyed(step: &Step, undo: &Undo) -> Vec<Name> {
    let takes = |place: &&Placeholder| match place {
        Placeholder::Partition(..) => true,
        place => place.drive().is_some_and(|name| step.erases.contains(name)),
    };
    let places = undo.command.argv.iter().flat_map(Word::places).filter(takes);
    places.filter_map(Placeholder::drive).cloned().collect::<BTreeSet<_>>().into_iter().collect()
}

fn names_any<'w>(words: impl IntoIterator<Item = &'w Word>, drives: &[&Name]) -> bool {
    let mut places = words.into_iter().flat_map(Word::places);
    places.any(|place| place.drive().is_some_and(|named| drives.contains(&named)))
}

/// The commands that a person must run to finish what [`teardown`] could not, in order, as the machine stands now.
#[must_use]
pub fn commands_left(plan: &Plan, authority: &Authority<'_>, past: &[JournalEntry]) -> Vec<String> {
    let machine = authority.machine();
    // A machine that cannot be asked names none.
    let leftovers = leftover::find(&machine, plan, past).unwrap_or_default();
    commands(plan, &machine, past, &leftovers)
}

/// The same for a machine that is out of reach, or drives that are not found: without nodes.
#[must_use]
pub fn commands_then(plan: &Plan, past: &[JournalEntry]) -> Vec<String> {
    let (dry, none) = (host::DryRun::new(), Bindings::new());
    commands(plan, &Machine::new(&dry, &none), past, &Leftovers::new())
}

fn commands(plan: &Plan, machine: &Machine<'_>, past: &[JournalEntry], leftovers: &Leftovers) -> Vec<String> {
    // What the machine does not tell stays as the plan names it.
    let word = |word: &Word| machine.word("left", word).unwrap_or_else(|_| word.to_string());
    let line =
        |undo: &Undo| undo.command.argv.iter().map(|argument| quote(&word(argument))).collect::<Vec<_>>().join(" ");
    let begun = journal::begun(past, &plan.slug);
    let step = |id: &String| plan.steps.iter().find(|step| &step.id == id);
    let mut left = Vec::new();
    for (step, old) in begun.iter().rev().filter_map(|(id, old)| Some((step(id)?, old))) {
        if let (Act::Write { path, .. }, Some(old)) = (&step.act, old) {
            // A setting of what the plan made goes with it, and where that cannot be asked nobody knows its place.
            let is_of_node = path.places().any(|place| matches!(place, Placeholder::Sysfs(_)));
            if !is_of_node || machine.word("left", path).is_ok() {
                left.push(format!("echo {} > {}", quote(old), quote(&word(path))));
            }
        }
        left.extend(leftover::undos(leftovers, step).iter().map(line));
    }
    left
}

fn undoing(plan: &Plan, step: &Step, line: String) -> JournalEntry {
    JournalEntry::Undoing { stack: plan.slug.clone(), step: step.id.clone(), line }
}

/// How a setting is put back; `None` where what it belongs to is gone, and the setting with it.
fn line_back(
    machine: &Machine<'_>,
    step: &str,
    (path, old): (&Word, &str),
    is_gone: bool,
) -> Result<Option<String>, BuildError> {
    match machine.word(step, path) {
        Err(_) if is_gone => Ok(None),
        path => Ok(Some(format!("echo {} > {}", quote(old), path?))),
    }
}

fn put_back(
    authority: &Authority<'_>,
    machine: &Machine<'_>,
    setting: (&str, &Word),
    old: &str,
) -> Result<(), BuildError> {
    match authority.set(machine, setting, old) {
        Err(BuildError::Host(error)) if error.is_not_found() => Ok(()),
        result => result,
    }
}

/// Steps whose work is not there any more, and all that were built on one of them: a machine that rebooted has no
/// mapping open, and so it does not know the volume group in it either.
fn gone<'a>(
    machine: &Machine<'_>,
    plan: &Plan,
    begun: &'a [(String, Option<String>)],
) -> Result<Vec<&'a str>, BuildError> {
    let mut gone = Vec::new();
    let mut vanished: Vec<&Name> = Vec::new();
    for (id, _) in begun {
        let Some(step) = plan.steps.iter().find(|step| &step.id == id) else { continue };
        let own = match is_gone(machine, step) {
            // It names a drive that is not there, and so its work is not there either.
            Err(BuildError::Unresolved { .. }) => true,
            answer => answer?,
        };
        let layer = &step.layer;
        let on_nothing = vanished.iter().any(|below| *below == layer || rests_on(&plan.nodes, layer, below));
        if own && matches!(step.effect, Some(Effect::Node(_))) {
            vanished.push(layer);
        }
        if own || on_nothing {
            gone.push(id.as_str());
        }
    }
    Ok(gone)
}

/// Is what the step made not there (any more)? A step that was begun and failed may have made nothing.
fn is_gone(machine: &Machine<'_>, step: &Step) -> Result<bool, BuildError> {
    match &step.effect {
        // A node or mount that is not there needs no undo. A signature may be half written: its undo always runs,
        // unless the device it was for is not there itself.
        Some(
            effect @ (Effect::Node(_)
            | Effect::Mount(_)
            | Effect::Group(_)
            | Effect::Pool(_)
            | Effect::Directory { .. }
            | Effect::LogicalBlock { .. }),
        ) => Ok(!machine.sees(&step.id, effect)?),
        Some(Effect::Signature { node, .. }) => Ok(!machine.lives(&machine.word(&step.id, node)?)?),
        None => Ok(false),
    }
}
