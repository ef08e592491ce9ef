//! `bedplate capture`

use host::capture;
use terms::spelling::spell_path;

use crate::cli::CaptureArguments;
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::{machine, output};

/// Packs a machine into one file.
pub(crate) fn capture(arguments: &CaptureArguments, settings: &Settings) -> Result<Exit, Failure> {
    let host = machine::open(&arguments.machine, settings)?;
    let text = capture::take(&*host)?.print();
    let Some(path) = arguments.file.as_ref().filter(|path| path.as_os_str() != "-") else {
        settings.printer.data(&text)?;
        return Ok(Exit::Yes);
    };
    output::write_new(path, &text)?;
    settings.printer.say(&format!("wrote {}; `bedplate inspect --machine {0}` reads it", spell_path(path)));
    Ok(Exit::Yes)
}
