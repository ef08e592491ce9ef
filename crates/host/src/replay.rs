//! A recorded machine: answers what it was asked while it was recorded, in the same order for the same question.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use terms::{Cmd, Nanos, Outcome};

use crate::{Devno, Exclusivity, Hold, Host, HostError};

/// One question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Exchange {
    ask: String,
    answer: Answer,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    Ran(Outcome),
    Content(String),
    Done,
    Names(Vec<String>),
    Path(String),
    Time(Nanos),
    /// Part of a file, in hexadecimal: what is on a drive is seldom text.
    Bytes(String),
    Device(Option<Devno>),
    Opened(Exclusivity),
    Held(Option<Hold>),
    NotFound,
    Failed(String),
}

/// Everything a machine was asked and said: JSON lines in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript(Vec<Exchange>);

impl Transcript {
    /// Reads JSON lines.
    ///
    /// # Errors
    /// The number of the line that cannot be read, from 1, and why.
    pub fn parse(text: &str) -> Result<Self, (usize, serde_json::Error)> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(number, line)| serde_json::from_str(line).map_err(|error| (number + 1, error)))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Writes JSON lines.
    #[must_use]
    pub fn print(&self) -> String {
        let line = |exchange| serde_json::to_string(exchange).unwrap_or_default() + "\n";
        self.0.iter().map(line).collect()
    }
}

/// Wraps a machine and writes down all that passes.
pub struct Recording<H> {
    inner: H,
    transcript: Mutex<Transcript>,
}

impl<H: Host> Recording<H> {
    /// Begins to record.
    pub fn new(inner: H) -> Self {
        Self { inner, transcript: Mutex::default() }
    }

    /// What passed so far.
    #[must_use]
    pub fn transcript(&self) -> Transcript {
        lock(&self.transcript).clone()
    }

    fn keep<T>(
        &self,
        ask: String,
        result: Result<T, HostError>,
        answer: impl FnOnce(&T) -> Answer,
    ) -> Result<T, HostError> {
        let answer = match &result {
            Ok(value) => answer(value),
            Err(error) if error.is_not_found() => Answer::NotFound,
            Err(error) => Answer::Failed(error.to_string()),
        };
        lock(&self.transcript).0.push(Exchange { ask, answer });
        result
    }
}

impl<H: Host> Host for Recording<H> {
    fn name(&self) -> String {
        self.inner.name()
    }
    fn run(&self, cmd: &Cmd) -> Result<Outcome, HostError> {
        self.keep(asked::run(cmd), self.inner.run(cmd), |outcome| Answer::Ran(outcome.clone()))
    }
    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        let content = |bytes: &Vec<u8>| Answer::Content(String::from_utf8_lossy(bytes).into_owned());
        self.keep(asked::read(path), self.inner.read(path), content)
    }
    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), HostError> {
        self.keep(asked::write(path, bytes), self.inner.write(path, bytes), |()| Answer::Done)
    }
    fn list(&self, path: &str) -> Result<Vec<String>, HostError> {
        self.keep(asked::list(path), self.inner.list(path), |names| Answer::Names(names.clone()))
    }
    fn resolve(&self, path: &str) -> Result<String, HostError> {
        self.keep(asked::resolve(path), self.inner.resolve(path), |path| Answer::Path(path.clone()))
    }
    fn now(&self) -> Result<Nanos, HostError> {
        self.keep(asked::now(), self.inner.now(), |nanos| Answer::Time(*nanos))
    }
    fn read_at(&self, path: &str, offset: u64, length: u32) -> Result<Vec<u8>, HostError> {
        let result = self.inner.read_at(path, offset, length);
        self.keep(asked::read_at(path, offset, length), result, |bytes| Answer::Bytes(hex::print(bytes)))
    }
    fn device_number(&self, path: &str) -> Result<Option<Devno>, HostError> {
        self.keep(asked::device_number(path), self.inner.device_number(path), |devno| Answer::Device(*devno))
    }
    fn open_exclusively(&self, path: &str) -> Result<Exclusivity, HostError> {
        let result = self.inner.open_exclusively(path);
        self.keep(asked::open_exclusively(path), result, |exclusivity| Answer::Opened(*exclusivity))
    }
    fn hold(&self, path: &str) -> Result<Option<Hold>, HostError> {
        self.keep(asked::hold(path), self.inner.hold(path), |hold| Answer::Held(*hold))
    }
    fn release(&self, hold: u64) -> Result<(), HostError> {
        self.keep(asked::release(hold), self.inner.release(hold), |()| Answer::Done)
    }
    fn is_throwaway(&self) -> bool {
        self.inner.is_throwaway()
    }
}

