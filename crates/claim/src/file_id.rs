//! Files by what the kernel knows them by.

use host::Devno;
use serde::{Deserialize, Serialize};

/// Which file it is, whatever path leads to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileId {
    /// The device of its file system.
    pub device: Devno,
    /// Its number there.
    pub inode: u64,
}

impl std::fmt::Display for FileId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "inode {} of device {}", self.inode, self.device)
    }
}
