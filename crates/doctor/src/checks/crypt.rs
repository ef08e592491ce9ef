//! Encryption: sectors, and flags that do not suit the kernel or the drives.

use terms::Bytes;
use terms::inventory::{Crypt, Node};

use crate::check::{Check, Information, Round, Warning, finding};
use crate::machine::{Machine, path, place};
use crate::words::{count, list, number};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "encryption-sector",
        severity: Warning,
        looks_at: "`sector_size` in `dmsetup table`, `queue/physical_block_size` of the device below",
        rule: "sectors of 512 bytes are encrypted: a warning where the device below has blocks of 4096",
        fixes: false,
        look: sector,
    },
    Check {
        id: "encryption-flags",
        severity: Warning,
        looks_at: "flags in `dmsetup table`, the kernel's version",
        rule: "a flag that is at fault in this kernel, or that binds several drives to one processor",
        fixes: false,
        look: flags,
    },
    Check {
        id: "encryption-queues",
        severity: Information,
        looks_at: "flags in `dmsetup table`, `queue/rotational` of the drives below, the kernel's version",
        rule: "on flash, requests are handed to other threads, which `no_read_workqueue` and `no_write_workqueue` leave out",
        fixes: false,
        look: queues,
    },
];

const PAGE: Bytes = Bytes(4096);
const SMALL: Bytes = Bytes(512);

fn sector(machine: &Machine, round: &mut Round) {
    for (node, target, crypt) in machine.crypts(round) {
        let at = place(node);
        round.look();
        if crypt.sector != SMALL {
            continue;
        }
        let Some(below) = node.on.first().and_then(|name| machine.node(name)) else {
            round.unknown(&at, "it is not known what it stands on");
            continue;
        };
        let Some(physical) = round.ask(&at, &below.queue.physical_block) else { continue };
        let severity = if *physical >= PAGE { Warning } else { Information };
        let found = finding(
            severity,
            &at,
            format!("sectors of {SMALL} are encrypted on a device with blocks of {physical}"),
            format!("each {PAGE} are 8 requests to the cipher with 8 initial vectors instead of 1"),
        )
        .seen(format!("dmsetup table {}", name(node)), format!("{} …, no sector_size", target.kind))
        .seen(format!("/sys/block/{}/queue/physical_block_size", below.name), physical.0);
        round.find(mended(found, node, below));
    }
}

/// How the sector of a mapping can be changed, by how its UUID begins.
fn mended(found: terms::diagnosis::Finding, node: &Node, below: &Node) -> terms::diagnosis::Finding {
    let uuid = node.dm.as_ref().and_then(|dm| dm.uuid.as_deref()).unwrap_or_default();
    let device = path(below);
    if uuid.starts_with("CRYPT-LUKS2") {
        found
            .mend(
                "It is encrypted anew in place, for hours, and keeps its data; back up the header first. What stands on it must \
                 take blocks of 4096 bytes: a file system with smaller ones does not mount any more.",
            )
            .run(format!("cryptsetup luksHeaderBackup {device} --header-backup-file FILE"))
            .run(format!("cryptsetup reencrypt --sector-size 4096 {device}"))
    } else if uuid.starts_with("CRYPT-TCRYPT") {
        found
            .mend("VeraCrypt knows only these. A LUKS2 volume in its place can have larger ones.")
            .destroys(format!("everything on {device}"))
    } else {
        found
            .mend("Only LUKS2 knows others: make the volume anew.")
            .run(format!("cryptsetup luksFormat --type luks2 --sector-size 4096 {device}"))
            .destroys(format!("everything on {device}"))
    }
}

fn name(node: &Node) -> &str {
    node.dm.as_ref().map_or(node.name.as_str(), |dm| dm.name.as_str())
}

fn has(crypt: &Crypt, flag: &str) -> bool {
    crypt.flags.iter().any(|known| known == flag)
}

/// From when `no_read_workqueue` and `no_write_workqueue` exist (kernel commit 39d42fa96ba1).
const INLINE_SINCE: (u32, u32) = (5, 9);
/// From when their tasklets do not touch memory that was given back (kernel commit 0a9bab391e33).
const INLINE_SOUND: (u32, u32) = (6, 8);

fn flags(machine: &Machine, round: &mut Round) {
    for (node, _, crypt) in machine.crypts(round) {
        let at = place(node);
        let Some(kernel) = machine.kernel() else {
            round.unknown(&at, format!("the kernel's version `{}` cannot be understood", machine.inventory.kernel));
            continue;
        };
        round.look();
        let inline: Vec<&str> =
            ["no_read_workqueue", "no_write_workqueue"].into_iter().filter(|flag| has(crypt, flag)).collect();
        let source = format!("dmsetup table {}", name(node));
        if !inline.is_empty() && (INLINE_SINCE..INLINE_SOUND).contains(&kernel) {
            round.find(
                finding(
                    Warning,
                    &at,
                    format!("{} on a kernel that may have the fault of their tasklets", list(&inline)),
                    "kernels from 5.9 to before 6.8 may write to memory that was given back when a request ends in an interrupt; \
                     branches with long support got the change in the spring of 2024",
                )
                .seen(source.clone(), crypt.flags.join(" "))
                .seen("/proc/sys/kernel/osrelease", &machine.inventory.kernel)
                .mend(
                    "See whether the kernel's change log has “dm-crypt, dm-verity: disable tasklets”. If not, bring it up to date or \
                     open the volume without the flags.",
                )
                .run(format!("cryptsetup refresh --persistent {}", name(node))),
            );
        }
        let drives = machine.bottom(&node.name).len();
        if drives > 1 && has(crypt, "same_cpu_crypt") {
            round.find(
                finding(
                    Warning,
                    &at,
                    format!("`same_cpu_crypt` over {}", count(number(drives), "drive")),
                    format!(
                        "what one thread asks for is encrypted by 1 of {} processors, which has to feed {drives} drives: one stream \
                         is no faster than on 1 drive",
                        machine.inventory.cpus
                    ),
                )
                .seen(source, crypt.flags.join(" "))
                .mend("Open it without the flag, and measure both.")
                .run(format!("cryptsetup refresh --persistent {}", name(node))),
            );
        }
    }
}

fn queues(machine: &Machine, round: &mut Round) {
    for (node, _, crypt) in machine.crypts(round) {
        let at = place(node);
        let Some(flash) = machine.is_flash(round, &at, &node.name) else { continue };
        let Some(kernel) = machine.kernel() else {
            round.unknown(&at, format!("the kernel's version `{}` cannot be understood", machine.inventory.kernel));
            continue;
        };
        if !flash || kernel < INLINE_SINCE {
            continue;
        }
        round.look();
        if has(crypt, "no_read_workqueue") || has(crypt, "no_write_workqueue") {
            continue;
        }
        // Mail with the patch that brought the flags (dm-devel, 2020): 4 KiB at queue depth 1 on a RAM drive, null cipher.
        round.find(
            finding(
                Information,
                &at,
                "requests are handed to other threads to be encrypted",
                "on 4 KiB at queue depth 1 the handing over cost 41 µs a read and 89 µs a write, and 6 µs each without; with many \
                 requests at a time it spreads the work and can be faster",
            )
            .seen(format!("dmsetup table {}", name(node)), if crypt.flags.is_empty() { "no flags".to_owned() } else { crypt.flags.join(" ") })
            .mend("Measure both: it depends on processor, drive and load.")
            .run(format!(
                "cryptsetup refresh --perf-no_read_workqueue --perf-no_write_workqueue {}",
                name(node)
            )),
        );
    }
}
