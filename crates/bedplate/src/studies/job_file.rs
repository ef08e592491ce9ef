//! Job files of fio, read for a person: what is wrong in one is shown where it stands.

use std::collections::BTreeMap;
use std::path::Path;

use spec::fio::{Imported, Reader};
use terms::NoteLevel;
use terms::spelling::spell_path;

use crate::exit::Failure;
use crate::settings::Settings;

/// Reads a job file. Everything that is wrong in it is told at once; what was changed is told, too.
pub(crate) fn import(
    file: &Path,
    force: bool,
    set: &[(String, String)],
    settings: &Settings,
) -> Result<Imported, Failure> {
    let text = crate::input::text(file, "job file", |_| "`bedplate fio export quickstart` writes some")?;
    let include = |name: &str| beside(file, name);
    let reader = Reader { forced: force, variables: &variables(set), include: &include };
    read(&reader, &spell_path(file), &text, settings)
}

pub(crate) fn variables(set: &[(String, String)]) -> BTreeMap<String, String> {
    set.iter().cloned().collect()
}

/// What is understood of a text; what was changed is told.
pub(crate) fn read(reader: &Reader<'_>, name: &str, text: &str, settings: &Settings) -> Result<Imported, Failure> {
    let (imported, notes) = reader.read(text);
    let rendered = spec::render(name, text, &notes, settings.style.colour);
    let wrong = notes.iter().any(|note| note.severity == NoteLevel::Error);
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
