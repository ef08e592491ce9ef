//! What `storcli … J` prints: the rows of the tables of `storcli`, in lists or alone, below whatever keys the version of it has.

use serde_json::{Map, Value};

use super::Machine;
use super::storcli::{self, Counts, Table};

/// Columns by which a row is told, in the order in which its table has them. What is of two tables is of the first.
const ROWS: [(Table, &[&str]); 8] = [
    (Table::Groups, &["DG", "Arr", "Row", "EID:Slot", "DID", "Type", "State", "BT"]),
    (Table::Groups2, &["DG", "Span", "Row", "EID:Slot", "PID", "Type", "State", "Status"]),
    (Table::Volumes, &["DG/VD", "TYPE", "State"]),
    (Table::Drives, &["EID:Slt", "DID", "State", "DG"]),
    (Table::Drives2, &["EID:Slt", "PID", "State", "Status"]),
    // A model and a state are of much else.
    (Table::Batteries, &["Model", "State", "Temp"]),
    (Table::Batteries2, &["Type", "SubType", "Voltage(mV)", "Status"]),
    (Table::Controllers, &["Ctl", "Model", "Ports", "Hlth"]),
];

/// So many lists and objects that stand in each other are looked at. What both versions print has its rows in the fifth at most.
const DEEPEST: u32 = 8;

pub(super) fn is_of(said: &Value) -> bool {
    said.pointer("/Controllers/0/Command Status").is_some()
}

#[derive(Default)]
struct Found<'s> {
    rows: Vec<(Table, String)>,
    /// Drives, and their counters.
    counted: Vec<(String, &'s Map<String, Value>)>,
}

pub(super) fn read(said: &Value, program: &str, machine: &mut Machine) -> usize {
    let (mut parts, mut counts) = (Vec::new(), Counts::new());
    for controller in said.get("Controllers").and_then(Value::as_array).into_iter().flatten() {
        let number = controller.pointer("/Command Status/Controller").and_then(number);
        let mut found = Found::default();
        controller.get("Response Data").into_iter().for_each(|data| walk(data, DEEPEST, &mut found));
        let before = parts.len();
        for (table, row) in &found.rows {
            // A row of a controller has its number.
            let own = matches!(table, Table::Controllers).then_some(0);
            parts.extend(number.or(own).and_then(|number| storcli::part(*table, number, row)));
        }
        for (drive, state) in &found.counted {
            let said = storcli::COUNTERS.iter().filter_map(|key| {
                let line = format!("{key} = {}", cell(state, key)?);
                storcli::is_counted(&line, key).then_some(line)
            });
            let said: Vec<String> = said.collect();
            if !said.is_empty() {
                // Its key names it wholly, and a row within its controller.
                let whole = Some(drive.clone()).filter(|drive| storcli::is_place(drive));
                let place = whole.or_else(|| storcli::drive(number?, drive));
                place.into_iter().for_each(|place| drop(counts.insert(place, said.clone())));
            }
        }
        if number.is_none() && found.rows.iter().any(|(table, _)| !matches!(table, Table::Controllers)) {
            machine.refused.push("a controller has no number, so that nothing of it can be named".to_owned());
        } else if parts.len() == before && found.counted.is_empty() {
            let which = number.map_or_else(String::new, |number| format!(" {number}"));
            machine.refused.push(format!("no drive and no volume could be read of controller{which}"));
        }
    }
    storcli::put(parts, &counts, program, machine)
}

/// `storcli2` writes its number as text.
fn number(said: &Value) -> Option<u64> {
    said.as_u64().or_else(|| said.as_str()?.trim().parse().ok())
}

fn walk<'s>(value: &'s Value, deep: u32, found: &mut Found<'s>) {
    let Some(deep) = deep.checked_sub(1) else { return };
    if let Value::Array(list) = value {
        list.iter().for_each(|value| walk(value, deep, found));
    }
    let Value::Object(keys) = value else { return };
    // `storcli2` has a drive's counters in an object beside its row.
    let beside = || {
        let (state, row) = (keys.get("Drive Detailed Information")?.as_object()?, keys.get("Drive Information")?);
        let row = match row {
            Value::Array(rows) => rows.first().filter(|_| rows.len() == 1)?,
            row => row,
        };
        Some((cell(row.as_object()?, "EID:Slt")?, state))
    };
    found.counted.extend(beside());
    if let Some(row) = ROWS.iter().find_map(|(table, columns)| Some((*table, row(keys, columns)?))) {
        found.rows.push(row);
        return;
    }
    for (key, value) in keys {
        // `Drive /c0/e252/s2 State`.
        let drive = key.strip_prefix("Drive ").and_then(|rest| rest.strip_suffix(" State"));
        match (drive.filter(|drive| storcli::is_place(drive)), value) {
            (Some(drive), Value::Object(state)) => found.counted.push((drive.to_owned(), state)),
            _ => walk(value, deep, found),
        }
    }
}

/// A row as its table has it.
fn row(keys: &Map<String, Value>, columns: &[&str]) -> Option<String> {
    Some(columns.iter().map(|column| cell(keys, column)).collect::<Option<Vec<_>>>()?.join(" "))
}

/// A cell as one word: one that is empty or has blanks would shift those behind it.
fn cell(keys: &Map<String, Value>, column: &str) -> Option<String> {
    match keys.get(column)? {
        Value::String(text) if text.trim().is_empty() => Some("-".to_owned()),
        Value::String(text) => Some(text.split_whitespace().collect::<Vec<_>>().join("_")),
        Value::Number(number) => Some(number.to_string()),
        Value::Null => Some("-".to_owned()),
        _ => None,
    }
}
