//! What can go wrong at the door.

use std::io;

use terms::command::{TOLD, edges};
use terms::{Cmd, Outcome};

/// Why a machine did not do as it was told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// A program ran and failed.
    #[error(transparent)]
    Command(#[from] Box<CommandFailure>),
    /// A program could not be started.
    #[error("could not start `{line}` on {host}")]
    Start {
        /// The machine.
        host: String,
        /// The command, quoted for a shell.
        line: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file could not be read, written, listed or followed.
    #[error("could not {doing} `{path}` on {host}")]
    File {
        /// The machine.
        host: String,
        /// `read`, `write`, `list`, `follow`, `open`, `hold`, `search`, `tell the device number of`.
        doing: &'static str,
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The agent could not be spoken with.
    #[error("lost the agent of {host}: {what}")]
    Lost {
        /// The machine.
        host: String,
        /// What was being done.
        what: String,
        /// Why, if the system told.
        #[source]
        source: Option<io::Error>,
    },
    /// Nobody on the other machine could be spoken with in the first place.
    #[error("could not reach {host}: {what}")]
    Unreachable {
        /// The machine.
        host: String,
        /// What came of it.
        what: String,
        /// Why, if the system told.
        #[source]
        source: Option<io::Error>,
    },
    /// The agent is not the same build as this program.
    #[error("the agent of {host} is build {theirs}, this program is build {ours}: refusing to mix them")]
    BuildMismatch {
        /// The machine.
        host: String,
        /// This program's build id.
        ours: String,
        /// The agent's build id.
        theirs: String,
    },
    /// A replayed machine was asked something that was not recorded.
    #[error("the recording of {host} does not say: {asked}")]
    NotRecorded {
        /// The machine.
        host: String,
        /// The question.
        asked: String,
    },
    /// The machine does not know how.
    #[error("{host} cannot {what}")]
    Cannot {
        /// The machine.
        host: String,
        /// What.
        what: &'static str,
    },
    /// A captured machine was asked something that is not in its file.
    #[error("{asked}: was not captured in {host}")]
    NotCaptured {
        /// The file.
        host: String,
        /// The question.
        asked: String,
    },
    /// The person asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl HostError {
    /// Is it about a file that is not there?
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::File { source, .. } | Self::Start { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// A program that ran and failed, with all that it said.
#[derive(Debug)]
pub struct CommandFailure {
    /// The machine.
    pub host: String,
    /// The command.
    pub cmd: Cmd,
    /// What came of it.
    pub outcome: Outcome,
}

impl CommandFailure {
    /// Keeps the command without its standard input, which may be a key.
    #[must_use]
    pub fn new(host: &str, cmd: &Cmd, outcome: Outcome) -> Box<Self> {
        let cmd = Cmd { stdin: Vec::new(), ..cmd.clone() };
        Box::new(Self { host: host.to_owned(), cmd, outcome })
    }
}

impl std::error::Error for CommandFailure {}

impl std::fmt::Display for CommandFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` ", self.cmd.line())?;
        if let Some(most) = self.outcome.flooded {
            write!(f, "was ended on {}: it printed more than {most}", self.host)?;
        } else if self.outcome.timed_out {
            write!(f, "was ended after {} on {}", self.outcome.took, self.host)?;
        } else {
            write!(f, "ended with status {} on {} after {}", self.outcome.status, self.host, self.outcome.took)?;
        }
        if let Some(step) = &self.cmd.step {
            write!(f, " (step {step})")?;
        }
        for (name, text) in [("stdout", self.outcome.text()), ("stderr", self.outcome.error_text())] {
            if !text.is_empty() {
                write!(f, "\n  {name}: {}", edges(&text, TOLD).replace('\n', "\n          "))?;
            }
        }
        Ok(())
    }
}
