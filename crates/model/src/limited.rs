//! The lab as a machine: emulated drives and links are as fast as they were told to be.

use terms::machine::{DriveGroup, Machine, Path, Trust, Uplink};
use terms::{
    Bytes, BytesPerSecond, FLASH_HANDLING, FlashQueue, Iops, LabDrive, LabDriveKind, LabSpec, Name, Nanos, Port,
    RateLimit,
};

use crate::hdd::described;

/// The machine of a lab, its drives named as the study names them: limits in the place of what no limit bounds, drives
/// that spin as they are described, and no PCIe links, which are emulated and carry everything. `span` is how much of
/// a drive is used.
#[must_use]
pub fn limited(mut machine: Machine, lab: &LabSpec, span: Bytes) -> Machine {
    machine.uplinks.clear();
    for group in &mut machine.drives {
        (group.link, group.behind) = (None, None);
        let Some(drive) = lab.drives.iter().find(|drive| drive.name == group.name) else { continue };
        if let Some(described) = described(drive, span) {
            *group = described;
            slow(group, drive);
            // A limit above it leaves the head as it is.
            group.trust = Trust::Sheet;
        } else {
            slow(group, drive);
        }
        group.behind = shared(drive, lab);
    }
    let switches = lab.switches.iter().filter(|switch| !switch.limit.is_none());
    machine.uplinks = switches.filter_map(|switch| uplink(switch.number, &switch.limit)).collect();
    machine
}

/// After which time a flash drive of the lab answers: that of its queue, less what the guest's processor has to do for one
/// operation, and no sooner than its rate allows (docs/virtual-time.md).
fn answer(queue: FlashQueue) -> Nanos {
    let alone = queue.latency.0 / u64::from(queue.places);
    Nanos(queue.latency.0.saturating_sub(FLASH_HANDLING.0).max(alone))
}

fn slow(group: &mut DriveGroup, drive: &LabDrive) {
    let limit = drive.limit;
    if limit.is_none() {
        return;
    }
    // What it was told is what it does, for each operation alike.
    group.trust = Trust::Held;
    let rated = &mut group.rated;
    if drive.kind == LabDriveKind::Flash {
        group.block = Some(drive.lba);
        let each = answer(drive.flash_queue());
        (rated.read_latency, rated.write_latency) = (Some(each), Some(each));
    }
    rated.read = least(rated.read, limit.read.map(rate), |rate| rate.0);
    rated.write = least(rated.write, limit.write.map(rate), |rate| rate.0);
    rated.read_iops = least(rated.read_iops, limit.read_iops.map(operations), |rate| rate.0);
    rated.write_iops = least(rated.write_iops, limit.write_iops.map(operations), |rate| rate.0);
    // Throttled drives have no cache that fills.
    (rated.sustained, rated.sustained_iops) = (rated.write, rated.write_iops);
}

fn least<T: Copy>(known: Option<T>, limit: Option<T>, value: impl Fn(&T) -> f64) -> Option<T> {
    match (known, limit) {
        (Some(known), Some(limit)) if value(&known) <= value(&limit) => Some(known),
        (known, limit) => limit.or(known),
    }
}

fn rate(bytes: Bytes) -> BytesPerSecond {
    BytesPerSecond(bytes.as_f64())
}

fn operations(count: u32) -> Iops {
    Iops(f64::from(count))
}

fn shared(drive: &LabDrive, lab: &LabSpec) -> Option<Name> {
    let Port::Switch(number) = drive.port else { return None };
    let limited = lab.switches.iter().any(|switch| switch.number == number && !switch.limit.is_none());
    if limited { name(number) } else { None }
}

fn name(number: u8) -> Option<Name> {
    Name::new(format!("switch{number}")).ok()
}

fn uplink(number: u8, limit: &RateLimit) -> Option<Uplink> {
    let path = Path::Told { read: limit.read.map(rate), write: limit.write.map(rate) };
    Some(Uplink { name: name(number)?, path, behind: None })
}

#[cfg(test)]
mod tests {
    use terms::LabSwitch;
    use terms::machine::DriveKind;

    use super::*;
    use crate::queue::flash_queue;

    /// Operations in a second, and microseconds until each is answered: one, two and two at once of some 80 µs.
    #[test]
    fn a_flash_drive_answers_when_its_places_are_through() {
        for (operations, micros) in [(12_000.0, 83.3), (20_000.0, 83.0), (25_000.0, 63.0)] {
            let is = answer(FlashQueue::of(None, Some(Iops(operations)), Bytes(4096))).as_seconds() * 1e6;
            assert!((is - micros).abs() < 0.1, "{operations}: {is}");
        }
    }

    /// With blocks of 512 bytes pieces of 6 KiB come out that blocks of 4 KiB do not have: two at work, and not three.
    #[test]
    fn what_is_predicted_of_a_flash_drive_is_the_queue_that_it_gets() {
        let limit = RateLimit { read: Some(Bytes(150_000_000)), read_iops: Some(25_000), ..RateLimit::default() };
        for (lba, places) in [(512, 2), (4096, 3)] {
            let drive = LabDrive {
                kind: LabDriveKind::Flash,
                lba: Bytes(lba),
                limit,
                ..LabDrive::new(Name::new("a").unwrap(), Bytes::mib(64))
            };
            let mut group = DriveGroup::unknown(drive.name.clone(), DriveKind::Ram);
            slow(&mut group, &drive);
            let told = drive.flash_queue();
            assert_eq!((told.places, flash_queue(&group)), (places, Some(told)));
        }
    }

    #[test]
    fn drives_are_as_slow_as_they_were_told_and_share_their_switch() {
        let mut drive = LabDrive {
            port: Port::Switch(2),
            limit: RateLimit { read: Some(Bytes(50_000_000)), read_iops: Some(900), ..RateLimit::default() },
            ..LabDrive::new(Name::new("a").unwrap(), Bytes::mib(64))
        };
        let mut group = DriveGroup::unknown(drive.name.clone(), DriveKind::Nvme);
        group.rated.read = Some(BytesPerSecond(400e6));
        group.rated.read_iops = Some(Iops(500.0));
        let switch =
            LabSwitch { number: 2, limit: RateLimit { write: Some(Bytes(1_000_000)), ..RateLimit::default() } };
        let mut lab = LabSpec { drives: vec![drive.clone()], switches: vec![switch], ..LabSpec::new(1, Bytes::gib(1)) };
        let machine = Machine { drives: vec![group], ..Machine::default() };
        let limited = super::limited(machine.clone(), &lab, Bytes::mib(64));
        let rated = limited.drives[0].rated;
        assert_eq!((rated.read, rated.read_iops), (Some(BytesPerSecond(50e6)), Some(Iops(500.0))));
        assert_eq!(limited.drives[0].behind.as_ref(), Some(&limited.uplinks[0].name));
        drive.port = Port::Cpu;
        lab.drives = vec![drive];
        assert_eq!(super::limited(machine, &lab, Bytes::mib(64)).drives[0].behind, None);
    }
}
