//! Room for files that a run fills.

use host::Host;
use terms::{Bytes, Cmd, Nanos};

use crate::exit::Failure;

/// What is free where a path is, for whoever asks.
///
/// # Errors
/// Where the machine does not tell.
pub(crate) fn free(host: &dyn Host, path: &str) -> Result<Bytes, Failure> {
    let cmd = Cmd::new(["df", "--output=avail", "--block-size=1", "--", path]).limit(Nanos::seconds(20));
    let outcome = host.run_ok(&cmd)?;
    let free = outcome.text().lines().last().and_then(|line| line.trim().parse().ok()).map(Bytes);
    free.ok_or_else(|| Failure::told(format!("error: `df` does not tell how much is free at `{path}`")))
}

/// A tenth more than what is written: metadata, and other people's work.
pub(crate) const fn with_margin(span: Bytes) -> Bytes {
    Bytes(span.0.saturating_add(span.0 / 10))
}
