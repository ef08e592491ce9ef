//! `bedplate compare`

use analyse::Run;
use record::RunReader;
use terms::PerMille;
use terms::finding::RunComparison;
use terms::spelling::spell_path;

use crate::cli::CompareArguments;
use crate::commands::report::{findings, is_as_sealed, open};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::settings::Settings;

/// Compares two runs from their records.
pub(crate) fn compare(arguments: &CompareArguments, settings: &Settings) -> Result<Exit, Failure> {
    let readers = [open(&arguments.a, settings)?, open(&arguments.b, settings)?];
    let [a, b] = &readers;
    if a.dir() == b.dir() {
        return Err(refused(&["A and B are the same run".to_owned()]));
    }
    for (reader, run) in readers.iter().zip([&arguments.a, &arguments.b]) {
        is_as_sealed(reader, run, settings);
    }
    let compared = compared(a, b)?;
    if let Some(path) = &arguments.html {
        output::write(path, report::runs_html(&compared))?;
        settings.printer.say(&format!("wrote {}", spell_path(path)));
    } else {
        let text = if arguments.json {
            report::runs_json(&compared)
        } else {
            report::runs_text(&compared, arguments.details, &settings.style)
        };
        settings.printer.drawn(&text)?;
    }
    limit(&compared, arguments.fail_slower, arguments.json, settings)?;
    Ok(answer(&compared, arguments.fail_slower))
}

/// The run `b` beside the run `a`.
pub(crate) fn compared(a: &RunReader, b: &RunReader) -> Result<RunComparison, Failure> {
    let (of_a, of_b) = (findings(a)?, findings(b)?);
    let (cells_a, cells_b) = (a.cells()?, b.cells()?);
    analyse::runs(Run { findings: &of_a, cells: &cells_a }, Run { findings: &of_b, cells: &cells_b })
        .map_err(|reasons| refused(&reasons))
}

/// What came of the limit, where there is one; not where a program reads JSON.
pub(crate) fn limit(
    of: &RunComparison,
    limit: Option<PerMille>,
    json: bool,
    settings: &Settings,
) -> Result<(), Failure> {
    match limit {
        Some(limit) if json => settings.printer.say(&report::runs_limit(of, limit, &settings.style)),
        Some(limit) => settings.printer.drawn(&format!("\n{}", report::runs_limit(of, limit, &settings.style)))?,
        None => {}
    }
    Ok(())
}

/// No, where a cell is certainly slower by more than may be.
pub(crate) fn answer(of: &RunComparison, limit: Option<PerMille>) -> Exit {
    if limit.is_some_and(|limit| of.slower_by(limit.share()).next().is_some()) { Exit::No } else { Exit::Yes }
}

fn refused(reasons: &[String]) -> Failure {
    let because: String = reasons.iter().map(|reason| format!("\n  because: {reason}")).collect();
    Failure::told(format!(
        "error: these runs cannot be compared{because}\n\nhint: run one study in the same place and with the same clock twice; \
         `bedplate runs` lists runs"
    ))
}
