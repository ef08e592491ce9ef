//! The health of drives.

use terms::Drive;
use terms::diagnosis::Severity;
use terms::inventory::{Counter, Health, Smart};

use super::assessment::known_to_fail;
use crate::check::{Check, Error, Information, Nothing, Round, Warning, finding};
use crate::machine::{Machine, drive_place};
use crate::words::{count, duration, float, list};

const LOOKS_AT: &str = "`nvme smart-log` of NVMe drives, `smartctl` of SATA and SAS drives";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "drive-critical-warning",
        severity: Error,
        looks_at: LOOKS_AT,
        rule: "the drive itself warns, or says of one of its attributes that it fails (a warning where that tells of age)",
        fixes: false,
        look: super::assessment::look,
    },
    Check {
        id: "drive-media-errors",
        severity: Warning,
        looks_at: LOOKS_AT,
        rule: "blocks could not be read, or were given up",
        fixes: false,
        look: media,
    },
    Check {
        id: "drive-spare",
        severity: Error,
        looks_at: LOOKS_AT,
        rule: "spare capacity is at the drive's own threshold (error) or within 10 % of it (warning)",
        fixes: false,
        look: spare,
    },
    Check {
        id: "drive-wear",
        severity: Warning,
        looks_at: LOOKS_AT,
        rule: "90 % of the life that the maker promises are used (warning), or 80 % (information)",
        fixes: false,
        look: wear,
    },
    Check {
        id: "drive-hot",
        severity: Warning,
        looks_at: "temperature of each drive; `wctemp` and `cctemp` of `nvme id-ctrl`, the highest temperatures that `smartctl -x` tells",
        rule: "it is as hot as the drive warns of, or within 5 °C of it or above what its maker recommends (information)",
        fixes: false,
        look: hot,
    },
    Check {
        id: "drive-error-log",
        severity: Information,
        looks_at: "`num_err_log_entries` of `nvme smart-log`",
        rule: "its error log got an entry an hour or more: fewer are mostly commands that it does not know",
        fixes: false,
        look: error_log,
    },
    Check {
        id: "drive-throttled",
        severity: Warning,
        looks_at: LOOKS_AT,
        rule: "the drive was critically hot, or slowed down because of heat once a week or more (less often: information)",
        fixes: false,
        look: throttled,
    },
];

/// Every drive that tells of its health.
pub(super) fn each(machine: &Machine, round: &mut Round, judge: impl Fn(&mut Round, &Drive, &Health)) {
    for drive in &machine.inventory.drives {
        let Some(detail) = drive.detail.as_deref() else { continue };
        if let Some(Some(health)) = round.ask(&drive_place(drive), &detail.health) {
            judge(round, drive, health);
        }
    }
}

/// Does a drive say that it cannot read all that is on it, or that it is not reliable any more?
pub(super) fn cannot_read(drive: &Drive) -> bool {
    let health = drive.detail.as_deref().and_then(|detail| detail.health.known()).and_then(Option::as_ref);
    health.is_some_and(|health| {
        let counted = |smart: &Smart| {
            let of_sata = [Counter::Pending, Counter::Unreadable].into_iter().filter_map(|of| smart.counter(of));
            of_sata.map(|attribute| attribute.raw).chain(smart.uncorrected).any(|count| count > 0)
        };
        let blocks = match health.smart.as_deref() {
            Some(smart) => counted(smart),
            None => health.media_errors.is_some_and(|count| count > 0),
        };
        blocks || health.critical_warning & super::assessment::UNRELIABLE != 0
    })
}

/// A value that every NVMe drive tells; of SATA and SAS drives some do not have it.
fn told<T>(round: &mut Round, drive: &Drive, value: Option<T>, name: &str) -> Option<T> {
    if value.is_some() {
        round.look();
    } else if drive.transport.is_nvme() {
        round.unknown(&drive_place(drive), format!("`{}` tells no {name}", source(drive)));
    }
    value
}

pub(super) fn source(drive: &Drive) -> String {
    let program = if drive.transport.is_nvme() { "nvme smart-log" } else { "smartctl -x" };
    format!("{program} /dev/{}", drive.kernel_name)
}

