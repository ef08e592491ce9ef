//! What is different between two plans, step by step.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use terms::plan::{Effect, Need, Step};
use terms::{Act, Plan, Target};

use crate::line;

/// A part of a plan: a name that both plans know it by, and what it says.
type Part = (String, Vec<String>);

/// Lines that begin with `-` are only in the old plan, with `+` only in the new one; empty where nothing differs.
/// What is the same is left out, except where only its order differs: then both orders are shown whole.
#[must_use]
pub fn diff(old: &Plan, new: &Plan) -> String {
    let (before, after) = (parts(old), parts(new));
    let mut text = String::new();
    for name in names(&before, &after) {
        part(&mut text, name, of(&before, name), of(&after, name));
    }
    let order = |plan: &Plan, other: &[Part]| {
        let ids = plan.steps.iter().map(|step| &step.id);
        ids.filter(|id| other.iter().any(|(name, _)| &name == id)).cloned().collect::<Vec<_>>()
    };
    part(&mut text, "order of steps", &order(old, &after), &order(new, &before));
    if text.is_empty() { text } else { format!("--- {}\n+++ {}\n{text}", old.stack, new.stack) }
}

/// Names of all parts, in the new plan's order; those of the old plan alone stand where they stood.
fn names<'a>(before: &'a [Part], after: &'a [Part]) -> Vec<&'a str> {
    let names: BTreeSet<&str> = before.iter().chain(after).map(|(name, _)| name.as_str()).collect();
    let at = |parts: &[Part], name: &str| parts.iter().position(|(other, _)| other == name);
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_by_key(|name| at(after, name).or_else(|| at(before, name)));
    names
}

fn of<'a>(parts: &'a [Part], name: &str) -> &'a [String] {
    parts.iter().find(|(other, _)| other == name).map_or(&[], |(_, lines)| lines)
}

fn part(text: &mut String, name: &str, old: &[String], new: &[String]) {
    if old == new {
        return;
    }
    let _ = writeln!(text, "@@ {name}");
    let moved = old.iter().all(|line| new.contains(line)) && new.iter().all(|line| old.contains(line));
    for line in old.iter().filter(|line| moved || !new.contains(line)) {
        let _ = writeln!(text, "- {line}");
    }
    for line in new.iter().filter(|line| moved || !old.contains(line)) {
        let _ = writeln!(text, "+ {line}");
    }
}

/// Everything that a plan says.
fn parts(plan: &Plan) -> Vec<Part> {
    let need = |need: &Need| match need {
        Need::Module(module) => format!("module {module}"),
        Need::Program(program) => program.clone(),
    };
    let target = match &plan.target {
        Target::Directory(directory) => format!("directory {directory}"),
        Target::Device(node) => format!("device {node}"),
    };
    let options = plan.options.iter().map(|option| {
        let mark = if option.default { " (default)" } else { "" };
        format!("{}.{} = {}{mark}", option.layer, option.option, option.value)
    });
    let whole = [
        ("drives".to_owned(), plan.drives.iter().map(ToString::to_string).collect()),
        ("needs".to_owned(), plan.needs.iter().map(need).collect()),
        ("options".to_owned(), options.collect()),
        ("target".to_owned(), vec![target]),
    ];
    whole.into_iter().chain(plan.steps.iter().map(|step| (step.id.clone(), of_step(step)))).collect()
}

fn of_step(step: &Step) -> Vec<String> {
    let mut lines = vec![line::act(&step.act), format!("why: {}", step.why)];
    if let Act::Run(command) = &step.act {
        lines.push(format!("limit: {}", command.limit));
    }
    lines.extend(step.effect.as_ref().map(|effect| match effect {
        Effect::Node(node) => format!("makes: {node}"),
        Effect::Signature { node, kind } => format!("makes: {kind} on {node}"),
        Effect::Mount(directory) => format!("makes: a mount on {directory}"),
        Effect::LogicalBlock { node, bytes } => format!("makes: blocks of {bytes} on {node}"),
    }));
    lines.extend(step.erases.iter().map(|drive| format!("erases: {drive}")));
    lines.extend(step.undo.iter().map(|undo| format!("undo: {}", line::command(&undo.command))));
    lines
}
