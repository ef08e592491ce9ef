//! `nvme list` as a table or a document, and `nvme id-ns` in words.

use serde_json::{Value, json};

use super::kept::Smart;
use super::{Machine, Text};

/// `Node   SN   Model …`, over a line of hyphens that shows how wide each column is.
pub(super) fn begins_list(line: &str) -> bool {
    line.starts_with("Node ") && ["SN", "Model", "Format"].iter().all(|word| line.contains(word))
}

pub(super) fn read_list(text: &Text, machine: &mut Machine) -> usize {
    let [heading, rule, rows @ ..] = &text.lines[..] else { return 0 };
    let is_rule = !rule.is_empty() && rule.chars().all(|c| c == '-' || c == ' ');
    if !is_rule {
        machine
            .refused
            .push("the line of hyphens under the headings is missing, so where columns begin is not known".to_owned());
        return 0;
    }
    let columns = columns(rule);
    let mut told = 0;
    for row in rows.iter().filter(|row| row.starts_with("/dev/")) {
        let row: Vec<char> = row.chars().collect();
        // A value that reaches over its column moved all that follow.
        let straight = columns.iter().all(|(_, to)| row.get(*to).is_none_or(|c| *c == ' '));
        let cell = |name: &str| {
            let heading: Vec<char> = heading.chars().collect();
            let (from, to) = columns.iter().find(|(from, to)| {
                let end = (*to).min(heading.len());
                heading.get(*from..end).is_some_and(|own| own.iter().collect::<String>().trim() == name)
            })?;
            let cell: String = row.get(*from..(*to).min(row.len()))?.iter().collect();
            Some(cell.trim().to_owned()).filter(|cell| !cell.is_empty())
        };
        let Some(name) =
            cell("Node").filter(|_| straight).and_then(|node| node.strip_prefix("/dev/").map(ToOwned::to_owned))
        else {
            machine.refused.push("a line does not fit under the headings".to_owned());
            continue;
        };
        put(&name, cell("SN"), cell("Model"), cell("FW Rev"), machine);
        if let Some((block, metadata)) = cell("Format").as_deref().and_then(format) {
            machine.block_file(&name, "queue/logical_block_size", block.to_string());
            machine.block_file(&name, "metadata_bytes", metadata.to_string());
        }
        told += 1;
    }
    told
}

fn columns(rule: &str) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = Vec::new();
    for (at, c) in rule.chars().enumerate() {
        match all.last_mut() {
            Some((_, to)) if c == '-' && *to == at => *to = at + 1,
            _ if c == '-' => all.push((at, at + 1)),
            _ => {}
        }
    }
    all
}

/// `4 KiB +  0 B` or `512   B +  0 B`: bytes of data and of metadata.
fn format(text: &str) -> Option<(u64, u64)> {
    let bytes = |text: &str| {
        let mut words = text.split_whitespace();
        let number: u64 = words.next()?.parse().ok()?;
        match (words.next()?, words.next()) {
            ("B", None) => Some(number),
            ("KiB", None) => number.checked_mul(1024),
            _ => None,
        }
    };
    let (data, metadata) = text.split_once('+')?;
    Some((bytes(data)?, bytes(metadata)?))
}

fn put(name: &str, serial: Option<String>, model: Option<String>, firmware: Option<String>, machine: &mut Machine) {
    // `/dev/nvme0n1` and not `/dev/nvme0c0n1` or a character device.
    let Some(controller) = machine.namespace(name) else {
        machine.refused.push(format!("`{name}` is no name of a namespace"));
        return;
    };
    for (file, value) in [("serial", serial), ("model", model), ("firmware_rev", firmware)] {
        let Some(value) = value else { continue };
        if machine.is_first(name, &format!("device/{file}")) {
            machine.block_file(name, &format!("device/{file}"), value.clone());
            machine.file(format!("/sys/class/nvme/{controller}/{file}"), value);
        }
    }
}

