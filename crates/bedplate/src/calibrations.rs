//! Calibrations that are kept: one for each machine, beside the runs.

use std::path::PathBuf;

use model::Site;
use terms::calibration::{CALIBRATION_SCHEMA, Calibration, Fingerprint};
use terms::inventory::Inventory;
use terms::machine::Machine;
use terms::spelling::spell_path;

use crate::exit::Failure;
use crate::settings::Settings;

/// Directory beside the runs. Under `sudo` it is in the home of the caller, who reads what was measured without `sudo` too.
const DIRECTORY: &str = "calibrations";
/// Digits of a digest that tell machines apart.
const DIGITS: usize = 16;

/// What was measured of that machine, if anything. One of another version of the format is none.
///
/// # Errors
/// Where it is there and cannot be read.
pub(crate) fn of(inventory: &Inventory, settings: &Settings) -> Result<Option<Calibration>, Failure> {
    let name = name(&Fingerprint::of(inventory));
    let Some(text) = record::read_beside(&settings.runs, DIRECTORY, &name)? else { return Ok(None) };
    let calibration: Calibration = serde_json::from_slice(&text).map_err(|error| {
        let path = spell_path(&settings.runs.with_file_name(DIRECTORY).join(&name));
        Failure::told(format!(
            "error: `{path}` is not a calibration: {error}\n\nhint: `bedplate calibrate` makes a new one"
        ))
    })?;
    Ok(Some(calibration).filter(|one| one.schema == CALIBRATION_SCHEMA))
}

/// Keeps it in the place of an earlier one; gives the file.
///
/// # Errors
/// Where it cannot be written.
pub(crate) fn keep(calibration: &Calibration, settings: &Settings) -> Result<PathBuf, Failure> {
    let text = serde_json::to_vec_pretty(calibration)?;
    Ok(record::put_beside(&settings.runs, DIRECTORY, &name(&calibration.of), &text)?)
}

/// A machine made ready for predictions, with what was measured of it.
pub(crate) fn ready(machine: &Machine, known: Option<&Calibration>) -> Site {
    known.map_or_else(|| Site::new(machine), |known| Site::calibrated(machine, known))
}

/// The file of a machine.
fn name(of: &Fingerprint) -> String {
    let text = format!("{}\n{}\n{}\n{:?}", of.processor, of.threads, of.kernel, of.emulated);
    let digest = record::sha256_hex(text.as_bytes());
    format!("{}.json", &digest[..DIGITS])
}
