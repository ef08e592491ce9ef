//! QEMU's monitor: one command and its answer at a time, each a line of JSON (QEMU, docs/interop/qmp-spec.rst).

use std::io::{self, BufRead, BufReader, Read, Take, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use host::interrupt;
use serde::Deserialize;
use serde_json::{Value, json};

/// How long QEMU may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often whoever waits for it looks up.
const STEP: Duration = Duration::from_millis(20);
/// The most that is read of it on one connection: a guest may have taken QEMU over.
const LONGEST: u64 = 1 << 20;

/// A connection to the monitor of one guest.
pub(crate) struct Monitor {
    commands: UnixStream,
    answers: BufReader<Take<UnixStream>>,
    /// How many commands were sent: the last one's number.
    sent: u64,
}

/// A line of QEMU's: its greeting, something that happened, or an answer.
#[derive(Deserialize)]
struct Line {
    id: Option<u64>,
    #[serde(rename = "return")]
    result: Option<Value>,
    error: Option<Value>,
}

impl Monitor {
    /// Asks for the mode in which commands are taken, and those of [`Self::heard`] at once. Nobody waits here for QEMU to say
    /// yes: while it starts there may be more to connect to first.
    pub(crate) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(STEP))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let answers = BufReader::new(stream.try_clone()?.take(LONGEST));
        let mut monitor = Self { commands: stream, answers, sent: 0 };
        monitor.send("qmp_capabilities", json!({ "enable": ["oob"] }))?;
        Ok(monitor)
    }

    /// Sends a command, gives its number; [`Self::answer`] has what comes of it.
    pub(crate) fn send(&mut self, command: &str, arguments: Value) -> io::Result<u64> {
        self.say("execute", command, arguments)
    }

    fn say(&mut self, how: &str, command: &str, arguments: Value) -> io::Result<u64> {
        self.sent += 1;
        let line = json!({ how: command, "arguments": arguments, "id": self.sent });
        self.commands.write_all(format!("{line}\n").as_bytes())?;
        Ok(self.sent)
    }

    /// Waits until QEMU has heard all that was sent, though it may have done none of it yet: one command that only asks, and
    /// that it answers as soon as it is read (`exec-oob`).
    pub(crate) fn heard(&mut self) -> io::Result<()> {
        let number = self.say("exec-oob", "query-yank", json!({}))?;
        self.answer(number, not_interrupted).map(drop)
    }

    /// What comes of the command of this number. `still` is asked while nothing is there, and its error ends the waiting.
    pub(crate) fn answer(&mut self, number: u64, mut still: impl FnMut() -> io::Result<()>) -> io::Result<Value> {
        let (start, mut text) = (Instant::now(), Vec::new());
        loop {
            if start.elapsed() > PATIENCE {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match self.answers.read_until(b'\n', &mut text) {
                Ok(_) if text.ends_with(b"\n") => {}
                Ok(_) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    still()?;
                    continue;
                }
                Err(error) => return Err(error),
            }
            let line: Line = serde_json::from_slice(&text)?;
            text.clear();
            if let Some(error) = line.error {
                return Err(io::Error::other(format!("QEMU's monitor refused: {error}")));
            }
            if line.id == Some(number) {
                return Ok(line.result.unwrap_or_default());
            }
        }
    }

    /// Sends a command and waits for what comes of it.
    pub(crate) fn ask(&mut self, command: &str, arguments: Value) -> io::Result<Value> {
        let number = self.send(command, arguments)?;
        self.answer(number, not_interrupted)
    }
}

/// An error where the person wants no more: whoever gets it asks once more what it was.
fn not_interrupted() -> io::Result<()> {
    interrupt::check().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// What comes of one command after the first, where QEMU says these lines; and what it was told.
    fn asked(says: &'static str) -> (io::Result<Value>, Vec<String>) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut monitor = Monitor::new(ours).unwrap();
        let qemu = thread::spawn(move || {
            theirs.write_all(says.as_bytes()).unwrap();
            let told = BufReader::new(theirs.try_clone().unwrap()).lines().take(2);
            told.collect::<Result<Vec<_>, _>>().unwrap()
        });
        (monitor.ask("stop", json!({})), qemu.join().unwrap())
    }

    #[test]
    fn an_answer_is_told_from_a_greeting_and_from_what_happened() {
        let says = "{\"QMP\": {}}\n{\"return\": {}, \"id\": 1}\n{\"event\": \"STOP\"}\n{\"return\": {\"status\": \"paused\"}, \"id\": 2}\n";
        let (answer, told) = asked(says);
        assert_eq!(answer.unwrap()["status"], "paused");
        assert!(told[0].contains("qmp_capabilities") && told[1].contains("\"stop\""), "{told:?}");
    }

    #[test]
    fn what_is_refused_broken_or_cut_off_is_an_error() {
        for (says, expect) in [
            ("{\"QMP\": {}}\n{\"error\": {\"desc\": \"no such command\"}, \"id\": 2}\n", "no such command"),
            ("{\"QMP\": {}}\nnonsense\n", "expected"),
            ("{\"QMP\": {}}\n{\"ret", "end of file"),
        ] {
            let error = asked(says).0.unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
        }
    }

    #[test]
    fn what_was_heard_is_answered_before_what_was_done() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut monitor = Monitor::new(ours).unwrap();
        let number = monitor.send("stop", json!({})).unwrap();
        theirs
            .write_all(b"{\"return\": {}, \"id\": 1}\n{\"return\": [], \"id\": 3}\n{\"return\": 7, \"id\": 2}\n")
            .unwrap();
        monitor.heard().unwrap();
        assert_eq!(monitor.answer(number, || Ok(())).unwrap(), 7);
    }

    #[test]
    fn whoever_waits_may_stop_waiting() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let mut monitor = Monitor::new(ours).unwrap();
        let error = monitor.answer(1, || Err(io::Error::other("no longer"))).unwrap_err();
        assert_eq!(error.to_string(), "no longer");
    }
}
