//! Buffered I/O: what the page cache makes of a workload before the stack sees it.
//!
//! Reads in order come as requests of the read-ahead window, the next under way while one is copied; reads at random places
//! wait for their own pages. Writes end in memory. The kernel's flusher writes them in larger requests, and writers wait for it
//! when more is dirty than the kernel allows.

use terms::workload::{Engine, PageCache};
use terms::{Layer, Stack, Workload};

use crate::cached::{Cached, Shares};
use crate::calls::hands_over_writes;
use crate::compiler::{Compiler, count};
use crate::flow::{Context, Flow, PAGE, Waits};
use crate::layer::upwards;
use crate::network::Resource;
use crate::parameter::Parameter;
use crate::site::EVEN;

/// Read-ahead of a device that tells no best size, in bytes (`VM_READAHEAD_PAGES` in include/linux/pagemap.h).
const READ_AHEAD: f64 = 131_072.0;
/// Of one that does: two of its stripes (`disk_update_readahead` in block/blk-settings.c, and LVM's `read_ahead = auto`).
const STRIPES: f64 = 2.0;
/// Of btrfs at least, in bytes (`open_ctree` in fs/btrfs/disk-io.c).
const BTRFS: f64 = 4_194_304.0;
/// fio announces that it reads in order, which doubles the window (`fadvise_hint` in fio(1), `POSIX_FADV_SEQUENTIAL` in
/// mm/fadvise.c).
const ANNOUNCED: f64 = 2.0;
/// Windows under way: one is read while the one before it is copied (`page_cache_async_ra` in mm/readahead.c).
const WINDOWS: f64 = 2.0;
/// Most that read-ahead makes of what is asked for: where few of the accesses read, or none, it is little all the same.
const MOST_BEYOND: f64 = 8.0;
/// Largest request of the flusher, in bytes: 256 pages (`BIO_MAX_VECS`).
const WRITTEN: f64 = 1_048_576.0;
/// First kernels that read in order, and write, in folios of several pages (`mapping_set_large_folios`; "iomap: Create large
/// folios in the buffered write path" d6bb59a9444d, "ext4: enable large folio for regular file" 7ac67301e82f).
const XFS_FOLIOS: [(u32, u32); 2] = [(5, 18), (6, 6)];
const EXT4_FOLIOS: [(u32, u32); 2] = [(6, 16), (6, 16)];
/// Shares of memory that may be dirty before the flusher begins, and before writers wait: 10 %, and half-way to 20 %
/// (`dirty_background_ratio`, `dirty_ratio`, and `dirty_freerun_ceiling` in mm/page-writeback.c).
const BEGINS: f64 = 0.1;
const WAITS: f64 = 0.15;

/// Times that a share is sought which depends on the speed that it leads to, and how near two speeds are where it was found.
pub(crate) const TRIES: usize = 4;
pub(crate) const NEAR: f64 = 1e-3;

/// How often a span is gone over.
struct Passes {
    /// Accesses to each place in a pass of all jobs.
    touches: f64,
    /// Passes within the time at the drives' pace.
    paced: f64,
    /// How far each job comes in a pass, as a share.
    share: f64,
}

