//! What time is in a guest of the lab, and what is in the guest because of it.

use crate::design::{Clock, LabSpec, memory_of};
use crate::drive::{LabDrive, LabDriveKind};
use crate::speed::Speed;

impl LabSpec {
    /// What time is in it: its own wherever all of its drives can be in it, unless somebody says otherwise. Then figures
    /// hardly follow what else this machine does.
    #[must_use]
    pub fn clock(&self) -> Clock {
        let own = if self.needs_real_clock().is_none() { Clock::Virtual } else { Clock::Real };
        self.said_clock.unwrap_or(own)
    }

    /// Why a guest of whose clock nobody says anything has ours; `None` where it has its own.
    #[must_use]
    pub fn needs_real_clock(&self) -> Option<String> {
        if self.drives.is_empty() {
            return Some("it has no drives".to_owned());
        }
        // A hard disk need not be in memory; what cannot be anywhere else does not move for want of it.
        let disks = self.drives.iter().any(|drive| drive.kind == LabDriveKind::Hdd);
        self.is_served_from_outside().or_else(|| {
            let taken = memory_of(&self.drives, |_| true);
            (disks && taken.0 > self.memory.0 / 2)
                .then(|| format!("its drives take {taken}, and `memory` is {}: twice as much is needed", self.memory))
        })
    }

    /// What time is in it, and why.
    #[must_use]
    pub fn clock_in_words(&self) -> String {
        match (self.said_clock, self.needs_real_clock(), self.speed()) {
            (None, Some(why), _) => format!("clock: real, because {why}"),
            (said, _, Some(speed)) => {
                let why = if said.is_some() { "as asked for" } else { "because all drives can be in the guest" };
                format!("clock: virtual, {why}; one core of {speed}")
            }
            (_, _, None) => "clock: real, as asked for".to_owned(),
        }
    }

    /// Why the guest needs something of this machine while it measures; `None` where it does not.
    fn is_served_from_outside(&self) -> Option<String> {
        if let Some(drive) = self.drives.iter().find(|drive| !drive.can_be_within()) {
            let limited = if drive.kind == LabDriveKind::Hdd { " for its limits" } else { "" };
            return Some(format!(
                "drive `{}` is served from outside the guest{limited}, in real time; under a virtual clock all drives are in the guest",
                drive.name
            ));
        }
        (!self.hosts.is_one()).then(|| "several hosts have a clock each".to_owned())
    }

    /// Is that drive in the guest's memory? Hard disks are under a virtual clock alone.
    #[must_use]
    pub fn is_within(&self, drive: &LabDrive) -> bool {
        drive.kind.in_guest() || drive.kind == LabDriveKind::Hdd && self.clock() == Clock::Virtual
    }

    /// Processors that the guest gets. Under a virtual clock all of them would share one count of instructions, and each
    /// would be as much slower.
    #[must_use]
    pub fn processors(&self) -> u32 {
        match self.clock() {
            Clock::Real => self.cpus,
            Clock::Virtual => 1,
        }
    }

    /// The processor whose times and rates are told; `None` under a real clock, where they are told as they were seen.
    #[must_use]
    pub fn speed(&self) -> Option<Speed> {
        (self.clock() == Clock::Virtual).then(|| self.cpu.unwrap_or(Speed::USUAL))
    }

