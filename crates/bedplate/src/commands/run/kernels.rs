//! A study on several kernels: a run on each, and what the others changed from the first.

use std::path::{Path, PathBuf};

use record::RunReader;
use terms::spelling::spell_path;

use super::again::{Earlier, earlier, newest};
use super::{conclude, go, show};
use crate::cli::RunArguments;
use crate::commands::compare;
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::target::PreparedRun;

/// Releases of the kernels that a study is to run on; none where the lab may choose, or a machine has its own.
pub(super) fn meant(prepared_run: &PreparedRun) -> Result<Vec<String>, Failure> {
    if prepared_run.site.is_some() {
        return Ok(Vec::new());
    }
    let asked = &prepared_run.study.design.lab.kernels;
    let releases = if asked.is_empty() { Vec::new() } else { lab::releases(asked)? };
    match (1..releases.len()).find(|at| releases[..*at].contains(&releases[*at])) {
        None => Ok(releases),
        Some(at) => Err(Failure::told(format!(
            "error: kernel {} is named twice\n\nhint: name every kernel once; they were {}",
            releases[at],
            asked.join(", ")
        ))),
    }
}

/// Makes a run on each kernel, shows it, and compares it with that on the first.
pub(super) fn side_by_side(
    prepared_run: &PreparedRun,
    releases: &[String],
    arguments: &RunArguments,
    settings: &Settings,
) -> Result<Exit, Failure> {
    if let Some(run) = arguments.resume.as_deref().filter(|run| *run != "latest") {
        return Err(Failure::told(format!(
            "error: run `{run}` has one kernel, and {} are named\n\nhint: `--resume` by itself goes on with a run on each",
            releases.len()
        )));
    }
    let mut runs: Vec<PathBuf> = Vec::new();
    let mut answer = Exit::Yes;
    for (number, release) in (1..).zip(releases) {
        settings.printer.say(&format!("kernel {release}, {number} of {}", releases.len()));
        let prepared_run = prepared_run.on_kernel(release, releases.len() as u64);
        let earlier = begun(&prepared_run, runs.last(), arguments, settings)?;
        let directory = go(prepared_run, earlier, settings)?;
        let (findings, of_run) = conclude(&directory, settings)?;
        answer = answer.max(of_run);
        // Standard output is one document.
        if !arguments.json {
            show(&directory, &findings, arguments, settings)?;
        }
        runs.push(directory);
    }
    Ok(answer.max(with_first(&runs, arguments, settings)?))
}

/// The run to go on with, if any. A run that is older than that on the kernel before is of another time: with `--resume` a
/// new one is begun.
fn begun(
    prepared_run: &PreparedRun,
    before: Option<&PathBuf>,
    arguments: &RunArguments,
    settings: &Settings,
) -> Result<Option<Earlier>, Failure> {
    match (&arguments.resume, arguments.more) {
        (None, None) => Ok(None),
        (_, Some(_)) => earlier("latest", &prepared_run.study, arguments, settings).map(Some),
        // Names of runs begin with their time.
        (Some(_), None) => Ok(newest(&prepared_run.study, arguments, settings)?
            .filter(|earlier| before.is_none_or(|before| earlier.directory.file_name() > before.file_name()))),
    }
}

/// Compares every run with the first; the page and the JSON go to the reports of each.
fn with_first(runs: &[PathBuf], arguments: &RunArguments, settings: &Settings) -> Result<Exit, Failure> {
    let [first, others @ ..] = runs else { return Ok(Exit::Yes) };
    let first = RunReader::open(first)?;
    let mut answer = Exit::Yes;
    let mut documents = Vec::new();
    for directory in others {
        let compared = compare::compared(&first, &RunReader::open(directory)?)?;
        answer = answer.max(compare::answer(&compared, arguments.fail_slower));
        let json = report::runs_json(&compared);
        put(directory, "comparison.json", &json)?;
        let page = put(directory, "comparison.html", &report::runs_html(&compared))?;
        if !arguments.json {
            settings
                .printer
                .drawn(&format!("\n{}", report::runs_text(&compared, arguments.details, &settings.style)))?;
            settings.printer.say(&format!("Page     {}", spell_path(&page)));
        }
        compare::limit(&compared, arguments.fail_slower, arguments.json, settings)?;
        documents.push(json);
    }
    if arguments.json {
        settings.printer.drawn(&format!("[\n{}]\n", documents.join(",\n")))?;
    }
    Ok(answer)
}

fn put(run: &Path, name: &str, text: &str) -> Result<PathBuf, Failure> {
    Ok(record::put_report(run, name, text.as_bytes())?)
}
