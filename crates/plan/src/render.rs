//! A plan for reading: options with their defaults marked, then every command with its reason and its undo.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use terms::Name;
use terms::plan::{Plan, Prerequisite, Setting, Step};

use crate::line;

/// Widest line of prose.
const WIDTH: usize = 80;

/// What `bedplate plan` prints. Commands are never broken, so that they can be copied; prose is.
#[must_use]
pub fn render(plan: &Plan) -> String {
    let mut text = format!("{}\n{}\n", plan.stack, "=".repeat(plan.stack.chars().count().min(WIDTH)));
    let drives: Vec<&str> = plan.drives.iter().map(Name::as_str).collect();
    let _ = match drives.as_slice() {
        [] => writeln!(text, "drives: none is written to but through what stands on it"),
        drives => writeln!(text, "drives: {} (everything on them is lost)", drives.join(", ")),
    };
    text.push_str(&wrapped("needs:  ", &needs(plan), "        "));
    let mut steps: BTreeMap<&Name, Vec<&Step>> = BTreeMap::new();
    plan.steps.iter().for_each(|step| steps.entry(&step.layer).or_default().push(step));
    let mut settings: BTreeMap<&Name, Vec<&Setting>> = BTreeMap::new();
    plan.options.iter().for_each(|setting| settings.entry(&setting.layer).or_default().push(setting));
    for node in &plan.nodes {
        let below: Vec<&str> = node.on.iter().map(|below| below.name().as_str()).collect();
        let _ = writeln!(text, "\n{}: {} on {}", node.name, node.layer.title(), below.join(", "));
        settings.remove(&node.name).into_iter().flatten().for_each(|setting| option(&mut text, setting));
        steps.remove(&node.name).into_iter().flatten().for_each(|step| describe(&mut text, step));
    }
    let of_no_layer = plan.steps.iter().filter(|step| steps.contains_key(&step.layer));
    of_no_layer.for_each(|step| describe(&mut text, step));
    text
}

fn needs(plan: &Plan) -> String {
    let word = |need: &Prerequisite| match need {
        Prerequisite::Module(module) => format!("module {module}"),
        Prerequisite::Program(program) => program.clone(),
    };
    if plan.needs.is_empty() {
        "nothing".to_owned()
    } else {
        plan.needs.iter().map(word).collect::<Vec<_>>().join(", ")
    }
}

fn option(text: &mut String, setting: &Setting) {
    let mark = if setting.default { "  (default)" } else { "" };
    let _ = writeln!(text, "    {:<22} {}{mark}", setting.option, setting.value);
}

fn describe(text: &mut String, step: &Step) {
    let _ = writeln!(text, "\n  {}", step.id);
    text.push_str(&wrapped("    # ", &step.why, "    # "));
    let _ = writeln!(text, "    {}", line::act(&step.act));
    for undo in &step.undo {
        let _ = writeln!(text, "    undo: {}", line::command(&undo.command));
    }
}

/// Prose broken at blanks to [`WIDTH`] columns.
pub(crate) fn wrapped(first: &str, prose: &str, then: &str) -> String {
    let (mut text, mut line) = (String::new(), first.to_owned());
    let mut empty = true;
    for word in prose.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(text, "{}", line.trim_end());
            then.clone_into(&mut line);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    text + line.trim_end() + "\n"
}
