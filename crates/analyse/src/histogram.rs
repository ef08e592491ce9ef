//! Latency histograms: exact merging of fio's json+ bins and percentiles by nearest rank.
//!
//! The p-th percentile of n completions is the smallest bin value v for which at least ⌈p·n⌉ completions lie at or below
//! v (nearest rank; Hyndman & Fan, "Sample quantiles in statistical packages", 1996, definition 1). It is told only if
//! n·(1−p) ≥ 100: fewer completions beyond it would make it an anecdote. fio's bins are midpoints of log-spaced cells,
//! so a percentile is no finer than the bin it falls in (about 1.6 % with 64 bins per octave).

use std::collections::BTreeMap;

use terms::units::Nanos;

/// Completions that must lie beyond a percentile before it is told.
const TAIL: u64 = 100;

/// Latencies in nanoseconds and how often each occurred.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Histogram {
    /// Value in ns to count; never an empty bin.
    counts: BTreeMap<u64, u64>,
    /// Completions in all bins.
    total: u64,
}

impl Histogram {
    /// Adds bins. Counts are exact: the order of merging does not matter.
    pub(crate) fn merge(&mut self, bins: &[(u64, u64)]) {
        for &(value, count) in bins.iter().filter(|(_, count)| *count > 0) {
            let entry = self.counts.entry(value).or_default();
            *entry = entry.saturating_add(count);
            self.total = self.total.saturating_add(count);
        }
    }

    /// The value at the given share of completions in thousandths (500 is the median); `None` if empty.
    pub(crate) fn percentile(&self, per_mille: u32) -> Option<Nanos> {
        let rank = (u128::from(self.total) * u128::from(per_mille)).div_ceil(1000);
        let mut below = 0u128;
        for (&value, &count) in &self.counts {
            below += u128::from(count);
            if below >= rank {
                return Some(Nanos(value));
            }
        }
        None
    }

    /// The same, but only if at least [`TAIL`] completions lie beyond it.
    pub(crate) fn tail(&self, per_mille: u32) -> Option<Nanos> {
        let beyond = u128::from(self.total) * u128::from(1000u32.saturating_sub(per_mille)) / 1000;
        if beyond >= u128::from(TAIL) { self.percentile(per_mille) } else { None }
    }

    /// Bins in ascending order.
    pub(crate) fn bins(&self) -> Vec<(u64, u64)> {
        self.counts.iter().map(|(&value, &count)| (value, count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(bins: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::default();
        histogram.merge(bins);
        histogram
    }

    #[test]
    fn percentiles_by_nearest_rank() {
        let histogram = of(&[(10, 1), (20, 1), (30, 1), (40, 1)]);
        for (per_mille, expect) in [(1, 10), (250, 10), (251, 20), (500, 20), (750, 30), (751, 40), (1000, 40)] {
            assert_eq!(histogram.percentile(per_mille), Some(Nanos(expect)), "{per_mille}");
        }
        assert_eq!(of(&[]).percentile(500), None);
        assert_eq!(of(&[(7, 0)]).percentile(500), None);
    }

    #[test]
    fn tails_need_a_hundred_completions_beyond_them() {
        for (total, p99, p999) in
            [(9_999, false, false), (10_000, true, false), (99_999, true, false), (100_000, true, true)]
        {
            let histogram = of(&[(5, total)]);
            assert_eq!(histogram.tail(990).is_some(), p99, "p99 of {total}");
            assert_eq!(histogram.tail(999).is_some(), p999, "p99.9 of {total}");
        }
    }

    proptest! {
        #[test]
        fn merging_knows_no_order(mut sets in prop::collection::vec(
            prop::collection::vec((0u64..100, 0u64..1000), 0..20), 0..6), turn in 0usize..6) {
            let forward = sets.iter().fold(Histogram::default(), |mut all, bins| { all.merge(bins); all });
            let turn = turn.min(sets.len());
            sets.rotate_left(turn);
            sets.iter_mut().for_each(|bins| bins.reverse());
            let other = sets.iter().fold(Histogram::default(), |mut all, bins| { all.merge(bins); all });
            prop_assert_eq!(&forward, &other);
            let total: u64 = forward.bins().iter().map(|(_, count)| count).sum();
            prop_assert_eq!(total, sets.iter().flatten().map(|(_, count)| count).sum::<u64>());
        }

        #[test]
        fn percentiles_never_fall(bins in prop::collection::vec((0u64..1_000_000, 1u64..50_000), 1..40)) {
            let histogram = of(&bins);
            let values: Vec<_> = (1..=1000).map(|p| histogram.percentile(p).unwrap()).collect();
            prop_assert!(values.is_sorted());
        }
    }
}
