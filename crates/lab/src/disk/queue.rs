//! A hard disk, but for the wire: what it was asked, what its head does next, and what it answers when.
//!
//! The caller passes the time in; the queue reads no clock. So the same requests at the same times have the same answers. A
//! caller may come late: [`Queue::submit`] and [`Queue::advance`] go through everything that happened until then in
//! the order in which it happened, and lateness does not add up.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::ops::Range;

use terms::{Bytes, Mechanics, Nanos, Spindle};

use super::ahead::Ahead;
use super::cache::{Cache, Turn};
use super::platter::Platter;

/// Commands that a drive sorts at once: native command queueing has 32 tags (Serial ATA Revision 2.0). As many writes
/// of the cache are looked at beside them.
pub(super) const QUEUE: usize = 32;
/// How often another may be chosen first, so that nothing starves: eight queues.
const PATIENCE: u32 = 8 * 32;

/// What may be asked of a drive; places and lengths are bytes and lie within it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ask {
    Read {
        from: u64,
        len: u32,
    },
    /// `through`: answered only when it is on the platter (FUA).
    Write {
        from: u64,
        data: Vec<u8>,
        through: bool,
    },
    Flush,
}

/// An answer: of a read, whose bytes [`Queue::bytes`] gives, or of another.
#[derive(Debug)]
pub(super) struct Answer<T> {
    pub(super) ticket: T,
    pub(super) result: io::Result<Option<Range<u64>>>,
}

/// The drive; `T` tells whoever asked which answer is whose.
#[derive(Debug)]
pub(super) struct Queue<T> {
    drive: Mechanics,
    platter: Platter,
    cache: Cache,
    ahead: Ahead,
    /// Is every write answered only when it is on the platter?
    write_through: bool,
    reads: VecDeque<Read<T>>,
    /// What came into a buffer, or was asked for, since the reads were looked at: no other read can be answered now that
    /// could not then. To look at all of them was more than half of the code blocks that a guest executed.
    news: Vec<Range<u64>>,
    /// Writes that the cache has no room for.
    held: VecDeque<(T, u64, Vec<u8>, bool)>,
    waits: Vec<Wait<T>>,
    /// What reached the platter since the waits were looked at: no other wait can be over. To look for all of them in the
    /// cache was four fifths of what a random write took.
    landed: Vec<Range<u64>>,
    /// Where the head is, unless it reads on.
    head: Bytes,
    busy: Option<Busy<T>>,
    /// The time of what happened last.
    clock: Nanos,
    /// Writes that the cache took.
    writes: Turn,
    failed: Option<io::Error>,
    answers: Vec<Answer<T>>,
}

#[derive(Debug)]
struct Read<T> {
    ticket: T,
    range: Range<u64>,
    /// Where the bytes ended that were in a buffer when news of them came. To look for them at each choice was half of
    /// what a random read took.
    had: u64,
    passed: u32,
}

/// Somebody waits until nothing this old is left in the cache, in a range or anywhere.
#[derive(Debug)]
struct Wait<T> {
    ticket: T,
    range: Option<Range<u64>>,
    turn: Turn,
    /// Was it looked at already?
    seen: bool,
}

impl<T> Wait<T> {
    /// Somebody who begins to wait.
    fn new(ticket: T, range: Option<Range<u64>>, turn: Turn) -> Self {
        Self { ticket, range, turn, seen: false }
    }

    /// Can it be over now, after these reached the platter, if it was not before?
    fn may_be_over(&mut self, landed: &[Range<u64>]) -> bool {
        !std::mem::replace(&mut self.seen, true) || landed.iter().any(|new| self.is_for(new))
    }

    /// Is anything that it waits for in the cache, or on its way from there?
    fn is_held(&self, busy: &Option<Busy<T>>, cache: &Cache) -> bool {
        let on_its_way = match busy {
            Some(Busy { work: Work::Drain { range, born }, .. }) => *born <= self.turn && self.is_for(range),
            _ => false,
        };
        on_its_way || self.range.as_ref().map_or_else(|| cache.holds_any(self.turn), |own| cache.holds(own, self.turn))
    }

    /// Does it wait for bytes of that range?
    fn is_for(&self, range: &Range<u64>) -> bool {
        self.range.as_ref().is_none_or(|own| own.start < range.end && range.start < own.end)
    }
}

/// What the head is at.
#[derive(Debug)]
struct Busy<T> {
    until: Nanos,
    work: Work<T>,
}

