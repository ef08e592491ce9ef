//! Did the machine do something else, or become another one?

use terms::evidence::State;

use super::Evidence;
use crate::bottleneck::GENERATOR;

/// A clock that is held at one speed and fell by this share was taken down by something.
const CLOCK: f64 = 0.10;

/// More than the drives' links can carry, without a cache that would explain it.
pub(super) fn impossible(evidence: &Evidence<'_>) -> Option<String> {
    let links = evidence.conditions.drives.iter().map(|drive| drive.link_bytes_per_second);
    let links: Vec<u64> = links.collect::<Option<_>>()?;
    if links.is_empty() || links.len() != evidence.members.len() {
        return None;
    }
    let most = terms::Bytes(links.iter().sum()).as_f64();
    let fastest = evidence.output.reading.flows().map(|flow| flow.throughput.0).fold(0.0, f64::max);
    if fastest <= most {
        return None;
    }
    Some(format!("{fastest:.0} bytes/s are more than the drives' links carry together: {most:.0}"))
}

/// A drive slowed itself down, or was too hot.
pub(super) fn thermal(evidence: &Evidence<'_>) -> Option<String> {
    let hot = evidence.conditions.drives.iter().find(|drive| drive.throttled.is_some_and(|steps| steps > 0))?;
    let witness = format!(
        "`{}`: its counters of thermal throttling moved by {}, at {} °C",
        hot.drive,
        hot.throttled.unwrap_or(0),
        hot.celsius_after.map_or_else(|| "unknown".to_owned(), |celsius| celsius.to_string())
    );
    Some(witness)
}

/// Writes fell to another level: a drive's fast cache was full.
pub(super) fn cliff(evidence: &Evidence<'_>) -> Option<String> {
    let steadiness = evidence.steadiness.filter(|steadiness| steadiness.state == State::Cliff)?;
    let cliff = steadiness.cliff.filter(|cliff| cliff.after < cliff.before)?;
    if !evidence.workload.pattern.writes() {
        return None;
    }
    let witness = format!(
        "after {} in this window the rate fell from {:.0} to {:.0} bytes/s",
        cliff.moved, cliff.before, cliff.after
    );
    Some(witness)
}

/// A governor that leaves the clock to follow the load.
fn following<'a>(evidence: &Evidence<'a>) -> Option<&'a String> {
    evidence.conditions.governors.iter().find(|governor| *governor != "performance")
}

/// Processors changed their clock.
pub(super) fn clock_changed(evidence: &Evidence<'_>) -> Option<String> {
    if let Some(change) = evidence.governor_change {
        return Some(change.to_owned());
    }
    let conditions = evidence.conditions;
    // A clock that follows the load falls when the load ends; only one that is held can be said to have fallen.
    let (before, after) = (f64::from(conditions.mhz_before?), f64::from(conditions.mhz_after?));
    if conditions.governors.is_empty() || following(evidence).is_some() || after >= before * (1.0 - CLOCK) {
        return None;
    }
    Some(format!("the processors' clock fell from {before:.0} to {after:.0} MHz"))
}

/// Processors are free to change their clock.
pub(super) fn clock_follows(evidence: &Evidence<'_>) -> Option<String> {
    let other = following(evidence).filter(|_| evidence.governor_change.is_none())?;
    Some(format!("the governor is `{other}`, so the clock follows the load"))
}

/// A link runs below what both of its ends can do.
pub(super) fn link(evidence: &Evidence<'_>) -> Option<String> {
    let drive = evidence.conditions.drives.iter().find(|drive| !drive.degraded_links.is_empty())?;
    Some(format!("`{}`: {}", drive.drive, drive.degraded_links.join(", ")))
}

/// The drives are on several NUMA nodes.
pub(super) fn numa(evidence: &Evidence<'_>) -> Option<String> {
    let nodes = &evidence.conditions.numa_nodes;
    if nodes.len() < 2 {
        return None;
    }
    let list = nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    Some(format!("the drives are on NUMA nodes {list}, and fio's jobs are not pinned to any"))
}

/// fio itself may be the limit.
pub(super) fn generator(evidence: &Evidence<'_>) -> Option<String> {
    let busiest = evidence.output.busiest_job;
    if busiest < GENERATOR {
        return None;
    }
    let witness =
        format!("a job of fio was busy {:.0} % of the time: the load generator may be the limit", busiest * 100.0);
    Some(witness)
}
