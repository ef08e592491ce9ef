//! JSON that programs print: what it is of is told by the keys it has.

use serde_json::Value;

use super::kept::Smart;
use super::{Machine, Text, btrfs, dmesg, id_ctrl, lsblk, lvm, nvme, smart, storcli, storcli_json, zpool_json};

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let Some(said) = text.lines.first().and_then(|text| serde_json::from_str::<Value>(text).ok()) else {
        machine.refused.push("the document is cut, or is no JSON".to_owned());
        return 0;
    };
    let list = |key: &str| said.get(key).and_then(Value::as_array);
    let name = text.device();
    if let Some(devices) = list("blockdevices") {
        return lsblk::read_document(devices, None, machine);
    }
    if let Some(devices) = list("Devices") {
        return nvme::read_documents(devices, machine);
    }
    if let Some(devices) = list("device-stats") {
        return btrfs::read_document(devices, text.command, machine);
    }
    if let Some(messages) = list("dmesg") {
        let said = messages.iter().filter_map(|message| message.get("msg")?.as_str());
        return said.map(|line| dmesg::push(&line.replace('\n', " "), machine)).count();
    }
    if let Some(reports) = list("report") {
        return reports
            .iter()
            .filter_map(|report| report.get("lv")?.as_array())
            .map(|rows| lvm::read_report(rows, machine))
            .sum();
    }
    if zpool_json::is_of(&said) {
        return zpool_json::read(&said, text.command, machine);
    }
    if storcli_json::is_of(&said) {
        return storcli_json::read(&said, storcli::program(text), machine);
    }
    if said.get("smartctl").is_some() || is_of_smart(&said) {
        return smart::read_document(&said, name, machine);
    }
    if said.get("vwc").is_some() && said.get("lbafs").is_none() {
        return id_ctrl::put(name, &said, machine);
    }
    let runs = if said.get("lbafs").is_some() {
        vec![("nvme id-ns -o json", said)]
    } else if said.get("critical_warning").is_some() {
        vec![("nvme smart-log -o json", said)]
    } else {
        machine.refused.push("it is of no program that is known here".to_owned());
        return 0;
    };
    machine.smart(name, None, Smart { is_nvme: true, runs, ..Smart::default() });
    1
}

/// Who keeps what `smartctl` prints may leave away what it says of itself.
fn is_of_smart(said: &Value) -> bool {
    said.pointer("/device/protocol").is_some() && said.get("smart_status").is_some()
}
