//! Another machine, over the system's ssh with the person's own keys and configuration.
//!
//! One connection does it all: a few lines of shell look for the agent in the cache of the other side, take it from
//! the stream if it is not there, and become it. Nothing has to be installed there.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ChildStdout;
use std::time::{Duration, Instant};

use terms::Cmd;

use crate::process::{INTERRUPT, Process, await_end};
use crate::{Host, HostError, Remote, interrupt};

/// How long the other side may take to answer: a person may have to type a passphrase first.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long the agent may take to greet once it was started.
const GREETING: Duration = Duration::from_secs(30);
/// Longest first line that the other side may say; a login script that talks is distinguished from it.
const LINE: usize = 4096;

/// What runs on the other side before the agent does. `@BUILD@`, `@SIZE@` and `@RUN@` are put in; there is no single
/// quote in it, because it stands in single quotes for whatever shell the person logs in with. `head` is content with less than it
/// was to read: an agent that is not whole, of a connection that broke off or a disk that was full, is none.
const SCRIPT: &str = r#"
set -eu
umask 077
directory=${XDG_CACHE_HOME:-$HOME/.cache}/bedplate
agent=$directory/agent-@BUILD@
is_whole() { [ "$(wc -c < "$1")" -eq @SIZE@ ]; }
if [ -x "$agent" ] && is_whole "$agent"; then
    echo "bedplate: have $(uname -m)"
else
    mkdir -p "$directory"
    rm -f "$directory"/agent-*
    echo "bedplate: want $(uname -m)"
    if head -c @SIZE@ > "$agent.$$" && is_whole "$agent.$$"; then
        chmod 700 "$agent.$$"
        mv "$agent.$$" "$agent"
    else
        rm -f "$agent.$$"
        echo "bedplate: the agent did not arrive whole" >&2
        exit 1
    fi
fi
@RUN@
"#;
const AS_ROOT: &str = r#"if [ "$(id -u)" = 0 ]; then exec "$agent" agent; fi; exec sudo -n "$agent" agent"#;
const AS_THE_PERSON: &str = r#"exec "$agent" agent"#;

/// Another machine with our agent on it.
pub struct Ssh {
    name: String,
    remote: Remote,
    /// Ends with this value, and with it the agent.
    _process: Process,
}

/// As whom the agent works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// As root: directly, or by `sudo` where that asks for no password.
    Root,
    /// As whoever logs in.
    Person,
}

impl Ssh {
    /// Connects to `ssh://[user@]host[:port]`. `program` is the command to connect with, usually `ssh` alone; `agent`
    /// is this program's own file, `build` what it calls itself.
    ///
    /// # Errors
    /// [`HostError::Start`] where there is no ssh, [`HostError::Unreachable`] where nobody answers or the agent cannot run
    /// there.
    pub fn connect(
        program: &[String],
        address: &str,
        build: &str,
        agent: &Path,
        rights: Rights,
    ) -> Result<Self, HostError> {
        let mut file = File::open(agent).map_err(|source| own_file(agent, source))?;
        let size = file.metadata().map_err(|source| own_file(agent, source))?.len();
        let cmd = Cmd::new(argv(program, address, &script(build, size, rights)));
        let start = |source| HostError::Start { host: "this machine".to_owned(), line: "ssh".to_owned(), source };
        let (process, mut input, mut output) = Process::start_piped(&cmd).map_err(start)?;
        let lost =
            |what: &str, source| HostError::Unreachable { host: address.to_owned(), what: what.to_owned(), source };
        let mut patient = Patient { stream: &mut output, until: Instant::now() + PATIENCE };
        let answer = first_line(&mut patient);
        interrupt::check()?;
        let answer = answer.map_err(|error| lost("while it was greeted", Some(error)))?;
        match answer.as_deref().map(understand) {
            Some(Some(Answer { machine, .. })) if machine != std::env::consts::ARCH => {
                return Err(lost(
                    &format!("its processor is {machine}, this program is for {}", std::env::consts::ARCH),
                    None,
                ));
            }
            Some(Some(Answer { wants: true, .. })) => {
                let sent = io::copy(&mut file, &mut input).and_then(|_| input.flush());
                sent.map_err(|error| lost("while the agent was sent", Some(error)))?;
            }
            Some(Some(Answer { wants: false, .. })) => {}
            _ => return Err(lost("nobody answered; what ssh said stands above", None)),
        }
        let remote = Remote::connect(address, build, output, input, GREETING)?;
        Ok(Self { name: address.to_owned(), remote, _process: process })
    }
}

/// A stream that is waited for until then, or until somebody interrupts.
struct Patient<'a> {
    stream: &'a mut ChildStdout,
    until: Instant,
}

impl Read for Patient<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while !await_end(&*self.stream, INTERRUPT) {
            if interrupt::raised() || Instant::now() > self.until {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        self.stream.read(into)
    }
}

fn own_file(path: &Path, source: io::Error) -> HostError {
    HostError::File { host: "this machine".to_owned(), doing: "read", path: path.display().to_string(), source }
}

