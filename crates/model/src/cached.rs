//! What caches of the kernel make of operations.

/// Of what is asked of a cache, what goes on to the drives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shares {
    /// Of accesses, those to pages that no other job had brought in.
    pub(crate) missed: f64,
    /// Of what is written, what drives take within the time; the rest stays in memory, or is written again before it leaves.
    pub(crate) written: f64,
    /// Seconds that each operation waits for what is written where a pass over the span ends.
    pub(crate) ends: f64,
    /// Transaction groups of ZFS for each write.
    pub(crate) groups: f64,
}

impl Shares {
    pub(crate) const ALL: Self = Self { missed: 1.0, written: 1.0, ends: 0.0, groups: 0.0 };
}

/// What the page cache makes of operations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cached {
    /// Share of accesses that find their pages.
    pub(crate) hits: f64,
    /// Bytes that drives are asked for at once by reads, and by writes.
    pub(crate) requests: [f64; 2],
    /// Bytes read for each byte that is asked for: more than one, for read-ahead goes on beyond the end of a pass.
    pub(crate) beyond: f64,
    /// Has what is written to be safe before an operation has ended?
    pub(crate) synced: bool,
    /// Is it the cache of a device, without a file system?
    pub(crate) raw: bool,
    /// Do workers of a layer take what files write, so that who asks for it does not wait for the drives?
    pub(crate) handed: bool,
}
