//! `zpool status -j`: as the text that `zpool status` prints.

use serde_json::{Map, Value};

use super::text::Text;
use super::{Machine, zpool};

/// Parts of a pool that are no plain data, as the document and as the text call them.
const PARTS: [(&str, &str); 5] =
    [("special", "special"), ("dedup", "dedup"), ("logs", "logs"), ("l2cache", "cache"), ("spares", "spares")];

/// Is a document one of `zpool status`?
pub(super) fn is_of(said: &Value) -> bool {
    said.pointer("/output_version/command").and_then(Value::as_str) == Some("zpool status")
}

pub(super) fn read(said: &Value, command: Option<&str>, machine: &mut Machine) -> usize {
    let pools = said.get("pools").and_then(Value::as_object);
    let mut told = 0;
    for (name, pool) in pools.into_iter().flatten() {
        let Some(text) = text(pool) else {
            machine.refused.push(format!("pool {name:?}: its names or numbers cannot be read without doubt"));
            continue;
        };
        let lines: Vec<&str> = text.lines().collect();
        told += zpool::read(&Text { lines, command, ..Text::default() }, machine);
    }
    told
}

/// A text of one line.
fn word<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str().filter(|text| !text.contains(char::is_control))
}

/// Numbers are text unless `--json-int` asks otherwise.
fn number(value: &Value, key: &str) -> Option<String> {
    match value.get(key)? {
        Value::String(text) => Some(text.clone()).filter(|text| is_word(text)),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Can it be one word of a row? One with a dash before it would be an option of a command.
fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('-') && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// A pool; nothing where devices do not hang in the tree (`--json-flat-vdevs`).
fn text(pool: &Value) -> Option<String> {
    let name = word(pool, "name").filter(|name| zpool::is_name(name))?;
    let mut out = format!("  pool: {name}\n state: {}\n", word(pool, "state")?);
    out.extend(scan(pool).map(|scan| format!("  scan: {scan}\n")));
    out.push_str("config:\n\n\tNAME STATE READ WRITE CKSUM\n");
    let root = pool.get("vdevs")?.as_object()?;
    rows(root, 0, &mut out)?;
    for (key, heading) in PARTS {
        let Some(part) = pool.get(key).and_then(Value::as_object).filter(|part| !part.is_empty()) else { continue };
        out.push_str(&format!("\t{heading}\n"));
        rows(part, 1, &mut out)?;
    }
    let known = match number(pool, "error_count").as_deref() {
        Some("0") => "No known data errors".to_owned(),
        Some(errors) => format!("{errors} data errors"),
        None => String::new(),
    };
    out.push_str(&format!("\nerrors: {known}\n"));
    Some(out)
}

/// More is no pool.
const DEEPEST: usize = 8;

fn rows(devices: &Map<String, Value>, depth: usize, out: &mut String) -> Option<()> {
    for (name, device) in devices {
        if depth > DEEPEST || device.get("parent").is_some() {
            return None;
        }
        let name = word(device, "name").or(Some(name)).filter(|name| is_word(name))?;
        let state = word(device, "state").filter(|state| is_word(state))?;
        let counters = ["read_errors", "write_errors", "checksum_errors"].map(|key| number(device, key));
        let counters = match counters {
            [Some(read), Some(write), Some(sums)] => format!(" {read} {write} {sums}"),
            // Spares that wait have none.
            [None, None, None] if state == "AVAIL" || state == "INUSE" => String::new(),
            _ => return None,
        };
        // One that is missing goes by its number, and the text says what it was.
        let was =
            word(device, "was").filter(|path| is_word(path)).map_or_else(String::new, |path| format!("  was {path}"));
        out.push_str(&format!("\t{}{name} {state}{counters}{was}\n", "  ".repeat(depth)));
        if let Some(below) = device.get("vdevs").and_then(Value::as_object) {
            rows(below, depth + 1, out)?;
        }
    }
    Some(())
}

/// What is read or filled, or was.
fn scan(pool: &Value) -> Option<String> {
    let said = pool.get("scan_stats")?;
    let (what, state) = (word(said, "function")?.to_lowercase(), word(said, "state")?);
    let done = if what == "scrub" { "scrub repaired" } else { "resilvered" };
    match state {
        "SCANNING" => Some(format!("{what} in progress since {}", word(said, "start_time")?)),
        "FINISHED" => Some(format!(
            "{done} {} with {} errors on {}",
            number(said, "processed")?,
            number(said, "errors")?,
            word(said, "end_time")?
        )),
        _ => None,
    }
}
