//! Job files of fio, read for a person: what is wrong in one is shown where it stands.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;

use spec::fio::{Imported, Reader};
use terms::spelling::spell_path;
use terms::{Note, NoteLevel, Span};

use crate::exit::Failure;
use crate::settings::Settings;

/// Reads a job file. Everything that is wrong in it is told at once; what was changed is told, too.
pub(crate) fn import(
    file: &Path,
    force: bool,
    set: &[(String, String)],
    settings: &Settings,
) -> Result<Imported, Failure> {
    let text = text(file, "`bedplate fio export quickstart` writes some")?;
    let include = |name: &str| beside(file, name);
    let reader = Reader { forced: force, variables: &variables(set), include: &include };
    read(&reader, &spell_path(file), &text, settings)
}

/// What a text begins with that has two bytes for each letter.
const UTF_16: [[u8; 2]; 2] = [[0xff, 0xfe], [0xfe, 0xff]];

/// The text of a job file.
fn text(file: &Path, hint: &str) -> Result<String, Failure> {
    let bytes = crate::input::bytes(file, "job file", crate::input::TEXT, |_| hint)?;
    decoded(&bytes).map_err(|why| {
        let file = spell_path(file);
        Failure::told(format!(
            "error: could not read the job file `{file}`\n  because: {why}\n\nhint: save it as UTF-8"
        ))
    })
}

/// fio takes comments in any encoding, and elsewhere no such letter is taken.
fn decoded(bytes: &[u8]) -> Result<String, &'static str> {
    if UTF_16.iter().any(|mark| bytes.starts_with(mark)) {
        return Err("it is UTF-16 text");
    }
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

pub(crate) fn variables(set: &[(String, String)]) -> BTreeMap<String, String> {
    set.iter().cloned().collect()
}

/// What is understood of a text; what was changed is told. Where nothing is, the last line says so.
pub(crate) fn read(reader: &Reader<'_>, name: &str, text: &str, settings: &Settings) -> Result<Imported, Failure> {
    let (imported, notes) = reader.read(text);
    let wrong = notes.iter().filter(|note| note.severity == NoteLevel::Error).count();
    let rendered = drawn(name, text, notes, settings);
    match imported {
        Some(imported) if wrong == 0 => {
            if !rendered.is_empty() {
                settings.printer.show(rendered.trim_end());
            }
            Ok(imported)
        }
        _ => {
            let errors = if wrong == 1 { "1 error".to_owned() } else { format!("{wrong} errors") };
            Err(Failure::Drawn(format!("{rendered}\n{errors}: nothing of this is measured\n")))
        }
    }
}

/// The notes under their lines, in as many columns as a narrow terminal has.
fn drawn(name: &str, text: &str, mut notes: Vec<Note>, settings: &Settings) -> String {
    // A mark before the text has no width, and would move each caret of the first line.
    let plain = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mark = text.len() - plain.len();
    for span in notes.iter_mut().filter_map(|note| note.span.as_mut()) {
        *span = Span { start: span.start.saturating_sub(mark), end: span.end.saturating_sub(mark) };
    }
    // A log has one line for each message.
    if std::io::stderr().is_terminal() {
        notes.iter_mut().for_each(wrap);
    }
    spec::render(name, plain, &notes, settings.style.colour)
}

/// Columns that a note's own lines keep to.
const COLUMNS: usize = 80;

/// Breaks a note's message so that it fits behind its title.
fn wrap(note: &mut Note) {
    let title = "warning[]: ".len() + note.code.len();
    let message = report::paragraph("", &note.message, COLUMNS.saturating_sub(title));
    note.message = message.trim_end().to_owned();
}

/// The text of a file that a job file includes: one that lies in the same folder or below it, whatever links say.
fn beside(file: &Path, name: &str) -> Result<String, String> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real = |path: &Path| path.canonicalize().map_err(|error| error.to_string());
    let (folder, path) = (real(folder)?, real(&folder.join(name))?);
    if !path.starts_with(&folder) {
        return Err("it leads out of the job file's folder".to_owned());
    }
    let bytes = crate::input::bytes(&path, "job file", crate::input::TEXT, |_| "");
    let bytes = bytes.map_err(|_| "it is no readable file of text".to_owned())?;
    decoded(&bytes).map_err(|why| format!("{why}; save it as UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_two_bytes_a_letter_is_one_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for mark in [b"\xff\xfe", b"\xfe\xff"] {
            std::fs::write(file.path(), [mark.as_slice(), b"[\0j\0]\0"].concat()).unwrap();
            let told = text(file.path(), "").map_err(|failure| format!("{failure:?}"));
            assert!(told.as_ref().is_err_and(|told| told.contains("save it as UTF-8")), "{told:?}");
        }
        let name = file.path().file_name().unwrap().to_str().unwrap();
        let told = beside(&file.path().with_file_name("a.fio"), name);
        assert_eq!(told, Err("it is UTF-16 text; save it as UTF-8".to_owned()));
        std::fs::write(file.path(), b"[j]\n# \xff\xfe\n").unwrap();
        assert!(text(file.path(), "").is_ok());
    }

    #[test]
    fn a_long_message_fits_a_narrow_terminal() {
        let mut note = Note::error("fio-together", None, "`word` and more words ".repeat(12)).as_warning();
        wrap(&mut note);
        let drawn = spec::render("a.fio", "", &[note], false);
        assert!(drawn.lines().count() > 3 && drawn.lines().all(|line| line.chars().count() <= COLUMNS), "{drawn}");
    }
}