fn media(machine: &Machine, round: &mut Round) {
    each(machine, round, |round, drive, health| {
        let errors = told(round, drive, health.media_errors, "media_errors");
        if let Some(smart) = &health.smart {
            return sectors(round, drive, health, smart);
        }
        let Some(errors) = errors.filter(|errors| *errors > 0) else { return };
        let per = match (health.read, health.power_on_hours) {
            (Some(read), _) if read.0 > 0 => format!("one for each {} that were read", terms::Bytes(read.0 / errors)),
            (_, Some(hours)) if hours > 0 => format!("in {}", count(hours, "hour")),
            _ => "since it was new".to_owned(),
        };
        round.find(
            finding(
                Warning,
                &drive_place(drive),
                format!("the drive counted {}", count(errors, "media error")),
                format!("{errors} blocks or more were lost or given up, {per}; without redundancy each is lost data"),
            )
            .seen(source(drive), format!("media_errors {errors}"))
            .advise_to_replace(
                "Scrub what stands on it, watch whether the number grows, and replace the drive if it does.",
            )
            .look(source(drive)),
        );
    });
}

/// Fewer blocks that flash gave up over its life are no fault.
const FEW: u64 = 10;

/// Attributes of SATA drives that count bad blocks, and what they count.
const SECTORS: [(Counter, [&str; 2]); 4] = [
    (Counter::GivenUp, ["block", "given up"]),
    (Counter::Uncorrected, ["read", "that failed"]),
    (Counter::Pending, ["block", "waiting to be given up"]),
    (Counter::Unreadable, ["block", "that its own search could not read"]),
];

/// What SATA and SAS drives tell of bad blocks.
fn sectors(round: &mut Round, drive: &Drive, health: &Health, smart: &Smart) {
    let of_sas = [(smart.grown_defects, ["block", "given up"]), (smart.uncorrected, ["request", "that failed"])];
    if smart.attributes.is_empty() && of_sas.iter().all(|(count, _)| count.is_none()) {
        return round
            .unknown(&drive_place(drive), format!("`{}` tells neither attributes nor counters", source(drive)));
    }
    round.look();
    let of_sata = SECTORS.iter().filter_map(|(counter, what)| {
        let attribute = smart.counter(*counter)?;
        Some((attribute.raw, *what, format!("{} {}: {}", attribute.id, attribute.name, attribute.raw)))
    });
    let of_sas = of_sas
        .iter()
        .filter_map(|(count, what)| Some(((*count)?, *what, format!("{}s {}: {}", what[0], what[1], (*count)?))));
    let told: Vec<(u64, [&str; 2], String)> = of_sata.chain(of_sas).filter(|(count, _, _)| *count > 0).collect();
    if told.is_empty() {
        return;
    }
    let words: Vec<String> =
        told.iter().map(|(number, [noun, rest], _)| format!("{} {rest}", count(*number, noun))).collect();
    let per = health
        .power_on_hours
        .map_or_else(|| "since it was new".to_owned(), |hours| format!("in {}", count(hours, "hour")));
    let all: u64 = told.iter().fold(0, |sum, (number, _, _)| sum.saturating_add(*number));
    // What flash gives up goes with its age, and it has spare blocks for more.
    let is_age =
        health.used.is_some() && all < FEW && smart.counter(Counter::GivenUp).is_some_and(|own| own.raw == all);
    let found = finding(
        if is_age { Information } else { Warning },
        &drive_place(drive),
        format!("the drive counted {}", list(&words)),
        format!("{all} {per}; without redundancy what was in a block that cannot be read is lost"),
    );
    let found = told.into_iter().fold(found, |found, (_, _, seen)| found.seen(source(drive), seen));
    if let Some(advice) = known_to_fail(health, smart) {
        return round.find(found.advise_to_replace(advice).look(source(drive)));
    }
    round.find(
        found
            .advise_to_replace(
                "Read all of what stands on it (a scrub, or an extended self-test), and look again. A block that waits is given up when \
                 it is written. Replace the drive if the numbers grow.",
            )
            .look(source(drive))
            .run(Nothing, format!("smartctl -t long /dev/{}", drive.kernel_name)),
    );
}

/// All of the spare capacity, in percent.
pub(super) const ALL: u32 = 100;

