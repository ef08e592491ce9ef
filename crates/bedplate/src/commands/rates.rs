//! `bedplate rates`: what a calibration asks this program to measure where it runs.

use crate::exit::{Exit, Failure};
use crate::settings::Settings;

/// Prints what the processors do with bytes in memory, as JSON.
pub(crate) fn rates(settings: &Settings) -> Result<Exit, Failure> {
    let threads =
        std::thread::available_parallelism().map_err(Failure::system("could not count the processors"))?.get();
    settings.printer.data(&(serde_json::to_string(&calibrate::rates::rates(threads))? + "\n"))?;
    Ok(Exit::Yes)
}