impl Compiler<'_> {
    /// What the page cache makes of a workload on this stack; `None` for direct I/O.
    pub(crate) fn through_cache(&self, stack: &Stack, work: &Workload) -> Option<Cached> {
        if !takes_part(stack, work) {
            return None;
        }
        let (block, random) = (work.block.as_f64(), work.pattern.random());
        let found = if work.page_cache() == PageCache::Warm { 1.0 } else { 1.0 - self.shares.missed };
        let hits = found * self.held(random);
        let whole = |least: f64| if random { block.max(PAGE) } else { block.max(least) };
        let window = read_ahead(stack) * ANNOUNCED;
        let requests = [whole(window), whole(WRITTEN)];
        let raw = !stack.top().is_some_and(|top| top.layer.is_file_system());
        let handed = takes_writes(stack);
        let beyond = if random { 1.0 } else { self.beyond_the_end(work, block, window, raw) };
        Some(Cached { hits, requests, beyond, synced: self.every.is_some(), raw, handed })
    }

    /// Bytes read for each byte that a pass asks for. When a job begins with a window the kernel asks for the next one; what
    /// the last two hold beyond the job's end is dropped. The next job finds it, where jobs are side by side; a file ends there.
    fn beyond_the_end(&self, work: &Workload, block: f64, window: f64, raw: bool) -> f64 {
        let jobs = if work.shares_bytes() { 1.0 } else { self.jobs };
        let part = self.span() / jobs;
        let reads = part * work.read_share();
        let read = read_ahead_of(reads, block, window);
        let last = if raw { read } else { read.min(part) };
        let others = read.min(part) * (jobs - 1.0);
        ((last + others) / (reads * jobs)).clamp(1.0, MOST_BEYOND)
    }

    /// Share of the span that memory holds. Of what is gone over in order the oldest is dropped first: all of it, or none.
    fn held(&self, random: bool) -> f64 {
        let Some(memory) = self.site.machine.memory.size else { return 1.0 };
        let share = memory.as_f64() / self.span();
        if random { share.min(1.0) } else { f64::from(u8::from(share >= 1.0)) }
    }

    /// Operations of each job that are under way: a buffered read waits for its own pages, whatever the depth, but where
    /// io_uring asks for more (`FMODE_BUF_RASYNC`).
    pub(crate) fn depth_through_cache(&self, work: &Workload) -> f64 {
        match (work.pattern.reads(), work.pattern.random()) {
            (true, false) => WINDOWS,
            (true, true) if work.engine == Engine::IoUring => self.depth,
            _ => 1.0,
        }
    }

    /// Does each job have its operation done before it asks for the next, whatever depth it is given? More jobs are what there can be
    /// more of then.
    pub(crate) fn asks_one_by_one(&self, stack: &Stack, work: &Workload) -> bool {
        let ring = work.engine == Engine::IoUring && work.pattern.reads() && work.pattern.random();
        let by_pages = if self.cached.is_some() { !ring } else { self.falls_back && self.writes >= 1.0 };
        work.engine == Engine::Psync || (is_zfs(stack) && self.one_by_one.is_none()) || by_pages
    }

    /// What of an access the stack is asked for.
    pub(crate) fn beyond_cache(&self, top: usize, flow: Flow) -> Flow {
        let Some(cached) = self.cached else { return flow };
        let bytes = cached.requests[usize::from(flow.write)];
        // What a device without a file system writes back comes page by page (`block_write_full_page` in fs/buffer.c).
        let flow = Flow { paged: flow.write && cached.raw, ..flow };
        let of = |share: f64| Flow { bytes, rate: flow.rate * share * flow.bytes / bytes, ..flow };
        match flow.write {
            false => of((1.0 - cached.hits) * cached.beyond),
            // All that an `fsync` waits for is written side by side.
            true if cached.synced => Flow { bytes: flow.bytes.max(PAGE), batch: self.every.unwrap_or(1.0), ..flow },
            true => Flow { context: self.flusher(top), waits: Waits::Nobody, ..of(self.shares.written) },
        }
    }

    /// What calls take besides that go through the page cache: its pages, a copy, and requests to the block layer. The call
    /// itself takes as long as one past it (counted; crates/bedplate/tests/studies/page-cache.toml).
    pub(crate) fn demand_of_pages(&mut self, stack: &Stack, work: &Workload, cached: &Cached) {
        let (reads, block) = (work.read_share(), work.block.as_f64());
        let (writes, pages) = (1.0 - reads, (block / PAGE).max(1.0));
        let thread = Context::Thread;
        let top = stack.top().map(|top| &top.layer);
        // Pages are made before the drives are asked, and copied when they are there.
        self.network.entire = work.pattern.random();
        let missed = reads * (1.0 - cached.hits);
        self.work(thread, Parameter::CachedPage, pages, "pages that are looked up");
        self.work(thread, Parameter::CachedByte, block, "copied");
        self.memory(block * 2.0, "copied between the program and the page cache");
        let [new_read, new_written, flush] = self.pages(top, work.pattern.random());
        self.work(thread, new_read, missed * pages, "pages that are new in the cache");
        if writes > 0.0 {
            self.delay(Parameter::One.place(), self.shares.ends, "waits for what is written at the end of a pass");
            self.work(thread, new_written, writes * (1.0 - cached.hits) * pages, "pages that are new in the cache");
            self.work(thread, Parameter::CachedDirty, writes * pages, "pages that are written to");
            let flusher = if cached.synced { thread } else { self.flusher(stack.nodes.len() - 1) };
            let written = writes * if cached.synced { 1.0 } else { self.shares.written };
            self.work(flusher, flush, written * pages, "pages that are written back");
            self.work(
                flusher,
                Parameter::CachedRequest,
                written * block / cached.requests[1],
                "request of what is written",
            );
        }
        let requests = missed * cached.beyond * block / cached.requests[0];
        self.work(thread, Parameter::CachedRequest, requests * self.contention, "request of what is read");
        if top.is_some_and(Layer::is_file_system) {
            self.work(thread, Parameter::FileRead, requests * self.contention, "file system");
            self.work(thread, Parameter::FileWrite, writes * self.contention, "file system");
        }
        self.network.entire = false;
    }

    /// What a page takes that is read, one that is written, and one that is written back: less in folios of several pages, as
    /// they come of reads in order and of writes.
    fn pages(&self, top: Option<&Layer>, random: bool) -> [Parameter; 3] {
        let [reads, writes] = match top {
            Some(Layer::Xfs(_)) => XFS_FOLIOS,
            Some(Layer::Ext4(_)) => EXT4_FOLIOS,
            _ => return [Parameter::CachedNew, Parameter::CachedNew, Parameter::CachedFlush],
        };
        let of = |from, large, small| if !random && self.site.kernel_from(from) { large } else { small };
        let new = |from| of(from, Parameter::CachedFolio, Parameter::CachedNew);
        [new(reads), new(writes), of(writes, Parameter::CachedFolioFlush, Parameter::CachedFlush)]
    }

    /// One job reads in order: each window takes the thread and the drives the same time, so that neither waits for chance.
    pub(crate) fn even_streams(&mut self, work: &Workload) {
        if self.cached.is_none() || work.pattern.random() || work.pattern.writes() || self.jobs > 1.5 {
            return;
        }
        let alike = |of| matches!(of, Resource::Thread | Resource::Cores | Resource::Drive(..));
        for station in self.network.stations.iter_mut().filter(|station| alike(station.resource)) {
            station.even = EVEN;
        }
    }

    /// The kernel's thread that writes back: one for each file system or device.
    fn flusher(&self, top: usize) -> Context {
        Context::Behind { node: self.symmetry.of(top), servers: 1.0 }
    }

    /// May what goes on to the drives depend on the speed? With ZFS, of writes, where the memory is known.
    pub(crate) fn follows_speed(&self, stack: &Stack, work: &Workload) -> bool {
        if is_zfs(stack) {
            return work.pattern.writes() && self.site.machine.memory.size.is_some();
        }
        self.cached.is_some()
    }

    /// What goes on to the drives, where so many operations a second would be done if all went on, and where so many are
    /// done; `None` where all goes on whatever the speed.
    pub(crate) fn shares(&self, stack: &Stack, work: &Workload, slowly: f64, done: f64) -> Option<Shares> {
        if let Some(Layer::Zfs(zfs)) = stack.top().map(|top| &top.layer) {
            return self.groups(stack, zfs, work, done);
        }
        let cached = self.cached?;
        let touches = if work.shares_bytes() { self.jobs } else { 1.0 };
        let seconds = work.window.unwrap_or(self.conditions.window).as_seconds();
        let block = work.block.as_f64();
        let passes = |rate: f64| rate * seconds * block / touches / self.span();
        // In order all jobs are at the same place.
        let share = if work.pattern.random() { passes(done).min(1.0) } else { 1.0 };
        let passes = Passes { touches, paced: passes(slowly), share };
        let brought = Shares { missed: first_to_touch(touches, share), ..Shares::ALL };
        let shares = match self.site.machine.memory.size {
            Some(memory) if !cached.synced && work.pattern.writes() => {
                let taken = slowly * block * self.writes * seconds;
                Shares { missed: brought.missed, ..self.written(work, memory.as_f64(), &passes, taken) }
            }
            _ => brought,
        };
        (shares.missed < 1.0 || shares.written < 1.0 || shares.ends > 0.0).then_some(shares)
    }

    /// What of the writes goes on, where drives take so many bytes within the time if all go on.
    fn written(&self, work: &Workload, memory: f64, passes: &Passes, taken: f64) -> Shares {
        let cold = work.page_cache() == PageCache::Cold;
        if !cold && self.span() <= memory * BEGINS {
            return Shares { written: 0.0, ..Shares::ALL };
        }
        let raw = self.cached.is_some_and(|cached| cached.raw);
        // Of a device, fio waits for what it writes at the end of a pass (`BLKFLSBUF`), which keeps jobs apart: each
        // finds what all have written since the one before it. Of files it asks that they be written (`POSIX_FADV_DONTNEED`),
        // which takes as long where neither workers of a layer nor long queues take it; jobs stay side by side.
        let handed = self.cached.is_some_and(|cached| cached.handed);
        let waits = raw || (self.piece().is_some() && !handed);
        let most = if raw { 1.0 / self.jobs } else { 1.0 };
        // A page that is on its way may be written to, and is dirty again.
        let kept = if cold && !handed { self.span().min(memory * WAITS) } else { memory * WAITS };
        // Until so much of the span is dirty.
        let full = 1.0 - (1.0 - (kept / self.span()).min(1.0)).powf(1.0 / passes.touches);
        let distinct = first_to_touch(passes.touches, passes.share.min(full).min(most));
        // What ends within the time.
        let ended = if waits && cold { passes.paced.min(1.0) } else { 0.0 };
        let written = distinct * (ended + (1.0 - ended) * taken / (taken + kept));
        // As much as there was before the flusher began is dirty where the pass ends.
        let dirty = (memory * BEGINS).min(self.span());
        let each = self.network.population * self.writes * distinct * self.writeback * dirty / self.span();
        Shares { written, ends: each * ended, ..Shares::ALL }
    }

    /// Bytes that are worked on.
    fn span(&self) -> f64 {
        self.conditions.span.as_f64().max(PAGE)
    }
}

