//! Load curves: how latency rises as the load nears what a stack can do.

use terms::finding::{Curve, CurvePoint, Findings};
use terms::units::Iops;

use super::{stack_name, workload_title};
use crate::figure::spread;
use crate::listing::{Group, Listing, MISSING};
use crate::quantity;
use crate::width::Align;

/// Every point of every curve; `None` where there is no curve.
pub(crate) fn listing(findings: &Findings) -> Option<Listing> {
    let group = |curve: &Curve| Group {
        title: format!("{} on {}", workload_title(findings, &curve.workload), stack_name(findings, &curve.stack)),
        rows: curve.points.iter().map(row).collect(),
    };
    Listing {
        id: "load",
        title: "Latency under load".to_owned(),
        hint: "Operations are offered at random moments at a share of what the same stack reached at its largest. \
               Latency counts from when fio takes an operation up; that of the largest from its submission."
            .to_owned(),
        columns: vec![
            ("Load", Align::Left),
            ("Offered", Align::Right),
            ("Done", Align::Right),
            ("p50", Align::Right),
            ("p99", Align::Right),
        ],
        groups: findings.curves.iter().map(group).collect(),
        ..Listing::default()
    }
    .where_missing("it has no figure, less was done than was offered (operations then waited uncounted), or fewer than 100 operations lie beyond the percentile")
    .if_any()
}

/// One point.
fn row(point: &CurvePoint) -> Vec<String> {
    let latency = point.latency.as_ref();
    vec![
        point.percent.map_or_else(|| "largest".to_owned(), |percent| format!("{percent} %")),
        match (point.offered_iops, point.percent) {
            (Some(iops), _) => Iops(iops).to_string(),
            (None, None) => "no limit".to_owned(),
            (None, Some(_)) => MISSING.to_owned(),
        },
        point.iops.map_or_else(|| MISSING.to_owned(), |iops| format!("{} {}", Iops(iops.value), spread(&iops))),
        quantity::time(latency.map(|latency| latency.p50).filter(|p50| p50.0 > 0)),
        quantity::time(latency.and_then(|latency| latency.p99)),
    ]
}

/// Workloads that have curves, in the study's order, each with its curves in the order of the stacks.
pub(crate) fn by_workload(findings: &Findings) -> Vec<(String, Vec<(&str, &Curve)>)> {
    let mut out = Vec::new();
    for workload in &findings.provenance.workloads {
        let curves: Vec<(&str, &Curve)> = findings
            .curves
            .iter()
            .filter(|curve| curve.workload == workload.name.as_str())
            .map(|curve| (stack_name(findings, &curve.stack), curve))
            .collect();
        if !curves.is_empty() {
            out.push((workload.title(), curves));
        }
    }
    out
}
