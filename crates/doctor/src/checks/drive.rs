//! Drives: the format of their blocks, their scheduler, what the kernel believes of their cache.

use terms::inventory::LbaFormat;
use terms::{Bytes, Drive};

use crate::check::{Check, Error, Information, Round, Warning, finding};
use crate::machine::{Machine, drive_place, sysfs};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "lba-format",
        severity: Warning,
        looks_at: "`lbafs` and `flbas` of `nvme id-ns`; `fna` of `nvme id-ctrl`",
        rule: "blocks of 512 bytes are in use and the drive offers 4096 without metadata: a warning if it rates them faster and \
               holds nothing yet",
        fixes: false,
        look: format,
    },
    Check {
        id: "scheduler",
        severity: Warning,
        looks_at: "`queue/scheduler` of NVMe drives",
        rule: "another one than `none`; a warning for `bfq`",
        fixes: true,
        look: scheduler,
    },
    Check {
        id: "write-cache-belief",
        severity: Error,
        looks_at: "`queue/write_cache`; feature 6 of `nvme get-feature`, or the caching mode page of SATA and SAS drives",
        rule: "the kernel believes something else of the volatile cache than the drive says: an error if it would not flush",
        fixes: true,
        look: write_cache,
    },
    Check {
        id: "write-cache-off",
        severity: Information,
        looks_at: "feature 6 of `nvme get-feature`, or the caching mode page of SATA and SAS drives",
        rule: "the drive has a volatile cache and it is switched off",
        fixes: false,
        look: cache_off,
    },
];

/// The block that most drives of flash and all file systems work with.
const PAGE: Bytes = Bytes(4096);

fn format(machine: &Machine, round: &mut Round) {
    for drive in &machine.inventory.drives {
        let Some(nvme) = drive.detail.as_ref().and_then(|detail| detail.nvme.as_ref()) else { continue };
        let place = drive_place(drive);
        round.look();
        let Some(formats) = round.ask(&place, &nvme.formats) else { continue };
        let Some(now) = formats.iter().find(|format| format.in_use) else {
            round.unknown(&place, "the drive does not tell which format is in use");
            continue;
        };
        let better = |format: &&LbaFormat| {
            format.data == PAGE && format.metadata.0 == 0 && format.relative_performance <= now.relative_performance
        };
        let best = formats.iter().filter(better).min_by_key(|format| format.relative_performance);
        let Some(best) = best.filter(|_| now.data < PAGE) else { continue };
        let faster = best.relative_performance < now.relative_performance;
        let severity = if faster && machine.is_blank(&drive.kernel_name) { Warning } else { Information };
        let rated = if faster {
            format!("the drive rates them “{}” and these “{}”", word(best), word(now))
        } else {
            "the drive rates both alike".to_owned()
        };
        let cost = format!(
            "{} is 8 blocks instead of 1: LUKS and dm-integrity made on it take 512-byte sectors by themselves, and then 8 \
             operations for each 4 KiB; {rated}",
            PAGE
        );
        let file = format!("nvme id-ns /dev/{}", drive.kernel_name);
        round.find(
            finding(
                severity,
                &place,
                format!("blocks of {} are in use and blocks of {PAGE} are offered", now.data),
                cost,
            )
            .seen(
                file.clone(),
                format!("lbaf {}: {} in use, relative performance {}", now.index, now.data, now.relative_performance),
            )
            .seen(file, format!("lbaf {}: {PAGE}, relative performance {}", best.index, best.relative_performance))
            .mend("Before anything is put on it. The number of the format differs from model to model.")
            .run(format!("nvme format /dev/{} --lbaf={}", drive.kernel_name, best.index))
            .destroys(victims(machine, drive)),
        );
    }
}

/// Formatting takes all namespaces of the controller where bit 0 of `fna` says so, and nobody knows where it is unknown.
fn victims(machine: &Machine, drive: &Drive) -> String {
    let own = format!("everything on {}", drive.kernel_name);
    let Some(controller) = machine.controller(drive) else { return own };
    match controller.identity.known() {
        Some(identity) if !identity.format_takes_all => own,
        Some(_) => format!("{own} and on every other namespace of {}: this drive formats all at once", controller.name),
        None => format!("{own}, and perhaps on every other namespace of {}: it is not known (`fna`)", controller.name),
    }
}

/// NVM Command Set Specification, LBA Format Data Structure, relative performance.
const fn word(format: &LbaFormat) -> &'static str {
    match format.relative_performance {
        0 => "best",
        1 => "better",
        2 => "good",
        _ => "degraded",
    }
}

