//! What speaks against the figures, in one line with counts.

use std::collections::BTreeMap;

use terms::finding::{ControlAction, Findings};
use terms::preflight::CheckState;

use crate::evidence::{count_of, predicted};
use crate::grid::{Grid, State};

/// The caveats; empty where there are none.
pub(super) fn of(grid: &Grid) -> String {
    let findings = grid.findings;
    let parts = [flagged(grid), doubtful(grid), unsettled(findings), drift(findings), not_checked(findings)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Figures that a guard has labelled, by guard.
fn flagged(grid: &Grid) -> Option<String> {
    let mut guards: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut flagged, mut figures) = (0_usize, 0_usize);
    for state in (0..grid.workloads().len()).flat_map(|workload| grid.states(workload)) {
        let State::Measured(finding, _) = state else { continue };
        figures += 1;
        flagged += usize::from(!finding.guards.is_empty());
        let mut names: Vec<&str> = finding.guards.iter().map(|note| note.guard.id()).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().for_each(|name| *guards.entry(name).or_default() += 1);
    }
    let names: Vec<String> = guards.iter().map(|(name, cells)| format!("{name} {cells}")).collect();
    (flagged > 0).then(|| format!("{flagged} of {figures} figures flagged ({})", names.join(", ")))
}

/// Figures that are more than the drives can do.
fn doubtful(grid: &Grid) -> Option<String> {
    let cells = grid.findings.cells.iter();
    let doubtful = cells.filter(|cell| predicted::doubts(grid.findings, cell).next().is_some()).count();
    (doubtful > 0).then(|| format!("{doubtful} doubtful, above what the drives can do"))
}

/// Windows of which nobody knows whether they were steady.
fn unsettled(findings: &Findings) -> Option<String> {
    let steady = || findings.cells.iter().map(|cell| cell.steady);
    let all: u32 = steady().map(|of| of.steady + of.unsteady + of.unknown).sum();
    let unknown: u32 = steady().map(|of| of.unknown).sum();
    (unknown > 0).then(|| format!("{unknown} of {all} windows too short to check for a steady state"))
}

/// How far the bare drive changed, where that is more than a round may.
fn drift(findings: &Findings) -> Option<String> {
    let odd = findings.controls.iter().filter(|control| control.action != ControlAction::Kept);
    let far = odd.filter_map(|control| control.drift).map(f64::abs).reduce(f64::max)?;
    Some(format!("the bare drive changed by up to {:.0} % within a round", far * 100.0))
}

/// How many things were not checked.
fn not_checked(findings: &Findings) -> Option<String> {
    let count = findings.not_checked.len();
    (count > 0).then(|| format!("{} not checked", count_of(count, "point")))
}

/// How checks of features and of drives came out, where there were any.
pub(super) fn checks(findings: &Findings) -> Option<String> {
    let feature_checks = || findings.feature_checks.iter().flat_map(|of| &of.feature_checks);
    let (all, good) =
        (feature_checks().count(), feature_checks().filter(|feature_check| feature_check.is_as_expected()).count());
    let tried = (all > 0).then(|| format!("{good} of {all} features came as expected"));
    let odd = findings.preflight.iter().filter(|check| check.state != CheckState::AsExpected).count();
    let looked = findings.preflight.len();
    let drives = (looked > 0).then(|| format!("Before the first step: {} of {looked} as expected", looked - odd));
    let parts: Vec<String> = [tried, drives].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
