//! dm-writecache: writes kept on a faster device until they are written below.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// The device below, whose writes wait on the one that the node names besides. Defaults are those of Linux 6.1
/// (Documentation/admin-guide/device-mapper/writecache.rst), with the block that it recommends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writecache {
    /// What is cached at once, and the least that may be written.
    #[serde(rename = "block_bytes")]
    pub block: Bytes,
    /// Share of the cache in use, in per cent, from which it is written below.
    pub high_watermark: u32,
    /// Share of the cache in use, in per cent, at which writing below ends.
    pub low_watermark: u32,
    /// Most blocks on their way below at once; `None` is no limit.
    pub writeback_jobs: Option<u32>,
}

impl Default for Writecache {
    fn default() -> Self {
        Self { block: Bytes::kib(4), high_watermark: 50, low_watermark: 45, writeback_jobs: None }
    }
}
