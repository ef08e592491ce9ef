//! The volatile write cache of a hard disk: what was written and is not on the platter yet.
//!
//! Pieces never overlap. A piece that covers part of an older one counts as old as that: who waits for the older bytes
//! to be on the platter waits for those that took their place.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// Which write something came with: they are counted.
pub(super) type Turn = u64;

/// A piece in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) data: Vec<u8>,
    /// The oldest write that it stands for.
    pub(super) born: Turn,
    /// Somebody waits for this very piece.
    urgent: bool,
    /// How often another was chosen instead before it was put here or taken out.
    passed: u32,
}

impl Piece {
    fn rank(&self, start: u64) -> Rank {
        (!self.urgent, self.born, start)
    }
}

/// The order in which pieces are offered to the head: those that are waited for, then the oldest.
type Rank = (bool, Turn, u64);

/// The cache.
#[derive(Debug, Default)]
pub(super) struct Cache {
    room: u64,
    held: u64,
    pieces: BTreeMap<u64, Piece>,
    /// Their order, and how often another was chosen instead. To look each up took a third of what a random write did.
    order: BTreeMap<Rank, u32>,
}

impl Cache {
    pub(super) fn new(room: u64) -> Self {
        Self { room, ..Self::default() }
    }

    /// Is there room for so many bytes? What is larger than the whole cache goes in alone.
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        self.held + bytes <= self.room || self.pieces.is_empty()
    }

    /// Takes a write, in the place of what it covers. Returns how old the new piece counts.
    pub(super) fn insert(&mut self, start: u64, data: Vec<u8>, turn: Turn, urgent: bool) -> Turn {
        let end = start + data.len() as u64;
        let (mut born, mut urgent) = (turn, urgent);
        for (at, old) in self.cut_out(start..end) {
            (born, urgent) = (born.min(old.born), urgent || old.urgent);
            let cut = |from: u64, to: u64| old.data[offset(from - at)..offset(to - at)].to_vec();
            let old_end = at + old.data.len() as u64;
            if at < start {
                self.put(at, Piece { data: cut(at, start), ..old.clone() });
            }
            if old_end > end {
                self.put(end, Piece { data: cut(end, old_end), ..old.clone() });
            }
        }
        self.put(start, Piece { data, born, urgent, passed: 0 });
        born
    }

    fn put(&mut self, start: u64, piece: Piece) {
        self.held += piece.data.len() as u64;
        self.order.insert(piece.rank(start), piece.passed);
        self.pieces.insert(start, piece);
    }

    /// Takes a piece out.
    pub(super) fn take(&mut self, start: u64) -> Option<Piece> {
        let mut piece = self.pieces.remove(&start)?;
        piece.passed = self.order.remove(&piece.rank(start))?;
        self.held -= piece.data.len() as u64;
        Some(piece)
    }

    fn cut_out(&mut self, range: Range<u64>) -> Vec<(u64, Piece)> {
        let starts: Vec<u64> = self.overlapping(range).map(|(start, _)| start).collect();
        starts.into_iter().filter_map(|start| Some((start, self.take(start)?))).collect()
    }

    fn overlapping(&self, range: Range<u64>) -> impl Iterator<Item = (u64, &Piece)> {
        let before = self.pieces.range(..range.start).next_back();
        let reaches = before.filter(|(at, piece)| *at + piece.data.len() as u64 > range.start);
        reaches.into_iter().chain(self.pieces.range(range)).map(|(at, piece)| (*at, piece))
    }

    /// The first pieces in the order of being offered: where each begins, and how often another was chosen instead.
    pub(super) fn first(&self, count: usize) -> impl Iterator<Item = (u64, u32)> {
        self.order.iter().take(count).map(|(rank, passed)| (rank.2, *passed))
    }

    /// Another than the first pieces was chosen.
    pub(super) fn pass_over(&mut self, count: usize) {
        self.order.values_mut().take(count).for_each(|passed| *passed += 1);
    }

    /// Is anything in a range as old as that, or older?
    pub(super) fn holds(&self, range: &Range<u64>, turn: Turn) -> bool {
        self.overlapping(range.clone()).any(|(_, piece)| piece.born <= turn)
    }

    /// Is anything at all as old as that, or older?
    pub(super) fn holds_any(&self, turn: Turn) -> bool {
        let oldest = [false, true].map(|at| self.order.range((at, 0, 0)..).next().filter(|(rank, _)| rank.0 == at));
        oldest.into_iter().flatten().any(|(rank, _)| rank.1 <= turn)
    }

    /// Where the bytes that are here end that begin at a place; the place itself if it is not here.
    pub(super) fn covered(&self, from: u64) -> u64 {
        let last = self.pieces.range(..=from).next_back();
        last.map_or(from, |(at, piece)| from.max(*at + piece.data.len() as u64))
    }

    /// Puts what is here over what was read from the platter.
    pub(super) fn overlay(&self, start: u64, data: &mut Cow<'_, [u8]>) {
        let end = start + data.len() as u64;
        for (at, piece) in self.overlapping(start..end) {
            let (from, to) = (at.max(start), (at + piece.data.len() as u64).min(end));
            let new = &piece.data[offset(from - at)..offset(to - at)];
            data.to_mut()[offset(from - start)..offset(to - start)].copy_from_slice(new);
        }
    }
}

/// A place inside a buffer: buffers are memory, so they fit.
pub(super) fn offset(of: u64) -> usize {
    usize::try_from(of).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_over_an_older_one_is_as_old_and_keeps_the_ends() {
        let mut cache = Cache::new(100);
        cache.insert(10, vec![1; 20], 1, false);
        assert_eq!(cache.insert(15, vec![2; 5], 7, false), 1);
        assert_eq!(cache.held, 20);
        assert!(cache.holds(&(15..16), 1) && cache.holds_any(1) && !cache.holds_any(0));
        let mut read = Cow::Owned(vec![0; 22]);
        cache.overlay(9, &mut read);
        assert_eq!(read, [vec![0], vec![1; 5], vec![2; 5], vec![1; 10], vec![0]].concat());
        assert_eq!((cache.covered(10), cache.covered(30), cache.covered(9)), (15, 30, 9));
        assert_eq!(cache.first(9).map(|piece| piece.0).collect::<Vec<_>>(), [10, 15, 20]);
    }

    #[test]
    fn what_is_waited_for_is_offered_first() {
        let mut cache = Cache::new(100);
        cache.insert(0, vec![0; 10], 1, false);
        cache.insert(50, vec![0; 10], 2, true);
        assert_eq!(cache.first(1).collect::<Vec<_>>(), [(50, 0)]);
        assert!(cache.has_room(80) && !cache.has_room(81));
        cache.take(50);
        cache.take(0);
        assert!(cache.pieces.is_empty() && cache.has_room(1000) && cache.held == 0 && cache.order.is_empty());
    }
}
