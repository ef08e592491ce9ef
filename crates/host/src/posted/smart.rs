//! `smartctl -x` and `-a`, in words, of SATA, SAS and NVMe drives: as the document that `smartctl -j -x` makes.

use serde_json::{Map, Value, json};

use super::kept::Smart;
use super::lsblk::is_drive;
use super::machine::CACHE;
use super::smart_attribute::{self, LIMITS, attribute};
use super::{Machine, Text, smart_log};
use crate::inspect::{SPECIFIED, is_of_freebsd};

/// What says the same, without its device.
pub(super) const COMMAND: &str = "smartctl -j -x";

/// `smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)`, `smartctl version 5.33 …`, or what comes after it where that was left away.
pub(super) fn begins(line: &str) -> bool {
    let rest = line.strip_prefix("smartctl ").map(|rest| rest.strip_prefix("version ").unwrap_or(rest));
    let version = rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    version || line.trim() == "=== START OF INFORMATION SECTION ===" || smart_attribute::is_inside(line)
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let is_begun = text.lines.first().is_some_and(|line| begins(line));
    let lines = if is_begun { text.lines.clone() } else { smart_attribute::with_heading(&text.lines) };
    let said = Said(&lines);
    // The version's line and the first heading each look like a beginning, and the first has nothing.
    if said.field("Serial Number").is_none() && said.field("Device Model").is_none() && !said.has_health() {
        if text.lines.len() > 4 {
            machine.refused.push("it tells neither what drive it is nor of its health".to_owned());
        }
        return 0;
    }
    for line in said.odd_rows() {
        machine.refused.push(format!("the attribute `{line}` cannot be understood, or is cut"));
    }
    let serial = said.field("Serial Number").map(ToOwned::to_owned);
    // Behind a RAID controller `/dev/sda` is the volume, and `-d megaraid,4` names the drive (smartctl(8)).
    let behind = text.command.is_some_and(|command| {
        command
            .split_once("-d ")
            .is_some_and(|(_, rest)| rest.split_whitespace().next().is_some_and(|kind| kind.contains(',')))
    });
    machine.smart(text.device().filter(|name| !behind && names_a_drive(name)), serial, said.smart());
    1
}

/// Is a name that of a drive? `/dev/sg4` is another way to one.
fn names_a_drive(name: &str) -> bool {
    is_drive(name) || name.starts_with("nvme") || is_of_freebsd(name)
}

/// The document of `smartctl -j`, which names its device.
pub(super) fn read_document(said: &Value, named: Option<&str>, machine: &mut Machine) -> usize {
    let text = |pointer: &str| said.pointer(pointer).and_then(Value::as_str);
    let own = text("/device/name").and_then(|path| path.strip_prefix("/dev/"));
    let serial = text("/serial_number").map(ToOwned::to_owned);
    let Some(name) = own.or(named) else {
        machine.refused.push("it does not say which drive it is of".to_owned());
        return 0;
    };
    let is_nvme = text("/device/protocol") == Some("NVMe");
    let transport =
        if is_nvme { None } else { Some(if text("/device/protocol") == Some("SCSI") { "sas" } else { "sata" }) };
    let mut files = Vec::new();
    files.extend(text("/model_name").map(|model| ("device/model", model.to_owned())));
    let mut runs = Vec::new();
    if is_nvme {
        let log = said.get("nvme_smart_health_information_log").and_then(Value::as_object).map(nvme_log);
        runs.extend(log.map(|log| (smart_log::COMMAND, log)));
    } else {
        let speed = said.get("rotation_rate").and_then(Value::as_u64);
        files.extend(speed.map(|speed| ("queue/rotational", u8::from(speed > 0).to_string())));
        runs.push((COMMAND, said.clone()));
    }
    machine.smart(Some(name).filter(|name| names_a_drive(name)), serial, Smart { is_nvme, transport, files, runs });
    1
}

