//! The least that a workload can do with.

use crate::workload::{Method, Reach};
use crate::{Bytes, Workload};

impl Workload {
    /// The smallest span that it can work in: a block for all jobs, or one for each where each has bytes of its own, behind where the last
    /// part of it begins.
    #[must_use]
    pub fn least_span(&self) -> Bytes {
        let needed = |kind: Self| {
            let is_shared = kind.shares_bytes() && !matches!(kind.reach, Reach::Samples(_));
            let least = kind.block.0.saturating_mul(if is_shared { 1 } else { kind.jobs as u64 });
            let begins = kind.begins_at().0;
            // A part that begins behind others says how far it reaches.
            let reaches = if begins > 0 { kind.reach_of(Bytes(u64::MAX)).0 } else { 0 };
            if least == 0 { u64::MAX } else { begins.saturating_add(reaches.max(least)) }
        };
        Bytes(self.kinds().into_iter().map(needed).max().unwrap_or(u64::MAX))
    }

    /// Would a device of this block refuse some of its requests (open(2), `O_DIRECT`)? Through the page cache they may have any size.
    #[must_use]
    pub fn breaks_blocks_of(&self, unit: Bytes) -> bool {
        let is_cached = |kind: &Self| kind.keys.iter().any(|own| own.key == "direct" && own.value == "0");
        let is_direct = |kind: &Self| kind.method == Method::Fio && !is_cached(kind);
        let breaks = |kind: &Self| is_direct(kind) && unit.0 != 0 && !kind.block.0.is_multiple_of(unit.0);
        self.kinds().iter().any(breaks)
    }

    /// The lowest rate that can be offered: fio takes whole operations in a second, for each job and each direction.
    #[must_use]
    pub fn least_rate(&self) -> u64 {
        let directions = u64::from(self.pattern.reads()) + u64::from(self.pattern.writes());
        self.jobs as u64 * directions
    }
}
