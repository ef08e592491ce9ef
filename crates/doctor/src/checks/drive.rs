//! Drives: the format of their blocks, their scheduler, what the kernel believes of their cache.

use terms::command::quote;
use terms::inventory::{LbaFormat, Readout};
use terms::{Bytes, Drive, DriveTransport};

use crate::check::{Check, Data, Error, Information, Nothing, Round, Warning, finding};
use crate::machine::{Machine, drive_place, sysfs};
use crate::remedy::Found;

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
        id: "lba-metadata",
        severity: Information,
        looks_at: "`lbafs`, `flbas` and `dps` of `nvme id-ns`, or `metadata_bytes`",
        rule: "blocks carry metadata, which may be protection information",
        fixes: false,
        look: with_metadata,
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
        // Both go by the physical block (cryptsetup-luksFormat(8), `--sector-size`).
        let physical = machine.node(&drive.kernel_name).and_then(|node| node.queue.physical_block.known().copied());
        let small = if physical.is_some_and(|physical| physical < PAGE) {
            ": LUKS and dm-integrity made on it take 512-byte sectors by themselves, and then 8 operations for each 4 KiB"
        } else {
            ""
        };
        let cost = format!("{PAGE} is 8 blocks instead of 1{small}; {rated}");
        let used = metadata(now, &nvme.protection);
        let file = format!("nvme id-ns /dev/{}", drive.kernel_name);
        let wanted = if used.is_empty() {
            ""
        } else {
            "Ask first who wants the metadata: the format has none, and protection information is gone with it. "
        };
        let when = if machine.holds_something(&drive.kernel_name) {
            "A format destroys all that is on the drive, and it holds something. Leave it, unless it is set up anew anyway: then copy everything \
             off first, and compare the copy."
        } else {
            "A format destroys all that is on the drive: before anything is put on it, or when all of it was copied."
        };
        let found = finding(
            severity,
            &place,
            format!("blocks of {}{used} are in use and blocks of {PAGE} are offered", now.data),
            cost,
        )
        .seen(
            file.clone(),
            format!("lbaf {}: {}{used} in use, relative performance {}", now.index, now.data, now.relative_performance),
        )
        .seen(file, format!("lbaf {}: {PAGE}, relative performance {}", best.index, best.relative_performance))
        .advise(format!("{wanted}{when} The number of the format differs from model to model."))
        .look(format!("nvme id-ns -H /dev/{}", drive.kernel_name))
        .look(format!("lsblk -f /dev/{}", drive.kernel_name));
        round.find(formatted(machine, drive, found, best.index));
    }
}

/// With the command that destroys all of a drive, unless the drive is known to hold something.
fn formatted(machine: &Machine, drive: &Drive, found: Found, format: u32) -> Found {
    if machine.holds_something(&drive.kernel_name) {
        return found;
    }
    found.run(Data(victims(machine, drive)), format!("nvme format /dev/{} --lbaf={format}", drive.kernel_name))
}

/// Metadata without protection information is of use to nobody but a program that asks for it.
fn with_metadata(machine: &Machine, round: &mut Round) {
    for drive in &machine.inventory.drives {
        let Some(nvme) = drive.detail.as_ref().and_then(|detail| detail.nvme.as_ref()) else { continue };
        let place = drive_place(drive);
        round.look();
        let of_kernel = nvme.metadata.known().copied().flatten();
        let in_use = nvme.formats.known().and_then(|formats| formats.iter().find(|format| format.in_use));
        let Some(metadata) = in_use.map(|format| format.metadata).or(of_kernel) else {
            let why = nvme.formats.why_unknown().unwrap_or("the drive does not tell which format is in use");
            round.unknown(&place, why);
            continue;
        };
        if metadata.0 == 0 {
            continue;
        }
        let used = words_of(metadata, &nvme.protection);
        let source = if in_use.is_some() { "nvme id-ns" } else { "metadata_bytes of" };
        let found = finding(
                Information,
                &place,
                format!("blocks{used} are in use"),
                format!(
                    "{} go over the link with each block. Where it is no protection information the kernel uses nothing of it, and \
                     where it is, what reads and writes has to fit its type",
                    metadata
                ),
            )
            .seen(format!("{source} /dev/{}", drive.kernel_name), format!("metadata {metadata}"))
            .advise("Ask who wants it. Another format destroys everything on the drive.")
            .look(format!("nvme id-ns -H /dev/{}", drive.kernel_name));
        let plain = |format: &&LbaFormat| Some(format.data) == in_use.map(|now| now.data) && format.metadata.0 == 0;
        let plain = nvme.formats.known().and_then(|formats| formats.iter().find(plain));
        round.find(plain.into_iter().fold(found, |found, plain| formatted(machine, drive, found, plain.index)));
    }
}

/// What each block carries beside its data, in words; nothing where it carries nothing.
fn metadata(format: &LbaFormat, protection: &Readout<u32>) -> String {
    if format.metadata.0 == 0 { String::new() } else { words_of(format.metadata, protection) }
}