#[derive(Debug)]
enum Work<T> {
    Read(Read<T>),
    /// A piece of the cache on its way to the platter.
    Drain {
        range: Range<u64>,
        born: Turn,
    },
}

/// What the head could do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// The read at that place of the queue, from the first byte that is not in a buffer.
    Read(usize, u64),
    /// The piece of the cache that begins there.
    Drain(u64),
}

impl<T> Queue<T> {
    /// A drive of that size with those bytes, at rest at its outer edge.
    pub(super) fn new(spindle: &Spindle, size: Bytes, platter: Platter) -> Self {
        Self {
            drive: spindle.mechanics(size),
            platter,
            cache: Cache::new(spindle.cache.0),
            ahead: Ahead::new(spindle.cache.0, size),
            write_through: spindle.write_through,
            reads: VecDeque::new(),
            news: Vec::new(),
            held: VecDeque::new(),
            waits: Vec::new(),
            landed: Vec::new(),
            head: Bytes(0),
            busy: None,
            clock: Nanos(0),
            writes: 0,
            failed: None,
            answers: Vec::new(),
        }
    }

    /// When something happens next without being asked for.
    pub(super) fn next(&self) -> Option<Nanos> {
        self.busy.as_ref().map(|busy| busy.until)
    }

    /// What was answered since the last call.
    pub(super) fn answers(&mut self) -> Vec<Answer<T>> {
        std::mem::take(&mut self.answers)
    }

