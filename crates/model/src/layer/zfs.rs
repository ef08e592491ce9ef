//! ZFS: whole records, one operation after the other in each thread, and few writes under way on a vdev.

use terms::layer::{ArrayState, Zfs, ZfsCache, ZfsCompression, ZfsLayout};
use terms::machine::DriveKind;
use terms::{Bytes, LayerNode, Ref, Stack, Workload};

use crate::cached::Shares;
use crate::compiler::{Compiler, count};
use crate::flow::{Context, Flow, Waits};
use crate::network::{Part, Resource, Slot};
use crate::page_cache::first_to_touch;
use crate::parameter::{Parameter, SWITCHES};

/// What the ARC may take of memory (`zfs_arc_max` of OpenZFS 2.1).
const ARC_SHARE: f64 = 0.5;
/// What it aims at in the beginning, as a share of memory, and the share of that which the dbuf cache has (`arc_c_min`,
/// `dbuf_cache_shift`).
const ARC_LEAST: f64 = 1.0 / 32.0;
const DBUFS: f64 = 1.0 / 32.0;
/// Bytes that are put together into one access of a vdev (`zfs_vdev_aggregation_limit` and the one with `_non_rotating`,
/// OpenZFS module parameters).
const AGGREGATED_HDD: f64 = 1_048_576.0;
const AGGREGATED: f64 = 131_072.0;
/// Record that the times of the table were measured with, in bytes.
const TABLE_RECORD: f64 = 131_072.0;
/// Seconds of a transaction group (`zfs_txg_timeout`).
const GROUP: f64 = 5.0;
/// Memory that may be dirty, as a share of all and in bytes (`zfs_dirty_data_max_percent`, `zfs_dirty_data_max_max`).
const DIRTY_SHARE: f64 = 0.1;
const DIRTY_MOST: f64 = 4.0 * 1_073_741_824.0;
/// Of that, where a group ends before its time (`zfs_dirty_data_sync_percent`).
const GROUP_SHARE: f64 = 0.2;
/// Groups of which what they may take at most is taken off the free space at once: one open, one that is written.
const GROUPS: f64 = 2.0;
/// How many times its size a block is thought to take at most (`spa_asize_inflation`).
const INFLATED: f64 = 24.0;
/// Space that is kept back: a share of the pool, and that many bytes, but half of the pool at most (`spa_slop_shift`,
/// `spa_min_slop` in module/zfs/spa_misc.c).
const SLOP_SHARE: f64 = 1.0 / 32.0;
const SLOP_LEAST: f64 = 134_217_728.0;
/// Bytes of memory for each hardware thread of a usual machine: 32 GiB with 16 threads.
const USUAL_MEMORY: f64 = 2.0 * 1_073_741_824.0;
/// Bytes of a stream that are read ahead (`zfetch_max_distance` of OpenZFS until 2.1; since then 64 MiB).
const AHEAD: f64 = 8.0 * 1_048_576.0;
/// Share of the processors that compress and check what is written (`zio_taskq_batch_pct` until OpenZFS 2.2).
const ISSUERS: f64 = 0.75;
/// Times that a byte crosses memory beside what drives move: read, fetched and written by the copy between the cache and the
/// caller, and read for its checksum.
const CROSSINGS: f64 = 4.0;
/// Misses after which LZ4 looks for a match in steps that are longer by one byte (`skipStrength` in module/zfs/lz4.c: two to this).
const LZ4_MISSES: f64 = 64.0;
/// A record is read, and it is checked and copied.
const STAGES: f64 = 2.0;

/// Sector of a pool where nobody tells: the block of most devices.
const SECTOR: f64 = 4096.0;

/// How a record lies on devices.
pub(super) struct Placement {
    /// Devices of a vdev.
    vdev: f64,
    /// Devices that a read of a record touches, and a write.
    reads: f64,
    pub(super) writes: f64,
    /// Share of a record on each.
    pub(super) piece: f64,
    /// Share of all bytes of the devices that is data.
    pub(super) room: f64,
}

