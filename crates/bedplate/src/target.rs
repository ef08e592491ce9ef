//! Where a study is to run, as it was typed, and what is known of the drives there before anything is begun.

use capacity::DriveSize;

use crate::address::Address;
use crate::cli::RunArguments;
use crate::exit::Failure;
use crate::settings::Settings;
use crate::studies;
use crate::target::prepared_run::named;

pub(crate) mod directory;
pub(crate) mod drives;
pub(crate) mod prepared;
pub(crate) mod prepared_run;

pub(crate) use prepared_run::PreparedRun;

/// Reads the study and finds the target that it is to run on.
///
/// # Errors
/// [`Failure::Refused`] for drives that may not be touched; what is wrong with the study or the choices.
pub(crate) fn prepare(arguments: &RunArguments, settings: &Settings) -> Result<PreparedRun, Failure> {
    let default = if arguments.dir.is_some() { "local" } else { "lab" };
    let address = Address::parse(arguments.on.as_deref().unwrap_or(default))?;
    if let Some(path) = &arguments.dir {
        return directory::prepare(path, &address, arguments, settings);
    }
    match address {
        Address::Lab if !arguments.drive.is_empty() => Err(Failure::told(
            "error: `--drive` names drives of a machine, and the lab has its own\n\nhint: add `--on local` or `--on ssh://host`",
        )),
        Address::Lab => in_the_lab(arguments, settings),
        Address::Local | Address::Ssh(_) if arguments.lab_drives.is_some() => {
            Err(Failure::told("error: `--lab-drives` changes drives of the lab only\n\nhint: leave it out"))
        }
        Address::Local | Address::Ssh(_) => drives::prepare(&address, arguments, settings),
    }
}

fn in_the_lab(arguments: &RunArguments, settings: &Settings) -> Result<PreparedRun, Failure> {
    let mut study = named(arguments, settings)?;
    studies::adjust_lab(&mut study.design, arguments)?;
    let drives = DriveSize::of_lab(&study.design.lab);
    PreparedRun::on(study, drives, None)
}