/// Share of accesses that are the first to their place, where a pass over all places has so many to each, in an order of
/// chance, and such a share of a pass was done. A job meets each block once in a pass of its own (`norandommap` in fio(1)):
/// of `n` accesses to a place none was done with the probability `(1 - x)^n`.
pub(crate) fn first_to_touch(touches: f64, pass: f64) -> f64 {
    if pass <= 0.0 {
        return 1.0;
    }
    (1.0 - (1.0 - pass.min(1.0)).powf(touches)) / (touches * pass)
}

/// Bytes that are read of a stream that ends after so many: windows grow from the first request to the largest
/// (`get_init_ra_size` and `get_next_ra_size` in mm/readahead.c), and there is one more than the stream has come to.
fn read_ahead_of(bytes: f64, request: f64, largest: f64) -> f64 {
    let mut window = (request.min(largest) * if request <= largest / 32.0 { 4.0 } else { 2.0 }).min(largest);
    let mut all = window;
    while all < bytes && window < largest {
        let times = if window < largest / 16.0 { 4.0 } else { 2.0 };
        window = (window * times).min(largest);
        all += window;
    }
    let next = (window * 2.0).min(largest);
    all.max((bytes / largest).ceil() * largest) + next
}

/// Does the page cache take part in a workload on this stack? ZFS has a cache of its own.
pub(crate) fn takes_part(stack: &Stack, work: &Workload) -> bool {
    work.is_buffered() && !is_zfs(stack)
}

