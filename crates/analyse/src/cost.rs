//! What an operation costs: processor time of the whole system, and bytes on the drives.
//!
//! Counters are read twice inside the window, operations and bytes cover the whole of it. Each cell's counter is
//! therefore scaled by `window / wall`, which assumes that the part between the readings is like the rest. Rounds are
//! pooled: `Σ counterᵢ·(windowᵢ/wallᵢ) / Σ operationsᵢ` (or bytes). A pooled ratio weighs each round by the work it did.
//!
//! Processor time is that of all processors, kernel workers and fio included, idle and waiting left out: encryption and
//! parity run in kernel threads which the load generator's own accounting does not see.

use terms::record::{Cell, Reading};
use terms::units::Nanos;

/// Busy processor time of the whole system for each operation. `None` where no cell has both counts.
pub(crate) fn cpu_per_operation(cells: &[&Cell]) -> Option<Nanos> {
    let parts = cells.iter().filter_map(|cell| {
        let (reading, cpu) = (cell.reading.as_ref()?, cell.cpu.as_ref()?);
        let share = share(window(reading)?, cpu.wall)?;
        Some((cpu.busy.as_seconds() * share, count(reading.flows().map(|flow| flow.operations))))
    });
    pooled(parts).map(Nanos::from_seconds)
}

/// Bytes moved on all drives for each byte moved by the application. `None` where no cell has both counts.
///
/// Where the wall time was not recorded, it is taken to be `settle` and the window.
pub(crate) fn drive_bytes_ratio(cells: &[&Cell], settle: Nanos) -> Option<f64> {
    let parts = cells.iter().filter(|cell| !cell.members.is_empty()).filter_map(|cell| {
        let reading = cell.reading.as_ref()?;
        let window = window(reading)?;
        let wall = cell.cpu.as_ref().map_or(Nanos(settle.0.saturating_add(window.0)), |cpu| cpu.wall);
        let moved = count(cell.members.iter().flat_map(|member| [member.read.0, member.written.0]));
        Some((moved * share(window, wall)?, count(reading.flows().map(|flow| flow.bytes.0))))
    });
    pooled(parts)
}

/// Time that the window took: the longer of both directions, which run side by side.
fn window(reading: &Reading) -> Option<Nanos> {
    reading.flows().map(|flow| flow.runtime).max().filter(|window| window.0 > 0)
}

/// How much longer the window was than the time between the two readings.
fn share(window: Nanos, wall: Nanos) -> Option<f64> {
    (wall.0 > 0).then(|| window.as_seconds() / wall.as_seconds())
}

/// The sum of counters, as a double for ratios.
#[expect(clippy::cast_precision_loss, reason = "a ratio shows nothing beyond 2^53")]
fn count(values: impl Iterator<Item = u64>) -> f64 {
    values.map(|value| value as f64).sum()
}

/// Σ above / Σ below.
fn pooled(parts: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (above, below) = parts.fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    (below > 0.0).then(|| above / below)
}

#[cfg(test)]
mod tests {
    use terms::record::{CpuDelta, MemberDelta};
    use terms::units::Bytes;

    use super::*;
    use crate::tests::cell;

    fn costed(round: u32, busy: u64, wall: u64, moved: u64) -> Cell {
        let mut cell = cell(round, "a", "rnd", 4096.0 * 1000.0);
        cell.cpu = Some(CpuDelta { busy: Nanos(busy), wall: Nanos::seconds(wall), ..CpuDelta::default() });
        cell.members = vec![MemberDelta {
            drive: "d".into(),
            read: Bytes(moved / 2),
            written: Bytes(moved - moved / 2),
            ..MemberDelta::default()
        }];
        cell
    }

    #[test]
    fn counters_are_scaled_to_the_window() {
        // The window of the test cells is 3 s: 3000 operations, 12,288,000 bytes.
        let cell = costed(1, 400_000_000, 4, 2 * 16_384_000);
        assert_eq!(cpu_per_operation(&[&cell]), Some(Nanos(100_000)));
        let ratio = drive_bytes_ratio(&[&cell], Nanos::seconds(9)).unwrap();
        assert!((ratio - 2.0).abs() < 1e-12, "{ratio}");
    }

    #[test]
    fn without_wall_time_settling_is_taken_from_the_study() {
        let mut cell = costed(1, 0, 1, 16_384_000);
        cell.cpu = None;
        let ratio = drive_bytes_ratio(&[&cell], Nanos::seconds(1)).unwrap();
        assert!((ratio - 1.0).abs() < 1e-12, "{ratio}");
        assert_eq!(cpu_per_operation(&[&cell]), None);
    }

    #[test]
    fn rounds_are_pooled_and_uncounted_ones_left_out() {
        let (one, two) = (costed(1, 300_000_000, 3, 12_288_000), costed(2, 600_000_000, 3, 3 * 12_288_000));
        let mut bare = costed(3, 0, 3, 0);
        bare.cpu = None;
        bare.members.clear();
        let cells = [&one, &two, &bare];
        assert_eq!(cpu_per_operation(&cells), Some(Nanos(150_000)));
        assert!((drive_bytes_ratio(&cells, Nanos(0)).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(drive_bytes_ratio(&[&bare], Nanos(0)), None);
        assert_eq!(cpu_per_operation(&[]), None);
    }

    #[test]
    fn a_part_of_the_window_stands_for_the_whole() {
        // 3 s of window, 2 s between the readings.
        assert_eq!(cpu_per_operation(&[&costed(1, 300_000_000, 2, 1)]), Some(Nanos(150_000)));
        assert_eq!(cpu_per_operation(&[&costed(1, 300_000_000, 0, 1)]), None, "no wall time, no scale");
    }
}
