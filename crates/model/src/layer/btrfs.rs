//! btrfs: data written anew in another place, checksums, and trees that are updated one after the other.

use terms::layer::{ArrayState, BTRFS_STRIPE, Btrfs, BtrfsChecksum, BtrfsProfile};
use terms::machine::DriveKind;
use terms::{Layer, Stack, Workload};

use super::flush::commits;
use crate::compiler::{Compiler, count};
use crate::flow::{Context, Flow, PAGE, Waits};
use crate::network::{Part, Resource, Serial, Slot};
use crate::parameter::Parameter;

/// Stripe of RAID-0 and RAID-10 profiles, in bytes.
const STRIPE: f64 = BTRFS_STRIPE as f64;

/// What is allocated on a device at a time, in bytes (`SZ_1G`, `BTRFS_MAX_DATA_CHUNK_SIZE` in fs/btrfs/volumes.c).
const CHUNK: f64 = 1_073_741_824.0;

/// Bytes of a leaf (`BTRFS_MKFS_DEFAULT_NODE_SIZE` of btrfs-progs), and how full one is that grew at random.
const LEAF: f64 = 16_384.0;
const FULL: f64 = 0.67;
/// Bytes of an item with its header: `btrfs_item` 25 and `btrfs_file_extent_item` 53; an extent's 24 and a reference of 28
/// are as much (include/uapi/linux/btrfs_tree.h).
const ITEM: f64 = 78.0;
/// Bytes of a superblock (`BTRFS_SUPER_INFO_SIZE`).
const SUPERBLOCK: f64 = 4096.0;
/// Free space that the allocator looks for at a time for trees on a hard disk, in bytes (`fetch_cluster_info` in
/// fs/btrfs/extent-tree.c): leaves of one commit lie side by side at least so far.
const CLUSTER: f64 = 65_536.0;
/// What is kept free for the worst that one change of a tree may do: two leaves on each of eight levels
/// (`btrfs_calc_insert_metadata_size`, `BTRFS_MAX_LEVEL` in fs/btrfs).
const RESERVED: f64 = LEAF * 8.0 * 2.0;
/// Share of what no chunk has yet that changes may be promised beyond what is there for trees (`calc_available_free_space`
/// in fs/btrfs/space-info.c, "2bf64758fd62": before, writes at random took 45 minutes in place of 10 seconds).
const PROMISED: f64 = 0.125;
/// Bytes of a chunk for trees on less than 50 GiB, and on more (`decide_stripe_size` in fs/btrfs/volumes.c).
const TREES_SMALL: f64 = 268_435_456.0;
const TREES_LARGE: f64 = CHUNK;
const SMALL: f64 = 50.0 * CHUNK;

/// Leaves of trees.
struct Leaves {
    /// For each overwrite.
    each: f64,
    /// Do writers wait until they are written?
    awaited: bool,
}

/// First kernel that writes what has checksums through the page cache though it was asked to write past it ("btrfs: always
/// fallback to buffered write if the inode requires checksum"), and first that copies it and goes on instead ("btrfs: use
/// IOMAP_DIO_BOUNCE flag instead of falling back to buffered IO"). Stable kernels took the first of them later.
const BUFFERED: (u32, u32) = (6, 15);
const BOUNCED: (u32, u32) = (7, 3);