    /// The bytes of a range as they are now: of a read that was answered, before anything else is asked for.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub(super) fn bytes(&self, range: &Range<u64>) -> io::Result<Cow<'_, [u8]>> {
        let mut data = self.platter.read(range)?;
        self.cache.overlay(range.start, &mut data);
        Ok(data)
    }

    /// Takes what arrived at `at`; never earlier than what was submitted before.
    pub(super) fn submit(&mut self, at: Nanos, ticket: T, ask: Ask) {
        self.advance(at);
        self.clock = self.clock.max(at);
        match ask {
            Ask::Read { from, len } => {
                let range = from..from + u64::from(len);
                self.news.push(range.clone());
                self.reads.push_back(Read { ticket, had: range.start, range, passed: 0 });
            }
            Ask::Write { from, data, through } => {
                self.held.push_back((ticket, from, data, through || self.write_through));
            }
            Ask::Flush => self.waits.push(Wait::new(ticket, None, self.writes)),
        }
        self.settle();
    }

    /// Lets time go on until then.
    pub(super) fn advance(&mut self, until: Nanos) {
        while let Some(busy) = self.busy.take_if(|busy| busy.until <= until) {
            self.clock = busy.until;
            match busy.work {
                Work::Read(read) => {
                    self.head = Bytes(read.range.end);
                    self.ahead.begin(&self.drive, &read.range, self.clock);
                    self.news.push(read.range.clone());
                    self.answers.push(Answer { ticket: read.ticket, result: Ok(Some(read.range)) });
                }
                Work::Drain { range, .. } => {
                    self.head = Bytes(range.end);
                    self.landed.push(range);
                }
            }
            self.settle();
        }
    }

    /// Does all that takes no time, and gives the head its next work.
    fn settle(&mut self) {
        self.news.extend(self.ahead.keep(&self.drive, self.clock));
        self.admit();
        self.answer_from_buffers();
        if self.busy.is_none() {
            self.choose();
        }
        // A piece that was given to the head leaves its room.
        self.admit();
        self.release();
    }

    /// Takes writes into the cache, in their order, while there is room.
    fn admit(&mut self) {
        while let Some((_, _, data, _)) = self.held.front()
            && self.cache.has_room(data.len() as u64)
            && let Some((ticket, from, data, through)) = self.held.pop_front()
        {
            self.writes += 1;
            let range = from..from + data.len() as u64;
            self.news.push(range.clone());
            self.cache.insert(from, data, self.writes, through);
            if through {
                self.waits.push(Wait::new(ticket, Some(range), self.writes));
            } else {
                self.answers.push(Answer { ticket, result: Ok(None) });
            }
        }
    }

    /// Answers those who waited for the platter and need not wait any longer.
    fn release(&mut self) {
        let landed = std::mem::take(&mut self.landed);
        let (busy, cache) = (&self.busy, &self.cache);
        let is_over = |wait: &mut Wait<T>| wait.may_be_over(&landed) && !wait.is_held(busy, cache);
        for wait in self.waits.extract_if(.., is_over) {
            // A write that failed after it was answered is told to the first who asks whether all is well.
            let result = self.failed.take().map_or(Ok(None), Err);
            self.answers.push(Answer { ticket: wait.ticket, result });
        }
    }

    /// Where the bytes end that need no platter.
    fn covered(&self, range: &Range<u64>) -> u64 {
        let mut place = range.start;
        loop {
            let draining = match &self.busy {
                Some(Busy { work: Work::Drain { range, .. }, .. }) if range.contains(&place) => range.end,
                _ => place,
            };
            let next = self.cache.covered(place).max(draining).max(self.ahead.covered(place));
            if next == place || next >= range.end {
                return next.min(range.end);
            }
            place = next;
        }
    }

    /// Answers the reads that need no platter: also those that waited for it, where a write brought the bytes.
    fn answer_from_buffers(&mut self) {
        let news = std::mem::take(&mut self.news);
        let (Some(from), Some(to)) = (news.iter().map(|new| new.start).min(), news.iter().map(|new| new.end).max())
        else {
            return;
        };
        let near = |read: &Read<T>| from <= read.range.end && read.range.start <= to;
        let touched = |range: &Range<u64>| news.iter().any(|new| new.start <= range.end && range.start <= new.end);
        // One pass over all of them, for nearly always none is near.
        let (early, late) = self.reads.as_slices();
        let found = early.iter().chain(late).enumerate().filter(|(_, read)| near(read) && touched(&read.range));
        let found: Vec<usize> = found.map(|(at, _)| at).collect();
        let mut answered = 0;
        for at in found {
            let at = at - answered;
            let had = self.covered(&self.reads[at].range);
            if had < self.reads[at].range.end {
                self.reads[at].had = had;
            } else if let Some(read) = self.reads.remove(at) {
                answered += 1;
                self.ahead.follow(&self.drive, &read.range, self.clock);
                self.answers.push(Answer { ticket: read.ticket, result: Ok(Some(read.range)) });
            }
        }
    }

    /// The first byte of a read that is in no buffer. What was in one may have left it; nothing came without news.
    fn missing(&self, read: &Read<T>) -> u64 {
        if read.had == read.range.start { read.had } else { self.covered(&read.range) }
    }

    /// Gives the head what it reaches soonest, but what was passed over too often goes first.
    fn choose(&mut self) {
        let head = self.ahead.head(&self.drive, self.clock).unwrap_or(self.head);
        let drive = self.drive;
        let way = drive.accesses(self.clock, head);
        let mut best: Option<(bool, Nanos, Choice)> = None;
        let mut offer = |passed: u32, from: u64, choice: Choice| {
            let way = way(Bytes(from));
            let patient = passed < PATIENCE;
            if best.is_none_or(|(other, least, _)| (patient, way) < (other, least)) {
                best = Some((patient, way, choice));
            }
        };
        for (at, read) in self.reads.iter().take(QUEUE).enumerate() {
            let from = self.missing(read);
            offer(read.passed, from, Choice::Read(at, from));
        }
        for (start, passed) in self.cache.first(QUEUE) {
            offer(passed, start, Choice::Drain(start));
        }
        let Some((_, way, choice)) = best else { return };
        self.reads.iter_mut().take(QUEUE).for_each(|read| read.passed += 1);
        self.cache.pass_over(QUEUE);
        self.ahead.end();
        self.begin(choice, Nanos(self.clock.0 + way.0));
    }

    /// Begins what was chosen; `over` is when the head is over its first byte.
    fn begin(&mut self, choice: Choice, over: Nanos) {
        let (work, from, to) = match choice {
            Choice::Read(at, missing) => {
                let Some(read) = self.reads.remove(at) else { return };
                let to = read.range.end;
                (Work::Read(read), missing, to)
            }
            Choice::Drain(start) => {
                let Some(piece) = self.cache.take(start) else { return };
                let range = start..start + piece.data.len() as u64;
                // On the platter at once: nobody is told before the head is done.
                if let Err(error) = self.platter.write(start, &piece.data) {
                    self.failed = Some(error);
                }
                (Work::Drain { range: range.clone(), born: piece.born }, range.start, range.end)
            }
        };
        let until = Nanos(over.0 + self.drive.transfer(Bytes(from), Bytes(to)).0);
        self.busy = Some(Busy { until, work });
    }
}

#[cfg(test)]
mod tests;
