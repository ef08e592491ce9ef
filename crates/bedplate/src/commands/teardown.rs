//! `bedplate teardown`

use record::{RunReader, RunWriter};
use terms::Plan;

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
    let standing = build::standing(&aftermath::entries(&reader)?);
    if standing.is_empty() {
        settings.printer.data(&format!("nothing of run `{name}` stands"))?;
        return Ok(Exit::Yes);
    }
    let Some(site) = Site::of_record(&reader, settings)? else {
        settings.printer.data(&format!("run `{name}` was in a guest, and all that stood in it went with it"))?;
        return Ok(Exit::Yes);
    };
    let plans = plans(&reader, &standing)?;
    // One process writes into a record: a run that is still going on is not taken down beneath itself.
    let writer = RunWriter::resume(reader.dir())?;
    for stack in aftermath::take_back(&site, site.drives(), &plans, &writer)? {
        settings.printer.data(&format!("down  {stack}"))?;
    }
    Ok(Exit::Yes)
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
