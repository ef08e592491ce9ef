//! What `smartctl` says of SATA and SAS drives.

use serde_json::Value;
use terms::inventory::{Attribute, Counter, Health, Line, Readout, Recovery, SelfTest, Smart};
use terms::{Nanos, Outcome};

use super::source::{Source, complaint};

/// All that it tells; captures of older versions have less of it. What answered once that it cannot is not asked again.
pub(super) fn read(source: &Source, node: &str) -> Readout<Option<Health>> {
    let all = ["smartctl", "-j", "-x", node];
    let outcome = source.run(&all);
    if outcome.known().is_some() {
        return told(&all, outcome);
    }
    let some = ["smartctl", "-j", "-H", "-A", "-i", node];
    let less = told(&some, source.run(&some));
    if less.known().is_some() { less } else { told(&all, outcome) }
}

/// Its status is a bit field in which only the first two say that it did not get to the drive (smartctl(8), "exit
/// status").
fn told(argv: &[&str], outcome: Readout<Outcome>) -> Readout<Option<Health>> {
    outcome.and_then(|outcome| {
        if outcome.status & 0b11 != 0 {
            return Readout::Unknown(complaint(argv, &outcome));
        }
        match serde_json::from_slice::<Value>(&outcome.stdout) {
            Ok(said) => Readout::Known(Some(health(&said))),
            Err(error) => Readout::unknown(format!("`smartctl` did not say JSON: {error}")),
        }
    })
}

fn health(said: &Value) -> Health {
    let at = |pointer: &str| said.pointer(pointer).and_then(Value::as_u64);
    let small = |pointer: &str| at(pointer).and_then(|number| u32::try_from(number).ok());
    let smart = smart(said);
    let count = |counter: Counter| smart.counter(counter).map(|attribute| attribute.raw);
    let passed = said.pointer("/smart_status/passed").and_then(Value::as_bool);
    let bad = [count(Counter::GivenUp), count(Counter::Pending), smart.grown_defects];
    Health {
        critical_warning: if passed == Some(false) { 4 } else { 0 },
        temperature: degrees(said, "/temperature/current"),
        used: small("/endurance_used/current_percent")
            .or_else(|| small("/scsi_percentage_used_endurance_indicator"))
            .or_else(|| used(said)),
        power_on_hours: at("/power_on_time/hours"),
        media_errors: bad.iter().flatten().copied().reduce(u64::saturating_add),
        smart: Some(Box::new(smart)),
        ..Health::default()
    }
}

fn degrees(said: &Value, pointer: &str) -> Option<i32> {
    i32::try_from(said.pointer(pointer)?.as_i64()?).ok()
}

fn smart(said: &Value) -> Smart {
    let at = |pointer: &str| said.pointer(pointer).and_then(Value::as_u64);
    let table = said.pointer("/ata_smart_attributes/table").and_then(Value::as_array);
    let uncorrected =
        ["read", "write"].map(|way| at(&format!("/scsi_error_counter_log/{way}/total_uncorrected_errors")));
    Smart {
        assessed: said.pointer("/smart_status/passed").is_some_and(Value::is_boolean),
        attributes: table.into_iter().flatten().filter_map(attribute).collect(),
        grown_defects: at("/scsi_grown_defect_list"),
        uncorrected: uncorrected.iter().flatten().copied().reduce(u64::saturating_add),
        invalid_words: invalid_words(said),
        self_tests: self_tests(said),
        temperature_limit: temperature_limit(said),
        recommended_temperature: degrees(said, "/temperature/op_limit_max").filter(|most| *most > UNBELIEVED),
        recovery: recovery(said),
        line: said.get("interface_speed").and_then(line),
    }
}

/// Of all phys of all ports (smartmontools' `scsiprint.cpp`).
fn invalid_words(said: &Value) -> Option<u64> {
    let below = |value: &'_ Value, start: &str| -> Vec<Value> {
        let all = value.as_object().into_iter().flatten().filter(|(key, _)| key.starts_with(start));
        all.map(|(_, value)| value.clone()).collect()
    };
    let phys = below(said, "scsi_sas_port_").into_iter().flat_map(|port| below(&port, "phy_"));
    let counts = phys.filter_map(|phy| phy.get("invalid_dword_count")?.as_u64());
    counts.reduce(u64::saturating_add)
}

