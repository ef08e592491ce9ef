//! Sizes between bounds.

use terms::Bytes;

/// A size that something certainly has, and one that it certainly does not exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeBounds {
    /// At least this.
    pub least: Bytes,
    /// At most this.
    pub most: Bytes,
}

impl SizeBounds {
    /// Both the same, as for a drive or a partition.
    #[must_use]
    pub const fn exactly(size: Bytes) -> Self {
        Self { least: size, most: size }
    }
}

/// One bound of all members.
pub(crate) struct Below {
    pub(crate) count: usize,
    pub(crate) smallest: u64,
    pub(crate) largest: u64,
    pub(crate) sum: u64,
}

impl Below {
    pub(crate) fn new<T>(members: &[T], of: impl Fn(&T) -> u64) -> Self {
        let all = || members.iter().map(&of);
        Self {
            count: members.len(),
            smallest: all().min().unwrap_or(0),
            largest: all().max().unwrap_or(0),
            sum: all().fold(0, u64::saturating_add),
        }
    }
}
