//! What `storcli … J` prints: the tables of `storcli` as lists of rows, which are read as its tables are.

use serde_json::{Map, Value};

use super::{Machine, Text, storcli};

/// Lists, and the columns by which their rows are told, in the order in which a table has them.
const LISTS: [(&str, &[&str]); 10] = [
    ("TOPOLOGY", &["DG", "Arr", "Row", "EID:Slot", "DID", "Type", "State", "BT"]),
    ("TOPOLOGY", &["DG", "Span", "Row", "EID:Slot", "PID", "Type", "State", "Status"]),
    ("VD LIST", VOLUMES),
    ("Virtual Drives", VOLUMES),
    ("PD LIST", DRIVES),
    ("Drive Information", DRIVES),
    ("PD LIST", DRIVES2),
    ("Drive Information", DRIVES2),
    ("Cachevault_Info", BATTERIES),
    ("BBU_Info", BATTERIES),
];
const VOLUMES: &[&str] = &["DG/VD", "TYPE", "State"];
const DRIVES: &[&str] = &["EID:Slt", "DID", "State", "DG"];
const DRIVES2: &[&str] = &["EID:Slt", "PID", "State", "Status"];
const BATTERIES: &[&str] = &["Model", "State"];

pub(super) fn is_of(said: &Value) -> bool {
    said.pointer("/Controllers/0/Command Status").is_some()
}

pub(super) fn read(said: &Value, machine: &mut Machine) -> usize {
    let mut lines: Vec<String> = Vec::new();
    for controller in said.get("Controllers").and_then(Value::as_array).into_iter().flatten() {
        if let Some(number) = controller.pointer("/Command Status/Controller").and_then(Value::as_u64) {
            lines.push(format!("Controller = {number}"));
        }
        let Some(data) = controller.get("Response Data").and_then(Value::as_object) else { continue };
        for (list, columns) in LISTS {
            // A row may stand by itself, and of one drive its list is called after it: `Drive /c0/e252/s2`.
            let named = data.iter().filter(|(key, _)| *key == list || (list == "Drive Information" && is_drive(key)));
            let rows: Vec<String> = named.flat_map(|(_, value)| rows(value, columns)).collect();
            if !rows.is_empty() {
                lines.push(columns.join(" "));
                lines.extend(rows);
                lines.push(String::new());
            }
        }
        for (drive, state) in states(data) {
            lines.push(format!("{drive} :"));
            let counts = state.iter().map(|(key, value)| format!("{key} = {}", value.to_string().trim_matches('"')));
            lines.extend(counts);
        }
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    storcli::read(&Text { lines, ..Text::default() }, machine)
}

/// `Drive /c0/e252/s2`.
fn is_drive(key: &str) -> bool {
    key.strip_prefix("Drive /c").is_some_and(|rest| !rest.contains(' '))
}

/// Rows that have all of these columns, as a table has them. A cell that is empty or has blanks would shift those behind it.
fn rows(list: &Value, columns: &[&str]) -> Vec<String> {
    let cell = |row: &Value, column: &&str| match row.get(*column)? {
        Value::String(text) => {
            Some(text.split_whitespace().collect::<Vec<_>>().join("_")).filter(|text| !text.is_empty())
        }
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let row = |row: &Value| Some(columns.iter().map(|column| cell(row, column)).collect::<Option<Vec<_>>>()?.join(" "));
    list.as_array().into_iter().flatten().filter_map(row).collect()
}

/// `Drive /c0/e252/s2 State` with its counters, in whatever depth.
fn states(data: &Map<String, Value>) -> Vec<(&str, &Map<String, Value>)> {
    let below = data.values().filter_map(Value::as_object);
    let all = std::iter::once(data).chain(below).flatten();
    all.filter(|(key, _)| key.starts_with("Drive /c") && key.ends_with(" State"))
        .filter_map(|(key, value)| Some((key.as_str(), value.as_object()?)))
        .collect()
}
