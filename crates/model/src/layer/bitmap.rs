//! The write-intent bitmap of an array: what waits until a region is marked.

use terms::machine::DriveKind;

use super::flush::TWICE;
use crate::compiler::Compiler;
use crate::flow::{Flow, PAGE, Waits};
use crate::network::{DELAY, Part, Resource, Serial, Slot};

/// Bytes for which a bit stands, where nobody says: of md (mdadm(8), `--bitmap-chunk`), and of LVM (`raid_region_size` in lvm.conf).
pub(super) const REGION_OF_MD: f64 = 67_108_864.0;
pub(super) const REGION_OF_LVM: f64 = 2_097_152.0;
/// Seconds after the last write in which a region may still be marked: the daemon sleeps five, and a bit is cleared when it comes
/// by for the second time (`DEFAULT_DAEMON_SLEEP`, `md_bitmap_daemon_work` in drivers/md/md-bitmap.c).
const MARKED: f64 = 10.0;
/// Times that the parity thread looks at a row of which a part is written: to read, and to write (`handle_stripe`).
pub(super) const VISITS: f64 = 2.0;
/// Seeks for a mark: there and back.
const WAYS: f64 = 2.0;
/// What is left of a mark, on average, for who comes while it is written.
const LEFT: f64 = 0.5;
/// A share of unmarked regions that nobody meets.
const LEAST: f64 = 1e-6;
/// Rounds in which share and rate agree.
const ROUNDS: u32 = 30;

/// What a bitmap stands for.
pub(super) struct Marked {
    /// Bytes of data for which a bit stands.
    pub(super) region: f64,
    /// Accesses that a write takes of each member, on average.
    pub(super) accesses: f64,
    /// Does the thread that works on parity write marks, and nothing else meanwhile (`raid5d`)? Then what was read and what was
    /// written waits, too.
    pub(super) by_thread: bool,
}

impl Compiler<'_> {
    /// A write at a place that is not marked waits until the mark is on every member: it goes past their caches, behind a flush
    /// (`md_bitmap_unplug`). All that wait at that moment are in the next. Nothing is marked when a workload begins. Gives how many
    /// marks there are for each operation.
    pub(super) fn mark_regions(&mut self, at: usize, marked: &Marked, flow: &Flow) -> f64 {
        let Some(drive) = self.first_drive().filter(|_| flow.random) else { return 0.0 };
        let class = self.class_of(drive);
        let values = self.site.parameters.values();
        let span = self.conditions.span.as_f64();
        let regions = (span / marked.region).max(1.0);
        let mark = TWICE * values[class.commit as usize];
        let is_hdd = class.kind == DriveKind::Hdd;
        // What a head has of writes is never alone in its cache.
        let alone = values[if is_hdd { class.write_op } else { class.write_delay } as usize];
        let under_way = (self.network.given * self.writes).max(1.0);
        // No drive writes and reads more than it can.
        let far = if is_hdd && !class.told[1] { class.reach(span) } else { 1.0 };
        let most = 1.0 / (values[class.write_op as usize] * far * marked.accesses);
        let rate = |unmarked: f64| (under_way / (alone + mark * unmarked)).min(most);
        // From nothing that is marked to where as much is cleared as is marked.
        let unmarked = (0..ROUNDS).fold(1.0, |share, _| (-rate(share) * MARKED / regions).exp());
        if unmarked < LEAST {
            return 0.0;
        }
        let together = unmarked.min(1.0 / under_way);
        let station = self.network.station(Resource::Serial(Serial::Marks, self.symmetry.of(at)), 1.0, 1.0, Slot::Own);
        let writes = flow.rate * self.times / (flow.wide * flow.batch);
        let marks = |station, each: f64, why| Part::of(station, class.commit, TWICE * writes * each, why);
        self.network.add(values, Part { share: 0.0, ..marks(station, together, "marks for all that wait") });
        // How many come to need a mark while one is under way, and how often one of others is.
        let meanwhile = rate(unmarked) * unmarked * mark;
        let busy = meanwhile.min(1.0) * (1.0 - under_way.recip());
        let waits = unmarked * (1.0 + busy * LEFT) + if marked.by_thread { busy * LEFT * VISITS } else { 0.0 };
        self.network.add(values, marks(DELAY, waits, "marks of regions that wait for every member"));
        writes * unmarked / meanwhile.max(1.0)
    }

    /// Heads go to the bitmap, which lies beside the superblock (`write_sb_page`), and back to the data; nobody waits who has not
    /// waited for the mark already.
    pub(super) fn fetch_heads(&mut self, members: usize, marks: f64) {
        let heads = self.first_drive().map(|drive| self.class_of(drive)).filter(|class| class.kind == DriveKind::Hdd);
        let Some(class) = heads else { return };
        let seeks = WAYS * class.reach(self.conditions.span.as_f64());
        let way = Flow { rate: marks / self.times, seeks, waits: Waits::Nobody, ..Flow::new(true, false, PAGE) };
        for which in 0..members {
            self.ask(which, way);
        }
    }
}
