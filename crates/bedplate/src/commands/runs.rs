//! `bedplate runs`

use record::catalogue::{Catalogue, RunRow};
use terms::spelling::{spell_inline, spell_path};

use crate::cli::RunsArguments;
use crate::exit::{Exit, Failure};
use crate::settings::Settings;

/// What to do where there are no runs.
pub(crate) const BEGIN: &str = "start with `bedplate bench .` or `bedplate demo`";

/// Lists runs, newest first.
pub(crate) fn runs(arguments: &RunsArguments, settings: &Settings) -> Result<Exit, Failure> {
    let catalogue = catalogue(settings)?;
    if settings.runs.is_dir()
        && let Err(failure) = keep(&catalogue, settings)
    {
        // Only who asks for the file needs it.
        if arguments.rebuild {
            return Err(failure);
        }
        let text = failure.text();
        settings.printer.say(&format!("warning: {}", text.trim_end().trim_start_matches("error: ")));
    }
    let rows = catalogue.list();
    let text = if arguments.json {
        let rows: Vec<_> = rows.iter().map(json).collect();
        serde_json::to_string_pretty(&rows)?
    } else if rows.is_empty() {
        settings.printer.say(&format!("no runs yet; {BEGIN}"));
        return Ok(Exit::Yes);
    } else {
        rows.iter().map(|row| line(row, settings.style.columns())).collect()
    };
    settings.printer.data(&text)?;
    Ok(Exit::Yes)
}

/// What a run is called on the command line: its name, or its path where runs are kept elsewhere than usual.
pub(crate) fn told(directory: &std::path::Path, settings: &Settings) -> String {
    let usual = settings.state.join("runs");
    let path = if settings.runs == usual { directory.strip_prefix(&usual).unwrap_or(directory) } else { directory };
    spell_path(path)
}

/// Which runs there are, from their directories. Runs that cannot be read are told and passed over.
pub(crate) fn catalogue(settings: &Settings) -> Result<Catalogue, Failure> {
    let catalogue = Catalogue::read(&settings.runs)?;
    for error in catalogue.unread() {
        settings.printer.say(&format!("warning: {}", crate::exit::chain(error)));
    }
    Ok(catalogue)
}

/// Keeps the catalogue as a file for other programs.
pub(crate) fn keep(catalogue: &Catalogue, settings: &Settings) -> Result<(), Failure> {
    Ok(catalogue.keep(&settings.catalogue)?)
}

fn line(row: &RunRow, columns: usize) -> String {
    let state = match (row.sealed, row.failed) {
        (false, _) => "unfinished".to_owned(),
        (true, 0) => "complete".to_owned(),
        (true, failed) => format!("{failed} failed"),
    };
    let (run, question) = (spell_inline(&row.run), spell_inline(&row.question));
    format!("{run:<40} {:>4} cells  {state}\n{}", row.cells, report::paragraph("    ", &question, columns))
}

fn json(row: &RunRow) -> serde_json::Value {
    serde_json::json!({
        "run": row.run, "directory": row.dir, "started": row.started, "question": row.question,
        "place": row.place, "accelerator": row.accelerator, "rounds": row.rounds, "stacks": row.stacks,
        "workloads": row.workloads, "cells": row.cells, "failed": row.failed, "sealed": row.sealed,
    })
}
