//! A machine with an agent at the other end of a byte stream: a lab guest, or another machine over ssh.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use terms::{Cmd, Nanos, Outcome};

use crate::wire::{self, Envelope, Request, Response};
use crate::{CounterSample, Devno, Exclusivity, Hold, Host, HostError, Needle, NeedleHit, Sampling, interrupt};

type Answer = (Response, Vec<Vec<u8>>);
type Waiting = Arc<Mutex<Option<HashMap<u64, Sender<Answer>>>>>;

/// How long past a program's own limit an agent may take to say so.
const GRACE: Duration = Duration::from_secs(30);
/// A limit that the agent of a machine whose clock is not ours does not come to: a year.
const NEVER: Nanos = Nanos::seconds(365 * 24 * 3600);
/// How many of our seconds a second of such a machine may take: translated code on a busy machine.
const SLOWER: u32 = 20;
/// Status of a program that was asked to end: 128 and the number of TERM.
const ENDED: i32 = 143;
/// How long an ended program may take to be gone: what the agent gives it, and some more.
const CANCEL: Duration = Duration::from_secs(15);

/// A machine behind an agent.
pub struct Remote {
    name: String,
    output: Mutex<Box<dyn Write + Send>>,
    waiting: Waiting,
    next: AtomicU64,
    /// Is it we who end programs whose time is up?
    ours: bool,
    /// Does its agent hear nothing, and its clock stand still, between an answer and the next question?
    in_turn: bool,
    /// Held by who asks such an agent: the time that an answer may take begins when the one before is there.
    turn: Mutex<()>,
}

impl Remote {
    /// Greets the agent on a stream and refuses one of another build.
    ///
    /// # Errors
    /// [`HostError::Lost`] where no answer comes within `patience`, [`HostError::BuildMismatch`].
    pub fn connect(
        name: &str,
        build: &str,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        patience: Duration,
    ) -> Result<Self, HostError> {
        let remote = Self::resume(name, 1, input, output);
        let hello = Request::Hello { build: build.to_owned() };
        match remote.ask(&hello, &[], patience)?.0 {
            Response::Hello { build: theirs } if theirs == build => Ok(remote),
            Response::Hello { build: theirs } => {
                Err(HostError::BuildMismatch { host: remote.name.clone(), ours: build.to_owned(), theirs })
            }
            other => Err(remote.nonsense(&other)),
        }
    }

