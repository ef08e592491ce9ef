//! `bedplate fio`: job files of fio, in and out.

use std::collections::BTreeMap;
use std::path::Path;

use measure::Place;
use spec::fio::{Imported, Reader};
use terms::spelling::spell_path;
use terms::{MeasurePolicy, Method, Severity, Workload};

use crate::cli::{FioArguments, FioCommand};
use crate::exit::{Exit, Failure};
use crate::settings::Settings;

/// Where exported jobs work: the place of a stack that a person mounts there.
const SHOWN: &str = "/mnt/stack";

/// Checks a job file or a command line of fio's, or writes job files.
pub(crate) fn fio(arguments: &FioArguments, settings: &Settings) -> Result<Exit, Failure> {
    match &arguments.command {
        FioCommand::Check { file: Some(file), force, set, .. } => {
            check(&import(file, *force, set, settings)?, settings)
        }
        FioCommand::Check { file: None, force, set, command_line } => {
            let nothing = |_: &str| Err("a command line has no folder".to_owned());
            let text = spec::fio::job_file(command_line).map_err(|why| Failure::told(format!("error: {why}")))?;
            let reader = Reader { forced: *force, variables: &variables(set), include: &nothing };
            check(&read(&reader, "command line", &text, settings)?, settings)
        }
        FioCommand::Export { study, directory } => export(study, directory, settings),
    }
}

fn check(imported: &Imported, settings: &Settings) -> Result<Exit, Failure> {
    settings.printer.data(&text(&imported.workloads, &policy(imported))?)?;
    Ok(Exit::Yes)
}

/// Reads a job file. Everything that is wrong in it is told at once; what was changed is told, too.
pub(crate) fn import(
    file: &Path,
    force: bool,
    set: &[(String, String)],
    settings: &Settings,
) -> Result<Imported, Failure> {
    let text = crate::input::text(file, "job file", |_| "")?;
    let include = |name: &str| beside(file, name);
    let reader = Reader { forced: force, variables: &variables(set), include: &include };
    read(&reader, &spell_path(file), &text, settings)
}

/// `NAME=VALUE`, as `${NAME}` of a job file.
pub(crate) fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    let plain = !name.is_empty() && !name.contains(['$', '{', '}']) && !value.contains(char::is_control);
    if plain { Ok((name.to_owned(), value.to_owned())) } else { Err("write NAME=VALUE, in one line".to_owned()) }
}

fn variables(set: &[(String, String)]) -> BTreeMap<String, String> {
    set.iter().cloned().collect()
}

fn read(reader: &Reader<'_>, name: &str, text: &str, settings: &Settings) -> Result<Imported, Failure> {
    let (imported, notes) = reader.read(text);
    let rendered = spec::render(name, text, &notes, settings.style.colour);
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

/// The text of a file that a job file includes: one that lies in the same folder or below it, whatever links say.
fn beside(file: &Path, name: &str) -> Result<String, String> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real = |path: &Path| path.canonicalize().map_err(|error| error.to_string());
    let (folder, path) = (real(folder)?, real(&folder.join(name))?);
    if !path.starts_with(&folder) {
        return Err("it leads out of the job file's folder".to_owned());
    }
    crate::input::text(&path, "job file", |_| "").map_err(|_| "it is no readable file of text".to_owned())
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

/// A job file of workloads that run one after another, each setting with its reason.
pub(crate) fn text(workloads: &[Workload], policy: &MeasurePolicy) -> Result<String, Failure> {
    let place = Place::Directory(SHOWN.to_owned());
    let job = |(number, workload): (usize, &Workload)| {
        let job = measure::job(workload, &place, policy, policy.seed)?;
        // fio starts all jobs of a file at once, but for those that wait.
        let job = if number == 0 { job } else { job.after_others() };
        Ok(format!("# {}\n{}\n", workload.describe(), job.file()))
    };
    by_fio(workloads).enumerate().map(job).collect()
}

/// Workloads that fio does.
fn by_fio(workloads: &[Workload]) -> impl Iterator<Item = &Workload> {
    workloads.iter().filter(|workload| workload.method == Method::Fio)
}
