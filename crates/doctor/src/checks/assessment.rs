//! What drives say of themselves: that they fail, or that one of their limits is passed.

use terms::Drive;
use terms::inventory::{Attribute, Counter, Health, Smart};

use super::health::{ALL, each, source};
use crate::check::{Error, Round, Warning, finding};
use crate::machine::{Machine, drive_place};
use crate::words::list;

/// Bits of the critical warning (NVM Express Base Specification, SMART / Health Information).
const WARNINGS: [(u32, &str); 6] = [
    (1, "spare capacity is low"),
    (2, "it is too hot or too cold"),
    (4, "it is not reliable any more"),
    (8, "it can only be read"),
    (16, "its protection against power loss has failed"),
    (32, "its persistent memory can only be read"),
];

/// The bit that says that it fails, which is also that of SMART's own assessment.
pub(super) const UNRELIABLE: u32 = 4;
/// What is done with such a drive: what reads all of it may be its last.
const FAILS: &str =
    "It says itself that it fails: copy what is on it before anything reads all of it, then replace it.";
/// What is done with a drive whose own test met blocks that it still cannot read: another test meets the same.
const CANNOT_READ: &str = "Its own test met blocks that it cannot read, and they wait still. See that there is a copy of what it holds. A scrub \
    of an array or a pool writes them anew from another copy. Where there is no other copy the drive is copied first (`ddrescue`). Then replace \
    it: a failed test is what makers take one back for.";

/// What is done with a drive before another look at it, where that is known.
pub(super) fn known_to_fail(health: &Health, smart: &Smart) -> Option<&'static str> {
    if health.critical_warning & UNRELIABLE != 0 {
        return Some(FAILS);
    }
    let newest = smart.self_tests.as_ref().and_then(|tests| tests.iter().find_map(|test| test.passed));
    let waits = smart.counter(Counter::Pending).is_some_and(|pending| pending.raw > 0);
    (newest == Some(false) && waits).then_some(CANNOT_READ)
}

/// The bit that says nothing but how warm it is.
const HEAT: u32 = 2;

pub(super) fn look(machine: &Machine, round: &mut Round) {
    each(machine, round, |round, drive, health| {
        round.look();
        if health.smart.as_ref().is_some_and(|smart| !smart.assessed) {
            round.unknown(&drive_place(drive), "`smartctl` does not tell the drive's own assessment");
        }
        if health.critical_warning == 0 {
            return failing(round, drive, health);
        }
        let said: Vec<&str> =
            WARNINGS.iter().filter(|(bit, _)| health.critical_warning & bit != 0).map(|(_, text)| *text).collect();
        let only_heat = health.critical_warning == HEAT && health.smart.is_none();
        let only_age = is_only_age(health);
        let found = finding(
            if only_heat || only_age { Warning } else { Error },
            &drive_place(drive),
            format!("the drive warns: {}", list(&said)),
            match drive.size.0 {
                _ if only_heat => "1 of its limits is passed: too hot, it slows itself down and then stops".to_owned(),
                _ if only_age => {
                    "1 limit of its design life is passed, and all of its spare capacity is there; it works on for as long as it does"
                        .to_owned()
                }
                0 => "1 drive holds data that its maker no longer vouches for".to_owned(),
                _ => format!("{} of data are on a drive that its maker no longer vouches for", drive.size),
            },
        );
        let found = match &health.smart {
            None => found.seen(source(drive), format!("critical_warning {}", health.critical_warning)),
            Some(smart) => smart.attributes.iter().filter(|attribute| attribute.failing).fold(
                found.seen(source(drive), "overall assessment: failed"),
                |found, attribute| {
                    found.seen(source(drive), format!("{} {} is below its threshold", attribute.id, attribute.name))
                },
            ),
        };
        let found = if only_age {
            found.advise_to_replace("Have a copy of what is on it, and replace it before it holds the only one.")
        } else if only_heat {
            found.advise("A heat sink or moving air; do not measure before it is cooler.")
        } else {
            found.advise_to_replace("Copy what is on it, then replace it; cool it if that is what it says.")
        };
        round.find(found.look(source(drive)));
    });
}

/// Does an NVMe drive warn for nothing but its age: is its life used, with all its spare blocks left and no block lost?
fn is_only_age(health: &Health) -> bool {
    let is_sound = health.spare == Some(ALL) && health.media_errors.is_none_or(|errors| errors == 0);
    health.smart.is_none()
        && health.critical_warning == UNRELIABLE
        && is_sound
        && health.used.is_some_and(|used| used >= ALL)
}

/// Attributes that tell how warm it is: below their threshold it was too hot, and nothing fails.
const WARMTH: [u32; 2] = [190, 194];

/// Versions of `smartctl` before 7.0 do not know how disks that are filled with helium call what they lose.
fn name_of(attribute: &Attribute) -> &str {
    if attribute.id == HELIUM { "Helium_Level" } else { &attribute.name }
}

const HELIUM: u32 = 22;

/// A drive that passes its own assessment, and says of an attribute that it fails.
fn failing(round: &mut Round, drive: &Drive, health: &Health) {
    let all = health.smart.iter().flat_map(|smart| &smart.attributes);
    let failing: Vec<&Attribute> =
        all.filter(|attribute| attribute.failing && !WARMTH.contains(&attribute.id)).collect();
    if failing.is_empty() {
        return;
    }
    let names: Vec<&str> = failing.iter().map(|attribute| name_of(attribute)).collect();
    let is_passed = health.smart.as_ref().is_some_and(|smart| smart.assessed);
    let though = if is_passed { ", though the overall assessment is `PASSED`" } else { "" };
    // Of age a maker says that its design life is over, of the others that a failure comes.
    let is_age = failing.iter().all(|attribute| attribute.pre_failure == Some(false));
    let found = finding(
        if is_age { Warning } else { Error },
        &drive_place(drive),
        format!("the drive says that {} below its threshold", list_are(&names)),
        if is_age {
            "1 limit of its design life is passed; it works on for as long as it does".to_owned()
        } else {
            format!("its maker expects it to fail within 24 hours{though}")
        },
    );
    let found = failing.iter().fold(found, |found, attribute| {
        found.seen(source(drive), format!("{} {}: FAILING_NOW", attribute.id, attribute.name))
    });
    round.find(found.advise_to_replace("Copy what is on it, then replace it.").look(source(drive)));
}

/// `one is`, `one and two are`.
fn list_are(names: &[&str]) -> String {
    format!("{} {}", list(names), if names.len() == 1 { "is" } else { "are" })
}
