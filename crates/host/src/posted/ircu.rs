//! `sas2ircu` and `sas3ircu` with `display` or `status`: mirrors that a SAS controller of Broadcom makes itself, and drives behind it. Each
//! that is not in order is told of as `storcli` words it.

use super::dmesg::push_of_controller;
use super::{Machine, Text};

/// `Avago Technologies SAS3 IR Configuration Utility.`, and what it says first of a controller.
pub(super) fn begins(line: &str) -> bool {
    line.contains(" IR Configuration Utility")
        || controller(line).is_some()
        || line.trim() == "IR Volume information"
        || volume(line).is_some()
}

fn controller(line: &str) -> Option<u64> {
    let heads = ["Read configuration has been initiated", "Background command progress status"];
    let rest = heads.iter().find_map(|head| line.trim().strip_prefix(head))?;
    rest.strip_prefix(" for controller ")?.trim_end_matches('.').parse().ok()
}

/// `IR volume 1`, or `IR Volume 1`.
fn volume(line: &str) -> Option<u64> {
    line.trim().strip_prefix("IR ")?.strip_prefix(['v', 'V'])?.strip_prefix("olume ")?.parse().ok()
}

/// States of volumes and of drives by their letters in brackets or, of a volume in `status`, by their words; those in order are not here
/// (LSI's SAS-2 Integrated RAID Configuration Utility User Guide, “DISPLAY Command”, “STATUS Command”).
const VOLUMES: [(&str, &str); 8] = [
    ("DGD", "Dgrd"),
    ("Degraded", "Dgrd"),
    ("FLD", "Failed"),
    ("Failed", "Failed"),
    ("MIS", "Failed"),
    ("Missing", "Failed"),
    ("Synchronize", "Rbld"),
    ("Rebuild", "Rbld"),
];
const DRIVES: [(&str, &str); 5] =
    [("FLD", "Failed"), ("MIS", "Msng"), ("DGD", "Failed"), ("OSY", "Rbld"), ("RBLD", "Rbld")];

fn state(known: &[(&str, &'static str)], said: &str) -> Option<&'static str> {
    let letters = said.rsplit_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(said);
    known.iter().find(|(own, _)| *own == letters).map(|(_, state)| *state)
}

/// What lines are of.
#[derive(Default)]
enum Of {
    #[default]
    Other,
    Volume(u64),
    Drive(Option<u64>, Option<u64>),
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let is_old = |line: &&str| line.contains("SAS2 IR") || line.contains("SAS2IRCU");
    let old = text.lines.iter().any(is_old) || text.command.is_some_and(|typed| typed.contains("sas2ircu"));
    let program = if old { "sas2ircu" } else { "sas3ircu" };
    let (mut number, mut of, mut told) = (0, Of::Other, 0);
    for line in &text.lines {
        if let Some(found) = controller(line) {
            (number, of) = (found, Of::Other);
            continue;
        }
        let line = line.trim();
        if let Some(volume) = volume(line) {
            of = Of::Volume(volume);
            told += 1;
            continue;
        }
        if let Some(what) = line.strip_prefix("Device is a") {
            of = if what.contains("Enclosure") { Of::Other } else { Of::Drive(None, None) };
            told += usize::from(matches!(of, Of::Drive(..)));
            continue;
        }
        let Some((key, value)) = line.split_once(" : ").map(|(key, value)| (key.trim(), value.trim())) else {
            continue;
        };
        match (&mut of, key) {
            (Of::Volume(volume), "Status of volume" | "Volume state" | "Current operation") => {
                let found = state(&VOLUMES, value);
                found.into_iter().for_each(|state| {
                    push_of_controller(program, &format!("volume /c{number}/v{volume} is {state}"), machine)
                });
            }
            (Of::Drive(enclosure, _), "Enclosure #") => *enclosure = value.parse().ok(),
            (Of::Drive(_, slot), "Slot #") => *slot = value.parse().ok(),
            (Of::Drive(enclosure, slot), "State") => {
                let Some(state) = state(&DRIVES, value) else { continue };
                // What is missing has no place: noughts stand for it.
                let place = match (enclosure, slot) {
                    (Some(enclosure), Some(slot)) if state != "Msng" => format!("/e{enclosure}/s{slot}"),
                    _ => String::new(),
                };
                push_of_controller(program, &format!("drive /c{number}{place} is {state}"), machine);
            }
            _ => {}
        }
    }
    told
}
