//! `storcli` and `perccli`: volumes and drives behind a RAID controller of Broadcom or Dell. Each that is not in order becomes a line among
//! messages, for nothing else tells of them.

use std::collections::{BTreeMap, BTreeSet};

use super::dmesg::push_of_controller;
use super::{Machine, Text};

/// Its names, without the bits of the machine behind them; `perccli` is what Dell calls it.
const PROGRAMS: [&str; 4] = ["storcli", "perccli", "storcli2", "perccli2"];

/// The one that a text is of.
pub(super) fn program<'t>(text: &Text<'t>) -> &'t str {
    text.program(&PROGRAMS).unwrap_or(PROGRAMS[0])
}

/// Headings of tables, and what their rows are of.
const TABLES: [(&[&str], Table); 8] = [
    (&["DG/VD", "TYPE", "State"], Table::Volumes),
    (&["EID:Slt", "DID", "State"], Table::Drives),
    // `storcli2` and `perccli2`, which tell how a drive is beside what it is used for.
    (&["EID:Slt", "PID", "State", "Status"], Table::Drives2),
    (&["DG", "Arr", "Row", "EID:Slot", "DID", "Type", "State"], Table::Groups),
    (&["DG", "Span", "Row", "EID:Slot", "PID", "Type", "State", "Status"], Table::Groups2),
    (&["Model", "State"], Table::Batteries),
    // The same of `storcli2`, which tells how it is in the last of its columns.
    (&["Type", "SubType", "Voltage(mV)"], Table::Batteries2),
    (&["Ctl", "Model"], Table::Controllers),
];

#[derive(Debug, Clone, Copy)]
pub(super) enum Table {
    Volumes,
    Drives,
    Drives2,
    Groups,
    Groups2,
    Batteries,
    Batteries2,
    Controllers,
}

impl Table {
    fn of(line: &str) -> Option<Self> {
        let is_it = |heading: &&[&str]| line.split_whitespace().take(heading.len()).eq(heading.iter().copied());
        TABLES.iter().find(|(heading, _)| is_it(heading)).map(|(_, table)| *table)
    }
}

/// What stands above tables.
const TITLES: [&str; 3] = ["TOPOLOGY :", "VD LIST :", "PD LIST :"];

/// `CLI Version = 007.1912.0000.0000 Nov 23, 2021`, `Controller = 0`, or the heading of a table where what is above was left away.
pub(super) fn begins(line: &str) -> bool {
    let is_heading = matches!(
        Table::of(line),
        Some(Table::Volumes | Table::Drives | Table::Drives2 | Table::Groups | Table::Groups2)
    );
    is_heading
        || bare(line).is_some()
        || TITLES.contains(&line.trim_end())
        || line.starts_with("CLI Version = ")
        || number(line, "Controller").is_some()
}

/// The table of a row whose heading was left away: `0/0   RAID5 Dgrd  RW     No      RWTD …`, or `252:2    12 Onln   1 7.276 TB SATA HDD …`.
fn bare(line: &str) -> Option<Table> {
    line.trim_start().starts_with(|c: char| c.is_ascii_digit()).then_some(())?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let pair = |text: &str, sign| text.split_once(sign).is_some_and(|(one, two)| is_number(one) && is_number(two));
    match words[..] {
        [place, level, _, "RW" | "RO" | "HD" | "B", "Yes" | "No", ..] if pair(place, '/') => {
            level.starts_with("RAID").then_some(Table::Volumes)
        }
        [place, number, ..] if pair(place, ':') && is_number(number) && words.len() > 8 => {
            words.windows(2).any(|two| matches!(two, ["SATA" | "SAS" | "NVMe", "HDD" | "SSD"])).then_some(Table::Drives)
        }
        _ => None,
    }
}

/// What `/cx/bbu show all` and `/cx/cv show all` say of one that is not in order, a property on each line.
fn battery(line: &str) -> Option<&'static str> {
    let line = line.trim();
    let state = line.strip_prefix("Battery State ").map(str::trim);
    let is_old = ["Battery Replacement required", "Replacement required", "Pack is about to fail & should be replaced"]
        .iter()
        .any(|key| line.strip_prefix(key).is_some_and(|value| value.trim() == "Yes"));
    match state {
        Some("Failed" | "Degraded" | "Degraded(Need Attention)" | "Missing" | "Non Operational") => Some("Failed"),
        _ => is_old.then_some("NdAtn"),
    }
}

