//! How the program ends: one table of codes, one place that prints failures.

use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

use build::BuildError;
use claim::ClaimError;
use feature_check::FeatureCheckError;
use host::HostError;
use lab::LabError;
use measure::MeasureError;
use record::RecordError;
use terms::spelling::{spell, spell_path};

use crate::paint::{keep_colours, tell};

/// How the program ends when nothing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// 0: done, and the answer is yes.
    Yes,
    /// 4: not possible here; what is missing was printed.
    NotHere,
    /// 1: done, and the answer is no.
    No,
}

/// Why the program could not do what it was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// 2: text ready to print, such as notes on a study.
    Told(String),
    /// 2: the same, drawn by us: its colours stay.
    Drawn(String),
    /// 2: an error with its causes, of the one thing that was being done.
    Could(Box<dyn Error + Send + Sync>),
    /// 2: an error with its causes, after which nothing else can work either: the record or the lab itself.
    Fatal(Box<dyn Error + Send + Sync>),
    /// 3: refused for safety.
    Refused(String),
    /// 4: something is missing here.
    Missing { what: String, remedy: String },
    /// 130: the person asked to stop, and everything is cleaned up.
    Interrupted(Option<String>),
    /// 0: whoever reads our output has gone away.
    BrokenPipe,
}

impl Failure {
    pub(crate) fn told(text: impl Into<String>) -> Self {
        Self::Told(text.into())
    }

    /// An error of the system while doing something to a file.
    pub(crate) fn file(doing: &str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        Self::system(format!("could not {doing} `{}`", spell_path(path)))
    }

    /// An error of the system while doing something that is said in full, such as `could not count the processors`.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Could(Box::new(SystemError { what, source }))
    }

    /// An error of standard output.
    pub(crate) fn output(source: std::io::Error) -> Self {
        match source.kind() {
            std::io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::system("could not write to standard output")(source),
        }
    }

    /// What is printed, with a newline at its end where there is anything.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::BrokenPipe => String::new(),
            Self::Told(text) | Self::Drawn(text) => format!("{}\n", text.trim_end()),
            Self::Could(error) | Self::Fatal(error) => format!("error: {}\n", chain(&**error)),
            Self::Refused(text) => format!("{text}\n"),
            Self::Missing { what, remedy } => format!("error: {what}\n\nhint: {remedy}\n"),
            Self::Interrupted(hint) => {
                let hint = hint.as_ref().map_or(String::new(), |hint| format!("\n\nhint: {hint}"));
                format!("interrupted; everything that was begun is cleaned up{hint}\n")
            }
        }
    }

    fn code(&self) -> u8 {
        match self {
            Self::BrokenPipe => 0,
            Self::Told(_) | Self::Drawn(_) | Self::Could(_) | Self::Fatal(_) => 2,
            Self::Refused(_) => 3,
            Self::Missing { .. } => 4,
            Self::Interrupted(_) => 130,
        }
    }
}

/// What was being done, and why it did not work.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
struct SystemError {
    what: String,
    #[source]
    source: std::io::Error,
}

/// Prints what went wrong and gives the exit code.
pub(crate) fn report(result: Result<Exit, Failure>) -> ExitCode {
    let failure = match result {
        Ok(Exit::Yes) => return ExitCode::SUCCESS,
        Ok(Exit::No) => return ExitCode::from(1),
        Ok(Exit::NotHere) => return ExitCode::from(4),
        Err(failure) => failure,
    };
    let text = failure.text();
    let shown = if matches!(failure, Failure::Drawn(_)) { keep_colours(&text) } else { spell(&text) };
    if !shown.is_empty() {
        tell(shown.trim_end_matches('\n'));
    }
    ExitCode::from(failure.code())
}

/// An error with its causes, each on a line of its own. What an error says in several lines stands further in, so that
/// no part of it can be taken for a line of ours.
pub(crate) fn chain(error: &dyn Error) -> String {
    let inside = |said: String| said.trim_end().replace('\n', "\n    ");
    let mut text = inside(error.to_string());
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = inside(error.to_string());
        if !text.ends_with(&said) {
            let _ = write!(text, "\n  because: {said}");
        }
        cause = error.source();
    }
    text
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Interrupted => Self::Interrupted(None),
            other => Self::Could(other.into()),
        }
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        match error {
            LabError::Missing { what, remedy } => Self::Missing { what, remedy },
            LabError::Host(error) => error.into(),
            other => Self::Fatal(other.into()),
        }
    }
}

impl From<ClaimError> for Failure {
    fn from(error: ClaimError) -> Self {
        match error {
            ClaimError::Host(error) => error.into(),
            refusal => Self::Refused(refusal.to_string()),
        }
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Claim(error) => error.into(),
            BuildError::Host(error) => error.into(),
            BuildError::Rollback { cause, .. } if matches!(*cause, BuildError::Host(HostError::Interrupted)) => {
                Self::Interrupted(None)
            }
            refusal if refusal.is_refusal() => Self::Refused(refusal.to_string()),
            other => Self::Could(other.into()),
        }
    }
}

impl From<MeasureError> for Failure {
    fn from(error: MeasureError) -> Self {
        match error {
            MeasureError::Host(error) => error.into(),
            MeasureError::Claim(error) => error.into(),
            other => Self::Could(other.into()),
        }
    }
}

impl From<FeatureCheckError> for Failure {
    fn from(error: FeatureCheckError) -> Self {
        match error {
            FeatureCheckError::NotThrowaway { .. } => Self::Refused(format!("refused: {error}")),
            FeatureCheckError::Host(error) => error.into(),
            other => Self::Could(other.into()),
        }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        Self::Fatal(error.into())
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Could(error.into())
    }
}
