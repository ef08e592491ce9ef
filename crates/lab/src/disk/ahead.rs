//! What a hard disk has read besides what it was asked for: after a read its head stays and reads on, for up to
//! a turn, until it is needed elsewhere (Ruemmler and Wilkes 1994, "read-ahead").
//!
//! The buffer takes as much as the write cache does, and no more: a drive of the lab is small, and one that remembered
//! tens of turns would soon remember everything.

use std::collections::VecDeque;
use std::ops::Range;

use terms::{Bytes, Mechanics, Nanos};

/// Stretches that are remembered: data sheets call them segments, and drives have some tens.
const SEGMENTS: usize = 16;

/// A head that reads on; what it reads belongs to the last segment.
#[derive(Debug, Clone, Copy)]
struct Stream {
    /// Where it began.
    from: Bytes,
    /// When; later than now while the platter still has to come round.
    at: Nanos,
    /// Where it stops.
    limit: Bytes,
    /// Where a reader goes on that reads in order.
    next: u64,
}

/// The read buffer.
#[derive(Debug)]
pub(super) struct Ahead {
    room: u64,
    size: Bytes,
    segments: VecDeque<Range<u64>>,
    stream: Option<Stream>,
}

impl Ahead {
    /// A buffer of so many bytes, in a drive of that size.
    pub(super) fn new(room: u64, size: Bytes) -> Self {
        Self { room, size, segments: VecDeque::new(), stream: None }
    }

    /// What was asked for was read until `at`, and the head reads on.
    pub(super) fn begin(&mut self, drive: &Mechanics, read: &Range<u64>, at: Nanos) {
        let joined = self.segments.iter().position(|one| one.start <= read.start && one.end >= read.start);
        let from = joined.and_then(|place| self.segments.remove(place)).map_or(read.start, |one| one.start);
        self.segments.push_back(from..read.end);
        self.forget();
        let from = Bytes(read.end);
        self.stream = Some(Stream { from, at, limit: self.limit(drive, from), next: read.end });
    }

    /// How far the head reads on from a place: a turn, and not over everything it read before.
    fn limit(&self, drive: &Mechanics, from: Bytes) -> Bytes {
        Bytes(from.0.saturating_add(drive.track(from).0.min(self.room / 2))).min(self.size)
    }

    /// Gives up what there is no room for, the oldest first.
    fn forget(&mut self) {
        let mut left = self.room;
        for one in self.segments.iter_mut().rev() {
            one.start = one.start.max(one.end.saturating_sub(left));
            left -= one.end - one.start;
        }
        self.segments.retain(|one| !one.is_empty());
        while self.segments.len() > SEGMENTS {
            self.segments.pop_front();
        }
    }

    /// Where the head is by then, if it reads on.
    pub(super) fn head(&self, drive: &Mechanics, at: Nanos) -> Option<Bytes> {
        let stream = self.stream?;
        let time = Nanos(at.0.saturating_sub(stream.at.0));
        Some(drive.follow(stream.from, time).min(stream.limit))
    }

    /// Keeps what was read on by then. Gives what is new of it.
    pub(super) fn keep(&mut self, drive: &Mechanics, at: Nanos) -> Option<Range<u64>> {
        let reached = self.head(drive, at)?.0;
        let last = self.segments.back_mut().filter(|last| last.end < reached)?;
        let new = last.end..reached;
        last.end = reached;
        self.forget();
        Some(new)
    }

    /// The head is needed elsewhere: what was kept stays in the buffer.
    pub(super) fn end(&mut self) {
        self.stream = None;
    }

    /// Where the bytes that are in the buffer end that begin at a place.
    pub(super) fn covered(&self, from: u64) -> u64 {
        self.segments.iter().filter(|one| one.start <= from).fold(from, |end, one| end.max(one.end))
    }

    /// A read was answered from the buffer. A stream that is followed in order goes on, from where it is or, if it had
    /// stopped, when that place comes round again.
    pub(super) fn follow(&mut self, drive: &Mechanics, read: &Range<u64>, now: Nanos) {
        let Some(stream) = self.stream else { return };
        if read.start > stream.next || read.end <= stream.next {
            return;
        }
        let limit = self.limit(drive, Bytes(read.end)).max(stream.limit);
        let onward = Stream { limit, next: read.end, ..stream };
        let head = self.head(drive, now).unwrap_or(stream.limit);
        self.stream = Some(if head < stream.limit || limit == stream.limit {
            onward
        } else {
            let wait = drive.access(now, stream.limit, stream.limit);
            Stream { from: stream.limit, at: Nanos(now.0 + wait.0), ..onward }
        });
    }
}
