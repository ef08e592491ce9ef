//! What each of several different jobs did that ran at once.

use terms::finding::{Findings, PartFinding, WithInterval};
use terms::workload::Workload;

use crate::figure;
use crate::listing::{Group, Listing, MISSING};
use crate::quantity;
use crate::style::Style;
use crate::width::Align;

/// Every cell of several jobs, a row for each of them; `None` where no workload has parts.
pub(crate) fn listing(findings: &Findings, style: &Style) -> Option<Listing> {
    let group = |workload: &Workload| Group {
        title: workload.name.to_string(),
        rows: findings.provenance.stacks.iter().flat_map(|entry| rows(findings, entry, workload, style)).collect(),
    };
    Listing {
        id: "parts",
        title: "Different jobs at once".to_owned(),
        hint: "Each job ran at the same time as the others of its workload, so no row is what the job would do alone. \
               Their sum is the figure in all other tables."
            .to_owned(),
        columns: vec![
            ("Stack", Align::Left),
            ("Job", Align::Left),
            ("Throughput", Align::Right),
            ("±", Align::Right),
            ("IOPS", Align::Right),
            ("Latency", Align::Right),
            ("p99", Align::Right),
        ],
        groups: findings.provenance.workloads.iter().map(group).collect(),
        remarks: findings.provenance.workloads.iter().flat_map(words).collect(),
        ..Listing::default()
    }
    .if_any()
    .map(|listing| listing.where_missing("too few operations, or too few rounds"))
}

/// What each part of a workload does.
fn words(workload: &Workload) -> Vec<String> {
    if workload.parts.is_empty() {
        return Vec::new();
    }
    workload.kinds().iter().map(|kind| format!("{}: {}", kind.name, kind.title())).collect()
}

/// Rows of one cell: each part in the order of the job file, and all together.
fn rows(
    findings: &Findings,
    entry: &terms::record::StackEntry,
    workload: &Workload,
    style: &Style,
) -> Vec<Vec<String>> {
    let Some(cell) = findings.cell(&entry.slug, workload.name.as_str()).filter(|cell| !cell.parts.is_empty()) else {
        return Vec::new();
    };
    let row = |name: &str, [rate, iops]: [&Option<WithInterval>; 2], latency: Option<&terms::record::Latency>| {
        let value = |of: &Option<WithInterval>, text: &dyn Fn(f64) -> String| {
            of.as_ref().map_or_else(|| MISSING.to_owned(), |of| text(of.value))
        };
        let spread = rate.as_ref().map_or_else(|| MISSING.to_owned(), figure::spread);
        let rate = value(rate, &|rate| format!("{} {}", figure::Measure::Rate.number(rate, style), style.rate_unit()));
        let iops = value(iops, &|iops| figure::Measure::Iops.number(iops, style));
        let (mean, tail) = (latency.map(|of| of.mean), latency.and_then(|of| of.p99));
        vec![entry.name.clone(), name.to_owned(), rate, spread, iops, quantity::time(mean), quantity::time(tail)]
    };
    let of_part = |kind: Workload| {
        let found: &PartFinding = cell.parts.iter().find(|part| part.part == kind.name)?;
        Some(row(kind.name.as_str(), [&found.throughput, &found.iops], found.latency.as_ref()))
    };
    let all = row("all", [&cell.throughput, &cell.iops], cell.latency.as_ref());
    workload.kinds().into_iter().filter_map(of_part).chain([all]).collect()
}
