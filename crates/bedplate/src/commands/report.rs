//! `bedplate report`

use std::path::{Path, PathBuf};

use record::RunReader;
use terms::finding::Findings;

use crate::cli::ReportArguments;
use crate::commands::runs;
use crate::exit::{Exit, Failure};
use crate::settings::Settings;

/// The page's name inside a run's directory of reports.
pub(crate) const PAGE: &str = "report.html";

/// Reports a run from its record.
pub(crate) fn report(arguments: &ReportArguments, settings: &Settings) -> Result<Exit, Failure> {
    if arguments.list_columns {
        settings.printer.data(&report::table::list(&report::columns::cells(), &settings.style))?;
        return Ok(Exit::Yes);
    }
    let reader = open(&arguments.run, settings)?;
    if arguments.verify {
        return verify(&reader, settings);
    }
    let findings = findings(&reader)?;
    if let Some(path) = &arguments.html {
        std::fs::write(path, report::html(&findings)).map_err(Failure::file("write", path))?;
        settings.printer.say(&format!("wrote {}", path.display()));
        return Ok(Exit::Yes);
    }
    let style = report::Style { si: arguments.si, ..settings.style };
    let text = if arguments.json {
        report::json(&findings)
    } else if arguments.csv {
        report::csv(&findings)
    } else if let Some(names) = &arguments.output {
        let columns = report::table::select(&report::columns::cells(), names).map_err(|error| {
            Failure::told(format!("error: {error}\n\nhint: `bedplate report --list-columns` lists them"))
        })?;
        report::table::text(&columns, &report::columns::cell_rows(&findings), &style, true)
    } else {
        report::terminal(&findings, &style)
    };
    settings.printer.data(&text)?;
    Ok(Exit::Yes)
}

/// Finds a run by directory, beginning of its name, or `latest`.
pub(crate) fn open(run: &str, settings: &Settings) -> Result<RunReader, Failure> {
    if Path::new(run).join("provenance.json").is_file() {
        return Ok(RunReader::open(Path::new(run))?);
    }
    let catalogue = runs::catalogue(settings)?;
    if catalogue.list()?.is_empty() {
        return Err(Failure::told(format!(
            "error: there are no runs in `{}`\n\nhint: {}",
            settings.runs.display(),
            runs::BEGIN
        )));
    }
    let row = catalogue.find(run).map_err(|error| {
        Failure::told(format!("error: {error}\n\nhint: `bedplate runs` lists them; the beginning of a name is enough if it is the only one"))
    })?;
    Ok(RunReader::open(&row.dir)?)
}

/// What a record means.
pub(crate) fn findings(reader: &RunReader) -> Result<Findings, Failure> {
    let inventory = reader.inventory()?.unwrap_or_default();
    let mut findings = analyse::study(reader.provenance(), &inventory, &reader.cells()?, &reader.builds()?);
    findings.foretold = reader.foretold()?.map(|(foretold, sha256)| analyse::score(&foretold, &sha256, &findings));
    findings.preflight = reader.preflight()?;
    findings.trials = reader.trials()?;
    Ok(findings)
}

/// Writes page, CSV and JSON beside the record; they can be made again from it at any time.
pub(crate) fn write_all(findings: &Findings, directory: &Path) -> Result<PathBuf, Failure> {
    let directory = directory.join("reports");
    std::fs::create_dir_all(&directory).map_err(Failure::file("make", &directory))?;
    let page = directory.join(PAGE);
    let texts = [
        (page.clone(), report::html(findings)),
        (directory.join("report.csv"), report::csv(findings)),
        (directory.join("comparisons.csv"), report::comparisons_csv(findings)),
        (directory.join("report.json"), report::json(findings)),
    ];
    for (path, text) in texts {
        std::fs::write(&path, text).map_err(Failure::file("write", &path))?;
    }
    Ok(page)
}

fn verify(reader: &RunReader, settings: &Settings) -> Result<Exit, Failure> {
    let problems = reader.verify()?;
    if problems.is_empty() {
        settings.printer.data("every file is as it was sealed")?;
        return Ok(Exit::Yes);
    }
    settings.printer.data(&problems.join("\n"))?;
    Ok(Exit::No)
}
