//! `bedplate inspect`

use host::inspect;

use crate::cli::InspectArguments;
use crate::exit::{Exit, Failure};
use crate::machine;
use crate::settings::Settings;

/// Shows a machine.
pub(crate) fn inspect(arguments: &InspectArguments, settings: &Settings) -> Result<Exit, Failure> {
    if arguments.list_columns {
        settings.printer.drawn(&report::table::list(&report::columns::machine_drives(), &settings.style))?;
        return Ok(Exit::Yes);
    }
    let host = machine::open(&arguments.machine, settings)?;
    let inventory = inspect::examine(&*host)?;
    let text = if arguments.json {
        serde_json::to_string_pretty(&inventory)?
    } else if let Some(names) = &arguments.output {
        let columns = report::table::select(&report::columns::machine_drives(), names).map_err(|error| {
            Failure::told(format!("error: {error}\n\nhint: `bedplate inspect --list-columns` lists them"))
        })?;
        report::table::text(&columns, &inventory.drives, &settings.style, true)
    } else {
        report::machine_sheet(&inventory, &settings.style)
    };
    settings.printer.drawn(&text)?;
    Ok(Exit::Yes)
}
