//! LVM: linear volumes, those that are arrays, thin ones and snapshots.

use terms::Stack;
use terms::layer::{IntegrityMode, IntegrityTag, Lvm, LvmIntegrity};

use super::array::Array;
use super::integrity::Tags;
use crate::compiler::{Compiler, count};
use crate::flow::Flow;
use crate::network::Serial;
use crate::parameter::Parameter;

/// Seconds between two flushes of a bitmap of dm-integrity (kernel documentation).
const BITMAP_FLUSH: f64 = 10.0;

/// First kernel with many locks in place of one for lookups of thin pools ("dm bufio: improve concurrent IO performance", "dm bio prison
/// v1: improve concurrent IO performance").
const MANY_LOCKS: (u32, u32) = (6, 4);

impl Compiler<'_> {
    pub(crate) fn volume(&mut self, stack: &Stack, at: usize, lvm: &Lvm, flow: &Flow) {
        let remap = if flow.write { Parameter::LinearWrite } else { Parameter::LinearRead };
        let visits = flow.rate * flow.requests() * self.contention;
        self.work(flow.context, remap, visits, "remapping");
        if lvm.thin_chunk.is_some() {
            self.work(flow.context, Parameter::ThinIo, visits, "thin chunk");
            if !self.site.kernel_from(MANY_LOCKS) {
                self.serial(
                    Serial::Thin,
                    at,
                    Parameter::ThinLock,
                    flow.rate * flow.requests(),
                    "thin chunk, under a lock",
                );
            }
        }
        self.below(stack, at, lvm, flow);
        if let Some(chunk) = lvm.copied_chunk().filter(|_| flow.write) {
            let share = self.site.parameters.get(Parameter::SnapshotCopy);
            let chunk = chunk.as_f64().max(flow.bytes);
            for write in [false, true] {
                let copy = Flow { write, random: true, bytes: chunk, rate: flow.rate * share, ..*flow };
                self.below(stack, at, lvm, &copy);
            }
        }
    }

    fn below(&mut self, stack: &Stack, at: usize, lvm: &Lvm, flow: &Flow) {
        match Array::of_lvm(lvm, stack.nodes[at].on.len()) {
            Some(array) => self.array(stack, at, &array, flow),
            // What is worked on lies at the start, on the first physical volume.
            None => self.ask(0, *flow),
        }
    }

    /// Legs of an array with dm-integrity under them, the first so many.
    pub(crate) fn volume_integrity(&mut self, at: usize, layer: &LvmIntegrity, to: usize, flow: Flow) {
        let sector = layer.block.as_f64();
        let times = self.times;
        self.times *= count(to);
        let below = self.checksums(at, layer.mode, IntegrityTag::Crc32c, sector, &flow);
        self.times = times;
        let tags = Tags {
            size: f64::from(IntegrityTag::Crc32c.size()),
            sector,
            journal: layer.mode == IntegrityMode::Journal,
            bitmap: layer.mode == IntegrityMode::Bitmap,
            flush: BITMAP_FLUSH,
        };
        self.protected(&tags, below, to);
    }
}
