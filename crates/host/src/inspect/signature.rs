//! What is written on a device: signatures that `wipefs` finds, or what udev was told by `blkid`.

use std::collections::BTreeMap;

use serde_json::Value;
use terms::Bytes;
use terms::inventory::{Readout, Signature};

use super::source::Source;

/// The signatures on a device. Without root only udev's knowledge is left, and that may be old; where it has none, it
/// is not known that the device is blank.
pub(super) fn read(source: &Source, name: &str, number: &str) -> Readout<Vec<Signature>> {
    let node = format!("/dev/{}", name.replace('!', "/"));
    let probed = source.said(&["wipefs", "--no-act", "--json", &node]).and_then(|text| match parse(&text) {
        Some(found) => Readout::Known(found),
        None => Readout::unknown(format!("`wipefs --no-act --json {node}` did not say JSON")),
    });
    let Some(why) = probed.why_unknown() else { return probed };
    match udev(source, number).known().and_then(from_udev) {
        Some(signature) => Readout::Known(vec![signature]),
        None => Readout::unknown(format!("{why}; udev does not tell either")),
    }
}

/// Nothing at all is said of a blank device.
fn parse(text: &str) -> Option<Vec<Signature>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    let said: Value = serde_json::from_str(text).ok()?;
    let all = said.get("signatures")?.as_array()?;
    Some(all.iter().filter_map(signature).collect())
}

fn signature(entry: &Value) -> Option<Signature> {
    let text =
        |key: &str| entry.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(ToOwned::to_owned);
    let offset = text("offset").and_then(|offset| u64::from_str_radix(offset.trim_start_matches("0x"), 16).ok());
    Some(Signature { offset: offset.map(Bytes), kind: text("type")?, uuid: text("uuid"), label: text("label") })
}

/// What udev knows of a device, by its major and minor number.
pub(super) fn udev(source: &Source, number: &str) -> Readout<BTreeMap<String, String>> {
    source.text(&format!("/run/udev/data/b{number}")).map(|text| {
        let text = text.unwrap_or_default();
        let facts = text.lines().filter_map(|line| line.strip_prefix("E:")?.split_once('='));
        facts.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    })
}

fn from_udev(facts: &BTreeMap<String, String>) -> Option<Signature> {
    let fact = |key: &str| facts.get(key).cloned();
    Some(Signature { offset: None, kind: fact("ID_FS_TYPE")?, uuid: fact("ID_FS_UUID"), label: fact("ID_FS_LABEL") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_is_told_from_not_understood() {
        assert_eq!(parse(""), Some(Vec::new()));
        assert_eq!(parse("wipefs: error"), None);
        let found =
            parse(r#"{"signatures":[{"device":"a","offset":"0x438","type":"ext4","uuid":"u","label":null}]}"#).unwrap();
        assert_eq!((found[0].kind.as_str(), found[0].offset), ("ext4", Some(Bytes(0x438))));
    }
}
