//! What the program of a RAID controller says of volumes and drives behind it.

use std::collections::BTreeSet;

use terms::diagnosis::{Place, Severity};

use super::message_kinds::Words;
use crate::check::{Error, Information, Round, Warning, finding};

pub(super) const WORDS: Words = &[&["storcli: "], &["megacli: "]];

/// Programs of these controllers.
const PROGRAMS: [&str; 2] = ["storcli", "MegaCli"];

/// How a state is written, of what, how bad it is, what is so, and what that means (the legend below the tables of `storcli`).
const STATES: [(&str, &[&str], Severity, &str, &str); 10] = [
    (
        "volume",
        &["Dgrd"],
        Error,
        "a volume of the RAID controller lacks a drive",
        "1 more lost drive may take data with it",
    ),
    (
        "volume",
        &["Pdgd"],
        Error,
        "a RAID-6 or RAID-60 of the RAID controller lacks a drive",
        "1 more may be lost; 2 may take data with them",
    ),
    (
        "volume",
        &["OfLn", "Offln", "Failed"],
        Error,
        "a volume of the RAID controller is not there",
        "0 bytes of it can be reached",
    ),
    (
        "volume",
        &["Rec", "Rbld"],
        Warning,
        "a volume of the RAID controller is being rebuilt",
        "0 further drives should be lost until that ends",
    ),
    (
        "drive",
        &["Failed", "Offln", "Msng"],
        Error,
        "the RAID controller gave up a drive",
        "1 drive less holds what stands on its group",
    ),
    (
        "drive",
        &["UBad"],
        Warning,
        "the RAID controller calls a drive bad",
        "1 drive is in no group, and cannot take the place of another",
    ),
    (
        "drive",
        &["Rbld"],
        Information,
        "the RAID controller fills a drive",
        "0 further drives should be lost until that ends",
    ),
    (
        "drive",
        COUNTS,
        Warning,
        "a drive behind the RAID controller counts failures",
        "1 drive may fail soon, or has blocks that could not be read",
    ),
    (
        "cache",
        &["Failed", "Dgd", "Degraded", "NdAtn"],
        Warning,
        "what keeps the RAID controller's cache without power has failed",
        "0 writes are gathered in its cache where it is set up to stop then, and each waits for the drives",
    ),
    (
        "controller",
        &["Dgd", "NdAtn", "Failed"],
        Warning,
        "the RAID controller wants attention",
        "1 controller does not call itself in order",
    ),
];

const COUNTS: &[&str] = &["counts"];

/// One finding for each that is not in order.
pub(super) fn judge(lines: &[&str], round: &mut Round) {
    let mut told = BTreeSet::new();
    for line in lines {
        let Some((program, kind, name, how)) = parts(line) else { continue };
        let is_it = |(of, states, ..): &&(&str, &[&str], Severity, &str, &str)| *of == kind && states.contains(&how);
        let Some((_, _, severity, what, cost)) = STATES.iter().find(is_it) else { continue };
        // A text may be posted twice, and two tables tell of one drive.
        if !told.insert((kind, name, how)) {
            continue;
        }
        let place = Place::new(if kind == "drive" { "drive" } else { "controller" }, name);
        let controller = name.get(1..).and_then(|rest| rest.split('/').next()).unwrap_or("call");
        round.find(
            finding(*severity, &place, *what, *cost)
                .seen(program, line.split_once(": ").map_or(*line, |(_, said)| said))
                .advise(
                    "See first that there is a copy. Look which drive it is and why: its health, its cable, its slot. The controller fills a new \
                     one in the same slot by itself, or from a hot spare. Set no drive `good` that it calls bad, and neither delete nor \
                     import anything, before that is known: both can cost what is on it.",
                )
                .look(format!("storcli /{controller} show"))
                .look(format!("storcli /{controller}/eall/sall show all")),
        );
    }
}

/// `volume`, `/c0/v0` and `Dgrd` of `storcli: volume /c0/v0 (RAID5) is Dgrd`.
fn parts(line: &str) -> Option<(&'static str, &str, &str, &str)> {
    let (program, said) =
        PROGRAMS.iter().find_map(|program| Some((*program, line.strip_prefix(program)?.strip_prefix(": ")?)))?;
    let (kind, rest) = said.split_once(' ')?;
    let (name, rest) = rest.split_once(' ').filter(|(name, _)| is_name(name))?;
    let how = if rest.starts_with(COUNTS[0]) {
        COUNTS[0]
    } else {
        rest.strip_prefix("is ").or_else(|| Some(rest.rsplit_once(" is ")?.1))?
    };
    Some((program, kind, name, how))
}

/// Is it `/c0`, `/c0/v1`, `/c0/d1` (a group of drives) or `/c0/e252/s3`? Commands name it, and who posts a text writes what he likes.
fn is_name(text: &str) -> bool {
    let is_part = |part: &str| {
        let number = part.strip_prefix(['c', 'd', 'e', 's', 'v']).unwrap_or_default();
        !number.is_empty() && number.len() <= 9 && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    text.strip_prefix('/').is_some_and(|rest| rest.starts_with('c') && rest.split('/').all(is_part))
}
