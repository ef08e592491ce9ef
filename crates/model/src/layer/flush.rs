//! Flushes: what `fsync` waits for.

use terms::{Layer, Stack, Workload};

use crate::compile::{Compiler, count};
use crate::network::{DELAY, Part, Resource, Serial, Slot};
use crate::parameter::Parameter;

/// Largest block of ZFS' intent log, in bytes (`zil_maxblocksize`, OpenZFS module parameters).
const LOG_BLOCK: f64 = 131_072.0;
/// What the log writes beside the data of a write, in bytes (`lr_write_t` in include/sys/zil.h).
const RECORD: f64 = 192.0;

impl Compiler<'_> {
    /// Adds what flushing after every so many writes takes.
    ///
    /// Every drive that holds data flushes, side by side; meanwhile it does little else. A file system with a journal
    /// commits for all jobs that wait at once, one commit after the other.
    pub(crate) fn demand_of_flushes(&mut self, stack: &Stack, work: &Workload) {
        let Some(every) = work.fsync_every.filter(|_| work.read_share() < 1.0) else { return };
        let share = (1.0 - work.read_share()) / f64::from(every.max(1));
        let logged = self.logged(stack, work, every);
        let values = self.site.book.values();
        let width = count(self.used.len().max(1));
        let mut slowest = None;
        for at in 0..self.network.stations.len() {
            let Resource::Drive(class, _) = self.network.stations[at].resource else { continue };
            let flush = self.site.classes[class as usize].flush;
            slowest = slowest.filter(|&other| values[other as usize] >= values[flush as usize]).or(Some(flush));
            let station = u16::try_from(at).unwrap_or(DELAY);
            // Flushes of jobs that come together are answered together.
            let part = Part::of(station, flush, share * logged, "flush of the drive");
            self.network.add(values, Part { share: logged.max(1.0) / logged / width, ..part });
        }
        let journalled = match stack.nodes.last().map(|node| &node.layer) {
            Some(Layer::Ext4(ext4)) => ext4.journal,
            Some(Layer::Xfs(_) | Layer::Btrfs(_)) => true,
            // A block of ZFS' log needs no second one that says it is whole: the next has its checksum.
            _ => false,
        };
        if journalled && let Some(flush) = slowest {
            let station = self.network.station(Resource::Serial(Serial::Commit, 0), 1.0, 1.0, Slot::Own);
            let part = Part::of(station, flush, share / self.jobs, "commit for all jobs that wait");
            self.network.add(values, Part { by: [flush, Parameter::One.place()], share: self.jobs, ..part });
        }
    }

    /// Flushes for each `fsync`: jobs that come together share one. A block of ZFS' log has one of its own, and takes only
    /// so much of what was written.
    fn logged(&self, stack: &Stack, work: &Workload, every: u32) -> f64 {
        let together = 1.0 / self.jobs;
        if !matches!(stack.top().map(|top| &top.layer), Some(Layer::Zfs(_))) {
            return together;
        }
        let bytes = f64::from(every.max(1)) * (work.block.as_f64() + RECORD);
        together.max(bytes / LOG_BLOCK)
    }
}
