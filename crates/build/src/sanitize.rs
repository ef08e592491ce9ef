//! How far an NVMe controller is with forgetting what is on it.

use host::Host;
use terms::Cmd;

use crate::error::BuildError;

/// Bits 2 to 0 of the status in the sanitize log (NVM Express Base Specification 2.0, figure 295).
const DONE: u16 = 1;
const UNDER_WAY: u16 = 2;
const DONE_NOT_DISCARDED: u16 = 4;

/// Is it done? Read as the bytes that the drive gives (log page 81h): the words that `nvme` has for them differ from
/// version to version.
///
/// # Errors
/// Where the log cannot be read, or says anything but that it goes on or that it worked.
pub(crate) fn is_done(host: &dyn Host, node: String, step: &str) -> Result<bool, BuildError> {
    let log = Cmd::new(["nvme", "get-log", &node, "--log-id=0x81", "--log-len=20", "--raw-binary"]).step(step);
    match state(&host.run_ok(&log)?.stdout) {
        Some(UNDER_WAY) => Ok(false),
        Some(DONE | DONE_NOT_DISCARDED) => Ok(true),
        state => Err(BuildError::NotSanitized { step: step.to_owned(), node, state }),
    }
}

/// The status, which follows the progress; `None` where the log is too short to say anything.
fn state(log: &[u8]) -> Option<u16> {
    let status = log.get(2..4)?.try_into().ok()?;
    Some(u16::from_le_bytes(status) & 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_says_how_far_it_is() {
        // Half way: progress 0x8000 of 65536, then the status; higher bits count passes and say whether data came back.
        assert_eq!(state(&[0x00, 0x80, 0x02, 0x00]), Some(UNDER_WAY));
        assert_eq!(state(&[0xff, 0xff, 0x01, 0x01]), Some(DONE));
        assert_eq!(state(&[0xff, 0xff, 0x03, 0x00]), Some(3));
        assert_eq!(state(&[0xff, 0xff]), None);
    }
}
