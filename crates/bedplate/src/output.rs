//! Files that are written for people.

use std::fs::{File, Permissions};
use std::io::{Error, ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use terms::spelling::spell_path;

use crate::exit::Failure;

/// Writes a file that is not there yet.
pub(crate) fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| unwritten(path, error))
}

/// Writes a file anew.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    std::fs::write(path, content).map_err(|error| unwritten(path, error))
}

/// Why a file could not be written, and what to do about it.
fn unwritten(path: &Path, error: Error) -> Failure {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (what, hint) = match error.kind() {
        _ if path.is_dir() => (format!("`{}` is a directory", spell_path(path)), "name a file in it"),
        ErrorKind::AlreadyExists => (taken(path), "name another file, or remove this one"),
        ErrorKind::NotFound if !parent.is_dir() => {
            (format!("there is no directory `{}`", spell_path(parent)), "make it first, or name another file")
        }
        _ => return Failure::file("write", path)(error),
    };
    Failure::told(format!("error: {what}\n\nhint: {hint}"))
}

/// What is said of a file that is in the way.
pub(crate) fn taken(path: &Path) -> String {
    format!("there is a {} `{}` already", if path.is_dir() { "directory" } else { "file" }, spell_path(path))
}

/// Puts a file into a directory whole, in the place of what has the name already: a link that lies there is replaced and not
/// followed.
pub(crate) fn put(directory: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = directory.join(name);
    let put = || {
        let for_all = Permissions::from_mode(0o644);
        let mut part = tempfile::Builder::new().permissions(for_all).tempfile_in(directory)?;
        part.write_all(text.as_bytes())?;
        part.persist(&path)?;
        Ok(())
    };
    put().map_err(Failure::file("write", &path))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_cannot_be_written_is_told_with_what_to_do() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        assert!(write_new(&file, "one").is_ok());
        let told = |path: &Path| write_new(path, "two").unwrap_err().text();
        for (path, what) in [
            (&file, "already"),
            (&home.path().to_owned(), "is a directory"),
            (&home.path().join("no/x"), "no directory"),
        ] {
            let told = told(path);
            assert!(told.contains(what) && told.contains("hint: "), "{told}");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "one");
        assert!(write(&file, "two").is_ok());
    }

    #[test]
    fn a_link_is_replaced_and_a_file_is_written_anew() {
        let home = tempfile::tempdir().unwrap();
        let victim = home.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let directory = home.path().join("pages");
        fs::create_dir(&directory).unwrap();
        symlink(&victim, directory.join("page")).unwrap();
        for text in ["one", "two"] {
            put(&directory, "page", text).unwrap();
            assert_eq!(fs::read_to_string(directory.join("page")).unwrap(), text);
        }
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
    }
}
