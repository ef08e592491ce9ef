//! `bedplate runs`

use record::catalogue::{Catalogue, RunRow};

use crate::cli::RunsArguments;
use crate::exit::{Exit, Failure};
use crate::settings::Settings;

/// What to do where there are no runs.
pub(crate) const BEGIN: &str = "start with `bedplate run studies/quickstart.toml`";

/// Lists runs, newest first.
pub(crate) fn runs(arguments: &RunsArguments, settings: &Settings) -> Result<Exit, Failure> {
    if arguments.rebuild {
        let _ = std::fs::remove_file(&settings.catalogue);
    }
    let catalogue = catalogue(settings)?;
    let rows = catalogue.list()?;
    let text = if arguments.json {
        let rows: Vec<_> = rows.iter().map(json).collect();
        serde_json::to_string_pretty(&rows)?
    } else if rows.is_empty() {
        settings.printer.say(&format!("no runs yet; {BEGIN}"));
        return Ok(Exit::Yes);
    } else {
        rows.iter().map(line).collect()
    };
    settings.printer.data(&text)?;
    Ok(Exit::Yes)
}

/// The catalogue, brought up to date. Runs that cannot be read are told and passed over.
pub(crate) fn catalogue(settings: &Settings) -> Result<Catalogue, Failure> {
    std::fs::create_dir_all(&settings.runs).map_err(Failure::file("make", &settings.runs))?;
    let mut catalogue = Catalogue::open(&settings.catalogue)?;
    for error in catalogue.rebuild(&settings.runs)? {
        settings.printer.say(&format!("warning: {}", crate::exit::chain(&error)));
    }
    Ok(catalogue)
}

fn line(row: &RunRow) -> String {
    let state = match (row.sealed, row.failed) {
        (false, _) => "unfinished".to_owned(),
        (true, 0) => "whole".to_owned(),
        (true, failed) => format!("{failed} failed"),
    };
    format!("{:<40} {:>4} cells  {}\n    {}\n", row.run, row.cells, state, row.question)
}

fn json(row: &RunRow) -> serde_json::Value {
    serde_json::json!({
        "run": row.run, "directory": row.dir, "started": row.started, "question": row.question,
        "place": row.place, "accelerator": row.accelerator, "rounds": row.rounds, "stacks": row.stacks,
        "workloads": row.workloads, "cells": row.cells, "failed": row.failed, "sealed": row.sealed,
    })
}
