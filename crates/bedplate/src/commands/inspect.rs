//! `bedplate inspect`

use host::{Local, inspect};
use lab::Console;

use crate::cli::InspectArguments;
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::{guest, studies};

/// Shows a machine.
pub(crate) fn inspect(arguments: &InspectArguments, settings: &Settings) -> Result<Exit, Failure> {
    let inventory = match (arguments.on.as_str(), &arguments.study) {
        ("local", Some(_)) => {
            return Err(Failure::told("error: --study goes with --on lab\n\nhint: leave it out, or add --on lab"));
        }
        ("local", None) => inspect::inspect(&Local::new())?,
        ("lab", Some(path)) => {
            let study = studies::load_whole(path, settings)?;
            let guest = guest::boot(&study.design.lab, &[], Console::Log, settings)?;
            inspect::inspect(&guest)?
        }
        ("lab", None) => return Err(Failure::told("error: which guest?\n\nhint: add --study STUDY")),
        (other, _) => {
            return Err(Failure::told(format!(
                "error: `{other}` is not a place\n\nhint: say `--on local` or `--on lab`"
            )));
        }
    };
    let text = if arguments.json {
        serde_json::to_string_pretty(&inventory)?
    } else {
        report::machine_tree(&inventory, settings.style.ascii)
    };
    settings.printer.data(&text)?;
    Ok(Exit::Yes)
}
