//! Blocks of ZFS that say where records are: who writes a record writes the block that points to it anew.

use terms::Stack;
use terms::layer::Zfs;

use super::zfs::placement;
use crate::assignment::USUAL_SIZE;
use crate::compiler::{Compiler, count};
use crate::flow::{Flow, Waits};

/// Pointers in a block: 128 KiB of 128 bytes (`DN_MAX_INDBLKSHIFT`, `SPA_BLKPTRSHIFT` in include/sys/dnode.h and spa.h).
const POINTERS: f64 = 1024.0;
/// Bytes that LZ4 leaves of such a block. Of 128 bytes of a pointer some 45 differ from those of the next: a place, a birth, 32 bytes of
/// checksum (`blkptr_t`); the second and third place and what is kept free are 0.
const BLOCK: f64 = POINTERS * 45.0;
/// It is written twice (`redundant_metadata=all`, zfsprops(7)).
const COPIES: f64 = 2.0;

impl Compiler<'_> {
    /// Adds what a group writes for the records of `whole`, of which it has so many: at random places nearly each has a block of its
    /// own where there are many blocks, and in order a thousand share one.
    pub(super) fn point_to(&mut self, stack: &Stack, at: usize, zfs: &Zfs, whole: &Flow, in_group: f64) {
        let blocks = (self.data(stack, at, zfs) / zfs.recordsize.as_f64() / POINTERS).max(1.0);
        let share = if whole.random { met(blocks, in_group) / in_group } else { POINTERS.recip() };
        let rate = whole.rate * share * COPIES;
        self.pool(
            stack,
            at,
            zfs,
            &Flow { bytes: BLOCK, rate, random: false, seeks: 0.0, waits: Waits::Group, ..*whole },
        );
    }

    /// Bytes that are worked on. What people have is larger than what a test works on: half of the pool, where a stack is sought.
    fn data(&self, stack: &Stack, at: usize, zfs: &Zfs) -> f64 {
        if self.conditions.warm {
            return self.conditions.span.as_f64();
        }
        let size = self.first_drive().and_then(|drive| self.class_of(drive).size);
        let devices = count(stack.nodes[at].on.len());
        size.unwrap_or(USUAL_SIZE.as_f64()) * devices * placement(zfs, zfs.recordsize.as_f64(), devices).room / 2.0
    }
}

/// How many of `blocks` some of `touches` at random meet.
fn met(blocks: f64, touches: f64) -> f64 {
    -blocks * (-touches / blocks).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_touches_meet_a_block_each_and_many_meet_all() {
        assert!((met(1e6, 10.0) - 10.0).abs() < 1e-3);
        assert!((met(16.0, 1e6) - 16.0).abs() < 1e-6);
    }
}
