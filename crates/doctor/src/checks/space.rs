//! How full file systems are.

use terms::command::quote;
use terms::diagnosis::{Place, Severity};
use terms::inventory::{Usage, Used, is_image};

use crate::check::{Check, Error, Round, Warning, finding};
use crate::machine::Machine;
use crate::remedy::Found;

pub(super) const CHECKS: &[Check] = &[Check {
    id: "file-system-space",
    severity: Error,
    looks_at: "`df -P` and `df -i` of mounted file systems on devices, `/proc/self/mountinfo`",
    rule: "90 % of the space or of the inodes of one that is written are used (warning), or all (error)",
    fixes: false,
    look: space,
}];

fn space(machine: &Machine, round: &mut Round) {
    let Some(all) = round.ask(&Place::machine(), &machine.detail.usage) else { return };
    for usage in all {
        round.look();
        // Made once and hardly written: what the firmware and the loader start from. Where nothing is left the next kernel has no room.
        let most = if usage.target.starts_with("/boot") { 100 } else { 90 };
        let is_small = usage.used < most;
        if is_small || is_full_by_nature(&usage.source) || is_only_read(machine, &usage.target) {
            continue;
        }
        // `df` rounds up: of a large file system at 100 % much may be left.
        let severity = if nothing_left(usage) { Error } else { Warning };
        if usage.of == Used::Inodes {
            round.find(inodes(usage, severity));
            continue;
        }
        round.find(
            finding(
                severity,
                &Place::new("file system", &usage.target),
                format!("{} % of the space are used", usage.used),
                format!(
                    "{} are left. File systems look longer for free blocks when few are left, what they write lies in pieces, and flash \
                     below has less to work with: when nothing is left writes fail",
                    left(&usage.left)
                ),
            )
            .seen("df -P", format!("{} {} % on {}", usage.source, usage.used, usage.target))
            .advise("See what takes it, or make the file system larger.")
            .look(format!("du -xh --max-depth=1 {} | sort -h | tail", quote(&usage.target))),
        );
    }
}

/// Entries for files are used up, and space may not be.
fn inodes(usage: &Usage, severity: Severity) -> Found {
    finding(
        severity,
        &Place::new("file system", &usage.target),
        format!("{} % of the inodes are used", usage.used),
        format!(
            "{} are left: when none is left no file can be made, however much space there is. ext4 gets its number when it is made",
            usage.left
        ),
    )
    .seen("df -i", format!("{} {} % on {}", usage.source, usage.used, usage.target))
    .advise("See which directory has so many files: caches, sessions and mails are, mostly. Remove what is not needed.")
    .look(format!("du --inodes -x --max-depth=1 {} | sort -n | tail", quote(&usage.target)))
}

/// Is it mounted to be read only, or an image of a kind that cannot be written? What is full then is so for ever.
fn is_only_read(machine: &Machine, target: &str) -> bool {
    let mounts = machine.detail.mounts.known().into_iter().flatten();
    // The last one lies on top.
    mounts
        .into_iter()
        .rfind(|mount| mount.target == target)
        .is_some_and(|mount| is_image(&mount.kind) || mount.options.iter().any(|option| option == "ro"))
}

/// Is it an image that was made as large as its content: a disc, or a file behind a loop device?
fn is_full_by_nature(source: &str) -> bool {
    ["/dev/sr", "/dev/loop"].iter().any(|start| source.starts_with(start))
}

/// Less than one block of 1 MiB of a file system at 100 %, of which each log fills more in a day, is nothing.
fn nothing_left(usage: &Usage) -> bool {
    let number = usage.left.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &usage.left[number.len()..];
    let is_little = usage.used >= 100
        && usage.of != Used::Inodes
        && match unit {
            "B" | "K" => true,
            "" => number.parse::<f64>().is_ok_and(|kib| kib < 1024.0),
            _ => false,
        };
    is_little || number.parse::<f64>().is_ok_and(|left| left <= 0.0)
}

/// Without a unit it is KiB. What is kept back for root may be used as well: then less than nothing is left to others.
fn left(text: &str) -> String {
    let text = if text.starts_with('-') { "0" } else { text };
    text.parse::<u64>().map_or_else(|_| text.to_owned(), |kib| terms::Bytes::kib(kib).to_string())
}
