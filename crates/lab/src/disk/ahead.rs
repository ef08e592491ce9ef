//! What a drive that spins has read besides what it was asked for: after a read its head stays and reads on, for up to
//! a turn, until it is needed elsewhere (Ruemmler and Wilkes 1994, "read-ahead").

use std::collections::VecDeque;

use terms::{Bytes, Mechanics, Nanos};

/// Streams that are remembered: data sheets call them segments, and drives have some tens.
const SEGMENTS: usize = 16;

/// A stretch that was read and is still in the buffer.
#[derive(Debug, Clone, Copy)]
struct Segment {
    from: u64,
    to: u64,
}

/// A head that reads on.
#[derive(Debug, Clone, Copy)]
struct Stream {
    /// Where it began.
    from: Bytes,
    /// When; later than now while the platter still has to come round.
    at: Nanos,
    /// Where it stops.
    limit: Bytes,
}

/// The read buffer.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// The one that grows is the last.
    segments: VecDeque<Segment>,
    stream: Option<Stream>,
}

impl Ahead {
    /// A read from `from` to `to` ended at `at`, and the head reads on.
    pub(super) fn begin(&mut self, drive: &Mechanics, size: Bytes, from: u64, to: u64, at: Nanos) {
        let joined = self.segments.iter().position(|one| one.from <= from && one.to >= from);
        let from = joined.and_then(|place| self.segments.remove(place)).map_or(from, |one| one.from);
        // A segment holds as much as two turns: what was read before that is given up.
        let least = to.saturating_sub(2 * drive.track(Bytes(to)).0);
        self.segments.push_back(Segment { from: from.max(least), to });
        if self.segments.len() > SEGMENTS {
            self.segments.pop_front();
        }
        self.stream = Some(Stream { from: Bytes(to), at, limit: limit(drive, size, Bytes(to)) });
    }

    /// Where the head is by then, if it reads on.
    pub(super) fn head(&self, drive: &Mechanics, at: Nanos) -> Option<Bytes> {
        let stream = self.stream?;
        let time = Nanos(at.0.saturating_sub(stream.at.0));
        Some(drive.follow(stream.from, time).min(stream.limit))
    }

    /// The head is needed elsewhere: what it has read by then stays in the buffer.
    pub(super) fn end(&mut self, drive: &Mechanics, at: Nanos) {
        if let (Some(reached), Some(last)) = (self.head(drive, at), self.segments.back_mut()) {
            last.to = last.to.max(reached.0);
        }
        self.stream = None;
    }

    /// Where the bytes that are in the buffer by then end that begin at a place.
    pub(super) fn covered(&self, drive: &Mechanics, from: u64, at: Nanos) -> u64 {
        let last = self.segments.len().wrapping_sub(1);
        let ends = self.segments.iter().enumerate().filter(|(_, one)| one.from <= from).map(|(place, one)| {
            let grown = if place == last { self.head(drive, at).map_or(0, |head| head.0) } else { 0 };
            one.to.max(grown)
        });
        ends.max().map_or(from, |end| end.max(from))
    }

    /// A read up to `to` was answered from the buffer: a stream that is followed goes on, from where it is or, if it had
    /// stopped, when that place comes round again.
    pub(super) fn follow(&mut self, drive: &Mechanics, size: Bytes, to: u64, now: Nanos) {
        let Some(stream) = self.stream else { return };
        let head = drive.follow(stream.from, Nanos(now.0.saturating_sub(stream.at.0)));
        let limit = limit(drive, size, Bytes(to));
        if to < stream.from.0 || limit <= stream.limit {
            return;
        }
        if head < stream.limit {
            self.stream = Some(Stream { limit, ..stream });
        } else if stream.limit < limit {
            let wait = drive.access(now, stream.limit, stream.limit);
            if let Some(last) = self.segments.back_mut() {
                last.to = last.to.max(stream.limit.0);
            }
            self.stream = Some(Stream { from: stream.limit, at: Nanos(now.0 + wait.0), limit });
        }
    }
}

/// How far the head reads on from a place.
fn limit(drive: &Mechanics, size: Bytes, from: Bytes) -> Bytes {
    Bytes(from.0.saturating_add(drive.track(from).0)).min(size)
}
