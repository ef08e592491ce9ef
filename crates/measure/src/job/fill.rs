//! Filling: no read may find a block that was never written.

use host::Host;
use terms::plan::Place;
use terms::workload::Engine;
use terms::{Bytes, Cmd, Nanos};

use super::{Filled, Job, base};
use crate::error::MeasureError;
use crate::fio;

/// The job that writes every byte of the span so many times.
#[must_use]
pub fn fill_job(place: &Place, span: Bytes, passes: u32, seed: u64) -> Job {
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

/// Time that a span of any size gets at least.
const PATIENCE: Nanos = Nanos::seconds(1800);
/// Slowest drive that is waited for, in bytes per second: an SD card of class 4 writes 4 MB/s.
const SLOWEST: u64 = 4_000_000;

/// Writes every byte of the span `passes` times, at least once, and vouches for it.
///
/// # Errors
/// [`MeasureError::Fill`] with what fio said.
pub fn fill(host: &dyn Host, place: Place, span: Bytes, passes: u32, seed: u64) -> Result<Filled, MeasureError> {
    let passes = passes.max(1);
    let total = span.0.saturating_mul(u64::from(passes));
    let limit = Nanos::seconds(total / SLOWEST).max(PATIENCE);
    let cmd = Cmd::new(fill_job(&place, span, passes, seed).argv()).limit(limit);
    let outcome = host.run(&cmd)?;
    let failed = |why: String| MeasureError::Fill { span, target: place.file(), why };
    if !outcome.ok() {
        return Err(failed(host::CommandFailure::new(&host.name(), &cmd, outcome).to_string()));
    }
    let output = fio::parse(&outcome.stdout).map_err(failed)?;
    let written = output.reading.write.as_ref().map_or(0, |flow| flow.bytes.0);
    if let Some(error) = output.error {
        return Err(failed(error));
    }
    if written < total {
        return Err(failed(format!("only {written} of {total} bytes were written")));
    }
    let said = String::from_utf8_lossy(&outcome.stdout).into_owned();
    Ok(Filled { place, span, took: outcome.took, argv: cmd.argv, output: said, version: output.version })
}