/// `nvme list -o json`: one object for each namespace; newer versions make a tree of subsystems of it.
pub(super) fn read_documents(devices: &[Value], machine: &mut Machine) -> usize {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(|text| text.trim().to_owned());
    let list = |value: &Value, key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut told = 0;
    for device in devices {
        if let Some(name) =
            text(device, "DevicePath").and_then(|path| path.strip_prefix("/dev/").map(ToOwned::to_owned))
        {
            put(&name, text(device, "SerialNumber"), text(device, "ModelNumber"), text(device, "Firmware"), machine);
            if let Some(block) = device.get("SectorSize").and_then(Value::as_u64) {
                machine.block_file(&name, "queue/logical_block_size", block.to_string());
            }
            told += 1;
        }
        for controller in list(device, "Subsystems").iter().flat_map(|system| list(system, "Controllers")) {
            for namespace in list(&controller, "Namespaces") {
                let Some(name) = text(&namespace, "NameSpace") else { continue };
                let fields = ["SerialNumber", "ModelNumber", "Firmware"].map(|key| text(&controller, key));
                let [serial, model, firmware] = fields;
                put(&name, serial, model, firmware, machine);
                told += 1;
            }
        }
    }
    told
}

/// What asks for the volatile cache.
pub(super) const FEATURE: &str = "nvme get-feature -f 6";

/// `get-feature:0x06 (Volatile Write Cache), Current value:0x00000001`.
pub(super) fn begins_feature(line: &str) -> bool {
    ["get-feature:0x6 ", "get-feature:0x06 "].iter().any(|start| line.starts_with(start))
}

pub(super) fn read_feature(text: &Text, machine: &mut Machine) -> usize {
    let said = text.lines.first().map_or_else(String::new, |line| (*line).to_owned());
    machine.smart(text.device(), None, Smart { is_nvme: true, runs: vec![(FEATURE, said.into())], ..Smart::default() });
    1
}

/// `NVME Identify Namespace 1:`.
pub(super) fn begins_namespace(line: &str) -> bool {
    line.starts_with("NVME Identify Namespace ")
}

/// The formats, where all of them are there: one that was cut away may be the better one.
pub(super) fn read_namespace(text: &Text, machine: &mut Machine) -> usize {
    let value = |key: &str| {
        let mut pairs = text.lines.iter().filter_map(|line| line.split_once(':'));
        number(pairs.find(|(name, _)| name.trim() == key)?.1.trim())
    };
    let formats: Vec<Value> = text.lines.iter().filter_map(|line| lba_format(line)).collect();
    let (Some(last), Some(in_use)) = (value("nlbaf"), value("flbas")) else {
        machine.refused.push("it tells neither how many formats there are nor which is in use".to_owned());
        return 0;
    };
    if u64::try_from(formats.len()).ok() != last.checked_add(1) {
        machine.refused.push(format!("it has {} formats of {}: it is cut", formats.len(), last.saturating_add(1)));
        return 0;
    }
    let mut said = json!({"lbafs": formats, "flbas": in_use});
    if let (Some(protection), Some(object)) = (value("dps"), said.as_object_mut()) {
        object.insert("dps".to_owned(), protection.into());
    }
    let smart = Smart { is_nvme: true, runs: vec![("nvme id-ns -o json", said)], ..Smart::default() };
    machine.smart(text.device(), None, smart);
    1
}

/// `0x1f`, `31`.
fn number(text: &str) -> Option<u64> {
    text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |digits| u64::from_str_radix(digits, 16).ok())
}

/// `lbaf  0 : ms:0   lbads:9  rp:0x2 (in use)`, or with `-H` `LBA Format  0 : Metadata Size: 0   bytes - Data Size: 512
/// bytes - Relative Performance: 0x2 Good (in use)`.
fn lba_format(line: &str) -> Option<Value> {
    let after =
        |key: &str| number(line.split_once(key)?.1.trim_start().split(|c: char| !c.is_ascii_alphanumeric()).next()?);
    // What two texts that ran into one another left may end in a number that is another.
    let tail = line.split_once("rp:").or_else(|| line.split_once("Relative Performance:"))?.1.trim_start();
    let tail: Vec<&str> = tail.split_whitespace().skip(1).collect();
    if !tail.iter().all(|word| ["(in", "use)", "Best", "Better", "Good", "Degraded"].contains(word)) {
        return None;
    }
    if line.starts_with("lbaf ") {
        return Some(json!({"ms": after(" ms:")?, "ds": after("lbads:")?, "rp": after("rp:")?}));
    }
    if !line.starts_with("LBA Format ") {
        return None;
    }
    let data = after("Data Size:")?;
    let power = if data.is_power_of_two() { data.trailing_zeros() } else { 0 };
    Some(json!({"ms": after("Metadata Size:")?, "ds": power, "rp": after("Relative Performance:")?}))
}
