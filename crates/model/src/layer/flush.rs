//! Flushes: what `fsync` waits for.

use terms::layer::Checksums;
use terms::machine::DriveKind;
use terms::workload::FioKey;
use terms::{Layer, Stack, Workload};

use crate::compiler::{Compiler, count};
use crate::flow::Context;
use crate::layer::upwards;
use crate::layer::zfs::placement;
use crate::network::{DELAY, Part, Resource, Serial, Slot};
use crate::page_cache::is_zfs;
use crate::parameter::{Parameter, SWITCHES};
use crate::site::Class;

/// Largest block of ZFS' intent log, in bytes (`zil_maxblocksize`, OpenZFS module parameters).
const LOG_BLOCK: f64 = 131_072.0;
/// Sizes that its blocks have, in bytes: the least that holds what is logged (`zil_block_buckets` in module/zfs/zil.c, OpenZFS 2.0 to 2.2).
const LOG_BLOCKS: [f64; 4] = [4096.0, 12_288.0, 36_864.0, 69_632.0];
/// Of a block only what is used is written, in such units (`ZIL_MIN_BLKSZ`), but on raidz (`zio_shrink` in module/zfs/zio.c).
const LOG_UNIT: f64 = 4096.0;
/// Of a write of so many bytes the log has a record and no data: those go to their place at once, where no device is there for the log
/// (`zfs_immediate_write_sz` in module/zfs/zfs_log.c).
const LOG_INDIRECT: f64 = 32_768.0;
/// Buffers of XFS' log that are written side by side (`XLOG_MAX_ICLOGS` in fs/xfs/xfs_log_priv.h).
const LOG_BUFFERS: f64 = 8.0;
/// What the log writes beside the data of a write, and in each of its blocks, in bytes (`lr_write_t` and `zil_chain_t` in
/// include/sys/zil.h).
const RECORD: f64 = 192.0;

/// What of the time of ZFS' log its lock is held for: copies into blocks, room for them and their start, and not the making of records
/// nor what comes after a block has ended. Taken for half: the time was counted as a whole.
const LOCKED: f64 = 0.5;

/// How far a place is from the middle in the mean, as a share of all: there mke2fs and mkfs.xfs put the journal by themselves
/// (`ext2fs_add_journal_inode`, manual page of mkfs.xfs under *agnum*).
const FROM_THE_MIDDLE: f64 = 0.25;

/// A write past the cache, and a flush.
pub(super) const TWICE: f64 = 2.0;

