//! The workload's own threads: what their calls take, and how much longer beside one another.

use terms::layer::{RaidLevel, Volume};
use terms::machine::DriveKind;
use terms::workload::Engine;
use terms::{Layer, Ref, Stack, Workload};

use crate::compiler::Compiler;
use crate::flow::{Context, PAGE};
use crate::page_cache::is_zfs;
use crate::parameter::{Parameter, REFERENCE_JOBS, SWITCHES};

/// Most that dm-crypt takes of a write at once, in bytes: 256 pages (`BIO_MAX_VECS` in `crypt_map`, drivers/md/dm-crypt.c).
const WRITTEN_AT_ONCE: f64 = 256.0 * PAGE;
/// Of other requests, in bytes. They have as many entries, and neighbours in memory, as in huge pages, are one (`bio_iov_iter_get_pages`).
/// How many are, nobody tells: over LUKS reads of 4 MiB were decrypted by one worker, and those of 64 MiB by more (Sovereign Cloud
/// Stack, "Performance impact of disk encryption using LUKS", 2023).
const READ_AT_ONCE: f64 = 16.0 * 1_048_576.0;

impl Compiler<'_> {
    /// What fio, the system call, the block layer and a file system take.
    pub(crate) fn demand_of_calls(&mut self, stack: &Stack, work: &Workload) {
        let reads = work.read_share();
        for (parameter, share) in [(Parameter::ApiRead, reads), (Parameter::ApiWrite, 1.0 - reads)] {
            let engine = match work.engine {
                Engine::Libaio => Parameter::One,
                Engine::IoUring => Parameter::UringShare,
                // A RAM drive has done its work when it is asked (`brd_submit_bio`): nobody sleeps, and nobody is woken.
                Engine::Psync if self.answers_at_once(stack, parameter == Parameter::ApiWrite) => Parameter::Blocking,
                Engine::PosixAio | Engine::Psync => Parameter::ThreadShare,
            };
            let factor = share * self.contention * self.site.parameters.get(engine);
            self.work(Context::Thread, parameter, factor, "call and block layer");
        }
        if let Some(cached) = self.cached {
            return self.demand_of_pages(stack, work, &cached);
        }
        // What may not wait comes first, and what is refused then goes to a worker (`io_file_supports_nowait`, `io_queue_iowq`). Since
        // Linux 6.5 what is below a file system is not asked (caec5ebe77f9).
        let asks = !(stack.top().is_some_and(|top| top.layer.is_file_system()) && self.site.kernel_from((6, 5)));
        let refuses = |layer| takes_no_wait(layer).is_none_or(|first| !self.site.kernel_from(first));
        if work.engine == Engine::IoUring && asks && stack.nodes.iter().any(|node| refuses(&node.layer)) {
            const WHY: &str = "left to a worker of io_uring";
            self.delay(Parameter::HandoffRead.place(), 1.0 / SWITCHES, WHY);
            self.work(Context::Thread, Parameter::HandoffReadIo, self.contention, WHY);
        }
        if stack.top().is_some_and(|top| top.layer.is_file_system()) {
            for (parameter, share) in [(Parameter::FileRead, reads), (Parameter::FileWrite, 1.0 - reads)] {
                self.work(Context::Thread, parameter, share * self.contention, "file system");
            }
        }
        self.work(Context::Thread, Parameter::ApiByte, work.block.as_f64(), "pages of the block");
        // ZFS copies what it is given, `O_DIRECT` or not (until OpenZFS 2.3).
        if !is_zfs(stack) {
            let pages = work.block.as_f64() / PAGE * small_pages(work.block.as_f64() * self.depth);
            self.work(Context::Thread, Parameter::PagePin, pages, "pages that are pinned one by one");
        }
    }

    /// Is the first drive one that answers in the call itself?
    pub(crate) fn is_in_memory(&self) -> bool {
        let class = self.first_drive().map(|drive| self.class_of(drive));
        class.is_some_and(|class| class.kind == DriveKind::Ram && class.piece.is_none())
    }

    /// Do the drives tell no size that is best to ask for at once? Those in memory do not (drivers/block/brd.c, null_blk).
    pub(crate) fn tells_no_size(&self) -> bool {
        self.first_drive().is_some_and(|drive| self.class_of(drive).kind == DriveKind::Ram)
    }

    /// Is all done in the call itself?
    fn answers_at_once(&self, stack: &Stack, write: bool) -> bool {
        let later = if write {
            let plugged = stack.top().is_some_and(|top| top.layer.is_file_system());
            stack.nodes.iter().any(|node| hands_over_writes(&node.layer, plugged))
        } else {
            self.completes.iter().any(Option::is_some)
        };
        self.is_in_memory() && !later
    }

    /// Factor of operations' processor time while all jobs run, and what of it counts in the time of an operation while as
    /// many wait for their drives as do.
    pub(crate) fn crowded(&self, stack: &Stack, work: &Workload) -> (f64, f64) {
        let contention = self.site.parameters.get(Parameter::Contention);
        let reference = if self.site.machine.submit.is_some() { 1.0 } else { REFERENCE_JOBS };
        let crowded = |jobs: f64| 1.0 + contention * (jobs.max(1.0) - 1.0);
        let threads = self.site.threads();
        let of = |running: f64| self.beside(running) * crowded(running);
        let (all, running) = (self.jobs.min(threads), self.running(stack, work).min(threads));
        (of(all) / crowded(reference.min(threads)), of(running) / of(all))
    }

    /// Threads of the workload that run at a time: one that waits for its drive takes no processor from another.
    fn running(&self, stack: &Stack, work: &Workload) -> f64 {
        let parameters = &self.site.parameters;
        let Some(class) = self.first_drive().map(|drive| self.class_of(drive)) else { return self.jobs };
        let of = |read: f64, write: f64| work.read_share() * read + (1.0 - work.read_share()) * write;
        let call = of(parameters.get(Parameter::ApiRead), parameters.get(Parameter::ApiWrite))
            + parameters.get(driver(class.kind));
        let works =
            call * parameters.get(Parameter::CpuFactor) + work.block.as_f64() * parameters.get(Parameter::ApiByte);
        let waits = of(parameters.value(class.read_delay), parameters.value(class.write_delay));
        // ZFS has no asynchronous way in.
        let one = stack.nodes.iter().any(|node| matches!(node.layer, Layer::Zfs(_)));
        let depth = if one { 1.0 } else { self.depth };
        self.jobs * (depth * works / (works + waits)).min(1.0)
    }

    /// Time of a thread relative to one whose core's other thread is busy, as on the reference machine: so many run, and a core
    /// of its own is found for each while there is one. A core of a name that has but one thread is always its own.
    fn beside(&self, running: f64) -> f64 {
        let machine = &self.site.machine;
        let cores = f64::from(machine.cores.max(1));
        let alone = self.site.parameters.get(Parameter::Alone);
        if machine.submit.is_some() {
            return 1.0;
        }
        if machine.threads <= machine.cores {
            return if self.site.named { alone } else { 1.0 };
        }
        let shared = (2.0 * (running - cores) / running.max(1.0)).clamp(0.0, 1.0);
        alone + (1.0 - alone) * shared
    }
}

