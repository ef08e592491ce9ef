//! Where fio works: a directory of its own on the machine that is measured, made for one job and gone after it.
//!
//! Logs, job files and whatever else fio writes besides the file that is measured lie in it. Nobody can guess its name,
//! nobody else may look into it, and it was empty: no log is added to another's, and no link leads elsewhere.

use host::{Host, HostError};
use terms::{Cmd, Nanos, Outcome};

use crate::error::MeasureError;
use crate::job::{Job, TARGET};
use crate::on::On;

/// Where it is made: there everywhere, and nobody but its owner can take away what lies in it.
const ABOVE: &str = "/tmp";
/// Its name, where `mktemp` puts letters of chance in the place of the last ones.
const NAME: &str = "bedplate-fio.XXXXXXXXXXXX";

/// Runs a program in directory `$1`. Where nobody is there to remove the directory later, it does so itself: a program
/// that is asked to end may be the last of its run, and whoever started it may have been killed meanwhile.
const INSIDE: &str = "dir=$1; shift; cd -- \"$dir\" || exit; trap 'rm -rf -- \"$dir\"' TERM; \"$@\"; end=$?; \
                      kill -0 \"$PPID\" 2>/dev/null || rm -rf -- \"$dir\"; exit $end";

/// A directory for fio; its content is gone with it.
pub(crate) struct Workplace<'a> {
    host: &'a dyn Host,
    path: String,
}

impl<'a> Workplace<'a> {
    /// Makes one.
    ///
    /// # Errors
    /// Where none can be made.
    pub(crate) fn new(host: &'a dyn Host) -> Result<Self, HostError> {
        Self::below(host, ABOVE)
    }

    /// Makes one in a directory, with mode 0700 (mktemp(1)).
    ///
    /// # Errors
    /// Where none can be made.
    pub(crate) fn below(host: &'a dyn Host, above: &str) -> Result<Self, HostError> {
        let cmd = Cmd::new(["mktemp", "--directory", &format!("--tmpdir={above}"), NAME]);
        let made = host.run(&cmd)?;
        let path = made.text();
        if made.ok() && path.starts_with(above) {
            return Ok(Self { host, path });
        }
        Err(host::CommandFailure::new(&host.name(), &cmd, made).into())
    }

    /// The path of one of its files.
    pub(crate) fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.path)
    }

    /// A program that works in it.
    pub(crate) fn command<S: AsRef<str>>(&self, words: &[S]) -> Cmd {
        let words = words.iter().map(AsRef::as_ref);
        Cmd::new(["sh", "-c", INSIDE, "sh", &self.path].into_iter().chain(words))
    }

    /// fio with a job, which it reads from its standard input.
    ///
    /// # Errors
    /// As [`Workplace::admit`].
    pub(crate) fn fio(&self, job: &Job, on: On<'_>) -> Result<Cmd, MeasureError> {
        self.admit(job, on)?;
        Ok(self.command(&job.argv()).stdin(job.file()))
    }

    /// Lets a job in that may run on this, and makes the link by which its file names what it cannot spell.
    ///
    /// # Errors
    /// [`MeasureError::Unallowed`] for a job that writes anywhere else, [`MeasureError::Claim`] where this may not be written to any
    /// more; where the link cannot be made.
    pub(crate) fn admit(&self, job: &Job, on: On<'_>) -> Result<(), MeasureError> {
        if !job.is_allowed(on) {
            return Err(MeasureError::Unallowed { target: on.place().file() });
        }
        if let On::Writable(on) = on {
            on.confirm(self.host)?;
        }
        if let Some(target) = job.link() {
            self.host.run_ok(&Cmd::new(["ln", "-s", "--", target, &self.path(TARGET)]))?;
        }
        Ok(())
    }

    /// A file's content; nothing where a job that failed has not written it.
    pub(crate) fn take(&self, file: &str) -> Vec<u8> {
        self.host.read(&self.path(file)).unwrap_or_default()
    }
}

impl Drop for Workplace<'_> {
    fn drop(&mut self) {
        // What cannot be removed is in nobody's way.
        let _ = self.host.run(&Cmd::new(["rm", "-rf", "--", &self.path]));
    }
}

/// Runs a job of which nothing but fio's own words is wanted.
///
/// # Errors
/// [`MeasureError::Unallowed`], [`MeasureError::Claim`]; where the machine is lost. A job that failed is no error.
pub fn run(host: &dyn Host, job: &Job, limit: Nanos, on: On<'_>) -> Result<Outcome, MeasureError> {
    let workplace = Workplace::new(host)?;
    Ok(host.run(&workplace.fio(job, on)?.limit(limit))?)
}

#[cfg(test)]
mod tests;
