//! What operations took at each place of the span, drawn for every stack on one axis for each workload.

use terms::finding::{CellFinding, Findings};
use terms::record::Probe;
use terms::units::{BytesPerSecond, significant};
use terms::workload::Workload;

use crate::evidence::places;
use crate::style::Style;
use crate::svg::axis::{Linear, Log};
use crate::svg::latency;
use crate::svg::places::{dots, line};

/// Drawings of all stacks under a workload: ceilings, or places.
pub(super) struct Ceilings {
    /// The workload.
    pub(super) title: String,
    /// Stacks and their drawings.
    pub(super) drawings: Vec<(String, String)>,
}

/// Drawings of every workload that has places.
pub(super) fn all(findings: &Findings, style: &Style) -> Vec<Ceilings> {
    let of = |work: &Workload| Ceilings {
        title: work.title(),
        drawings: if places::is_access(work) { times(findings, work) } else { rates(findings, work, style) },
    };
    findings.provenance.workloads.iter().map(of).filter(|places| !places.drawings.is_empty()).collect()
}

/// Times of accesses, as dots on a logarithmic axis.
fn times(findings: &Findings, work: &Workload) -> Vec<(String, String)> {
    let nanos = |probe: &Probe| probe.took.as_seconds() * 1e9;
    let measured = places::of(findings, work);
    let axis = Log::around(measured.iter().flat_map(|(_, finding)| &finding.probes).map(nanos));
    let drawing = |(name, finding): (&str, &CellFinding)| {
        (name.to_owned(), dots(&points(finding, nanos), &axis, &says(name, work), latency::label))
    };
    measured.into_iter().map(drawing).collect()
}

/// Rates of large blocks, as lines from zero.
fn rates(findings: &Findings, work: &Workload, style: &Style) -> Vec<(String, String)> {
    // In the unit that is printed, so that the axis ends at a round number of it.
    let rate = |probe: &Probe| style.rate(BytesPerSecond(places::rate(probe, work)));
    let measured = places::of(findings, work);
    let axis = Linear::to(measured.iter().flat_map(|(_, finding)| &finding.probes).map(rate).fold(0.0, f64::max));
    let tick = |value: f64| format!("{} {}", significant(value), style.rate_unit());
    let drawing = |(name, finding): (&str, &CellFinding)| {
        (name.to_owned(), line(&points(finding, rate), &axis, &says(name, work), tick))
    };
    measured.into_iter().map(drawing).collect()
}

fn points(finding: &CellFinding, value: impl Fn(&Probe) -> f64) -> Vec<(f64, f64)> {
    finding.probes.iter().map(|probe| (places::share(probe, finding), value(probe))).collect()
}

fn says(name: &str, work: &Workload) -> String {
    format!("{name} over the places of the span, {}", work.title())
}
