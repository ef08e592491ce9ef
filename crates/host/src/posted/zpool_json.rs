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
    for pool in pools.into_iter().flat_map(Map::values) {
        let Some(text) = text(pool) else {
            machine.refused.push("a pool of it cannot be understood".to_owned());
            continue;
        };
        let lines: Vec<&str> = text.lines().collect();
        told += zpool::read(&Text { lines, command, ..Text::default() }, machine);
    }
    told
}

fn word<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

/// Numbers are text unless `--json-int` asks otherwise.
fn number(value: &Value, key: &str) -> String {
    match value.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => "0".to_owned(),
    }
}

/// A pool; nothing where devices do not hang in the tree (`--json-flat-vdevs`).
fn text(pool: &Value) -> Option<String> {
    let mut out = format!("  pool: {}\n state: {}\n", word(pool, "name")?, word(pool, "state")?);
    out.extend(scan(pool).map(|scan| format!("  scan: {scan}\n")));
    out.push_str("config:\n\n\tNAME STATE READ WRITE CKSUM\n");
    let root = pool.get("vdevs")?.as_object()?;
    rows(root, 0, &mut out)?;
    for (key, heading) in PARTS {
        let Some(part) = pool.get(key).and_then(Value::as_object).filter(|part| !part.is_empty()) else { continue };
        out.push_str(&format!("\t{heading}\n"));
        rows(part, 1, &mut out)?;
    }
    let errors = number(pool, "error_count");
    let known = if errors == "0" { "No known data errors".to_owned() } else { format!("{errors} data errors") };
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
        let name = word(device, "name").unwrap_or(name);
        let counters = ["read_errors", "write_errors", "checksum_errors"].map(|key| number(device, key)).join(" ");
        // One that is missing goes by its number, and the text says what it was.
        let was = word(device, "was").map_or_else(String::new, |path| format!("  was {path}"));
        out.push_str(&format!("\t{}{name} {} {counters}{was}\n", "  ".repeat(depth), word(device, "state")?));
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
            "{done} {} in 00:00:00 with {} errors on {}",
            number(said, "processed"),
            number(said, "errors"),
            word(said, "end_time")?
        )),
        _ => None,
    }
}