fn argv(program: &[String], address: &str, script: &str) -> Vec<String> {
    // A connection that is dead is found out; nothing in the stream is taken for an escape.
    let options = ["-T", "-e", "none", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4"];
    let limit = format!("ConnectTimeout={}", PATIENCE.as_secs());
    let mut argv: Vec<String> = program.iter().cloned().chain(options.map(str::to_owned)).collect();
    argv.extend(["-o".to_owned(), limit, "--".to_owned(), address.to_owned(), format!("exec sh -c '{script}'")]);
    argv
}

fn script(build: &str, size: u64, rights: Rights) -> String {
    let run = match rights {
        Rights::Root => AS_ROOT,
        Rights::Person => AS_THE_PERSON,
    };
    SCRIPT.trim().replace("@BUILD@", build).replace("@SIZE@", &size.to_string()).replace("@RUN@", run)
}

/// What the script said.
#[derive(Debug, PartialEq, Eq)]
struct Answer<'a> {
    wants: bool,
    machine: &'a str,
}

fn understand(line: &str) -> Option<Answer<'_>> {
    let (word, machine) = line.strip_prefix("bedplate: ")?.split_once(' ')?;
    match word {
        "want" => Some(Answer { wants: true, machine }),
        "have" => Some(Answer { wants: false, machine }),
        _ => None,
    }
}

/// The script's line: others before it are a login script's. Byte by byte, because what follows it is not ours to read.
fn first_line(stream: &mut impl Read) -> io::Result<Option<String>> {
    let (mut line, mut byte, mut read) = (Vec::new(), [0], 0);
    while read < LINE && stream.read(&mut byte)? == 1 {
        read += 1;
        if byte[0] != b'\n' {
            line.push(byte[0]);
            continue;
        }
        let text = String::from_utf8_lossy(&line).into_owned();
        if understand(&text).is_some() {
            return Ok(Some(text));
        }
        line.clear();
    }
    Ok(None)
}

impl Host for Ssh {
    fn name(&self) -> String {
        self.name.clone()
    }
    forward_host!(own => own.remote);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_never_answers_is_not_waited_for_for_ever() {
        let (_process, _input, mut stream) = Process::start_piped(&Cmd::new(["sleep", "60"])).unwrap();
        let mut patient = Patient { stream: &mut stream, until: Instant::now() };
        assert_eq!(first_line(&mut patient).unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn the_script_survives_any_shell() {
        for rights in [Rights::Root, Rights::Person] {
            let script = script("0123abcd", 42, rights);
            assert!(!script.contains('\'') && !script.contains('@'), "{script}");
            assert!(script.contains("agent-0123abcd") && script.contains("head -c 42"), "{script}");
        }
        let argv = argv(&["ssh".to_owned()], "ssh://nas", "x");
        assert_eq!(argv.iter().position(|word| word == "--").map(|at| argv[at + 1].as_str()), Some("ssh://nas"));
    }

    /// The other side's end of a connection, with what came over it.
    fn install(home: &std::path::Path, size: usize, sent: &[u8]) -> terms::Outcome {
        let script = script("0123abcd", size as u64, Rights::Person);
        let cache = format!("XDG_CACHE_HOME={}", home.display());
        let mut cmd = Cmd::new(["env", &cache, "sh", "-c", &script]);
        cmd.stdin = sent.to_vec();
        crate::Local::new().run(&cmd).unwrap()
    }

    #[test]
    fn an_agent_that_is_not_whole_is_neither_kept_nor_started() {
        const AGENT: &[u8] = b"#!/bin/sh\necho it runs\nexit 0\n";
        let home = tempfile::tempdir().unwrap();
        let kept = home.path().join("bedplate");
        for cut in [0, 1, AGENT.len() - 8] {
            let outcome = install(home.path(), AGENT.len(), &AGENT[..cut]);
            assert!(outcome.status == 1 && outcome.error_text().contains("did not arrive whole"), "{cut}: {outcome:?}");
            assert_eq!(std::fs::read_dir(&kept).unwrap().count(), 0, "{cut}: a part of it is kept");
        }
        // One that an earlier version kept all the same is sent again.
        std::fs::copy("/bin/true", kept.join("agent-0123abcd")).unwrap();
        for said in ["want", "have"] {
            let outcome = install(home.path(), AGENT.len(), AGENT);
            assert!(outcome.text().starts_with(&format!("bedplate: {said} ")), "{outcome:?}");
            assert!(outcome.ok() && outcome.text().ends_with("it runs"), "{outcome:?}");
        }
    }

    #[test]
    fn a_login_script_that_talks_is_not_taken_for_the_answer() {
        let mut said: &[u8] = b"Welcome!\nbedplate: is not ours\nbedplate: want x86_64\nrest";
        let line = first_line(&mut said).unwrap().unwrap();
        assert_eq!(understand(&line), Some(Answer { wants: true, machine: "x86_64" }));
        assert_eq!(said, b"rest");
        assert_eq!(first_line(&mut &b"no line at all"[..]).unwrap(), None);
        assert_eq!(first_line(&mut &vec![b'x'; 2 * LINE][..]).unwrap(), None);
    }
}
