//! What each of several hosts did, over all rounds.

use terms::finding::HostFinding;
use terms::record::{Cell, HostReading, Reading};

use crate::interval::{self, Looks};
use crate::latency;

/// Each host by its number; empty where a cell was of one host.
pub(crate) fn find(cells: &[&Cell], looks: Looks) -> Vec<HostFinding> {
    let Some(newest) = cells.iter().rev().find(|cell| !cell.hosts.is_empty()) else { return Vec::new() };
    newest.hosts.iter().map(|host| one(host, cells, looks)).collect()
}

fn one(newest: &HostReading, cells: &[&Cell], looks: Looks) -> HostFinding {
    let all = cells.iter().flat_map(|cell| &cell.hosts);
    let readings: Vec<&Reading> = all.filter(|of| of.host == newest.host).map(|of| &of.reading).collect();
    HostFinding {
        host: newest.host,
        throughput: interval::between_rounds(readings.iter().map(|reading| reading.throughput().0), looks),
        iops: interval::between_rounds(readings.iter().map(|reading| reading.iops().0), looks),
        latency: latency::merged(readings.iter().flat_map(|reading| reading.flows())),
        samples: newest.samples.clone(),
    }
}

#[cfg(test)]
mod tests {
    use terms::record::{CellKey, Flow, Latency};
    use terms::{Bytes, BytesPerSecond, Iops, Nanos};

    use super::*;

    fn reading(rate: f64) -> Reading {
        let latency = Latency { mean: Nanos(10), bins: vec![(10, 5)], ..Latency::default() };
        let throughput = BytesPerSecond(rate);
        let flow =
            Flow { bytes: Bytes(1), operations: 5, runtime: Nanos(1), throughput, iops: Iops(rate / 2.0), latency };
        Reading { read: Some(flow), ..Reading::default() }
    }

    fn cell(round: u32, rates: &[f64]) -> Cell {
        let key = CellKey { round, stack: "s".into(), workload: "w".into() };
        let host = |(host, rate): (u8, &f64)| HostReading { host, reading: reading(*rate), samples: Vec::new() };
        Cell { hosts: (1..).zip(rates).map(host).collect(), ..Cell::begun(key, String::new(), Vec::new(), 1) }
    }

    #[test]
    fn every_host_is_followed_over_the_rounds() {
        let (first, second) = (cell(1, &[100.0, 400.0]), cell(2, &[100.0, 100.0]));
        let found = find(&[&first, &second], Looks::Once);
        let middle = |at: usize| found[at].throughput.as_ref().unwrap().value;
        assert!((middle(0) - 100.0).abs() < 1e-9 && (middle(1) - 200.0).abs() < 1e-9, "geometric means");
        assert_eq!((found[1].host, found[1].latency.as_ref().unwrap().mean), (2, Nanos(10)));
        assert!(find(&[&cell(1, &[])], Looks::Once).is_empty());
    }
}
