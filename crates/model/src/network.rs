//! A stack under a workload as a closed network of queues: flat lists of demands, made once and solved many times.

use terms::prediction::CeilingKind;

use crate::parameter::Parameter;

/// What may be busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Drives of a group that get the same work, by group and by the number of the set.
    Drive(u32, u32),
    /// Their links towards the processor.
    LinkUp(u32, u32),
    /// Their links from the processor.
    LinkDown(u32, u32),
    /// A shared link, by its number and direction.
    Uplink(u32, bool),
    /// Memory.
    Memory,
    /// All hardware threads together.
    Cores,
    /// The thread of each job, and the interrupts that come back to it.
    Thread,
    /// Workers of the layer with this number.
    Workers(u32),
    /// Workers in which reads come back to the layer with this number, from one below that hands them over.
    Completions(u32),
    /// A lock, or a kernel thread of which there is one, of the layer with this number.
    Serial(Serial, u32),
    /// Drives of a group that take turns, by group and by the number of the set.
    Turns(u32, u32),
    /// Writes that a pool keeps under way on each vdev.
    Vdev(u32),
}

/// What there is only one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Serial {
    /// dm-crypt's writing thread.
    CryptWriter,
    /// The lock of an array.
    ArrayLock,
    /// The parity thread of an array.
    Parity,
    /// The thread of an array that writes to its mirrors.
    Mirror,
    /// The lock of a write-intent bitmap.
    Bitmap,
    /// What is written of a write-intent bitmap before data of new regions may be.
    Marks,
    /// Lookups in the mapping of a thin pool.
    Thin,
    /// btrfs' trees.
    Trees,
    /// The commit thread of a journal.
    Commit,
    /// The lock of ZFS' intent log.
    IntentLog,
}

impl Serial {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::CryptWriter => "dmcrypt_write thread",
            Self::ArrayLock => "array lock",
            Self::Parity => "parity thread",
            Self::Mirror => "mirror thread",
            Self::Bitmap => "bitmap lock",
            Self::Marks => "bitmap writes",
            Self::Thin => "mapping of the thin pool",
            Self::Trees => "btrfs trees",
            Self::Commit => "journal commit",
            Self::IntentLog => "lock of the intent log",
        }
    }
}

impl Resource {
    /// What kind of ceiling it makes.
    #[must_use]
    pub const fn kind(self) -> CeilingKind {
        match self {
            Self::Drive(..) | Self::Turns(..) | Self::Vdev(_) | Self::Serial(Serial::Marks, _) => CeilingKind::Drive,
            Self::LinkUp(..) | Self::LinkDown(..) => CeilingKind::Link,
            Self::Uplink(..) => CeilingKind::Uplink,
            Self::Memory => CeilingKind::Memory,
            Self::Cores => CeilingKind::Cores,
            Self::Thread | Self::Workers(_) | Self::Completions(_) => CeilingKind::Thread,
            Self::Serial(..) => CeilingKind::Serial,
        }
    }
}

/// No place in the queue: a bound only.
pub(crate) const BOUND: u16 = u16::MAX;
/// The station that is no station: time in which nothing is used.
pub(crate) const DELAY: u16 = u16::MAX;

/// A resource with what it has to do for one operation.
#[derive(Debug, Clone, Copy)]
pub struct Station {
    /// What it is.
    pub resource: Resource,
    /// How many of it share the work evenly.
    pub units: f64,
    /// Seconds of each unit for one operation, at the values of the book.
    pub demand: f64,
    /// The same as it adds to the time of an operation: work that goes on side by side adds once.
    pub residence: f64,
    /// Of that, what is done for an operation before or after its pieces, and not for each of them.
    pub whole: f64,
    /// Servers that take from one queue; the demand is already that of one of so many.
    pub servers: f64,
    /// Share of its busy time that an arrival waits less than behind exponential times, 0 to 1/2.
    pub even: f64,
    /// Units that have different pieces of one operation at the same time.
    pub apart: f64,
    /// Units that work on its pieces at the same time: those, and second copies that pieces may go to.
    pub abreast: f64,
    /// Stations of one slot carry the same data at the same time: the slowest counts. [`BOUND`]: none queues here.
    pub slot: u16,
}

impl Station {
    const fn new(resource: Resource, units: f64, servers: f64, slot: u16) -> Self {
        let (demand, residence, even) = (0.0, 0.0, 0.0);
        Self { resource, units, demand, residence, whole: 0.0, servers, even, apart: 1.0, abreast: 1.0, slot }
    }
}

/// A part of a demand: factor × first × second ÷ over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) station: u16,
    pub(crate) by: [u32; 2],
    pub(crate) over: u32,
    pub(crate) factor: f64,
    /// What of it counts in the time of an operation.
    pub(crate) share: f64,
    pub(crate) why: &'static str,
}

