//! `wipefs` of a device, as the table that it prints since util-linux 2.33: all signatures that are on it.

use serde_json::json;

use super::{Machine, Text};

/// `DEVICE OFFSET        TYPE              UUID                                 LABEL`
pub(super) fn begins(line: &str) -> bool {
    line.split_whitespace().eq(HEADING)
}

const HEADING: [&str; 5] = ["DEVICE", "OFFSET", "TYPE", "UUID", "LABEL"];

/// What stands under each heading: cells may be empty, and only the last may have blanks.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let Some((heading, rows)) = text.lines.split_first() else { return 0 };
    let Some(starts) = HEADING.iter().map(|word| heading.find(word)).collect::<Option<Vec<usize>>>() else { return 0 };
    let mut told = 0;
    for row in rows {
        let cell = |at: usize| {
            let end = starts.get(at + 1).copied().unwrap_or(row.len()).min(row.len());
            row.get(starts[at].min(end)..end).map(str::trim).filter(|cell| !cell.is_empty())
        };
        let (Some(name), Some(offset), Some(kind)) = (cell(0), cell(1), cell(2)) else { continue };
        if !offset.starts_with("0x") {
            continue;
        }
        let Some(device) = machine.node_of(&format!("/dev/{name}")) else { continue };
        let said = json!({"device": device, "offset": offset, "type": kind, "uuid": cell(3), "label": cell(4)});
        let all = machine.probed.entry(device).or_default();
        if !all.contains(&said) {
            all.push(said);
        }
        told += 1;
    }
    told
}

/// It lists all that there is: what other texts tell of one signature is among it.
pub(super) fn put_all(machine: &mut Machine) {
    for (name, signatures) in std::mem::take(&mut machine.probed) {
        let line = format!("wipefs --no-act --json /dev/{name}");
        machine.runs.insert(line, json!({"signatures": signatures}).to_string());
    }
}