/// How a question is written down. Standard input is left out: it may be a key.
mod asked {
    use terms::Cmd;

    pub(super) fn run(cmd: &Cmd) -> String {
        format!("run {}", cmd.line())
    }
    pub(super) fn read(path: &str) -> String {
        format!("read {path}")
    }
    pub(super) fn write(path: &str, bytes: &[u8]) -> String {
        format!("write {path} {}", String::from_utf8_lossy(bytes))
    }
    pub(super) fn list(path: &str) -> String {
        format!("list {path}")
    }
    pub(super) fn resolve(path: &str) -> String {
        format!("resolve {path}")
    }
    pub(super) fn now() -> String {
        "now".to_owned()
    }
    pub(super) fn read_at(path: &str, offset: u64, length: u32) -> String {
        format!("read {path} from {offset} for {length}")
    }
    pub(super) fn device_number(path: &str) -> String {
        format!("device number of {path}")
    }
    pub(super) fn open_exclusively(path: &str) -> String {
        format!("open {path} exclusively")
    }
    pub(super) fn hold(path: &str) -> String {
        format!("hold {path}")
    }
    pub(super) fn release(hold: u64) -> String {
        format!("release {hold}")
    }
}

/// Bytes as text. Long runs of zeros, which blank drives are full of, are written as `*COUNT.`.
mod hex {
    use std::fmt::Write as _;

    /// Shortest run of zeros that is written as a count: shorter ones are not worth it.
    const RUN: usize = 16;

    pub(super) fn print(bytes: &[u8]) -> String {
        let mut text = String::new();
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            let zeros = rest.iter().take_while(|byte| **byte == 0).count();
            // Writing into a string does not fail.
            if zeros >= RUN {
                let _ = write!(text, "*{zeros}.");
                rest = &rest[zeros..];
            } else {
                let _ = write!(text, "{first:02x}");
                rest = &rest[1..];
            }
        }
        text
    }

    pub(super) fn parse(text: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(run) = rest.strip_prefix('*') {
                let (count, after) = run.split_once('.')?;
                bytes.resize(bytes.len() + count.parse::<u32>().ok()? as usize, 0);
                rest = after;
            } else {
                bytes.push(u8::from_str_radix(rest.get(..2)?, 16).ok()?);
                rest = &rest[2..];
            }
        }
        Some(bytes)
    }
}

/// A recorded machine. The last answer to a question is given again when it is asked more often than recorded.
#[derive(Debug)]
pub struct Replay {
    name: String,
    answers: Mutex<HashMap<String, VecDeque<Answer>>>,
}

impl Replay {
    /// A machine that says what the transcript says.
    #[must_use]
    pub fn new(name: &str, transcript: Transcript) -> Self {
        let mut answers: HashMap<String, VecDeque<Answer>> = HashMap::new();
        for Exchange { ask, answer } in transcript.0 {
            answers.entry(ask).or_default().push_back(answer);
        }
        Self { name: name.to_owned(), answers: Mutex::new(answers) }
    }

    fn answer(&self, asked: &str) -> Result<Answer, HostError> {
        let mut answers = lock(&self.answers);
        let queue = answers.get_mut(asked);
        let answer = queue.and_then(|queue| if queue.len() > 1 { queue.pop_front() } else { queue.front().cloned() });
        answer.ok_or_else(|| self.not_recorded(asked))
    }

    fn not_recorded(&self, asked: &str) -> HostError {
        HostError::NotRecorded { host: self.name.clone(), asked: asked.to_owned() }
    }

    fn file<T>(
        &self,
        doing: &'static str,
        path: &str,
        asked: &str,
        take: impl FnOnce(Answer) -> Option<T>,
    ) -> Result<T, HostError> {
        let source = match self.answer(asked)? {
            Answer::NotFound => io::Error::from(io::ErrorKind::NotFound),
            Answer::Failed(text) => io::Error::other(text),
            answer => return take(answer).ok_or_else(|| self.not_recorded(asked)),
        };
        Err(HostError::File { host: self.name.clone(), doing, path: path.to_owned(), source })
    }
}

