//! `MegaCli -PDList`, `-LDInfo` and `-AdpBbuCmd`: drives, volumes and the battery of an older RAID controller, as `storcli` words them.

use super::dmesg::push_of_controller;
use super::{Machine, Text};

/// Its names, without the bits of the machine behind them.
const PROGRAMS: [&str; 3] = ["MegaCli", "megacli", "MegaCLI"];

/// `Adapter #0`, `Adapter 0 -- Virtual Drive Information:`, and what a drive, a volume and a battery begin with.
pub(super) fn begins(line: &str) -> bool {
    let is_numbered = |key| value(line, key).is_some_and(|number| number.parse::<u64>().is_ok());
    adapter(line).is_some()
        || ["Enclosure Device ID", "Slot Number", BATTERY].into_iter().any(is_numbered)
        || volume(line).flatten().is_some()
}

/// What the status of a battery begins with.
const BATTERY: &str = "BBU status for Adapter";

fn adapter(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("Adapter")?.trim_start_matches([' ', '#', ':']);
    let (number, behind) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
    number.parse().ok().filter(|_| behind.is_empty() || behind.starts_with(" -- "))
}

/// What a volume begins with, in old versions and of a cache as well.
const VOLUMES: [&str; 3] = ["Virtual Drive", "Virtual Disk", "CacheCade Virtual Drive"];

/// `Virtual Drive: 0 (Target Id: 0)`: does a line begin a volume, and which?
fn volume(line: &str) -> Option<Option<u64>> {
    let said = VOLUMES.iter().find_map(|key| value(line, key))?;
    Some(said.split_once("(Target Id:").and_then(|(number, _)| number.trim().parse().ok()))
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
    ("Partial Degraded", "Pdgd"),
    ("Optimal", "Optl"),
];

fn state(text: &str) -> Option<&'static str> {
    let text = text.split(',').next()?.trim();
    STATES.iter().find(|(own, _)| own.eq_ignore_ascii_case(text)).map(|(_, state)| *state)
}

/// What is said of a battery that is not in order, and what `storcli` calls that.
const BATTERIES: [(&str, &[&str], &str); 4] = [
    ("Battery State", &["Non Operational", "Failed", "Degraded", "Degraded(Need Attention)", "Missing"], "Failed"),
    ("Battery Replacement required", &["Yes"], "NdAtn"),
    ("Pack is about to fail & should be replaced", &["Yes"], "NdAtn"),
    ("isSOHGood", &["No"], "NdAtn"),
];

fn battery(line: &str) -> Option<&'static str> {
    let is_it = |(key, bad, _): &&(&str, &[&str], &str)| value(line, key).is_some_and(|said| bad.contains(&said));
    BATTERIES.iter().find(is_it).map(|(_, _, state)| *state)
}

/// What drives count that is worth a word.
const COUNTERS: [&str; 3] = ["Media Error Count", "Predictive Failure Count", "Drive has flagged a S.M.A.R.T alert"];

/// A number above 0, or a yes: a controller that cannot ask a drive writes `N/A`.
fn is_counted(said: &str) -> bool {
    said == "Yes" || said.parse::<u64>().is_ok_and(|count| count > 0)
}

/// What lines are of.
enum Of {
    Drive(String),
    Volume(String),
    Battery(String),
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let program = text.program(&PROGRAMS).unwrap_or(PROGRAMS[0]);
    let (mut controller, mut told) = (0, 0);
    let (mut enclosure, mut open, mut counts): (Option<u64>, Option<Of>, Vec<&str>) = (None, None, Vec::new());
    // Is the volume that lines are of set up to gather writes?
    let mut gathers = false;
    let end = |open: &mut Option<Of>, counts: &mut Vec<&str>, machine: &mut Machine| {
        if let Some(Of::Drive(name)) = open.take().filter(|_| !counts.is_empty()) {
            push_of_controller(program, &format!("{name} counts {}", counts.join(", ")), machine);
        }
        counts.clear();
    };
    for line in &text.lines {
        if let Some(number) = value(line, BATTERY) {
            end(&mut open, &mut counts, machine);
            let Ok(number) = number.parse::<u64>() else { continue };
            open = Some(Of::Battery(format!("cache /c{number} (BBU)")));
            told += 1;
        } else if let Some(number) = adapter(line) {
            end(&mut open, &mut counts, machine);
            (controller, enclosure) = (number, None);
        } else if let Some(number) = value(line, "Enclosure Device ID") {
            end(&mut open, &mut counts, machine);
            enclosure = number.parse().ok();
        } else if let Some(slot) = value(line, "Slot Number") {
            end(&mut open, &mut counts, machine);
            let Ok(slot) = slot.parse::<u64>() else { continue };
            let within = enclosure.map_or_else(String::new, |number| format!("/e{number}"));
            open = Some(Of::Drive(format!("drive /c{controller}{within}/s{slot}")));
            told += 1;
        } else if let Some(number) = volume(line) {
            end(&mut open, &mut counts, machine);
            let Some(number) = number else { continue };
            gathers = false;
            open = Some(Of::Volume(format!("volume /c{controller}/v{number}")));
            told += 1;
        } else if let Some(of) = &open {
            let (name, found) = match of {
                Of::Drive(name) => (name, value(line, "Firmware state").and_then(state)),
                Of::Volume(name) => {
                    let policy = |key| value(line, key).and_then(|said| said.split(',').next());
                    gathers |= policy("Default Cache Policy") == Some("WriteBack");
                    let passes = gathers && policy("Current Cache Policy") == Some("WriteThrough");
                    (name, value(line, "State").and_then(state).or(passes.then_some("WriteThrough")))
                }
                Of::Battery(name) => (name, battery(line)),
            };
            if let Some(state) = found {
                push_of_controller(program, &format!("{name} is {state}"), machine);
            } else if COUNTERS.iter().any(|key| value(line, key).is_some_and(is_counted)) {
                counts.push(line.trim());
            }
        }
    }
    end(&mut open, &mut counts, machine);
    told
}
