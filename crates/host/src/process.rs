//! Processes of this machine: each in a group of its own, ended as a group, its output kept.

#![expect(clippy::disallowed_methods, reason = "this is the one place that starts processes")]

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use terms::{Bytes, Cmd, Nanos, Outcome};

use crate::interrupt::{self, Care};
use crate::orphan;

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
    _care: Care,
}

impl Process {
    /// Starts a program in a directory and does not wait for it. It is given nothing of this program's environment but
    /// where programs are: what is in there (tokens, sockets of agents) is none of its business. It has a session of its
    /// own, and so no terminal that it could put words into as if the person had typed them (`TIOCSTI`).
    ///
    /// # Errors
    /// Where it cannot be started.
    pub fn start(cmd: &Cmd, standard: Standard, directory: &Path) -> io::Result<Self> {
        // No group leader by then, so setsid(1) becomes the program and does not fork.
        let mut command = Command::new("setsid");
        command.args(&cmd.argv).current_dir(directory).env_clear();
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        set_environment(&mut command, cmd, &[]);
        if let Standard::Log(file) = standard {
            command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        }
        let care = Care::take();
        Ok(Self { child: command.spawn()?, grouped: true, _care: care })
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
        let care = Care::take();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let closed = || io::Error::other("a pipe that was asked for is not there");
        let (stdin, stdout) = (child.stdin.take().ok_or_else(closed)?, child.stdout.take().ok_or_else(closed)?);
        Ok((Self { child, grouped: false, _care: care }, stdin, stdout))
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
    set_environment(&mut command, cmd, base_env);
    command
}

fn set_environment(command: &mut Command, cmd: &Cmd, base_env: &[(String, String)]) {
    // One language whatever the person speaks: output is parsed.
    command.env("LC_ALL", "C");
    command.envs(orphan::this_process().map(|owner| (orphan::OWNER, owner)));
    command.envs(base_env.iter().chain(&cmd.env).map(|(key, value)| (key, value)));
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

/// Runs a program to its end, or ends it when its time is up or it prints too much; `None` where it was ended because
/// somebody asked to stop.
pub(crate) fn run(cmd: &Cmd, base_env: &[(String, String)]) -> io::Result<Option<Outcome>> {
    let start = Instant::now();
    let _running = Running::begin();
    let _care = Care::take();
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
    let stdout = Collector::start(child.stdout.take(), cmd.output);
    let stderr = Collector::start(child.stderr.take(), cmd.output);
    let floods = || lock(&stdout.kept).floods() || lock(&stderr.kept).floods();
    let waited = wait(&mut child, start, cmd.limit, &floods);
    if waited.is_err() {
        // Nobody would wait for it, and it may be at work on a drive.
        signal_group(child.id(), Signal::KILL);
        child.wait()?;
    }
    let (status, end) = waited?;
    if end == End::Interrupt {
        return Ok(None);
    }
    let (stdout, mut stderr) = (stdout.finish(), stderr.finish());
    if status.is_none() {
        stderr.add(format!("\nprocess {} {STUCK}", child.id()).as_bytes());
    }
    let killed = 128 + Signal::KILL.as_raw();
    Ok(Some(Outcome {
        status: status.map_or(killed, |status| status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))),
        // Most of it may have come after its end.
        flooded: (stdout.floods() || stderr.floods()).then_some(cmd.output),
        stdout: stdout.bytes(),
        stderr: stderr.bytes(),
        took: Nanos::from(start.elapsed()),
        timed_out: end == End::Limit,
    }))
}

/// Why a program is not waited for any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Own,
    Limit,
    Flood,
    Interrupt,
}

/// Waits for the end or a reason to end it, without looking again and again: a measurement may be running beside.
fn wait(
    child: &mut Child,
    start: Instant,
    limit: Nanos,
    floods: &dyn Fn() -> bool,
) -> io::Result<(Option<ExitStatus>, End)> {
    // A process that has ended and is not yet waited for still has its descriptor.
    let descriptor = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((Some(status), End::Own));
        }
        let left = limit.to_duration().saturating_sub(start.elapsed());
        let reasons = [(interrupt::raised(), End::Interrupt), (floods(), End::Flood), (left.is_zero(), End::Limit)];
        if let Some((_, reason)) = reasons.into_iter().find(|(holds, _)| *holds) {
            return Ok((end(child, &descriptor, GRACE)?, reason));
        }
        await_end(&descriptor, left.min(INTERRUPT));
    }
}

