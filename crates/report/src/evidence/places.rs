//! How long operations took at each place of the span, as the graph of GNOME Disks shows it.

use terms::finding::{CellFinding, Findings};
use terms::record::Probe;
use terms::units::{Nanos, significant};
use terms::workload::Workload;

use crate::listing::{Group, Listing};
use crate::quantity;
use crate::style::Style;
use crate::width::Align;

/// Findings of a workload that have places, each with the name of its stack.
pub(crate) fn of<'a>(findings: &'a Findings, workload: &Workload) -> Vec<(&'a str, &'a CellFinding)> {
    let stacks = findings.provenance.stacks.iter();
    stacks
        .filter_map(|entry| Some((entry.name.as_str(), findings.cell(&entry.slug, workload.name.as_str())?)))
        .filter(|(_, finding)| !finding.probes.is_empty())
        .collect()
}

/// Bytes per second of one operation of a workload.
pub(crate) fn rate(probe: &Probe, workload: &Workload) -> f64 {
    workload.block.as_f64() / probe.took.as_seconds()
}

/// Is it told in time, and not in bytes: accesses at places of chance?
pub(crate) const fn is_access(workload: &Workload) -> bool {
    workload.pattern.random()
}

/// Every cell with places: the mean and the slowest, and where that was; `None` where no cell has any.
pub(crate) fn listing(findings: &Findings, style: &Style) -> Option<Listing> {
    let group = |workload: &Workload| Group {
        title: workload.title(),
        rows: of(findings, workload).into_iter().filter_map(|(name, of)| row(name, of, workload, style)).collect(),
    };
    Listing {
        id: "places",
        title: "Over the places of the span".to_owned(),
        hint:
            "One pass behind the window of the last round, one operation after another, as GNOME Disks draws it: rates \
               of large blocks, times of small accesses. The mean is that of the rates or times; figures in all other \
               tables are bytes over time."
                .to_owned(),
        columns: vec![
            ("Stack", Align::Left),
            ("Operations", Align::Right),
            ("Mean", Align::Right),
            ("Slowest", Align::Right),
            ("At", Align::Right),
        ],
        groups: findings.provenance.workloads.iter().map(group).collect(),
        ..Listing::default()
    }
    .if_any()
}

/// One stack.
fn row(name: &str, finding: &CellFinding, workload: &Workload, style: &Style) -> Option<Vec<String>> {
    let probes = &finding.probes;
    let slowest = probes.iter().max_by_key(|probe| probe.took)?;
    let count = f64::from(u32::try_from(probes.len()).unwrap_or(u32::MAX));
    let mean = |of: &dyn Fn(&Probe) -> f64| probes.iter().map(of).sum::<f64>() / count;
    let (mean, least) = if is_access(workload) {
        let mean = Nanos::from_seconds(mean(&|probe| probe.took.as_seconds()));
        (mean.to_string(), slowest.took.to_string())
    } else {
        let told = |bytes: f64| quantity::rate(bytes, style);
        (told(mean(&|probe| rate(probe, workload))), told(rate(slowest, workload)))
    };
    Some(vec![
        name.to_owned(),
        probes.len().to_string(),
        mean,
        least,
        format!("{} %", significant(share(slowest, finding) * 100.0)),
    ])
}

/// Where an operation was, as a share of the places that the pass went to, which are kept in their order.
pub(crate) fn share(probe: &Probe, finding: &CellFinding) -> f64 {
    let last = finding.probes.last().map(|probe| probe.at).unwrap_or_default();
    if last.0 == 0 { 0.0 } else { probe.at.as_f64() / last.as_f64() }
}
