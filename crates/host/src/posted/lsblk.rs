//! `lsblk`: a table whose columns somebody chose, or a JSON document with the same names.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::machine::LUKS;
use super::{Machine, Text};

/// What a column says of a device, by the column's name in capitals.
type Row = BTreeMap<String, String>;

/// A heading: all its words are names of columns, and one is `NAME` or `KNAME`.
pub(super) fn begins(line: &str) -> bool {
    let words = || line.split_whitespace();
    let is_column = |word: &str| {
        COLUMNS.contains(&word) || RIGHT.contains(&word) || VALUES.iter().any(|(column, _, _)| *column == word)
    };
    words().any(|word| ["NAME", "KNAME"].contains(&word)) && words().count() > 1 && words().all(is_column)
}

/// Columns that are used for what they are, or only known by name, besides those of [`RIGHT`].
const COLUMNS: [&str; 34] = [
    "NAME",
    "KNAME",
    "PATH",
    "MAJ:MIN",
    "MAJ",
    "MIN",
    "FSTYPE",
    "FSVER",
    "FSROOTS",
    "MOUNTPOINT",
    "MOUNTPOINTS",
    "LABEL",
    "UUID",
    "PTUUID",
    "PTTYPE",
    "PARTTYPE",
    "PARTTYPENAME",
    "PARTLABEL",
    "PARTUUID",
    "PARTFLAGS",
    "STATE",
    "OWNER",
    "GROUP",
    "MODE",
    "TYPE",
    "PKNAME",
    "HCTL",
    "TRAN",
    "SUBSYSTEMS",
    "VENDOR",
    "ID",
    "ID-LINK",
    "DISKSEQ",
    "MQ",
];

/// Is a cell of a column what it can be?
type Fits = fn(&str) -> bool;

fn flag(text: &str) -> bool {
    ["0", "1"].contains(&text)
}

fn number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn word(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
}

fn any(text: &str) -> bool {
    !text.is_empty()
}

/// Columns that tell what a file of a drive, an array or a mapping tells, and that file below its directory.
const VALUES: [(&str, &str, Fits); 15] = [
    ("ROTA", "queue/rotational", flag),
    ("LOG-SEC", "queue/logical_block_size", number),
    ("PHY-SEC", "queue/physical_block_size", number),
    ("MIN-IO", "queue/minimum_io_size", number),
    ("OPT-IO", "queue/optimal_io_size", number),
    ("RQ-SIZE", "queue/nr_requests", number),
    ("RA", "queue/read_ahead_kb", number),
    ("SCHED", "queue/scheduler", word),
    ("ZONED", "queue/zoned", word),
    ("ALIGNMENT", "alignment_offset", number),
    ("RO", "ro", flag),
    ("MODEL", "device/model", any),
    ("SERIAL", "device/serial", any),
    ("REV", "device/rev", any),
    ("WWN", "device/wwid", any),
];

/// Columns whose values end where their heading ends; the others begin where it begins (`disk-utils/lsblk.c`).
const RIGHT: [&str; 31] = [
    "FSAVAIL",
    "FSSIZE",
    "FSUSED",
    "FSUSE%",
    "RA",
    "RO",
    "RM",
    "HOTPLUG",
    "SIZE",
    "ALIGNMENT",
    "MIN-IO",
    "OPT-IO",
    "PHY-SEC",
    "LOG-SEC",
    "ROTA",
    "RQ-SIZE",
    "DISC-ALN",
    "DISC-GRAN",
    "DISC-MAX",
    "DISC-ZERO",
    "WSAME",
    "RAND",
    "DAX",
    "PARTN",
    "START",
    "ZONE-SZ",
    "ZONE-WGRAN",
    "ZONE-APP",
    "ZONE-NR",
    "ZONE-OMAX",
    "ZONE-AMAX",
];

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let Some((heading, rows)) = text.lines.split_first() else { return 0 };
    let mut above: Vec<Option<Device>> = Vec::new();
    let (mut told, mut lost) = (0, Vec::new());
    for line in rows {
        let Some((depth, row)) = cells(heading, line) else {
            lost.push(line.trim());
            continue;
        };
        // Further mount points stand on lines of their own.
        let Some(name) = row.get("NAME").or_else(|| row.get("KNAME")).filter(|name| !name.is_empty()) else { continue };
        above.truncate(depth);
        let under = above.last().cloned().flatten();
        let device = put(name, &row, under.as_ref(), machine);
        told += usize::from(device.is_some());
        above.resize(depth, None);
        above.push(device);
    }
    if let Some(first) = lost.first() {
        machine.refused.push(format!(
            "columns cannot be separated in {} of {} lines, as where a terminal was too narrow: post `lsblk -J -O`. The first \
             is `{first}`",
            lost.len(),
            rows.len()
        ));
    }
    told
}

