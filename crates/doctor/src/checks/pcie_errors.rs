//! Errors of links.

use crate::check::{Check, Error, Information, Round, Warning, finding};
use crate::machine::Machine;
use crate::words::{count, duration, float};

pub(super) const CHECKS: &[Check] = &[Check {
    id: "link-errors",
    severity: Error,
    looks_at: "`aer_dev_correctable`, `aer_dev_nonfatal`, `aer_dev_fatal` of storage controllers and of the ports above them",
    rule: "errors since boot: an error if any was not corrected, a warning if one an hour or more was; information where it is \
               not told how long ago that is",
    fixes: false,
    look: errors,
}];

/// Kinds of corrected errors after which a packet is sent again; a receiver's error (`RxErr`) alone is none (PCI Express
/// Base Specification 6.2.7, names as in the kernel's `drivers/pci/pcie/aer.c`).
const RESENT: [&str; 3] = ["BadTLP", "Rollover", "Timeout"];

/// Corrected errors in an hour from which it is more than a bad moment.
const MANY_IN_AN_HOUR: f64 = 1.0;

fn errors(machine: &Machine, round: &mut Round) {
    for device in &machine.inventory.pci {
        if machine.endpoints(&device.address).is_empty() {
            continue;
        }
        let place = machine.link_place(&device.address);
        let Some(detail) = device.detail.as_deref() else { continue };
        let Some(Some(errors)) = round.ask(&place, &detail.errors) else { continue };
        round.look();
        let lost = errors.nonfatal.saturating_add(errors.fatal);
        if lost == 0 && errors.correctable == 0 {
            continue;
        }
        // The monotonic clock begins when the machine does; a captured machine has none.
        let up = machine.detail.taken.at.as_seconds();
        let hourly = (up > 0.0).then(|| float(errors.correctable) / (up / 3600.0));
        let severity = match (lost, hourly.is_some_and(|hourly| hourly >= MANY_IN_AN_HOUR)) {
            (1.., _) => Error,
            (0, true) => Warning,
            (0, false) => Information,
        };
        let every = if up > 0.0 && errors.correctable > 0 {
            format!(", one every {}", duration(up / float(errors.correctable)))
        } else {
            " in a time that is not told".to_owned()
        };
        let again: u64 =
            RESENT.iter().filter_map(|kind| errors.kinds.get(*kind)).fold(0, |sum, of| sum.saturating_add(*of));
        let cost = format!(
            "{} corrected{every}, of which {} had packets sent again; {lost} not corrected, each a request that failed or a link that \
             was lost",
            errors.correctable,
            again.min(errors.correctable)
        );
        let kinds: Vec<String> = errors.kinds.iter().map(|(kind, number)| format!("{kind} {number}")).collect();
        let base = format!("/sys/bus/pci/devices/{}", device.address);
        round.find(
            finding(severity, &place, format!("the link counted {}", count(lost.saturating_add(errors.correctable), "error")), cost)
                .seen(format!("{base}/aer_dev_{{correctable,nonfatal,fatal}}"), kinds.join(", "))
                .advise(
                    "Read the counters again under load: what counts is that they grow. Then seat the drive anew, change riser \
                     or cable, or let the slot run one generation slower.",
                )
                .look(format!("grep -h TOTAL {base}/aer_dev_*")),
        );
    }
}
