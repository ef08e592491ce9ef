//! `MegaCli -PDList` and `-LDInfo`: drives and volumes behind an older RAID controller, as `storcli` words them.

use super::dmesg::push;
use super::{Machine, Text};

/// How such a line begins.
const START: &str = "MegaCli: ";

/// `Adapter #0`, `Adapter 0 -- Virtual Drive Information:`, and what a drive and a volume begin with.
pub(super) fn begins(line: &str) -> bool {
    let is_numbered = |key| value(line, key).is_some_and(|number| number.parse::<u64>().is_ok());
    adapter(line).is_some()
        || ["Enclosure Device ID", "Slot Number"].into_iter().any(is_numbered)
        || volume(line).is_some()
}

fn adapter(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("Adapter")?.trim_start_matches([' ', '#', ':']);
    let (number, behind) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
    number.parse().ok().filter(|_| behind.is_empty() || behind.starts_with(" -- "))
}

/// `Virtual Drive: 0 (Target Id: 0)`.
fn volume(line: &str) -> Option<u64> {
    value(line, "Virtual Drive")?.split_once(" (Target Id: ")?.0.parse().ok()
}

fn value<'t>(line: &'t str, key: &str) -> Option<&'t str> {
    let (own, value) = line.split_once(':')?;
    (own.trim() == key).then(|| value.trim())
}

/// States, and how `storcli` calls those of which something is told.
const STATES: [(&str, &str); 9] = [
    ("Failed", "Failed"),
    ("Offline", "Offln"),
    ("Unconfigured(bad)", "UBad"),
    ("Missing", "Msng"),
    ("Rebuild", "Rbld"),
    ("Degraded", "Dgrd"),
    ("Partially Degraded", "Pdgd"),
    ("Partially degraded", "Pdgd"),
    ("Optimal", "Optl"),
];

fn state(text: &str) -> Option<&'static str> {
    let text = text.split(',').next()?.trim();
    STATES.iter().find(|(own, _)| *own == text).map(|(_, state)| *state)
}

/// What drives count that is worth a word.
const COUNTERS: [&str; 3] = ["Media Error Count", "Predictive Failure Count", "Drive has flagged a S.M.A.R.T alert"];

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let (mut controller, mut told) = (0, 0);
    // The drive or the volume that lines are of.
    let (mut enclosure, mut name, mut counts): (Option<u64>, Option<String>, Vec<&str>) = (None, None, Vec::new());
    let end = |name: &Option<String>, counts: &mut Vec<&str>, machine: &mut Machine| {
        if let Some(name) = name.as_ref().filter(|_| !counts.is_empty()) {
            push(&format!("{START}{name} counts {}", counts.join(", ")), machine);
        }
        counts.clear();
    };
    for line in &text.lines {
        if let Some(number) = adapter(line) {
            controller = number;
        } else if let Some(number) = value(line, "Enclosure Device ID") {
            end(&name, &mut counts, machine);
            (enclosure, name) = (number.parse().ok(), None);
        } else if let Some(slot) = value(line, "Slot Number").and_then(|slot| slot.parse::<u64>().ok()) {
            let within = enclosure.map_or_else(String::new, |number| format!("/e{number}"));
            name = Some(format!("drive /c{controller}{within}/s{slot}"));
            told += 1;
        } else if let Some(number) = volume(line) {
            end(&name, &mut counts, machine);
            name = Some(format!("volume /c{controller}/v{number}"));
            told += 1;
        } else if let (Some(name), Some(state)) =
            (&name, value(line, "Firmware state").or_else(|| value(line, "State")).and_then(state))
        {
            push(&format!("{START}{name} is {state}"), machine);
        } else if COUNTERS
            .iter()
            .any(|key| value(line, key).is_some_and(|value| value != "No" && value.parse() != Ok(0_u64)))
        {
            counts.push(line.trim());
        }
    }
    end(&name, &mut counts, machine);
    told
}