fn spare(machine: &Machine, round: &mut Round) {
    each(machine, round, |round, drive, health| {
        let both = told(round, drive, health.spare.zip(health.spare_threshold), "avail_spare and spare_thresh");
        let Some((spare, threshold)) = both else { return };
        if (spare, threshold) == (0, 0) {
            return round.unknown(&drive_place(drive), "the drive keeps no count of spare capacity: it tells 0 of 0 %");
        }
        // Of one with all its spare left the threshold says nothing: drives of Apple have it at 99 %.
        if spare >= ALL || spare > threshold.saturating_add(10) {
            return;
        }
        let severity = if spare <= threshold { Error } else { Warning };
        round.find(
            finding(
                severity,
                &drive_place(drive),
                format!("{spare} % of the spare capacity are left"),
                format!("below {threshold} % the drive may stop taking writes"),
            )
            .seen(source(drive), format!("avail_spare {spare} %, spare_thresh {threshold} %"))
            .advise_to_replace("Replace it while it can still be read."),
        );
    });
}

fn wear(machine: &Machine, round: &mut Round) {
    each(machine, round, |round, drive, health| {
        let used = told(round, drive, health.used, "percent_used");
        let Some(used) = used.filter(|used| *used >= 80) else { return };
        let severity = if used >= 90 { Warning } else { Information };
        // As fast as until now: hours so far, times what is left over what is used.
        let left = match health.power_on_hours {
            // Attributes of SATA drives count down to 1 and stay there.
            _ if used == LEAST && health.smart.is_some() => {
                "its counter ends there, so that what is left may be 1 % or nothing".to_owned()
            }
            Some(hours) if used < 100 && hours > 0 => {
                let seconds = float(hours) * 3600.0 * f64::from(100 - used) / f64::from(used);
                format!("the rest lasts {} more under power at the pace so far", duration(seconds))
            }
            _ if used >= 100 => "it is past the life that the maker promises".to_owned(),
            _ => "the drive does not tell in how many hours".to_owned(),
        };
        let written = health.written.map_or_else(String::new, |written| format!("; {written} were written"));
        round.find(
            finding(
                severity,
                &drive_place(drive),
                format!("{used} % of the drive's life are used"),
                format!("{left}{written}"),
            )
            .seen(source(drive), format!("percent_used {used}"))
            .advise("Plan its replacement; two drives of one age in one mirror wear out at one time."),
        );
    });
}

/// Percent that are used where an attribute is at its least.
const LEAST: u32 = 99;

/// Temperatures that a drive tells of itself, and what tells them. Many SATA drives tell none.
struct Limits {
    /// What its maker recommends at most.
    recommended: Option<i32>,
    /// From which one it warns, or may not work.
    warns: Option<i32>,
    /// From which one it may stop.
    critical: Option<i32>,
    told_by: String,
}

fn limits(machine: &Machine, round: &mut Round, drive: &Drive) -> Option<Limits> {
    if let Some(controller) = machine.controller(drive) {
        let identity = round.ask(&drive_place(drive), &controller.identity)?;
        return Some(Limits {
            recommended: None,
            warns: identity.warning_temperature,
            critical: identity.critical_temperature,
            told_by: format!("nvme id-ctrl /dev/{}", controller.name),
        });
    }
    let health = round.ask(&drive_place(drive), &drive.detail.as_deref()?.health)?.as_ref()?;
    let smart = health.smart.as_ref()?;
    Some(Limits {
        recommended: smart.recommended_temperature,
        warns: smart.temperature_limit,
        critical: None,
        told_by: source(drive),
    })
}

/// So many °C below a limit a drive is told of.
const NEAR: i32 = 5;

impl Limits {
    /// The worst of them that a temperature has reached: how bad that is, which limit it is, what is so, and what it means.
    fn reached(&self, now: i32, is_nvme: bool) -> Option<(Severity, i32, String, String)> {
        let of_nvme = "slows itself down, under load often by half or more";
        let past = if is_nvme { of_nvme } else { "is hotter than its maker lets it work" };
        // Where no warning is told, there is one before the drive stops.
        let near = if self.warns.is_some() { 0 } else { NEAR };
        if let Some(critical) = self.critical.filter(|critical| now >= critical.saturating_sub(near)) {
            let what = format!("the drive is at {now} °C, and {critical} °C is critical for it");
            let left = critical.saturating_sub(now).max(0);
            let severity = if left == 0 { Warning } else { Information };
            let cost = format!("{left} °C are left before it stops, and may vanish until it is cool");
            return Some((severity, critical, what, cost));
        }
        if let Some(warns) = self.warns.filter(|warns| now >= warns.saturating_sub(NEAR)) {
            let severity = if now >= warns { Warning } else { Information };
            let what = format!("the drive is at {now} °C and warns from {warns} °C");
            return Some((
                severity,
                warns,
                what,
                format!("{} °C are left before it {past}", warns.saturating_sub(now)),
            ));
        }
        let recommended = self.recommended.filter(|recommended| now > *recommended)?;
        let what = format!("the drive is at {now} °C, and its maker recommends {recommended} °C at most");
        let cost = format!("{} °C more than it is made to live with; its life is shorter for it", now - recommended);
        Some((Information, recommended, what, cost))
    }
}

