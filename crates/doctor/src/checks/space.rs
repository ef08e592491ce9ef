//! How full file systems are.

use terms::diagnosis::Place;

use crate::check::{Check, Error, Round, Warning, finding};
use crate::machine::Machine;
use terms::command::quote;

pub(super) const CHECKS: &[Check] = &[Check {
    id: "file-system-space",
    severity: Error,
    looks_at: "`df -P` of mounted file systems on devices",
    rule: "90 % of what may be used are used (warning), or all of it (error)",
    fixes: false,
    look: space,
}];

fn space(machine: &Machine, round: &mut Round) {
    let Some(all) = round.ask(&Place::machine(), &machine.detail.usage) else { return };
    for usage in all {
        round.look();
        // Made once and hardly written: what the firmware and the loader start from.
        if usage.used < 90 || usage.target.starts_with("/boot") || is_full_by_nature(&usage.source) {
            continue;
        }
        // `df` rounds up: of a large file system at 100 % much may be left.
        let severity = if nothing_left(&usage.left) { Error } else { Warning };
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

/// Is it an image that was made as large as its content: a disc, or a file behind a loop device?
fn is_full_by_nature(source: &str) -> bool {
    ["/dev/sr", "/dev/loop"].iter().any(|start| source.starts_with(start))
}

fn nothing_left(text: &str) -> bool {
    text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse::<f64>().is_ok_and(|left| left <= 0.0)
}

/// Without a unit it is KiB.
fn left(text: &str) -> String {
    text.parse::<u64>().map_or_else(|_| text.to_owned(), |kib| terms::Bytes::kib(kib).to_string())
}
