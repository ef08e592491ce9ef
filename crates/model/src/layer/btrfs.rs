//! btrfs: data written anew in another place, checksums, and trees that are updated one after the other.

use terms::Stack;
use terms::layer::{ArrayState, Btrfs, BtrfsChecksum, BtrfsProfile};

use crate::compile::{Compiler, count};
use crate::flow::Flow;
use crate::network::Serial;
use crate::parameter::Parameter;

/// Stripe of RAID-0 and RAID-10 profiles, in bytes (`BTRFS_STRIPE_LEN`).
const STRIPE: f64 = 65_536.0;

/// What is allocated on a device at a time, in bytes (`SZ_1G`, `BTRFS_MAX_DATA_CHUNK_SIZE` in fs/btrfs/volumes.c).
const CHUNK: f64 = 1_073_741_824.0;

impl Compiler<'_> {
    pub(crate) fn btrfs(&mut self, stack: &Stack, at: usize, btrfs: &Btrfs, flow: &Flow) {
        let bytes = flow.rate * flow.bytes;
        let (io, byte) = if flow.write {
            (Parameter::BtrfsWriteIo, Parameter::BtrfsWriteByte)
        } else {
            (Parameter::BtrfsReadIo, Parameter::BtrfsReadByte)
        };
        let mut below = *flow;
        if btrfs.copy_on_write {
            self.work(flow.context, io, flow.rate * self.crowd, "btrfs");
            self.work(flow.context, byte, bytes, "btrfs");
            match btrfs.checksum {
                BtrfsChecksum::Crc32c => {}
                BtrfsChecksum::Xxhash => self.work(flow.context, Parameter::Xxhash, bytes, "xxhash64"),
                BtrfsChecksum::Sha256 | BtrfsChecksum::Blake2 => {
                    self.work(flow.context, Parameter::Sha256, bytes, "checksum");
                }
            }
            if flow.write && flow.random {
                self.serial(Serial::Trees, at, Parameter::BtrfsTree, flow.rate, "extents, checksums, references");
                let metadata = bytes * self.site.book.get(Parameter::BtrfsMetadata);
                let copies = Flow { random: false, bytes: metadata, rate: 1.0, ..*flow };
                let profile = if btrfs.metadata == BtrfsProfile::Single { BtrfsProfile::Single } else { btrfs.data };
                self.placed(stack, at, profile, &copies);
            }
            if flow.write && flow.random {
                below.unsure = Parameter::CopyOnWrite.place();
            }
            if !flow.write {
                below.toucher = Some(flow.context);
            }
        }
        self.placed(stack, at, btrfs.data, &below);
    }

    /// Over the devices, by the profile.
    fn placed(&mut self, stack: &Stack, at: usize, profile: BtrfsProfile, flow: &Flow) {
        let node = &stack.nodes[at];
        let devices = node.on.len();
        let gone = usize::from(self.conditions.state == ArrayState::Degraded && devices > 1);
        let here = match profile {
            BtrfsProfile::Raid1 | BtrfsProfile::Raid10 => devices - gone,
            _ => devices,
        };
        // Without stripes or copies a chunk is on one device, and the next on another.
        let chunks = (self.conditions.span.as_f64() / CHUNK).ceil().max(1.0);
        let several = (flow.random || self.jobs > 1.5) && chunks > 1.5;
        let n = count(here);
        let alone = !flow.random && self.jobs < 1.5;
        let each = match (profile, flow.write) {
            (BtrfsProfile::Single, _) => {
                let (each, to) = if several { (n, here) } else { (1.0, 1) };
                for which in 0..to {
                    self.ask(which, Flow { rate: flow.rate / each, ..*flow });
                }
                return;
            }
            (BtrfsProfile::Dup, true) => Flow { rate: flow.rate * 2.0 / n, batch: flow.batch * 2.0, ..*flow },
            (BtrfsProfile::Dup, false) => Flow { rate: flow.rate / n, ..*flow },
            (BtrfsProfile::Raid1 | BtrfsProfile::Raid10, true) => {
                let copies = n.min(2.0);
                Flow { rate: flow.rate * copies / n, wide: flow.wide * copies, ..*flow }
            }
            // Which copy is read follows from the number of the process: one job reads one.
            (BtrfsProfile::Raid1, false) if alone => {
                self.ask(0, *flow);
                return;
            }
            (BtrfsProfile::Raid1, false) => Flow { rate: flow.rate / n, ..*flow },
            (BtrfsProfile::Raid0, _) | (BtrfsProfile::Raid10, false) => {
                let pieces = (flow.bytes / STRIPE).max(1.0);
                Flow {
                    bytes: flow.bytes.min(STRIPE),
                    rate: flow.rate * pieces / n,
                    wide: flow.wide * pieces.min(n),
                    batch: flow.batch * (pieces / n).max(1.0),
                    ..*flow
                }
            }
        };
        for which in 0..here {
            self.ask(which, each);
        }
    }
}
