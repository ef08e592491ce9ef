//! `bedplate report`

use std::path::{Path, PathBuf};

use host::{Host, Local};
use record::{RecordError, RunReader};
use terms::finding::Findings;
use terms::spelling::{spell_inline, spell_path};
use terms::{Bytes, Cmd};

use crate::cli::ReportArguments;
use crate::commands::runs;
use crate::exit::{Exit, Failure, chain};
use crate::output;
use crate::settings::Settings;

/// The page's name inside a run's directory of reports.
pub(crate) const PAGE: &str = "report.html";

/// What turns an SVG into pixels: forums and messengers take no SVG.
const CONVERTER: &str = "rsvg-convert";

/// A picture of our own as PNG.
fn png(svg: Vec<u8>) -> Result<Vec<u8>, Failure> {
    let host = Local::new();
    if host::find_program(&host, CONVERTER)?.is_none() {
        let family = host::packages::family(&host)?;
        return Err(Failure::Missing {
            what: format!("`{CONVERTER}` is not installed, and a PNG needs it; an SVG does not (`--card card.svg`)"),
            remedy: host::packages::install_line(family, &[CONVERTER]),
        });
    }
    Ok(host.run_ok(&Cmd::new([CONVERTER, "--format", "png"]).stdin(svg).output(PICTURE))?.stdout)
}

/// The most that a picture of 1200 by 630 pixels of four bytes can take, and more than it ever does.
const PICTURE: Bytes = Bytes::mib(4);

/// Reports a run from its record.
pub(crate) fn report(arguments: &ReportArguments, settings: &Settings) -> Result<Exit, Failure> {
    if arguments.list_columns {
        settings.printer.drawn(&report::table::list(&report::columns::cells(), &settings.style))?;
        return Ok(Exit::Yes);
    }
    let reader = open(&arguments.run, settings)?;
    if arguments.verify {
        return verify(&reader, settings);
    }
    let answer = if is_as_sealed(&reader, &arguments.run, settings) { Exit::Yes } else { Exit::No };
    let findings = findings(&reader)?;
    let page: fn(&Findings) -> String = if arguments.details { report::html_whole } else { report::html };
    let files = [(&arguments.html, page), (&arguments.card, report::card)];
    if let Some((path, made)) = files.iter().find_map(|(path, made)| Some((path.as_ref()?, made))) {
        let drawn = made(&findings);
        if path.as_os_str() == "-" {
            settings.printer.data(&drawn)?;
            return Ok(answer);
        }
        let drawn = drawn.into_bytes();
        let is_png = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("png"));
        let drawn = if is_png && arguments.card.is_some() { png(drawn)? } else { drawn };
        output::write(path, drawn)?;
        settings.printer.say(&format!("wrote {}", spell_path(path)));
        return Ok(answer);
    }
    let style = report::Style { si: arguments.si, ..settings.style };
    let text = if arguments.markdown {
        report::markdown(&findings)
    } else if arguments.json {
        report::json(&findings)
    } else if arguments.csv {
        report::csv(&findings)
    } else if let Some(names) = &arguments.output {
        let columns = report::table::select(&report::columns::cells(), names).map_err(|error| {
            let near = spec::did_you_mean(&error.name, error.known.iter().copied());
            Failure::told(format!("error: {error}\n\nhint: {near}`bedplate report --list-columns` lists them"))
        })?;
        report::table::text(&columns, &report::columns::cell_rows(&findings), &style, true)
    } else {
        shown(&findings, arguments.details, &style)
    };
    settings.printer.drawn(&text)?;
    if !(arguments.markdown || arguments.json || arguments.csv || arguments.output.is_some()) {
        settings.printer.say(&more(&arguments.run, &findings, reader.dir(), arguments.details, &style));
    }
    Ok(answer)
}

/// The findings as a person reads them: on a screen, or all that is known.
pub(crate) fn shown(findings: &Findings, details: bool, style: &report::Style) -> String {
    if details { report::terminal(findings, style) } else { report::brief(findings, style) }
}

