//! A plan's acts as lines: for people, for scripts and for differences.

use terms::command::quote;
use terms::plan::{Act, Condition, PlanCommand};

/// A command as it stands in the plan, placeholders and all.
pub(crate) fn command(command: &PlanCommand) -> String {
    let line = command.argv.iter().map(|word| word.text().map_or_else(|| word.to_string(), quote));
    let line = line.collect::<Vec<_>>().join(" ");
    match &command.key {
        Some(key) => format!("{line} < key of {key}"),
        None => line,
    }
}

/// An act.
pub(crate) fn act(act: &Act) -> String {
    match act {
        Act::Run(run) => command(run),
        Act::Write { path, text } => format!("echo {} > {path}", quote(text)),
        Act::Wait(Condition::MdIdle { node, .. }) => format!("wait until {node} is in sync"),
        Act::Wait(Condition::Sanitized { controller, .. }) => format!("wait until {controller} is sanitized"),
        Act::Wait(Condition::LvSynced { group, .. }) => format!("wait until all of {group} is in sync"),
    }
}
