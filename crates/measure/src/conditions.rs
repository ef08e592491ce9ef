//! Temperatures, clocks and links: what hardware can change behind a cell's back. Read before and after a cell, from
//! sysfs; drives that have no such files (those of a lab guest) have no such conditions.

mod drive;

use host::{Host, HostError};
use terms::evidence::{CellConditions, DriveCondition};

pub(crate) use drive::DriveState;

/// Conditions at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Now {
    drives: Vec<DriveState>,
    governors: Vec<String>,
    mhz: Option<u32>,
    nodes: u32,
}

/// Reads them.
///
/// # Errors
/// Where the machine is lost.
pub(crate) fn now(host: &dyn Host, drives: &[(String, String)]) -> Result<Now, HostError> {
    let mut governors = Vec::new();
    for policy in names(host, "/sys/devices/system/cpu/cpufreq", "policy") {
        governors.extend(line(host, &format!("/sys/devices/system/cpu/cpufreq/{policy}/scaling_governor")));
    }
    governors.sort();
    governors.dedup();
    let nodes = names(host, "/sys/devices/system/node", "node").len();
    Ok(Now {
        drives: drives.iter().map(|(name, node)| drive::state(host, name, node)).collect::<Result<_, _>>()?,
        governors,
        mhz: line(host, "/proc/cpuinfo").and_then(|text| mean_mhz(&text)),
        nodes: u32::try_from(nodes).unwrap_or(0),
    })
}

/// Names in a directory that begin with a word and go on with digits; none where it is not there.
fn names(host: &dyn Host, directory: &str, start: &str) -> Vec<String> {
    let fits = |name: &String| {
        let rest = name.strip_prefix(start);
        rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    host.list(directory).unwrap_or_default().into_iter().filter(fits).collect()
}

/// A small file; `None` where it is not there or cannot be read, which for sysfs is the same thing.
fn line(host: &dyn Host, path: &str) -> Option<String> {
    host.read_text(path).ok().filter(|text| !text.is_empty())
}

fn mean_mhz(cpuinfo: &str) -> Option<u32> {
    let clocks = cpuinfo.lines().filter(|line| line.starts_with("cpu MHz"));
    let clocks: Vec<u32> =
        clocks.filter_map(|line| line.split_once(':')?.1.trim().split('.').next()?.parse().ok()).collect();
    let sum: u64 = clocks.iter().map(|mhz| u64::from(*mhz)).sum();
    u32::try_from(sum.checked_div(u64::try_from(clocks.len()).ok()?)?).ok()
}

/// What both readings say together.
pub(crate) fn between(before: &Now, after: &Now) -> CellConditions {
    let pairs = before.drives.iter().zip(&after.drives);
    let mut governors: Vec<String> = before.governors.iter().chain(&after.governors).cloned().collect();
    governors.sort();
    governors.dedup();
    let mut numa_nodes: Vec<u32> = before.drives.iter().filter_map(|drive| drive.numa_node).collect();
    numa_nodes.sort_unstable();
    numa_nodes.dedup();
    CellConditions {
        drives: pairs.filter_map(|(before, after)| condition(before, after)).collect(),
        governors,
        mhz_before: before.mhz,
        mhz_after: after.mhz,
        numa_nodes: if before.nodes > 1 { numa_nodes } else { Vec::new() },
    }
}

fn condition(before: &DriveState, after: &DriveState) -> Option<DriveCondition> {
    let throttled = match (before.throttled, after.throttled) {
        (Some(before), Some(after)) => Some(after.saturating_sub(before)),
        _ => None,
    };
    let condition = DriveCondition {
        drive: after.name.clone(),
        celsius_before: before.celsius,
        celsius_after: after.celsius,
        throttled,
        degraded_links: after.degraded.clone(),
        link_bytes_per_second: after.link,
    };
    let empty = DriveCondition { drive: condition.drive.clone(), ..DriveCondition::default() };
    (condition != empty).then_some(condition)
}

/// The governors changed during the cell: those of before and of after.
pub(crate) fn governor_change(before: &Now, after: &Now) -> Option<String> {
    (before.governors != after.governors)
        .then(|| format!("governor {} became {}", before.governors.join(", "), after.governors.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_averaged_and_changes_are_told() {
        assert_eq!(mean_mhz("processor : 0\ncpu MHz\t\t: 2400.5\ncpu MHz : 1600.0\n"), Some(2000));
        assert_eq!(mean_mhz("processor : 0"), None);
        let with = |governor: &str, celsius| Now {
            drives: vec![DriveState { name: "a".into(), celsius, ..DriveState::default() }],
            governors: vec![governor.to_owned()],
            ..Now::default()
        };
        let (before, after) = (with("performance", Some(40)), with("powersave", Some(44)));
        assert!(governor_change(&before, &after).unwrap().contains("performance became powersave"));
        assert_eq!(governor_change(&before, &before), None);
        let told = between(&before, &after);
        assert_eq!((told.drives[0].celsius_before, told.drives[0].celsius_after), (Some(40), Some(44)));
        assert!(between(&with("x", None), &with("x", None)).drives.is_empty());
    }
}