/// Do reads come back in workers of that layer?
pub(crate) fn hands_over_reads(layer: &Layer) -> bool {
    match layer {
        Layer::Integrity(_) => true,
        Layer::Luks(luks) => luks.integrity.is_some() || !luks.flags.no_read_workqueue,
        Layer::Crypt(crypt) => !crypt.flags.no_read_workqueue,
        Layer::Lvm(lvm) => lvm.integrity.is_some(),
        _ => false,
    }
}

/// Most bytes of an operation that a worker of device-mapper gets at once, where no layer above it cuts; `cuts`: does dm-crypt itself?
pub(crate) fn taken_at_once(stack: &Stack, work: &Workload, cuts: bool) -> Option<f64> {
    let mut next = stack.top();
    while let Some(node) = next {
        let encrypts = node.layer.traits().encrypts;
        let hands_over = hands_over_reads(&node.layer) || hands_over_writes(&node.layer, false);
        if encrypts && hands_over || matches!(node.layer, Layer::Integrity(_)) {
            let most = if encrypts && work.pattern.writes() { WRITTEN_AT_ONCE } else { READ_AT_ONCE };
            return Some(most).filter(|_| !(encrypts && cuts));
        }
        next = match node.on.as_slice() {
            [Ref::Layer(below)] => stack.nodes.iter().find(|other| other.name == *below),
            _ => None,
        };
    }
    None
}

/// Does somebody else submit what is written through that layer: md's thread, or a worker?
pub(crate) fn hands_over_writes(layer: &Layer, plugged: bool) -> bool {
    let mirror = |level: RaidLevel| matches!(level, RaidLevel::Raid1 | RaidLevel::Raid10);
    match layer {
        Layer::Integrity(_) => true,
        Layer::Luks(luks) => luks.integrity.is_some() || !luks.flags.no_write_workqueue,
        Layer::Crypt(crypt) => !crypt.flags.no_write_workqueue,
        Layer::Raid(raid) => raid.level != RaidLevel::Raid0 && !(plugged && mirror(raid.level)),
        Layer::Lvm(lvm) => {
            let mirror = matches!(lvm.volume, Volume::Raid1 | Volume::Raid10);
            lvm.volume.is_raid() && !(plugged && mirror) || lvm.integrity.is_some()
        }
        _ => false,
    }
}

/// First kernel in which the block device of a layer takes what may not wait, `None` where none does. md has `QUEUE_FLAG_NOWAIT`
/// since f51d46d0e7cb; of the device mapper's targets `linear` has `DM_TARGET_NOWAIT` since 6abc49468eea, and `striped` since "dm:
/// add support for REQ_NOWAIT to various targets".
fn takes_no_wait(layer: &Layer) -> Option<(u32, u32)> {
    match layer {
        Layer::Raid(_) => Some((5, 17)),
        Layer::Lvm(lvm) if lvm.thin_chunk.is_some() || lvm.snapshot || lvm.volume.is_raid() => None,
        Layer::Lvm(lvm) => Some(if lvm.volume == Volume::Linear { (5, 10) } else { (5, 11) }),
        Layer::Luks(_) | Layer::Crypt(_) | Layer::Integrity(_) => None,
        _ => Some((0, 0)),
    }
}

/// A huge page, in bytes.
const HUGE: f64 = 2_097_152.0;

/// What share of a job's buffer lies in small pages: it begins anywhere, so on average one huge page's worth of it lies about
/// those that are whole (transparent huge pages of anonymous memory, Documentation/admin-guide/mm/transhuge.rst).
fn small_pages(buffer: f64) -> f64 {
    (HUGE / buffer).min(1.0)
}

/// What the driver of a kind of drives takes.
pub(crate) const fn driver(kind: DriveKind) -> Parameter {
    match kind {
        DriveKind::Ram => Parameter::RamIo,
        DriveKind::Nvme | DriveKind::NvmeEnterprise | DriveKind::Optane => Parameter::NvmeIo,
        DriveKind::SataSsd | DriveKind::SataEnterprise | DriveKind::SasSsd | DriveKind::Hdd => Parameter::SataIo,
    }
}
