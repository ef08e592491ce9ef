//! `ip -s link` and `ethtool -S`: what ports of a network counted.

use super::{Machine, Text, sayings};

/// `4: ens2f0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 …`, or the heading of `ethtool -S`.
pub(super) fn begins(line: &str) -> bool {
    port(line).is_some() || line.trim_end() == "NIC statistics:"
}

fn port(line: &str) -> Option<&str> {
    let (number, rest) = line.split_once(": ")?;
    let (name, _) = rest.split_once(": <")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte));
    is_number.then_some(name).filter(|name| is_name && !name.is_empty())
}

/// Fewer frames are chance, and so is a smaller share of all.
const FEWEST: u64 = 10;
const ONE_IN: u64 = 1_000_000;

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let mut own = text.command.and_then(|typed| typed.split_whitespace().last());
    let mut told = 0;
    for (at, line) in text.lines.iter().enumerate() {
        if let Some(name) = port(line) {
            own = Some(name);
            told += 1;
        }
        let next = text.lines.get(at + 1).copied().unwrap_or_default();
        let damaged = received(line, next).or_else(|| checked(line)).filter(|count| *count >= FEWEST);
        if let Some(count) = damaged {
            let what = if line.trim_start().starts_with("RX:") {
                "frames with errors"
            } else {
                "frames with a wrong checksum"
            };
            sayings::say("network port", &format!("{} received {count} {what}", own.unwrap_or("a port")), machine);
        }
    }
    told.max(usize::from(text.lines.first().is_some_and(|line| begins(line))))
}

/// Errors below `RX: bytes packets errors dropped …`, where they are more than a share of all.
fn received(heading: &str, values: &str) -> Option<u64> {
    let heading: Vec<&str> = heading.trim().strip_prefix("RX:")?.split_whitespace().collect();
    let values: Vec<u64> = values.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let column = |name: &str| values.get(heading.iter().position(|word| *word == name)?).copied();
    let (packets, errors) = (column("packets")?, column("errors")?);
    (errors.saturating_mul(ONE_IN) > packets).then_some(errors)
}

/// `rx_crc_errors: 48213` of most drivers.
fn checked(line: &str) -> Option<u64> {
    let (key, value) = line.trim().split_once(": ")?;
    (key.contains("rx") && key.contains("crc_err")).then(|| value.trim().parse().ok()).flatten()
}
