//! `bedplate teardown`

use build::{Bindings, Entry};
use record::{RunReader, RunWriter};
use terms::Plan;
use terms::record::UsedDrive;

use crate::cli::TeardownArguments;
use crate::commands::report;
use crate::exit::{Exit, Failure};
use crate::runner::aftermath;
use crate::settings::Settings;
use crate::site::Site;

/// Takes down what a run left standing, from its journal; where that cannot be done, prints what a person must run.
pub(crate) fn teardown(arguments: &TeardownArguments, settings: &Settings) -> Result<Exit, Failure> {
    let reader = report::open(&arguments.run, settings)?;
    let name = reader.provenance().run.clone();
    let past = aftermath::entries(&reader)?;
    let standing = build::standing(&past);
    if standing.is_empty() {
        settings.printer.data(&format!("nothing of run `{name}` stands"))?;
        return Ok(Exit::Yes);
    }
    let plans = plans(&reader, &standing)?;
    let site = match Site::of_record(&reader, settings) {
        Ok(Some(site)) => site,
        Ok(None) => {
            settings.printer.data(&format!("run `{name}` was in a guest, and all that stood in it went with it"))?;
            return Ok(Exit::Yes);
        }
        Err(failure) => return Err(by_hand(&failure, &plans, &past)),
    };
    same_boot(&site, &reader, &arguments.erase)?;
    // One process writes into a record: a run that is still going on is not taken down beneath itself.
    let writer = RunWriter::resume(reader.dir())?;
    for line in build::settle(&site)? {
        settings.printer.data(&format!("ended  {line}"))?;
    }
    for stack in aftermath::take_back(&site, site.drives(), &plans, &writer)? {
        settings.printer.data(&format!("down  {stack}"))?;
    }
    Ok(Exit::Yes)
}

/// What the journal says stands on real drives surely does so only until the machine is started anew. After that a
/// person may have made something else there, and has to say, drive by drive, that it is ours.
fn same_boot(site: &Site, reader: &RunReader, erase: &[String]) -> Result<(), Failure> {
    let drives = &reader.provenance().drives;
    let begun =
        reader.events()?.into_iter().rev().find_map(|event| event["more"]["boot_id"].as_str().map(str::to_owned));
    if drives.is_empty() || begun == Some(site.boot_id()?) {
        return Ok(());
    }
    let mut named = Vec::new();
    for id in erase {
        named.push(claim::resolve(site, id)?.node);
    }
    let unnamed: Vec<&UsedDrive> =
        drives.iter().filter(|drive| site.drives().get(&drive.name).is_none_or(|node| !named.contains(node))).collect();
    if unnamed.is_empty() {
        return Ok(());
    }
    let options: Vec<String> = unnamed.iter().map(|drive| format!("--erase {}", drive.id)).collect();
    Err(Failure::Refused(format!(
        "refused: the machine was started anew since the run, and something else may be on its drives by now\n\n\
         hint: look at them; if it is the run's, say `bedplate teardown {} {}`",
        reader.provenance().run,
        options.join(" ")
    )))
}

fn plans(reader: &RunReader, slugs: &[String]) -> Result<Vec<Plan>, Failure> {
    let plan = |slug: &String| match reader.plan::<Plan>(slug)? {
        Some(plan) => Ok(plan),
        None => Err(Failure::told(format!(
            "error: the record has no plan of `{slug}`\n\nhint: {} tells what was run",
            reader.dir().join("journal.jsonl").display()
        ))),
    };
    slugs.iter().map(plan).collect()
}

/// What a person has to do where the machine or a drive is not to be found. Nodes are those of the day of the run.
fn by_hand(failure: &Failure, plans: &[Plan], past: &[Entry]) -> Failure {
    let left = plans.iter().rev().flat_map(|plan| build::commands_left(plan, &nodes_then(plan, past), past));
    let left: Vec<String> = left.map(|command| format!("  {command}")).collect();
    Failure::Told(format!(
        "{}\nleft to do, in this order, with the drives' nodes as they were then:\n{}",
        failure.text(),
        left.join("\n")
    ))
}

/// The nodes that a plan was last begun with.
fn nodes_then(plan: &Plan, past: &[Entry]) -> Bindings {
    let begun = past.iter().rev().find_map(|entry| match entry {
        Entry::Begin { stack, drives, .. } if *stack == plan.slug => Some(drives.clone()),
        _ => None,
    });
    let named = begun.unwrap_or_default().into_iter();
    named.filter_map(|(name, node)| Some((terms::Name::new(name).ok()?, node))).collect()
}
