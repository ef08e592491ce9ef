//! Commands that fail for a moment, and are tried again.

use std::time::Duration;

use host::{Host, HostError};

use crate::error::BuildError;

/// How often one is tried, and how long is waited between.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(250);

/// Tries until it succeeds, fails for another reason than `passes` knows, or has failed too often. `passes` is given what the
/// command printed on standard error.
///
/// # Errors
/// The last failure.
pub(crate) fn again<T>(
    host: &dyn Host,
    passes: fn(&str) -> bool,
    mut attempt: impl FnMut() -> Result<T, BuildError>,
) -> Result<T, BuildError> {
    let mut tries = 1;
    loop {
        match attempt() {
            Err(BuildError::Host(HostError::Command(failure)))
                if tries < TRIES && passes(&failure.outcome.error_text()) =>
            {
                tries += 1;
                host.pause(PAUSE)?;
            }
            result => return result,
        }
    }
}

/// Does somebody use what is to go?
pub(crate) fn is_busy(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["busy", "in use", "still active", "cannot get exclusive", "used by another"].iter().any(|word| text.contains(word))
}

/// Did the kernel refuse a table of the device mapper for want of memory? It does so now and then to dm-integrity (Linux 6.1)
/// where two formats begin side by side. Why is not known: of 140 such pairs in a row none failed.
pub(crate) fn is_refused_table(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("device-mapper: reload ioctl") && line.ends_with("Cannot allocate memory"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_told_by_what_tools_print() {
        let refused = "device-mapper: reload ioctl on x (254:1) failed: Cannot allocate memory\nCannot format.";
        assert!(is_refused_table(refused) && !is_busy(refused));
        for other in ["Cannot allocate memory", "device-mapper: reload ioctl on x (254:1) failed: Invalid argument"] {
            assert!(!is_refused_table(other), "{other}");
        }
        assert!(is_busy("umount: /mnt/x: target is busy."));
    }
}
