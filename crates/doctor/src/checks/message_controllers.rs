//! What the program of a RAID controller says of volumes and drives behind it.

use std::collections::BTreeSet;

use terms::diagnosis::{Place, Severity};
use terms::inventory::OF_CONTROLLER;

use super::message_kinds::Words;
use crate::check::{Error, Information, Round, Warning, finding};

pub(super) const WORDS: Words = &[&[OF_CONTROLLER]];

/// Programs of these controllers, by how their names begin, and what each says more of one: `{p}` is the program, `{c}` the controller.
const PROGRAMS: [(&[&str], &[&str]); 5] = [
    (&["storcli", "perccli"], &["{p} /{c} show", "{p} /{c}/eall/sall show all"]),
    (&["MegaCli", "megacli", "MegaCLI"], &["{p} -LDInfo -LALL -{c}", "{p} -PDList -{c}"]),
    (&["ssacli", "hpssacli", "hpacucli"], &["{p} ctrl {c} show config", "{p} ctrl {c} pd all show detail"]),
    (&["sas2ircu", "sas3ircu"], &["{p} {c} display", "{p} {c} status"]),
    (&["arcconf"], &["{p} GETCONFIG {c} LD", "{p} GETCONFIG {c} PD"]),
];

/// How a state is written, of what, how bad it is, what is so, and what that means (the legend below the tables of `storcli`).
const STATES: [(&str, &[&str], Severity, &str, &str); 14] = [
    (
        "volume",
        &["Dgrd", "Interim Recovery Mode", "Ready for Rebuild", "Waiting for Rebuild"],
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
        &["Rec", "Rbld", "Recovering", "Rebuilding"],
        Warning,
        "a volume of the RAID controller is being rebuilt",
        "0 further drives should be lost until that ends",
    ),
    (
        "volume",
        &["WriteThrough"],
        Warning,
        "a volume of the RAID controller is set up to gather writes, and does not",
        "0 writes are gathered in its cache, and each waits for the drives: mostly what keeps the cache without power is empty, tests itself or has failed",
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
        &["Rbld", "Rebuilding"],
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
        &["Failed", "Dgd", "Degraded", "NdAtn", "Permanently Disabled"],
        Warning,
        "what keeps the RAID controller's cache without power has failed",
        "0 writes are gathered in its cache where it is set up to stop then, and each waits for the drives",
    ),
    ("drive", &["Predictive Failure"], Warning, "the RAID controller expects a drive to fail", "1 drive may fail soon"),
    (
        "array",
        &["Failed"],
        Warning,
        "the RAID controller calls a drive of a group failed",
        "1 drive or more of it has failed or is about to",
    ),
    (
        "cache",
        &["Temporarily Disabled", "Recharging", "Charging"],
        Information,
        "the RAID controller's cache is not in use yet",
        "0 writes are gathered in it until it can be kept without power",
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
        let (_, commands) = PROGRAMS.iter().find(|(names, _)| is_of(program, names)).unwrap_or(&PROGRAMS[0]);
        let controller = controller(program, name);
        let found = finding(*severity, &place, *what, *cost)
            .seen(program, line.rsplit_once(&format!("{program}: ")).map_or(*line, |(_, said)| said))
            .advise(advice(kind, how));
        let typed = commands.iter().map(|command| command.replace("{p}", program).replace("{c}", &controller));
        round.find(typed.fold(found, |found, command| found.look(command)));
    }
}

/// What puts it in order.
fn advice(kind: &str, how: &str) -> &'static str {
    match (kind, how) {
        ("cache", _) | (_, "WriteThrough") => {
            "No drive is at fault. Ask the controller for its battery or capacitor: one that charges or tests itself is ready within a day; \
             one that has failed is replaced. Until then force no writing back (`AWB`, `CachedBadBBU`, no-battery write cache): what is in \
             the cache is lost with power."
        }
        ("controller", _) => {
            "Ask it what it wants, volume by volume and drive by drive, before anything is changed. Neither delete nor import anything \
             before that is known."
        }
        (_, "Rbld" | "Rebuilding" | "Rec" | "Recovering") => {
            "Wait until that ends, and take out no drive meanwhile. See that there is a copy."
        }
        _ => {
            "See first that there is a copy. Look which drive it is and why: its health, its cable, its slot. The controller fills a new one \
             in the same slot by itself, or from a hot spare. Set no drive `good` that it calls bad, and neither delete nor import \
             anything, before that is known: both can cost what is on it."
        }
    }
}

/// How the program of a controller is told which is meant.
fn controller(program: &str, name: &str) -> String {
    let first = name.trim_start_matches('/').split('/').next().unwrap_or_default();
    let number = first.trim_start_matches('c');
    match program {
        program if is_of(program, PROGRAMS[1].0) => format!("a{number}"),
        program if PROGRAMS[3..].iter().any(|(names, _)| is_of(program, names)) => number.to_owned(),
        _ => first.to_owned(),
    }
}

fn is_of(program: &str, names: &[&str]) -> bool {
    let rest = names.iter().find_map(|name| program.strip_prefix(name));
    rest.is_some_and(|rest| ["", "2", "64", "264"].contains(&rest))
}

/// `storcli`, `volume`, `/c0/v0` and `Dgrd` of `storcli: volume /c0/v0 (RAID5) is Dgrd`.
fn parts(line: &str) -> Option<(&str, &str, &str, &str)> {
    let (program, said) = line.strip_prefix(OF_CONTROLLER)?.split_once(": ")?;
    if !PROGRAMS.iter().any(|(names, _)| is_of(program, names)) {
        return None;
    }
    let (kind, rest) = said.split_once(' ')?;
    let (name, rest) = rest.split_once(' ').filter(|(name, _)| is_name(name))?;
    let how = if rest.starts_with(COUNTS[0]) {
        COUNTS[0]
    } else {
        rest.strip_prefix("is ").or_else(|| Some(rest.rsplit_once(" is ")?.1))?
    };
    // `ssacli` tells of a battery what others call the cache's.
    Some((program, if kind == "battery" { "cache" } else { kind }, name, how))
}

/// Is it `/c0`, `/c0/v1`, `/c0/d1` (a group of drives), `/c0/e252/s3`, `slot=0` or `slot=0/pd=1I:1:3`? Commands name it, and who posts
/// a text writes what he likes.
fn is_name(text: &str) -> bool {
    let is_part = |part: &str| {
        let number = part.strip_prefix(['c', 'd', 'e', 's', 'v']).unwrap_or_default();
        !number.is_empty() && number.len() <= 9 && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_value = |part: &str| {
        let (key, value) = part.split_once('=').unwrap_or_default();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b':';
        ["slot", "ld", "pd", "array"].contains(&key) && (1..=16).contains(&value.len()) && value.bytes().all(plain)
    };
    match text.strip_prefix('/') {
        Some(rest) => rest.starts_with('c') && rest.split('/').all(is_part),
        None => text.split('/').enumerate().all(|(at, part)| is_value(part) || (at == 0 && part == "all")),
    }
}
