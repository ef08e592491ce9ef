//! btrfs: data written anew in another place, checksums, and trees that are updated one after the other.

use terms::Stack;
use terms::layer::{ArrayState, Btrfs, BtrfsChecksum, BtrfsProfile};

use crate::compile::{Compiler, count};
use crate::flow::{Flow, Waits};
use crate::network::Serial;
use crate::parameter::Parameter;

/// Stripe of RAID-0 and RAID-10 profiles, in bytes (`BTRFS_STRIPE_LEN`).
const STRIPE: f64 = 65_536.0;

/// What is allocated on a device at a time, in bytes (`SZ_1G`, `BTRFS_MAX_DATA_CHUNK_SIZE` in fs/btrfs/volumes.c).
const CHUNK: f64 = 1_073_741_824.0;

/// Bytes of a leaf (`BTRFS_MKFS_DEFAULT_NODE_SIZE` of btrfs-progs), and how full one is that grew at random.
const LEAF: f64 = 16_384.0;
const FULL: f64 = 0.67;
/// Bytes of an item with its header: `btrfs_item` 25 and `btrfs_file_extent_item` 53; an extent's 24 and a reference of 28
/// are as much (include/uapi/linux/btrfs_tree.h).
const ITEM: f64 = 78.0;
/// Trees with an item for each extent.
const TREES: f64 = 2.0;

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
                let leaves = flow.rate * self.leaves(btrfs, flow);
                let trees = Flow { bytes: LEAF, rate: leaves, waits: Waits::Group, ..*flow };
                self.placed(stack, at, btrfs.metadata, &trees);
            }
            if flow.write && flow.random {
                // What is written anew goes where the last of it ended, whatever the order in which it was asked for
                // (`find_free_extent` in fs/btrfs/extent-tree.c goes on from its last place).
                below.random = false;
                below.unsure = Parameter::CopyOnWrite.place();
            }
            if !flow.write {
                below.toucher = Some(flow.context);
            }
        }
        self.placed(stack, at, btrfs.data, &below);
    }

    /// Leaves of the trees that are written for each overwrite: every one that was touched once in each commit. The file's
    /// own tree and that of the extents have an item for each extent.
    fn leaves(&self, btrfs: &Btrfs, flow: &Flow) -> f64 {
        let tree = (self.conditions.span.as_f64() / flow.bytes * ITEM / (LEAF * FULL)).max(1.0);
        let each = self.first_drive().map_or(1.0, |drive| {
            let class = self.class_of(drive);
            self.site.book.value(class.write_op).max(self.site.book.value(class.write) * flow.bytes)
        });
        // As many overwrites as the drive takes meanwhile.
        let overwrites = (btrfs.commit.as_seconds() / each).max(1.0);
        let touched = tree * (1.0 - (-overwrites / tree).exp());
        TREES * touched / overwrites * self.site.book.get(Parameter::BtrfsLeaves)
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
            (BtrfsProfile::Raid1, true) => {
                let copies = n.min(2.0);
                Flow { rate: flow.rate * copies / n, wide: flow.wide * copies, ..*flow }
            }
            // Stripes over pairs, and each on both drives of one.
            (BtrfsProfile::Raid10, true) => {
                let over = striped(flow, (n / 2.0).max(1.0));
                Flow { rate: over.rate * n.min(2.0) / 2.0, wide: over.wide * n.min(2.0), ..over }
            }
            // Which copy is read follows from the number of the process: one job reads one.
            (BtrfsProfile::Raid1, false) if alone => {
                self.ask(0, *flow);
                return;
            }
            (BtrfsProfile::Raid1, false) => Flow { rate: flow.rate / n, ..*flow },
            (BtrfsProfile::Raid0, _) | (BtrfsProfile::Raid10, false) => striped(flow, n),
        };
        for which in 0..here {
            self.ask(which, each);
        }
    }
}

/// Stripes over so many: what one gets of an operation lies side by side there and is one request.
fn striped(flow: &Flow, over: f64) -> Flow {
    let wide = (flow.bytes / STRIPE).max(1.0).min(over);
    Flow { bytes: flow.bytes / wide, rate: flow.rate * wide / over, wide: flow.wide * wide, ..*flow }
}
