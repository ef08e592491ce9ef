//! What a record means: pure functions from raw cells to findings.
//!
//! One file per estimator, each opening with its formula, its source and what it assumes. Nothing here reads a file, a
//! clock or a random number: the same record always gives the same findings.

mod builds;
mod caveats;
mod cost;
mod histogram;
mod interval;
mod latency;
mod rounds;
mod verdict;

use terms::finding::{BuildFinding, Estimate, FINDINGS_SCHEMA, Finding, Findings, Verdict};
use terms::inventory::Inventory;
use terms::record::{BuildOutcome, Cell, Provenance, StackEntry};
use terms::workload::Workload;

use crate::rounds::Rounds;

/// Reads a record.
///
/// Gives one finding for every stack and workload of the study, none left out. `cells` and `builds` may hold several
/// attempts of the same round: the last in the slice counts, the others stay in the record. What fails never yields
/// an estimate.
#[must_use]
pub fn study(provenance: &Provenance, inventory: &Inventory, cells: &[Cell], builds: &[BuildOutcome]) -> Findings {
    let rounds = Rounds::sort(cells);
    let built = builds::newest(builds);
    let mut findings: Vec<Finding> = Vec::new();
    for stack in &provenance.stacks {
        for workload in &provenance.workloads {
            findings.push(finding(stack, workload, &rounds, &built, provenance));
        }
    }
    let ratios: Vec<Option<Estimate>> = findings.iter().map(|of| ratio(of, &findings, &rounds, provenance)).collect();
    for (finding, ratio) in findings.iter_mut().zip(ratios) {
        finding.ratio_to_first = ratio;
    }
    let built: Vec<BuildFinding> = provenance.stacks.iter().map(|stack| builds::finding(&stack.slug, &built)).collect();
    let not_checked = caveats::list(provenance, inventory, &findings, &rounds);
    Findings {
        schema: FINDINGS_SCHEMA,
        provenance: provenance.clone(),
        inventory: inventory.clone(),
        cells: findings,
        builds: built,
        comparisons: Vec::new(),
        anchors: Vec::new(),
        layers: Vec::new(),
        curves: Vec::new(),
        not_checked,
    }
}

/// One workload on one stack. The ratio is filled in later, when all verdicts are known.
fn finding(
    stack: &StackEntry,
    workload: &Workload,
    rounds: &Rounds<'_>,
    built: &builds::Newest<'_>,
    provenance: &Provenance,
) -> Finding {
    let newest = rounds.of(&stack.slug, workload.name.as_str());
    let mut guards = Vec::new();
    for guard in newest.iter().flat_map(|cell| &cell.guards) {
        if !guards.contains(guard) {
            guards.push(guard.clone());
        }
    }
    let mut finding = Finding::new(&stack.slug, workload.name.as_str(), verdict::of(stack, &newest, built));
    finding.guards = guards;
    finding.sources = newest.iter().map(|cell| rounds.directory(&cell.key)).collect();
    if finding.verdict == Verdict::Measured {
        let readings = || newest.iter().filter_map(|cell| cell.reading.as_ref());
        finding.throughput = interval::between_rounds(readings().map(|reading| reading.throughput().0));
        finding.iops = interval::between_rounds(readings().map(|reading| reading.iops().0));
        finding.latency = latency::merged(readings().flat_map(terms::record::Reading::flows));
        finding.cpu_per_operation = cost::cpu_per_operation(&newest);
        finding.drive_bytes_ratio = cost::drive_bytes_ratio(&newest, provenance.settle);
        finding.samples = newest.last().map(|cell| cell.samples.clone()).unwrap_or_default();
    }
    finding
}

/// Throughput relative to the first stack, paired within rounds.
fn ratio(finding: &Finding, findings: &[Finding], rounds: &Rounds<'_>, provenance: &Provenance) -> Option<Estimate> {
    let first = &provenance.stacks.first()?.slug;
    let measured = |stack: &str| {
        findings
            .iter()
            .any(|of| of.stack == stack && of.workload == finding.workload && of.verdict == Verdict::Measured)
    };
    if &finding.stack == first || !measured(&finding.stack) || !measured(first) {
        return None;
    }
    let throughput = |stack: &str| rounds.throughput(stack, &finding.workload);
    interval::paired_ratio(&throughput(&finding.stack), &throughput(first))
}

#[cfg(test)]
mod tests;
