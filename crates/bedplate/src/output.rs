//! Files that are written for people into a directory of theirs.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::exit::Failure;

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
