//! How long a rebuild and a scrub take.
//!
//! `time = bytes of a member / slowest of (what the layer allows, what the drive has left, what one thread can)`.

use terms::durability::{End, Spread};
use terms::layer::{Checksums, Copies};
use terms::{Bytes, BytesPerSecond, Layer, Nanos, Stack};

/// What md allows each member at most while it resyncs: 200,000 KiB/s (`dev.raid.speed_limit_max`, drivers/md/md.c). LVM's
/// raid is md's.
pub const RESYNC_CAP: BytesPerSecond = BytesPerSecond(200_000.0 * 1024.0);
/// What md takes in any case, load or no load: 1,000 KiB/s (`dev.raid.speed_limit_min`).
pub const RESYNC_FLOOR: BytesPerSecond = BytesPerSecond(1000.0 * 1024.0);

/// Speeds that a rebuild runs at.
#[derive(Debug, Clone, PartialEq)]
pub struct Speeds {
    /// One drive's sustained sequential rate, the slower of reading and writing.
    pub drive: Spread<BytesPerSecond>,
    /// Share of the drive that other work leaves to it.
    pub left: Spread<f64>,
    /// What one member may take; [`RESYNC_CAP`] unless the machine says otherwise.
    pub cap: BytesPerSecond,
    /// What the one thread that computes parity can do, where that is known.
    pub thread: Option<BytesPerSecond>,
}

/// What of a member is read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// All of it, because nobody knows what is in use, and no faster than the cap.
    Whole,
    /// What is in use.
    Used,
}

/// Who rebuilds, and how.
struct Rebuilder {
    extent: Extent,
    /// Bytes written to a drive for each byte written to a member.
    doubling: f64,
    /// Is parity computed?
    parity: bool,
}

/// Time until a replaced drive holds its share again; `None` where no layer of the stack is redundant.
#[must_use]
pub fn rebuild(stack: &Stack, member: Bytes, used: f64, speeds: &Speeds) -> Option<Spread<Nanos>> {
    let rebuilder = rebuilder(stack)?;
    Some(time(&rebuilder, member, used, speeds, rebuilder.doubling))
}

/// Time to read and compare everything; `None` where nothing can be compared with anything.
#[must_use]
pub fn scrub(stack: &Stack, member: Bytes, used: f64, speeds: &Speeds) -> Option<Spread<Nanos>> {
    let alone = || {
        let is_tree = stack.nodes.iter().any(|node| node.layer.traits().tree);
        is_tree.then_some(Rebuilder { extent: Extent::Used, doubling: 1.0, parity: false })
    };
    let reader = rebuilder(stack).or_else(alone)?;
    Some(time(&reader, member, used, speeds, 1.0))
}

fn time(rebuilder: &Rebuilder, member: Bytes, used: f64, speeds: &Speeds, written: f64) -> Spread<Nanos> {
    let at = |end: End| {
        // The shortest time is at the highest speed.
        let fast = match end {
            End::Low => End::High,
            End::Middle => End::Middle,
            End::High => End::Low,
        };
        let drive = speeds.drive.at(fast).0 * speeds.left.at(fast) / written;
        let thread = speeds.thread.filter(|_| rebuilder.parity).map_or(f64::INFINITY, |thread| thread.0);
        let rate = drive.min(thread);
        let (rate, bytes) = match rebuilder.extent {
            Extent::Whole => (rate.min(speeds.cap.0).max(RESYNC_FLOOR.0.min(speeds.cap.0)), member.as_f64()),
            Extent::Used => (rate.max(1.0), member.as_f64() * used),
        };
        Nanos::from_seconds(bytes / rate)
    };
    Spread { low: at(End::Low), middle: at(End::Middle), high: at(End::High) }
}

/// The redundant layer of a stack: the topmost, because it sees the most.
fn rebuilder(stack: &Stack) -> Option<Rebuilder> {
    let at = stack.nodes.iter().rposition(|node| node.layer.is_redundant())?;
    let doubling = stack.nodes[..at].iter().map(|node| doubling(&node.layer)).fold(1.0, f64::max);
    let layer = &stack.nodes[at].layer;
    let found = layer.traits();
    let extent = if found.tree { Extent::Used } else { Extent::Whole };
    // LVM's arrays are md's; how much of its thread a mirror of theirs takes was not measured.
    let parity = found.copies == Copies::Parity || matches!(layer, Layer::Lvm(_));
    Some(Rebuilder { extent, doubling: doubling * self::doubling(layer), parity })
}

/// Bytes that dm-integrity's journal makes of each (docs/durability.md; measured 1/2.01 of the bare rate).
pub(crate) const JOURNAL: f64 = 2.01;

fn doubling(layer: &Layer) -> f64 {
    if layer.traits().checksums == Checksums::Journalled { JOURNAL } else { 1.0 }
}