fn words_of(metadata: Bytes, protection: &Readout<u32>) -> String {
    let protection = match protection {
        Readout::Known(0) => "no protection information".to_owned(),
        Readout::Known(kind) => format!("protection information of type {kind}"),
        Readout::Unknown(_) => "whether that is protection information is not known".to_owned(),
    };
    format!(" with {metadata} of metadata each ({protection})")
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
    for drive in machine.inventory.drives.iter().filter(|drive| drive.transport.is_nvme()) {
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
            .advise("A udev rule makes it last.")
            .fix(file, scheduler.clone(), "none"),
        );
    }
}

fn write_cache(machine: &Machine, round: &mut Round) {
    for drive in &machine.inventory.drives {
        let (Some(node), Some(detail)) = (machine.node(&drive.kernel_name), drive.detail.as_deref()) else { continue };
        // Only these tell; the cache of others is their host's affair.
        if !drive.transport.is_direct() {
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
            .advise("Tell the kernel.")
            .fix(file.clone(), belief.clone(), "write back"),
            (true, None) => finding(
                Information,
                &place,
                "the drive has no volatile cache, and the kernel flushes it all the same",
                "1 needless flush for each `fsync`, which drives with protection against power loss answer at once",
            )
            .advise("Let it be: it costs little and is always safe."),
            // That it is off is another check's affair; a kernel that flushes all the same is safe.
            _ => continue,
        };
        round.find(found.seen(file, belief).seen(asked(machine, drive), said));
    }
}

fn cache_off(machine: &Machine, round: &mut Round) {
    for drive in &machine.inventory.drives {
        let Some(detail) = drive.detail.as_deref() else { continue };
        if !drive.transport.is_direct() {
            continue;
        }
        let place = drive_place(drive);
        round.look();
        let Some(Some(false)) = round.ask(&place, &detail.write_cache_on) else { continue };
        let is_hdd = machine.node(&drive.kernel_name).and_then(|node| node.queue.rotational.known().copied());
        let such = match is_hdd {
            // Half a turn at 7200 in a minute, and a seek, for each.
            Some(true) => {
                "a hard disk then writes some 100 blocks a second at random places, one for each seek and half a turn"
            }
            // Measured on a WD Red SN700 of 1 TB with its cache off: 441 k reads and 41 k writes of 4 KiB in a second.
            _ => "a drive of flash did 41 k random writes of 4 KiB a second so, next to 441 k reads",
        };
        let found = finding(
                Information,
                &place,
                "the drive's volatile cache is switched off",
                format!(
                    "every write waits for the medium: {such}. It makes measurements repeat and nothing safer, since `fsync` flushes the \
                     cache"
                ),
            )
            .seen(asked(machine, drive), "off")
            .advise(
                "Switch it on again after measuring. A kernel that flushes a cache that is off does no harm; one that does not \
                 flush a cache that is on loses data, so it has to read the setting anew.",
            );
        round.find(cache_on(found, machine, drive));
    }
}

/// The controller's node: features belong to it and not to a namespace.
fn controller(machine: &Machine, drive: &Drive) -> String {
    let name = machine.controller(drive).map_or("CONTROLLER", |controller| controller.name.as_str());
    format!("/dev/{}", quote(name))
}

/// What was read to know whether the cache is on.
fn asked(machine: &Machine, drive: &Drive) -> String {
    match drive.transport {
        DriveTransport::Nvme => format!("nvme get-feature -f 6 {}", controller(machine, drive)),
        _ => format!("/sys/block/{}/device/scsi_disk/*/cache_type", drive.kernel_name),
    }
}

/// Switches the cache on, and has the kernel see it. `-v` is the value in older versions of nvme-cli and "verbose" in
/// newer ones: the long option is the same in all (nvme-set-feature(1)).
fn cache_on(found: Found, machine: &Machine, drive: &Drive) -> Found {
    let name = &drive.kernel_name;
    let (switch, seen) = match drive.transport {
        DriveTransport::Nvme => {
            let controller = controller(machine, drive);
            let seen = format!("nvme get-feature {controller} --feature-id=6");
            return found
                .run(Nothing, format!("nvme set-feature {controller} --feature-id=6 --value=1"))
                .look(seen)
                .look(format!("cat /sys/block/{name}/queue/write_cache"));
        }
        // hdparm(8) speaks ATA, sdparm(8) SCSI.
        DriveTransport::Sas => (format!("sdparm --set WCE /dev/{name}"), format!("sdparm --get WCE /dev/{name}")),
        _ => (format!("hdparm -W 1 /dev/{name}"), format!("hdparm -W /dev/{name}")),
    };
    found
        .run(Nothing, switch)
        .run(Nothing, format!("echo 1 > /sys/block/{name}/device/rescan"))
        .look(seen)
        .look(format!("cat /sys/block/{name}/queue/write_cache"))
}