/// The document that `-J` makes.
pub(super) fn read_document(devices: &[Value], under: Option<&Device>, machine: &mut Machine) -> usize {
    let mut told = 0;
    for device in devices.iter().filter_map(Value::as_object) {
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(flag) => Some(u8::from(*flag).to_string()),
            _ => None,
        };
        let row: Row = device
            .iter()
            .filter_map(|(key, value)| Some((key.to_uppercase(), text(value)?.trim().to_owned())))
            .collect();
        let Some(name) = row.get("NAME").or_else(|| row.get("KNAME")) else { continue };
        let found = put(name, &row, under, machine);
        told += usize::from(found.is_some());
        let children = device.get("children").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        told += read_document(children, found.as_ref(), machine);
    }
    told
}

/// A device that was told of, as those that stand on it need it.
#[derive(Debug, Clone)]
pub(super) struct Device {
    name: String,
    /// Of a LUKS volume its version, or nothing where no column tells.
    luks: Option<String>,
}

/// Types of mappings, whose names are not those of the kernel (`get_type` in `disk-utils/lsblk.c`).
const MAPPINGS: [&str; 5] = ["crypt", "lvm", "dm", "mpath", "raid"];

fn put(name: &str, row: &Row, under: Option<&Device>, machine: &mut Machine) -> Option<Device> {
    // `lsblk -p` shows whole paths.
    let name = name.trim_start_matches("/dev/").trim_start_matches("mapper/");
    let cell = |column: &str| row.get(column).map(String::as_str).filter(|text| !text.is_empty());
    let numbers = cell("MAJ:MIN").filter(|text| text.split(':').count() == 2 && text.split(':').all(number));
    let kind = cell("TYPE").unwrap_or_else(|| kind(name));
    let is_mapping = kind.is_empty() && under.is_some() && !row.contains_key("TYPE") && !is_numbered(name);
    let kind = if is_mapping { "dm" } else { kind };
    let kernel = match cell("KNAME").map(|name| name.trim_start_matches("/dev/")) {
        Some(kernel) => kernel.to_owned(),
        // A mapping that is told without its numbers has a name of its own all the same.
        None if MAPPINGS.contains(&kind) => match numbers {
            Some(numbers) => format!("dm-{}", numbers.split_once(':')?.1),
            None => machine.node_of(&format!("/dev/mapper/{name}"))?,
        },
        None => name.to_owned(),
    };
    let plain = kernel.chars().all(|c| c.is_ascii_alphanumeric() || "-_!".contains(c));
    if !plain || ["rom", "loop", ""].contains(&kind) {
        return None;
    }
    machine.block(&kernel);
    match (kind, under) {
        ("disk", _) if kernel.starts_with("nvme") => drop(machine.namespace(&kernel)),
        ("disk", _) if is_drive(&kernel) => machine.drive(&kernel),
        ("part", Some(drive)) => {
            machine.partition(&kernel, &drive.name);
            let digits = kernel.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            machine.block_file(&kernel, "partition", &kernel[digits..]);
        }
        (_, Some(under)) if kind != "part" => machine.stands_on(&kernel, &under.name),
        _ => {}
    }
    if kernel.starts_with("dm-") {
        machine.block_file(&kernel, "dm/name", name);
        if let Some(version) = under.filter(|_| kind == "crypt").and_then(|under| under.luks.as_deref()) {
            machine.block_file(&kernel, "dm/uuid", format!("{LUKS}{version}"));
        }
    } else if kind.starts_with("raid") || kind == "linear" {
        machine.block_file(&kernel, "md/level", kind);
    }
    cell("TRAN").into_iter().filter(|_| kind == "disk").for_each(|way| machine.attached(&kernel, way));
    // A partition has no files but this one of its own.
    let own = |column: &str| kind != "part" || column == "ALIGNMENT";
    for (column, file, fits) in VALUES.into_iter().filter(|(column, _, _)| own(column)) {
        let Some(value) = cell(column).filter(|value| fits(value)) else { continue };
        let file = if kernel.starts_with("nvme") && column == "REV" { "device/firmware_rev" } else { file };
        machine.told(&kernel, file, value);
    }
    // How much is trimmed at once is shortened for people, and only whether there is any of it matters.
    if let Some(most) = cell("DISC-MAX").filter(|_| kind != "part").and_then(roundly) {
        machine.cite(format!("/sys/block/{kernel}/queue/discard_max_bytes"));
        machine.rounded.insert((kernel.clone(), "queue/discard_max_bytes".to_owned()), most.to_string());
    }
    // Sizes that were shortened for people are not what the device has.
    let size = cell("SIZE").map(|size| if size == EXTENDED { "1024" } else { size });
    let sectors = size.and_then(|size| size.parse::<u64>().ok()).filter(|size| size.is_multiple_of(512));
    sectors.into_iter().for_each(|size| machine.block_file(&kernel, "size", (size / 512).to_string()));
    cell("START").filter(|start| number(start)).into_iter().for_each(|at| machine.block_file(&kernel, "start", at));
    if let Some(numbers) = numbers {
        machine.block_file(&kernel, "dev", numbers);
        put_signature(numbers, &cell, machine);
    } else if let Some(kind) = cell("FSTYPE") {
        let said = json!({"device": kernel, "type": kind, "uuid": cell("UUID")});
        machine.signatures.entry(kernel.clone()).or_insert(said);
    }
    let version = cell("FSVER").filter(|version| ["1", "2"].contains(version)).unwrap_or_default();
    Some(Device { name: kernel, luks: (cell("FSTYPE") == Some("crypto_LUKS")).then(|| version.to_owned()) })
}