/// Is what files write taken by workers of dm-crypt right below them? btrfs waits for its checksums and trees, and a layer between
/// hands on what it is handed.
fn takes_writes(stack: &Stack) -> bool {
    let mut layers = stack.nodes.iter().rev().map(|node| &node.layer);
    if !matches!(layers.next(), Some(Layer::Ext4(_) | Layer::Xfs(_))) {
        return false;
    }
    layers.next().is_some_and(|layer| layer.traits().encrypts && hands_over_writes(layer, false))
}

/// Does ZFS answer the calls?
pub(crate) fn is_zfs(stack: &Stack) -> bool {
    stack.top().is_some_and(|top| matches!(top.layer, Layer::Zfs(_)))
}

/// Bytes of the read-ahead window of what a stack's workloads see.
fn read_ahead(stack: &Stack) -> f64 {
    upwards(stack, READ_AHEAD, |node, inherited| {
        let members = node.on.len();
        let striped = |chunk: f64, data: usize| if data > 1 { STRIPES * chunk * count(data) } else { 0.0 };
        let own = match &node.layer {
            Layer::Raid(raid) => striped(raid.chunk.as_f64(), raid.level.data_members(members)),
            Layer::Lvm(lvm) => striped(lvm.stripe.as_f64(), lvm.volume.data_members(members)),
            Layer::Btrfs(_) => BTRFS.max(READ_AHEAD * count(members)),
            _ => 0.0,
        };
        inherited.max(own)
    })
}
