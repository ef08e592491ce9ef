//! Alerts of TrueNAS, as it mails and shows them: what is new and what still holds, without what was cleared.

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

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let mut told = 0;
    let mut current = false;
    for line in &text.lines {
        if let Some(holds) = holds(line) {
            current = holds;
            continue;
        }
        let Some(alert) = line.trim_start().strip_prefix(['*', '-', '•']).map(str::trim).filter(|_| current) else {
            continue;
        };
        if let Some((name, found)) = smartd::told(alert) {
            machine.watched.entry(name.to_owned()).or_default().join(found);
        } else if let Some((name, state)) = pool(alert) {
            zpool::put(name, state, machine);
        } else {
            continue;
        }
        told += 1;
    }
    told
}
