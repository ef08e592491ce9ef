//! Files of one JSON object per line, added to at the end.
//!
//! A line counts once its line end is on the disk. What follows the last line end was torn by a crash, and so was a last
//! line that is not JSON (power loss may leave zeros). Readers pass over it and the next writer cuts it off.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::error::RecordError;
use crate::folder::{Folder, read_all};
use crate::layout;

/// A file of lines, open for adding.
#[derive(Debug)]
pub(crate) struct Lines {
    file: File,
    path: PathBuf,
    /// Bytes of whole lines.
    whole: u64,
    /// Is there something behind them, from a write that failed?
    torn: bool,
    /// Must a line be on the disk before [`Lines::append`] returns?
    synced: bool,
}

impl Lines {
    /// Opens a file, making it if need be, and cuts off a torn tail.
    pub(crate) fn open(folder: &Folder, name: &str, synced: bool) -> Result<Self, RecordError> {
        let path = folder.at(name)?;
        let file = folder.open_to_write(name)?;
        let bytes = read_all(&file, &path, layout::LINES)?;
        let whole = whole(&bytes).len();
        let mut lines = Self { file, path, whole: whole as u64, torn: whole < bytes.len(), synced };
        lines.cut()?;
        Ok(lines)
    }

    /// Adds one value as one line.
    pub(crate) fn append(&mut self, value: &impl Serialize) -> Result<(), RecordError> {
        // Compact JSON has no line end in it: those in texts are escaped.
        let mut line =
            serde_json::to_vec(value).map_err(|source| RecordError::Encode { path: self.path.clone(), source })?;
        line.push(b'\n');
        // What could not be read again is not written.
        checked(&self.path, &line)?;
        if self.whole + line.len() as u64 > layout::LINES {
            return Err(RecordError::TooLarge { path: self.path.clone(), most: layout::LINES });
        }
        self.cut()?;
        self.torn = true;
        self.file.write_all_at(&line, self.whole).map_err(RecordError::io("write", &self.path))?;
        if self.synced {
            self.sync()?;
        }
        self.whole += line.len() as u64;
        self.torn = false;
        Ok(())
    }

    /// Returns when all lines are on the disk.
    pub(crate) fn sync(&self) -> Result<(), RecordError> {
        self.file.sync_data().map_err(RecordError::io("sync", &self.path))
    }

    /// Cuts off what a failed or interrupted write left behind the whole lines.
    fn cut(&mut self) -> Result<(), RecordError> {
        if self.torn {
            self.file.set_len(self.whole).map_err(RecordError::io("cut the torn end of", &self.path))?;
            self.file.sync_all().map_err(RecordError::io("sync", &self.path))?;
            self.torn = false;
        }
        Ok(())
    }
}

/// Reads all whole lines; none if the file is not there.
pub(crate) fn read<T: DeserializeOwned>(folder: &Folder, name: &str) -> Result<Vec<T>, RecordError> {
    let path = folder.at(name)?;
    let bytes = folder.read(name, layout::LINES)?.unwrap_or_default();
    let lines = whole(&bytes).split_inclusive(|byte| *byte == b'\n').enumerate();
    let value = |(index, line)| {
        let broken = |source| RecordError::BrokenLine { path: path.clone(), line: index + 1, source };
        serde_json::from_slice(checked(&path, line)?).map_err(broken)
    };
    lines.map(value).collect()
}

/// A line that is no longer than lines may be.
fn checked<'a>(path: &Path, line: &'a [u8]) -> Result<&'a [u8], RecordError> {
    let fits = line.len() as u64 <= layout::LINE;
    if fits { Ok(line) } else { Err(RecordError::LongLine { path: path.to_owned(), most: layout::LINE }) }
}

/// The part of a file that is whole lines.
fn whole(bytes: &[u8]) -> &[u8] {
    let end = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let lines = &bytes[..end(bytes)];
    let Some(without_end) = lines.strip_suffix(b"\n") else { return lines };
    let last = end(without_end);
    let is_json = serde_json::from_slice::<IgnoredAny>(&lines[last..]).is_ok();
    if is_json { lines } else { &lines[..last] }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn cut_at_every_byte_all_whole_lines_remain_and_the_next_is_added() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let folder = Folder::open(dir.path()).unwrap();
        let values = [json!({"n": 1, "text": "line\nend"}), json!(12345), json!({"ü": [true, null]})];
        let mut lines = Lines::open(&folder, "x", true).unwrap();
        values.iter().for_each(|value| lines.append(value).unwrap());
        let full = fs::read(&path).unwrap();
        let last = json!("after");
        for cut in 0..=full.len() {
            fs::write(&path, &full[..cut]).unwrap();
            let whole = full[..cut].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(read::<Value>(&folder, "x").unwrap(), values[..whole], "read after a cut at {cut}");
            Lines::open(&folder, "x", false).unwrap().append(&last).unwrap();
            let expect: Vec<_> = values[..whole].iter().chain([&last]).cloned().collect();
            assert_eq!(read::<Value>(&folder, "x").unwrap(), expect, "added to after a cut at {cut}");
        }
    }

    #[test]
    fn zeros_at_the_end_are_cut() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let folder = Folder::open(dir.path()).unwrap();
        for tail in [&b"\0\0\0"[..], b"\0\0\n", b"{\"torn\":\n"] {
            fs::write(&path, [b"1\n", tail].concat()).unwrap();
            assert_eq!(read::<Value>(&folder, "x").unwrap(), [json!(1)]);
            Lines::open(&folder, "x", true).unwrap().append(&2).unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"1\n2\n");
        }
    }

    #[test]
    fn what_a_failed_write_left_is_cut_before_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let folder = Folder::open(dir.path()).unwrap();
        let mut lines = Lines::open(&folder, "x", true).unwrap();
        lines.append(&1).unwrap();
        // As a disk that fills up in the middle of a line leaves it.
        lines.torn = true;
        lines.file.write_all_at(b"{\"much longer than the next", lines.whole).unwrap();
        lines.append(&2).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"1\n2\n");
    }

    #[test]
    fn a_broken_line_in_the_middle_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let folder = Folder::open(dir.path()).unwrap();
        fs::write(&path, "1\nnot json\n3\n").unwrap();
        assert!(matches!(read::<Value>(&folder, "x"), Err(RecordError::BrokenLine { line: 2, .. })));
        assert!(read::<Value>(&folder, "none").unwrap().is_empty());
    }

    #[test]
    fn lines_without_end_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let long = format!("\"{}\"\n1\n", "a".repeat(usize::try_from(layout::LINE).unwrap()));
        fs::write(dir.path().join("x"), long).unwrap();
        assert!(matches!(read::<Value>(&folder, "x"), Err(RecordError::LongLine { .. })));
        let file = fs::OpenOptions::new().write(true).open(dir.path().join("x")).unwrap();
        file.set_len(3 << 30).unwrap();
        assert!(matches!(read::<Value>(&folder, "x"), Err(RecordError::TooLarge { .. })));
        assert!(matches!(Lines::open(&folder, "x", true), Err(RecordError::TooLarge { .. })));
    }
}
