//! What a layer is asked for, and what it asks of those below.

/// A page, in bytes.
pub(crate) const PAGE: f64 = 4096.0;

/// Accesses of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Flow {
    /// Writes, or reads.
    pub(crate) write: bool,
    /// At random places, or one after the other.
    pub(crate) random: bool,
    /// Bytes of each.
    pub(crate) bytes: f64,
    /// How many for one operation of the workload.
    pub(crate) rate: f64,
    /// Over how many devices one operation spreads at the same time.
    pub(crate) wide: f64,
    /// How many go to one device at the same time.
    pub(crate) batch: f64,
    /// Bytes that one device gets before the next does, where several take turns.
    pub(crate) run: f64,
    /// How many devices get the same at the same time.
    pub(crate) copies: f64,
    /// Of how many devices with the same content one is asked, that which has the least to do (`read_balance` in
    /// drivers/md/raid1.c and raid10.c): they fill like one.
    pub(crate) choices: f64,
    /// Over how many of those the pieces of one access go in turn, each to one that has nothing to do (`read_balance` in
    /// drivers/md/raid10.c); raid1.c leaves them with one drive, as a stream.
    pub(crate) alternates: f64,
    /// Station of the kernel's thread that hands it over, where there is one.
    pub(crate) thread: Option<u16>,
    /// Workers that hand it over, each of which may sleep for a request of the drive; the caller does where there are none.
    pub(crate) hands: Option<f64>,
    /// How many a drive has at most at a time: others wait for a worker.
    pub(crate) at_most: f64,
    /// How many devices of those that take turns are asked at a time, as a share: a stream is at one place.
    pub(crate) at_once: f64,
    /// Extra seeks for each access.
    pub(crate) seeks: f64,
    /// Bytes that a head passes over for each that is read in order: parity lies among them.
    pub(crate) passes: f64,
    /// A value that the drive's work is multiplied with, by its place in the book: how far a rule may be off.
    pub(crate) unsure: u32,
    /// Who waits for it.
    pub(crate) waits: Waits,
    /// Who submits.
    pub(crate) context: Context,
    /// Does it come page by page, each in a request of its own, which only the queue of a drive makes one?
    pub(crate) paged: bool,
    /// Does it begin anywhere, and not at a multiple of its own size?
    pub(crate) shifted: bool,
    /// Has each job drives to itself, so that none waits for another's?
    pub(crate) apart: bool,
    /// Who first touches the data that is read, if anybody does.
    pub(crate) toucher: Option<Context>,
}

/// Who waits for an access of drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// The operation, for the slowest of all that it is spread over.
    Operation,
    /// Later operations, for room in a journal: this one has ended when it lies in the journal's memory, and each member writes
    /// back in its own time.
    Room,
    /// A transaction that many operations go into, for the slowest drive: no operation as such.
    Group,
    /// Nobody: it lies in the page cache, and the flusher writes it.
    Nobody,
}

/// Where processor time is spent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Context {
    /// In the job's own thread, or in the interrupt that comes back to its processor.
    Thread,
    /// In workers of a layer: `servers` times the value at `over`. Those that are bound to the processor of the job's thread
    /// take turns with it in what takes a time for each operation; who waits for many bytes sleeps, and wakes up elsewhere.
    Workers { node: u32, servers: f64, over: u32, bound: bool },
    /// In so many workers of a layer, after the call has returned: no operation waits for it.
    Behind { node: u32, servers: f64 },
    /// Where reads of a layer come back: a few workers for each job.
    Completions { node: u32, servers: f64 },
}

impl Flow {
    pub(crate) const fn new(write: bool, random: bool, bytes: f64) -> Self {
        Self {
            write,
            random,
            bytes,
            rate: 1.0,
            wide: 1.0,
            batch: 1.0,
            run: f64::INFINITY,
            copies: 1.0,
            choices: 1.0,
            alternates: 1.0,
            thread: None,
            hands: None,
            at_most: f64::INFINITY,
            at_once: 1.0,
            seeks: 0.0,
            passes: 1.0,
            unsure: 0,
            waits: Waits::Operation,
            context: Context::Thread,
            paged: false,
            shifted: false,
            apart: false,
            toucher: None,
        }
    }

    /// Is it done after the operation has ended, whenever that was?
    pub(crate) fn is_behind(&self) -> bool {
        self.waits == Waits::Nobody
    }

    /// Requests that each comes in.
    pub(crate) fn requests(&self) -> f64 {
        if self.paged { (self.bytes / PAGE).max(1.0) } else { 1.0 }
    }

    /// Chunks of so many bytes that each touches, on average over the pages where it may begin.
    pub(crate) fn chunks(&self, chunk: f64) -> f64 {
        let beyond = if self.shifted { (self.bytes - PAGE) / chunk } else { self.bytes / chunk - 1.0 };
        1.0 + beyond.max(0.0)
    }

    /// The same but for how many.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        Self { rate: 0.0, ..*self } == Self { rate: 0.0, ..*other }
    }
}
