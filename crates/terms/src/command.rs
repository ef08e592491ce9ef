//! A program run on a machine, and what came of it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Nanos};

/// A program to run: an argument vector, never a shell line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cmd {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// What to write to its standard input. Never recorded: it may be a key.
    #[serde(skip)]
    pub stdin: Vec<u8>,
    /// Variables set on top of the door's own environment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
    /// When to give up and end it.
    #[serde(rename = "limit_ns")]
    pub limit: Nanos,
    /// How much it may print on each of its two streams. It is ended when it prints more.
    #[serde(rename = "output_bytes", default = "Cmd::most_output", skip_serializing_if = "Cmd::is_most_output")]
    pub output: Bytes,
    /// The plan step that it serves, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
}

impl Cmd {
    /// What a program may print on each stream where nobody says otherwise: many times as much as any tool prints that
    /// is read here. fio's own account of 100 jobs is some 2 MB.
    pub const MOST_OUTPUT: Bytes = Bytes::mib(64);

    const fn most_output() -> Bytes {
        Self::MOST_OUTPUT
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
    fn is_most_output(output: &Bytes) -> bool {
        *output == Self::MOST_OUTPUT
    }

    /// A program with its arguments, to be ended after 60 s, or when it prints more than [`Cmd::MOST_OUTPUT`].
    pub fn new<S: Into<String>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            stdin: Vec::new(),
            env: Vec::new(),
            limit: Nanos::seconds(60),
            output: Self::MOST_OUTPUT,
            step: None,
        }
    }

    /// The same with another time limit.
    #[must_use]
    pub fn limit(mut self, limit: Nanos) -> Self {
        self.limit = limit;
        self
    }

    /// The same with another bound for what it prints.
    #[must_use]
    pub fn output(mut self, most: Bytes) -> Self {
        self.output = most;
        self
    }

    /// The same with bytes for its standard input.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// The same with one more variable.
    #[must_use]
    pub fn env(mut self, key: &str, value: &str) -> Self {
        self.env.push((key.to_owned(), value.to_owned()));
        self
    }

    /// The same in the service of a plan step.
    #[must_use]
    pub fn step(mut self, step: &str) -> Self {
        self.step = Some(step.to_owned());
        self
    }

    /// The command as a person would type it, quoted for a POSIX shell.
    #[must_use]
    pub fn line(&self) -> String {
        self.argv.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
    }
}

/// Quotes a word for a POSIX shell, only where needed.
#[must_use]
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// What came of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Exit status; 128 plus the signal's number where a signal ended it.
    pub status: i32,
    /// Standard output.
    #[serde(with = "lossy")]
    pub stdout: Vec<u8>,
    /// Standard error.
    #[serde(with = "lossy")]
    pub stderr: Vec<u8>,
    /// How long it took.
    #[serde(rename = "took_ns")]
    pub took: Nanos,
    /// Was it ended because its time was up?
    #[serde(default)]
    pub timed_out: bool,
    /// Where it was ended because it printed too much, how much it might have printed: of a stream that went past it,
    /// the beginning and the end are here, and between them stands how much is not.
    #[serde(rename = "flooded_bytes", default, skip_serializing_if = "Option::is_none")]
    pub flooded: Option<Bytes>,
}

impl Outcome {
    /// Did it end by itself, with status 0?
    #[must_use]
    pub fn ok(&self) -> bool {
        self.status == 0 && !self.timed_out && self.flooded.is_none()
    }

    /// Standard output as text, without the trailing line end.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end().to_owned()
    }

    /// Standard error as text, without the trailing line end.
    #[must_use]
    pub fn error_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim_end().to_owned()
    }
}

/// Bytes that a message tells of what a program printed: messages stand in every page of a run.
pub const TOLD: usize = 4096;

/// A text that a program printed, or where it is longer than so many bytes its beginning and its end, half of them each, and
/// between them how much is left out at least: a text may have lost its middle before.
#[must_use]
pub fn edges(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    let head = text.floor_char_boundary(most / 2);
    let tail = text.ceil_char_boundary(text.len() - most / 2);
    format!("{}\n[at least {} bytes are left out here]\n{}", &text[..head], tail - head, &text[tail..]).into()
}

/// Program output in JSON: as text, with what is not UTF-8 replaced.
mod lossy {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        String::deserialize(deserializer).map(String::into_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_quoted_only_where_needed() {
        let cmd = Cmd::new(["mount", "-o", "commit=5,noatime", "/dev/a b", "it's", ""]);
        assert_eq!(cmd.line(), r"mount -o commit=5,noatime '/dev/a b' 'it'\''s' ''");
    }

    #[test]
    fn a_long_text_is_told_by_its_edges() {
        assert_eq!(edges("no such device", TOLD), "no such device");
        let long = "ü".repeat(1 << 20);
        let told = edges(&long, TOLD);
        assert!(told.len() < 5000 && told.starts_with('ü') && told.ends_with('ü'), "{told}");
        assert!(told.contains("\n[at least 2093056 bytes are left out here]\n"), "{told}");
    }

    #[test]
    fn standard_input_is_never_serialised() {
        let text = serde_json::to_string(&Cmd::new(["cryptsetup"]).stdin(*b"canary")).unwrap();
        assert!(!text.contains("canary"), "{text}");
    }
}
