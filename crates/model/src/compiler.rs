//! What a prediction is made with: the machine, the network that grows, and where the walk over a stack stands.

use terms::layer::ArrayState;
use terms::{Bytes, Nanos};

use crate::cached::{Cached, Shares};
use crate::flow::Flow;
use crate::network::Network;
use crate::site::Site;
use crate::symmetry::{Below, SymmetryClasses};

/// Largest request that the block layer makes for other drives, in bytes (`BLK_DEF_MAX_SECTORS`, 2560 sectors).
pub(crate) const LARGEST: f64 = 1_310_720.0;

/// What a prediction is about besides stack and workload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conditions {
    /// How the redundant layers are: with all members, without one of each, or with one of each being written anew.
    pub state: ArrayState,
    /// Are the drives' write caches full?
    pub sustained: bool,
    /// Bytes that are worked on.
    pub span: Bytes,
    /// Time that is counted.
    pub window: Nanos,
    /// May a file system's own cache hold what was written before? Where a stack is sought that is quick for years, it is
    /// no help: what people have is larger than their memory.
    pub warm: bool,
}

impl Default for Conditions {
    fn default() -> Self {
        Self { state: ArrayState::Whole, sustained: false, span: Bytes::gib(1), window: Nanos::seconds(60), warm: true }
    }
}

/// Makes networks of designs, one after the other, without new memory for each.
#[derive(Debug)]
pub struct Compiler<'a> {
    pub(crate) site: &'a Site,
    pub(crate) network: Network,
    pub(crate) conditions: Conditions,
    /// What each node is asked for.
    pub(crate) flows: Vec<Vec<Flow>>,
    /// What each drive is asked for, and which drives are asked at all.
    pub(crate) asked: Vec<Vec<Flow>>,
    pub(crate) used: Vec<u32>,
    /// Where reads of each node come back: in which workers, if any.
    pub(crate) completes: Vec<Option<u32>>,
    /// What nodes rest on, one after the other, and where each node's begin.
    pub(crate) below: Vec<Below>,
    pub(crate) starts: Vec<usize>,
    /// How many layers are below each node at most, and the nodes from the highest downwards.
    pub(crate) heights: Vec<u32>,
    pub(crate) order: Vec<usize>,
    /// The node that is looked at, and for how many it stands.
    pub(crate) here: usize,
    pub(crate) times: f64,
    /// Nodes that are alike and are asked for the same.
    pub(crate) symmetry: SymmetryClasses,
    /// Over how many devices the flow that is looked at spreads.
    pub(crate) wide: f64,
    pub(crate) jobs: f64,
    pub(crate) depth: f64,
    /// Files whose writes io_uring does one after the other.
    pub(crate) one_by_one: Option<f64>,
    /// What the page cache makes of buffered I/O.
    pub(crate) cached: Option<Cached>,
    /// Does btrfs write through the page cache what was to go past it?
    pub(crate) falls_back: bool,
    /// What goes on to the drives of what caches are asked for.
    pub(crate) shares: Shares,
    /// Writes between two flushes.
    pub(crate) every: Option<f64>,
    /// The same, but only for the first flow of writes of a node: a flush counts once, whatever else is written to the node.
    pub(crate) flushed: Option<f64>,
    /// Share of operations that write.
    pub(crate) writes: f64,
    /// Factor of operations' processor time for the number of jobs.
    pub(crate) contention: f64,
    /// What an operation's processor time is of that while as many threads wait for their drives as do.
    pub(crate) ease: f64,
    /// Seconds of an operation in which a cipher keeps the processor from handing anything to the lab's flash drives, after these
    /// have finished what they had.
    pub(crate) burst: f64,
    /// Seconds that the drives or the flusher take for an operation, where all that is written goes on.
    pub(crate) writeback: f64,
    /// Is any of the data on a drive that is no memory?
    pub(crate) cold: bool,
}

#[expect(clippy::cast_precision_loss, reason = "numbers of members")]
pub(crate) const fn count(members: usize) -> f64 {
    members as f64
}

pub(crate) fn number(at: usize) -> Option<u32> {
    u32::try_from(at).ok()
}

#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
pub(crate) const fn precise(count: u64) -> f64 {
    count as f64
}
