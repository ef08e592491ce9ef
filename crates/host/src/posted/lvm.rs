//! `lvs`, `vgs` and `pvs` as tables with the columns that they print where nobody asks for others: as the reports in JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::kept::Lvm;
use super::{Machine, Text, rounded};
use crate::inspect::lvm_reports;

/// How each of the three begins its heading.
const HEADINGS: [(&str, [&str; 3]); 3] =
    [("lv", ["LV", "VG", "Attr"]), ("vg", ["VG", "#PV", "#LV"]), ("pv", ["PV", "VG", "Fmt"])];

fn kind(line: &str) -> Option<&'static str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let usual = HEADINGS.iter().find(|(_, heading)| words.starts_with(heading)).map(|(kind, _)| *kind);
    // With `-o` columns stand in whatever order, and the group may be left away.
    let has = |word: &str| words.contains(&word);
    let is_of_volumes = ["LV", "VG"].contains(words.first()?) && has("LV") && has("Attr");
    let is_table = has("VG") || words.iter().any(|word| *word == "LSize" || word.contains('%'));
    usual.or((is_of_volumes && is_table).then_some("lv"))
}

pub(super) fn begins(line: &str) -> bool {
    kind(line).is_some()
}

/// More rows of a kind are not read: nobody has them, and they are held against each other.
pub(super) const MOST: usize = 4096;

/// `794.30g`, `<319,61g`: rounded, in binary units, with the point that the machine's language has.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let text = text.trim_start_matches('<');
    let power = [('b', 0), ('k', 10), ('m', 20), ('g', 30), ('t', 40), ('p', 50)];
    let (number, power) = power.iter().find_map(|(unit, power)| Some((text.strip_suffix(*unit)?, *power)))?;
    rounded(number, &POINTS, power)
}

/// `<794.30 GiB`, as `lvdisplay` and `vgdisplay` have it.
pub(super) fn bytes_with_unit(text: &str) -> Option<u64> {
    let (number, unit) = text.trim().split_once(' ')?;
    let unit = unit.trim().strip_suffix("iB").or_else(|| unit.trim().strip_suffix('B'))?;
    bytes(&format!("{number}{}", if unit.is_empty() { "b".to_owned() } else { unit.to_lowercase() }))
}

/// `WARNING: VG data is missing PV UUID (last written to /dev/sdb).`, before and among whatever a command of LVM prints: the group and the device.
pub(super) fn missing(line: &str) -> Option<(String, String)> {
    let (group, rest) = line.trim().strip_prefix("WARNING: VG ")?.split_once(" is missing PV ")?;
    let device = rest.split([' ', '.']).next()?;
    let is_plain =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c));
    (is_plain(group) && is_plain(device)).then(|| (group.to_owned(), device.to_owned()))
}

/// What stands for the name of a group that no column tells.
const GROUP: &str = "VG";

/// What stands for the name of a device that is missing.
const MISSING: &str = "[unknown]";

const POINTS: [char; 2] = ['.', ','];

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let Some((heading, kind)) = text.lines.first().and_then(|line| Some((*line, kind(line)?))) else { return 0 };
    let columns: Vec<&str> = heading.split_whitespace().collect();
    let is_usual = columns.starts_with(&HEADINGS[0].1);
    let mut told = 0;
    for line in &text.lines[1..] {
        // As versions before 2.02.170 call a device that is missing.
        let line = &line.replacen("unknown device", MISSING, 1);
        let words: Vec<&str> = line.split_whitespace().collect();
        let row = match kind {
            "lv" if is_usual => volume(&words, &columns),
            "lv" => volume_by_place(line, heading),
            "vg" => group(&words),
            _ => physical(&words),
        };
        let Some(row) = row else { continue };
        if let ("pv", Some(name)) = (kind, row.get("pv_name").and_then(Value::as_str)) {
            drop(machine.node_of(name));
        }
        // Devices that are missing have one name.
        let rows = machine.lvm.0.get(kind).map_or(0, BTreeMap::len);
        let number = if words[0] == MISSING { rows } else { 0 };
        let name = row.get("lv_name").and_then(Value::as_str).unwrap_or(words[0]);
        let key = format!("{name} {} {number}", row["vg_name"]);
        machine.cite_program(&format!("{kind}s"));
        let doubts = machine.lvm.keep(kind, key, row);
        machine.refused.extend(doubts);
        told += 1;
    }
    told
}