/// The highest temperature at which a drive may work: of the device statistics (ACS-3, page 5), or the limit of SCT. What SCT calls
/// recommended is no limit (Exos drives tell 25 °C), and neither is `op_limit_max`, which holds that.
fn temperature_limit(said: &Value) -> Option<i32> {
    let pages = said.pointer("/ata_device_statistics/pages").and_then(Value::as_array);
    let rows = pages.into_iter().flatten().filter_map(|page| page.get("table")?.as_array()).flatten();
    let is_specified = |row: &&Value| {
        row.get("name").and_then(Value::as_str) == Some(SPECIFIED)
            && row.pointer("/flags/valid").and_then(Value::as_bool) != Some(false)
    };
    let mut specified = rows.filter(is_specified).filter_map(|row| i32::try_from(row.get("value")?.as_i64()?).ok());
    specified
        .next()
        .or_else(|| degrees(said, "/temperature/limit_max"))
        .or_else(|| degrees(said, "/temperature/drive_trip"))
        .filter(|limit| *limit > 0)
}

/// Up to it what SCT calls the highest recommended temperature is none: Exos drives tell 25 °C, and work at 60. Where the line lies is a guess.
const UNBELIEVED: i32 = 40;

/// What `smartctl` calls it (`atacmds.cpp`).
pub(crate) const SPECIFIED: &str = "Specified Maximum Operating Temperature";

/// Attributes whose value goes from 100 down to what is left of a drive's life, by number and name (`drivedb.h` of smartmontools):
/// under other names makers count something else there.
const LEFT: [(u64, &str); 17] = [
    (169, "Lifetime_Remaining%"),
    (169, "Remaining_Lifetime_Perc"),
    (169, "Remaining_Lifetime_Perct"),
    (177, "DriveLife_Remaining%"),
    (177, "Lifetime_Remaining%"),
    (177, "Wear_Leveling_Count"),
    (202, "Percent_Lifetime_Remain"),
    (202, "Percent_Lifetime_Used"),
    (202, "Perc_Rated_Life_Used"),
    (209, "Remaining_Lifetime_Perc"),
    (231, "Lifetime_Left"),
    (231, "Perc_Rated_Life_Remain"),
    (231, "Percent_Lifetime_Remain"),
    (231, "SSD_Life_Left"),
    (231, "SSD_Life_Left_Perc"),
    (233, "Media_Wearout_Indicator"),
    (233, "Remaining_Lifetime_Perc"),
];

/// What of a SATA drive's life is used, as its attributes tell. A value of 0 is none, unless it fails.
fn used(said: &Value) -> Option<u32> {
    let rows = said.pointer("/ata_smart_attributes/table")?.as_array()?;
    let left = rows.iter().filter_map(|row| {
        let (id, name) = (row.get("id")?.as_u64()?, row.get("name")?.as_str()?);
        let value = u32::try_from(row.get("value")?.as_u64()?).ok()?;
        let is_told = value > 0 || row.get("when_failed").and_then(Value::as_str) == Some("now");
        (LEFT.contains(&(id, name)) && is_told && value <= 100).then_some(value)
    });
    left.min().map(|left| 100 - left)
}

fn attribute(row: &Value) -> Option<Attribute> {
    let id = u32::try_from(row.get("id")?.as_u64()?).ok()?;
    let raw = row.pointer("/raw/value")?.as_u64()?;
    let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let raw = if id == 188 || (id == 187 && raw > MOST) { raw & 0xffff } else { raw };
    let pre_failure = row.pointer("/flags/prefailure").and_then(Value::as_bool);
    Some(Attribute { id, name: text("name"), raw, failing: text("when_failed") == "now", pre_failure })
}

/// Attribute 188 is three counters of 16 bits, of which the lowest counts all (smartmontools' `raw16`). So is 187 of some drives, such as
/// the Travelstar 7K500, which tells 0xffff in those above: no drive failed to read more than 32 bits count.
const MOST: u64 = 0xffff_ffff;

