//! `nvme smart-log`, and the same log as `smartctl` words it: as the document that `nvme smart-log -o json` makes.

use serde_json::{Map, Value};

use super::kept::Smart;
use super::{Machine, Text};

/// `Smart Log for NVME device:nvme0 namespace-id:ffffffff`.
pub(super) fn begins(line: &str) -> bool {
    line.starts_with("Smart Log for NVME device:")
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let first = text.lines.first().and_then(|line| line.split_once("device:")).map_or("", |(_, rest)| rest);
    let named = first.split_whitespace().next().filter(|name| name.starts_with("nvme"));
    let Some(said) = document(&text.lines) else {
        machine.refused.push("it tells no `critical_warning`".to_owned());
        return 0;
    };
    let name = named.or_else(|| text.device());
    machine.smart(name, None, Smart { is_nvme: true, runs: vec![(COMMAND, said)], ..Smart::default() });
    1
}

/// What says the same, without its device.
pub(super) const COMMAND: &str = "nvme smart-log -o json";

/// What a value is counted in.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    /// A number with commas, and the same in bytes behind it.
    Count,
    /// Percent.
    Percent,
    /// Degrees Celsius; the document has kelvins.
    Celsius,
}

/// Key of the document, and how `nvme` (old and new) and `smartctl` call it, in small letters with blanks for hyphens.
const FIELDS: [(&str, Unit, &[&str]); 15] = [
    ("critical_warning", Unit::Count, &["critical warning"]),
    ("temperature", Unit::Celsius, &["temperature"]),
    ("avail_spare", Unit::Percent, &["available spare"]),
    ("spare_thresh", Unit::Percent, &["available spare threshold"]),
    ("percent_used", Unit::Percent, &["percentage used"]),
    ("data_units_read", Unit::Count, &["data units read"]),
    ("data_units_written", Unit::Count, &["data units written"]),
    ("power_on_hours", Unit::Count, &["power on hours"]),
    ("unsafe_shutdowns", Unit::Count, &["unsafe shutdowns"]),
    ("media_errors", Unit::Count, &["media errors", "media and data integrity errors"]),
    ("num_err_log_entries", Unit::Count, &["num err log entries", "error information log entries"]),
    ("warning_temp_time", Unit::Count, &["warning temperature time", "warning comp. temperature time"]),
    ("critical_comp_time", Unit::Count, &["critical composite temperature time", "critical comp. temperature time"]),
    (
        "thm_temp1_trans_count",
        Unit::Count,
        &[
            "thermal management t1 trans count",
            "thermal temp. 1 transition count",
            "thermal management temp 1 transition count",
            "thm temp1 trans count",
        ],
    ),
    (
        "thm_temp2_trans_count",
        Unit::Count,
        &[
            "thermal management t2 trans count",
            "thermal temp. 2 transition count",
            "thermal management temp 2 transition count",
            "thm temp2 trans count",
        ],
    ),
];

/// The document; nothing where the first of its values is missing.
pub(super) fn document(lines: &[&str]) -> Option<Value> {
    let mut said = Map::new();
    for (key, value) in lines.iter().filter_map(|line| line.split_once(':')) {
        let name = key.to_lowercase().replace('_', " ");
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let Some((key, unit, _)) = FIELDS.iter().find(|(_, _, names)| names.contains(&name.as_str())) else { continue };
        if let Some(value) = number(value, *unit).filter(|_| !said.contains_key(*key)) {
            said.insert((*key).to_owned(), value.into());
        }
    }
    // They count as one, and one of them is less than both.
    let both = ["thm_temp1_trans_count", "thm_temp2_trans_count"];
    if !both.iter().all(|key| said.contains_key(*key)) {
        both.iter().for_each(|key| drop(said.remove(*key)));
    }
    said.contains_key("critical_warning").then_some(Value::Object(said))
}

/// `12,345 [6.32 GB]`, `100%`, `35 °C (308 K)`, `0x00`. What follows the number has to be what follows it there.
fn number(text: &str, unit: Unit) -> Option<u64> {
    let text = text.trim();
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == ',')).unwrap_or(text.len());
    let (digits, rest) = text.split_at(split);
    let value: u64 = digits.replace(',', "").parse().ok()?;
    let rest = rest.trim_start();
    match unit {
        Unit::Count => (rest.is_empty() || rest.starts_with(['[', '('])).then_some(value),
        Unit::Percent => rest.starts_with('%').then_some(value),
        Unit::Celsius => ["C", "°C", "º", "Celsius"].iter().any(|unit| rest.starts_with(unit)).then_some(value + 273),
    }
}
