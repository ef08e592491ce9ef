//! `nvme id-ctrl`, in words or as a document: as the document that `nvme id-ctrl -o json` makes.

use serde_json::{Map, Value};

use super::kept::Smart;
use super::{Machine, Text};

/// What says the same, without its device.
pub(super) const COMMAND: &str = "nvme id-ctrl -o json";

/// What is read of it. All of them have to be there: a text that lacks one is cut, and what is missing is not 0.
const KEYS: [&str; 10] = ["mdts", "wctemp", "cctemp", "tnvmcap", "sanicap", "nn", "fna", "vwc", "npss", "apsta"];

/// `NVME Identify Controller:`.
pub(super) fn begins(line: &str) -> bool {
    line.trim_end() == "NVME Identify Controller:"
}

/// A row of it, where somebody filtered the rest away: `mn        : Samsung SSD 980 PRO 1TB`.
pub(super) fn is_part(line: &str) -> bool {
    let key = line.split_once(" : ").map(|(key, _)| key.trim());
    key.is_some_and(|key| ["sn", "mn", "fr"].contains(&key) || KEYS.contains(&key))
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let pairs = text.lines.iter().filter_map(|line| line.split_once(':'));
    let mut said = Map::new();
    for (key, value) in pairs.map(|(key, value)| (key.trim(), value.trim())) {
        let value = match key {
            "sn" | "mn" | "fr" => Value::from(value),
            _ if KEYS.contains(&key) => match number(value) {
                Some(number) => Value::from(number),
                None => continue,
            },
            _ => continue,
        };
        said.entry(key.to_owned()).or_insert(value);
    }
    let said = Value::Object(said);
    if text.lines.first().is_some_and(|line| begins(line)) {
        return put(text.device(), &said, machine);
    }
    // Of a few rows only what drive it is counts: what is missing is not 0.
    let files = names(&said);
    let told = usize::from(!files.is_empty());
    machine.smart(text.device(), string(&said, "sn"), Smart { is_nvme: true, files, ..Smart::default() });
    told
}

fn string(said: &Value, key: &str) -> Option<String> {
    Some(said.get(key)?.as_str()?.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Model and firmware.
fn names(said: &Value) -> Vec<(&'static str, String)> {
    let files = [("device/model", string(said, "mn")), ("device/firmware_rev", string(said, "fr"))];
    files.into_iter().filter_map(|(file, value)| Some((file, value?))).collect()
}

/// The same of a document.
pub(super) fn put(name: Option<&str>, said: &Value, machine: &mut Machine) -> usize {
    if KEYS.iter().any(|key| said.get(key).is_none_or(Value::is_null)) {
        machine.refused.push("it is cut: what it does not tell is not 0".to_owned());
        return 0;
    }
    let files = names(said);
    let kept = said.as_object().into_iter().flatten().filter(|(key, _)| KEYS.contains(&key.as_str()));
    let kept = Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect());
    machine.smart(
        name,
        string(said, "sn"),
        Smart { is_nvme: true, files, runs: vec![(COMMAND, kept)], ..Smart::default() },
    );
    1
}

/// Decimal, or hexadecimal with `0x`; new versions have commas in what is long.
fn number(text: &str) -> Option<u64> {
    let text = text.replace(',', "");
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