/// Keys of `smartctl`'s document that `nvme`'s calls otherwise.
fn nvme_log(log: &Map<String, Value>) -> Value {
    let other = [
        ("available_spare", "avail_spare"),
        ("available_spare_threshold", "spare_thresh"),
        ("percentage_used", "percent_used"),
    ];
    let mut said: Map<String, Value> = Map::new();
    for (key, value) in log {
        let key = other.iter().find(|(own, _)| own == key).map_or(key.as_str(), |(_, other)| other);
        let value = match (key, value.as_u64()) {
            ("temperature", Some(degrees)) => (degrees + 273).into(),
            _ => value.clone(),
        };
        said.insert(key.to_owned(), value);
    }
    Value::Object(said)
}

/// What stands before a table of a part of the attributes.
const FAILED: [&str; 2] = ["Failed Attributes:", "Please note the following marginal Attributes:"];

/// Does the table of self-tests of an ATA drive begin? Some posts have lost blanks.
fn begins_self_tests(line: &str) -> bool {
    line.split_whitespace().take(2).eq(["Num", "Test_Description"])
}

/// What stands behind the table of attributes, where a post has lost the empty line between.
const BEHIND: [&str; 6] = ["SMART ", "Num ", "===", "General Purpose", "SCT ", "Device Statistics"];

