//! Reads the text of a capture.

use std::collections::{BTreeSet, HashMap};

use terms::Nanos;

use super::{BadCapture, Capture, Entry, Ran};

/// The first line.
pub(super) const TITLE: &str = "bedplate capture 1";
/// Longest path, as in the kernel (`PATH_MAX`).
const LONGEST_PATH: usize = 4096;
/// Most names in a path: those of real machines have thirty, and each is looked up by itself.
pub(super) const MOST_NAMES: usize = 128;
/// Kinds of entries, as they are written.
const KINDS: &str = "`file`, `hex`, `link`, `directory`, `whole`, `absent`, `there`, `refused`, `run`, `missing` or \
                     `clock`";

/// Where something is wrong in a line, in bytes from its start, and what.
type Wrong = (usize, String);

/// What the lines that follow belong to, with what they said so far.
enum Open {
    Nothing,
    File(String, Vec<u8>),
    Hex(String, Vec<u8>),
    Directory(String, BTreeSet<String>),
    Run(String, Ran),
}

struct Reader {
    capture: Capture,
    open: Open,
    /// The line on which each path and each command was given.
    given: HashMap<String, usize>,
    line: usize,
}

/// Reads a capture.
pub(super) fn parse(name: &str, text: &[u8]) -> Result<Capture, Box<BadCapture>> {
    let bad = |line: usize, text: &str, (at, what): Wrong| {
        let column = text.get(..at).map_or(0, |before| before.chars().count()) + 1;
        Box::new(BadCapture { name: name.to_owned(), line, column, text: text.to_owned(), what })
    };
    let text = std::str::from_utf8(text).map_err(|error| {
        let before = &text[..error.valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let good = String::from_utf8_lossy(&before[start..]).into_owned();
        let at = good.len();
        bad(line, &good, (at, "this is not UTF-8; write such content as `hex`".to_owned()))
    })?;
    let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let first = lines.next().unwrap_or_default();
    if first != TITLE {
        return Err(bad(1, first, (0, format!("a capture begins with the line `{TITLE}`"))));
    }
    let capture = Capture { name: name.to_owned(), ..Capture::default() };
    let mut reader = Reader { capture, open: Open::Nothing, given: HashMap::new(), line: 1 };
    for line in lines {
        reader.line += 1;
        reader.take(line).map_err(|wrong| bad(reader.line, line, wrong))?;
    }
    reader.close();
    // What lies below a file or a link could never be reached, and whoever wrote it meant something else.
    let buried = reader.buried();
    match buried {
        Some((line, what)) => Err(bad(line, text.split('\n').nth(line - 1).unwrap_or_default(), (0, what))),
        None => Ok(reader.capture),
    }
}

impl Reader {
    fn take(&mut self, line: &str) -> Result<(), Wrong> {
        if let Some(text) = line.strip_prefix('|') {
            return self.content(text, true);
        }
        if let Some(text) = line.strip_prefix(':') {
            return self.content(text, false);
        }
        if let Some(text) = line.strip_prefix('!') {
            let Open::Run(_, ran) = &mut self.open else {
                return Err((0, "`!` is what a command said on its standard error".to_owned()));
            };
            ran.stderr.extend(text.bytes().chain([b'\n']));
            return Ok(());
        }
        if line.trim().is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if word == "status" {
            return self.status(rest, word.len() + 1);
        }
        self.close();
        self.entry(word, rest).map_err(|(at, what)| (if at == usize::MAX { 0 } else { word.len() + 1 + at }, what))
    }

    /// A line that belongs to what was opened before.
    fn content(&mut self, text: &str, ends: bool) -> Result<(), Wrong> {
        let bytes = || text.bytes().chain(ends.then_some(b'\n'));
        match &mut self.open {
            Open::File(_, content) => content.extend(bytes()),
            Open::Hex(_, content) => content.extend(hex(text).map_err(|(at, what)| (at + 1, what))?),
            Open::Directory(_, names) => {
                if text.is_empty() || text.contains('/') || [".", ".."].contains(&text) {
                    return Err((1, "a name in a directory is not empty and has no `/`".to_owned()));
                }
                names.insert(text.to_owned());
            }
            Open::Run(_, ran) => ran.stdout.extend(bytes()),
            Open::Nothing => return Err((0, "this line belongs to no `file`, `hex`, `directory` or `run`".to_owned())),
        }
        Ok(())
    }

    fn status(&mut self, rest: &str, at: usize) -> Result<(), Wrong> {
        let Open::Run(_, ran) = &mut self.open else {
            return Err((0, "`status` is that of a `run` above it".to_owned()));
        };
        if rest == "timeout" {
            ran.timed_out = true;
            return Ok(());
        }
        ran.status = rest.parse().map_err(|_| (at, "a status is a number, or `timeout`".to_owned()))?;
        Ok(())
    }

    /// A line that begins an entry. Places are counted from after the first word; `usize::MAX` is the word itself.
    fn entry(&mut self, word: &str, rest: &str) -> Result<(), Wrong> {
        match word {
            "file" => {
                let (path, after) = self.path(rest)?;
                let at = after_path(rest, after);
                let content = match after.strip_prefix(" =") {
                    Some(value) => value.strip_prefix(' ').unwrap_or(value).bytes().chain([b'\n']).collect(),
                    None if after.is_empty() => {
                        self.open = Open::File(path, Vec::new());
                        return Ok(());
                    }
                    None => {
                        return Err((
                            at,
                            "after the path stands ` = VALUE`, or nothing and the lines of the file follow".to_owned(),
                        ));
                    }
                };
                self.put(path, Entry::File(content));
            }
            "hex" => {
                let path = self.only_path(rest)?;
                self.open = Open::Hex(path, Vec::new());
            }
            "link" => {
                let (path, after) = self.path(rest)?;
                let at = after_path(rest, after);
                let target = after.strip_prefix(" -> ").map(str::trim_end).filter(|target| !target.is_empty());
                let target = target.ok_or((at, "a link is written `link PATH -> TARGET`".to_owned()))?;
                let (target, end) = quoted(target).map_err(|(inside, what)| (at + 4 + inside, what))?;
                if !end.is_empty() || target.len() > LONGEST_PATH || target.split('/').count() > MOST_NAMES + 1 {
                    return Err((at + 4, "a link leads to one path of at most 4096 bytes and 128 names".to_owned()));
                }
                self.put(path, Entry::Link(target));
            }
            "directory" => {
                let path = self.only_path(rest)?;
                self.open = Open::Directory(path, BTreeSet::new());
            }
            "whole" => {
                let path = self.only_path(rest)?;
                self.capture.whole.insert(path);
            }
            "absent" => {
                let path = self.only_path(rest)?;
                self.put(path, Entry::Absent);
            }
            "there" => {
                let path = self.only_path(rest)?;
                self.put(path, Entry::There);
            }
            "refused" => {
                let (path, after) = self.path(rest)?;
                let at = after_path(rest, after);
                let why =
                    after.strip_prefix(" : ").ok_or((at, "a refusal is written `refused PATH : REASON`".to_owned()))?;
                self.put(path, Entry::Refused(why.to_owned()));
            }
            "run" => self.run(rest)?,
            "missing" => {
                let program = quoted(rest).ok().filter(|(program, end)| !program.is_empty() && end.is_empty());
                let (program, _) = program.ok_or((0, "one program is missing: write its name".to_owned()))?;
                self.capture.missing.insert(program);
            }
            "clock" => {
                let nanos = rest.parse().map_err(|_| (0, "the clock is a number of nanoseconds".to_owned()))?;
                self.capture.clock = Some(Nanos(nanos));
            }
            _ => return Err((usize::MAX, format!("a line begins with {KINDS}, or `|`, `:`, `!`, `status`, `#`"))),
        }
        Ok(())
    }

    fn run(&mut self, rest: &str) -> Result<(), Wrong> {
        let command = match quoted(rest) {
            Ok((command, "")) if rest.starts_with('"') => command,
            _ => rest.to_owned(),
        };
        if command.is_empty() {
            return Err((0, "a command has at least one word".to_owned()));
        }
        self.once(&format!("run {command}"))?;
        self.open = Open::Run(command, Ran::default());
        Ok(())
    }

    /// Puts away what was open: looked up for each of its lines, a long name would be read as often as it has lines.
    fn close(&mut self) {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => {}
            Open::File(path, content) | Open::Hex(path, content) => self.put(path, Entry::File(content)),
            Open::Directory(path, names) => self.put(path, Entry::Directory(names)),
            Open::Run(command, ran) => drop(self.capture.runs.insert(command, ran)),
        }
    }

    fn put(&mut self, path: String, entry: Entry) {
        self.capture.entries.insert(path, entry);
    }

    /// A path that nothing was said of before, and what follows it.
    fn path<'t>(&mut self, text: &'t str) -> Result<(String, &'t str), Wrong> {
        let (path, rest) = if text.starts_with('"') {
            quoted(text)?
        } else {
            let end = [" = ", " -> ", " : "].iter().filter_map(|sign| text.find(sign)).min().unwrap_or(text.len());
            // A value may be empty: `file PATH =`.
            let end = end.min(text.strip_suffix(" =").map_or(text.len(), str::len));
            (text[..end].to_owned(), &text[end..])
        };
        if !path.starts_with('/') {
            return Err((0, "a path begins with `/`".to_owned()));
        }
        if path.len() > LONGEST_PATH {
            return Err((0, format!("a path has at most {LONGEST_PATH} bytes")));
        }
        let odd = |name: &str| name.is_empty() || name == "." || name == "..";
        if path != "/" && path[1..].split('/').any(odd) {
            return Err((0, "a path has no `//`, no `.` and no `..`, and no `/` at its end".to_owned()));
        }
        if path.split('/').count() > MOST_NAMES + 1 {
            return Err((0, format!("a path has at most {MOST_NAMES} names")));
        }
        self.once(&path)?;
        Ok((path, rest))
    }

    fn only_path(&mut self, text: &str) -> Result<String, Wrong> {
        let (path, rest) = self.path(text)?;
        if rest.is_empty() {
            Ok(path)
        } else {
            Err((text.len() - rest.len(), "nothing stands after the path".to_owned()))
        }
    }

    fn once(&mut self, what: &str) -> Result<(), Wrong> {
        match self.given.insert(what.to_owned(), self.line) {
            Some(line) => Err((0, format!("this stands on line {line} already"))),
            None => Ok(()),
        }
    }

    /// An entry below a file or a link.
    fn buried(&self) -> Option<(usize, String)> {
        for path in self.capture.entries.keys() {
            for (end, _) in path.match_indices('/').filter(|(end, _)| *end > 0) {
                let what = match self.capture.entries.get(&path[..end]) {
                    Some(Entry::File(_)) => "a file, and has nothing below it",
                    Some(Entry::Link(_)) => "a link: say this of the path that it leads to",
                    Some(Entry::Absent) => "absent, and has nothing below it",
                    _ => continue,
                };
                let line = self.given.get(path).copied().unwrap_or(1);
                return Some((line, format!("`{}` is {what}", &path[..end])));
            }
        }
        None
    }
}

