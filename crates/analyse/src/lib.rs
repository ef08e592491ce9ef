//! What a record means: pure functions from raw cells to findings.
//!
//! One file per estimator, each opening with its formula, its source and what it assumes. Nothing here reads a file, a
//! clock or a random number: the same record always gives the same findings.

mod bottleneck;
mod builds;
mod caveats;
mod compare;
mod controls;
mod cost;
mod curves;
mod differences;
mod drives;
mod histogram;
mod hosts;
mod imitation;
mod interval;
mod judge;
mod latency;
mod layers;
mod open;
mod parts;
mod path_lost;
mod rounds;
mod runs;
mod scatter;
mod score;
mod snia;
mod steadiness;
mod verdict;
mod wanted;
mod window;

use terms::MeasurePolicy;
use terms::finding::{BuildFinding, CellFinding, Comparison, FINDINGS_SCHEMA, Findings, Verdict};
use terms::inventory::Inventory;
use terms::record::{BuildOutcome, Cell, Provenance, StackEntry};
use terms::workload::Workload;

pub use crate::judge::{Observed, judge};
pub use crate::open::open_cells;
pub use crate::runs::{Run, runs};
pub use crate::score::{score, standing, widening};
pub use crate::wanted::Wanted;

use crate::interval::Looks;
use crate::rounds::Rounds;

/// Reads a record.
///
/// Gives one finding for every stack and workload of the study, none left out. `cells` and `builds` may hold several
/// attempts of the same round: the last in the slice counts, the others stay in the record. What fails never yields
/// an estimate; rounds that the bare drive discards count nowhere.
#[must_use]
pub fn study(provenance: &Provenance, inventory: &Inventory, cells: &[Cell], builds: &[BuildOutcome]) -> Findings {
    let mut provenance = provenance.clone();
    // What a workload is called says how it was run.
    provenance.workloads = provenance.workloads.into_iter().map(|of| of.within(provenance.span)).collect();
    let provenance = &provenance;
    let policy = provenance.policy();
    let controls = controls::find(cells, &policy);
    let discarded = controls::discarded(&controls);
    let counted = cells.iter().filter(|cell| !cell.key.is_control() && !discarded.contains(&cell.key.round));
    let rounds = Rounds::sort(counted);
    let built = builds::newest(builds);
    let mut findings: Vec<CellFinding> = Vec::new();
    for stack in &provenance.stacks {
        for workload in &provenance.workloads {
            findings.push(finding(stack, workload, &rounds, &built, provenance, &policy));
        }
    }
    // What happens to a window on purpose is no property of a stack: it is told, and never compared.
    let compared = provenance.workloads.iter().filter(|workload| workload.path_lost.is_none());
    let workloads: Vec<&str> = compared.map(|workload| workload.name.as_str()).collect();
    let comparisons = compare::all(&findings, &rounds, &workloads, &policy, provenance.has_virtual_clock());
    relate(&mut findings, &comparisons, provenance, &policy);
    let built: Vec<BuildFinding> = provenance.stacks.iter().map(|stack| builds::finding(&stack.slug, &built)).collect();
    let looks = Looks::of(&policy);
    let layers = layers::costs(&provenance.stacks, &findings, &rounds, looks, policy.replicate);
    let curves = curves::find(provenance, &findings, &rounds);
    let not_checked = caveats::list(provenance, inventory, &findings, &rounds, &controls);
    Findings {
        schema: FINDINGS_SCHEMA,
        provenance: provenance.clone(),
        inventory: inventory.clone(),
        cells: findings,
        builds: built,
        comparisons,
        controls,
        layers,
        curves,
        predicted: None,
        preflight: Vec::new(),
        feature_checks: Vec::new(),
        not_checked,
    }
}

/// What a cell is among the others: its ratio to the first stack, its rank, and whether it is open.
fn relate(findings: &mut [CellFinding], comparisons: &[Comparison], provenance: &Provenance, policy: &MeasurePolicy) {
    let first = provenance.stacks.first().map(|stack| stack.slug.as_str()).unwrap_or_default();
    let ranks: Vec<_> = findings.iter().map(|of| compare::rank(of, findings, comparisons)).collect();
    for (finding, rank) in findings.iter_mut().zip(ranks) {
        let to_first =
            |of: &&Comparison| of.stack == finding.stack && of.other == first && of.workload == finding.workload;
        finding.ratio_to_first = comparisons.iter().find(to_first).map(|of| of.ratio);
        if finding.path_lost.is_none() {
            finding.rank = rank;
            finding.open = open::is_open(finding, comparisons, policy);
        }
    }
}

/// One workload on one stack. What it is among the others is filled in later, when all verdicts are known.
fn finding(
    stack: &StackEntry,
    workload: &Workload,
    rounds: &Rounds<'_>,
    built: &builds::Newest<'_>,
    provenance: &Provenance,
    policy: &MeasurePolicy,
) -> CellFinding {
    let newest = rounds.of(&stack.slug, workload.name.as_str());
    let mut guards = Vec::new();
    for guard in newest.iter().flat_map(|cell| &cell.guards) {
        if !guards.contains(guard) {
            guards.push(guard.clone());
        }
    }
    let mut finding = CellFinding::new(&stack.slug, workload.name.as_str(), verdict::of(stack, &newest, built));
    finding.guards = guards;
    finding.sources = newest.iter().filter_map(|cell| cell.directory.clone()).collect();
    if finding.verdict != Verdict::Measured {
        return finding;
    }
    finding.steady = steadiness::summary(&newest);
    finding.burst = if workload.pattern.writes() { steadiness::burst(&newest) } else { None };
    finding.bottleneck = bottleneck::most(&newest);
    finding.path_lost = path_lost::find(&newest);
    finding.hosts = hosts::find(&newest, Looks::of(policy));
    finding.parts = parts::find(&newest, Looks::of(policy));
    finding.drives = drives::work(&newest);
    finding.probes = newest.last().map(|cell| cell.probes.clone()).unwrap_or_default();
    finding.samples = newest.last().map(|cell| cell.samples.clone()).unwrap_or_default();
    if let Some(verdict) = steadiness::verdict(&newest, &finding.steady) {
        finding.verdict = verdict;
        return finding;
    }
    let looks = Looks::of(policy);
    let readings = || newest.iter().filter_map(|cell| cell.reading.as_ref());
    finding.throughput = interval::between_rounds(readings().map(|reading| reading.throughput().0), looks);
    finding.iops = interval::between_rounds(readings().map(|reading| reading.iops().0), looks);
    if let ([only], true) = (&newest[..], provenance.has_virtual_clock()) {
        finding.throughput = finding.throughput.map(|of| window::with_interval(of, only));
        finding.iops = finding.iops.map(|of| window::with_interval(of, only));
    }
    finding.latency = latency::merged(readings().flat_map(terms::record::Reading::flows));
    finding.sync = latency::merged_sync(readings().filter_map(|reading| reading.sync.as_ref()));
    // Operations of several sizes have no cost in common.
    finding.cpu_per_operation = if workload.has_one_block() { cost::cpu_per_operation(&newest) } else { None };
    finding.drive_bytes_ratio = cost::drive_bytes_ratio(&newest, provenance.settle);
    let window = workload.window.unwrap_or(provenance.window);
    finding.imitation = imitation::find(&newest, finding.throughput, window);
    finding.snia = snia::find(&rounds.throughput(&stack.slug, workload.name.as_str()).into_iter().collect::<Vec<_>>());
    finding
}

#[cfg(test)]
mod tests;
