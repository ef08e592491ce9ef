//! `blkid`: what is on devices, one on each line.

use serde_json::json;

use super::text::is_plain;
use super::{Machine, Text};

/// `/dev/sda2: UUID="…" TYPE="ext4" PARTUUID="…"`.
pub(super) fn begins(line: &str) -> bool {
    row(line).is_some()
}

/// Device, kind and UUID.
fn row(line: &str) -> Option<(&str, &str, Option<&str>)> {
    let (name, rest) = line.trim_start().strip_prefix("/dev/")?.split_once(": ")?;
    let value = |key: &str| {
        let at = rest.match_indices(key).map(|(at, _)| at).find(|at| *at == 0 || rest[..*at].ends_with(' '))?;
        rest[at + key.len()..].split('"').next().filter(|value| !value.is_empty())
    };
    let is_name = name.split('/').all(is_plain);
    is_name.then_some((name, value("TYPE=\"")?, value("UUID=\"")))
}

/// Where the signature lies is not told.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let mut told = 0;
    for (name, kind, uuid) in text.lines.iter().filter_map(|line| row(line)) {
        let Some(device) = machine.node_of(&format!("/dev/{name}")) else { continue };
        let said = json!({"device": device, "type": kind, "uuid": uuid});
        machine.signatures.entry(device).or_insert(said);
        told += 1;
    }
    told
}

/// It counts where no other text tells what is on a device.
pub(super) fn put_all(machine: &mut Machine) {
    for (name, said) in std::mem::take(&mut machine.signatures) {
        machine
            .run_if_untold(format!("wipefs --no-act --json /dev/{name}"), || json!({"signatures": [said]}).to_string());
    }
}
