//! Is a plan sound in itself? Mistakes of a planner show up here rather than on a drive.

use std::collections::{BTreeMap, BTreeSet};

use terms::plan::{Act, Condition, Effect, Piece, Placeholder, Plan, PlanCommand, Step};
use terms::{Name, Note, Word};

/// Commands that bypass the kernel's claim on a device in use, by program and the words that make them do so.
const FORCED: [(&str, &[&str]); 9] = [
    ("wipefs", &["-f", "-af", "-fa", "--force"]),
    ("blkdiscard", &["-f", "--force"]),
    ("nvme", &["-f", "--force"]),
    ("mdadm", &["-f", "--force"]),
    ("mkfs.ext4", &["-F"]),
    ("mkfs.xfs", &["-f"]),
    ("mkfs.btrfs", &["-f", "--force"]),
    ("zpool", &["-f"]),
    ("pvcreate", &["-f", "-ff", "--force"]),
];
/// Programs that never ask anybody.
const UNGUARDED: [&str; 3] = ["dd", "shred", "tee"];

/// Everything that is wrong with a plan.
#[must_use]
pub fn lint(plan: &Plan) -> Vec<Note> {
    let mut notes = Vec::new();
    let drives: BTreeSet<&Name> = plan.drives.iter().collect();
    unique_ids(plan, &mut notes);
    for step in &plan.steps {
        undone(step, &mut notes);
        commands(step).for_each(|command| guarded(step, command, &mut notes));
        erased(&drives, step, &mut notes);
        words(step).for_each(|word| known(&drives, step, word, &mut notes));
    }
    made_before(plan, &mut notes);
    notes
}

fn note(code: &str, step: &Step, message: &str) -> Note {
    Note::error(code, None, format!("step `{}` {message}", step.id))
}

fn unique_ids(plan: &Plan, notes: &mut Vec<Note>) {
    let mut seen = BTreeSet::new();
    notes.extend(
        plan.steps.iter().filter(|step| !seen.insert(&step.id)).map(|step| note("plan-id", step, "stands twice")),
    );
}

/// What makes something must take it back.
fn undone(step: &Step, notes: &mut Vec<Note>) {
    if step.effect.is_some() && step.undo.is_empty() {
        notes.push(note("plan-undo", step, "makes something that nothing takes back"));
    }
}

fn commands(step: &Step) -> impl Iterator<Item = &PlanCommand> {
    let own = match &step.act {
        Act::Run(command) => Some(command),
        _ => None,
    };
    own.into_iter().chain(step.undo.iter().map(|undo| &undo.command))
}

fn guarded(step: &Step, command: &PlanCommand, notes: &mut Vec<Note>) {
    let program = command.argv.first().and_then(Word::text).unwrap_or_default();
    let forced = FORCED.iter().filter(|(name, _)| *name == program).flat_map(|(_, words)| *words);
    if forced.into_iter().any(|flag| command.argv.iter().any(|word| word == flag)) {
        notes.push(note("plan-force", step, "switches off a guard of its tool"));
    }
    if UNGUARDED.contains(&program) {
        notes.push(note("plan-unguarded", step, "uses a program that writes without asking"));
    }
    let secret = |text: &str| text.starts_with("--key=") || text.contains("passphrase");
    if command.argv.iter().filter_map(Word::text).any(secret) {
        notes.push(note("plan-secret", step, "has a secret among its words"));
    }
}

fn erased(drives: &BTreeSet<&Name>, step: &Step, notes: &mut Vec<Note>) {
    if step.erases.iter().any(|drive| !drives.contains(drive)) {
        notes.push(note("plan-erases", step, "erases a drive that the plan does not name"));
    }
}