/// `2T`, `512B`, `0`: bytes, as far as it tells.
fn roundly(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
    let power =
        u32::try_from(["B", "K", "M", "G", "T", "P"].iter().position(|own| *own == unit || unit.is_empty())?).ok()?;
    super::rounded(number, &['.', ','], 10 * power)
}

/// The only size that is shortened for people and whole all the same: the kernel gives an extended partition two sectors of 512 bytes
/// (`parse_extended` in its `block/partitions/msdos.c`), and of 512 bytes more or less `lsblk` shows another one.
const EXTENDED: &str = "1K";

/// What udev knows of it, which is where `lsblk` has it from.
fn put_signature<'r>(numbers: &str, cell: &impl Fn(&str) -> Option<&'r str>, machine: &mut Machine) {
    let facts = [
        ("FSTYPE", "ID_FS_TYPE"),
        ("UUID", "ID_FS_UUID"),
        ("LABEL", "ID_FS_LABEL"),
        ("PARTTYPE", "ID_PART_ENTRY_TYPE"),
    ];
    let facts = facts.iter().filter_map(|(column, key)| Some(format!("E:{key}={}", cell(column)?)));
    let text: Vec<String> = facts.collect();
    if cell("FSTYPE").or_else(|| cell("PARTTYPE")).is_some() {
        machine.file(format!("/run/udev/data/b{numbers}"), text.join("\n"));
    }
}

/// `loop0`, `mmcblk0p1`, `bcache0`: a driver's name and a number.
fn is_numbered(name: &str) -> bool {
    let driver = name.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let number = driver.trim_start_matches(|c: char| c.is_ascii_digit());
    let part = number.strip_prefix('p').unwrap_or_default();
    driver != name
        && driver != number
        && (number.is_empty() || part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty())
}

