//! The workload's own threads: what their calls take, and how much longer beside one another.

use terms::machine::DriveKind;
use terms::workload::Engine;
use terms::{Layer, Stack, Workload};

use crate::compile::Compiler;
use crate::flow::Context;
use crate::parameter::{Parameter, REFERENCE_JOBS};

impl Compiler<'_> {
    /// What fio, the system call, the block layer and a file system take.
    pub(crate) fn demand_of_calls(&mut self, stack: &Stack, work: &Workload) {
        let engine = match work.engine {
            Engine::Libaio => Parameter::One,
            Engine::IoUring => Parameter::UringShare,
            // A RAM drive has done its work when it is asked (`brd_submit_bio`): nobody sleeps, and nobody is woken.
            Engine::Psync if self.answers_at_once() => Parameter::One,
            Engine::PosixAio | Engine::Psync => Parameter::ThreadShare,
        };
        let reads = work.read_share();
        for (parameter, share) in [(Parameter::ApiRead, reads), (Parameter::ApiWrite, 1.0 - reads)] {
            let factor = share * self.crowd * self.site.book.get(engine);
            self.work(Context::Thread, parameter, factor, "call and block layer");
        }
        if stack.top().is_some_and(|top| top.layer.is_file_system()) {
            for (parameter, share) in [(Parameter::FileRead, reads), (Parameter::FileWrite, 1.0 - reads)] {
                self.work(Context::Thread, parameter, share * self.crowd, "file system");
            }
        }
        self.work(Context::Thread, Parameter::ApiByte, work.block.as_f64(), "pages of the block");
    }

    /// Is all done in the call itself?
    fn answers_at_once(&self) -> bool {
        let class = self.first_drive().map(|drive| self.class_of(drive));
        let later = self.completes.iter().any(Option::is_some);
        class.is_some_and(|class| class.kind == DriveKind::Ram && class.piece.is_none()) && !later
    }

    /// Factor of operations' processor time while all jobs run, and what of it counts in the time of an operation while as
    /// many wait for their drives as do.
    pub(crate) fn crowded(&self, stack: &Stack, work: &Workload) -> (f64, f64) {
        let contention = self.site.book.get(Parameter::Contention);
        let reference = if self.site.machine.submit.is_some() { 1.0 } else { REFERENCE_JOBS };
        let crowded = |jobs: f64| 1.0 + contention * (jobs.max(1.0) - 1.0);
        let threads = self.site.threads();
        let of = |running: f64| self.beside(running) * crowded(running);
        let (all, running) = (self.jobs.min(threads), self.running(stack, work).min(threads));
        (of(all) / crowded(reference.min(threads)), of(running) / of(all))
    }

    /// Threads of the workload that run at a time: one that waits for its drive takes no processor from another.
    fn running(&self, stack: &Stack, work: &Workload) -> f64 {
        let book = &self.site.book;
        let Some(class) = self.first_drive().map(|drive| self.class_of(drive)) else { return self.jobs };
        let of = |read: f64, write: f64| work.read_share() * read + (1.0 - work.read_share()) * write;
        let call = of(book.get(Parameter::ApiRead), book.get(Parameter::ApiWrite)) + book.get(driver(class.kind));
        let works = call * book.get(Parameter::CpuFactor) + work.block.as_f64() * book.get(Parameter::ApiByte);
        let waits = of(book.value(class.read_delay), book.value(class.write_delay));
        // ZFS has no asynchronous way in.
        let one = stack.nodes.iter().any(|node| matches!(node.layer, Layer::Zfs(_)));
        let depth = if one { 1.0 } else { self.depth };
        self.jobs * (depth * works / (works + waits)).min(1.0)
    }

    /// Time of a thread relative to one whose core's other thread is busy: so many run, and a core of its own is found for
    /// each while there is one.
    fn beside(&self, running: f64) -> f64 {
        let machine = &self.site.machine;
        let cores = f64::from(machine.cores.max(1));
        if machine.threads <= machine.cores || machine.submit.is_some() {
            return 1.0;
        }
        let shared = (2.0 * (running - cores) / running.max(1.0)).clamp(0.0, 1.0);
        let alone = self.site.book.get(Parameter::Alone);
        alone + (1.0 - alone) * shared
    }
}

/// What the driver of a kind of drives takes.
pub(crate) const fn driver(kind: DriveKind) -> Parameter {
    match kind {
        DriveKind::Ram => Parameter::RamIo,
        DriveKind::Nvme | DriveKind::NvmeEnterprise | DriveKind::Optane => Parameter::NvmeIo,
        DriveKind::SataSsd | DriveKind::SataEnterprise | DriveKind::SasSsd | DriveKind::Hdd => Parameter::SataIo,
    }
}
