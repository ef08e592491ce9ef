//! Which drive of a machine stands for which drive of a study.

use terms::machine::{DriveGroup, DriveKind, Machine, Path, TCP_ROUND_TRIP, Transport, Uplink};
use terms::{Bytes, BytesPerSecond, LabDrive, LabDriveKind, Name};

use crate::hdd::described;

/// Drives of a study that are smaller are small for the lab's sake, and tell nothing of the machine's.
const OF_A_MACHINE: Bytes = Bytes::gib(8);

/// A network of which nothing is told: 25 Gbit/s, TCP with the payload of Ethernet's usual packets.
const USUAL_NETWORK: Path = Path::Network {
    line: BytesPerSecond(3.125e9),
    payload: Bytes(1448),
    round_trip: TCP_ROUND_TRIP,
    transport: Transport::Tcp,
};

/// Size of a drive of which none is told.
pub(crate) const USUAL_SIZE: Bytes = Bytes(1_000_000_000_000);

/// The drives of a machine as a study would name them.
#[must_use]
pub fn drives(machine: &Machine) -> Vec<LabDrive> {
    let of = |group: &DriveGroup, at: u32| {
        let name = Name::new(group.member(at)).ok()?;
        Some(LabDrive::new(name, group.size.unwrap_or(USUAL_SIZE)).as_kind(lab_kind(group.kind)))
    };
    machine.drives.iter().flat_map(|group| (0..group.count).filter_map(move |at| of(group, at))).collect()
}

const fn lab_kind(kind: DriveKind) -> LabDriveKind {
    match kind {
        DriveKind::Nvme | DriveKind::NvmeEnterprise | DriveKind::Optane => LabDriveKind::Nvme,
        DriveKind::SataSsd | DriveKind::SataEnterprise | DriveKind::SasSsd => LabDriveKind::Sata,
        DriveKind::Hdd => LabDriveKind::Hdd,
        DriveKind::Ram => LabDriveKind::Ram,
    }
}

/// A drive of a study and what stands for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The study's name.
    pub name: Name,
    /// The machine's; `None` where it has none left of the kind, and a usual one is taken.
    pub drive: Option<String>,
}

/// The machine with the drives of a study in the place of its own: one of the same name where there is one, else the
/// next that is left of the kind, else a usual one, or a hard disk as the study describes it. `span` is how much of
/// a drive is used.
#[must_use]
pub fn assignment(machine: &Machine, study: &[LabDrive], span: Bytes) -> (Machine, Vec<Assignment>) {
    let left: Vec<(String, &DriveGroup)> =
        machine.drives.iter().flat_map(|group| (0..group.count).map(move |at| (group.member(at), group))).collect();
    let mut assignments: Vec<Assignment> = Vec::new();
    let mut drives: Vec<DriveGroup> = Vec::new();
    let named: Vec<Option<usize>> =
        study.iter().map(|drive| place(&left, |name, _| name == drive.name.as_str())).collect();
    let mut taken: Vec<usize> = named.iter().flatten().copied().collect();
    for (drive, named) in study.iter().zip(named) {
        let free = || (0..left.len()).find(|at| !taken.contains(at) && is_of(drive.kind, left[*at].1.kind));
        let found = named.or_else(free);
        taken.extend(found);
        let told = || described(drive, span).unwrap_or_else(|| unknown(drive));
        let group = found.map_or_else(told, |at| left[at].1.clone());
        assignments.push(Assignment { name: drive.name.clone(), drive: found.map(|at| left[at].0.clone()) });
        let size = group.size.or(Some(drive.size).filter(|size| *size >= OF_A_MACHINE));
        drives.push(DriveGroup { name: drive.name.clone(), count: 1, size, ..group });
    }
    let mut seated = Machine { drives, ..machine.clone() };
    for drive in study.iter().filter(|drive| drive.kind == LabDriveKind::NvmeTcp) {
        put_away(&mut seated, &drive.name);
    }
    (seated, assignments)
}

/// Puts a drive behind a network, where it is behind none: the first that the machine tells of, or a usual one.
fn put_away(machine: &mut Machine, name: &Name) {
    let networks = |machine: &Machine| {
        let ports = machine.uplinks.iter().filter(|uplink| matches!(uplink.path, Path::Network { .. }));
        ports.map(|uplink| uplink.name.clone()).collect::<Vec<_>>()
    };
    let known = networks(machine);
    let is_away = |group: &DriveGroup| group.behind.as_ref().is_some_and(|behind| known.contains(behind));
    let Some(at) = machine.drives.iter().position(|group| group.name == *name && !is_away(group)) else { return };
    let port = known.first().cloned().or_else(|| {
        let port = Name::new("network").ok()?;
        machine.uplinks.push(Uplink { name: port.clone(), path: USUAL_NETWORK, behind: None });
        Some(port)
    });
    // Its own link is in the other host.
    (machine.drives[at].behind, machine.drives[at].link) = (port, None);
}

fn place(left: &[(String, &DriveGroup)], is: impl Fn(&str, &DriveGroup) -> bool) -> Option<usize> {
    left.iter().position(|(name, group)| is(name, group))
}

const fn is_of(kind: LabDriveKind, drive: DriveKind) -> bool {
    matches!(
        (kind, drive),
        (
            LabDriveKind::Nvme | LabDriveKind::NvmeTcp | LabDriveKind::Flash,
            DriveKind::Nvme | DriveKind::NvmeEnterprise | DriveKind::Optane
        ) | (LabDriveKind::Sata, DriveKind::SataSsd | DriveKind::SataEnterprise | DriveKind::SasSsd | DriveKind::Hdd)
            | (LabDriveKind::Hdd, DriveKind::Hdd)
            | (LabDriveKind::Ram, DriveKind::Ram)
    )
}

fn unknown(drive: &LabDrive) -> DriveGroup {
    DriveGroup::unknown(drive.name.clone(), usual(drive.kind))
}

const fn usual(kind: LabDriveKind) -> DriveKind {
    match kind {
        LabDriveKind::Nvme | LabDriveKind::NvmeTcp | LabDriveKind::Flash => DriveKind::Nvme,
        LabDriveKind::Sata => DriveKind::SataSsd,
        LabDriveKind::Hdd => DriveKind::Hdd,
        LabDriveKind::Ram => DriveKind::Ram,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(name: &str, kind: LabDriveKind) -> LabDrive {
        LabDrive { kind, ..LabDrive::new(Name::new(name).unwrap(), Bytes::gib(1)) }
    }

    #[test]
    fn names_come_first_then_kinds_then_usual_drives() {
        let group =
            |name: &str, kind, count| DriveGroup { count, ..DriveGroup::unknown(Name::new(name).unwrap(), kind) };
        let machine = Machine {
            drives: vec![
                group("n", DriveKind::Optane, 2),
                group("b", DriveKind::Nvme, 1),
                group("h", DriveKind::Hdd, 1),
            ],
            ..Machine::default()
        };
        let study = [
            drive("a", LabDriveKind::Nvme),
            drive("b", LabDriveKind::Nvme),
            drive("c", LabDriveKind::Sata),
            drive("d", LabDriveKind::Nvme),
            drive("e", LabDriveKind::Nvme),
        ];
        let (machine, assignments) = assignment(&machine, &study, Bytes::gib(1));
        let of: Vec<Option<&str>> = assignments.iter().map(|assignment| assignment.drive.as_deref()).collect();
        assert_eq!(of, [Some("n0"), Some("b"), Some("h"), Some("n1"), None]);
        assert_eq!(machine.drives[4].kind, DriveKind::Nvme);
        assert!(machine.drives.iter().all(|group| group.count == 1));
    }
}