/// A text of one drive.
struct Said<'t>(&'t [&'t str]);

impl<'t> Said<'t> {
    /// The value of the first line that begins with a key, whatever its letters' size.
    fn field(&self, key: &str) -> Option<&'t str> {
        let of = |line: &&'t str| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case(key).then(|| value.trim())
        };
        self.0.iter().find_map(of).filter(|value| !value.is_empty())
    }

    fn has_health(&self) -> bool {
        let begins = |line: &&str| line.starts_with("ID# ATTRIBUTE_NAME") || begins_self_tests(line);
        self.passed().is_some()
            || self.is_sas()
            || self.0.iter().any(begins)
            || (self.is_nvme() && smart_log::document(self.0).is_some())
            || self.formats().is_some()
            || self.field("Write cache is").is_some()
            || self.recovery().is_some()
    }

    fn passed(&self) -> Option<bool> {
        let told = self
            .field("SMART overall-health self-assessment test result")
            .or_else(|| self.field("SMART Health Status"));
        match told?.split_whitespace().next()? {
            "PASSED" | "OK" => Some(true),
            word if word.starts_with("FAILED") => Some(false),
            // A SAS drive says which failure it predicts, or that its log cannot be read.
            _ => told.filter(|text| text.contains("FAILURE") || text.contains("IMPENDING")).map(|_| false),
        }
    }

    fn is_nvme(&self) -> bool {
        let is_own = |line: &str| ["NVMe Version", "Supported LBA Sizes"].iter().any(|start| line.starts_with(start));
        self.0.iter().any(|line| line.contains("(NVMe Log 0x02)") || is_own(line))
    }

    /// Only ATA drives have a table of attributes, and only they and SAS drives this heading (`ataprint.cpp` and `scsiprint.cpp`
    /// of smartmontools), the latter with other words for their health.
    fn is_ata(&self) -> bool {
        let has = |key: &str| self.field(key).is_some();
        let begins = |start: &str| self.0.iter().any(|line| line.starts_with(start));
        has("ATA Version is")
            || has("SATA Version is")
            || has("Write cache is")
            || begins("ID# ATTRIBUTE_NAME")
            || self.0.iter().any(|line| begins_self_tests(line))
            || begins(LIMITS)
            || (begins("=== START OF READ SMART DATA SECTION")
                && has("SMART overall-health self-assessment test result"))
    }

    /// What `smartctl -A` prints tells no protocol; only drives that take commands of SCSI keep this list.
    fn is_sas(&self) -> bool {
        match self.field("Transport protocol") {
            Some(protocol) => protocol.starts_with("SAS"),
            None => self.field("Elements in grown defect list").is_some(),
        }
    }

    fn smart(&self) -> Smart {
        let is_nvme = self.is_nvme();
        let is_ata = self.is_ata();
        let transport = if is_nvme {
            None
        } else if self.is_sas() {
            Some("sas")
        } else {
            is_ata.then_some("sata")
        };
        let mut runs = Vec::new();
        if is_nvme {
            runs.extend(smart_log::document(self.0).map(|log| (smart_log::COMMAND, log)));
            runs.extend(self.formats().map(|formats| ("nvme id-ns -o json", formats)));
        } else {
            runs.push((COMMAND, self.document()));
        }
        Smart { is_nvme, transport, files: self.files(is_nvme), runs }
    }

    /// What the kernel tells of the same drive in files.
    fn files(&self, is_nvme: bool) -> Vec<(&'static str, String)> {
        let mut files = Vec::new();
        let model = ["Device Model", "Model Number", "Product"].iter().find_map(|key| self.field(key));
        files.extend(model.map(|model| ("device/model", model.to_owned())));
        let firmware = ["Firmware Version", "Revision"].iter().find_map(|key| self.field(key));
        let file = if is_nvme { "device/firmware_rev" } else { "device/rev" };
        files.extend(firmware.map(|firmware| (file, firmware.to_owned())));
        let rotates = self.field("Rotation Rate").and_then(|rate| match rate {
            "Solid State Device" => Some("0"),
            rate => rate.ends_with("rpm").then_some("1"),
        });
        files.extend(rotates.map(|flag| ("queue/rotational", flag.to_owned())));
        let cache = self.field("Write cache is").and_then(|told| match told {
            "Enabled" => Some("write back"),
            "Disabled" => Some("write through"),
            _ => None,
        });
        files.extend(cache.map(|kind| (CACHE, kind.to_owned())));
        files.extend(self.blocks().map(|block| ("queue/logical_block_size", block)));
        let size = self
            .field("User Capacity")
            .and_then(|size| size.split_once(" bytes"))
            .map(|(size, _)| size.replace(',', ""));
        let sectors = size.and_then(|size| size.parse::<u64>().ok()).filter(|size| size.is_multiple_of(512));
        files.extend(sectors.map(|size| ("size", (size / 512).to_string())));
        files
    }

    /// The logical block. What the drive calls its physical one the kernel may not, so that it is left out.
    fn blocks(&self) -> Option<String> {
        let told = ["Sector Sizes", "Sector Size", "Logical block size"].iter().find_map(|key| self.field(key))?;
        let (number, _) = told.split_once(" bytes")?;
        number.parse::<u32>().ok().map(|number| number.to_string())
    }

    /// `Supported LBA Sizes (NSID 0x1)`: a table of formats, the one in use with a plus.
    fn formats(&self) -> Option<Value> {
        let start = self.0.iter().position(|line| line.starts_with("Supported LBA Sizes"))?;
        let rows = self.0.get(start + 2..)?;
        // Without the empty line behind it the table may be cut.
        let end = rows.iter().position(|line| line.trim().is_empty())?;
        let mut used = None;
        let mut formats = Vec::new();
        for (at, line) in rows[..end].iter().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [number, mark, data, metadata, rating] = words[..] else { return None };
            let data: u64 = data.parse().ok()?;
            let power = if data.is_power_of_two() { data.trailing_zeros() } else { 0 };
            (number.parse() == Ok(at)).then_some(())?;
            used = used.or((mark == "+").then_some(at));
            formats.push(json!({"ms": metadata.parse::<u64>().ok()?, "ds": power, "rp": rating.parse::<u64>().ok()?}));
        }
        Some(json!({"lbafs": formats, "flbas": used?}))
    }

    /// What is told of a SATA or SAS drive.
    fn document(&self) -> Value {
        let mut said = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            value.into_iter().for_each(|value| drop(said.insert(key.to_owned(), value)))
        };
        put("smart_status", self.passed().map(|passed| json!({"passed": passed})));
        put("ata_smart_attributes", self.attributes());
        put("power_on_time", self.hours().map(|hours| json!({"hours": hours})));
        put("temperature", self.temperature());
        put("ata_device_statistics", self.specified().map(|limit| json!({"pages": [{"table": [limit]}]})));
        put("ata_sct_erc", self.recovery());
        put("interface_speed", self.line());
        put("ata_smart_self_test_log", self.self_tests());
        put(
            "rotation_rate",
            self.field("Rotation Rate").and_then(|rate| leading(rate.strip_suffix("rpm")?)).map(Value::from),
        );
        put("scsi_grown_defect_list", self.field("Elements in grown defect list").and_then(leading).map(Value::from));
        let used = self.field("Percentage used endurance indicator").and_then(|text| leading(text.strip_suffix('%')?));
        put("scsi_percentage_used_endurance_indicator", used.map(Value::from));
        put("endurance_used", self.endurance().map(|used| json!({"current_percent": used})));
        put("scsi_error_counter_log", self.uncorrected());
        for (at, words) in self.invalid_words().enumerate() {
            put(&format!("scsi_sas_port_{at}"), Some(json!({"phy_0": {"invalid_dword_count": words}})));
        }
        for (at, test) in self.scsi_tests().into_iter().enumerate() {
            put(&format!("scsi_self_test_{at}"), Some(test));
        }
        Value::Object(said)
    }

    /// Rows of the table of attributes, in its old and its brief form: in both the raw value comes last.
    fn attributes(&self) -> Option<Value> {
        let rows = self.attribute_rows()?.filter_map(|(_, row)| row);
        Some(json!({"table": rows.collect::<Vec<_>>()}))
    }

    /// Where the table of all attributes begins. Before it some versions print those that fail, or that have failed, under the same
    /// heading (`ataPrintMain` in smartmontools' `ataprint.cpp`); `smartctl -H` prints no other.
    fn table(&self) -> Option<usize> {
        let is_of_failed = |at: &usize| {
            let before = at.checked_sub(1).and_then(|before| self.0.get(before)).map_or("", |line| line.trim());
            FAILED.iter().any(|start| before.starts_with(start))
        };
        let mut starts = (0..self.0.len()).filter(|at| self.0[*at].starts_with("ID# ATTRIBUTE_NAME"));
        let first = starts.clone().next();
        starts.find(|at| !is_of_failed(at)).or(first)
    }

    /// Each line of that table with what it says, if that can be understood. An empty line ends the table, and so does the key to
    /// the flags of its brief form.
    fn attribute_rows(&self) -> Option<impl Iterator<Item = (&'t str, Option<Value>)>> {
        let start = self.table()?;
        let brief = self.0[start].contains("FAIL RAW_VALUE");
        let rows = self.0.get(start + 1..)?.iter().copied();
        let is_row = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('|');
        let rows = rows.take_while(move |line| is_row(line) && !BEHIND.iter().any(|start| line.starts_with(start)));
        Some(rows.map(move |line| (line, attribute(line, brief))))
    }

    /// Lines of the table that cannot be understood: what they would say is not known.
    fn odd_rows(&self) -> Vec<&'t str> {
        let rows = self.attribute_rows().into_iter().flatten();
        rows.filter(|(_, row)| row.is_none()).map(|(line, _)| line.trim()).collect()
    }

    fn hours(&self) -> Option<u64> {
        let told = self
            .field("Accumulated power on time, hours")
            .or_else(|| self.field("Accumulated power on time, hours:minutes"));
        // `hours:minutes 12345:06` has colons of its own.
        let line = self.0.iter().find_map(|line| line.strip_prefix("Accumulated power on time, hours:minutes "));
        let of_sas = line.and_then(|rest| leading(rest.split(':').next()?)).or_else(|| leading(told?));
        of_sas.or_else(|| {
            let table = self.attributes()?;
            let row = table.pointer("/table")?.as_array()?.iter().find(|row| row["id"] == 9)?;
            row.pointer("/raw/value")?.as_u64()
        })
    }

    fn temperature(&self) -> Option<Value> {
        let degrees = |key: &str| {
            let (number, unit) = self.field(key)?.split_once(' ')?;
            (unit == "C" || unit.starts_with("Celsius")).then(|| number.parse::<u64>().ok()).flatten()
        };
        let of_attribute = |table: Value| {
            let rows = table.pointer("/table")?.as_array()?.clone();
            let row = rows.iter().find(|row| row["id"] == 194).or_else(|| rows.iter().find(|row| row["id"] == 190))?;
            row.pointer("/raw/value")?.as_u64()
        };
        let now = degrees("Current Temperature").or_else(|| degrees("Current Drive Temperature"));
        let now = now.or_else(|| self.attributes().and_then(of_attribute));
        let most = |key: &str| {
            let (_, most) = self.field(key)?.strip_suffix(" Celsius")?.rsplit_once('/')?;
            most.parse::<u64>().ok()
        };
        let (recommended, limit) = (most("Min/Max recommended Temperature"), most("Min/Max Temperature Limit"));
        let trip = degrees("Drive Trip Temperature").filter(|degrees| *degrees > 0);
        let mut said = Map::new();
        for (key, value) in
            [("current", now), ("op_limit_max", recommended), ("limit_max", limit), ("drive_trip", trip)]
        {
            value.into_iter().for_each(|value| drop(said.insert(key.to_owned(), value.into())));
        }
        (!said.is_empty()).then_some(Value::Object(said))
    }

    /// `Read:     70 (7.0 seconds)`, `Read: Disabled`, or that the drive has no such command.
    fn recovery(&self) -> Option<Value> {
        let start = self.0.iter().position(|line| line.starts_with(LIMITS))?;
        if self.0[start].contains("not supported") {
            return Some(json!({"supported": false}));
        }
        let time = |key: &str| {
            let line = self.0.get(start + 1..)?.iter().take(2).find_map(|line| line.trim().strip_prefix(key))?.trim();
            if line == "Disabled" {
                return Some(json!({"enabled": false}));
            }
            let (number, rest) = line.split_once(' ')?;
            rest.ends_with("seconds)")
                .then(|| number.parse::<u64>().ok())
                .flatten()
                .map(|tenths| json!({"enabled": true, "deciseconds": tenths}))
        };
        Some(json!({"read": time("Read:")?, "write": time("Write:")?}))
    }

    /// `SATA 3.2, 6.0 Gb/s (current: 3.0 Gb/s)`.
    fn line(&self) -> Option<Value> {
        let told = self.field("SATA Version is")?;
        let speed = |text: &str| {
            let text = text.trim().strip_suffix(" Gb/s")?;
            ["1.5", "3.0", "6.0"].contains(&text).then(|| json!({"string": format!("{text} Gb/s")}))
        };
        let (best, now) = told.split_once("(current:")?;
        Some(json!({"max": speed(best.rsplit(',').next()?)?, "current": speed(now.strip_suffix(')')?)?}))
    }

    /// `# 1  Extended offline    Completed: read failure       90%     12000         123456`.
    fn self_tests(&self) -> Option<Value> {
        let start = self.0.iter().position(|line| begins_self_tests(line))?;
        let rows = self.0.get(start + 1..)?.iter().map_while(|line| ata_test(line));
        Some(json!({"standard": {"table": rows.collect::<Vec<_>>()}}))
    }

    /// `# 1  Background short  Completed                   -   12345                 - [-   -    -]`.
    fn scsi_tests(&self) -> Vec<Value> {
        let start = self.0.iter().position(|line| line.starts_with("Num  Test              Status"));
        let rows = start.and_then(|start| self.0.get(start + 1..)).unwrap_or_default();
        // A second line of the heading stands between.
        rows.iter().skip_while(|line| !line.trim().starts_with('#')).map_while(|line| scsi_test(line)).collect()
    }

    /// `0x07  0x008  1               3  ---  Percentage Used Endurance Indicator`, of the device statistics: a page's number and a name.
    fn statistic(&self, page: &str, name: &str) -> Option<u64> {
        let line = self.0.iter().find(|line| line.trim_end().ends_with(name))?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let whole = words.len() == 5 + name.split_whitespace().count();
        (words.first() == Some(&page) && whole).then(|| words[3].parse().ok()).flatten()
    }

    fn endurance(&self) -> Option<u64> {
        self.statistic("0x07", "Percentage Used Endurance Indicator")
    }

    /// The limit of the device statistics, as the document has it.
    fn specified(&self) -> Option<Value> {
        self.statistic("0x05", SPECIFIED).map(|limit| json!({"name": SPECIFIED, "value": limit}))
    }

    /// `    Invalid DWORD count = 10` of each phy.
    fn invalid_words(&self) -> impl Iterator<Item = u64> {
        self.0.iter().filter_map(|line| leading(line.trim().strip_prefix("Invalid DWORD count =")?))
    }

    /// Last column of the error counters.
    fn uncorrected(&self) -> Option<Value> {
        let total = |key: &str| {
            let line = self.0.iter().find_map(|line| line.strip_prefix(key))?;
            let words: Vec<&str> = line.split_whitespace().collect();
            (words.len() == 7).then(|| words.last()?.parse::<u64>().ok()).flatten()
        };
        let one = |key| total(key).map(|errors| json!({"total_uncorrected_errors": errors}));
        Some(json!({"read": one("read:")?, "write": one("write:")?}))
    }
}