impl Compiler<'_> {
    /// Adds what flushing after every so many writes takes.
    ///
    /// Every drive that holds data flushes, side by side; meanwhile it does little else. A file system with a journal
    /// commits as [`log`](Self::log) says.
    pub(crate) fn demand_of_flushes(&mut self, stack: &Stack, work: &Workload) {
        let Some(every) = work.flushed_every().filter(|_| self.writes > 0.0) else { return };
        let share = self.writes / f64::from(every.max(1));
        let mut log = self.log(stack, work, every);
        let twice = if self.is_hdd(stack) { 1.0 } else { commits_of_journals(stack) };
        log.flushes *= twice;
        let to_the_middle = log_in_the_middle(stack);
        let block = log_block(stack, work, every, log.flushes);
        let values = self.site.parameters.values();
        let width = count(self.used.len().max(1));
        let mut slowest: Option<&Class> = None;
        for at in 0..self.network.stations.len() {
            let Resource::Drive(class, _) = self.network.stations[at].resource else { continue };
            let class = &self.site.classes[class as usize];
            let flush = |of: &Class| values[of.flush as usize];
            slowest = slowest.filter(|other| flush(other) >= flush(class)).or(Some(class));
            let station = u16::try_from(at).unwrap_or(DELAY);
            let waits = log.flushes.max(1.0) / log.flushes / width;
            let part = if log.commit != Commit::None && to_the_middle && finds_its_way(class) {
                // There and back, of which writes at random places count the way within their span themselves; and then the commit
                // waits for a turn: its block is behind what was just written.
                let counted = if work.pattern.random() { class.reach(self.conditions.span.as_f64()) } else { 0.0 };
                let ways = (TWICE * class.reach_in_all(FROM_THE_MIDDLE) - counted).max(1.0);
                Part::of(station, class.position, share * log.flushes * ways, "ways to the journal and back")
            } else {
                Part::of(station, class.flush, share * log.flushes, "flush of the drive")
            };
            self.network.add(values, Part { share: waits, ..part });
            let block = Part::of(station, class.write, share * log.flushes * block, "blocks of the log");
            self.network.add(values, Part { share: waits, ..block });
            if log.commit == Commit::None && log.writes && answers_at_once(class) {
                let way = Part::of(station, class.position, share * log.flushes, "way to the log");
                self.network.add(values, Part { share: waits, ..way });
            }
        }
        let Some(class) = slowest else { return };
        match log.commit {
            Commit::None => {
                let waits = log.writes && !answers_at_once(class);
                let alone =
                    Part::of(DELAY, class.write_delay, share * f64::from(u8::from(waits)), "a block of the log");
                self.network.add(values, alone);
                if log.writes {
                    // A thread of the pool issues the block (`ZIO_STAGE_ISSUE_ASYNC`), others are told that it and its flush are
                    // there, and the last wakes the caller: two switches more than of one who asks the drive itself.
                    self.delay(Parameter::HandoffRead.place(), share, "handed to threads of the pool and back");
                    self.await_others(class, share);
                }
            }
            Commit::Alone => self.network.add(values, Part::of(DELAY, class.commit, share * twice, "commit")),
            Commit::Together => {
                let station = self.network.station(Resource::Serial(Serial::Commit, 0), 1.0, 1.0, Slot::Own);
                // Where all others wait, that is one more commit, flush and all.
                let each = (self.jobs - 1.0).max(1.0).recip();
                let part = Part::of(station, class.commit, share * twice * each, "commit for all jobs that wait");
                self.network.add(values, Part { share: each.recip(), ..part });
                if self.jobs > 1.5 {
                    let behind = Part::of(station, class.flush, share * twice * each, "flush of the commit before it");
                    self.network.add(values, Part { share: 0.0, ..behind });
                }
            }
        }
    }

    /// A block of ZFS' log that is not full waits for who comes meanwhile, for a share of what the one before it took. Then a timer
    /// wakes who began it (`zil_commit_waiter` in module/zfs/zil.c).
    fn await_others(&mut self, class: &Class, share: f64) {
        let block = if answers_at_once(class) { class.position } else { class.write_delay };
        for value in [block, class.flush] {
            let part = Part::of(DELAY, value, share, "a block of the log that waits for others");
            let by = [value, Parameter::ZfsLogWait.place()];
            self.network.add(self.site.parameters.values(), Part { by, ..part });
        }
        self.delay(Parameter::HandoffRead.place(), share / SWITCHES, "woken by a timer");
    }

    /// Processor time of flushes: the call, and each array that it goes through.
    pub(crate) fn calls_of_flushes(&mut self, stack: &Stack) {
        let share = self.every.map_or(0.0, |every| self.writes / every);
        self.work(Context::Thread, Parameter::FlushCall, share, "call of a flush");
        let by_md = |layer: &Layer| match layer {
            Layer::Raid(_) => true,
            Layer::Lvm(lvm) => lvm.volume.is_raid(),
            _ => false,
        };
        let arrays = stack.nodes.iter().filter(|node| by_md(&node.layer)).count();
        self.work(Context::Thread, Parameter::MdFlush, share * count(arrays), "flush through md");
        if is_zfs(stack) && share > 0.0 {
            self.intent_log(share);
        }
    }

    /// What ZFS takes for its intent log: of each write a record, and for each `fsync` a block. Who writes makes the record; who holds
    /// the lock of the log puts all records into blocks and hands these over (`zil_commit_writer` under `zl_issuer_lock`).
    fn intent_log(&mut self, share: f64) {
        let why = "records and blocks of the intent log";
        for (parameter, times) in [(Parameter::ZfsLogRecord, self.writes), (Parameter::ZfsLogBlock, share)] {
            let locked = times * LOCKED;
            self.work(Context::Thread, parameter, times - locked, why);
            self.cores(parameter, locked, why);
            self.serial(Serial::IntentLog, 0, parameter, locked, why);
        }
    }

    /// What the journal of the topmost file system makes of an `fsync`.
    fn log(&self, stack: &Stack, work: &Workload, every: u32) -> Log {
        let together = 1.0 / self.jobs;
        let grouped = commits(self.jobs);
        let log = |flushes: f64, commit, writes| Log { flushes, commit, writes };
        match stack.top().map(|top| &top.layer) {
            // What is in place already needs no commit, but a flush, where only data has to be safe (`ext4_fsync_journal` with
            // the transaction of the data, `xfs_file_fsync` with `datasync`).
            Some(Layer::Ext4(_) | Layer::Xfs(_)) if only_data(work) => log(together, Commit::None, false),
            Some(Layer::Ext4(ext4)) if ext4.journal => log(grouped, Commit::Together, true),
            Some(Layer::Btrfs(_)) => log(grouped, Commit::Together, true),
            // Each is pushed at once into a buffer of its own while there is one (`xlog_cil_push_now` in
            // fs/xfs/xfs_log_cil.c), and each buffer is written with a flush before it and past the cache.
            Some(Layer::Xfs(_)) => log((LOG_BUFFERS / self.jobs).min(1.0), Commit::Alone, true),
            // A block has a flush of its own and takes only so much of what was written; none has to say that it is whole, for
            // the next has its checksum.
            Some(Layer::Zfs(_)) => log(together.max(logged(work, every) / LOG_BLOCK), Commit::None, true),
            _ => log(together, Commit::None, false),
        }
    }
}

