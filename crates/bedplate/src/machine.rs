//! Which machine a reading verb reads: this one, a guest, or one in a file.

use std::path::Path;

use host::{Capture, Host, Rights};
use lab::Console;
use terms::spelling::spell_path;

use crate::cli::MachineArguments;
use crate::exit::Failure;
use crate::ground::Address;
use crate::settings::Settings;
use crate::site::Site;
use crate::{guest, input, studies};

/// Opens the machine that was asked for. A guest goes down when it is dropped.
pub(crate) fn open(arguments: &MachineArguments, settings: &Settings) -> Result<Box<dyn Host>, Failure> {
    if let Some(file) = &arguments.machine {
        return Ok(Box::new(captured(file)?));
    }
    match (arguments.on.as_str(), &arguments.study) {
        ("lab", Some(path)) => {
            let study = studies::load_whole(path, settings)?;
            Ok(Box::new(guest::boot(&study.design.lab, &[], Console::Log, settings)?))
        }
        (other, None) => named(other, settings),
        (other, Some(_)) => Err(Failure::told(format!(
            "error: --study goes with --on lab, not with `{other}`\n\nhint: leave it out, or say --on lab"
        ))),
    }
}

/// A machine that is there: `local` or `ssh://host`, with the rights that whoever asks has on it.
pub(crate) fn named(place: &str, settings: &Settings) -> Result<Box<dyn Host>, Failure> {
    match Address::parse(place)? {
        Address::Lab => Err(Failure::told("error: which guest?\n\nhint: add --study STUDY")),
        address => Ok(Box::new(Site::open(&address, Rights::Person, settings)?)),
    }
}

pub(crate) fn captured(file: &Path) -> Result<Capture, Failure> {
    let text = input::bytes(file, "capture", input::CAPTURE, |_| "`bedplate capture FILE` makes one")?;
    Capture::parse(&spell_path(file), &text).map_err(|error| {
        Failure::told(format!(
            "error: this is not a captured machine\n{error}\n\nhint: docs/capture.md says how one is written"
        ))
    })
}