    /// Why this guest cannot have its clock; `None` where it can.
    #[must_use]
    pub fn clock_refused(&self) -> Option<String> {
        let speed = self.speed()?;
        self.is_served_from_outside().or_else(|| self.drives.iter().find_map(|drive| drive.too_fast(speed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::RateLimit;
    use crate::name::Name;
    use crate::units::{Bytes, Hosts};

    #[test]
    fn a_virtual_clock_is_for_what_the_guest_has_in_itself() {
        let drive = |kind| LabDrive { kind, ..LabDrive::new(Name::new("a").unwrap(), Bytes::mib(64)) };
        let lab = |kind, clock| LabSpec {
            drives: vec![drive(kind)],
            said_clock: Some(clock),
            ..LabSpec::new(4, Bytes::gib(1))
        };
        let ram = lab(LabDriveKind::Ram, Clock::Virtual);
        assert_eq!((ram.clock_refused(), ram.processors()), (None, 1));
        let flash = |clock, limit| {
            let drive = LabDrive { limit, ..drive(LabDriveKind::Flash) };
            LabSpec { drives: vec![drive], said_clock: Some(clock), ..LabSpec::new(1, Bytes::gib(1)) }.clock_refused()
        };
        let fast = RateLimit { read: Some(Bytes(3_500_000_000)), ..RateLimit::default() };
        assert_eq!(flash(Clock::Virtual, RateLimit::default()), None);
        assert_eq!(flash(Clock::Real, fast), None);
        assert!(flash(Clock::Virtual, fast).unwrap().contains("faster than a processor of 3.2 G instructions/s"));
        assert!(flash(Clock::Virtual, RateLimit { read_iops: Some(200_000), ..RateLimit::default() }).is_some());
        for kind in [LabDriveKind::Nvme, LabDriveKind::Sata, LabDriveKind::NvmeTcp] {
            assert!(lab(kind, Clock::Virtual).clock_refused().unwrap().contains("`a`"), "{kind:?}");
            assert_eq!(lab(kind, Clock::Real).clock_refused(), None);
        }
        assert_eq!(lab(LabDriveKind::Nvme, Clock::Real).processors(), 4);
        assert!(LabSpec { hosts: Hosts(2), ..ram.clone() }.clock_refused().is_some());
        let unsaid = |lab: LabSpec| LabSpec { said_clock: None, ..lab };
        assert_eq!(unsaid(ram.clone()).speed(), Some(Speed::USUAL), "what can have its own clock has it");
        assert_eq!(unsaid(LabSpec { hosts: Hosts(2), ..ram }).clock(), Clock::Real);
        assert_eq!(unsaid(lab(LabDriveKind::Nvme, Clock::Virtual)).speed(), None);
    }

    #[test]
    fn hard_disks_are_in_the_guest_where_it_has_room_and_nothing_else_limits_them() {
        let lab = |size, limit, said_clock| {
            let plain = LabDrive::new(Name::new("a").unwrap(), Bytes::mib(size));
            let drives = vec![LabDrive { kind: LabDriveKind::Hdd, limit, ..plain }];
            LabSpec { drives, said_clock, ..LabSpec::new(2, Bytes::gib(1)) }
        };
        let free = RateLimit::default();
        let disk = lab(512, free, None);
        assert_eq!(
            (disk.clock(), disk.needs_real_clock(), disk.drives_in_memory()),
            (Clock::Virtual, None, Bytes::mib(512))
        );
        let real = lab(512, free, Some(Clock::Real));
        assert!(!real.is_within(&real.drives[0]) && disk.is_within(&disk.drives[0]));
        assert_eq!(real.drives_in_memory(), Bytes(0));
        let large = lab(513, free, None);
        assert_eq!((large.clock(), large.drives_in_memory_fit()), (Clock::Real, true));
        assert!(large.clock_in_words().contains("real, because its drives take 513 MiB"), "{}", large.clock_in_words());
        assert!(disk.clock_in_words().starts_with("clock: virtual, because all drives can be"));
        assert_eq!(real.clock_in_words(), "clock: real, as asked for");
        let asked = lab(513, free, Some(Clock::Virtual));
        assert!(asked.clock_refused().is_none() && !asked.drives_in_memory_fit());
        let limited = RateLimit { read_iops: Some(5), ..free };
        assert_eq!(lab(64, limited, None).clock(), Clock::Real);
        assert!(lab(64, limited, Some(Clock::Virtual)).clock_refused().unwrap().contains("limits"));
    }
}
