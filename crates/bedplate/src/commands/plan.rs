//! `bedplate plan`

use std::collections::BTreeMap;

use host::Host;
use terms::{Design, Plan};

use crate::cli::{PlanArguments, Selection};
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::target::{drives, prepared};
use crate::{machine, studies};

/// Shows the plans of a study: for reading, as a script, as JSON, or as differences from another study's.
pub(crate) fn plan(arguments: &PlanArguments, settings: &Settings) -> Result<Exit, Failure> {
    let study = studies::load(&arguments.selection, settings)?;
    let plans = if arguments.drive.is_empty() {
        studies::plans(&study.design, &plan::DriveSize::of_lab(&study.design.lab))?
    } else {
        for_machine(&study.design, arguments, settings)?
    };
    if let Some(other) = &arguments.diff {
        let selection = Selection { study: other.clone(), ..arguments.selection.clone() };
        let other = studies::load(&selection, settings)?;
        return differences(
            &studies::plans(&other.design, &plan::DriveSize::of_lab(&other.design.lab))?,
            &plans,
            settings,
        );
    }
    let text = if arguments.json {
        serde_json::to_string_pretty(&plans)?
    } else if arguments.script {
        let [plan] = plans.as_slice() else {
            return Err(Failure::told(
                "error: a script builds one stack, and the study has several\n\nhint: choose one with `--only`, such as --only 1",
            ));
        };
        plan::script(plan)
    } else {
        plans.iter().map(plan::render).collect::<Vec<_>>().join("\n")
    };
    settings.printer.data(&text)?;
    if !arguments.json && !arguments.script && ["{drive:", "{uuid:"].iter().any(|place| text.contains(place)) {
        settings.printer.say(
            "`{drive:NAME}` is a drive of the study, `{uuid:LAYER}` an identifier that each build makes anew; `--script` fills them in",
        );
    }
    Ok(Exit::Yes)
}

/// Plans for drives of a machine that is looked at and not touched: setting them up first, then each stack.
fn for_machine(design: &Design, arguments: &PlanArguments, settings: &Settings) -> Result<Vec<Plan>, Failure> {
    let host: Box<dyn Host> = match &arguments.machine {
        Some(file) => Box::new(machine::captured(file)?),
        None => machine::named(&arguments.on, settings)?,
    };
    let found = drives::found(&*host, &arguments.drive)?;
    for ((fact, drive), pairing) in found.iter().zip(&arguments.drive) {
        let model = drive.model.as_deref().unwrap_or("a drive");
        settings.printer.say(&format!("drive {}: {model}, {}, today {}", fact.name, drive.size, drive.node()));
        // A captured machine has no drives to look at.
        if arguments.machine.is_none() {
            for words in drives::outlook(&*host, &pairing.id)? {
                settings.printer.say(&format!("  {words}"));
            }
        }
    }
    let bindings = found.iter().map(|(fact, drive)| (fact.name.clone(), drive.node())).collect();
    let mut plans: Vec<Plan> = prepared::plan(&*host, &bindings, &design.setups)?.into_iter().collect();
    let facts = prepared::set_up(found.into_iter().map(|(fact, _)| fact), &design.setups);
    plans.extend(studies::plans(design, &facts)?);
    Ok(plans)
}

/// Prints what differs, stack by stack of the same name; the answer is "no" where anything does.
fn differences(old: &[Plan], new: &[Plan], settings: &Settings) -> Result<Exit, Failure> {
    let mut text = String::new();
    let (of_old, of_new) = (by_slug(old), by_slug(new));
    for plan in new {
        match of_old.get(plan.slug.as_str()) {
            Some(other) => text.push_str(&plan::diff(other, plan)),
            None => text.push_str(&format!("+ stack {}\n", plan.stack)),
        }
    }
    for plan in old.iter().filter(|plan| !of_new.contains_key(plan.slug.as_str())) {
        text.push_str(&format!("- stack {}\n", plan.stack));
    }
    if text.trim().is_empty() {
        return Ok(Exit::Yes);
    }
    settings.printer.data(&text)?;
    Ok(Exit::No)
}

fn by_slug(plans: &[Plan]) -> BTreeMap<&str, &Plan> {
    plans.iter().map(|plan| (plan.slug.as_str(), plan)).collect()
}