/// `Controller = 0`.
fn number(line: &str, key: &str) -> Option<u64> {
    line.trim().strip_prefix(key)?.trim_start().strip_prefix('=')?.trim().parse().ok()
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    // Where nothing says which it is, what was typed may: `storcli /c1 show`.
    let typed = text
        .command
        .into_iter()
        .flat_map(str::split_whitespace)
        .find_map(|word| word.strip_prefix("/c")?.split('/').next()?.parse().ok());
    let mut controller = typed.unwrap_or(0);
    let mut table = None;
    let mut has_rows = false;
    // The drive whose counters follow, and what each counts.
    let mut counted = None;
    let mut counts = Counts::new();
    let mut parts = Vec::new();
    for line in &text.lines {
        controller = number(line, "Controller").unwrap_or(controller);
        if line.trim().is_empty() {
            // A paste may have an empty line behind each.
            table = table.filter(|_| !has_rows);
        } else if let Some(begun) = Table::of(line) {
            (table, has_rows) = (Some(begun), false);
        } else if let Some(drive) = headed(line) {
            counted = Some(drive.to_owned());
        } else if let Some(state) = battery(line) {
            parts.push(format!("cache /c{controller} (BBU) is {state}"));
        } else if let Some(part) = table.or_else(|| bare(line)).and_then(|table| part(table, controller, line)) {
            // `storcli2` has what a drive counts below a table of it alone.
            let place = part.strip_prefix("drive ").and_then(|part| part.split(' ').next());
            counted = place.filter(|_| !has_rows && matches!(table, Some(Table::Drives2))).map(str::to_owned);
            has_rows = true;
            parts.push(part);
        } else if let Some(drive) = counted.as_ref().filter(|_| COUNTERS.iter().any(|key| is_counted(line, key))) {
            counts.entry(drive.clone()).or_default().push(line.trim().to_owned());
        }
    }
    put(parts, &counts, program(text), machine)
}

/// The drive that a heading names, and whose counters follow: `Drive /c0/e252/s2 State :`.
fn headed(line: &str) -> Option<&str> {
    let heading = line.strip_suffix(':')?;
    heading
        .starts_with("Drive ")
        .then(|| heading.split_whitespace().find(|word| is_place(word) && word.contains("/s")))?
}

/// What drives count, by their places.
pub(super) type Counts = BTreeMap<String, Vec<String>>;

/// Tells of rows and of counters. How many rows there were.
pub(super) fn put(mut parts: Vec<String>, counts: &Counts, program: &str, machine: &mut Machine) -> usize {
    let told = parts.len();
    // A group of drives is told of where the volumes of its controller are not.
    let volumes = parts.iter().filter(|part| !is_group(part)).filter_map(|part| volume_of(part));
    let with_volumes: BTreeSet<String> = volumes.map(|(controller, _)| controller.to_owned()).collect();
    let is_of_volumes = |part: &str| volume_of(part).is_some_and(|(controller, _)| with_volumes.contains(controller));
    parts.retain(|part| !(is_group(part) && is_of_volumes(part)));
    parts.iter().for_each(|part| push_of_controller(program, part, machine));
    for (drive, counts) in counts {
        push_of_controller(program, &format!("drive {drive} counts {}", counts.join(", ")), machine);
    }
    told
}

