//! What an operation asks of processors, locks and memory, entered into the network.

use crate::compiler::Compiler;
use crate::flow::Context;
use crate::network::{DELAY, Part, Resource, Serial, Slot};
use crate::parameter::{Parameter, TABLE, Unit};

impl Compiler<'_> {
    /// Processor time: of the thread or workers that spend it, and of all cores.
    pub(crate) fn work(&mut self, context: Context, parameter: Parameter, factor: f64, why: &'static str) {
        let part = self.cores(parameter, factor, why);
        let (factor, values) = (part.factor, self.site.parameters.values());
        let by_operation = TABLE[parameter as usize].unit == Unit::Time;
        match context {
            Context::Thread => self.work_of_thread(part, by_operation),
            Context::Workers { bound: true, .. } if by_operation => self.work_of_thread(part, by_operation),
            Context::Completions { node, servers } => {
                let over = Parameter::CompletionWorkers.place();
                let nominal = self.site.parameters.value(over);
                let workers = self.network.station(Resource::Completions(node), 1.0, servers * nominal, Slot::Own);
                let share = 1.0 / self.wide;
                self.network.add(values, Part { station: workers, factor: factor / servers, over, share, ..part });
            }
            Context::Behind { node, servers } => {
                let workers = self.network.station(Resource::Workers(node), 1.0, servers, Slot::None);
                self.network.add(values, Part { station: workers, factor: factor / servers, share: 0.0, ..part });
            }
            Context::Workers { node, servers, over, .. } => {
                let nominal = self.site.parameters.value(over);
                let workers = self.network.station(Resource::Workers(node), 1.0, servers * nominal, Slot::Own);
                let share = 1.0 / self.wide;
                self.network.add(values, Part { station: workers, factor: factor / servers, over, share, ..part });
            }
        }
    }

    /// Processor time of the jobs' threads.
    fn work_of_thread(&mut self, part: Part, by_operation: bool) {
        let jobs = self.jobs;
        let thread = self.network.station(Resource::Thread, jobs, 1.0, Slot::Own);
        let share = if by_operation { self.ease } else { 1.0 };
        self.network
            .add(self.site.parameters.values(), Part { station: thread, factor: part.factor / jobs, share, ..part });
    }

    /// Processor time of all cores alone; gives the part that a thread has of it.
    pub(crate) fn cores(&mut self, parameter: Parameter, factor: f64, why: &'static str) -> Part {
        let factor = factor * self.times;
        let part = Part { by: [parameter.place(), speed(parameter).place()], ..Part::of(DELAY, 0, factor, why) };
        let threads = self.site.threads();
        let cores = self.network.station(Resource::Cores, 1.0, threads, Slot::Own);
        self.network.add(self.site.parameters.values(), Part { station: cores, factor: factor / threads, ..part });
        part
    }

    /// Time of what there is one of.
    pub(crate) fn serial(&mut self, what: Serial, at: usize, parameter: Parameter, factor: f64, why: &'static str) {
        self.serial_by(what, at, 1.0, parameter, factor, why);
    }

    /// Time of what there are so many of, which take from one queue.
    pub(crate) fn serial_by(
        &mut self,
        what: Serial,
        at: usize,
        servers: f64,
        parameter: Parameter,
        factor: f64,
        why: &'static str,
    ) {
        let station = self.network.station(Resource::Serial(what, self.symmetry.of(at)), 1.0, servers, Slot::Own);
        let part = Part {
            by: [parameter.place(), speed(parameter).place()],
            ..Part::of(station, 0, factor * self.times / servers, why)
        };
        self.network.add(self.site.parameters.values(), part);
    }

    /// Time in which nothing is used.
    pub(crate) fn delay(&mut self, value: u32, factor: f64, why: &'static str) {
        self.network.add(self.site.parameters.values(), Part::of(DELAY, value, factor * self.times, why));
    }

    /// Memory that is moved.
    pub(crate) fn memory(&mut self, bytes: f64, why: &'static str) {
        if let Some(memory) = self.site.memory {
            let station = self.network.station(Resource::Memory, 1.0, 1.0, Slot::None);
            self.network.add(self.site.parameters.values(), Part::of(station, memory, bytes * self.times, why));
        }
    }
}

/// What a processor time is multiplied with: bytes that are copied or mapped take what memory takes, whatever the core.
const fn speed(parameter: Parameter) -> Parameter {
    match parameter {
        Parameter::ApiByte
        | Parameter::CachedByte
        | Parameter::RamByte
        | Parameter::ColdByte
        | Parameter::ParityCopy => Parameter::One,
        // A line of memory that many cores want takes its way between them.
        Parameter::BarrierWake | Parameter::BarrierCount => Parameter::One,
        _ => Parameter::CpuFactor,
    }
}
