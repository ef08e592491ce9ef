//! What each of several different jobs did that ran at once, over all rounds.

use terms::finding::PartFinding;
use terms::record::{Cell, Reading};

use crate::interval::{self, Looks};
use crate::latency;

/// Each part of a workload in its order; empty where it has none.
pub(crate) fn find(cells: &[&Cell], looks: Looks) -> Vec<PartFinding> {
    let Some(newest) = cells.iter().rev().find(|cell| !cell.parts.is_empty()) else { return Vec::new() };
    let one = |name: &terms::Name| {
        let all = cells.iter().flat_map(|cell| &cell.parts).filter(|part| part.part == *name);
        let readings: Vec<&Reading> = all.map(|part| &part.reading).collect();
        PartFinding {
            part: name.clone(),
            throughput: interval::between_rounds(readings.iter().map(|reading| reading.throughput().0), looks),
            iops: interval::between_rounds(readings.iter().map(|reading| reading.iops().0), looks),
            latency: latency::merged(readings.iter().flat_map(|reading| reading.flows())),
        }
    };
    newest.parts.iter().map(|part| one(&part.part)).collect()
}

#[cfg(test)]
mod tests {
    use terms::record::{CellKey, Flow, Latency, PartReading};
    use terms::{Bytes, BytesPerSecond, Iops, Name, Nanos};

    use super::*;

    fn cell(round: u32, rates: [(&str, f64); 2]) -> Cell {
        let key = CellKey { round, stack: "s".into(), workload: "w".into() };
        let part = |(name, rate): (&str, f64)| {
            let latency = Latency { mean: Nanos(10), bins: vec![(10, 5)], ..Latency::default() };
            let (throughput, iops) = (BytesPerSecond(rate), Iops(rate / 2.0));
            let flow = Flow { bytes: Bytes(1), operations: 5, runtime: Nanos(1), throughput, iops, latency };
            let reading = Reading { read: Some(flow), ..Reading::default() };
            PartReading { part: Name::new(name).unwrap(), reading }
        };
        Cell { parts: rates.map(part).to_vec(), ..Cell::begun(key, String::new(), Vec::new(), 1) }
    }

    #[test]
    fn every_part_is_followed_over_the_rounds_by_its_name() {
        let (first, second) = (cell(1, [("r", 100.0), ("w", 400.0)]), cell(2, [("w", 100.0), ("r", 100.0)]));
        let found = find(&[&first, &second], Looks::Once);
        let seen: Vec<(&str, f64)> =
            found.iter().map(|part| (part.part.as_str(), part.throughput.as_ref().unwrap().value.round())).collect();
        assert_eq!(seen, [("w", 200.0), ("r", 100.0)], "geometric means, in the order of the last round");
        assert_eq!(found[0].latency.as_ref().unwrap().mean, Nanos(10));
        let none = Cell::begun(first.key.clone(), String::new(), Vec::new(), 1);
        assert!(find(&[&none], Looks::Once).is_empty());
    }
}