/// Is it `/c0/e252/s2` or a place alike? Commands name it.
pub(super) fn is_place(text: &str) -> bool {
    let is_part = |part: &str| part.strip_prefix(['c', 'e', 's']).is_some_and(is_number);
    text.strip_prefix("/c").is_some_and(|_| text[1..].split('/').all(is_part))
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// How a volume's line begins.
const VOLUME: &str = "volume /c";

/// `0` and `v1 (RAID5) is Dgrd`, of a line of a volume.
fn volume_of(part: &str) -> Option<(&str, &str)> {
    part.strip_prefix(VOLUME)?.split_once('/')
}

/// Is a line of a group of drives, `volume /c0/d0 (RAID5) is Dgrd`?
fn is_group(part: &str) -> bool {
    volume_of(part).is_some_and(|(_, rest)| rest.starts_with('d'))
}

/// `252:2`, or ` :0` where there is no enclosure.
pub(super) fn drive(controller: u64, place: &str) -> Option<String> {
    let (enclosure, slot) = place.split_once(':').filter(|(_, slot)| is_number(slot))?;
    let enclosure = if is_number(enclosure) { format!("/e{enclosure}") } else { String::new() };
    Some(format!("/c{controller}{enclosure}/s{slot}"))
}

/// How a state that `storcli2` writes out is called where it is written short.
fn in_short(state: &str) -> &str {
    let long = [("Offline", "Offln"), ("Missing", "Msng"), ("Rebuild", "Rbld"), ("Bad", "UBad")];
    long.iter().find(|(own, _)| *own == state).map_or(state, |(_, short)| short)
}

/// What drives count that is worth a word.
pub(super) const COUNTERS: [&str; 3] =
    ["Media Error Count", "Predictive Failure Count", "S.M.A.R.T alert flagged by drive"];

pub(super) fn is_counted(line: &str, key: &str) -> bool {
    // `storcli2` writes every word of it large.
    let value = line
        .trim()
        .get(key.len()..)
        .filter(|_| line.trim().get(..key.len()).is_some_and(|own| own.eq_ignore_ascii_case(key)));
    let value = value.and_then(|rest| rest.trim().strip_prefix('=')).map(str::trim);
    value.is_some_and(|value| value == "Yes" || value.parse::<u64>().is_ok_and(|count| count > 0))
}

/// `volume /c0/v0 (RAID5) is Dgrd`, of a row `0/0   RAID5 Dgrd  RW …`.
pub(super) fn part(table: Table, controller: u64, line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, what, state) = match table {
        Table::Volumes => {
            let [place, level, state, ..] = words[..] else { return None };
            let (_, volume) = place.split_once('/').filter(|(_, volume)| is_number(volume))?;
            (format!("volume /c{controller}/v{volume}"), level.to_owned(), state)
        }
        Table::Groups | Table::Groups2 => {
            let [group, _, row, place, _, what, used, health, ..] = words[..] else { return None };
            let (state, is_drive) = (if matches!(table, Table::Groups2) { health } else { used }, what == "DRIVE");
            // Below a group its spans are told of in the same words.
            let name = match drive(controller, place).filter(|_| is_drive) {
                Some(place) => format!("drive {place}"),
                None if is_number(group) && (is_drive || row == "-") => {
                    format!("{} /c{controller}/d{group}", if is_drive { "drive" } else { "volume" })
                }
                None => return None,
            };
            (name, what.to_owned(), in_short(state))
        }
        Table::Drives | Table::Drives2 => {
            let [place, _, used, health, ..] = words[..] else { return None };
            let state = if matches!(table, Table::Drives2) { in_short(health) } else { used };
            let name = format!("drive {}", drive(controller, place)?);
            // The model is behind the size of a sector, and before whether the drive turns.
            let model =
                ["512B ", "4 KB ", "4KB "].iter().find_map(|size| line.split_once(size)).map_or("", |(_, rest)| rest);
            let model: Vec<&str> =
                model.split_whitespace().take_while(|word| !["U", "D", "T", "-"].contains(word)).collect();
            (name, model.join(" "), state)
        }
        Table::Batteries => {
            let [model, state, ..] = words[..] else { return None };
            (format!("cache /c{controller}"), model.to_owned(), state)
        }
        Table::Batteries2 => {
            let [kind, .., state] = words[..] else { return None };
            (format!("cache /c{controller}"), kind.to_owned(), state)
        }
        Table::Controllers => {
            let ([number, model, .., state], true) = (&words[..], words.len() > 3) else { return None };
            (format!("controller /c{}", Some(number).filter(|number| is_number(number))?), (*model).to_owned(), *state)
        }
    };
    state.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| format!("{name} ({what}) is {state}"))
}
