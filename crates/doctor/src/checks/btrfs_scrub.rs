//! What the last scrub of a btrfs found.

use super::btrfs::{each, target};
use crate::check::{Error, Round, Warning, finding};
use crate::machine::Machine;
use crate::words::{count, list};

pub(super) fn look(machine: &Machine, round: &mut Round) {
    for (system, btrfs, at) in each(machine) {
        let Some(Some(scrub)) = round.ask(&at, &btrfs.scrub) else { continue };
        round.look();
        let kinds: Vec<String> = scrub.errors.iter().map(|(kind, number)| format!("{kind} {number}")).collect();
        let target = target(system);
        let lost = scrub.uncorrectable > 0;
        let found = scrub.errors.values().fold(0, |sum: u64, number| sum.saturating_add(*number));
        let open = found.saturating_sub(scrub.corrected.saturating_add(scrub.uncorrectable));
        if !lost && scrub.corrected == 0 && open == 0 {
            continue;
        }
        let on = if scrub.devices.is_empty() { String::new() } else { format!(" on {}", list(&scrub.devices)) };
        let lacks = btrfs.devices.iter().any(|device| device.missing.known() == Some(&true));
        let (severity, what, cost, advice) = if lost && lacks {
            (
                Error,
                format!(
                    "the last scrub found {}{on} that no copy makes up for, and a device is missing",
                    count(scrub.uncorrectable, "error")
                ),
                format!(
                    "{} or more cannot be read now: their copies may be on the device that is missing",
                    count(scrub.uncorrectable, "block")
                ),
                "Remove nothing. Bring the missing device back first, or mount with `degraded` and copy what can be read, then scrub again: \
                 only what it finds with all devices there is lost.",
            )
        } else if lost {
            (
                Error,
                format!("the last scrub found {}{on} that no copy makes up for", count(scrub.uncorrectable, "error")),
                format!(
                    "{} or more can be read no more: what was in them is lost",
                    count(scrub.uncorrectable, "block")
                ),
                "The kernel's messages name the files: bring them back from a copy, or remove them, and scrub again. Ask the drives for \
                 their health; where several drives are named test the memory.",
            )
        } else if open > 0 {
            (
                Warning,
                format!(
                    "the last scrub found {}{on}, and what became of {} is not told",
                    count(found, "error"),
                    count(open, "error")
                ),
                format!("up to {} are lost: whether a copy makes up for them is not told", count(open, "block")),
                "Scrub again, and not read-only: it repairs what it can, and tells what it cannot. Ask the drives for their health.",
            )
        } else {
            (
                Warning,
                format!("the last scrub repaired {}{on}", count(scrub.corrected, "error")),
                format!(
                    "0 bytes are lost, and {} gave what was not written there, or nothing",
                    count(scrub.corrected, "read")
                ),
                "Ask the drives for their health, and look whether the counters of one of them grow. Scrub again: a sound one finds nothing.",
            )
        };
        let seen = format!("{}; corrected {}, uncorrectable {}", list(&kinds), scrub.corrected, scrub.uncorrectable);
        round.find(
            finding(severity, &at, what, cost)
                .seen(format!("btrfs scrub status {target}"), seen)
                .advise(advice)
                .look(format!("btrfs scrub status -d {target}"))
                .look(format!("btrfs device stats {target}"))
                .look("dmesg | grep -i btrfs"),
        );
    }
}