/// A block of so many bytes has whole sectors, and of raidz no more data devices than sectors (`vdev_raidz_map_alloc` in
/// module/zfs/vdev_raidz.c). There each row of it has its parity, and so many sectors are taken that the parity and one more divide them
/// (`vdev_raidz_asize`).
pub(super) fn placement(zfs: &Zfs, block: f64, devices: f64) -> Placement {
    let sector = zfs.ashift.map_or(SECTOR, |ashift| f64::from(ashift).exp2());
    let sectors = (block / sector).ceil();
    let whole = sectors * sector / block;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sectors of a block, and devices")]
    let taken = zfs.layout.allocated(sectors as u64, devices as usize) as f64;
    let room = block / sector / taken;
    match (zfs.layout, zfs.layout.parity()) {
        (_, Some(parity)) => {
            let parity = parity as f64;
            let data = (devices - parity).max(1.0).min(sectors);
            Placement { vdev: devices, reads: data, writes: data + parity, piece: whole / data, room }
        }
        (ZfsLayout::Mirror, _) => Placement { vdev: devices, reads: 1.0, writes: devices, piece: whole, room },
        _ => Placement { vdev: 1.0, reads: 1.0, writes: 1.0, piece: whole, room },
    }
}

impl Compiler<'_> {
    pub(crate) fn zfs(&mut self, stack: &Stack, at: usize, zfs: &Zfs, flow: &Flow) {
        let flow = &Flow { context: self.caller(at, flow), ..*flow };
        // No asynchronous way in: depth is the number of threads.
        // Of several records of one read, one is checked and copied while the next is on its way.
        let record = zfs.recordsize.as_f64();
        let stages = if flow.bytes > record { STAGES } else { 1.0 };
        self.network.population = self.network.population.min(self.jobs * stages);
        // Data that the ARC may not keep is not read ahead (`DNODE_IS_CACHEABLE`, asked in `dmu_buf_hold_array_by_dnode`), and the next
        // call finds nothing of its record (`DBUF_IS_CACHEABLE`, asked in `dbuf_rele_and_unlock`): in order as at random, each call reads
        // whole what it touches. From a file with records of 1 MiB, reads of 4 KiB had 256 times their bytes from the drives, and those
        // of 8 to 1024 KiB as many times fewer (openzfs/zfs issue 10830).
        let forgets = !flow.write && zfs.primarycache != ZfsCache::All;
        let by_call = flow.random || forgets;
        if !flow.write && !by_call {
            // A stream is read ahead by records of their own.
            self.network.population = self.network.population.max(self.jobs * (AHEAD / flow.bytes).max(1.0));
        }
        let records =
            if by_call { (flow.bytes / record).ceil().max(1.0) } else { (flow.bytes / record).max(f64::MIN_POSITIVE) };
        let read_first = flow.write && flow.random && flow.bytes < record;
        // Of records that are written to, those that are not dirty yet.
        let fresh = if flow.write { self.shares.written } else { 1.0 };
        let moved = flow.rate * records * record * fresh;
        let (io, byte) = if flow.write {
            (Parameter::ZfsWriteIo, Parameter::ZfsWriteByte)
        } else {
            (Parameter::ZfsReadIo, Parameter::ZfsReadByte)
        };
        // A stream's writes dirty a record once (`dmu_buf_will_dirty`).
        let first = if flow.write && !flow.random { records.min(1.0) } else { fresh };
        self.work(flow.context, io, flow.rate * first * self.contention, "ZFS");
        let again = flow.rate * (1.0 - first) * self.contention;
        self.work(flow.context, Parameter::ZfsWriteAgain, again, "ZFS, a record that is dirty already");
        // A record that the cache holds was checked when it came in (`arc_read`): what is asked of it is copied, no more.
        // Where the memory is not told, what the cache holds is a guess, and so is what a cold record takes: of what others
        // published, a check for each read is nearer.
        let told = self.site.machine.memory.size.is_some();
        let missed = if flow.write || !told { 1.0 } else { 1.0 - self.cached(zfs, flow) };
        self.work(flow.context, byte, moved * missed, "records: checksum and copy");
        // What is written to a record that is dirty is copied into it.
        let (copied, why) = match flow.write {
            true => (1.0 - fresh, "copied into the cache"),
            false => (1.0 - missed, "copied from the cache"),
        };
        self.work(flow.context, Parameter::RamByte, flow.rate * flow.bytes * copied, why);
        self.more_records(at, &Flow { rate: flow.rate * fresh, ..*flow }, record, records, missed);
        self.compress(at, zfs, flow, moved);
        let crossing = moved * missed + flow.rate * flow.bytes * copied;
        self.memory(crossing * CROSSINGS, "copied through the cache, and read for checksums");
        // Of a stream that is read so much waits on the vdev, sorted by place (`vdev_queue_class_to_issue`): a head comes to it once
        // for all of that, and for each operation at most, however many records that has. Without a cache for data nothing is read
        // ahead (`DNODE_IS_CACHEABLE`, asked in `dbuf_read`).
        let ahead = if zfs.primarycache == ZfsCache::All { AHEAD } else { record };
        let seeks = (flow.seeks / records.max(1.0)).min(record / ahead);
        let rate = flow.rate * records * fresh;
        let whole = Flow { bytes: record, rate, seeks, batch: flow.batch * records.max(1.0), ..*flow };
        if !flow.write || read_first {
            let missed = 1.0 - self.cached(zfs, flow);
            let read = Flow { write: false, toucher: Some(flow.context), rate: whole.rate * missed, ..whole };
            if by_call {
                // Who reads asks the drive itself, and a thread of the pool is told that the record is there (`zio_interrupt`).
                let handed = flow.rate * fresh * missed / SWITCHES;
                self.delay(Parameter::HandoffRead.place(), handed, "handed to a thread of the pool");
            }
            if let Some(files) = self.one_by_one.filter(|_| flow.write) {
                self.held_up(at, files, &read);
            }
            self.pool(stack, at, zfs, &read);
        }
        if flow.write {
            let pool = self.pool_threads(at);
            self.work(pool, Parameter::ZfsGroup, flow.rate * self.shares.groups, "transaction groups");
            // Written anew side by side, whatever the order in which it was asked for.
            let unsure = if flow.random { Parameter::CopyOnWrite.place() } else { whole.unsure };
            // The call returns once it is in memory; what the drives keep up with is what goes on.
            let devices = count(stack.nodes[at].on.len());
            let seeks = self.commit_seeks(record * placement(zfs, record, devices).piece);
            self.pool(stack, at, zfs, &Flow { random: false, waits: Waits::Group, unsure, seeks, ..whole });
            let in_group = self.records_of_group(zfs, whole.rate / flow.rate);
            self.point_to(stack, at, zfs, &Flow { unsure, ..whole }, in_group);
        }
    }

    /// Records that a transaction group writes, where each write dirties so many. Of memory that is not told, those that a usual
    /// machine has room for.
    fn records_of_group(&self, zfs: &Zfs, each: f64) -> f64 {
        if self.shares.groups > 0.0 {
            return (each / self.shares.groups).max(1.0);
        }
        let memory = self.site.machine.memory.size.map_or(self.site.threads() * USUAL_MEMORY, Bytes::as_f64);
        ((memory * DIRTY_SHARE).min(DIRTY_MOST) * GROUP_SHARE / zfs.recordsize.as_f64()).max(1.0)
    }

    /// What of the records that are written to was not dirty yet, and groups for each write, where so many operations a second
    /// are done. `None` where nobody knows how much memory takes.
    pub(crate) fn groups(&self, stack: &Stack, zfs: &Zfs, work: &Workload, done: f64) -> Option<Shares> {
        let (record, block) = (zfs.recordsize.as_f64(), work.block.as_f64());
        let room = self.group_bytes(stack, zfs, self.site.machine.memory.size?) / record;
        let timed = (done * self.writes * GROUP).max(1.0);
        let random = work.pattern.random();
        let each = if random { (block / record).ceil() } else { block / record };
        let all = (self.conditions.span.as_f64() / record).max(1.0);
        // What people have is larger than what a test works on, and seldom met again within a group.
        if !self.conditions.warm || (!random && room < all) {
            return Some(Shares { groups: 1.0 / timed.min(room / each).max(1.0), ..Shares::ALL });
        }
        if !random {
            // A stream comes back to the same records, and each is written once in a group.
            return Some(Shares { written: (all / (timed * each)).min(1.0), groups: 1.0 / timed, ..Shares::ALL });
        }
        let touches = (record / block).max(1.0) * if work.shares_bytes() { f64::from(work.jobs.max(1)) } else { 1.0 };
        let full = 1.0 - (1.0 - (room / all).min(1.0)).powf(1.0 / touches);
        let per_pass = all * touches / each;
        let writes = if room < all { timed.min(full * per_pass).max(1.0) } else { timed };
        Some(Shares { written: first_to_touch(touches, writes / per_pass), groups: 1.0 / writes, ..Shares::ALL })
    }

    /// Bytes of records that a transaction group takes: what memory has room for, and what is surely free.
    fn group_bytes(&self, stack: &Stack, zfs: &Zfs, memory: Bytes) -> f64 {
        let dirty = (memory.as_f64() * DIRTY_SHARE).min(DIRTY_MOST) * GROUP_SHARE;
        let size = self.first_drive().and_then(|drive| self.class_of(drive).size);
        let (Some(size), Some(top)) = (size, stack.top()) else { return dirty };
        let devices = count(top.on.len());
        let usable = size * devices * placement(zfs, zfs.recordsize.as_f64(), devices).room;
        let slop = (usable * SLOP_SHARE).max(SLOP_LEAST).min(usable / 2.0);
        let free = (usable - slop - self.conditions.span.as_f64()) / INFLATED / GROUPS;
        dirty.min(free.max(zfs.recordsize.as_f64()))
    }

    /// Who does what the call does.
    fn caller(&self, at: usize, flow: &Flow) -> Context {
        match self.one_by_one {
            Some(servers) if flow.write => {
                Context::Workers { node: self.symmetry.of(at), servers, over: Parameter::One.place(), bound: false }
            }
            _ => flow.context,
        }
    }

    /// The next write of a file waits until this one has its record.
    fn held_up(&mut self, at: usize, files: f64, read: &Flow) {
        let Some(drive) = self.first_drive() else { return };
        let class = self.class_of(drive);
        let station = self.network.station(Resource::Workers(self.symmetry.of(at)), 1.0, files, Slot::Own);
        let waits = read.rate * self.times / files;
        for (value, factor) in [(class.read_delay, waits), (class.read, waits * read.bytes)] {
            self.network.add(self.site.parameters.values(), Part::of(station, value, factor, "waits for its record"));
        }
    }

    /// The table's times are of records of 128 KiB; smaller ones are more. A read at random has its first one in its own time,
    /// of whatever size.
    fn more_records(&mut self, at: usize, flow: &Flow, record: f64, records: f64, missed: f64) {
        let of_table = flow.bytes.max(records * record) / TABLE_RECORD;
        let first = if flow.write || !flow.random { 0.0 } else { 1.0 };
        let more = flow.rate * ((records - first) - (of_table - first).max(0.0));
        let why = "more records than of 128 KiB";
        if !flow.write {
            // Of records that were read from drives these are in the time of their bytes.
            let held = flow.rate * (1.0 - missed);
            self.work(flow.context, Parameter::ZfsRecordHit, held * (records - first), "more records");
            let found = held * records * (1.0 - self.in_dbufs(flow));
            self.work(flow.context, Parameter::ZfsRecordFound, found, "records that are found in the ARC");
        }
        if more <= 0.0 {
            return;
        }
        if !flow.random {
            self.work(flow.context, Parameter::ZfsReadIo, more * missed * self.contention, why);
        }
        if flow.write {
            let pool = self.pool_threads(at);
            self.work(pool, Parameter::ZfsRecordWrite, more, why);
        }
    }

    /// The threads of the pool, which do what no operation waits for: so many share it (`zio_taskq_batch_pct`).
    fn pool_threads(&self, at: usize) -> Context {
        Context::Behind { node: self.symmetry.of(at), servers: (self.site.threads() * ISSUERS).max(1.0) }
    }

    /// Writes are compressed by many threads of the pool. What is measured does not compress: a record that would not get smaller by an
    /// eighth is kept as it is, and reading it takes no decompression (`zio_compress_data` in module/zfs/zio_compress.c).
    fn compress(&mut self, at: usize, zfs: &Zfs, flow: &Flow, bytes: f64) {
        if !flow.write {
            return;
        }
        let (parameter, times) = match zfs.compression {
            ZfsCompression::Off => return,
            // Each miss makes steps longer, by one after so many: after n it has come n²/2 of these.
            ZfsCompression::Lz4 => (Parameter::Lz4Miss, (2.0 * LZ4_MISSES / zfs.recordsize.as_f64()).sqrt()),
            ZfsCompression::Zstd => (Parameter::Zstd, 1.0),
        };
        let pool = self.pool_threads(at);
        self.work(pool, parameter, bytes * times, "compression that finds nothing");
    }

    /// Share of reads that the ARC answers. Where the memory was told it holds what was written before; where not, nothing
    /// but what this workload read, as far as that is kept: each record is read once, and answers for all of its blocks.
    /// What a write reads first lies in a file that was laid out before, and who laid it out left it in the ARC
    /// (`arc_write_done`), which nobody empties before a write as many do before a read: a usual memory holds it.
    fn cached(&self, zfs: &Zfs, flow: &Flow) -> f64 {
        if !self.conditions.warm || zfs.primarycache != ZfsCache::All {
            return 0.0;
        }
        match self.site.machine.memory.size {
            Some(memory) => {
                let share = memory.as_f64() * ARC_SHARE / self.conditions.span.as_f64().max(1.0);
                // A stream comes back to what was dropped first (`arc_evict_state` takes from the tail of each list).
                if share < 1.0 && !flow.random { 0.0 } else { share.min(1.0) }
            }
            None => {
                let usual = self.site.threads() * USUAL_MEMORY * ARC_SHARE / self.conditions.span.as_f64().max(1.0);
                usual.min(1.0) * if flow.write { 1.0 } else { self.read_again(zfs, flow) }
            }
        }
    }

    /// Share of records that are in the dbuf cache, where memory was told: that has a share of what the ARC aims at, which
    /// begins at its least and grows with what it is given (`arc_init`, `dbuf_cache_shift`).
    fn in_dbufs(&self, flow: &Flow) -> f64 {
        let Some(memory) = self.site.machine.memory.size.map(Bytes::as_f64) else { return 0.0 };
        let span = self.conditions.span.as_f64().max(1.0);
        let share = span.clamp(memory * ARC_LEAST, memory * ARC_SHARE) * DBUFS / span;
        if flow.random { share.min(1.0) } else { f64::from(u8::from(share >= 1.0)) }
    }

    /// Share of reads at random places that find the record of an earlier one, while each block is read once: of `n` in `b`
    /// blocks, a record of `k` blocks was met with the probability `1 - (1 - n/b)^k`. Records of a stream are counted once each.
    fn read_again(&self, zfs: &Zfs, flow: &Flow) -> f64 {
        if !flow.random {
            return 0.0;
        }
        let record = zfs.recordsize.as_f64();
        let span = self.conditions.span.as_f64().max(record);
        let blocks = (span / flow.bytes).max(1.0);
        let per_record = (record / flow.bytes).max(1.0);
        let each = self.first_drive().map_or(1.0, |drive| {
            let class = self.class_of(drive);
            self.site.parameters.value(class.read_delay) + self.site.parameters.value(class.read) * record
        });
        let reads = (self.conditions.window.as_seconds() * self.jobs / each).clamp(1.0, blocks);
        let met = blocks / per_record * (1.0 - (1.0 - reads / blocks).powf(per_record));
        (1.0 - met / reads).clamp(0.0, 1.0)
    }

    pub(super) fn pool(&mut self, stack: &Stack, at: usize, zfs: &Zfs, flow: &Flow) {
        let node = &stack.nodes[at];
        let devices = count(node.on.len());
        let place = placement(zfs, flow.bytes, devices);
        let gone = usize::from(self.conditions.state == ArrayState::Degraded && zfs.layout != ZfsLayout::Stripe);
        let here = node.on.len() - gone.min(node.on.len() - 1);
        let touched = if flow.write { place.writes } else { place.reads };
        let vdevs = (devices / place.vdev).max(1.0);
        // What a lost device would have answered the others do: a mirror's copies as they are, of raidz data or parity in its
        // place, from which it is computed.
        let instead = if flow.write { 1.0 } else { devices / count(here) };
        if instead > 1.0 && touched > 1.0 {
            let lost = flow.rate * flow.bytes / devices;
            self.work(flow.context, Parameter::ParityByte, lost * touched, "what the lost device held");
        }
        let raidz = place.writes > place.reads && zfs.layout != ZfsLayout::Mirror;
        // Heads pass over what they do not read of each record: the parity that is there and not needed.
        let there = place.writes - if gone > 0 { 1.0 } else { 0.0 };
        let passes = if raidz && !flow.write { (there / place.reads).max(1.0) } else { 1.0 };
        let each = self.aggregated(Flow {
            bytes: flow.bytes * place.piece,
            rate: flow.rate * instead * touched / place.vdev / vdevs,
            wide: flow.wide * touched,
            passes,
            ..*flow
        });
        if flow.write && raidz {
            // `vdev_raidz_generate_parity`
            let pool = self.pool_threads(at);
            let parity = flow.rate * flow.bytes * (place.writes - place.reads);
            self.work(pool, Parameter::ParityByte, parity, "parity of records");
        }
        if flow.write && zfs.layout == ZfsLayout::Mirror {
            let pool = self.pool_threads(at);
            let copies = flow.rate * flow.bytes * (place.writes - 1.0);
            self.work(pool, Parameter::ZfsCopy, copies, "further copies");
        }
        if flow.write {
            self.vdev_limit(at, &each, vdevs);
        }
        if zfs.layout == ZfsLayout::Mirror && !flow.write && !flow.random && self.jobs < 1.5 && self.is_hdd(stack) {
            // Heads are left where they are: one stream stays with one member (`zfs_vdev_mirror_rotating_inc`).
            self.ask(0, *flow);
            return;
        }
        for which in 0..here {
            self.ask(which, each);
        }
    }

    /// What lies side by side on a vdev is put together into one access.
    fn aggregated(&self, flow: Flow) -> Flow {
        let is_hdd = self.first_drive().is_some_and(|drive| self.class_of(drive).kind == DriveKind::Hdd);
        let most = if is_hdd { AGGREGATED_HDD } else { AGGREGATED };
        let times = if flow.random { 1.0 } else { (most / flow.bytes).max(1.0) };
        Flow { bytes: flow.bytes * times, rate: flow.rate / times, seeks: flow.seeks * times, ..flow }
    }

    /// Ways of the head for so many bytes of a record on one drive, at the rate at which it writes: a group has as many of them
    /// however its records are spread.
    fn commit_seeks(&self, piece: f64) -> f64 {
        let Some(drive) = self.first_drive() else { return 0.0 };
        let each = self.site.parameters.value(self.class_of(drive).write) * piece;
        self.site.parameters.get(Parameter::ZfsCommit) * each / GROUP
    }

    /// Is any of the drives one with heads?
    pub(crate) fn is_hdd(&self, stack: &Stack) -> bool {
        let all = stack.nodes.iter().flat_map(LayerNode::below);
        let mut kinds = all.filter_map(|under| match under {
            Ref::Drive(name) => self.site.drive(name.as_str()),
            Ref::Layer(_) => None,
        });
        kinds.any(|drive| self.class_of(drive).kind == DriveKind::Hdd)
    }

    /// Few writes under way on each vdev: each takes what a write alone takes on the drive, and its bytes.
    fn vdev_limit(&mut self, at: usize, each: &Flow, vdevs: f64) {
        let Some(drive) = self.first_drive() else { return };
        let class = self.class_of(drive);
        if class.kind == DriveKind::Hdd {
            // A hard disk needs no more than one under way for what lies side by side.
            return;
        }
        let station = self.network.station(Resource::Vdev(self.symmetry.of(at)), vdevs, 1.0, Slot::None);
        let values = self.site.parameters.values();
        let over = Parameter::ZfsActive.place();
        let alone = Part::of(station, class.write_delay, each.rate * self.times, "a write alone, few under way");
        self.network.add(values, Part { over, ..alone });
        let bytes = Part::of(station, class.write, each.rate * each.bytes * self.times, "its bytes");
        self.network.add(values, Part { over, ..bytes });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Layout, devices, KiB of a record, and how many devices' bytes are data: of records of a sector in raidz2 one of three, of two
    /// sectors two of six, for the parity and one more divide what is taken.
    #[test]
    fn small_records_of_raidz_take_the_room_of_their_parity_and_padding() {
        for (layout, devices, kib, data) in [
            (ZfsLayout::Stripe, 4.0, 128.0, 4.0),
            (ZfsLayout::Mirror, 2.0, 128.0, 1.0),
            (ZfsLayout::Mirror, 2.0, 2.0, 0.5),
            (ZfsLayout::Raidz2, 12.0, 4.0, 4.0),
            (ZfsLayout::Raidz2, 12.0, 8.0, 4.0),
            (ZfsLayout::Raidz2, 12.0, 16.0, 8.0),
            (ZfsLayout::Raidz1, 5.0, 128.0, 4.0),
        ] {
            let zfs = Zfs { layout, ..Zfs::default() };
            let found = placement(&zfs, kib * 1024.0, devices).room * devices;
            assert!((found - data).abs() < 1e-9, "{layout:?}, {kib} KiB: {found}");
        }
    }
}