/// A number at the end of which the text ends.
fn leading(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// Number and what follows it, of a row of a log of self-tests.
fn test_row(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix('#')?.trim_start();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.starts_with(' ').then(|| rest.trim())
}

fn ata_test(line: &str) -> Option<Value> {
    let rest = test_row(line)?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    // Remaining, lifetime and first error end the row, and tell that it is whole.
    let [.., left, hours, first] = words[..] else { return None };
    let hours: u64 = hours.parse().ok()?;
    let whole = left.ends_with('%') && (first == "-" || first.bytes().all(|byte| byte.is_ascii_digit()));
    let kind = ["Extended", "Short", "Conveyance", "Selective", "Offline", "Vendor"]
        .iter()
        .find(|kind| rest.starts_with(**kind));
    let passed = if rest.contains("Completed without error") {
        Some(true)
    } else {
        let failed = rest.contains("Completed:") || rest.contains("Fatal or unknown error");
        failed.then_some(false)
    };
    whole.then(
        || json!({"type": {"string": kind}, "lifetime_hours": hours, "status": {"string": rest, "passed": passed}}),
    )
}

fn scsi_test(line: &str) -> Option<Value> {
    let rest = test_row(line)?;
    let kind = ["Background short", "Background long", "Foreground short", "Foreground long"];
    let kind = kind.iter().find(|kind| rest.starts_with(**kind))?;
    let value = if rest.contains("Failed in") {
        7
    } else if rest.contains("Completed") {
        0
    } else {
        // Aborted, interrupted, or under way.
        1
    };
    // Hours and the first bad block stand before the codes, which end the row and tell that it is whole.
    let (before, _) = rest.strip_suffix(']')?.rsplit_once('[')?;
    let hours: Option<u64> = before.split_whitespace().rev().nth(1).and_then(|hours| hours.parse().ok());
    Some(json!({
        "code": {"string": kind},
        "result": {"value": value, "string": rest},
        "power_on_time": {"hours": hours},
    }))
}
