//! Calibrations that are kept: one for each machine, beside the runs.

use std::path::PathBuf;

use model::Site;
use terms::calibration::{CALIBRATION_SCHEMA, Calibration, Fingerprint};
use terms::inventory::Inventory;
use terms::machine::Machine;
use terms::spelling::spell_path;

use crate::exit::Failure;
use crate::settings::Settings;

/// Digits of a digest that tell machines apart.
const DIGITS: usize = 16;

/// What was measured of that machine, if anything. One of another version of the format is none.
///
/// # Errors
/// Where it is there and cannot be read.
pub(crate) fn of(inventory: &Inventory, settings: &Settings) -> Result<Option<Calibration>, Failure> {
    let path = path(&Fingerprint::of(inventory), settings);
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::file("read", &path)(error)),
    };
    let calibration: Calibration = serde_json::from_slice(&text).map_err(|error| {
        let path = spell_path(&path);
        Failure::told(format!("error: `{path}` is no calibration: {error}\n\nhint: bedplate calibrate makes it anew"))
    })?;
    Ok(Some(calibration).filter(|one| one.schema == CALIBRATION_SCHEMA))
}

/// Keeps it in the place of an earlier one; gives the file.
///
/// # Errors
/// Where it cannot be written.
pub(crate) fn keep(calibration: &Calibration, settings: &Settings) -> Result<PathBuf, Failure> {
    let path = path(&calibration.of, settings);
    let directory = path.parent().unwrap_or(&settings.runs);
    std::fs::create_dir_all(directory).map_err(Failure::file("make", directory))?;
    let text = serde_json::to_vec_pretty(calibration)?;
    // Whole or not at all: a run may be reading it.
    let draft = path.with_extension("json.new");
    std::fs::write(&draft, text).map_err(Failure::file("write", &draft))?;
    std::fs::rename(&draft, &path).map_err(Failure::file("write", &path))?;
    Ok(path)
}

/// A machine made ready for predictions, with what was measured of it.
pub(crate) fn ready(machine: &Machine, known: Option<&Calibration>) -> Site {
    known.map_or_else(|| Site::new(machine), |known| Site::calibrated(machine, known))
}

fn path(of: &Fingerprint, settings: &Settings) -> PathBuf {
    let text = format!("{}\n{}\n{}\n{:?}", of.processor, of.threads, of.kernel, of.emulated);
    let digest = record::sha256_hex(text.as_bytes());
    settings.runs.with_file_name("calibrations").join(format!("{}.json", &digest[..DIGITS]))
}
