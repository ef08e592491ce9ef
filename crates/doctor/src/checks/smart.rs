//! What SATA and SAS drives tell of themselves: self-tests, transfers that failed, their line, how long they try.

use terms::inventory::{Counter, Health, Readout, Recovery, Smart};
use terms::{Drive, DriveTransport, Nanos};

use super::assessment::known_to_fail;
use crate::check::{Check, Error, Information, Nothing, Round, Warning, finding};
use crate::group::groups;
use crate::machine::{Machine, drive_place};
use crate::remedy::Found;
use crate::words::{count, list, rate};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "drive-self-test",
        severity: Error,
        looks_at: "the log of self-tests in `smartctl -x` of SATA and SAS drives",
        rule: "the newest test that ended has failed (error), or one before it (information)",
        fixes: false,
        look: self_test,
    },
    Check {
        id: "drive-line-errors",
        severity: Warning,
        looks_at: "attributes 188 and 199 of `smartctl -x` of SATA drives, invalid words of the phys of SAS drives",
        rule: "transfers between drive and controller failed, or commands ran out of time: a warning from one a day on; of SAS drives \
               from one an hour on, information from 1000 on, for each start of a line counts a few",
        fixes: false,
        look: line_errors,
    },
    Check {
        id: "line-below-drive",
        severity: Warning,
        looks_at: "`SATA Version is` of `smartctl -x`",
        rule: "the line is slower than the drive can do: a warning where the drive is flash, or the line is at 1.5 Gb/s",
        fixes: false,
        look: line,
    },
    Check {
        id: "recovery-time-out",
        severity: Warning,
        looks_at: "`smartctl -l scterc`, `device/timeout` of hard disks that are part of something with redundancy",
        rule: "the drive may try to read a bad block for longer than the kernel waits, and is thrown out for it",
        fixes: true,
        look: recovery,
    },
];

/// SATA and SAS drives that tell of themselves, also behind a bridge to USB. Where one does not that is written down.
fn each(machine: &Machine, round: &mut Round, judge: impl Fn(&mut Round, &Drive, &Health, &Smart)) {
    for drive in machine.inventory.drives.iter().filter(|drive| !drive.transport.is_nvme()) {
        let Some(detail) = drive.detail.as_deref() else { continue };
        let Some(Some(health)) = round.ask(&drive_place(drive), &detail.health) else { continue };
        match &health.smart {
            Some(smart) => judge(round, drive, health, smart),
            None => round.unknown(&drive_place(drive), "an older version asked the drive for its health only"),
        }
    }
}

fn source(drive: &Drive) -> String {
    format!("smartctl -x /dev/{}", drive.kernel_name)
}

fn self_test(machine: &Machine, round: &mut Round) {
    each(machine, round, |round, drive, health, smart| {
        let place = drive_place(drive);
        let Some(tests) = &smart.self_tests else {
            return round.unknown(&place, "`smartctl` tells no log of self-tests");
        };
        round.look();
        let mut ended = tests.iter().filter(|test| test.passed.is_some());
        let newest = ended.next();
        let failed = newest.into_iter().chain(ended).find(|test| test.passed == Some(false));
        let Some(failed) = failed else { return };
        let is_newest = newest.is_some_and(|test| test.passed == Some(false));
        let age = match (health.power_on_hours, failed.hours) {
            (Some(now), Some(then)) if now >= then => format!("{} ago", count(now - then, "hour")),
            (_, Some(then)) => format!("after {} under power", count(then, "hour")),
            _ => "it does not tell when; 1 failure".to_owned(),
        };
        let (severity, what, since) = if is_newest {
            (Error, "the drive's newest self-test failed", "the drive itself cannot read all of it")
        } else {
            (
                Information,
                "a self-test failed, and a later one passed",
                "what could not be read then was written anew or given up",
            )
        };
        let found = finding(severity, &place, what, format!("{age}; {since}"))
            .seen(source(drive), &failed.says)
            .look(format!("smartctl -l selftest /dev/{}", drive.kernel_name));
        if let Some(advice) = known_to_fail(health, smart) {
            return round.find(found.advise_to_replace(advice));
        }
        round.find(
            found
                .advise_to_replace(
                    "Make sure that there is a copy, then let an extended test read all of it again: it takes hours, and the drive works \
                     meanwhile. Replace the drive if that fails too.",
                )
                .run(Nothing, format!("smartctl -t long /dev/{}", drive.kernel_name)),
        );
    });
}