/// SATA drives have a log of 21 tests, and an extended one; SAS drives have 20 pages.
fn self_tests(said: &Value) -> Option<Vec<SelfTest>> {
    let of_log = ["extended", "standard"]
        .iter()
        .find_map(|log| said.pointer(&format!("/ata_smart_self_test_log/{log}/table"))?.as_array());
    let of_ata = |row: &Value| SelfTest {
        kind: text(row, "/type/string"),
        passed: row.pointer("/status/passed").and_then(Value::as_bool),
        hours: row.get("lifetime_hours").and_then(Value::as_u64),
        says: text(row, "/status/string"),
    };
    if let Some(rows) = of_log {
        return Some(rows.iter().map(of_ata).collect());
    }
    // 0 passed, 3 to 7 failed, the others were stopped or go on (SPC-4, self-test results log).
    let of_scsi = |row: &Value| {
        let result = row.pointer("/result/value").and_then(Value::as_u64);
        SelfTest {
            kind: text(row, "/code/string"),
            passed: result
                .and_then(|result| if result == 0 { Some(true) } else { (3..=7).contains(&result).then_some(false) }),
            hours: row.pointer("/power_on_time/hours").and_then(Value::as_u64),
            says: text(row, "/result/string"),
        }
    };
    let rows: Vec<SelfTest> = (0..20).map_while(|at| said.get(format!("scsi_self_test_{at}"))).map(of_scsi).collect();
    (!rows.is_empty()).then_some(rows)
}

fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().trim().to_owned()
}

/// Was the drive asked for all, and tells what it can do, and nothing of these commands? Then it has none of them
/// (`ataPrintMain` in smartmontools' `ataprint.cpp`: "SCT Commands not supported").
fn lacks_commands(said: &Value) -> bool {
    let asked = said.pointer("/smartctl/argv").and_then(Value::as_array);
    let all = asked.is_some_and(|words| words.iter().any(|word| word == "-x" || word == "--xall"));
    let can = said.pointer("/ata_smart_data/capabilities/values").and_then(Value::as_array);
    all && can.is_some() && said.get("ata_sct_capabilities").is_none()
}

fn recovery(said: &Value) -> Readout<Recovery> {
    let can = said.pointer("/ata_sct_capabilities/error_recovery_control_supported").and_then(Value::as_bool);
    let Some(limits) = said.get("ata_sct_erc") else {
        return match can {
            Some(false) => Readout::Known(Recovery::Unsupported),
            None if lacks_commands(said) => Readout::Known(Recovery::Unsupported),
            _ => Readout::unknown("`smartctl -l scterc` was not asked, or does not tell"),
        };
    };
    if limits.get("supported").and_then(Value::as_bool) == Some(false) {
        return Readout::Known(Recovery::Unsupported);
    }
    let mut longest = Nanos(0);
    for way in ["read", "write"] {
        let at = |key: &str| limits.pointer(&format!("/{way}/{key}"));
        match (at("enabled").and_then(Value::as_bool), at("deciseconds").and_then(Value::as_u64)) {
            (Some(false), _) | (Some(true), Some(0)) => return Readout::Known(Recovery::Off),
            (Some(true), Some(tenths)) => longest = longest.max(Nanos(tenths.saturating_mul(100_000_000))),
            _ => return Readout::unknown("`smartctl -l scterc` tells only a part"),
        }
    }
    Readout::Known(Recovery::Limited(longest))
}