/// Asks a program and all it started to end, and sees to it that they do. Asked, a tool takes away what it made for a
/// while: integritysetup the mapping that it wipes through, which would hold the drive. `None` where it is there still.
fn end(child: &mut Child, descriptor: &OwnedFd, grace: Duration) -> io::Result<Option<ExitStatus>> {
    signal_group(child.id(), Signal::TERM);
    // Nobody has waited for it yet, so that its id, and its group's, is its own until then.
    await_end_for(descriptor, grace);
    signal_group(child.id(), Signal::KILL);
    await_end_for(descriptor, grace);
    child.try_wait()
}

/// A signal ends nothing that waits in the kernel without heeding any.
const STUCK: &str =
    "cannot be ended: it waits in the kernel for a file system that is frozen or a device that does not answer";

/// Sleeps until the process ends, at most so long, whatever wakes it meanwhile.
fn await_end_for(descriptor: &OwnedFd, longest: Duration) {
    let start = Instant::now();
    while start.elapsed() < longest && !await_end(descriptor, longest.saturating_sub(start.elapsed())) {}
}

/// How long a program may take to end when it is asked to. libdevmapper tries for five seconds to remove a mapping that
/// is busy (libdm/libdm-common.h, `DM_RETRY_USLEEP_DELAY` and `DM_IOCTL_RETRIES`).
const GRACE: Duration = Duration::from_secs(10);

/// How long an interrupt may go unseen.
pub(crate) const INTERRUPT: Duration = Duration::from_millis(500);

/// Sleeps until a process ends, or something can be read, at most so long. Is it so? A signal ends the sleep early; the caller
/// looks again.
pub(crate) fn await_end(descriptor: impl AsFd, longest: Duration) -> bool {
    let seconds = i64::try_from(longest.as_secs()).unwrap_or(i64::MAX);
    let timeout = Timespec { tv_sec: seconds, tv_nsec: i64::from(longest.subsec_nanos()) };
    poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&timeout)).is_ok_and(|ready| ready > 0)
}

/// Collects a stream in a thread of its own.
struct Collector {
    kept: Arc<Mutex<Kept>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Collector {
    fn start(stream: Option<impl Read + Send + 'static>, most: Bytes) -> Self {
        let kept = Arc::new(Mutex::new(Kept { most: most.0, ..Kept::default() }));
        let thread = stream.map(|mut stream| {
            let kept = Arc::clone(&kept);
            thread::spawn(move || {
                let mut buffer = [0; 16384];
                while let Ok(count @ 1..) = stream.read(&mut buffer) {
                    lock(&kept).add(&buffer[..count]);
                }
            })
        });
        Self { kept, thread }
    }

    /// What came. A daemon left behind may hold the stream open for ever, so patience ends after a second.
    fn finish(self) -> Kept {
        if let Some(thread) = self.thread {
            let start = Instant::now();
            while !thread.is_finished() && start.elapsed() < Duration::from_secs(1) {
                thread::sleep(Duration::from_micros(200));
            }
        }
        std::mem::take(&mut *lock(&self.kept))
    }
}

/// Of a stream that is longer than it may be, so many bytes are kept of its beginning and as many of its end.
const EDGE: usize = 1 << 20;

/// What is kept of a stream: all of it while it is no longer than `most`.
#[derive(Debug, Default)]
struct Kept {
    most: u64,
    came: u64,
    head: Vec<u8>,
    tail: VecDeque<u8>,
}

impl Kept {
    fn add(&mut self, bytes: &[u8]) {
        self.came += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(EDGE - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        if self.floods() && self.tail.len() > EDGE {
            self.tail.drain(..self.tail.len() - EDGE);
            self.tail.shrink_to(2 * EDGE);
        }
    }

    const fn floods(&self) -> bool {
        self.came > self.most
    }

    fn bytes(mut self) -> Vec<u8> {
        let left_out = self.came - (self.head.len() + self.tail.len()) as u64;
        if left_out > 0 {
            self.head.extend_from_slice(format!("\n[{left_out} bytes are left out here]\n").as_bytes());
        }
        self.head.extend(self.tail);
        self.head
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program outside of a group of its own hears of no signal to it, as one that waits in the kernel heeds none.
    #[test]
    fn what_cannot_be_ended_is_not_waited_for() {
        let grace = Duration::from_millis(100);
        for grouped in [true, false] {
            let mut command = Command::new("sleep");
            command.arg("600");
            if grouped {
                command.process_group(0);
            }
            let mut child = command.spawn().unwrap();
            let descriptor = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).unwrap();
            let ended = end(&mut child, &descriptor, grace).unwrap();
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(ended.is_some(), grouped);
        }
    }
}