impl Host for Replay {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn run(&self, cmd: &Cmd) -> Result<Outcome, HostError> {
        let asked = asked::run(cmd);
        let source = match self.answer(&asked)? {
            Answer::Ran(outcome) => return Ok(outcome),
            Answer::NotFound => io::Error::from(io::ErrorKind::NotFound),
            Answer::Failed(text) => io::Error::other(text),
            _ => return Err(self.not_recorded(&asked)),
        };
        Err(HostError::Start { host: self.name.clone(), line: cmd.line(), source })
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        self.file("read", path, &asked::read(path), |answer| match answer {
            Answer::Content(text) => Some(text.into_bytes()),
            _ => None,
        })
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), HostError> {
        self.file("write", path, &asked::write(path, bytes), |answer| (answer == Answer::Done).then_some(()))
    }

    fn list(&self, path: &str) -> Result<Vec<String>, HostError> {
        self.file("list", path, &asked::list(path), |answer| match answer {
            Answer::Names(names) => Some(names),
            _ => None,
        })
    }

    fn resolve(&self, path: &str) -> Result<String, HostError> {
        self.file("follow", path, &asked::resolve(path), |answer| match answer {
            Answer::Path(path) => Some(path),
            _ => None,
        })
    }

    fn now(&self) -> Result<Nanos, HostError> {
        match self.answer(&asked::now())? {
            Answer::Time(nanos) => Ok(nanos),
            _ => Err(self.not_recorded("now")),
        }
    }

    fn read_at(&self, path: &str, offset: u64, length: u32) -> Result<Vec<u8>, HostError> {
        self.file("read", path, &asked::read_at(path, offset, length), |answer| match answer {
            Answer::Bytes(text) => hex::parse(&text),
            _ => None,
        })
    }

    fn device_number(&self, path: &str) -> Result<Option<Devno>, HostError> {
        self.file("tell the device number of", path, &asked::device_number(path), |answer| match answer {
            Answer::Device(devno) => Some(devno),
            _ => None,
        })
    }

    fn open_exclusively(&self, path: &str) -> Result<Exclusivity, HostError> {
        self.file("open", path, &asked::open_exclusively(path), |answer| match answer {
            Answer::Opened(exclusivity) => Some(exclusivity),
            _ => None,
        })
    }

    fn hold(&self, path: &str) -> Result<Option<Hold>, HostError> {
        self.file("hold", path, &asked::hold(path), |answer| match answer {
            Answer::Held(hold) => Some(hold),
            _ => None,
        })
    }

    fn release(&self, hold: u64) -> Result<(), HostError> {
        match self.answer(&asked::release(hold))? {
            Answer::Done => Ok(()),
            _ => Err(self.not_recorded("release")),
        }
    }

    /// There is nothing behind a recording that could be lost.
    fn is_throwaway(&self) -> bool {
        true
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Local;

    fn conversation(host: &dyn Host) -> Vec<String> {
        let said = |result: Result<Outcome, HostError>| {
            result.map_or_else(|error| error.is_not_found().to_string(), |outcome| outcome.text())
        };
        vec![
            said(host.run(&Cmd::new(["echo", "one"]))),
            said(host.run(&Cmd::new(["sh", "-c", "echo two; exit 2"]))),
            said(host.run(&Cmd::new(["bedplate-no-such-program"]))),
            host.read_text("/proc/sys/kernel/ostype").unwrap(),
            host.exists("/nonexistent").unwrap().to_string(),
            host.list("/proc/self/task").unwrap().len().min(1).to_string(),
            format!("{:?}", host.read_at("/proc/sys/kernel/ostype", 2, 100).unwrap()),
            format!("{:?}", host.device_number("/dev/null").unwrap()),
            host.open_exclusively("/nonexistent").unwrap_err().is_not_found().to_string(),
            host.hold("/nonexistent").unwrap_err().is_not_found().to_string(),
        ]
    }

    #[test]
    fn a_recorded_machine_says_the_same_again() {
        let recording = Recording::new(Local::new());
        let first = conversation(&recording);
        let text = recording.transcript().print();
        let replay = Replay::new("recorded", Transcript::parse(&text).unwrap());
        assert_eq!(conversation(&replay), first);
        assert!(matches!(replay.read("/etc/hostname"), Err(HostError::NotRecorded { .. })));
    }

    #[test]
    fn bytes_of_a_drive_are_kept_as_they_are() {
        for bytes in [&b""[..], &[0; 15], &[0; 4096], &[0xff, 0, 0, 7], &[[1; 20], [0; 20], [2; 20]].concat()] {
            assert_eq!(hex::parse(&hex::print(bytes)).unwrap(), bytes);
        }
        assert_eq!(hex::print(&[0; 4096]), "*4096.");
        for broken in ["0", "zz", "*", "*9", "*x.", "é"] {
            assert_eq!(hex::parse(broken), None, "{broken}");
        }
    }
}
