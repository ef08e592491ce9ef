//! `bedplate check-model`
//!
//! Stacks and workloads are drawn at random, predicted from a calibration of the lab's guest, and measured there under a
//! clock that counts instructions, so that what is measured wanders with nothing. What is drawn is the text of a study:
//! all of it goes the way of every other study.

mod draw;
mod tally;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use record::RunReader;
use terms::advice::Advised;
use terms::calibration::{Calibration, CalibrationStep};
use terms::finding::Findings;
use terms::inventory::Inventory;
use terms::machine::Machine;
use terms::{Bytes, Design, LabDriveKind};

use crate::cli::{CheckModelArguments, Requirement, RunArguments};
use crate::commands::{advise, calibrate, report, run};
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::{calibrations, predict, studies, target};

/// Each on every stack.
const WORKLOADS: usize = 10;
/// Layouts of advice that are measured.
const ADVISED: usize = 10;
/// Drives of advice are as large as people's: what a guest's memory holds would rule out most layouts.
const TAKEN_FOR: Bytes = Bytes(2_000_000_000_000);

/// Draws, calibrates, measures, and says how far off predictions were.
pub(crate) fn check_model(arguments: &CheckModelArguments, settings: &Settings) -> Result<Exit, Failure> {
    // Runs and calibration of their own: no intervals are widened by other runs, and no other run is predicted from a guest
    // like this one.
    let of = arguments.advised.map_or_else(String::new, |one| format!("-{}", one.word()));
    let home = settings.runs.with_file_name("check-model").join(format!("{}{of}", arguments.seed));
    let own = Settings { runs: home.join("runs"), catalogue: home.join("catalogue.sqlite"), ..settings.clone() };
    let study = home.join("study.toml");
    let directory = if arguments.again { newest(&own)? } else { measured(&home, &study, arguments, &own)? };
    let reader = RunReader::open(&directory)?;
    let mut findings = report::findings(&reader)?;
    if arguments.again {
        predict_again(&reader, &study, &mut findings, &own)?;
    }
    let Some(card) = &findings.predicted else {
        return Err(Failure::told(format!(
            "error: nothing was predicted of the run in `{}`",
            directory.to_string_lossy()
        )));
    };
    if let Some(why) = &card.why_not {
        return Err(Failure::told(format!("error: nothing was predicted\n  because: {why}")));
    }
    let tally = tally::tally(card, &findings);
    let text = match arguments.advised {
        _ if arguments.json => serde_json::to_string_pretty(&tally)? + "\n",
        Some(_) => tally.stacks() + &tally.text(),
        None => tally.text(),
    };
    settings.printer.data(&text)?;
    settings.printer.say(&format!("study, calibration and record are kept: {}", terms::spelling::spell_path(&home)));
    Ok(if tally.is_empty() { Exit::No } else { Exit::Yes })
}

/// Writes a file in the place of whatever has its name: a link that somebody else put there is not followed.
fn anew(path: &Path, text: &str) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    std::fs::File::create_new(path)?.write_all(text.as_bytes())
}

/// Writes the study, calibrates its guest, and runs it; gives the record.
fn measured(home: &Path, study: &Path, arguments: &CheckModelArguments, own: &Settings) -> Result<PathBuf, Failure> {
    let cells = usize::try_from(arguments.cells).unwrap_or(usize::MAX);
    let size = draw::Size { stacks: cells.div_ceil(WORKLOADS), workloads: WORKLOADS, window: arguments.window };
    std::fs::create_dir_all(&own.runs).map_err(Failure::file("make", home))?;
    let write = |text: String| anew(study, &text).map_err(Failure::file("write", study));
    write(draw::study(arguments.seed, size))?;
    // One for all seeds of a guest. Each seed has its copy, so that its figures can be predicted again from what they were.
    let shared = Settings { runs: home.with_file_name("runs"), ..own.clone() };
    let known = |inventory: &Inventory| {
        let known = calibrations::of(inventory, &shared)?;
        Ok(known.filter(::calibrate::is_whole))
    };
    let told = |_: &str, step: Option<&CalibrationStep>| {
        if let Some(step) = step {
            own.printer.say(calibrate::line(step).trim_end());
        }
    };
    let (guest, calibration) = calibrate::of_guest(study, f64::from(arguments.seconds), own, &known, &told)?;
    calibrations::keep(&calibration, &shared)?;
    calibrations::keep(&calibration, own)?;
    if let Some(requirement) = arguments.advised {
        let front = advised(studies::load_whole(study, own)?.design, requirement, (&guest, Some(&calibration)));
        write(draw::advised(arguments.seed, size, &front))?;
    }
    let chosen = RunArguments { study: Some(study.to_owned()), ..RunArguments::default() };
    run::to_record(target::prepare(&chosen, own)?, own)
}

/// The layouts that are advised for such a guest with the flash drives of a study.
fn advised(
    mut design: Design,
    requirement: Requirement,
    (guest, known): (&Inventory, Option<&Calibration>),
) -> Vec<Advised> {
    design.lab.drives.retain(|drive| drive.kind == LabDriveKind::Flash);
    let bare = Machine { drives: Vec::new(), ..model::found(guest) };
    let (seated, _) = model::assignment(&bare, &design.lab.drives, design.measure.span);
    let machine = model::limited(seated, &design.lab, design.measure.span);
    advise::best(&design, (&machine, known), TAKEN_FOR, &requirement.needs(), ADVISED).front
}

/// The newest record of such runs.
fn newest(own: &Settings) -> Result<PathBuf, Failure> {
    let catalogue = crate::commands::runs::catalogue(own)?;
    let newest = catalogue.list().first().map(|row| row.dir.clone());
    newest.ok_or_else(|| Failure::told("error: nothing was measured with this seed yet\n\nhint: leave out `--again`"))
}

/// Puts what this program predicts, from the machine and the calibration of then, in the place of what was predicted then.
fn predict_again(reader: &RunReader, study: &Path, findings: &mut Findings, own: &Settings) -> Result<(), Failure> {
    let Some((then, sha256)) = reader.predicted()? else { return Ok(()) };
    let design = studies::of_text(study, reader.study_text(), own)?;
    let known: Option<Calibration> = calibrations::of(&findings.inventory, own)?;
    let now = predict::anew(then, &design, known.as_ref());
    findings.predicted = Some(analyse::score(&now, &sha256, findings));
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use terms::Nanos;

    use super::*;

    /// Layouts are chosen for drives of 2 TB, and have to stand on those of a guest.
    #[test]
    fn what_is_advised_can_be_built_in_a_guest() {
        let size = draw::Size { stacks: 1, workloads: 2, window: Nanos::millis(200) };
        let guest = Inventory { cpus: 1, kernel: "6.1.0".to_owned(), ..Inventory::default() };
        for requirement in Requirement::value_variants() {
            let (design, _) = spec::parse(&draw::study(1, size));
            let front = advised(design.unwrap(), *requirement, (&guest, None));
            assert!(front.len() > 1, "{requirement:?}: {}", front.len());
            let text = draw::advised(1, size, &front);
            assert!(draw::can_be_built(&text), "{text}");
        }
    }

    #[test]
    fn a_link_in_the_place_of_a_study_is_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let (theirs, study) = (home.path().join("theirs"), home.path().join("study.toml"));
        std::fs::write(&theirs, "kept").unwrap();
        std::os::unix::fs::symlink(&theirs, &study).unwrap();
        for text in ["one", "two"] {
            anew(&study, text).unwrap();
            assert_eq!(std::fs::read_to_string(&study).unwrap(), text);
        }
        assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "kept");
    }
}