/// Name, group and attributes stand first and are never empty. Of the numbers the share of data comes first, then that of metadata;
/// volumes without either have none, or how far a mirror is (lvs(8)).
fn volume(words: &[&str], columns: &[&str]) -> Option<Value> {
    let [name, group, attributes, rest @ ..] = words else { return None };
    (attributes.len() == 10 && attributes.is_ascii()).then_some(())?;
    let size = rest.first().filter(|_| columns.get(3) == Some(&"LSize")).and_then(|size| bytes(size));
    let column = |name| columns.iter().position(|column| *column == name);
    let in_order = column("Data%").is_some_and(|data| column("Meta%").is_none_or(|metadata| data < metadata));
    let mut shares = rest.iter().filter(|word| is_share(word)).filter(|_| in_order);
    let mut share =
        |kinds: &str| if attributes.starts_with(|kind| kinds.contains(kind)) { shares.next() } else { None };
    let mut told = |kinds: &str| share(kinds).map(|share| share.replace(',', "."));
    let (data, metadata) = (told("tVsSd"), told("t"));
    Some(json!({
        "lv_name": name, "vg_name": group, "lv_attr": attributes, "lv_size": size.map(|size| size.to_string()),
        "data_percent": data, "metadata_percent": metadata,
    }))
}

/// `98.71`, with the point that the machine's language has.
fn is_share(word: &str) -> bool {
    word.split_once(POINTS).is_some_and(|(whole, part)| {
        part.len() == 2 && [whole, part].iter().all(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// Where columns stand in another order a cell is what stands under its heading: each begins where that does, or further to the right, if
/// no blanks were lost.
fn volume_by_place(line: &str, heading: &str) -> Option<Value> {
    let starts: Vec<usize> = heading.split_whitespace().map(|word| offset(heading, word)).collect();
    let is_straight = |at: usize| {
        at == 0 || line.is_char_boundary(at) && line.as_bytes().get(at - 1).is_none_or(|byte| *byte == b' ')
    };
    let cell = |name: &str| {
        let at = heading.split_whitespace().position(|word| word == name)?;
        // One that is too wide moves those behind it.
        starts.iter().take(at + 2).all(|start| is_straight(*start)).then_some(())?;
        let to = starts.get(at + 1).copied().unwrap_or(line.len()).min(line.len());
        line.get(starts[at].min(to)..to).map(str::trim).filter(|cell| !cell.is_empty())
    };
    let group = if heading.split_whitespace().any(|word| word == "VG") { cell("VG")? } else { GROUP };
    let (name, attributes) = (cell("LV")?, cell("Attr")?);
    (attributes.len() == 10 && attributes.is_ascii()).then_some(())?;
    let share = |name: &str, kinds: &str| {
        let of_kind = attributes.starts_with(|kind| kinds.contains(kind));
        cell(name).filter(|cell| of_kind && is_share(cell)).map(|cell| cell.replace(',', "."))
    };
    Some(json!({
        "lv_name": name, "vg_name": group, "lv_attr": attributes,
        "lv_size": cell("LSize").and_then(bytes).map(|size| size.to_string()),
        "data_percent": share("Data%", "tVsSd"), "metadata_percent": share("Meta%", "t"),
    }))
}

/// Where a part of a line begins.
fn offset(line: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(line.as_ptr().addr())
}

/// `vg0   2   1   0 wz-pn- 1.82t    0`: a `p` in the attributes is a group of which a part is missing (vgs(8)).
fn group(words: &[&str]) -> Option<Value> {
    let [name, volumes, _, _, attributes, size, free] = words else { return None };
    let volumes: u32 = volumes.parse().ok()?;
    (attributes.len() == 6).then_some(())?;
    let missing = u32::from(attributes.contains('p'));
    let free = if *free == "0" { Some(0) } else { bytes(free) };
    Some(json!({
        "vg_name": name, "vg_size": bytes(size)?.to_string(), "vg_free": free?.to_string(),
        "vg_missing_pv_count": missing.to_string(), "volumes": volumes,
    }))
}

/// `/dev/sdb1  vg0 lvm2 a--  931.51g    0`: an `m` in the attributes is one that is missing (pvs(8)). One without a group has no `VG`.
fn physical(words: &[&str]) -> Option<Value> {
    let [name, group, "lvm2", attributes, size, _] = words else { return None };
    (attributes.len() == 3).then_some(())?;
    Some(json!({
        "pv_name": name, "vg_name": group, "pv_size": bytes(size)?.to_string(), "missing": attributes.ends_with('m'),
    }))
}

const MISSING_COUNT: &str = "vg_missing_pv_count";

/// What rows are judged by.
const JUDGED: [&str; 4] = [MISSING_COUNT, "missing", "data_percent", "metadata_percent"];

/// `vgs` only tells that some are missing, and `vgdisplay` how many.
fn is_same(field: &str, one: &Value, other: &Value) -> bool {
    one == other || (field == MISSING_COUNT && *one != "0" && *other != "0")
}

/// Words for the health of an array, and their letter among the attributes (lvs(8)).
const HEALTH: [(&str, char); 3] = [("partial", 'p'), ("refresh needed", 'r'), ("mismatches exist", 'm')];

/// Volumes of `lvs --reportformat json`, with whatever columns.
pub(super) fn read_report(rows: &[Value], machine: &mut Machine) -> usize {
    let mut told = 0;
    for row in rows.iter().take(MOST) {
        let text = |key: &str| row.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
        let full = text("lv_full_name").and_then(|name| name.split_once('/'));
        let own = text("vg_name").zip(text("lv_name")).or(full);
        let Some((group, name)) =
            own.filter(|(group, name)| ![*group, *name].iter().any(|name| name.contains(['"', '\n'])))
        else {
            continue;
        };
        let letter = HEALTH.iter().find(|(words, _)| text("lv_health_status") == Some(words)).map(|(_, letter)| letter);
        let is_array = text("lv_layout").is_some_and(|layout| layout.starts_with("raid"));
        let attributes = match (text("lv_attr"), letter) {
            (Some(attributes), _) => attributes.to_owned(),
            (None, Some(letter)) if is_array => format!("r-------{letter}-"),
            _ => String::new(),
        };
        let share = |key: &str| text(key).filter(|share| is_share(share)).map(|share| share.replace(',', "."));
        machine.cite_program("lvs");
        let row = json!({
            "lv_name": name, "vg_name": group, "lv_attr": attributes,
            "lv_size": text("lv_size").and_then(bytes).map(|size| size.to_string()),
            "data_percent": share("data_percent"), "metadata_percent": share("metadata_percent"),
        });
        let doubts = machine.lvm.add("lv", row);
        machine.refused.extend(doubts);
        told += 1;
    }
    told
}

impl Lvm {
    /// A row, unless another text has told of it. Where both tell differently what is judged, it is not known: they are of two machines,
    /// or of two times.
    fn keep(&mut self, kind: &'static str, key: String, row: Value) -> Vec<String> {
        let rows = self.0.entry(kind).or_default();
        let is_full = rows.len() >= MOST;
        let Some(known) = rows.get_mut(&key) else {
            if !is_full {
                rows.insert(key, row);
            }
            return Vec::new();
        };
        let name = ["lv_name", "pv_name", "vg_name"].into_iter().find_map(|name| row.get(name)?.as_str());
        let name = name.unwrap_or_default();
        let mut doubts = Vec::new();
        for field in JUDGED {
            let (Some(one), Some(other)) = (known.get(field), row.get(field)) else { continue };
            if one.is_null() || other.is_null() || is_same(field, one, other) {
                continue;
            }
            let told = [one, other].map(|value| value.to_string().replace('"', ""));
            doubts.push(format!("`{field}` of `{name}` is {} in one text and {} in another", told[0], told[1]));
            known[field] = Value::Null;
        }
        doubts
    }

    /// A volume or a group.
    pub(super) fn add(&mut self, kind: &'static str, row: Value) -> Vec<String> {
        let name = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let group = name("vg_name");
        let own = if kind == "vg" { group.clone() } else { name("lv_name") };
        self.keep(kind, format!("{own} \"{group}\" 0"), row)
    }

    /// All three reports. A group that only its volumes or its devices name has a row of its own.
    pub(super) fn put(self, machine: &mut Machine) {
        if self.0.is_empty() && self.1.is_empty() {
            return;
        }
        let rows = |kind: &str| self.0.get(kind).into_iter().flat_map(BTreeMap::values).cloned().collect::<Vec<_>>();
        let (volumes, mut physical, told) = (rows("lv"), rows("pv"), rows("vg"));
        let mut groups: BTreeMap<String, Value> = BTreeMap::new();
        for row in told.into_iter().chain(volumes.iter().chain(&physical).cloned()) {
            let Some(name) = row.get("vg_name").and_then(Value::as_str).map(ToOwned::to_owned) else { continue };
            let row = if row.get("volumes").is_some() { row } else { json!({"vg_name": name}) };
            groups.entry(name).or_insert(row);
        }
        for (name, _) in &self.1 {
            groups.entry(name.clone()).or_insert_with(|| json!({"vg_name": name}));
        }
        // What two texts tell differently of one group is not known of any: there is no list of them.
        let is_null = |row: &Value, field: &str| row.get(field).is_some_and(Value::is_null);
        let is_doubtful = groups.values().any(|row| is_null(row, MISSING_COUNT))
            || physical.iter().any(|row| is_null(row, "missing"));
        for (name, row) in &mut groups {
            let of = |row: &&Value| row["vg_name"] == name.as_str();
            let missing = physical.iter().filter(of).filter(|row| row["missing"] == true).count();
            // Health of a volume: a part of it is missing.
            let partial = volumes
                .iter()
                .filter(of)
                .any(|row| row["lv_attr"].as_str().and_then(|text| text.chars().nth(8)) == Some('p'));
            let least = row["vg_missing_pv_count"].as_str().and_then(|count| count.parse().ok()).unwrap_or(0);
            let warned = self.1.iter().filter(|(group, _)| group == name).count();
            row["vg_missing_pv_count"] = missing.max(warned).max(least).max(usize::from(partial)).to_string().into();
            // Those that no text names are there all the same.
            let all = row["volumes"].as_u64().and_then(|all| usize::try_from(all).ok()).unwrap_or(0);
            let known = physical.iter().filter(of).count();
            let most = MOST.saturating_sub(physical.len()).saturating_add(known);
            physical.extend((known..all.min(most)).map(|_| json!({"vg_name": name, "pv_name": MISSING})));
        }
        if !machine.has_blocks() {
            drop(machine.node_of("/dev/mapper/NAME"));
        }
        let groups = groups.into_values().collect();
        for (command, (key, rows)) in
            lvm_reports().into_iter().zip([("vg", groups), ("pv", physical), ("seg", volumes)])
        {
            if key != "vg" || !is_doubtful {
                machine.run(command, json!({"report": [{ key: rows }]}).to_string());
            }
        }
    }
}
