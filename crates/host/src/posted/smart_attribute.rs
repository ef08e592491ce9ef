//! A row of the table of attributes that `smartctl` prints, and what its raw value says.

use serde_json::{Value, json};

/// All that `smartctl -l scterc` prints begins so. Only ATA drives have it.
pub(super) const LIMITS: &str = "SCT Error Recovery Control";

/// The row as the document of `smartctl -j` has it; nothing where it cannot be understood.
pub(super) fn attribute(line: &str, brief: bool) -> Option<Value> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let id: u64 = words.first()?.parse().ok()?;
    // Old: ID NAME FLAG VALUE WORST THRESH TYPE UPDATED WHEN_FAILED RAW; brief: ID NAME FLAGS VALUE WORST THRESH FAIL RAW.
    let (failed, raw) = if brief { (6, 7) } else { (8, 9) };
    let failed = match *words.get(failed)? {
        "-" => "",
        "NOW" | "FAILING_NOW" => "now",
        "Past" | "In_the_past" => "past",
        _ => return None,
    };
    let pre_failure = if brief { words[2].starts_with('P') } else { words[6] == "Pre-fail" };
    let string = words.get(raw..)?.join(" ");
    Some(json!({
        "id": id,
        "name": words[1],
        "value": words[3].parse::<u64>().ok(),
        "flags": {"prefailure": pre_failure},
        "when_failed": failed,
        "raw": {"string": string, "value": of_three(id, &string).or_else(|| raw_value(&string))?},
    }))
}

/// `1 24 409`: three counters of 16 bits, from the highest to the lowest (`RAWFMT_RAW16` in smartmontools' `atacmds.cpp`), of attribute 188 for
/// drives that it knows.
fn of_three(id: u64, text: &str) -> Option<u64> {
    let words: Option<Vec<u16>> = text.split(' ').map(|word| word.parse().ok()).collect();
    let [high, middle, low] = words?[..] else { return None };
    (id == 188).then(|| u64::from(high) << 32 | u64::from(middle) << 16 | u64::from(low))
}

/// `31 (Min/Max 20/45)`, `12345h+10m+2.345s`, `0 0 0`: the first number, where what follows it is known.
fn raw_value(text: &str) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(split);
    let goes_on = rest.is_empty()
        || rest.starts_with(" (")
        || rest.starts_with("h+")
        || rest.starts_with('/')
        || rest.split_whitespace().all(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    number.parse().ok().filter(|_| goes_on)
}

/// A line of it where somebody filtered the rest away: a row of the table of attributes, what drive it is, or how long it tries.
pub(super) fn is_part(line: &str) -> bool {
    let is_row = attribute(line, false).is_some() || attribute(line, true).is_some();
    is_row
        || line.starts_with(LIMITS)
        || ["Model Family:", "Device Model:", "Model Number:", "Serial Number:"].iter().any(|key| line.starts_with(key))
}

/// Lines of `smartctl`.
const INSIDE: [&str; 6] = [
    "ID# ATTRIBUTE_NAME",
    "SMART overall-health self-assessment",
    "SMART Health Status:",
    "=== START OF READ SMART",
    "=== START OF SMART DATA",
    "SMART/Health Information (NVMe Log",
];

/// What only begins a text of `smartctl` where its beginning was left away.
pub(super) fn is_inside(line: &str) -> bool {
    INSIDE.iter().any(|start| line.starts_with(start))
}

/// Headings of the table of attributes, in its old and its brief form.
const HEADINGS: [&str; 2] =
    ["ID# ATTRIBUTE_NAME FLAG WHEN_FAILED RAW_VALUE", "ID# ATTRIBUTE_NAME FLAGS FAIL RAW_VALUE"];

/// The lines with the heading of the table where only rows of it were left.
pub(super) fn with_heading<'t>(lines: &[&'t str]) -> Vec<&'t str> {
    let mut all = lines.to_vec();
    let is_row = |brief: bool| lines.iter().position(|line| attribute(line, brief).is_some());
    let is_filtered = lines.first().is_some_and(|line| is_part(line));
    if let Some((at, heading)) = [false, true]
        .into_iter()
        .zip(HEADINGS)
        .find_map(|(brief, heading)| Some((is_row(brief)?, heading)))
        .filter(|_| is_filtered)
    {
        all.insert(at, heading);
    }
    all
}
