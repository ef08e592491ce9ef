//! Hard disks that park their heads so often that it wears them out.

use terms::inventory::Counter;

use crate::check::{Check, Information, Round, Warning, finding};
use crate::machine::{Machine, drive_place};
use crate::words::count;

pub(super) const CHECKS: &[Check] = &[Check {
    id: "drive-parks-heads",
    severity: Warning,
    looks_at: "attribute 193 of `smartctl -x` of hard disks",
    rule: "the heads were parked 600000 times, or 30 times an hour (warning), or 300000 times (information)",
    fixes: false,
    look: parks,
}];

/// What makers rate hard disks for: 300000 times those of desktops, 600000 those of servers and storage boxes (data sheets of
/// Seagate's BarraCuda and Exos, of Western Digital's Blue and Red).
const RATED: [u64; 2] = [300_000, 600_000];
/// So often an hour uses up the smaller of both within 10000 hours, 14 months.
const FAST: u64 = 30;
/// Fewer are of a drive that is new.
const SEVERAL: u64 = 10_000;

fn parks(machine: &Machine, round: &mut Round) {
    for drive in machine.inventory.drives.iter().filter(|drive| !drive.transport.is_nvme()) {
        let Some(detail) = drive.detail.as_deref() else { continue };
        let place = drive_place(drive);
        let Some(Some(health)) = round.ask(&place, &detail.health) else { continue };
        let Some(smart) = &health.smart else { continue };
        // Not all have it, and flash has no heads.
        let Some(parked) = smart.counter(Counter::Parked) else { continue };
        round.look();
        let (times, hours) = (parked.raw, health.power_on_hours.filter(|hours| *hours > 0));
        // Some keep something else in the same number.
        if hours.is_some_and(|hours| times / 3600 >= hours) {
            round.unknown(
                &place,
                format!("{} {} is no count: it would be more than one a second", parked.id, parked.name),
            );
            continue;
        }
        let is_fast = times >= SEVERAL && hours.is_some_and(|hours| times / hours >= FAST);
        let severity = match () {
            () if times >= RATED[1] || is_fast => Warning,
            () if times >= RATED[0] => Information,
            () => continue,
        };
        let pace = hours.map_or_else(String::new, |hours| {
            format!(" in {} under power, every {} s", count(hours, "hour"), hours.saturating_mul(3600) / times.max(1))
        });
        round.find(
            finding(
                severity,
                &place,
                format!("the drive parked its heads {times} times"),
                format!(
                    "{times}{pace}; makers rate hard disks for {} or {} times, and who comes next waits until the heads are back",
                    RATED[0], RATED[1]
                ),
            )
            .seen(
                format!("smartctl -x /dev/{}", drive.kernel_name),
                format!("{} {}: {times}", parked.id, parked.name),
            )
            .advise(
                "See whether it still grows fast. Then its power management is set too low: from level 254 on the heads stay out \
                 (hdparm(8), `-B`), and some drives of Western Digital have a timer of their own for it (idle3). Find what wakes it \
                 every few seconds as well. Nothing is lost so far.",
            )
            .look(format!("smartctl -g apm /dev/{}", drive.kernel_name))
            .look(format!("smartctl -A /dev/{}", drive.kernel_name)),
        );
    }
}