/// Attributes that count what went wrong between drive and controller, and what that is.
const LINE: [(Counter, [&str; 2]); 2] =
    [(Counter::Line, ["transfer", "with a wrong checksum"]), (Counter::TimedOut, ["command", "that ran out of time"])];

fn line_errors(machine: &Machine, round: &mut Round) {
    each(machine, round, |round, drive, health, smart| {
        if let Some(words) = smart.invalid_words {
            round.look();
            invalid_words(drive, health, words).into_iter().for_each(|found| round.find(found));
        }
        if smart.attributes.is_empty() {
            if drive.transport == DriveTransport::Sata {
                round.unknown(&drive_place(drive), "`smartctl` tells no attributes");
            }
            return;
        }
        round.look();
        let told = LINE.iter().filter_map(|(counter, [noun, rest])| {
            let attribute = smart.counter(*counter).filter(|attribute| attribute.raw > 0)?;
            Some((attribute, format!("{} {rest}", count(attribute.raw, noun))))
        });
        let told: Vec<_> = told.collect();
        if told.is_empty() {
            return;
        }
        let all: u64 = told.iter().map(|(attribute, _)| attribute.raw).fold(0, u64::saturating_add);
        // Counters of a whole life: one bad cable long ago leaves a number that does not matter any more.
        let often = health.power_on_hours.is_some_and(|hours| hours > 0 && all >= hours / 24);
        let per = match health.power_on_hours {
            Some(hours) if hours > 0 => format!("in {} under power", count(hours, "hour")),
            _ => "in all its life".to_owned(),
        };
        let words: Vec<String> = told.iter().map(|(_, words)| words.clone()).collect();
        let found = finding(
            if often { Warning } else { Information },
            &drive_place(drive),
            format!("the drive counted {}", list(&words)),
            format!(
                "{all} {per}, each sent again after a wait; the counters never go back, so that only growth tells of a fault now"
            ),
        );
        let found = told.iter().fold(found, |found, (attribute, _)| {
            found.seen(source(drive), format!("{} {}: {}", attribute.id, attribute.name, attribute.raw))
        });
        round.find(
            found
                .advise(
                    "Read it again after some work. If it grows it is the cable, its plugs, the backplane or the power, and seldom the \
                     drive: change the cable first.",
                )
                .look(format!("smartctl -A /dev/{}", drive.kernel_name)),
        );
    });
}

/// Fewer come with the starts of a line.
const MANY: u64 = 1000;

fn invalid_words(drive: &Drive, health: &Health, words: u64) -> Option<Found> {
    let hours = health.power_on_hours.filter(|hours| *hours > 0);
    if words < MANY || hours.is_some_and(|hours| words < hours / 24) {
        return None;
    }
    let often = hours.is_some_and(|hours| words >= hours);
    let per = hours.map_or_else(|| "in all its life".to_owned(), |hours| format!("in {}", count(hours, "hour")));
    let found = finding(
        if often { Warning } else { Information },
        &drive_place(drive),
        format!("the drive counted {words} invalid words on its lines"),
        format!(
            "{words} {per}, each a transfer that was sent again; the counters never go back, so that only growth tells of a fault now"
        ),
    );
    Some(
        found
            .seen(source(drive), format!("Invalid DWORD count: {words}"))
            .advise("Read it again after some work. If it grows it is the cable, its plugs, the backplane or the expander, and seldom the drive.")
            .look(format!("smartctl -l sasphy /dev/{}", drive.kernel_name)),
    )
}

/// What a line carries: 8b/10b, hence a tenth of its bits in bytes (Serial ATA 3.0, 7.2), from units of 100 Mbit/s.
fn carries(speed: u32) -> f64 {
    f64::from(speed) * 1e7
}

fn line(machine: &Machine, round: &mut Round) {
    each(machine, round, |round, drive, _, smart| {
        let place = drive_place(drive);
        let Some(line) = smart.line else {
            if drive.transport == DriveTransport::Sata {
                round.unknown(&place, "`smartctl` tells no speed of the line");
            }
            return;
        };
        round.look();
        if line.now >= line.best {
            return;
        }
        let is_hdd = machine.node(&drive.kernel_name).and_then(|node| node.queue.rotational.known().copied());
        let severity = if is_hdd == Some(false) || line.now <= 15 { Warning } else { Information };
        let gigabits = |speed: u32| format!("{}.{} Gb/s", speed / 10, speed % 10);
        round.find(
            finding(
                severity,
                &place,
                format!("the line runs at {} and the drive can do {}", gigabits(line.now), gigabits(line.best)),
                format!("it carries {} of {}", rate(carries(line.now)), rate(carries(line.best))),
            )
            .seen(source(drive), format!("{} (current: {})", gigabits(line.best), gigabits(line.now)))
            .advise(
                "What the port can do is not read here. Where it can do as much as the drive it is the cable, the backplane or the \
                 drive's own jumper: the kernel says at the start what it tried.",
            )
            .look("dmesg | grep -i 'SATA link'"),
        );
    });
}

