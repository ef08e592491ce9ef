//! Load curves: points at fixed rates, and the largest rate as their end.

use terms::Guard;
use terms::finding::{CellFinding, Curve, CurvePoint, Verdict};
use terms::record::Provenance;
use terms::workload::Load;

use crate::rounds::Rounds;

/// One curve for every stack and workload that has points.
pub(crate) fn find(provenance: &Provenance, findings: &[CellFinding], rounds: &Rounds<'_>) -> Vec<Curve> {
    let mut curves = Vec::new();
    for stack in &provenance.stacks {
        for base in &provenance.workloads {
            let mut points: Vec<CurvePoint> = provenance
                .workloads
                .iter()
                .filter_map(|workload| match &workload.load {
                    Load::Share { of, percent } if of == &base.name => Some((workload.name.as_str(), *percent)),
                    _ => None,
                })
                .filter_map(|(name, percent)| point(&stack.slug, name, Some(percent), findings, rounds))
                .collect();
            if points.is_empty() {
                continue;
            }
            points.sort_by_key(|point| point.percent);
            points.extend(point(&stack.slug, base.name.as_str(), None, findings, rounds));
            curves.push(Curve { stack: stack.slug.clone(), workload: base.name.to_string(), points });
        }
    }
    curves
}

fn point(
    stack: &str,
    workload: &str,
    percent: Option<u8>,
    findings: &[CellFinding],
    rounds: &Rounds<'_>,
) -> Option<CurvePoint> {
    let finding =
        findings.iter().find(|of| of.stack == stack && of.workload == workload && of.verdict == Verdict::Measured)?;
    let offered: Vec<f64> = rounds.of(stack, workload).iter().filter_map(|cell| cell.offered_iops).collect();
    let is_late = finding.guards.iter().any(|note| note.guard == Guard::RateNotReached);
    let count = f64::from(u32::try_from(offered.len()).unwrap_or(u32::MAX));
    Some(CurvePoint {
        workload: workload.to_owned(),
        percent,
        offered_iops: (!offered.is_empty()).then(|| offered.iter().sum::<f64>() / count),
        iops: finding.iops,
        latency: finding.latency.clone().filter(|_| !is_late),
    })
}
