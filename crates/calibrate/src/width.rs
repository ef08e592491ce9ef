//! How sure predictions are by now: over usual stacks and workloads, how wide 90 % intervals are.

use model::{Conditions, Site, predict};
use terms::layer::{Btrfs, Crypt, Integrity, IntegrityMode, Lvm, Raid, RaidLevel, Zfs, ZfsCache};
use terms::machine::{DriveGroup, DriveKind, Machine};
use terms::{Bytes, Layer, Name, Pattern, Stack, Workload};

use crate::Bench;
use crate::error::CalibrateError;
use crate::steps::crypt;
use crate::work::{RANDOM_DEPTH, SEQUENTIAL_DEPTH, named, stacked, work};

/// Median half-width of 90 % intervals over usual stacks on this machine's first two drives, as a share. 0.2: half of
/// the figures are said to within a factor of 1.2.
pub(crate) fn half_width(bench: &Bench<'_>) -> Result<f64, CalibrateError> {
    let site = Site::calibrated(&on_two_drives(bench.machine())?, &bench.calibration);
    let conditions = Conditions::default();
    let mut widths: Vec<f64> = Vec::new();
    let works = works(bench.inventory.cpus)?;
    for stack in stacks()? {
        for work in &works {
            if let Ok(prediction) = predict(&site, &stack, work, &conditions) {
                let range = prediction.throughput.ninety;
                widths.push((range.high / range.low).sqrt() - 1.0);
            }
        }
    }
    widths.sort_by(f64::total_cmp);
    Ok(widths.get(widths.len() / 2).copied().unwrap_or(f64::NAN))
}

/// The machine with two drives named `d0` and `d1`: its own, or usual ones.
fn on_two_drives(machine: Machine) -> Result<Machine, CalibrateError> {
    let own: Vec<DriveGroup> = machine.drives.iter().filter(|group| group.kind != DriveKind::Ram).cloned().collect();
    let assignment = |(at, name): (usize, Name)| match own.get(at).or(own.first()) {
        Some(group) => DriveGroup { name, count: 1, ..group.clone() },
        None => DriveGroup::unknown(name, DriveKind::Nvme),
    };
    let drives = drives()?.into_iter().enumerate().map(assignment).collect();
    Ok(Machine { drives, ..machine })
}

/// What usual stacks call their drives.
fn drives() -> Result<[Name; 2], CalibrateError> {
    Ok([named("d0")?, named("d1")?])
}

fn works(threads: u32) -> Result<Vec<Workload>, CalibrateError> {
    let large = |pattern| work(pattern, Bytes::mib(1), SEQUENTIAL_DEPTH, 1);
    let small = |pattern| work(pattern, Bytes::kib(4), RANDOM_DEPTH, threads);
    Ok(vec![
        large(Pattern::Read)?,
        large(Pattern::Write)?,
        small(Pattern::RandRead)?,
        small(Pattern::RandWrite)?,
        work(Pattern::RandRead, Bytes::kib(4), 1, 1)?,
    ])
}

fn stacks() -> Result<Vec<Stack>, CalibrateError> {
    let raid = |level| Layer::Raid(Raid { level, ..Raid::default() });
    let integrity = |mode| Layer::Integrity(Integrity { mode, sector: Bytes::kib(4), ..Integrity::default() });
    let ends: [(usize, &[Layer]); 11] = [
        (1, &[Layer::Bare]),
        (1, &[Layer::Crypt(Crypt { sector: Bytes::kib(4), ..Crypt::default() })]),
        (1, &[Layer::Crypt(crypt(true))]),
        (1, &[Layer::Lvm(Lvm::default())]),
        (1, &[integrity(IntegrityMode::Journal)]),
        (1, &[integrity(IntegrityMode::NoJournal), Layer::Crypt(crypt(true))]),
        (2, &[raid(RaidLevel::Raid0)]),
        (2, &[raid(RaidLevel::Raid1), Layer::Crypt(crypt(false))]),
        (2, &[raid(RaidLevel::Raid0), Layer::Crypt(crypt(false))]),
        (1, &[Layer::Btrfs(Btrfs::default())]),
        (1, &[Layer::Zfs(Zfs { primarycache: ZfsCache::Metadata, ..Zfs::default() })]),
    ];
    let drives = drives()?;
    ends.iter().map(|(count, layers)| stacked(&drives[..*count], layers)).collect()
}