/// How long a drive without a limit may try (the Linux RAID wiki, “Timeout Mismatch”: more than two minutes were seen).
const LONGEST: Nanos = Nanos::seconds(180);
/// What the kernel waits unless it is told otherwise (`SD_TIMEOUT` in `drivers/scsi/sd.h`).
const DEFAULT: Nanos = Nanos::seconds(30);

fn recovery(machine: &Machine, round: &mut Round) {
    let groups = groups(machine);
    each(machine, round, |round, drive, _, smart| {
        let place = drive_place(drive);
        let name = drive.kernel_name.as_str();
        let Some(group) = groups.iter().find(|group| group.survives && group.below.contains(name)) else { return };
        let Some(node) = machine.node(name) else { return };
        let turns = round.ask(&place, &node.queue.rotational).copied();
        if turns == Some(false) {
            return;
        }
        // SAS drives end in time by themselves.
        if smart.attributes.is_empty() && drive.transport == DriveTransport::Sas {
            return;
        }
        round.look();
        let Some(limit) = round.ask(&place, &smart.recovery).copied() else { return };
        let wait = drive.detail.as_deref().map_or(&Readout::Known(None), |detail| &detail.command_timeout).clone();
        let known = round.ask(&place, &wait).copied().flatten();
        let tries = match limit {
            Recovery::Limited(time) => time,
            Recovery::Off | Recovery::Unsupported => LONGEST,
        };
        // With a limit and an unknown wait nothing can be said.
        let (waits, told) = match (known, limit) {
            (Some(wait), _) => (wait, format!("the kernel waits {wait}")),
            (None, Recovery::Limited(_)) => return,
            (None, _) => {
                (DEFAULT, format!("how long the kernel waits was not read; it is {DEFAULT} unless somebody set it"))
            }
        };
        if tries < waits || (tries == LONGEST && waits >= LONGEST) {
            return;
        }
        // Flash gives up within the time that the kernel waits.
        let told = if turns.is_none() { format!("this matters if it is a hard disk; {told}") } else { told };
        let mut found = told_of(drive, group.place.name.as_str(), limit, known, &told);
        if turns.is_none() {
            found.severity = Information;
        }
        round.find(found);
    });
}

fn told_of(drive: &Drive, group: &str, limit: Recovery, wait: Option<Nanos>, told: &str) -> Found {
    let name = &drive.kernel_name;
    let (what, seen) = match limit {
        Recovery::Limited(time) => {
            (format!("the drive tries for {time} to read a bad block"), format!("limited to {time}"))
        }
        Recovery::Off => {
            ("nothing limits how long the drive tries to read a bad block".to_owned(), "Disabled".to_owned())
        }
        Recovery::Unsupported => {
            ("the drive has no limit for how long it tries to read a bad block".to_owned(), "not supported".to_owned())
        }
    };
    let cost = format!(
        "{told}, and then resets the drive: one bad block, which {group} would repair, throws the whole drive out of it instead"
    );
    let found = finding(Warning, &drive_place(drive), what, cost).seen(format!("smartctl -l scterc /dev/{name}"), seen);
    let file = format!("/sys/block/{name}/device/timeout");
    let found = wait.iter().fold(found, |found, wait| found.seen(file.clone(), wait));
    let long = (LONGEST.0 / 1_000_000_000).to_string();
    match (limit, wait) {
        (Recovery::Off | Recovery::Limited(_), _) => found
            .advise(
                "7 s for reads and writes, which is what drives for arrays have. Most drives forget it when power goes: write it into a \
                 rule of udev or a unit that runs at the start.",
            )
            .look(format!("smartctl -l scterc /dev/{name}"))
            .run(Nothing, format!("smartctl -l scterc,70,70 /dev/{name}")),
        (Recovery::Unsupported, Some(wait)) => found
            .advise("Let the kernel wait longer than the drive tries. A bad block then costs minutes, and not the drive.")
            .fix(file, (wait.0 / 1_000_000_000).to_string(), long),
        (Recovery::Unsupported, None) => found
            .advise("Let the kernel wait longer than the drive tries. A bad block then costs minutes, and not the drive.")
            .look(format!("cat {file}"))
            .set(format!("echo {long} > {file}")),
    }
}