    /// Goes on with an agent that somebody greeted before; the next question has this number.
    pub fn resume(
        name: &str,
        next: u64,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> Self {
        let waiting: Waiting = Arc::new(Mutex::new(Some(HashMap::new())));
        let answers = Arc::clone(&waiting);
        thread::spawn(move || dispatch(input, &answers));
        Self {
            name: name.to_owned(),
            output: Mutex::new(Box::new(output)),
            waiting,
            next: AtomicU64::new(next),
            ours: false,
            in_turn: false,
            turn: Mutex::new(()),
        }
    }

    /// The number of the next question.
    #[must_use]
    pub fn next_question(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// The same with time limits by our clock: that of a guest may count instructions, stand still, and leap.
    #[must_use]
    pub fn with_our_clock(self) -> Self {
        Self { ours: true, ..self }
    }

    /// The same of a machine that lives only while it answers: waiting for it is something to ask of it, and nothing can be
    /// cancelled.
    #[must_use]
    pub fn answers_in_turn(self) -> Self {
        Self { in_turn: true, ..self }
    }

    fn ask(&self, request: &Request, blobs: &[&[u8]], patience: Duration) -> Result<Answer, HostError> {
        self.answer(request, blobs, patience)?.ok_or_else(|| self.lost("no answer in time", None))
    }

    /// `None` where none came in time; what the request runs is ended.
    fn answer(&self, request: &Request, blobs: &[&[u8]], patience: Duration) -> Result<Option<Answer>, HostError> {
        let _turn = self.in_turn.then(|| lock(&self.turn));
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = mpsc::channel();
        match lock(&self.waiting).as_mut() {
            Some(waiting) => waiting.insert(id, sender),
            None => return Err(self.lost("it is gone", None)),
        };
        wire::send(&mut *lock(&self.output), &Envelope { id, message: request }, blobs)
            .map_err(|error| self.lost("while asking", Some(error)))?;
        let start = Instant::now();
        loop {
            match receiver.recv_timeout(Duration::from_millis(100)) {
                Ok(answer) => return Ok(Some(answer)),
                Err(RecvTimeoutError::Disconnected) => return Err(self.lost("while waiting for an answer", None)),
                Err(RecvTimeoutError::Timeout) if interrupt::raised() => {
                    if !self.in_turn {
                        self.cancel(id);
                        // Whatever it answers: what matters is that nothing runs on beside the clean-up.
                        let _ = receiver.recv_timeout(CANCEL);
                    }
                    return Err(HostError::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) if start.elapsed() > patience => {
                    if self.in_turn {
                        return Err(self.lost("it did not come to an end in time", None));
                    }
                    self.cancel(id);
                    if matches!(request, Request::Run { .. }) {
                        let slower = if self.ours { SLOWER } else { 1 };
                        let _ = receiver.recv_timeout(CANCEL.saturating_mul(slower));
                    }
                    return Ok(None);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Asks the agent to end what a request runs. If even that cannot be sent, the agent is lost, and says so elsewhere.
    fn cancel(&self, id: u64) {
        let message = Request::Cancel { id };
        let envelope = Envelope { id: self.next.fetch_add(1, Ordering::Relaxed), message };
        let _ = wire::send(&mut *lock(&self.output), &envelope, &[]);
    }

    fn ask_file(
        &self,
        doing: &'static str,
        path: &str,
        request: &Request,
        blobs: &[&[u8]],
    ) -> Result<Answer, HostError> {
        match self.ask(request, blobs, Duration::from_secs(60))? {
            (Response::Fault { errno, text }, _) => Err(HostError::File {
                host: self.name.clone(),
                doing,
                path: path.to_owned(),
                source: rebuild(errno, text),
            }),
            answer => Ok(answer),
        }
    }

    fn lost(&self, what: &str, source: Option<io::Error>) -> HostError {
        HostError::Lost { host: self.name.clone(), what: what.to_owned(), source }
    }

    fn nonsense(&self, response: &Response) -> HostError {
        self.lost(&format!("it answered {response:?}"), None)
    }
}

impl Host for Remote {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn run(&self, cmd: &Cmd) -> Result<Outcome, HostError> {
        Ok(self.run_sampled(cmd, &Sampling::default())?.0)
    }

    fn run_sampled(&self, cmd: &Cmd, sampling: &Sampling) -> Result<(Outcome, Vec<CounterSample>), HostError> {
        let start = Instant::now();
        let request = |cmd: Cmd| Request::Run { cmd, sampling: sampling.clone() };
        let answer = if self.ours {
            let request = request(cmd.clone().limit(NEVER));
            self.answer(&request, &[&cmd.stdin], cmd.limit.to_duration().saturating_mul(SLOWER))?
        } else {
            Some(self.ask(&request(cmd.clone()), &[&cmd.stdin], cmd.limit.to_duration() + GRACE)?)
        };
        let Some(answer) = answer else {
            let (stdout, stderr) = (Vec::new(), Vec::new());
            let took = start.elapsed().into();
            let outcome = Outcome { status: ENDED, stdout, stderr, took, timed_out: true, flooded: None };
            return Ok((outcome, Vec::new()));
        };
        match answer {
            (Response::Ran { outcome, samples }, blobs) => {
                let mut blobs = blobs.into_iter();
                let [stdout, stderr, read] = [(); 3].map(|()| blobs.next().unwrap_or_default());
                Ok((Outcome { stdout, stderr, ..outcome }, samples_of(samples, &read)))
            }
            (Response::Fault { errno, text }, _) => {
                Err(HostError::Start { host: self.name.clone(), line: cmd.line(), source: rebuild(errno, text) })
            }
            (other, _) => Err(self.nonsense(&other)),
        }
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        match self.ask_file("read", path, &Request::Read { path: path.to_owned() }, &[])? {
            (Response::Content, blobs) => Ok(blobs.into_iter().next().unwrap_or_default()),
            (other, _) => Err(self.nonsense(&other)),
        }
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), HostError> {
        match self.ask_file("write", path, &Request::Write { path: path.to_owned() }, &[bytes])? {
            (Response::Done, _) => Ok(()),
            (other, _) => Err(self.nonsense(&other)),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<String>, HostError> {
        match self.ask_file("list", path, &Request::List { path: path.to_owned() }, &[])? {
            (Response::Names { names }, _) => Ok(names),
            (other, _) => Err(self.nonsense(&other)),
        }
    }

    fn resolve(&self, path: &str) -> Result<String, HostError> {
        match self.ask_file("follow", path, &Request::Resolve { path: path.to_owned() }, &[])? {
            (Response::Path { path }, _) => Ok(path),
            (other, _) => Err(self.nonsense(&other)),
        }
    }

    fn now(&self) -> Result<Nanos, HostError> {
        match self.ask(&Request::Now, &[], Duration::from_secs(60))?.0 {
            Response::Time { nanos } => Ok(nanos),
            other => Err(self.nonsense(&other)),
        }
    }

    fn pause(&self, time: Duration) -> Result<(), HostError> {
        if !self.in_turn {
            thread::sleep(time);
            return Ok(());
        }
        let patience = time.saturating_mul(SLOWER) + GRACE;
        match self.ask(&Request::Pause { nanos: time.into() }, &[], patience)?.0 {
            Response::Done => Ok(()),
            other => Err(self.nonsense(&other)),
        }
    }

    fn has_own_clock(&self) -> bool {
        self.ours
    }

    fn read_at(&self, path: &str, offset: u64, length: u32) -> Result<Vec<u8>, HostError> {
        match self.ask_file("read", path, &Request::ReadAt { path: path.to_owned(), offset, length }, &[])? {
            (Response::Content, blobs) => Ok(blobs.into_iter().next().unwrap_or_default()),
            (other, _) => Err(self.nonsense(&other)),
        }
    }

    fn find(&self, path: &str, wanted: &Needle<'_>) -> Result<Vec<NeedleHit>, HostError> {
        let Needle { texts, offset, length, keep } = *wanted;
        let lengths = texts.iter().map(Vec::len).collect();
        let request = Request::Find { path: path.to_owned(), offset, length, keep, lengths };
        match self.ask_file("search", path, &request, &[&texts.concat()])? {
            (Response::Found { offsets, lengths }, blobs) => {
                let bytes = wire::split(blobs.first().map_or(&[], Vec::as_slice), &lengths);
                Ok(offsets.into_iter().zip(bytes).map(|(offset, bytes)| NeedleHit { offset, bytes }).collect())
            }
            (other, _) => Err(self.nonsense(&other)),
        }
    }

    fn device_number(&self, path: &str) -> Result<Option<Devno>, HostError> {
        let request = Request::DeviceNumber { path: path.to_owned() };
        match self.ask_file("tell the device number of", path, &request, &[])? {
            (Response::Device { devno }, _) => Ok(devno),
            (other, _) => Err(self.nonsense(&other)),
        }
    }

    fn open_exclusively(&self, path: &str) -> Result<Exclusivity, HostError> {
        match self.ask_file("open", path, &Request::OpenExclusively { path: path.to_owned() }, &[])? {
            (Response::Opened { exclusivity }, _) => Ok(exclusivity),
            (other, _) => Err(self.nonsense(&other)),
        }
    }

    fn hold(&self, path: &str) -> Result<Option<Hold>, HostError> {
        match self.ask_file("hold", path, &Request::Hold { path: path.to_owned() }, &[])? {
            (Response::Held { hold }, _) => Ok(hold),
            (other, _) => Err(self.nonsense(&other)),
        }
    }

    fn release(&self, hold: u64) -> Result<(), HostError> {
        match self.ask(&Request::Release { hold }, &[], Duration::from_secs(60))?.0 {
            Response::Done => Ok(()),
            other => Err(self.nonsense(&other)),
        }
    }
}

/// Files beside the moments at which they were read; `read` holds them one after the other.
fn samples_of(heads: Vec<(Nanos, Vec<Option<usize>>)>, read: &[u8]) -> Vec<CounterSample> {
    let all: Vec<usize> = heads.iter().flat_map(|(_, lengths)| lengths.iter().copied().flatten()).collect();
    let mut contents = wire::split(read, &all).into_iter();
    let mut files =
        |lengths: Vec<Option<usize>>| lengths.into_iter().map(|length| length.and_then(|_| contents.next())).collect();
    heads.into_iter().map(|(at, lengths)| CounterSample { at, files: files(lengths) }).collect()
}

fn dispatch(mut input: impl Read, waiting: &Waiting) {
    while let Ok(Some((Envelope { id, message }, blobs))) = wire::receive::<Envelope<Response>>(&mut input) {
        if let Some(sender) = lock(waiting).as_mut().and_then(|waiting| waiting.remove(&id)) {
            let _ = sender.send((message, blobs));
        }
    }
    // Dropping the senders wakes everybody who still waits.
    *lock(waiting) = None;
}

fn rebuild(errno: Option<i32>, text: String) -> io::Error {
    errno.map_or_else(|| io::Error::other(text), io::Error::from_raw_os_error)
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::{Local, agent};

    fn pair(theirs: &'static str, ours: &str) -> Result<Remote, HostError> {
        let (here, there) = UnixStream::pair().unwrap();
        thread::spawn(move || agent::serve(theirs, Local::new(), there.try_clone().unwrap(), there));
        Remote::connect("pair", ours, here.try_clone().unwrap(), here, Duration::from_secs(5))
    }

    #[test]
    fn the_same_build_is_served() {
        let host = pair("b1", "b1").unwrap();
        let outcome = host.run(&Cmd::new(["sh", "-c", "cat; exit 4"]).stdin(*b"x")).unwrap();
        assert_eq!((outcome.status, outcome.text()), (4, "x".to_owned()));
        assert!(!host.exists("/nonexistent").unwrap());
        assert!(host.list("/proc/self").unwrap().contains(&"stat".to_owned()));
        assert!(host.now().unwrap() > Nanos(0));
        assert_eq!(host.read_at("/proc/sys/kernel/ostype", 2, 3).unwrap(), b"nux");
        let texts = vec![b"n".to_vec(), b"in".to_vec(), b"x".to_vec()];
        let wanted = Needle { texts: &texts, offset: 0, length: 100, keep: 2 };
        let found = host.find("/proc/sys/kernel/ostype", &wanted).unwrap();
        let found: Vec<_> = found.iter().map(|found| (found.offset, found.bytes.as_slice())).collect();
        assert_eq!(found, [(1, &b"in"[..]), (2, b"nu"), (4, b"x\n")]);
        assert!(host.open_exclusively("/nonexistent").unwrap_err().is_not_found());
        assert!(host.hold("/dev/null").unwrap_err().to_string().contains("hold"));
        host.release(7).unwrap();
        assert!(host.run(&Cmd::new(["bedplate-no-such-program"])).unwrap_err().is_not_found());
    }

    #[test]
    fn what_is_too_long_for_an_answer_is_refused_and_the_agent_goes_on() {
        let host = pair("b", "b").unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 40).unwrap();
        let path = file.path().to_str().unwrap();
        let cause = |error: HostError| std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        assert!(cause(host.read_at(path, 0, u32::MAX).unwrap_err()).contains("256 MiB"));
        assert!(cause(host.read(path).unwrap_err()).contains("256 MiB"));
        assert!(host.read("/dev/zero").is_err());
        let cmd = Cmd::new(["head", "-c", &(257 << 20).to_string(), path]).output(terms::Bytes::gib(1));
        assert!(cause(host.run(&cmd).unwrap_err()).contains("256 MiB"));
        let flood = host.run(&Cmd::new(["yes"]).output(terms::Bytes::mib(4))).unwrap();
        assert_eq!((flood.ok(), flood.flooded), (false, Some(terms::Bytes::mib(4))));
        assert!(host.now().is_ok());
    }

    #[test]
    fn a_machine_that_answers_in_turn_waits_when_it_is_asked_to_and_is_lost_where_a_program_does_not_end() {
        let (here, there) = UnixStream::pair().unwrap();
        thread::spawn(move || agent::serve_in_turn("b", Local::new(), there.try_clone().unwrap(), there));
        let patience = Duration::from_secs(5);
        let host = Remote::connect("pair", "b", here.try_clone().unwrap(), here, patience).unwrap();
        let host = host.with_our_clock().answers_in_turn();
        let before = host.now().unwrap();
        host.pause(Duration::from_millis(30)).unwrap();
        assert!(host.now().unwrap().0 >= before.0 + 30_000_000);
        assert_eq!(host.run(&Cmd::new(["echo", "said"])).unwrap().text().trim(), "said");
        let endless = Cmd::new(["sleep", "10"]).limit(Nanos::millis(20));
        let error = host.run(&endless).unwrap_err();
        assert!(matches!(error, HostError::Lost { .. }), "{error}");
    }

    /// As it was seen of four drives formatted at once on a busy machine: who read a file of the guest meanwhile waited for all.
    #[test]
    fn waiting_for_ones_turn_is_no_time_of_ones_own() {
        let (here, there) = UnixStream::pair().unwrap();
        thread::spawn(move || agent::serve_in_turn("b", Local::new(), there.try_clone().unwrap(), there));
        let host = Remote::connect("pair", "b", here.try_clone().unwrap(), here, Duration::from_secs(5)).unwrap();
        let host = Arc::new(host.with_our_clock().answers_in_turn());
        let slow = Arc::clone(&host);
        let before = thread::spawn(move || slow.run(&Cmd::new(["sleep", "3"])).unwrap());
        thread::sleep(Duration::from_millis(500));
        // Two seconds of ours.
        let quick = host.run(&Cmd::new(["true"]).limit(Nanos::millis(100))).unwrap();
        assert!(quick.ok() && before.join().unwrap().ok());
    }

    #[test]
    fn another_build_is_refused() {
        assert!(matches!(pair("b2", "b1"), Err(HostError::BuildMismatch { .. })));
    }

    #[test]
    fn questions_overlap() {
        let host = Arc::new(pair("b", "b").unwrap());
        let slow = Arc::clone(&host);
        let thread = thread::spawn(move || slow.run(&Cmd::new(["sleep", "2"])).unwrap());
        let start = Instant::now();
        host.now().unwrap();
        assert!(start.elapsed() < Duration::from_secs(1));
        assert!(thread.join().unwrap().ok());
    }

    #[test]
    fn files_are_read_on_the_other_side_while_a_program_runs() {
        let host = pair("b", "b").unwrap().with_our_clock();
        // A machine within a machine is the same machine.
        let within: &dyn Host = &&host;
        assert!(within.has_own_clock());
        let sampling = Sampling { paths: vec!["/proc/uptime".into(), "/not/there".into()], pause: Nanos::millis(300) };
        let (outcome, samples) = within.run_sampled(&Cmd::new(["sh", "-c", "sleep 1; echo done"]), &sampling).unwrap();
        assert_eq!(outcome.text(), "done");
        // More where this machine is busy and the program late; never fewer than two pauses apart.
        assert!(samples.len() >= 2, "{samples:?}");
        assert!(samples.windows(2).all(|pair| pair[1].at.0 >= pair[0].at.0 + sampling.pause.0));
        for CounterSample { files, .. } in &samples {
            assert!(files[0].as_ref().is_some_and(|text| text.contains(&b'.')) && files[1].is_none(), "{files:?}");
        }
        let (_, none) = host.run_sampled(&Cmd::new(["true"]), &Sampling::default()).unwrap();
        assert!(none.is_empty());
    }

    #[test]
    fn an_agent_that_goes_away_is_an_error() {
        let (here, there) = UnixStream::pair().unwrap();
        drop(there);
        let error = Remote::connect("gone", "b", here.try_clone().unwrap(), here, Duration::from_secs(5));
        assert!(matches!(error, Err(HostError::Lost { .. })));
    }
}