/// Where a sign should stand: behind the path, or where a path without one has its first blank.
fn after_path(text: &str, after: &str) -> usize {
    if after.is_empty() && !text.starts_with('"') {
        return text.find(' ').map_or(text.len(), |at| at + 1);
    }
    text.len() - after.len()
}

/// A text in quotation marks as JSON has them, or all of it; and what follows.
fn quoted(text: &str) -> Result<(String, &str), Wrong> {
    if !text.starts_with('"') {
        return Ok((text.to_owned(), ""));
    }
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<String>();
    match stream.next() {
        Some(Ok(value)) => {
            let end = stream.byte_offset();
            Ok((value, &text[end..]))
        }
        _ => Err((0, "what begins with a quotation mark is a JSON string".to_owned())),
    }
}

/// Bytes as two hexadecimal digits each. A number with a colon in front of them says where they are, for people.
fn hex(text: &str) -> Result<Vec<u8>, Wrong> {
    let start = text.find(':').map_or(0, |at| at + 1);
    let digits: Vec<(usize, u8)> = text.bytes().enumerate().skip(start).filter(|(_, byte)| *byte != b' ').collect();
    let value = |(at, byte): (usize, u8)| {
        char::from(byte).to_digit(16).ok_or((at, "bytes are pairs of hexadecimal digits".to_owned()))
    };
    let mut out = Vec::with_capacity(digits.len() / 2);
    for pair in digits.chunks(2) {
        let [high, low] = pair else { return Err((pair[0].0, "a byte has two hexadecimal digits".to_owned())) };
        let byte = value(*high)? << 4 | value(*low)?;
        out.push(u8::try_from(byte).unwrap_or(0));
    }
    Ok(out)
}
