//! `bedplate fio`: job files of fio, in and out.

use std::path::Path;

use measure::Place;
use spec::fio::Imported;
use terms::spelling::spell_path;
use terms::{MeasurePolicy, Method, Severity, Workload};

use crate::cli::{FioArguments, FioCommand};
use crate::exit::{Exit, Failure};
use crate::settings::Settings;

/// Where exported jobs work: the place of a stack that a person mounts there.
const SHOWN: &str = "/mnt/stack";

/// Checks a job file, or writes job files.
pub(crate) fn fio(arguments: &FioArguments, settings: &Settings) -> Result<Exit, Failure> {
    match &arguments.command {
        FioCommand::Check { file, force } => {
            let imported = import(file, *force, settings)?;
            settings.printer.data(&text(&imported.workloads, &policy(&imported))?)?;
            Ok(Exit::Yes)
        }
        FioCommand::Export { study, directory } => export(study, directory, settings),
    }
}

/// Reads a job file. Everything that is wrong in it is told at once; what was changed is told, too.
pub(crate) fn import(file: &Path, force: bool, settings: &Settings) -> Result<Imported, Failure> {
    let text = crate::input::text(file, "job file", |_| "")?;
    let (imported, notes) = spec::fio::import(&text, force);
    let rendered = spec::render(&spell_path(file), &text, &notes, settings.style.colour);
    let wrong = notes.iter().any(|note| note.severity == Severity::Error);
    match imported {
        Some(imported) if !wrong => {
            if !notes.is_empty() {
                settings.printer.show(rendered.trim_end());
            }
            Ok(imported)
        }
        _ => Err(Failure::Drawn(rendered)),
    }
}

/// The usual policy with what the file says of times and sizes.
fn policy(imported: &Imported) -> MeasurePolicy {
    let base = MeasurePolicy::default();
    MeasurePolicy {
        window: imported.window.unwrap_or(base.window),
        settle: imported.settle.unwrap_or(base.settle),
        span: imported.span.unwrap_or(base.span),
        ..base
    }
}

/// One job file for every workload of a study.
fn export(study: &Path, directory: &Path, settings: &Settings) -> Result<Exit, Failure> {
    let study = crate::studies::load_whole(study, settings)?;
    std::fs::create_dir_all(directory).map_err(Failure::file("create", directory))?;
    for workload in by_fio(&study.design.workloads) {
        let path = directory.join(format!("{}.fio", workload.name));
        let job = text(std::slice::from_ref(workload), &study.design.measure)?;
        std::fs::write(&path, job).map_err(Failure::file("write", &path))?;
        settings.printer.say(&format!("wrote {}", spell_path(&path)));
    }
    Ok(Exit::Yes)
}

/// Job files of workloads, each setting with its reason.
pub(crate) fn text(workloads: &[Workload], policy: &MeasurePolicy) -> Result<String, Failure> {
    let place = Place::Directory(SHOWN.to_owned());
    let job = |workload: &Workload| {
        let job = measure::job(workload, &place, policy, policy.seed)?;
        Ok(format!("# {}\n{}\n", workload.describe(), job.file()))
    };
    by_fio(workloads).map(job).collect()
}

/// Workloads that fio does.
fn by_fio(workloads: &[Workload]) -> impl Iterator<Item = &Workload> {
    workloads.iter().filter(|workload| workload.method == Method::Fio)
}