pub(super) fn is_drive(name: &str) -> bool {
    ["sd", "vd", "hd"].iter().any(|start| name.starts_with(start)) && !name.ends_with(|c: char| c.is_ascii_digit())
}

pub(super) fn is_namespace(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = name.strip_prefix("nvme").and_then(|rest| rest.split_once('n'));
    parts.is_some_and(|(one, two)| digits(one) && digits(two))
}

/// What a device is by its name, where no column tells; nothing where that is not sure.
fn kind(name: &str) -> &'static str {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_drive(name) || is_namespace(name) {
        return "disk";
    }
    if name.strip_prefix("md").is_some_and(digits) {
        return "md";
    }
    if drive_of(name).is_some() { "part" } else { "" }
}

/// `sda` of `sda1`, `nvme0n1` of `nvme0n1p2`.
pub(super) fn drive_of(name: &str) -> Option<&str> {
    let drive = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let of_nvme = || drive.strip_suffix('p').filter(|drive| is_namespace(drive));
    if drive != name && is_drive(drive) { Some(drive) } else { of_nvme().filter(|_| drive != name) }
}

/// The cells of a line, and how deep it hangs in the tree. A line whose cells do not fit under the headings has none.
fn cells(heading: &str, line: &str) -> Option<(usize, Row)> {
    let (heading, line): (Vec<char>, Vec<char>) = (heading.chars().collect(), line.chars().collect());
    let columns = spans(&heading);
    let mut row = Row::new();
    let mut end = line.len();
    let mut depth = 0;
    for (number, (name, from, to)) in columns.iter().enumerate().rev() {
        let begin = if number == 0 {
            0
        } else if line.len() <= *from {
            // Posts lose the blanks at the ends of lines.
            end
        } else if RIGHT.contains(&name.as_str()) {
            // The last word before the heading's end; nothing stands behind it that is its own.
            if end > *to && line.get(*to..end).is_some_and(|rest| rest.iter().any(|c| *c != ' ')) {
                return None;
            }
            let end = end.min(*to);
            let filled = line.get(..end).unwrap_or(&line);
            filled.iter().rposition(|c| *c == ' ').map_or(0, |at| at + 1).max(columns[number - 1].1 + 1)
        } else {
            *from
        };
        let begin = begin.min(end);
        if begin > 0 && begin < line.len() && line.get(begin - 1).is_some_and(|c| *c != ' ') {
            return None;
        }
        let cell: String = line.get(begin..end).unwrap_or_default().iter().collect();
        if name == "NAME" || number == 0 {
            let text = cell.trim_end();
            let bare = text.trim_start_matches(['│', '├', '└', '─', '|', '`', '-', ' ']);
            depth = (text.chars().count() - bare.chars().count()) / 2;
            row.insert(name.clone(), bare.to_owned());
        } else {
            row.insert(name.clone(), cell.trim().to_owned());
        }
        end = begin;
    }
    let fits = |column: &str, value: &str| {
        let known = VALUES.iter().find(|(name, _, _)| *name == column);
        value.is_empty() || known.is_none_or(|(_, _, fits)| fits(value))
    };
    let numbers = row.get("MAJ:MIN").is_none_or(|text| text.is_empty() || text.split(':').all(number));
    let name = row.get("NAME").or_else(|| row.get("KNAME")).is_some_and(|name| !name.contains(' '));
    let kind = row.get("TYPE").is_none_or(|kind| kind.is_empty() || word(kind));
    (name && numbers && kind && row.iter().all(|(column, value)| fits(column, value))).then_some((depth, row))
}

/// Words of a heading, each with where it begins and ends.
fn spans(heading: &[char]) -> Vec<(String, usize, usize)> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < heading.len() {
        let length = heading[at..].iter().take_while(|c| **c != ' ').count();
        if length > 0 {
            all.push((heading[at..at + length].iter().collect(), at, at + length));
        }
        at += length.max(1);
    }
    all
}
