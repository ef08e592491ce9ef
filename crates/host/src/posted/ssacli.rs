//! `ssacli`, `hpssacli` and `hpacucli`: volumes and drives behind a RAID controller of HPE. Each is told of as `storcli` words those of others.

use super::dmesg::push_of_controller;
use super::{Machine, Text};

/// Its names, in the order in which it had them.
const PROGRAMS: [&str; 3] = ["ssacli", "hpssacli", "hpacucli"];

/// `Smart Array P440ar in Slot 0 (Embedded)`, or a volume or a drive with all that is said of it on its line.
pub(super) fn begins(line: &str) -> bool {
    let heads = |text: &str| KINDS.iter().any(|(word, _, _)| row(text, word).is_some_and(|(_, said)| said.is_some()));
    slot(line).is_some() || heads(line.trim())
}

/// The slot of a controller's line.
fn slot(line: &str) -> Option<&str> {
    let (model, rest) = line.split_once(" in Slot ")?;
    let slot = rest.split_whitespace().next()?;
    let behind = rest.get(slot.len()..)?.trim_start();
    let is_one =
        slot.starts_with(|c: char| c.is_ascii_digit()) && slot.bytes().all(|byte| byte.is_ascii_alphanumeric());
    // `Dynamic Smart Array B140i RAID in Slot 0 (Embedded)`: its name alone, and no sentence or message in which it stands.
    let is_model = ["Smart Array ", "Smart HBA "].iter().any(|family| model.contains(family))
        && model.split(' ').count() <= 5
        && !model.starts_with([' ', '['])
        && !model.contains(": ");
    (is_one && is_model && (behind.is_empty() || behind.starts_with('('))).then_some(slot)
}

/// How lines of things begin, what they are of, and where among what stands in their brackets the state is.
const KINDS: [(&str, &str, usize); 2] = [("logicaldrive", "volume", 2), ("physicaldrive", "drive", 3)];

/// `2` and `2.18 TB, RAID 5, OK` of `logicaldrive 2 (2.18 TB, RAID 5, OK)`; what is told in detail has no brackets.
fn row<'t>(line: &'t str, word: &str) -> Option<(&'t str, Option<&'t str>)> {
    let rest = line.strip_prefix(word)?.strip_prefix([' ', ':'])?.trim_start();
    let name = rest.split_whitespace().next()?;
    let said = rest.get(name.len()..)?.trim();
    let is_name = name.len() <= 16 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b':');
    let inside = said.strip_prefix('(').and_then(|said| said.strip_suffix(')'));
    (is_name && (said.is_empty() || inside.is_some())).then_some((name, inside))
}

/// What lines that name a value tell of a controller.
const VALUES: [(&str, &str); 3] =
    [("Controller Status", "controller"), ("Cache Status", "cache"), ("Battery/Capacitor Status", "battery")];

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let program = text.program(&PROGRAMS).unwrap_or(PROGRAMS[0]);
    let (mut within, mut told) = ("all".to_owned(), 0);
    // What a line in detail is of.
    let mut open: Option<String> = None;
    for line in &text.lines {
        if let Some(slot) = slot(line) {
            (within, open) = (format!("slot={slot}"), None);
            told += 1;
            continue;
        }
        // `MSA1500 CS in MY STORAGE`: it is not known by a slot.
        if line.contains(" in ") && !line.starts_with(' ') {
            (within, open) = ("all".to_owned(), None);
            continue;
        }
        let line = line.trim();
        let mut say = |what: &str, state: &str| push_of_controller(program, &format!("{what} is {state}"), machine);
        if let Some((group, said)) = row(line, "array").or_else(|| row(line, "Array")) {
            open = None;
            if said.is_some_and(|said| said.split(", ").any(|part| part == "Failed")) {
                say(&format!("array {within}/array={group}"), "Failed");
            }
        } else if let Some((name, kind, at, said)) = thing(line) {
            let name = format!("{kind} {within}/{}={name}", if kind == "volume" { "ld" } else { "pd" });
            told += 1;
            match said.map(|said| said.split(", ").nth(at)) {
                Some(Some(state)) => say(&name, state.trim()),
                Some(None) => {}
                None => open = Some(name),
            }
        } else if let Some((key, value)) = line.split_once(": ") {
            // `Failed (Replace Batteries/Capacitors)`.
            let value = value.split(" (").next().unwrap_or_default().trim();
            match (VALUES.iter().find(|(own, _)| *own == key), &open) {
                (Some((_, what)), _) => say(&format!("{what} {within}"), value),
                (None, Some(name)) if key == "Status" => {
                    say(name, value);
                    open = None;
                }
                _ => {}
            }
        }
    }
    told
}

/// A volume or a drive: its name, what it is, where its state stands, and what is said on its line.
fn thing(line: &str) -> Option<(&str, &'static str, usize, Option<&str>)> {
    let of = |word: &str, kind: &'static str, at| row(line, word).map(|(name, said)| (name, kind, at, said));
    let short = KINDS.iter().find_map(|(word, kind, at)| of(word, kind, *at));
    short.or_else(|| of("Logical Drive", "volume", 0))
}
