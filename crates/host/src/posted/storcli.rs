//! `storcli` and `perccli`: volumes and drives behind a RAID controller of Broadcom or Dell. Each that is not in order becomes a line among
//! messages, for nothing else tells of them.

use std::collections::BTreeMap;

use super::dmesg::push;
use super::{Machine, Text};

/// How such a line begins.
const START: &str = "storcli: ";

/// Headings of tables, and what their rows are of.
const TABLES: [(&[&str], Table); 4] = [
    (&["DG/VD", "TYPE", "State"], Table::Volumes),
    (&["EID:Slt", "DID", "State"], Table::Drives),
    (&["Model", "State"], Table::Batteries),
    (&["Ctl", "Model"], Table::Controllers),
];

#[derive(Debug, Clone, Copy)]
enum Table {
    Volumes,
    Drives,
    Batteries,
    Controllers,
}

impl Table {
    fn of(line: &str) -> Option<Self> {
        let is_it = |heading: &&[&str]| line.split_whitespace().take(heading.len()).eq(heading.iter().copied());
        TABLES.iter().find(|(heading, _)| is_it(heading)).map(|(_, table)| *table)
    }
}

/// `CLI Version = 007.1912.0000.0000 Nov 23, 2021`, `Controller = 0`, or the heading of a table where what is above was left away.
pub(super) fn begins(line: &str) -> bool {
    let is_heading = matches!(Table::of(line), Some(Table::Volumes | Table::Drives));
    is_heading || line.starts_with("CLI Version = ") || number(line, "Controller").is_some()
}

/// `Controller = 0`.
fn number(line: &str, key: &str) -> Option<u64> {
    line.trim().strip_prefix(key)?.trim_start().strip_prefix('=')?.trim().parse().ok()
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let mut controller = 0;
    let mut table = None;
    let mut has_rows = false;
    // The drive whose counters follow, and what each counts.
    let mut counted = None;
    let mut counts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut told = 0;
    for line in &text.lines {
        controller = number(line, "Controller").unwrap_or(controller);
        if line.trim().is_empty() {
            // A paste may have an empty line behind each.
            table = table.filter(|_| !has_rows);
        } else if let Some(begun) = Table::of(line) {
            (table, has_rows) = (Some(begun), false);
        } else if let Some(drive) = line.strip_prefix("Drive ").and_then(|rest| rest.strip_suffix(" State :")) {
            counted = drive.starts_with("/c").then_some(drive);
        } else if let Some(part) = table.and_then(|table| part(table, controller, line)) {
            told += 1;
            has_rows = true;
            push(&part, machine);
        } else if let Some(drive) = counted.filter(|_| COUNTERS.iter().any(|key| is_counted(line, key))) {
            counts.entry(drive).or_default().push(line.trim());
        }
    }
    for (drive, counts) in counts {
        push(&format!("{START}drive {drive} counts {}", counts.join(", ")), machine);
    }
    told
}

/// What drives count that is worth a word.
const COUNTERS: [&str; 3] = ["Media Error Count", "Predictive Failure Count", "S.M.A.R.T alert flagged by drive"];

fn is_counted(line: &str, key: &str) -> bool {
    let yes = || line.trim().strip_prefix(key).is_some_and(|rest| rest.trim() == "= Yes");
    number(line, key).is_some_and(|count| count > 0) || yes()
}

/// `storcli: volume /c0/v0 (RAID5) is Dgrd`, of a row `0/0   RAID5 Dgrd  RW …`.
fn part(table: Table, controller: u64, line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let (name, what, state) = match table {
        Table::Volumes => {
            let [place, level, state, ..] = words[..] else { return None };
            let (_, volume) = place.split_once('/').filter(|(_, volume)| is_number(volume))?;
            (format!("volume /c{controller}/v{volume}"), level.to_owned(), state)
        }
        Table::Drives => {
            let [place, _, state, ..] = words[..] else { return None };
            let (enclosure, slot) = place.split_once(':').filter(|(_, slot)| is_number(slot))?;
            let enclosure = if is_number(enclosure) { format!("/e{enclosure}") } else { String::new() };
            // The model is behind the size of a sector, and before whether the drive turns.
            let model =
                ["512B ", "4 KB ", "4KB "].iter().find_map(|size| line.split_once(size)).map_or("", |(_, rest)| rest);
            let model: Vec<&str> =
                model.split_whitespace().take_while(|word| !["U", "D", "T", "-"].contains(word)).collect();
            (format!("drive /c{controller}{enclosure}/s{slot}"), model.join(" "), state)
        }
        Table::Batteries => {
            let [model, state, ..] = words[..] else { return None };
            (format!("cache /c{controller}"), model.to_owned(), state)
        }
        Table::Controllers => {
            let ([number, model, .., state], true) = (&words[..], words.len() > 3) else { return None };
            (format!("controller /c{}", Some(number).filter(|number| is_number(number))?), (*model).to_owned(), *state)
        }
    };
    state.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| format!("{START}{name} ({what}) is {state}"))
}
