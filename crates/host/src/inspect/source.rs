//! The door, as those who read an inventory use it: every answer is a fact or the reason why there is none.
//!
//! A machine that is lost in the middle is remembered; what is asked after that is unknown, and the whole inspection
//! ends with the error.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use terms::inventory::{Readout, UnreadFile};
use terms::{Bytes, Cmd, Nanos, Outcome};

use crate::{Host, HostError};

/// Longest that a program may take to tell about a machine. Those that wait for a drive that is gone take long.
const LIMIT: Nanos = Nanos::seconds(20);

/// A machine that is asked.
pub(super) struct Source<'a> {
    host: &'a dyn Host,
    lost: Mutex<Option<HostError>>,
    gaps: Mutex<BTreeMap<String, String>>,
}

impl<'a> Source<'a> {
    pub(super) const fn new(host: &'a dyn Host) -> Self {
        Self { host, lost: Mutex::new(None), gaps: Mutex::new(BTreeMap::new()) }
    }

    /// What was found out, unless the machine was lost meanwhile.
    pub(super) fn unless_lost<T>(self, found: T) -> Result<T, HostError> {
        match self.lost.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(found),
        }
    }

    /// The machine's monotonic clock; 0 where it has none (a captured machine).
    pub(super) fn now(&self) -> Nanos {
        self.host.now().unwrap_or_default()
    }

    /// A file's bytes; `Known(None)` where there is no such file.
    pub(super) fn bytes(&self, path: &str) -> Readout<Option<Vec<u8>>> {
        self.sort(self.host.read(path))
    }

    /// A file's text without white space at its ends; `Known(None)` where there is no such file.
    pub(super) fn text(&self, path: &str) -> Readout<Option<String>> {
        self.bytes(path).map(|bytes| bytes.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned()))
    }

    /// A file's text if it can be read and is not empty, and nothing otherwise. One that could not be read is a gap.
    pub(super) fn told(&self, path: &str) -> Option<String> {
        let text = self.or_gap(path, self.text(path));
        text.filter(|text| !text.is_empty())
    }

    /// What was asked for in a form that has no room for a reason, and was not answered.
    pub(super) fn gaps(&self) -> Vec<UnreadFile> {
        let gaps = self.gaps.lock().unwrap_or_else(PoisonError::into_inner);
        gaps.iter().map(|(path, why)| UnreadFile { path: path.clone(), why: why.clone() }).collect()
    }

    /// What was read of something may be a part of it.
    pub(super) fn partial(&self, what: &str, why: &str) {
        self.gaps.lock().unwrap_or_else(PoisonError::into_inner).insert(what.to_owned(), why.to_owned());
    }

    /// The fact; where nobody could look it is written down, so that "none" is not taken for it.
    fn or_gap<T>(&self, path: &str, reading: Readout<Option<T>>) -> Option<T> {
        match reading {
            Readout::Known(fact) => fact,
            Readout::Unknown(why) => {
                self.gaps.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), why);
                None
            }
        }
    }

    /// What a file's text says in another form. A text that cannot be understood is unknown, with the text.
    pub(super) fn parsed<T>(&self, path: &str, parse: impl FnOnce(&str) -> Option<T>) -> Readout<Option<T>> {
        self.text(path).and_then(|text| match text {
            None => Readout::Known(None),
            Some(text) => match parse(&text) {
                Some(value) => Readout::Known(Some(value)),
                None => Readout::unknown(format!("`{path}` says `{}`", shortened(&text))),
            },
        })
    }

    /// A number in a file.
    pub(super) fn number<T: FromStr>(&self, path: &str) -> Readout<Option<T>> {
        self.parsed(path, |text| text.parse().ok())
    }

    /// A number in a file that must be there.
    pub(super) fn needed<T: FromStr>(&self, path: &str) -> Readout<T> {
        needed(path, self.number(path))
    }

    /// A size in a file, in units of `unit`.
    pub(super) fn size(&self, path: &str, unit: u64) -> Readout<Option<Bytes>> {
        self.parsed(path, |text| Some(Bytes(text.parse::<u64>().ok()?.checked_mul(unit)?)))
    }

    /// Names in a directory; `Known(None)` where there is no such directory.
    pub(super) fn names(&self, path: &str) -> Readout<Option<Vec<String>>> {
        self.sort(self.host.list(path))
    }

    /// Names in a directory; none where it cannot be listed, which is a gap.
    pub(super) fn listed(&self, path: &str) -> Vec<String> {
        self.or_gap(path, self.names(path)).unwrap_or_default()
    }

    /// Where a path leads; `Known(None)` where it leads nowhere.
    pub(super) fn leads(&self, path: &str) -> Readout<Option<String>> {
        self.sort(self.host.resolve(path))
    }

    /// Where a path leads; nothing where it leads nowhere, or where nobody could look, which is a gap.
    pub(super) fn resolved(&self, path: &str) -> Option<String> {
        self.or_gap(path, self.leads(path))
    }

    /// The last name of where a path leads.
    pub(super) fn resolved_name(&self, path: &str) -> Option<String> {
        self.resolved(path)?.rsplit('/').next().map(ToOwned::to_owned)
    }

    /// Runs a program to its end, whatever its status.
    pub(super) fn run(&self, argv: &[&str]) -> Readout<Outcome> {
        // LVM complains of every file that whoever started us left open.
        let cmd = Cmd::new(argv.iter().copied()).limit(LIMIT).env("LVM_SUPPRESS_FD_WARNINGS", "1");
        match self.host.run(&cmd) {
            Ok(outcome) if outcome.timed_out => Readout::unknown(format!("`{}` took longer than {LIMIT}", cmd.line())),
            Ok(outcome) => Readout::Known(outcome),
            Err(error) if error.is_not_found() => Readout::unknown(format!("`{}` is not installed", argv[0])),
            Err(error) => Readout::Unknown(self.reason(error)),
        }
    }

    /// What a program that succeeds says on its standard output.
    pub(super) fn said(&self, argv: &[&str]) -> Readout<String> {
        self.run(argv).and_then(|outcome| {
            if outcome.ok() { Readout::Known(outcome.text()) } else { Readout::Unknown(complaint(argv, &outcome)) }
        })
    }

    /// JSON that a program that succeeds says on its standard output.
    pub(super) fn json(&self, argv: &[&str]) -> Readout<Value> {
        self.said(argv).and_then(|text| match serde_json::from_str(&text) {
            Ok(value) => Readout::Known(value),
            Err(error) => Readout::unknown(format!("`{}` did not say JSON: {error}", argv.join(" "))),
        })
    }

    fn sort<T>(&self, result: Result<T, HostError>) -> Readout<Option<T>> {
        match result {
            Ok(value) => Readout::Known(Some(value)),
            Err(error) if error.is_not_found() => Readout::Known(None),
            Err(error) => Readout::Unknown(self.reason(error)),
        }
    }

    /// Why something could not be read; a lost machine is kept.
    fn reason(&self, error: HostError) -> String {
        let reason = match &error {
            HostError::File { path, source, .. } => format!("`{path}`: {source}"),
            HostError::Start { line, source, .. } => format!("`{line}`: {source}"),
            other => other.to_string(),
        };
        if is_lost(&error) {
            self.lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
        reason
    }
}

