//! What each drive did while a cell was measured, in the terms of iostat(1).
//!
//! The kernel's counters (Documentation/admin-guide/iostats.rst) are read twice inside the window. Rounds are pooled:
//! `Σ counterᵢ / Σ wallᵢ`, so that each round weighs as much as it took. The share of the time with something under way
//! is iostat's `%util`, the time weighted by how much was under way its `aqu-sz`. A drive that serves many operations at
//! once may be busy all the time and far from its limit.

use terms::finding::DriveWork;
use terms::record::{Cell, MemberDelta};
use terms::units::{Bytes, BytesPerSecond, Iops, Nanos};

/// Every drive of which anything was counted, in the order of the record.
pub(crate) fn work(cells: &[&Cell]) -> Vec<DriveWork> {
    let mut names: Vec<&str> = Vec::new();
    for (member, _) in counted(cells) {
        if !names.contains(&member.drive.as_str()) {
            names.push(&member.drive);
        }
    }
    names.into_iter().filter_map(|name| of_drive(name, cells)).collect()
}

/// Counters with the time that they cover.
fn counted<'a>(cells: &'a [&Cell]) -> impl Iterator<Item = (&'a MemberDelta, Nanos)> {
    let walls = cells.iter().filter_map(|cell| Some((*cell, cell.cpu.as_ref()?.wall)));
    walls.filter(|(_, wall)| wall.0 > 0).flat_map(|(cell, wall)| cell.members.iter().map(move |member| (member, wall)))
}

fn of_drive(name: &str, cells: &[&Cell]) -> Option<DriveWork> {
    let own = || counted(cells).filter(|(member, _)| member.drive == name);
    let wall: f64 = own().map(|(_, wall)| wall.as_seconds()).sum();
    let per_second = |of: fn(&MemberDelta) -> f64| own().map(|(member, _)| of(member)).sum::<f64>() / wall;
    (wall > 0.0).then(|| DriveWork {
        drive: name.to_owned(),
        read: BytesPerSecond(per_second(|member| member.read.as_f64())),
        written: BytesPerSecond(per_second(|member| member.written.as_f64())),
        operations: Iops(per_second(|member| Bytes(member.operations).as_f64())),
        busy: per_second(|member| member.busy.as_seconds()).min(1.0),
        queue: per_second(|member| member.queued.as_seconds()),
    })
}

#[cfg(test)]
mod tests {
    use terms::record::CpuDelta;

    use super::*;
    use crate::tests::cell;

    fn worked(round: u32, wall: u64, drives: &[(&str, u64)]) -> Cell {
        let member = |(name, mib): &(&str, u64)| MemberDelta {
            drive: (*name).to_owned(),
            read: Bytes::mib(*mib),
            written: Bytes::mib(2 * mib),
            busy: Nanos::seconds(wall / 2),
            operations: 100 * mib,
            queued: Nanos::seconds(3 * wall),
        };
        let mut cell = cell(round, "a", "rnd", 4096.0);
        cell.members = drives.iter().map(member).collect();
        cell.cpu = Some(CpuDelta { wall: Nanos::seconds(wall), ..CpuDelta::default() });
        cell
    }

    #[test]
    fn rounds_are_pooled_by_their_time() {
        let (short, long) = (worked(1, 2, &[("x", 10), ("y", 0)]), worked(2, 6, &[("x", 70), ("y", 0)]));
        let drives = work(&[&short, &long]);
        assert_eq!(drives.iter().map(|drive| drive.drive.as_str()).collect::<Vec<_>>(), ["x", "y"]);
        let x = &drives[0];
        assert_eq!((x.read.0, x.written.0), (Bytes::mib(10).as_f64(), Bytes::mib(20).as_f64()));
        assert!(
            (x.operations.0 - 1000.0).abs() < 1e-9 && (x.busy - 0.5).abs() < 1e-12 && (x.queue - 3.0).abs() < 1e-12
        );
        assert_eq!((drives[1].read.0, drives[1].operations.0), (0.0, 0.0));
    }

    #[test]
    fn without_a_time_there_is_no_rate() {
        let mut cell = worked(1, 2, &[("x", 10)]);
        cell.cpu = None;
        assert_eq!(work(&[&cell, &worked(2, 0, &[("x", 1)])]), []);
    }
}