/// A stack under a workload, ready to be solved.
#[derive(Debug, Clone, Default)]
pub struct Network {
    /// Stations.
    pub stations: Vec<Station>,
    /// Time in which nothing is used, seconds; what is counted twice in the stations is taken off.
    pub delay: f64,
    /// Operations under way in the stack: a layer may take fewer at a time than it is given, or more than it is waited for.
    pub population: f64,
    /// Operations that the workload keeps under way: jobs x depth.
    pub given: f64,
    /// Pieces of an operation that go their ways by themselves.
    pub pieces: f64,
    /// Pieces in which operations come to workers, whether there are any or not.
    pub cut: f64,
    /// Operations that arrive in a second, where the workload is not as fast as it goes.
    pub arrivals: Option<f64>,
    /// Seconds of the delay that a file system on top would spare.
    pub(crate) spared: f64,
    pub(crate) slots: u16,
    pub(crate) parts: Vec<Part>,
    /// Is what is entered done after an operation has ended? It is a bound, and takes none of its time.
    pub(crate) behind: bool,
    /// Is what is entered done for an operation as a whole?
    pub(crate) entire: bool,
    /// Bytes of one operation.
    pub(crate) bytes: f64,
    /// Bytes that drives write for each byte written.
    pub(crate) write_bytes: f64,
    pub(crate) written: f64,
    /// Operations that are left in a journal when the workload ends, and have to be written in its time.
    pub(crate) backlog: f64,
    /// Resynchronisation beside: drives' time taken by it, bytes per member.
    pub(crate) resync: Option<Resync>,
}

/// A resynchronisation that goes on meanwhile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Resync {
    /// Seconds of each drive for one request.
    pub(crate) drive: f64,
    /// Seconds of a serial thread for one request.
    pub(crate) serial: f64,
    /// Least seconds between two requests, by the cap.
    pub(crate) cap: f64,
    /// Requests under way.
    pub(crate) depth: f64,
    /// Bytes of a request, on each member.
    pub(crate) bytes: f64,
}

impl Network {
    pub(crate) fn clear(&mut self) {
        self.stations.clear();
        self.parts.clear();
        self.delay = 0.0;
        self.population = 1.0;
        self.given = 1.0;
        self.pieces = 1.0;
        self.cut = 1.0;
        self.arrivals = None;
        self.spared = 0.0;
        self.slots = 0;
        self.behind = false;
        self.entire = false;
        self.bytes = 0.0;
        self.write_bytes = 0.0;
        self.written = 0.0;
        self.backlog = 0.0;
        self.resync = None;
    }

    /// The station of a resource, made where it is not there yet.
    pub(crate) fn station(&mut self, resource: Resource, units: f64, servers: f64, slot: Slot) -> u16 {
        if let Some(at) = self.stations.iter().position(|station| station.resource == resource) {
            return u16::try_from(at).unwrap_or(DELAY - 1);
        }
        let slot = match slot {
            Slot::Own => {
                self.slots += 1;
                self.slots - 1
            }
            Slot::With(slot) => slot,
            Slot::None => BOUND,
        };
        self.stations.push(Station::new(resource, units, servers, slot));
        u16::try_from(self.stations.len() - 1).unwrap_or(DELAY - 1)
    }

    /// Says that the pieces of an operation are at so many units of a station at the same time.
    pub(crate) fn spread(&mut self, station: u16, apart: f64, abreast: f64) {
        let station = &mut self.stations[usize::from(station)];
        station.apart = station.apart.max(apart);
        station.abreast = station.abreast.max(abreast);
    }

    pub(crate) fn add(&mut self, values: &[f64], part: Part) {
        if part.factor == 0.0 || (self.behind && part.station == DELAY) {
            return;
        }
        let part = Part { share: if self.behind { 0.0 } else { part.share }, ..part };
        let value = part.worth(values);
        match self.stations.get_mut(usize::from(part.station)) {
            Some(station) => {
                station.demand += value;
                station.residence += value * part.share;
                station.whole += if self.entire { value * part.share } else { 0.0 };
            }
            None => self.delay += value,
        }
        self.parts.push(part);
    }
}

/// Where a new station queues.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Slot {
    Own,
    With(u16),
    None,
}

impl Part {
    /// Its seconds.
    pub(crate) fn worth(&self, values: &[f64]) -> f64 {
        self.factor * values[self.by[0] as usize] * values[self.by[1] as usize] / values[self.over as usize]
    }

    /// A factor times one value.
    pub(crate) const fn of(station: u16, value: u32, factor: f64, why: &'static str) -> Self {
        let one = Parameter::One.place();
        Self { station, by: [value, one], over: one, factor, share: 1.0, why }
    }
}