/// Every word that is used on a machine.
fn words(step: &Step) -> impl Iterator<Item = &Word> {
    let act = match &step.act {
        Act::Write { path: word, .. }
        | Act::Wait(Condition::MdIdle { node: word, .. } | Condition::Sanitized { controller: word, .. }) => Some(word),
        Act::Run(_) | Act::Wait(Condition::LvSynced { .. }) => None,
    };
    let effect = match &step.effect {
        Some(Effect::Node(word) | Effect::Signature { node: word, .. } | Effect::LogicalBlock { node: word, .. }) => {
            Some(word)
        }
        Some(Effect::Mount(_) | Effect::Directory { .. } | Effect::Group(_) | Effect::Pool(_)) | None => None,
    };
    commands(step).flat_map(|command| &command.argv).chain(act).chain(effect)
}

/// Every placeholder is of a drive of the plan, and stands where planners put one.
fn known(drives: &BTreeSet<&Name>, step: &Step, word: &Word, notes: &mut Vec<Note>) {
    if word.places().filter_map(Placeholder::drive).any(|drive| !drives.contains(drive)) {
        notes.push(note("plan-word", step, "has a placeholder that nothing fills in"));
    }
    // One for each layer that gives its work an identifier.
    if word.places().any(|place| matches!(place, Placeholder::Uuid(layer) if *layer != step.layer)) {
        notes.push(note("plan-word", step, "has the identifier of another layer"));
    }
    if !is_in_place(word) {
        notes.push(note("plan-word", step, "has a placeholder in the middle of a word"));
    }
}

/// A node is a word of its own, or one value of a list of options; a directory of sysfs is where a path begins. A
/// placeholder anywhere else was not put there by a planner.
fn is_in_place(word: &Word) -> bool {
    let pieces = word.pieces();
    let text = |at: Option<usize>| match at.and_then(|at| pieces.get(at)) {
        Some(Piece::Text(text)) => Some(text.as_str()),
        Some(Piece::Place(_)) => None,
        None => Some(""),
    };
    pieces.iter().enumerate().all(|(at, piece)| {
        let (before, after) = (text(at.checked_sub(1)), text(Some(at + 1)));
        match piece {
            Piece::Text(_) => true,
            Piece::Place(Placeholder::Sysfs(_) | Placeholder::SysfsOf(_)) => {
                at == 0 && after.is_some_and(|after| after.is_empty() || after.starts_with('/'))
            }
            Piece::Place(_) => {
                before.is_some_and(|before| before.is_empty() || before.ends_with('='))
                    && after.is_some_and(|after| after.is_empty() || after.starts_with(','))
            }
        }
    })
}

/// A step uses only nodes that a step before it made.
fn made_before(plan: &Plan, notes: &mut Vec<Note>) {
    let made = |(index, step): (usize, &Step)| match &step.effect {
        Some(Effect::Node(node)) => Some((node.clone(), index)),
        _ => None,
    };
    // Of a node that is made twice the last counts.
    let last: BTreeMap<Word, usize> = plan.steps.iter().enumerate().filter_map(made).collect();
    for (index, step) in plan.steps.iter().enumerate() {
        let Act::Run(command) = &step.act else { continue };
        if command.argv.iter().any(|word| last.get(word).is_some_and(|made| *made > index)) {
            notes.push(note("plan-order", step, "uses a node that is only made later"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_sound(word: &str) -> bool {
        is_in_place(&Word::parse(word).unwrap())
    }

    #[test]
    fn placeholders_stand_where_planners_put_them() {
        for word in ["{drive:a}", "a,device={part:b},c", "device={drive:a}", "{sys:/dev/md/x}/md/y", "{sysof:a}", "x"] {
            assert!(is_sound(word), "{word}");
        }
        for word in [
            "aes{drive:a}$(touch x)",
            "{drive:a}x",
            "x{drive:a}",
            "{drive:a}{drive:b}",
            "x{sysof:a}/y",
            "{sysof:a}x",
            "{controller:a}n1",
        ] {
            assert!(!is_sound(word), "{word}");
        }
    }
}
