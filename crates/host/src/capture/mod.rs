//! A machine in one file: what its files say, where its links lead, what its programs said.
//!
//! A [`Capture`] is a [`Host`] that only answers. What the file does not hold is an error that says so, and never "not
//! found": only what was looked for and was not there is not found. [docs/capture.md] describes the file.
//!
//! [docs/capture.md]: ../../../../docs/capture.md

mod error;
mod mask;
mod parse;
mod pattern;
mod print;
mod record;
mod reduce;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use terms::{Cmd, Nanos, Outcome};

pub use error::BadCapture;
pub use record::take;

use self::tree::Found;
use crate::{Host, HostError};

/// A machine in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capture {
    /// What to call it in messages: the file's name.
    name: String,
    /// The machine's monotonic clock when it was captured.
    clock: Option<Nanos>,
    /// What is known of each path.
    entries: BTreeMap<String, Entry>,
    /// Directories below which everything that is there is in the file.
    whole: BTreeSet<String>,
    /// Paths that nobody looked at, whatever is known of what is above them.
    unseen: BTreeSet<String>,
    /// What came of each command line.
    runs: BTreeMap<String, Ran>,
    /// Programs that are not installed.
    missing: BTreeSet<String>,
    /// Files that nobody read, by the command whose text told the same.
    told_by: BTreeMap<String, &'static str>,
}

/// What is known of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    /// A file with its content.
    File(Vec<u8>),
    /// A link with what it says.
    Link(String),
    /// A directory of which everything is known: these names, and those that are known to be in it.
    Directory(BTreeSet<String>),
    /// There is nothing.
    Absent,
    /// There is something that could not be read, and why.
    Refused(String),
    /// There is something, and nothing more is known of it.
    There,
}

/// What came of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Ran {
    status: i32,
    timed_out: bool,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Capture {
    /// Reads the text of a capture; `name` is what messages call it.
    ///
    /// # Errors
    /// [`BadCapture`] with line and place of what cannot be understood.
    pub fn parse(name: &str, text: &[u8]) -> Result<Self, Box<BadCapture>> {
        parse::parse(name, text)
    }

    /// The text. Entries are sorted, so that two captures of one machine can be compared with `diff`.
    #[must_use]
    pub fn print(&self) -> String {
        print::print(self)
    }

    /// A machine of which only texts tell.
    pub(crate) fn from_texts(
        files: BTreeMap<String, String>,
        links: BTreeMap<String, String>,
        directories: BTreeMap<String, Vec<String>>,
        runs: BTreeMap<String, String>,
        told_by: BTreeMap<String, &'static str>,
    ) -> Self {
        let files = files.into_iter().map(|(path, text)| (path, Entry::File((text + "\n").into_bytes())));
        let links = links.into_iter().map(|(path, target)| (path, Entry::Link(target)));
        let listed = |(path, names): (String, Vec<String>)| (path, Entry::Directory(names.into_iter().collect()));
        let ran = |(line, text): (String, String)| (line, Ran { stdout: text.into_bytes(), ..Ran::default() });
        Self {
            name: "what was posted".to_owned(),
            entries: files.chain(links).chain(directories.into_iter().map(listed)).collect(),
            runs: runs.into_iter().map(ran).collect(),
            told_by,
            ..Self::default()
        }
    }

    /// The command whose text told what a file says, or one of those that a pattern names, where nobody read the file itself; or what a
    /// program would print that nobody ran. Of one that names a device by its path only what was told of that device counts.
    #[must_use]
    pub fn told_by(&self, path: &str) -> Option<&'static str> {
        if let Some((program, arguments)) = path.split_once(' ').filter(|_| !path.starts_with('/')) {
            let of_program = || self.told_by.get(program).filter(|_| !arguments.contains('/'));
            return self.told_by.get(path).or_else(of_program).copied();
        }
        let plain = path.split(['*', '{']).next().unwrap_or(path);
        let is_it = |told: &str| {
            told.strip_prefix(plain).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || plain != path)
        };
        let (_, command) = self.told_by.range(plain.to_owned()..).next().filter(|(told, _)| is_it(told))?;
        Some(command)
    }

    /// The same machine, of which nobody looked at a path and all below it.
    #[must_use]
    pub fn without(&self, path: &str) -> Self {
        let mut less = self.clone();
        less.entries
            .retain(|known, _| known != path && !known.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')));
        less.unseen.insert(path.to_owned());
        less
    }

    /// The same machine, on which nobody ran a command line.
    #[must_use]
    pub fn without_run(&self, line: &str) -> Self {
        let mut less = self.clone();
        less.runs.remove(line);
        less
    }

    /// The command lines that were run.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        self.runs.keys().map(String::as_str)
    }

    /// Every directory of which something is known.
    #[must_use]
    pub fn directories(&self) -> BTreeSet<String> {
        let above = |path: &String| path.match_indices('/').map(|(at, _)| path[..at].to_owned()).collect::<Vec<_>>();
        let mut all: BTreeSet<String> = self.entries.keys().flat_map(above).filter(|path| !path.is_empty()).collect();
        all.extend(
            self.entries
                .iter()
                .filter(|(_, entry)| matches!(entry, Entry::Directory(_) | Entry::Link(_)))
                .map(|(path, _)| path.clone()),
        );
        all
    }

    fn not_captured(&self, asked: String) -> HostError {
        HostError::NotCaptured { host: self.name.clone(), asked }
    }

    fn failed(&self, doing: &'static str, path: &str, source: io::Error) -> HostError {
        HostError::File { host: self.name.clone(), doing, path: path.to_owned(), source }
    }

    /// What is at a path, links followed.
    fn find(&self, doing: &'static str, path: &str) -> Result<Found<'_>, HostError> {
        match tree::find(self, path) {
            Ok(found) => Ok(found),
            Err(tree::Lack::Absent) => Err(self.failed(doing, path, io::ErrorKind::NotFound.into())),
            Err(tree::Lack::Circle) => Err(self.failed(doing, path, io::Error::other("too many links"))),
            Err(tree::Lack::NotCaptured) => Err(self.not_captured(format!("{doing} `{path}`"))),
        }
    }
}

