//! What readers of the machine's tables share.

use host::{Host, HostError};

use crate::device::present;
use crate::examination::Owner;

/// Paths, each with whose it is.
pub(super) type Owned = Vec<(String, Owner)>;

/// Names in a directory; none where there is no directory.
pub(super) fn names(host: &dyn Host, directory: &str) -> Result<Vec<String>, HostError> {
    match present(host.list(directory)) {
        Ok(names) => Ok(names.unwrap_or_default()),
        // Files among directories, as in configfs.
        Err(HostError::File { source, .. }) if source.kind() == std::io::ErrorKind::NotADirectory => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
