//! Cells sorted by stack, workload and round; of several attempts at a round, the newest counts.

use std::collections::BTreeMap;

use terms::record::Cell;

/// The newest attempt of a cell and how many there were.
#[derive(Debug, Clone, Copy)]
struct Newest<'a> {
    cell: &'a Cell,
    attempts: u32,
}

/// Cells by stack and workload, then by round.
#[derive(Debug, Default)]
pub(crate) struct Rounds<'a> {
    sorted: BTreeMap<(&'a str, &'a str), BTreeMap<u32, Newest<'a>>>,
}

impl<'a> Rounds<'a> {
    /// Sorts cells. Later ones are newer attempts.
    pub(crate) fn sort(cells: impl IntoIterator<Item = &'a Cell>) -> Self {
        let mut rounds = Self::default();
        for cell in cells {
            let of = rounds.sorted.entry((&cell.key.stack, &cell.key.workload)).or_default();
            let attempts = of.get(&cell.key.round).map_or(0, |newest| newest.attempts);
            of.insert(cell.key.round, Newest { cell, attempts: attempts + 1 });
        }
        rounds
    }

    /// The newest cell of every round of a workload on a stack, by round.
    pub(crate) fn of(&self, stack: &str, workload: &str) -> Vec<&'a Cell> {
        let of = self.sorted.get(&(stack, workload));
        of.into_iter().flat_map(BTreeMap::values).map(|newest| newest.cell).collect()
    }

    /// Throughput in bytes per second of every round that has a reading.
    pub(crate) fn throughput(&self, stack: &str, workload: &str) -> BTreeMap<u32, f64> {
        let cells = self.of(stack, workload);
        cells.iter().filter_map(|cell| Some((cell.key.round, cell.reading.as_ref()?.throughput().0))).collect()
    }

    /// Does it hold for any newest cell?
    pub(crate) fn any(&self, holds: impl Fn(&Cell) -> bool) -> bool {
        self.sorted.values().flat_map(BTreeMap::values).any(|newest| holds(newest.cell))
    }

    /// Cells that took more than one attempt.
    pub(crate) fn repeated(&self) -> usize {
        self.sorted.values().flat_map(BTreeMap::values).filter(|newest| newest.attempts > 1).count()
    }

    /// Every stack and workload that there are cells of.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.sorted.keys().copied()
    }
}
