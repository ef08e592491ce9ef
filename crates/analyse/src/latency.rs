//! Completion latency of a cell over all rounds, reads and writes together.
//!
//! Percentiles come from merged bins, see [`crate::histogram`]. The mean is weighted by operations:
//! Σ(meanᵢ·operationsᵢ) / Σ operationsᵢ over all rounds and directions, which is the mean over all completions. The
//! largest is the largest of all. A percentile above the largest (a bin's midpoint may be) is cut to it.

use terms::record::{Flow, Latency};
use terms::units::Nanos;

use crate::histogram::Histogram;

/// All flows merged. `None` where nothing completed or a flow that did something has no bins: percentiles of a part
/// would pass for those of the whole.
pub(crate) fn merged<'a>(flows: impl IntoIterator<Item = &'a Flow>) -> Option<Latency> {
    let mut histogram = Histogram::default();
    let (mut operations, mut time, mut max) = (0u128, 0u128, Nanos(0));
    for flow in flows.into_iter().filter(|flow| flow.operations > 0) {
        if flow.latency.bins.iter().all(|(_, count)| *count == 0) {
            return None;
        }
        histogram.merge(&flow.latency.bins);
        operations += u128::from(flow.operations);
        time += u128::from(flow.latency.mean.0) * u128::from(flow.operations);
        max = max.max(flow.latency.max);
    }
    if operations == 0 {
        return None;
    }
    let mean = (time + operations / 2) / operations;
    Some(Latency {
        mean: Nanos(u64::try_from(mean).unwrap_or(u64::MAX)),
        p50: histogram.percentile(500)?.min(max),
        p99: histogram.tail(990).map(|value| value.min(max)),
        p999: histogram.tail(999).map(|value| value.min(max)),
        max,
        bins: histogram.bins(),
    })
}

/// Latencies of flushes merged. Their operations are the completions in their bins.
pub(crate) fn merged_sync<'a>(latencies: impl IntoIterator<Item = &'a Latency>) -> Option<Latency> {
    let mut histogram = Histogram::default();
    let (mut operations, mut time, mut max) = (0u128, 0u128, Nanos(0));
    for latency in latencies {
        let count: u128 = latency.bins.iter().map(|(_, count)| u128::from(*count)).sum();
        histogram.merge(&latency.bins);
        operations += count;
        time += u128::from(latency.mean.0) * count;
        max = max.max(latency.max);
    }
    let mean = (time + operations / 2).checked_div(operations)?;
    Some(Latency {
        mean: Nanos(u64::try_from(mean).unwrap_or(u64::MAX)),
        p50: histogram.percentile(500)?.min(max),
        p99: histogram.tail(990).map(|value| value.min(max)),
        p999: histogram.tail(999).map(|value| value.min(max)),
        max,
        bins: histogram.bins(),
    })
}

#[cfg(test)]
mod tests {
    use terms::units::{Bytes, BytesPerSecond, Iops};

    use super::*;

    fn flow(operations: u64, mean: u64, max: u64, bins: &[(u64, u64)]) -> Flow {
        Flow {
            bytes: Bytes(operations * 4096),
            operations,
            runtime: Nanos::seconds(1),
            throughput: BytesPerSecond(1.0),
            iops: Iops(1.0),
            latency: Latency { mean: Nanos(mean), max: Nanos(max), bins: bins.to_vec(), ..Latency::default() },
        }
    }

    #[test]
    fn rounds_are_weighted_by_operations() {
        let found =
            merged(&[flow(30_000, 100, 900, &[(100, 30_000)]), flow(10_000, 500, 700, &[(500, 10_000)])]).unwrap();
        assert_eq!((found.mean, found.p50, found.max), (Nanos(200), Nanos(100), Nanos(900)));
        assert_eq!(found.p99, Some(Nanos(500)));
        assert_eq!(found.p999, None, "40 completions beyond it are too few");
        assert_eq!(found.bins, [(100, 30_000), (500, 10_000)]);
    }

    #[test]
    fn a_percentile_does_not_exceed_the_largest() {
        let found = merged(&[flow(100, 100, 103, &[(104, 100)])]).unwrap();
        assert_eq!((found.p50, found.max), (Nanos(103), Nanos(103)));
    }

    #[test]
    fn without_bins_there_are_no_percentiles_to_tell() {
        assert_eq!(merged(&[flow(10, 100, 100, &[(100, 10)]), flow(10, 100, 100, &[])]), None);
        assert_eq!(merged(&[]), None);
        assert_eq!(merged(&[flow(0, 0, 0, &[])]), None);
        assert!(merged(&[flow(10, 100, 100, &[(100, 10)]), flow(0, 0, 0, &[])]).is_some());
    }
}
