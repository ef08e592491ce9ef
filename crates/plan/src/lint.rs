//! Is a plan sound in itself? Mistakes of a planner show up here rather than on a drive.

use std::collections::BTreeSet;

use terms::plan::{Act, Effect, Plan, PlanCommand, Step};
use terms::{Note, Word};

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
    unique_ids(plan, &mut notes);
    for step in &plan.steps {
        undone(step, &mut notes);
        commands(step).for_each(|command| guarded(step, command, &mut notes));
        erased(plan, step, &mut notes);
        words(step).for_each(|word| known(plan, step, word, &mut notes));
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
    let program = command.argv.first().map_or("", |word| word.0.as_str());
    let forced = FORCED.iter().filter(|(name, _)| *name == program).flat_map(|(_, words)| *words);
    if forced.into_iter().any(|flag| command.argv.iter().any(|word| word.0 == *flag)) {
        notes.push(note("plan-force", step, "switches off a guard of its tool"));
    }
    if UNGUARDED.contains(&program) {
        notes.push(note("plan-unguarded", step, "uses a program that writes without asking"));
    }
    let secret = |word: &&Word| word.0.starts_with("--key=") || word.0.contains("passphrase");
    if command.argv.iter().any(|word| secret(&word)) {
        notes.push(note("plan-secret", step, "has a secret among its words"));
    }
}

fn erased(plan: &Plan, step: &Step, notes: &mut Vec<Note>) {
    if step.erases.iter().any(|drive| !plan.drives.contains(drive)) {
        notes.push(note("plan-erases", step, "erases a drive that the plan does not name"));
    }
}

fn words(step: &Step) -> impl Iterator<Item = &Word> {
    commands(step).flat_map(|command| &command.argv)
}

/// Every placeholder is a drive of the plan.
fn known(plan: &Plan, step: &Step, word: &Word, notes: &mut Vec<Note>) {
    let filled = word.resolve(|kind, argument| match kind {
        "drive" | "part" | "sysof" | "controller" => {
            plan.drives.iter().any(|drive| drive.as_str() == argument).then(String::new)
        }
        "sys" => Some(String::new()),
        _ => None,
    });
    if filled.is_err() {
        notes.push(note("plan-word", step, "has a placeholder that nothing fills in"));
    }
}

/// A step uses only nodes that a step before it made.
fn made_before(plan: &Plan, notes: &mut Vec<Note>) {
    let made = |step: &Step| match &step.effect {
        Some(Effect::Node(node)) => Some(node.0.clone()),
        _ => None,
    };
    for (index, step) in plan.steps.iter().enumerate() {
        let later: Vec<String> = plan.steps[index + 1..].iter().filter_map(made).collect();
        let Act::Run(command) = &step.act else { continue };
        if command.argv.iter().any(|word| later.contains(&word.0)) {
            notes.push(note("plan-order", step, "uses a node that is only made later"));
        }
    }
}
