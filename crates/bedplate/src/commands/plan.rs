//! `bedplate plan`

use terms::Plan;

use crate::cli::{PlanArguments, Selection};
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::studies;

/// Shows the plans of a study: for reading, as a script, as JSON, or as differences from another study's.
pub(crate) fn plan(arguments: &PlanArguments, settings: &Settings) -> Result<Exit, Failure> {
    let study = studies::load(&arguments.selection, settings)?;
    let plans = studies::plans(&study.design, &plan::DriveFact::of_lab(&study.design.lab))?;
    if let Some(other) = &arguments.diff {
        let selection = Selection { study: other.clone(), ..arguments.selection.clone() };
        let other = studies::load(&selection, settings)?;
        return differences(
            &studies::plans(&other.design, &plan::DriveFact::of_lab(&other.design.lab))?,
            &plans,
            settings,
        );
    }
    let text = if arguments.json {
        serde_json::to_string_pretty(&plans)?
    } else if arguments.script {
        let [plan] = plans.as_slice() else {
            return Err(Failure::told(
                "error: a script builds one stack, and the study has several\n\nhint: choose one with --only, such as --only 1",
            ));
        };
        plan::script(plan)
    } else {
        plans.iter().map(plan::render).collect::<Vec<_>>().join("\n")
    };
    settings.printer.data(&text)?;
    Ok(Exit::Yes)
}

/// Prints what differs, stack by stack of the same name; the answer is "no" where anything does.
fn differences(old: &[Plan], new: &[Plan], settings: &Settings) -> Result<Exit, Failure> {
    let mut text = String::new();
    for plan in new {
        match old.iter().find(|other| other.slug == plan.slug) {
            Some(other) => text.push_str(&plan::diff(other, plan)),
            None => text.push_str(&format!("+ stack {}\n", plan.stack)),
        }
    }
    for plan in old.iter().filter(|plan| !new.iter().any(|other| other.slug == plan.slug)) {
        text.push_str(&format!("- stack {}\n", plan.stack));
    }
    if text.trim().is_empty() {
        return Ok(Exit::Yes);
    }
    settings.printer.data(&text)?;
    Ok(Exit::No)
}