/// Why something that is there could not be read, as an error of the system.
fn refusal(why: &str) -> io::Error {
    let kind = if why.to_lowercase().contains("permission denied") {
        io::ErrorKind::PermissionDenied
    } else {
        io::ErrorKind::Other
    };
    io::Error::new(kind, why.to_owned())
}

impl Host for Capture {
    fn name(&self) -> String {
        format!("`{}`", self.name)
    }

    fn run(&self, cmd: &Cmd) -> Result<Outcome, HostError> {
        let line = cmd.line();
        if let Some(ran) = self.runs.get(&line) {
            return Ok(Outcome {
                status: ran.status,
                stdout: ran.stdout.clone(),
                stderr: ran.stderr.clone(),
                took: Nanos(0),
                timed_out: ran.timed_out,
                flooded: None,
            });
        }
        if cmd.argv.first().is_some_and(|program| self.missing.contains(program)) {
            let source = io::Error::from(io::ErrorKind::NotFound);
            return Err(HostError::Start { host: self.name.clone(), line, source });
        }
        Err(self.not_captured(format!("run `{line}`")))
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        let found = self.find("read", path)?;
        match found.entry {
            Some(Entry::File(content)) => Ok(content.clone()),
            Some(Entry::Refused(why)) => Err(self.failed("read", path, refusal(why))),
            Some(Entry::There) => Err(self.not_captured(format!("read `{path}`"))),
            _ => Err(self.failed("read", path, io::ErrorKind::IsADirectory.into())),
        }
    }

    fn write(&self, path: &str, _bytes: &[u8]) -> Result<(), HostError> {
        Err(self.failed("write", path, io::ErrorKind::ReadOnlyFilesystem.into()))
    }

    fn list(&self, path: &str) -> Result<Vec<String>, HostError> {
        let found = self.find("list", path)?;
        match found.entry {
            Some(Entry::File(_)) => Err(self.failed("list", path, io::ErrorKind::NotADirectory.into())),
            Some(Entry::Refused(why)) => Err(self.failed("list", path, refusal(why))),
            _ => match tree::names(self, &found.path) {
                Some(names) => Ok(names.into_iter().collect()),
                None => Err(self.not_captured(format!("list `{path}`"))),
            },
        }
    }

    fn resolve(&self, path: &str) -> Result<String, HostError> {
        self.find("follow", path).map(|found| found.path)
    }

    fn now(&self) -> Result<Nanos, HostError> {
        self.clock.ok_or_else(|| self.not_captured("the clock".to_owned()))
    }
}
