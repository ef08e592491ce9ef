//! How sure predictions are by now: over usual stacks and workloads, how wide 90 % intervals are.

use model::{Conditions, Site, found, predict, with_measured};
use terms::layer::{Btrfs, Crypt, Integrity, IntegrityMode, Lvm, Raid, RaidLevel, Zfs, ZfsCache};
use terms::machine::{DriveGroup, DriveKind, Machine};
use terms::{Bytes, Layer, Name, Node, Pattern, Ref, Stack, Workload};

use crate::Bench;
use crate::steps::{RANDOM_DEPTH, SEQUENTIAL_DEPTH, crypt};

/// Median half-width of 90 % intervals over usual stacks on this machine's first two drives, as a share. 0.2: half of
/// the figures are said to within a factor of 1.2.
pub(crate) fn half_width(bench: &Bench<'_>) -> f64 {
    let machine = with_measured(found(&bench.inventory), &bench.inventory, &bench.calibration);
    let site = Site::calibrated(&on_two_drives(machine), &bench.calibration);
    let conditions = Conditions::default();
    let mut widths: Vec<f64> = Vec::new();
    for stack in stacks() {
        for work in works(bench.inventory.cpus) {
            if let Ok(prediction) = predict(&site, &stack, &work, &conditions) {
                let range = prediction.throughput.ninety;
                widths.push((range.high / range.low).sqrt() - 1.0);
            }
        }
    }
    widths.sort_by(f64::total_cmp);
    widths.get(widths.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The machine with two drives named `d0` and `d1`: its own, or usual ones.
fn on_two_drives(machine: Machine) -> Machine {
    let own: Vec<DriveGroup> = machine.drives.iter().filter(|group| group.kind != DriveKind::Ram).cloned().collect();
    let names = ["d0", "d1"].map(Name::new);
    let seat = |(at, name): (usize, Name)| match own.get(at).or(own.first()) {
        Some(group) => DriveGroup { name, count: 1, ..group.clone() },
        None => DriveGroup::unknown(name, DriveKind::Nvme),
    };
    let drives = names.into_iter().flatten().enumerate().map(seat).collect();
    Machine { drives, ..machine }
}

fn works(threads: u32) -> Vec<Workload> {
    let mut all = Vec::new();
    for (pattern, block, depth, jobs) in [
        (Pattern::Read, Bytes::mib(1), SEQUENTIAL_DEPTH, 1),
        (Pattern::Write, Bytes::mib(1), SEQUENTIAL_DEPTH, 1),
        (Pattern::RandRead, Bytes::kib(4), RANDOM_DEPTH, threads.clamp(1, 16)),
        (Pattern::RandWrite, Bytes::kib(4), RANDOM_DEPTH, threads.clamp(1, 16)),
        (Pattern::RandRead, Bytes::kib(4), 1, 1),
    ] {
        if let Ok(name) = Name::new("w") {
            all.push(Workload { depth, jobs, ..Workload::new(name, pattern, block) });
        }
    }
    all
}

fn stacks() -> Vec<Stack> {
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
    ends.iter().filter_map(|(drives, layers)| stack(*drives, layers)).collect()
}

fn stack(drives: usize, layers: &[Layer]) -> Option<Stack> {
    let mut on: Vec<Ref> = (0..drives).filter_map(|at| Name::new(format!("d{at}")).ok()).map(Ref::Drive).collect();
    let mut nodes = Vec::new();
    for (at, layer) in layers.iter().enumerate() {
        let name = Name::new(format!("n{at}")).ok()?;
        nodes.push(Node { name: name.clone(), layer: layer.clone(), on, special: Vec::new() });
        on = vec![Ref::Layer(name)];
    }
    Some(Stack { name: "usual".to_owned(), note: None, nodes })
}
