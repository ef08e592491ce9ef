//! The write-intent bitmap of an array: what waits until a region is marked.

use terms::machine::DriveKind;

use super::flush::TWICE;
use crate::compile::Compiler;
use crate::flow::Flow;
use crate::network::{Part, Resource, Serial, Slot};

/// Bytes for which a bit stands, where nobody says: of md (mdadm(8), `--bitmap-chunk`), and of LVM (`raid_region_size` in lvm.conf).
pub(super) const REGION_OF_MD: f64 = 67_108_864.0;
pub(super) const REGION_OF_LVM: f64 = 2_097_152.0;
/// Seconds after the last write in which a region may still be marked: the daemon sleeps five, and a bit is cleared when it comes
/// by for the second time (`DEFAULT_DAEMON_SLEEP`, `md_bitmap_daemon_work` in drivers/md/md-bitmap.c).
const MARKED: f64 = 10.0;
/// Rounds in which share and rate agree.
const ROUNDS: u32 = 30;

impl Compiler<'_> {
    /// A write at a place that is not marked waits until the mark is on every member: it goes past their caches, behind a flush
    /// (`md_bitmap_unplug`). All that wait at that moment are in the next. Nothing is marked when a workload begins.
    pub(super) fn mark_regions(&mut self, at: usize, region: f64, flow: &Flow) {
        let Some(drive) = self.first_drive().filter(|_| flow.random) else { return };
        let class = self.class_of(drive);
        let values = self.site.book.values();
        let regions = (self.conditions.span.as_f64() / region).max(1.0);
        let mark = TWICE * values[class.commit as usize];
        // What a head has of writes is never alone in its cache.
        let alone = values[if class.kind == DriveKind::Hdd { class.write_op } else { class.write_delay } as usize];
        let under_way = (self.network.given * self.writes).max(1.0);
        let rate = |unmarked: f64| under_way / (alone + mark * unmarked);
        // From nothing that is marked to where as much is cleared as is marked.
        let unmarked = (0..ROUNDS).fold(1.0, |share, _| (-rate(share) * MARKED / regions).exp());
        let together = unmarked.min(1.0 / under_way);
        let station = self.network.station(Resource::Serial(Serial::Bitmap, self.twins.of(at)), 1.0, 1.0, Slot::Own);
        let writes = flow.rate * self.times / (flow.wide * flow.batch);
        let part =
            Part::of(station, class.commit, TWICE * writes * together, "marks of regions that wait for every member");
        self.network.add(values, Part { share: unmarked / together, ..part });
    }
}
