//! What is different between two plans, step by step.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use terms::Plan;
use terms::plan::Step;

use crate::line;

/// Lines that begin with `-` are only in the old plan, with `+` only in the new one; empty where nothing differs.
#[must_use]
pub fn diff(old: &Plan, new: &Plan) -> String {
    let (before, after) = (lines(old), lines(new));
    let ids: BTreeSet<&String> = before.iter().chain(&after).map(|(id, _)| id).collect();
    let order = |id: &String| {
        let at = |lines: &[(String, Vec<String>)]| lines.iter().position(|(other, _)| other == id);
        (at(&after).or_else(|| at(&before)), id.clone())
    };
    let mut ids: Vec<&String> = ids.into_iter().collect();
    ids.sort_by_key(|id| order(id));
    let of = |lines: &[(String, Vec<String>)], id: &String| {
        lines.iter().find(|(other, _)| other == id).map(|(_, text)| text.clone()).unwrap_or_default()
    };
    let mut text = String::new();
    for id in ids {
        let (old, new) = (of(&before, id), of(&after, id));
        if old == new {
            continue;
        }
        let _ = writeln!(text, "@@ {id}");
        for line in old.iter().filter(|line| !new.contains(line)) {
            let _ = writeln!(text, "- {line}");
        }
        for line in new.iter().filter(|line| !old.contains(line)) {
            let _ = writeln!(text, "+ {line}");
        }
    }
    if text.is_empty() { text } else { format!("--- {}\n+++ {}\n{text}", old.stack, new.stack) }
}

fn lines(plan: &Plan) -> Vec<(String, Vec<String>)> {
    plan.steps.iter().map(|step| (step.id.clone(), of_step(step))).collect()
}

fn of_step(step: &Step) -> Vec<String> {
    let undo = step.undo.iter().map(|undo| format!("undo: {}", line::command(&undo.command)));
    [line::act(&step.act)].into_iter().chain(undo).collect()
}
