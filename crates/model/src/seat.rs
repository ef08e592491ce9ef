//! Which drive of a machine stands for which drive of a study.

use terms::machine::{DriveGroup, DriveKind, Machine};
use terms::{Bytes, LabDrive, LabDriveKind, Name};

use crate::spinning::described;

/// A drive of a study and what stands for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    /// The study's name.
    pub name: Name,
    /// The machine's; `None` where it has none left of the kind, and a usual one is taken.
    pub drive: Option<String>,
}

/// The machine with the drives of a study in the place of its own: one of the same name where there is one, else the
/// next that is left of the kind, else a usual one, or one that spins as the study describes it. `span` is how much of
/// a drive is used.
#[must_use]
pub fn seat(machine: &Machine, study: &[LabDrive], span: Bytes) -> (Machine, Vec<Seat>) {
    let left: Vec<(String, &DriveGroup)> =
        machine.drives.iter().flat_map(|group| (0..group.count).map(move |at| (group.member(at), group))).collect();
    let mut seats: Vec<Seat> = Vec::new();
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
        seats.push(Seat { name: drive.name.clone(), drive: found.map(|at| left[at].0.clone()) });
        drives.push(DriveGroup { name: drive.name.clone(), count: 1, ..group });
    }
    (Machine { drives, ..machine.clone() }, seats)
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
        ) | (LabDriveKind::Sata, DriveKind::SataSsd | DriveKind::Hdd)
            | (LabDriveKind::Hdd, DriveKind::Hdd)
            | (LabDriveKind::Ram, DriveKind::Ram)
    )
}

fn unknown(drive: &LabDrive) -> DriveGroup {
    DriveGroup::unknown(drive.name.clone(), usual(drive.kind))
}

const fn usual(kind: LabDriveKind) -> DriveKind {
    match kind {
        // The way over the network is not modelled: the prediction is that of the drive at hand.
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
        let (machine, seats) = seat(&machine, &study, Bytes::gib(1));
        let of: Vec<Option<&str>> = seats.iter().map(|seat| seat.drive.as_deref()).collect();
        assert_eq!(of, [Some("n0"), Some("b"), Some("h"), Some("n1"), None]);
        assert_eq!(machine.drives[4].kind, DriveKind::Nvme);
        assert!(machine.drives.iter().all(|group| group.count == 1));
    }
}