fn scheduler(machine: &Machine, round: &mut Round) {
    for drive in machine.inventory.drives.iter().filter(|drive| drive.transport.starts_with("nvme")) {
        let place = drive_place(drive);
        let Some(node) = machine.node(&drive.kernel_name) else {
            round.unknown(&place, "its queue was not read");
            continue;
        };
        round.look();
        let Some(Some(scheduler)) = round.ask(&place, &node.queue.scheduler) else { continue };
        if scheduler == "none" {
            continue;
        }
        let severity = if scheduler == "bfq" { Warning } else { Information };
        let file = sysfs(node, "queue/scheduler");
        round.find(
            finding(
                severity,
                &place,
                format!("the I/O scheduler is `{scheduler}`"),
                // Ren and Trivedi, CHEOPS 2023: BFQ, mq-deadline and Kyber on fast NVMe drives.
                "schedulers took up to 50 % of the request rate of fast NVMe drives in a study of 2023, by their locks",
            )
            .seen(file.clone(), scheduler)
            .mend("A udev rule makes it last.")
            .fix(file, scheduler.clone(), "none"),
        );
    }
}

fn write_cache(machine: &Machine, round: &mut Round) {
    for drive in &machine.inventory.drives {
        let (Some(node), Some(detail)) = (machine.node(&drive.kernel_name), drive.detail.as_deref()) else { continue };
        // Only these tell; the cache of others is their host's affair.
        if !["nvme", "sata", "sas"].contains(&drive.transport.as_str()) {
            continue;
        }
        let place = drive_place(drive);
        round.look();
        let (Some(belief), Some(on)) =
            (round.ask(&place, &node.queue.write_cache), round.ask(&place, &detail.write_cache_on))
        else {
            continue;
        };
        let file = sysfs(node, "queue/write_cache");
        let flushes = belief == "write back";
        let said = match on {
            Some(true) => "on",
            Some(false) => "off",
            None => "the drive has none",
        };
        let found = match (flushes, on) {
            (false, Some(true)) => finding(
                Error,
                &place,
                "the kernel believes that the drive has no volatile cache, and it has one that is on",
                "it sends 0 flushes: after a power cut all that the cache held is lost, though `fsync` said that it was safe",
            )
            .mend("Tell the kernel.")
            .fix(file.clone(), belief.clone(), "write back"),
            (true, Some(false)) => finding(
                Information,
                &place,
                "the volatile cache is off, and the kernel flushes it all the same",
                "1 needless flush for each `fsync`; the kernel asks whether there is a cache and not whether it is on",
            )
            .mend(
                "Let it be: the setting is lost when the drive restarts, and a kernel that does not flush then loses data. If \
                 the cache is to be used, switch it on.",
            )
            .run(cache_on(drive)),
            (true, None) => finding(
                Information,
                &place,
                "the drive has no volatile cache, and the kernel flushes it all the same",
                "1 needless flush for each `fsync`, which drives with protection against power loss answer at once",
            )
            .mend("Let it be: it costs little and is always safe."),
            _ => continue,
        };
        round.find(found.seen(file, belief).seen(asked(drive), said));
    }
}

fn cache_off(machine: &Machine, round: &mut Round) {
    for drive in &machine.inventory.drives {
        let Some(detail) = drive.detail.as_deref() else { continue };
        if !["nvme", "sata", "sas"].contains(&drive.transport.as_str()) {
            continue;
        }
        let place = drive_place(drive);
        round.look();
        let Some(Some(false)) = round.ask(&place, &detail.write_cache_on) else { continue };
        // Measured on a WD Red SN700 of 1 TB with its cache off: 441 k reads and 41 k writes of 4 KiB in a second.
        round.find(
            finding(
                Information,
                &place,
                "the drive's volatile cache is switched off",
                "every write waits for the medium: such a drive did 41 k random writes of 4 KiB a second next to 441 k reads. It \
                 makes measurements repeat and nothing safer, since `fsync` flushes the cache",
            )
            .seen(asked(drive), "off")
            .mend("Switch it on again after measuring.")
            .run(cache_on(drive)),
        );
    }
}

fn asked(drive: &Drive) -> String {
    match drive.transport.as_str() {
        "nvme" => format!("nvme get-feature -f 6 /dev/{}", drive.kernel_name),
        _ => format!("hdparm -W /dev/{}", drive.kernel_name),
    }
}

fn cache_on(drive: &Drive) -> String {
    match drive.transport.as_str() {
        "nvme" => format!("nvme set-feature -f 6 -v 1 /dev/{}", drive.kernel_name),
        _ => format!("hdparm -W 1 /dev/{}", drive.kernel_name),
    }
}
