//! Processes of this machine: each in a group of its own, ended as a group, its output kept.

#![expect(clippy::disallowed_methods, reason = "this is the one place that starts processes")]

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use terms::{Cmd, Nanos, Outcome};

use crate::{interrupt, orphan};

/// What a long-running process does with its standard streams.
#[derive(Debug)]
pub enum Standard {
    /// Nothing in; output and errors into this file.
    Log(File),
    /// Those of this program: the person talks with the process.
    Inherit,
}

/// A process that runs beside this program until it is ended.
#[derive(Debug)]
pub struct Process {
    child: Child,
    grouped: bool,
}

impl Process {
    /// Starts a program and does not wait for it.
    ///
    /// # Errors
    /// Where it cannot be started.
    pub fn start(cmd: &Cmd, standard: Standard) -> io::Result<Self> {
        let mut command = prepare(cmd, &[]);
        let grouped = matches!(standard, Standard::Log(_));
        match standard {
            Standard::Log(file) => {
                command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file).process_group(0);
            }
            // In the person's own group, or the terminal would stop it when it reads.
            Standard::Inherit => {}
        }
        Ok(Self { child: command.spawn()?, grouped })
    }

    /// Starts a program that is spoken with over its input and output; what it says on standard error goes where ours
    /// does. Ctrl-C does not end it: whoever speaks with it decides when.
    ///
    /// # Errors
    /// Where it cannot be started.
    pub fn start_piped(cmd: &Cmd) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        // It stays in the person's process group, or it could not ask for a passphrase.
        let deaf = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh"].map(str::to_owned);
        let argv: Vec<String> = deaf.into_iter().chain(cmd.argv.iter().cloned()).collect();
        let mut command = prepare(&Cmd { argv, ..cmd.clone() }, &[]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let closed = || io::Error::other("a pipe that was asked for is not there");
        let (stdin, stdout) = (child.stdin.take().ok_or_else(closed)?, child.stdout.take().ok_or_else(closed)?);
        Ok((Self { child, grouped: false }, stdin, stdout))
    }

    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Has it ended, and how?
    ///
    /// # Errors
    /// Where the system does not tell.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Waits until it ends by itself, at most `limit`; `None` when it still runs.
    ///
    /// # Errors
    /// Where the system does not tell.
    pub fn wait(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            if start.elapsed() >= limit {
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends it and all it started, at once.
    pub fn kill(&mut self) {
        if self.grouped {
            signal_group(self.child.id(), Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.kill();
        }
    }
}

fn signal_group(id: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(pid, signal);
    }
}

fn prepare(cmd: &Cmd, base_env: &[(String, String)]) -> Command {
    let mut command = Command::new(cmd.argv.first().map_or("", String::as_str));
    command.args(cmd.argv.iter().skip(1));
    // One language whatever the person speaks: output is parsed.
    command.env("LC_ALL", "C");
    command.envs(orphan::this_process().map(|owner| (orphan::OWNER, owner)));
    command.envs(base_env.iter().chain(&cmd.env).map(|(key, value)| (key, value)));
    command
}

/// Programs that [`run`] waits for.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// One of them, until it is dropped.
struct Running;

impl Running {
    fn begin() -> Self {
        RUNNING.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits until no program runs that somebody waits for: after an interrupt as long as an end takes, and no longer.
pub fn await_all() {
    let start = Instant::now();
    while RUNNING.load(Ordering::Relaxed) > 0 && start.elapsed() < INTERRUPT + GRACE + INTERRUPT {
        thread::sleep(Duration::from_millis(10));
    }
}

/// Runs a program to its end, or ends it when its time is up; `None` where it was ended because somebody asked to stop.
pub(crate) fn run(cmd: &Cmd, base_env: &[(String, String)]) -> io::Result<Option<Outcome>> {
    let start = Instant::now();
    let _running = Running::begin();
    let mut child = prepare(cmd, base_env)
        .stdin(if cmd.stdin.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        let bytes = cmd.stdin.clone();
        // A program that ends without reading its input closes the pipe: not our failure.
        thread::spawn(move || stdin.write_all(&bytes));
    }
    let stdout = Collector::start(child.stdout.take());
    let stderr = Collector::start(child.stderr.take());
    let Some((status, timed_out)) = wait(&mut child, start, cmd.limit)? else { return Ok(None) };
    Ok(Some(Outcome {
        status: status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
        stdout: stdout.finish(),
        stderr: stderr.finish(),
        took: Nanos::from(start.elapsed()),
        timed_out,
    }))
}

/// Waits for the end, the limit or an interrupt, without looking again and again: a measurement may be running beside.
fn wait(child: &mut Child, start: Instant, limit: Nanos) -> io::Result<Option<(ExitStatus, bool)>> {
    // A process that has ended and is not yet waited for still has its descriptor.
    let descriptor = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some((status, false)));
        }
        let left = limit.to_duration().saturating_sub(start.elapsed());
        let interrupted = interrupt::raised();
        if left.is_zero() || interrupted {
            let status = end(child, &descriptor)?;
            return Ok((!interrupted).then_some((status, true)));
        }
        await_end(&descriptor, left.min(INTERRUPT));
    }
}

/// Asks a program and all it started to end, and sees to it that they do. Asked, a tool takes away what it made for a
/// while: integritysetup the mapping that it wipes through, which would hold the drive.
fn end(child: &mut Child, descriptor: &OwnedFd) -> io::Result<ExitStatus> {
    signal_group(child.id(), Signal::TERM);
    let start = Instant::now();
    // Nobody has waited for it yet, so that its id, and its group's, is its own until then.
    while start.elapsed() < GRACE && !await_end(descriptor, GRACE.saturating_sub(start.elapsed())) {}
    signal_group(child.id(), Signal::KILL);
    child.wait()
}

/// How long a program may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(3);

/// How long an interrupt may go unseen.
const INTERRUPT: Duration = Duration::from_millis(500);

/// Sleeps until the process ends, at most so long. Has it ended? A signal ends the sleep early; the caller looks again.
fn await_end(descriptor: &OwnedFd, longest: Duration) -> bool {
    let seconds = i64::try_from(longest.as_secs()).unwrap_or(i64::MAX);
    let timeout = Timespec { tv_sec: seconds, tv_nsec: i64::from(longest.subsec_nanos()) };
    poll(&mut [PollFd::new(descriptor, PollFlags::IN)], Some(&timeout)).is_ok_and(|ready| ready > 0)
}

/// Collects a stream in a thread of its own.
struct Collector {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Collector {
    fn start(stream: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let thread = stream.map(|mut stream| {
            let bytes = Arc::clone(&bytes);
            thread::spawn(move || {
                let mut buffer = [0; 16384];
                while let Ok(count @ 1..) = stream.read(&mut buffer) {
                    lock(&bytes).extend_from_slice(&buffer[..count]);
                }
            })
        });
        Self { bytes, thread }
    }

    /// What came. A daemon left behind may hold the stream open for ever, so patience ends after a second.
    fn finish(self) -> Vec<u8> {
        if let Some(thread) = self.thread {
            let start = Instant::now();
            while !thread.is_finished() && start.elapsed() < Duration::from_secs(1) {
                thread::sleep(Duration::from_micros(200));
            }
        }
        std::mem::take(&mut *lock(&self.bytes))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
