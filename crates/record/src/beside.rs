//! Small files that are kept beside the runs. The directory may be another person's than the one who writes, as under
//! `sudo`: what lies there already is a stranger's, and no link, pipe or device in it is opened.

use std::path::{Path, PathBuf};

use crate::durable;
use crate::error::RecordError;
use crate::folder::{self, Folder};

/// Puts a file in place whole, in a directory beside the runs; one that has the name already is replaced. Gives its path.
///
/// # Errors
/// As the file system has them; [`RecordError::BadName`].
pub fn put_beside(runs: &Path, directory: &str, name: &str, bytes: &[u8]) -> Result<PathBuf, RecordError> {
    let folder = Folder::open_or_make(above(runs))?.make(directory)?;
    durable::put_file(&folder, name, bytes)?;
    folder.at(name)
}

/// Reads such a file; `None` if it is not there.
///
/// # Errors
/// As the file system has them; [`RecordError::NotAFile`], [`RecordError::TooLarge`].
pub fn read_beside(runs: &Path, directory: &str, name: &str) -> Result<Option<Vec<u8>>, RecordError> {
    let above = above(runs);
    if !above.exists() {
        return Ok(None);
    }
    match Folder::open(above)?.below(directory)? {
        Some(folder) => folder::document(&folder, name),
        None => Ok(None),
    }
}

fn above(runs: &Path) -> &Path {
    runs.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn what_is_put_is_read_again_and_replaces_what_was_there() {
        let home = tempfile::tempdir().unwrap();
        let runs = home.path().join("deep/runs");
        assert_eq!(read_beside(&runs, "kept", "a.json").unwrap(), None);
        for text in [b"one", b"two"] {
            let path = put_beside(&runs, "kept", "a.json", text).unwrap();
            assert_eq!(path, home.path().join("deep/kept/a.json"));
            assert_eq!(read_beside(&runs, "kept", "a.json").unwrap().unwrap(), text);
        }
        assert_eq!(read_beside(&runs, "kept", "b.json").unwrap(), None);
    }

    #[test]
    fn nothing_is_written_or_read_through_what_somebody_planted() {
        let home = tempfile::tempdir().unwrap();
        let (runs, kept, theirs) = (home.path().join("runs"), home.path().join("kept"), home.path().join("theirs"));
        fs::create_dir(&kept).unwrap();
        fs::write(&theirs, "precious").unwrap();
        symlink(&theirs, kept.join("a.json")).unwrap();
        assert!(matches!(read_beside(&runs, "kept", "a.json"), Err(RecordError::NotAFile { .. })));
        for name in ["a.json.new", ".new-a.json"] {
            symlink(&theirs, kept.join(name)).unwrap();
        }
        put_beside(&runs, "kept", "a.json", b"measured").unwrap();
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "precious");
        assert_eq!(read_beside(&runs, "kept", "a.json").unwrap().unwrap(), b"measured");
        mknodat(CWD, kept.join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        assert!(matches!(read_beside(&runs, "kept", "pipe"), Err(RecordError::NotAFile { .. })), "it does not wait");
        // The directory itself, too.
        fs::rename(&kept, home.path().join("elsewhere")).unwrap();
        symlink(home.path().join("elsewhere"), &kept).unwrap();
        assert!(put_beside(&runs, "kept", "b.json", b"x").is_err() && read_beside(&runs, "kept", "b.json").is_err());
        assert!(!home.path().join("elsewhere/b.json").exists());
    }
}
