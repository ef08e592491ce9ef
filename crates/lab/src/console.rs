//! What a guest that did not come up said last.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::file;

/// The last lines that QEMU and the guest's console said.
pub(crate) fn last_words(directory: &Path) -> String {
    let text = [file::OUTPUT, file::CONSOLE].map(|name| end_of(&directory.join(name)).unwrap_or_default()).join("\n");
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(12)..].iter().map(|line| format!("    {line}\n")).collect()
}

/// The end of a file that may be long.
fn end_of(path: &Path) -> io::Result<String> {
    const ENOUGH: u64 = 64 << 10;
    let mut file = File::open(path)?;
    let begin = file.metadata()?.len().saturating_sub(ENOUGH);
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.take(ENOUGH).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
