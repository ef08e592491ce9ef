//! `cryptsetup status`: a mapping of dm-crypt as a line of the device mapper's table, which has no key here.

use super::machine::LUKS;
use super::{Machine, Text};

/// `/dev/mapper/home is active and is in use.`
pub(super) fn begins(line: &str) -> bool {
    name(line).is_some()
}

fn name(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix("/dev/mapper/")?.split_once(" is active")?.0;
    (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)))
        .then_some(name)
}

/// The only flag that is called otherwise than in the table (`action_status` in cryptsetup's `src/cryptsetup.c`).
const DISCARDS: (&str, &str) = ("discards", "allow_discards");

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let Some(name) = text.lines.first().and_then(|line| name(line)) else { return 0 };
    let value = |key: &str| {
        let mut pairs = text.lines.iter().filter_map(|line| line.trim().split_once(':'));
        pairs.find(|(own, _)| *own == key).map(|(_, value)| value.trim())
    };
    let number = |key: &str| value(key)?.split(' ').next()?.parse::<u64>().ok();
    if value("type") == Some("INTEGRITY") {
        return integrity(name, &value, machine);
    }
    // The mode comes behind what decides: without it the text is cut.
    let (Some(cipher), Some(offset), Some(size), Some(_)) =
        (value("cipher"), number("offset"), number("size"), value("mode"))
    else {
        machine.refused.push(format!("`{name}`: it is cut, or no mapping of dm-crypt"));
        return 0;
    };
    let Some(node) = machine.node_of(&format!("/dev/mapper/{name}")) else { return 0 };
    let mut flags: Vec<String> = number("sector size").map(|size| format!("sector_size:{size}")).into_iter().collect();
    let told = value("flags").unwrap_or_default().split_whitespace();
    flags.extend(told.map(|flag| if flag == DISCARDS.0 { DISCARDS.1 } else { flag }.to_owned()));
    let flags = format!("{} {}", flags.len(), flags.join(" "));
    machine.mapping(&format!("{name}: 0 {size} crypt {cipher} - 0 0:0 {offset} {flags}"), None);
    let uuid = match value("type") {
        Some(kind) if kind.starts_with("LUKS") => format!("{LUKS}{}", kind.trim_start_matches("LUKS")),
        _ => "CRYPT-PLAIN".to_owned(),
    };
    if machine.is_first(&node, "dm/uuid") {
        machine.block_file(&node, "dm/uuid", uuid);
    }
    if let Some(under) = value("device").and_then(|path| machine.node_of(path)) {
        machine.stands_on(&node, &under);
    }
    1
}

/// `integritysetup status`: how it writes is not told for sure, how many blocks did not match is (`action_status` in cryptsetup's
/// `src/integritysetup.c`).
fn integrity<'t>(name: &str, value: &impl Fn(&str) -> Option<&'t str>, machine: &mut Machine) -> usize {
    let number = |key: &str| value(key)?.split(' ').next()?.parse::<u64>().ok();
    let (Some(hash), Some(tag), Some(sector), Some(size)) =
        (value("integrity"), number("tag size"), number("sector size"), number("size"))
    else {
        machine.refused.push(format!("`{name}`: it is cut"));
        return 0;
    };
    let Some(node) = machine.node_of(&format!("/dev/mapper/{name}")) else { return 0 };
    let table = format!("{name}: 0 {size} integrity 0:0 0 {tag} - 2 block_size:{sector} internal_hash:{hash}");
    let status = number("failures").map(|failures| format!("{name}: 0 {size} integrity {failures} {size} -"));
    machine.mapping(&table, status.as_deref());
    if machine.is_first(&node, "dm/uuid") {
        machine.block_file(&node, "dm/uuid", "CRYPT-INTEGRITY");
    }
    if let Some(under) = value("device").and_then(|path| machine.node_of(path)) {
        machine.stands_on(&node, &under);
    }
    1
}
