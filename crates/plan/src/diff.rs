//! What is different between two plans, step by step.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use terms::plan::{Effect, Prerequisite, Step};
use terms::{Act, Plan, WorkTarget};

use crate::line;

/// A part of a plan: a name that both plans know it by, and what it says.
type Part = (String, Vec<String>);

/// Lines that begin with `-` are only in the old plan, with `+` only in the new one; empty where nothing differs.
/// What is the same is left out, except where only its order differs: then both orders are shown whole.
#[must_use]
pub fn diff(old: &Plan, new: &Plan) -> String {
    let (before, after) = (parts(old), parts(new));
    let (of_old, of_new) = (by_name(&before), by_name(&after));
    let mut text = String::new();
    for name in names(&of_old, &of_new) {
        part(&mut text, name, lines(&of_old, name), lines(&of_new, name));
    }
    let order = |plan: &Plan, other: &ByName<'_>| {
        let ids = plan.steps.iter().map(|step| &step.id);
        ids.filter(|id| other.contains_key(id.as_str())).cloned().collect::<Vec<_>>()
    };
    part(&mut text, "order of steps", &order(old, &of_new), &order(new, &of_old));
    if text.is_empty() { text } else { format!("--- {}\n+++ {}\n{text}", old.stack, new.stack) }
}

/// Where a part of a name first stands, and what it says.
type ByName<'a> = BTreeMap<&'a str, (usize, &'a [String])>;

fn by_name(parts: &[Part]) -> ByName<'_> {
    let mut found = BTreeMap::new();
    for (at, (name, lines)) in parts.iter().enumerate() {
        found.entry(name.as_str()).or_insert((at, lines.as_slice()));
    }
    found
}

/// Names of all parts, in the new plan's order; those of the old plan alone stand where they stood.
fn names<'a>(of_old: &ByName<'a>, of_new: &ByName<'a>) -> Vec<&'a str> {
    let names: BTreeSet<&str> = of_old.keys().chain(of_new.keys()).copied().collect();
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_by_key(|name| of_new.get(name).or_else(|| of_old.get(name)).map(|(at, _)| *at));
    names
}

fn lines<'a>(parts: &ByName<'a>, name: &str) -> &'a [String] {
    parts.get(name).map_or(&[], |(_, lines)| lines)
}

fn part(text: &mut String, name: &str, old: &[String], new: &[String]) {
    if old == new {
        return;
    }
    let _ = writeln!(text, "@@ {name}");
    let (of_old, of_new): (BTreeSet<&String>, BTreeSet<&String>) = (old.iter().collect(), new.iter().collect());
    let moved = of_old == of_new;
    for line in old.iter().filter(|line| moved || !of_new.contains(line)) {
        let _ = writeln!(text, "- {line}");
    }
    for line in new.iter().filter(|line| moved || !of_old.contains(line)) {
        let _ = writeln!(text, "+ {line}");
    }
}

/// Everything that a plan says.
fn parts(plan: &Plan) -> Vec<Part> {
    let need = |need: &Prerequisite| match need {
        Prerequisite::Module(module) => format!("module {module}"),
        Prerequisite::Program(program) => program.clone(),
    };
    let target = match &plan.target {
        WorkTarget::Directory(directory) => format!("directory {directory}"),
        WorkTarget::Device(node) => format!("device {node}"),
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
        Effect::Group(group) => format!("makes: the volume group {group}"),
        Effect::Pool(pool) => format!("makes: the pool {pool}"),
        Effect::Directory { path, .. } => format!("makes: the directory {path}"),
        Effect::Mount(directory) => format!("makes: a mount on {directory}"),
        Effect::LogicalBlock { node, bytes } => format!("makes: blocks of {bytes} on {node}"),
    }));
    lines.extend(step.erases.iter().map(|drive| format!("erases: {drive}")));
    lines.extend(step.undo.iter().map(|undo| format!("undo: {}", line::command(&undo.command))));
    lines
}
