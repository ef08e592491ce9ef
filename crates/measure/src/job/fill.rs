//! Filling: no read may find a block that was never written.

use claim::Writable;
use host::{Host, HostError};
use terms::plan::WorkPlace;
use terms::workload::Engine;
use terms::{Bytes, Cmd, Nanos};

use super::{Filled, Job, base};
use crate::error::MeasureError;
use crate::fio;
use crate::on::On;
use crate::workplace::run;

/// The job that writes every byte of the span so many times.
#[must_use]
pub fn fill_job(place: &WorkPlace, span: Bytes, passes: u32, seed: u64) -> Job {
    let mut job = base("fill", place, Engine::Libaio, seed);
    job.set("rw", "write", "every block in order, so that no later read finds one that was never written")
        .set("bs", Bytes::mib(1).0, "large blocks fill fastest")
        .set("iodepth", 8, "enough to keep a drive busy")
        .set("size", span.0, "the whole span")
        .set("refill_buffers", 1, "fresh random data: nothing that compresses or deduplicates")
        .set("end_fsync", 1, "on the drives before anything is measured");
    if passes > 1 {
        job.set("loops", passes, "written more than once, so that a drive's spare blocks are used too");
    }
    job
}

impl Filled {
    /// Where it is.
    pub(crate) const fn place(&self) -> &WorkPlace {
        self.on.place()
    }

    /// Refuses to write to something else than what was filled: somebody may have mounted another file system there, or
    /// unmounted this one.
    ///
    /// # Errors
    /// [`MeasureError::Replaced`]; where the machine cannot be asked.
    pub(crate) fn check(&self, host: &dyn Host) -> Result<(), MeasureError> {
        match &self.is {
            Some(is) if identity(host, self.place()).ok().as_ref() != Some(is) => {
                Err(MeasureError::Replaced { target: self.place().file() })
            }
            _ => Ok(()),
        }
    }
}

/// Device and inode of what a load opens, or the number of the device itself (stat(1)).
fn identity(host: &dyn Host, place: &WorkPlace) -> Result<String, HostError> {
    let stat = Cmd::new(["stat", "--dereference", "--format=%d %i %t %T", "--", &place.file()]);
    Ok(host.run_ok(&stat)?.text())
}

/// Time that a span of any size gets at least.
const PATIENCE: Nanos = Nanos::seconds(1800);
/// Slowest drive that is waited for, in bytes per second: an SD card of class 4 writes 4 MB/s.
const SLOWEST: u64 = 4_000_000;

/// Is a directory still the one that was built? `built` is what [`host::file_id`] said then.
fn is_built(host: &dyn Host, place: &WorkPlace, built: Option<&str>) -> Result<(), MeasureError> {
    match (place, built) {
        (WorkPlace::Directory(path), Some(built)) if host::file_id(host, path)? != built => {
            Err(MeasureError::Replaced { target: path.clone() })
        }
        _ => Ok(()),
    }
}

/// Writes every byte of the span `passes` times, at least once, and vouches for it. A directory has to be the one that was
/// `built`, where that is known: below a mount that is gone lies somebody else's.
///
/// # Errors
/// [`MeasureError::Fill`] with what fio said; [`MeasureError::Replaced`].
pub fn fill(
    host: &dyn Host,
    (on, built): (Writable, Option<&str>),
    span: Bytes,
    passes: u32,
    seed: u64,
) -> Result<Filled, MeasureError> {
    let place = on.place();
    is_built(host, place, built)?;
    let passes = passes.max(1);
    let total = span.0.saturating_mul(u64::from(passes));
    let limit = Nanos::seconds(total / SLOWEST).max(PATIENCE);
    let job = fill_job(place, span, passes, seed);
    let outcome = run(host, &job, limit, On::Writable(&on))?;
    let failed = |why: String| MeasureError::Fill { span, target: place.file(), why };
    if !outcome.ok() {
        return Err(failed(host::CommandFailure::new(&host.name(), &Cmd::new(job.line()), outcome).to_string()));
    }
    let output = fio::parse(&outcome.stdout).map_err(failed)?;
    let written = output.reading.write.as_ref().map_or(0, |flow| flow.bytes.0);
    if let Some(error) = output.error {
        return Err(failed(error));
    }
    if written < total {
        return Err(failed(format!("only {written} of {total} bytes were written")));
    }
    is_built(host, place, built)?;
    let is = if host.is_throwaway() { None } else { Some(identity(host, place)?) };
    let said = String::from_utf8_lossy(&outcome.stdout).into_owned();
    Ok(Filled {
        on,
        span,
        is,
        took: outcome.took,
        argv: job.argv(),
        job: job.file(),
        output: said,
        version: output.version,
    })
}