impl Compiler<'_> {
    /// Does a call that is to write past the page cache write through it, and wait? What is read goes past it as before.
    pub(crate) fn falls_back(&self, stack: &Stack, work: &Workload) -> bool {
        let sums = |layer: &Layer| matches!(layer, Layer::Btrfs(btrfs) if btrfs.copy_on_write);
        let is_between = self.site.kernel_from(BUFFERED) && !self.site.kernel_from(BOUNCED);
        is_between && !work.is_buffered() && stack.top().is_some_and(|top| sums(&top.layer))
    }

    /// What pages take that are made, written to, written back and dropped within a call.
    fn through_pages(&mut self, bytes: f64) {
        let (thread, pages) = (Context::Thread, bytes / PAGE);
        self.work(thread, Parameter::CachedNew, pages, "pages that are new in the cache");
        self.work(thread, Parameter::CachedDirty, pages, "pages that are written to");
        self.work(thread, Parameter::CachedFlush, pages, "pages that are written back");
        self.work(thread, Parameter::CachedByte, bytes, "copied");
        self.memory(bytes * 2.0, "copied between the program and the page cache");
    }

    pub(crate) fn btrfs(&mut self, stack: &Stack, at: usize, btrfs: &Btrfs, flow: &Flow) {
        let bytes = flow.rate * flow.bytes;
        let (io, byte) = if flow.write {
            (Parameter::BtrfsWriteIo, Parameter::BtrfsWriteByte)
        } else {
            (Parameter::BtrfsReadIo, Parameter::BtrfsReadByte)
        };
        let mut below = *flow;
        if btrfs.copy_on_write {
            self.work(flow.context, io, flow.rate * self.contention, "btrfs");
            self.work(flow.context, byte, bytes, "btrfs");
            match btrfs.checksum {
                BtrfsChecksum::Crc32c => {}
                BtrfsChecksum::Xxhash => self.work(flow.context, Parameter::Xxhash, bytes, "xxhash64"),
                BtrfsChecksum::Sha256 | BtrfsChecksum::Blake2 => {
                    self.work(flow.context, Parameter::Sha256, bytes, "checksum");
                }
            }
            if flow.write && self.falls_back {
                self.through_pages(bytes);
            }
            if flow.write {
                self.trees(at, Parameter::BtrfsTree, flow.rate, "extents, checksums, references");
            }
            if flow.write && flow.random {
                let together = if self.is_hdd(stack) { CLUSTER / LEAF } else { 1.0 };
                let leaves = self.leaves(btrfs, flow, stack.nodes[at].on.len());
                let rate = flow.rate * leaves.each / together;
                let trees = Flow { bytes: LEAF * together, rate, waits: Waits::Group, ..*flow };
                self.placed(stack, at, btrfs.metadata, &trees);
                if leaves.awaited {
                    self.await_leaves(at, btrfs.metadata, &trees);
                }
                // What is written anew goes where the last of it ended, whatever the order in which it was asked for
                // (`find_free_extent` in fs/btrfs/extent-tree.c goes on from its last place). A head has nothing of that
                // where the drive may keep nothing: each write is one access of the platter, and the next has come by
                // before it is answered. Nor of small ones: what is freed meanwhile are holes of their size, and where
                // one is near the old place it is taken (`btrfs_get_extent_allocation_hint`); published figures of small
                // overwrites on hard disks are those of ext4 or less.
                let small = self.is_hdd(stack) && flow.bytes < CLUSTER;
                below.random = small || self.writes_through();
                below.unsure = Parameter::CopyOnWrite.place();
            }
            if flow.write && !self.writes_through() {
                // Streams are allocated in the order in which they come, one behind the other.
                below.seeks = 0.0;
            }
            if !flow.write {
                below.toucher = Some(flow.context);
            }
        }
        if let Some(every) = self.flushed {
            self.log_tree(stack, at, btrfs, flow, self.writes / every);
        }
        self.placed(stack, at, btrfs.data, &below);
    }

    /// Changes of trees, one after the other, by whichever processor.
    fn trees(&mut self, at: usize, parameter: Parameter, rate: f64, why: &'static str) {
        self.serial(Serial::Trees, at, parameter, rate, why);
        self.cores(parameter, rate, why);
    }

    /// What an `fsync` takes besides the leaves of its log (`btrfs_sync_log` in fs/btrfs/tree-log.c): extents and checksums go
    /// into that tree once more, and the inode with them. All jobs that wait share the rest: the tree of all logs has a leaf, and
    /// each device gets a superblock.
    fn log_tree(&mut self, stack: &Stack, at: usize, btrfs: &Btrfs, flow: &Flow, each: f64) {
        let syncs = each * commits(self.jobs);
        self.trees(at, Parameter::BtrfsTree, flow.rate, "the same in the log");
        self.trees(at, Parameter::BtrfsSync, each, "log of a file");
        self.trees(at, Parameter::BtrfsSync, syncs, "logs that are written");
        self.placed(stack, at, btrfs.metadata, &Flow { random: true, bytes: LEAF, rate: syncs, ..*flow });
        let here = self.present(stack.nodes[at].on.len());
        let wide = flow.wide * count(here);
        let superblock = Flow { random: true, bytes: SUPERBLOCK, rate: syncs, wide, ..*flow };
        (0..here).for_each(|which| self.ask(which, superblock));
    }

    /// Leaves of the trees that are written for each overwrite: every one that was touched once in each commit.
    ///
    /// A file that was written in order has few extents. Each overwrite adds one, until each block is one; from then on it
    /// frees one besides, and the tree of extents is touched at another place too.
    fn leaves(&self, btrfs: &Btrfs, flow: &Flow, devices: usize) -> Leaves {
        let blocks = (self.conditions.span.as_f64() / flow.bytes).max(1.0);
        let each = self.first_drive().map_or(1.0, |drive| {
            let class = self.class_of(drive);
            self.site.parameters.value(class.write_op).max(self.site.parameters.value(class.write) * flow.bytes)
        });
        // As many overwrites as the drive takes until the middle of the time that is counted, and in a commit.
        let share = 1.0 - (-self.conditions.window.as_seconds() / each / blocks).exp();
        let tree = (blocks * share * ITEM / (LEAF * FULL)).max(1.0);
        let touched = |overwrites: f64| tree * (1.0 - (-overwrites / tree).exp()) / overwrites;
        let in_time = (btrfs.commit.as_seconds() / each).max(1.0);
        let reserve = self.reserve(btrfs.metadata, devices).max(1.0);
        // Each `fsync` writes the leaves of a log in which its own extents are, besides.
        let logged = self.every.map_or(0.0, touched);
        let commits = (1.0 + share) * touched(in_time.min(reserve));
        Leaves {
            each: (logged + commits) * self.site.parameters.get(Parameter::BtrfsLeaves),
            awaited: reserve < in_time,
        }
    }

    /// Overwrites until the space that changes of trees may be promised is used up, and all wait for a commit.
    fn reserve(&self, metadata: BtrfsProfile, devices: usize) -> f64 {
        let size = self.first_drive().and_then(|drive| self.class_of(drive).size);
        let Some(size) = size.map(|size| size * count(devices)) else { return f64::INFINITY };
        let copies = if metadata == BtrfsProfile::Single || metadata == BtrfsProfile::Raid0 { 1.0 } else { 2.0 };
        let trees = if size < SMALL { TREES_SMALL } else { TREES_LARGE };
        let free = (size - self.conditions.span.as_f64() - trees * copies).max(0.0);
        (trees + free / copies * PROMISED) / RESERVED
    }

    /// The commit for which all wait, for want of space that may be promised, is part of the trees' own time.
    fn await_leaves(&mut self, at: usize, profile: BtrfsProfile, trees: &Flow) {
        let Some(drive) = self.first_drive() else { return };
        let class = self.class_of(drive);
        let values = self.site.parameters.values();
        let bytes = values[class.write as usize] * trees.bytes;
        let (value, factor) =
            if values[class.write_op as usize] > bytes { (class.write_op, 1.0) } else { (class.write, trees.bytes) };
        // Copies on one device are written one after the other.
        let copies = if profile == BtrfsProfile::Dup { 2.0 } else { 1.0 };
        let station = self.network.station(Resource::Serial(Serial::Trees, self.symmetry.of(at)), 1.0, 1.0, Slot::Own);
        let part = Part::of(
            station,
            value,
            trees.rate * copies * factor * self.times,
            "leaves of a commit that is waited for",
        );
        self.network.add(values, part);
    }

    /// Is the first drive a hard disk whose write cache is off?
    pub(super) fn writes_through(&self) -> bool {
        self.first_drive().is_some_and(|drive| {
            let class = self.class_of(drive);
            class.kind == DriveKind::Hdd && !class.cached
        })
    }

    /// Devices that are there.
    fn present(&self, devices: usize) -> usize {
        devices - usize::from(self.conditions.state == ArrayState::Degraded && devices > 1)
    }

    /// Over the devices, by the profile.
    fn placed(&mut self, stack: &Stack, at: usize, profile: BtrfsProfile, flow: &Flow) {
        let node = &stack.nodes[at];
        let devices = node.on.len();
        // Striped mirrors over two or three devices are mirrors, chunk by chunk.
        let abreast = profile.abreast(devices as u64);
        let profile = if abreast < 2 && profile == BtrfsProfile::Raid10 { BtrfsProfile::Raid1 } else { profile };
        let here = match profile {
            BtrfsProfile::Raid1 | BtrfsProfile::Raid10 => self.present(devices),
            _ => devices,
        };
        // Without stripes or copies a chunk is on one device, and the next on another.
        let chunks = (self.conditions.span.as_f64() / CHUNK).ceil().max(1.0);
        let several = (flow.random || self.jobs > 1.5) && chunks > 1.5;
        let n = count(here);
        // Which copy is read follows from the number of the process (`find_live_mirror` in fs/btrfs/volumes.c): one job reads
        // the same one of each chunk.
        let alone = self.jobs < 1.5 && !several;
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
                Flow { rate: flow.rate * copies / n, wide: flow.wide * copies, run: flow.bytes, ..*flow }
            }
            // Stripes over pairs, and each on both drives of one.
            (BtrfsProfile::Raid10, true) => {
                let over = striped(flow, profile.abreast(here as u64) as f64, n / 2.0);
                Flow { wide: over.wide * 2.0, ..over }
            }
            (BtrfsProfile::Raid1, false) if alone => {
                self.ask(0, *flow);
                return;
            }
            (BtrfsProfile::Raid1, false) => self.streams_of_copies(Flow { rate: flow.rate / n, ..*flow }, n.min(2.0)),
            (BtrfsProfile::Raid0, _) => striped(flow, n, n),
            (BtrfsProfile::Raid10, false) if alone => {
                let each = striped(flow, abreast as f64, abreast as f64);
                (0..devices / 2).for_each(|which| self.ask(which, each));
                return;
            }
            // One process reads one copy of each stripe of a chunk. A lost device's pieces go to those that are left, and
            // stay as many.
            (BtrfsProfile::Raid10, false) => striped(flow, abreast as f64, n),
        };
        for which in 0..here {
            self.ask(which, each);
        }
    }
}

/// So many stripes abreast in chunks that are spread over so many devices: what one gets of an operation lies side by side
/// there. Stripes are handed over one after the other (`btrfs_submit_bio`).
fn striped(flow: &Flow, abreast: f64, over: f64) -> Flow {
    let wide = (flow.bytes / STRIPE).max(1.0).min(abreast);
    Flow { bytes: flow.bytes / wide, rate: flow.rate * wide / over, wide: flow.wide * wide, run: STRIPE, ..*flow }
}