/// `6.0 Gb/s`.
fn line(speeds: &Value) -> Option<Line> {
    let speed = |which: &str| match speeds.pointer(&format!("/{which}/string"))?.as_str()? {
        "1.5 Gb/s" => Some(15),
        "3.0 Gb/s" => Some(30),
        "6.0 Gb/s" => Some(60),
        _ => None,
    };
    Some(Line { best: speed("max")?, now: speed("current")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smart_is_understood() {
        let said = r#"{"smart_status":{"passed":false},"temperature":{"current":31,"op_limit_max":25,"limit_max":60},"power_on_time":{"hours":10},
            "ata_smart_attributes":{"table":[{"id":5,"raw":{"value":8}},{"id":197,"raw":{"value":2}},
            {"id":188,"raw":{"value":4295032833}}]},"interface_speed":{"max":{"string":"6.0 Gb/s"},"current":{"string":"3.0 Gb/s"}},
            "ata_sct_erc":{"read":{"enabled":true,"deciseconds":70},"write":{"enabled":true,"deciseconds":100}},
            "ata_smart_self_test_log":{"standard":{"table":[{"type":{"string":"Short offline"},"status":{"string":"x","passed":false},
            "lifetime_hours":7}]}}}"#;
        let health = health(&serde_json::from_str(said).unwrap());
        assert_eq!((health.critical_warning, health.temperature, health.media_errors), (4, Some(31), Some(10)));
        let smart = health.smart.unwrap();
        assert_eq!((smart.temperature_limit, smart.line), (Some(60), Some(Line { best: 60, now: 30 })));
        assert_eq!(smart.recovery, Readout::Known(Recovery::Limited(Nanos::seconds(10))));
        assert_eq!(
            (smart.counter(Counter::TimedOut).unwrap().raw, smart.self_tests.unwrap()[0].passed),
            (1, Some(false))
        );
    }

    #[test]
    fn counters_that_are_packed_are_no_large_numbers() {
        for (id, raw, wanted) in [
            (187, 0xffff_0000_0000_u64, 0),
            (187, 0x1c02_ffff_0007, 7),
            (187, 70_000, 70_000),
            (188, 0x0001_0001_0001, 1),
            (197, 70_000, 70_000),
        ] {
            let row = serde_json::json!({"id": id, "raw": {"value": raw}});
            assert_eq!(attribute(&row).unwrap().raw, wanted, "{id} {raw:#x}");
        }
    }

    #[test]
    fn what_is_recommended_is_no_limit() {
        let limit = |said: &str| temperature_limit(&serde_json::from_str(said).unwrap());
        let page = |flags: &str| {
            format!(r#""ata_device_statistics":{{"pages":[{{"table":[{{"name":"{SPECIFIED}","value":65{flags}}}]}}]}}"#)
        };
        let sct = r#""temperature":{"current":36,"op_limit_max":25,"limit_max":70}"#;
        assert_eq!(limit(r#"{"temperature":{"current":36,"op_limit_max":25}}"#), None);
        assert_eq!(limit(&format!("{{{sct}}}")), Some(70));
        assert_eq!(limit(&format!("{{{sct},{}}}", page(""))), Some(65));
        assert_eq!(limit(&format!("{{{sct},{}}}", page(r#","flags":{"valid":false}"#))), Some(70));
        assert_eq!(limit(r#"{"temperature":{"current":36,"drive_trip":68}}"#), Some(68));
        let recommended = |most: i32| {
            let said = serde_json::json!({"temperature": {"current": 36, "op_limit_max": most, "limit_max": 85}});
            smart(&said).recommended_temperature
        };
        assert_eq!((recommended(25), recommended(60)), (None, Some(60)));
        assert_eq!((recommended(40), recommended(41)), (None, Some(41)));
    }

    #[test]
    fn what_is_left_of_a_life_is_found_by_number_and_name() {
        for (id, name, value, failed, wanted) in [
            (202, "Percent_Lifetime_Remain", 3, "", Some(97)),
            (177, "Wear_Leveling_Count", 1, "", Some(99)),
            (231, "SSD_Life_Left", 0, "now", Some(100)),
            // Not told, another attribute, another meaning.
            (231, "SSD_Life_Left", 0, "", None),
            (202, "Error_Bits_Flash_Tot_Ct", 10, "", None),
            (230, "Media_Wearout_Indicator", 3, "", None),
            (177, "Wear_Leveling_Count", 200, "", None),
        ] {
            let said = serde_json::json!({"ata_smart_attributes": {"table": [
                {"id": id, "name": name, "value": value, "when_failed": failed, "raw": {"value": 1}}]}});
            assert_eq!(health(&said).used, wanted, "{id} {name} {value}");
        }
    }

    #[test]
    fn a_counter_of_another_name_counts_something_else() {
        let said = serde_json::json!({"ata_smart_attributes": {"table": [
            {"id": 198, "name": "Read_Sectors_Tot_Ct", "raw": {"value": 12_334_455_123_u64}},
            {"id": 199, "name": "Write_Sectors_Tot_Ct", "raw": {"value": 8_123_311_234_u64}},
            {"id": 197, "name": "Current_Pending_ECC_Cnt", "raw": {"value": 3}}]}});
        let health = health(&said);
        let smart = health.smart.unwrap();
        assert_eq!((smart.counter(Counter::Unreadable), smart.counter(Counter::Line)), (None, None));
        assert_eq!((smart.counter(Counter::Pending).map(|found| found.raw), health.media_errors), (Some(3), Some(3)));
    }
}