/// Is the machine itself out of reach, and not only one of its files or programs?
const fn is_lost(error: &HostError) -> bool {
    !matches!(
        error,
        HostError::File { .. } | HostError::Start { .. } | HostError::Command(_) | HostError::NotCaptured { .. }
    )
}

/// A fact that is expected to be there: its absence is unknown, not "none".
pub(super) fn needed<T>(path: &str, reading: Readout<Option<T>>) -> Readout<T> {
    reading.and_then(|value| match value {
        Some(value) => Readout::Known(value),
        None => Readout::unknown(format!("there is no `{path}`")),
    })
}

/// What a program that failed says of it: the first line that has a colon, as complaints have, or the first at all.
pub(super) fn complaint(argv: &[&str], outcome: &Outcome) -> String {
    let said = [outcome.error_text(), outcome.text()].join("\n");
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next().unwrap_or("it said nothing");
    let line = lines.find(|line| line.contains(": ")).unwrap_or(first);
    // Some are asked for a long list of columns.
    let mut command: String =
        argv.iter().take_while(|word| **word != "--reportformat").copied().collect::<Vec<_>>().join(" ");
    command.truncate(command.char_indices().nth(60).map_or(command.len(), |(at, _)| at));
    format!("`{command}` ended with status {}: {}", outcome.status, shortened(line))
}

/// The beginning of a text, on one line.
fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(80).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// The value of the first `name : value` line.
pub(super) fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}
