//! Numbers of block devices, by which the kernel knows them whatever they are called.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A device number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Devno {
    /// Which driver.
    pub major: u32,
    /// Which of its devices.
    pub minor: u32,
}

impl Devno {
    /// Reads `259:0`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// The device's link in sysfs.
    #[must_use]
    pub fn sysfs(self) -> String {
        format!("/sys/dev/block/{self}")
    }
}

impl From<rustix::fs::Dev> for Devno {
    fn from(device: rustix::fs::Dev) -> Self {
        Self { major: rustix::fs::major(device), minor: rustix::fs::minor(device) }
    }
}

impl fmt::Display for Devno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}