/// Bytes that ZFS logs of so many writes.
fn logged(work: &Workload, every: u32) -> f64 {
    let data = Some(work.block.as_f64()).filter(|&block| block < LOG_INDIRECT).unwrap_or_default();
    f64::from(every.max(1)) * (data + RECORD)
}

/// Bytes that a block of ZFS' log writes on each drive, on average over all of them.
fn log_block(stack: &Stack, work: &Workload, every: u32, flushes: f64) -> f64 {
    let Some((zfs, devices)) = stack.top().and_then(|top| match &top.layer {
        Layer::Zfs(zfs) => Some((zfs, count(top.on.len()))),
        _ => None,
    }) else {
        return 0.0;
    };
    let holds = logged(work, every) / flushes + RECORD;
    let block = match zfs.layout.parity() {
        None => ((holds / LOG_UNIT).ceil() * LOG_UNIT).min(LOG_BLOCK),
        Some(_) => LOG_BLOCKS.into_iter().find(|&most| holds <= most).unwrap_or(LOG_BLOCK),
    };
    let place = placement(zfs, block, devices);
    block * place.piece * place.writes / devices
}

/// Commits for each `fsync` of so many jobs. Who comes while one is under way waits until it has ended and for the next, which is
/// that of all who came meanwhile (`jbd2_log_wait_commit`; `btrfs_sync_log` waits for the log before it): half of them at a time.
pub(super) fn commits(jobs: f64) -> f64 {
    jobs.min(2.0) / jobs
}

/// Is it a hard disk that has a write when its cache does? Then the head goes there for the flush that follows, and not before.
fn answers_at_once(class: &Class) -> bool {
    class.kind == DriveKind::Hdd && class.cached
}

/// Is it one whose head has to be followed, for nobody told how long it takes to flush?
fn finds_its_way(class: &Class) -> bool {
    answers_at_once(class) && !class.flush_told
}

/// Does the topmost file system keep its journal in its middle, away from what is written? Over a journal of dm-integrity all of it is
/// first written to one place, and a thin pool puts side by side what was written one after the other.
fn log_in_the_middle(stack: &Stack) -> bool {
    let elsewhere = |layer: &Layer| {
        layer.traits().checksums == Checksums::Journalled
            || matches!(layer, Layer::Lvm(lvm) if lvm.thin_chunk.is_some())
    };
    matches!(stack.top().map(|top| &top.layer), Some(Layer::Ext4(_) | Layer::Xfs(_)))
        && !stack.nodes.iter().any(|node| elsewhere(&node.layer))
}

/// Has only the data to be safe: `fdatasync`, or `O_DSYNC`?
fn only_data(work: &Workload) -> bool {
    let keeps = |key: &FioKey| key.key == "fdatasync" && key.value != "0" || key.key == "sync" && key.value == "dsync";
    let all = |key: &FioKey| key.key == "sync" && !matches!(key.value.as_str(), "none" | "0" | "dsync");
    work.fsync_every.is_none() && work.keys.iter().any(keeps) && !work.keys.iter().any(all)
}

/// How many times as many flushes there are below journals of dm-integrity as above them: what is asked to be safe is first
/// written to the journal past the drive's cache, and then the cache is flushed (`integrity_commit` and
/// `dm_integrity_flush_buffers` in drivers/md/dm-integrity.c). A hard disk has nothing left to write by then.
fn commits_of_journals(stack: &Stack) -> f64 {
    let journals = |layer: &Layer| layer.traits().checksums == Checksums::Journalled;
    upwards(stack, 1.0, |node, most| if journals(&node.layer) { most * TWICE } else { most })
}

/// What an `fsync` waits for besides its data.
struct Log {
    /// Flushes of the drives for each.
    flushes: f64,
    commit: Commit,
    /// Is anything written for it?
    writes: bool,
}

/// The write that says that what came before is whole, and that goes past the drive's cache: as long as a flush.
#[derive(PartialEq, Eq)]
enum Commit {
    None,
    /// One for each.
    Alone,
    /// One for all that wait.
    Together,
}
