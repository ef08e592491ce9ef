//! Alerts of TrueNAS, as it mails and shows them: what is new and what still holds, without what was cleared.

use std::collections::BTreeSet;

use super::smartd;
use super::{Machine, Text, zpool};

/// Headings, and whether what stands below them holds.
const HEADINGS: [(&str, bool); 6] = [
    ("New alert:", true),
    ("New alerts:", true),
    ("Current alert:", true),
    ("Current alerts:", true),
    ("The following alert has been cleared:", false),
    ("These alerts have been cleared:", false),
];

fn holds(line: &str) -> Option<bool> {
    HEADINGS.iter().find(|(heading, _)| line.trim() == *heading).map(|(_, holds)| *holds)
}

pub(super) fn begins(line: &str) -> bool {
    holds(line).is_some()
}

/// `Pool tank state is DEGRADED: One or more devices …`.
fn pool(alert: &str) -> Option<(&str, &str)> {
    let (name, rest) = alert.strip_prefix("Pool ")?.split_once(" state is ")?;
    let state = rest.split([':', '.', ' ']).next()?;
    (zpool::is_name(name) && zpool::is_state(state)).then_some((name, state))
}

/// What no heading of the mail takes back. Alerts stand there for what holds, whatever their order.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let mut current = false;
    let (mut held, mut cleared): (Vec<&str>, Vec<&str>) = Default::default();
    for line in &text.lines {
        if let Some(holds) = holds(line) {
            current = holds;
        } else if let Some(alert) = line.trim_start().strip_prefix(['*', '-', '•']).map(str::trim) {
            (if current { &mut held } else { &mut cleared }).push(alert);
        }
    }
    let gone: BTreeSet<String> = cleared.iter().filter_map(|alert| subject(alert)).collect();
    let mut told = 0;
    for alert in held.into_iter().filter(|alert| subject(alert).is_some_and(|of| !gone.contains(&of))) {
        match pool(alert) {
            Some((name, state)) => zpool::put(name, state, machine),
            None => drop(smartd::put(alert, machine)),
        }
        told += 1;
    }
    told
}

/// What an alert is of: a pool, or what is counted of a drive, however much that is.
fn subject(alert: &str) -> Option<String> {
    // A pool whose state is in order is told for something else, which is not read.
    let of_pool = pool(alert).filter(|(_, state)| *state != "ONLINE").map(|(name, _)| name.to_owned());
    let of_drive = |(name, _)| format!("{name}: {}", alert.replace(|c: char| c.is_ascii_digit(), ""));
    of_pool.or_else(|| smartd::told(alert).map(of_drive))
}
