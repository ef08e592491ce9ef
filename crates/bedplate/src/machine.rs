//! Which machine a reading verb reads: this one, a guest, or one in a file.

use std::path::Path;

use host::{Capture, Host, Local};
use lab::Console;

use crate::cli::MachineArguments;
use crate::exit::Failure;
use crate::settings::Settings;
use crate::{guest, studies};

/// Largest file that is taken for a captured machine; the largest machines have a few MiB.
const LARGEST: u64 = 256 << 20;

/// Opens the machine that was asked for. A guest goes down when it is dropped.
pub(crate) fn open(arguments: &MachineArguments, settings: &Settings) -> Result<Box<dyn Host>, Failure> {
    if let Some(file) = &arguments.machine {
        return Ok(Box::new(captured(file)?));
    }
    match (arguments.on.as_str(), &arguments.study) {
        ("local", Some(_)) => {
            Err(Failure::told("error: --study goes with --on lab\n\nhint: leave it out, or add --on lab"))
        }
        ("local", None) => Ok(Box::new(Local::new())),
        ("lab", Some(path)) => {
            let study = studies::load_whole(path, settings)?;
            Ok(Box::new(guest::boot(&study.design.lab, &[], Console::Log, settings)?))
        }
        ("lab", None) => Err(Failure::told("error: which guest?\n\nhint: add --study STUDY")),
        (other, _) => {
            Err(Failure::told(format!("error: `{other}` is not a place\n\nhint: say `--on local` or `--on lab`")))
        }
    }
}

fn captured(file: &Path) -> Result<Capture, Failure> {
    let size = std::fs::metadata(file).map_err(Failure::file("read", file))?.len();
    if size > LARGEST {
        return Err(Failure::told(format!(
            "error: `{}` has {} and is no captured machine\n\nhint: `bedplate capture FILE` makes one",
            file.display(),
            terms::Bytes(size)
        )));
    }
    let text = std::fs::read(file).map_err(Failure::file("read", file))?;
    Capture::parse(&file.display().to_string(), &text).map_err(|error| {
        Failure::told(format!(
            "error: this is not a captured machine\n{error}\n\nhint: docs/capture.md says how one is written"
        ))
    })
}
