//! Before, while and after a network path was lost, from the samples of the last round that lost one.
//!
//! A stretch's throughput is the mean of its samples, each of the same length. Its latency is the mean of theirs, each
//! weighed by its throughput, because a sample's latency is a mean over what was completed in it. A sample belongs to
//! the stretch that its middle lies in. The longest silence is the longest row of samples in which nothing moved: exact
//! to one sample at either end.

use terms::Nanos;
use terms::finding::{PathLossFinding, Stretch};
use terms::record::{Cell, Sample};

/// What the newest cell that lost a path says.
pub(crate) fn find(cells: &[&Cell]) -> Option<PathLossFinding> {
    let cell = cells.iter().rev().find(|cell| cell.path_lost.is_some() && !cell.samples.is_empty())?;
    let loss = cell.path_lost?;
    let step = cell.samples.first()?.at;
    let between = |from: Nanos, to: Nanos| {
        let middle = move |sample: &&Sample| sample.at.0.saturating_sub(step.0 / 2);
        stretch(cell.samples.iter().filter(move |sample| (from.0..to.0).contains(&middle(sample))))
    };
    Some(PathLossFinding {
        loss,
        before: between(Nanos(0), loss.at),
        during: between(loss.at, loss.back),
        after: between(loss.back, Nanos(u64::MAX)),
        longest_silence: silence(&cell.samples, step),
    })
}

fn stretch<'a>(samples: impl Iterator<Item = &'a Sample>) -> Stretch {
    let (mut count, mut moved, mut weight, mut waited) = (0.0, 0.0, 0.0, 0.0);
    for sample in samples {
        count += 1.0;
        moved += sample.throughput.0;
        if let Some(latency) = sample.latency {
            weight += sample.throughput.0;
            waited += sample.throughput.0 * latency.as_seconds();
        }
    }
    let latency = (weight > 0.0).then(|| Nanos::from_seconds(waited / weight));
    Stretch { throughput: (count > 0.0).then(|| moved / count), latency }
}

fn silence(samples: &[Sample], step: Nanos) -> Nanos {
    let (mut longest, mut now) = (0, 0);
    for sample in samples {
        now = if sample.throughput.0 > 0.0 { 0 } else { now + 1 };
        longest = longest.max(now);
    }
    Nanos(step.0 * longest)
}

#[cfg(test)]
mod tests {
    use terms::record::CellKey;
    use terms::units::BytesPerSecond;
    use terms::workload::PathLoss;

    use super::*;

    #[test]
    fn stretches_are_distinguished_and_silence_is_counted() {
        let sample = |at: u64, rate: f64, latency: Option<u64>| Sample {
            at: Nanos::millis(at * 100),
            throughput: BytesPerSecond(rate),
            latency: latency.map(Nanos::millis),
        };
        let key = CellKey { round: 1, stack: "s".into(), workload: "w".into() };
        let mut cell = Cell::begun(key, String::new(), Vec::new(), 1);
        cell.samples = vec![
            sample(1, 100.0, Some(1)),
            sample(2, 300.0, Some(3)),
            sample(3, 0.0, None),
            sample(4, 0.0, None),
            sample(5, 50.0, Some(200)),
            sample(6, 80.0, Some(2)),
        ];
        assert_eq!(find(&[&cell]), None);
        cell.path_lost = Some(PathLoss { at: Nanos::millis(210), back: Nanos::millis(500) });
        let found = find(&[&cell]).unwrap();
        let of = |stretch: Stretch| (stretch.throughput, stretch.latency.map(Nanos::as_millis));
        // 2.5 ms, told in whole ones.
        assert_eq!(of(found.before), (Some(200.0), Some(2)));
        assert_eq!(of(found.during), (Some(50.0 / 3.0), Some(200)));
        assert_eq!(of(found.after), (Some(80.0), Some(2)));
        assert_eq!(found.longest_silence, Nanos::millis(200));
    }
}
