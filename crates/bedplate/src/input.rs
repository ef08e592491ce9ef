//! Files that people hand over: read whole, if they are files, and no further than files of their kind go.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use terms::Bytes;

use crate::exit::Failure;

/// Longest text that somebody writes: studies, job files, descriptions of machines.
pub(crate) const TEXT: Bytes = Bytes::mib(16);
/// Longest capture; the largest machines have a few MiB.
pub(crate) const CAPTURE: Bytes = Bytes::mib(64);

/// The text of a file; `what` says what it is, such as `study`.
pub(crate) fn text<S: Into<String>>(path: &Path, what: &str, hint: impl Fn(ErrorKind) -> S) -> Result<String, Failure> {
    let bytes = bytes(path, what, TEXT, &hint)?;
    String::from_utf8(bytes).map_err(|error| {
        let (whole, _) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
        let line = whole.iter().filter(|byte| **byte == b'\n').count() + 1;
        let error = std::io::Error::new(ErrorKind::InvalidData, format!("line {line} is not UTF-8 text"));
        unread(path, what, &error, "save it as UTF-8")
    })
}

/// What `-` stands for.
const STDIN: &str = "/dev/stdin";

/// The content of a file of at most that size; `-` is standard input. Pipes and terminals are read only where the name says that they are meant:
/// `/dev/stdin` and what shells put in the place of `<(…)`.
pub(crate) fn bytes<S: Into<String>>(
    path: &Path,
    what: &str,
    most: Bytes,
    hint: impl Fn(ErrorKind) -> S,
) -> Result<Vec<u8>, Failure> {
    let failed = |error: std::io::Error| unread(path, what, &error, &hint(error.kind()).into());
    let refused = |why: &str| {
        Failure::told(format!(
            "error: could not read the {what} `{}`\n  because: {why}",
            terms::spelling::spell_path(path)
        ))
    };
    let path = if path == Path::new("-") { Path::new(STDIN) } else { path };
    let passed = is_passed(path);
    // What is no file may wait for somebody at the other end already when it is opened.
    let wait = if passed { OFlags::empty() } else { OFlags::NONBLOCK };
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | wait;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
    let file = File::from(file);
    let kind = file.metadata().map_err(failed)?.file_type();
    if kind.is_dir() {
        return Err(failed(ErrorKind::IsADirectory.into()));
    }
    if !kind.is_file() && !passed {
        return Err(refused("it is not a regular file\n\nhint: to read from a pipe, name `/dev/stdin`"));
    }
    let mut content = Vec::new();
    file.take(most.0 + 1).read_to_end(&mut content).map_err(failed)?;
    if content.len() as u64 > most.0 {
        return Err(refused(&format!("it is longer than {most}, and no {what} is")));
    }
    Ok(content)
}

/// Does the name say that something is handed over under it, whatever it is?
fn is_passed(path: &Path) -> bool {
    [STDIN, "/dev/fd", "/proc/self/fd"].iter().any(|start| path.starts_with(start))
}

fn unread(path: &Path, what: &str, error: &std::io::Error, hint: &str) -> Failure {
    let near = if error.kind() == ErrorKind::NotFound { neighbour(path) } else { None };
    let near = near.filter(|_| !hint.contains("did you mean")).map(|near| format!("did you mean `{near}`?"));
    let hint: Vec<&str> = near.as_deref().into_iter().chain(Some(hint).filter(|hint| !hint.is_empty())).collect();
    let hint = if hint.is_empty() { String::new() } else { format!("\n\nhint: {}", hint.join(" ")) };
    Failure::told(format!(
        "error: could not read the {what} `{}`\n  because: {error}{hint}",
        terms::spelling::spell_path(path)
    ))
}

/// Most names of a directory that are looked at.
const NAMES: usize = 1000;

/// The file beside a missing one whose name is most like it.
fn neighbour(path: &Path) -> Option<String> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = std::fs::read_dir(directory).ok()?.take(NAMES).flatten();
    let names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let near = spec::nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(terms::spelling::spell_path(&path.with_file_name(near)).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &Path, most: Bytes) -> String {
        bytes(path, "study", most, |_| "").unwrap_err().text()
    }

    #[test]
    fn only_files_are_read_and_no_further_than_they_may_go() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(bytes(&path, "study", Bytes(5), |_| "").unwrap(), *b"12345");
        assert!(refusal(&path, Bytes(4)).contains("longer than 4 B"));
        assert!(refusal(directory.path(), TEXT).contains("directory"));
        assert!(refusal(Path::new("/dev/zero"), TEXT).contains("not a regular file"));
        let pipe = directory.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(refusal(&pipe, TEXT).contains("not a regular file"), "and nobody waits for the other end");
    }
}