/// Where the rest of a report is: below a screen the command that has it, and the page, where several stacks were compared;
/// below all that is known the page. What is to be copied is never broken: too long a line has it alone.
pub(crate) fn more(run: &str, findings: &Findings, directory: &Path, details: bool, style: &report::Style) -> String {
    let line = |word: &str, text: String| {
        let line = format!("{word:<9}{text}");
        if line.chars().count() > style.width { text } else { line }
    };
    let command = format!("bedplate report {} --details", terms::command::quote(run));
    let page = directory.join("reports").join(PAGE);
    let has_page = page.is_file() && (details || findings.provenance.stacks.len() > 1);
    let lines = [(!details).then(|| line("Details", command)), has_page.then(|| line("Page", from_home(&page)))];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// A path as a shell takes it, from the home directory where it is below that.
fn from_home(path: &Path) -> String {
    let home = etcetera::home_dir().ok();
    let below = home.and_then(|home| path.strip_prefix(home).ok().map(spell_path));
    // A shell expands the tilde of a bare word alone.
    let bare = |below: &String| terms::command::quote(below) == below.as_str();
    below.filter(bare).map_or_else(|| spell_path(path), |below| format!("~/{below}"))
}

/// Finds a run by its directory where a path is said (`./latest`, `/mnt/x`, `.`), and otherwise among one's own: by name,
/// the beginning of one, or `latest`. A folder that happens to be called so here is not meant.
pub(crate) fn open(run: &str, settings: &Settings) -> Result<RunReader, Failure> {
    if run.contains('/') || matches!(run, "." | "..") {
        return RunReader::open(Path::new(run)).map_err(|error| match error {
            RecordError::NotARun { .. } => Failure::told(format!(
                "error: {}\n\nhint: name the directory of a run; `bedplate runs` lists those of `{}`",
                chain(&error),
                spell_path(&settings.runs)
            )),
            other => other.into(),
        });
    }
    if run.trim().is_empty() {
        return Err(Failure::told(
            "error: no run is named\n\nhint: `bedplate runs` lists them, and `latest` is the newest",
        ));
    }
    let catalogue = runs::catalogue(settings)?;
    let here = Path::new(run).join("provenance.json").is_file();
    let path = if here { format!("; the folder here is `./{}`", spell_inline(run)) } else { String::new() };
    if catalogue.list().is_empty() {
        return Err(Failure::told(format!(
            "error: there are no runs in `{}`\n\nhint: {}{path}",
            spell_path(&settings.runs),
            runs::BEGIN
        )));
    }
    let row = catalogue.find(run).map_err(|error| {
        Failure::told(format!(
            "error: {error}\n\nhint: `bedplate runs` lists them; the beginning of a name is enough if it is the only \
             one{path}"
        ))
    })?;
    Ok(RunReader::open(&row.dir)?)
}

/// What a record means.
pub(crate) fn findings(reader: &RunReader) -> Result<Findings, Failure> {
    let inventory = reader.inventory()?.unwrap_or_default();
    let mut findings = analyse::study(reader.provenance(), &inventory, &reader.cells()?, &reader.builds()?);
    findings.predicted = reader.predicted()?.map(|(predicted, sha256)| analyse::score(&predicted, &sha256, &findings));
    findings.preflight = reader.preflight()?;
    findings.feature_checks = reader.feature_checks()?;
    Ok(findings)
}

/// Writes page, CSV and JSON beside the record; they can be made again from it at any time.
pub(crate) fn write_all(findings: &Findings, directory: &Path) -> Result<PathBuf, Failure> {
    let put = |name: &str, text: &str| record::put_report(directory, name, text.as_bytes());
    put("report.csv", &report::csv(findings))?;
    put("comparisons.csv", &report::comparisons_csv(findings))?;
    put("report.json", &report::json(findings))?;
    Ok(put(PAGE, &report::html(findings))?)
}

/// Is a finished record as it was sealed? Where it is not, a warning says so: its figures may be anybody's.
pub(crate) fn is_as_sealed(reader: &RunReader, run: &str, settings: &Settings) -> bool {
    if !reader.is_sealed() {
        return true;
    }
    let problems = reader.verify().unwrap_or_else(|error| vec![chain(&error)]);
    let Some((first, others)) = problems.split_first() else { return true };
    let more = if others.is_empty() { String::new() } else { format!(", and {} more", others.len()) };
    settings.printer.say(&format!(
        "warning: the record is not as it was sealed: {first}{more}. Its figures prove nothing.\n\
         hint: `bedplate report {} --verify` lists what changed",
        terms::command::quote(run)
    ));
    false
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
