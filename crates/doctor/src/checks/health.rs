//! The health of drives.

use terms::Drive;
use terms::inventory::Health;

use crate::check::{Check, Error, Information, Round, Warning, finding};
use crate::machine::{Machine, drive_place};
use crate::words::{count, duration, float, list};

const LOOKS_AT: &str = "`nvme smart-log` of NVMe drives, `smartctl` of SATA and SAS drives";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "drive-critical-warning",
        severity: Error,
        looks_at: LOOKS_AT,
        rule: "the drive itself warns",
        fixes: false,
        look: critical,
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
        looks_at: "temperature of each drive; `wctemp` of `nvme id-ctrl`",
        rule: "it is as hot as the drive warns of, or within 5 °C of it (information)",
        fixes: false,
        look: hot,
    },
    Check {
        id: "drive-throttled",
        severity: Warning,
        looks_at: LOOKS_AT,
        rule: "the drive has slowed down because of heat, or was critically hot",
        fixes: false,
        look: throttled,
    },
];

/// Every drive that tells of its health.
fn each(machine: &Machine, round: &mut Round, judge: impl Fn(&mut Round, &Drive, &Health)) {
    for drive in &machine.inventory.drives {
        let Some(detail) = drive.detail.as_deref() else { continue };
        if let Some(Some(health)) = round.ask(&drive_place(drive), &detail.health) {
            judge(round, drive, health);
        }
    }
}

/// A value that every NVMe drive tells; of SATA and SAS drives some do not have it.
fn told<T>(round: &mut Round, drive: &Drive, value: Option<T>, name: &str) -> Option<T> {
    if value.is_some() {
        round.look();
    } else if drive.transport.starts_with("nvme") {
        round.unknown(&drive_place(drive), format!("`{}` tells no {name}", source(drive)));
    }
    value
}

fn source(drive: &Drive) -> String {
    let program = if drive.transport.starts_with("nvme") { "nvme smart-log" } else { "smartctl -x" };
    format!("{program} /dev/{}", drive.kernel_name)
}

/// Bits of the critical warning (NVM Express Base Specification, SMART / Health Information).
const WARNINGS: [(u32, &str); 6] = [
    (1, "spare capacity is low"),
    (2, "it is too hot or too cold"),
    (4, "it is not reliable any more"),
    (8, "it can only be read"),
    (16, "its protection against power loss has failed"),
    (32, "its persistent memory can only be read"),
];

fn critical(machine: &Machine, round: &mut Round) {
    each(machine, round, |round, drive, health| {
        round.look();
        if health.critical_warning == 0 {
            return;
        }
        let said: Vec<&str> =
            WARNINGS.iter().filter(|(bit, _)| health.critical_warning & bit != 0).map(|(_, text)| *text).collect();
        round.find(
            finding(
                Error,
                &drive_place(drive),
                format!("the drive warns: {}", list(&said)),
                format!("{} of data are on a drive that its maker no longer vouches for", drive.size),
            )
            .seen(source(drive), format!("critical_warning {}", health.critical_warning))
            .mend("Copy what is on it, then replace it; cool it if that is what it says.")
            .look(source(drive)),
        );
    });
}

fn media(machine: &Machine, round: &mut Round) {
    each(machine, round, |round, drive, health| {
        let errors = told(round, drive, health.media_errors, "media_errors");
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
            .mend("Scrub what stands on it, watch whether the number grows, and replace the drive if it does.")
            .look(source(drive)),
        );
    });
}

fn spare(machine: &Machine, round: &mut Round) {
    each(machine, round, |round, drive, health| {
        let both = told(round, drive, health.spare.zip(health.spare_threshold), "avail_spare and spare_thresh");
        let Some((spare, threshold)) = both else { return };
        if (spare, threshold) == (0, 0) {
            return round.unknown(&drive_place(drive), "the drive keeps no count of spare capacity: it tells 0 of 0 %");
        }
        if spare > threshold.saturating_add(10) {
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
            .mend("Replace it while it can still be read."),
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
            .mend("Plan its replacement; two drives of one age in one mirror wear out at one time."),
        );
    });
}

fn hot(machine: &Machine, round: &mut Round) {
    for drive in &machine.inventory.drives {
        let Some(detail) = drive.detail.as_deref() else { continue };
        // Only NVMe drives tell how hot is too hot.
        let Some(controller) = machine.controller(drive) else { continue };
        let place = drive_place(drive);
        let Some(identity) = round.ask(&place, &controller.identity) else { continue };
        let Some(limit) = identity.warning_temperature else { continue };
        let Some(now) = round.ask(&place, &detail.temperature) else { continue };
        round.look();
        let Some(now) = *now else {
            round.unknown(&place, "the drive tells no temperature");
            continue;
        };
        if now < limit.saturating_sub(5) {
            continue;
        }
        let severity = if now >= limit { Warning } else { Information };
        round.find(
            finding(
                severity,
                &place,
                format!("the drive is at {now} °C and warns from {limit} °C"),
                format!(
                    "{} °C are left before it slows itself down, under load often by half or more",
                    limit.saturating_sub(now)
                ),
            )
            .seen(source(drive), format!("temperature {now} °C"))
            .seen(format!("nvme id-ctrl /dev/{}", controller.name), format!("wctemp {limit} °C"))
            .mend("A heat sink or moving air; do not measure before it is cooler."),
        );
    }
}

fn throttled(machine: &Machine, round: &mut Round) {
    each(machine, round, |round, drive, health| {
        let Some(slowdowns) = told(round, drive, health.thermal_slowdowns, "thm_temp1_trans_count") else { return };
        let critical = health.critical_temperature_minutes.unwrap_or(0);
        let warm = health.warning_temperature_minutes.unwrap_or(0);
        if slowdowns == 0 && critical == 0 && warm == 0 {
            return;
        }
        let severity = if slowdowns > 0 || critical > 0 { Warning } else { Information };
        round.find(
            finding(
                severity,
                &drive_place(drive),
                "the drive has been too hot",
                format!(
                    "it slowed down {}, and was {} above its warning and {} above its critical temperature",
                    count(slowdowns, "time"),
                    count(warm, "minute"),
                    count(critical, "minute")
                ),
            )
            .seen(
                source(drive),
                format!("thm_temp_trans_count {slowdowns}, warning_temp_time {warm}, critical_comp_time {critical}"),
            )
            .mend("A heat sink or moving air. Long writes show it first: watch the temperature during one."),
        );
    });
}