fn hot(machine: &Machine, round: &mut Round) {
    for drive in &machine.inventory.drives {
        let Some(detail) = drive.detail.as_deref() else { continue };
        let place = drive_place(drive);
        let Some(limits) = limits(machine, round, drive) else { continue };
        if limits.recommended.or(limits.warns).or(limits.critical).is_none() {
            continue;
        }
        let Some(now) = round.ask(&place, &detail.temperature) else { continue };
        round.look();
        let Some(now) = *now else {
            round.unknown(&place, "the drive tells no temperature");
            continue;
        };
        let Some((severity, limit, what, cost)) = limits.reached(now, drive.transport.is_nvme()) else { continue };
        round.find(
            finding(severity, &place, what, cost)
                .seen(source(drive), format!("temperature {now} °C"))
                .seen(limits.told_by, format!("limit {limit} °C"))
                .advise("A heat sink or moving air; do not measure before it is cooler."),
        );
    }
}

/// A drive that slows down once a week or more does so now.
const HOURS_A_WEEK: u64 = 168;

fn throttled(machine: &Machine, round: &mut Round) {
    each(machine, round, |round, drive, health| {
        let slowed = told(round, drive, health.thermal_slowdowns, "thm_temp1_trans_count");
        let slowdowns = slowed.unwrap_or(0);
        let critical = health.critical_temperature_minutes.unwrap_or(0);
        let warm = health.warning_temperature_minutes.unwrap_or(0);
        if slowdowns == 0 && critical == 0 && warm == 0 {
            return;
        }
        // Counters of a whole life: a hot day long ago leaves a number that does not matter any more.
        let is_often = health.power_on_hours.is_none_or(|hours| slowdowns >= (hours / HOURS_A_WEEK).max(1));
        let severity = if (slowdowns > 0 && is_often) || critical > 0 { Warning } else { Information };
        round.find(
            finding(
                severity,
                &drive_place(drive),
                "the drive has been too hot",
                format!(
                    "it was {} above its warning and {} above its critical temperature{}",
                    count(warm, "minute"),
                    count(critical, "minute"),
                    slowed.map_or(String::new(), |slowdowns| format!(", and slowed down {}", count(slowdowns, "time")))
                ) + &health.power_on_hours.map_or(String::new(), |hours| format!(", in {}", count(hours, "hour"))),
            )
            .seen(
                source(drive),
                format!(
                    "{}warning_temp_time {warm}, critical_comp_time {critical}",
                    slowed.map_or(String::new(), |slowdowns| format!("thm_temp_trans_count {slowdowns}, "))
                ),
            )
            .advise("A heat sink or moving air. Long writes show it first: watch the temperature during one."),
        );
    });
}

fn error_log(machine: &Machine, round: &mut Round) {
    each(machine, round, |round, drive, health| {
        if !drive.transport.is_nvme() {
            return;
        }
        let Some(entries) = told(round, drive, health.error_log_entries, "num_err_log_entries") else { return };
        // Healthy drives get a few at every start.
        if entries == 0 || health.power_on_hours.is_some_and(|hours| entries < hours) {
            return;
        }
        round.find(
            finding(
                Information,
                &drive_place(drive),
                format!("the drive's error log counts {}", if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") }),
                format!(
                    "{entries} in {}. Many drives write one for each command that they do not know, which costs nothing; \
                     entries of reads and writes are errors",
                    health.power_on_hours.map_or_else(|| "all its life".to_owned(), |hours| count(hours, "hour"))
                ),
            )
            .seen(source(drive), format!("num_err_log_entries {entries}"))
            .advise("See what they are: opcode 0x01 is a write and 0x02 a read.")
            .look(format!("nvme error-log /dev/{}", machine.controller(drive).map_or("nvmeN", |controller| controller.name.as_str()))),
        );
    });
}
